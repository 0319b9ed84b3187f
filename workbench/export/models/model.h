/* A model: kernels in order over addresses.  Its own file fills in the tables. */

#ifndef WORKBENCH_MODEL_H
#define WORKBENCH_MODEL_H

#include "dispatch.h"
#include "workbench.h"

#define WB_PUBLIC __attribute__((visibility("default")))

/* A kernel: what it takes, and of what index checks its answers above 0 speak. */
typedef struct {
    const wb_border_parameter *parameters;
    int count, check_count;
    const char *const *checks;
} wb_model_kernel;

/* A kernel over the slots places[first...] of a level, after the copies numbered copy_begin..copy_end. */
typedef struct {
    const char *name;
    int kernel, copy_begin, copy_end;
} wb_model_step;

/* What packs a constant, once for all calls, into the memory of packed ones. */
typedef struct {
    const wb_code *code;
    int constant;
    int64_t offset;
} wb_model_packing;

/* What there is for an instruction set level: kernels by number, slots by step. */
typedef struct {
    const wb_code *const *codes;
    const wb_model_kernel *kernels;
    const int *first, *places;
    const wb_model_packing *packings;
    int packed;
    int64_t packed_bytes;
} wb_model_level;

/* From a slot to another; zeros if there is none to copy from (-1). */
typedef struct {
    int to, from;
    int64_t bytes;
} wb_model_copy;

/* An array that a model takes or gives, by DLPack's codes. */
typedef struct {
    const char *name;
    uint8_t code, bits, bytes, rank, written;
    const int64_t *shape;
} wb_model_port;

/* Slots: what is given (inputs, then results), what is in the arena, constants, packed constants. */
typedef struct {
    const char *name;
    int ports, given, inside, constants, steps, copies_at_end;
    const wb_model_port *port;                           /* the arguments */
    const int *arguments;                                /* of each given slot: its number among the arguments */
    const int64_t *offsets, *constant_offsets;
    const unsigned char *weights;
    int64_t arena;
    const wb_model_step *step;
    const wb_model_copy *copies, *at_end;                /* at the end, to arguments (not slots) from slots */
    int kernel_count;
    const wb_model_level *levels;
    const wb_level *(*level)(void);
    int (*level_number)(void);
    char **packed;                                       /* the packed constants, once a call wanted them */
} wb_model;

enum { WB_MODEL_ALIGN = 128 };

/* Bytes of memory that a call takes: the arena, and what kernels need beside it. */
int64_t wb_model_bytes(const wb_model *model);
/* The arguments, in the order of the public function; memory of so many bytes, or NULL: then it is allocated. */
int wb_model_call(const wb_model *model, void *const *arguments, void *memory);
/* The same for tensors: those that are not dense, and results that meet another, are copied. */
int wb_model_call_tensors(const wb_model *model, const workbench_tensor *const *tensors);
void wb_model_set_threads(int threads);
/* When the library goes. */
void wb_model_forget(const wb_model *model);

/* -- a model as the only kernel of an operator: threads and memory are those of the dispatcher's host -- */

int64_t wb_model_workspace(const wb_model *model, int threads);
/* The arguments, in the order of the public function; memory of so many bytes as `wb_model_workspace` says. */
int wb_model_run_in(const wb_model *model, void *const *arguments, void *memory, int threads);
/* Whether all arrays are dense. */
int wb_model_lies(const wb_model *model, const wb_array *arrays);

#endif
