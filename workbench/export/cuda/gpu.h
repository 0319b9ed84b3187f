/* Kernels on a GPU as a library starts them: machine code is given when the library is loaded, NVIDIA's driver is found
   then, and a call is on the stream and in the memory of who calls. */

#ifndef WORKBENCH_GPU_H
#define WORKBENCH_GPU_H

#include "dispatch.h"

#ifndef WB_PUBLIC
#define WB_PUBLIC __attribute__((visibility("default")))
#endif

/* Answers beside those of dispatch.h: the driver refused; no kernel takes the arrays as they lie. */
enum { WB_GPU_REFUSED = -20, WB_GPU_STRIDES = -21 };

/* What a call's `wb_host` begins: memory is the device's, in the order of the stream. */
typedef struct {
    wb_host host;
    void *stream;
    int device;
} wb_gpu_host;

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
