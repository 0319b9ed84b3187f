/* Kernels on a GPU as a library starts them: machine code is given when the library is loaded, NVIDIA's driver is found
   then, and a call is on the stream and in the memory of who calls. */

#ifndef WORKBENCH_GPU_H
#define WORKBENCH_GPU_H

#include "host.h"

#ifndef WB_PUBLIC
#define WB_PUBLIC __attribute__((visibility("default")))
#endif

/* Answers beside those of dispatch.h: the driver refused; no kernel takes the arrays as they lie. */
enum { WB_GPU_REFUSED = -20, WB_GPU_STRIDES = -21 };

enum { WB_CURRENT_DEVICE = -1 }; /* that of the context that is current where the call is made, else the first */

/* What a call's `wb_host` begins: memory is the device's, in the order of the stream; NVIDIA's driver has it where `take`
   is NULL. */
typedef struct {
    wb_host host;
    void *stream;
    int device;
} wb_gpu_host;

/* What `wb_open` gives of kernels on a GPU.  Bytes are copied there in the order of the stream, or read from there, for
   which the call waits; both answer 0 or what `message` explains. */
typedef struct {
    wb_entries entries;
    int (*copy)(const wb_host *host, void *to, const void *from, int64_t bytes);
    int (*read)(const wb_host *host, void *to, const void *from, int64_t bytes);
} wb_gpu_entries;

/* A `__global__` function: its name, and what the driver calls it once its machine code is there. */
typedef struct {
    const char *name;
    void *kernel;
} wb_gpu_function;

/* The functions of one text, as many as `count`. */
typedef struct {
    wb_gpu_function *functions;
    int count;
} wb_gpu_unit;

extern const wb_gpu_unit wb_gpu_units[];
extern const int wb_gpu_unit_count;

/* On the stream of the call that runs in this thread; after a refusal nothing more is started. */
void wb_gpu_launch(const wb_gpu_function *function, const int64_t *grid, const unsigned *block, int64_t shared,
                   void **arguments);
void wb_gpu_clear(void *at, int64_t bytes);
/* The check that failed, 0 if none did: waits for the stream, unless it is recorded into a graph. */
int64_t wb_gpu_status(const int *words);

#endif
