/* Between the tables of an operator and ONNX Runtime. */

#ifndef WORKBENCH_OPERATORS_H
#define WORKBENCH_OPERATORS_H

#include "gpu_images.h"
#include "ort.h"

enum { WB_MOST_TYPES = 4 };

/* Which input's dimension tells a size; input is -1 where no single one does. */
typedef struct {
    int8_t input, dimension;
} wb_origin;

/* A dimension of an output: which sizes it is made of, and which size it is (-1: it is arithmetic). */
typedef struct {
    uint64_t uses;
    int8_t size;
} wb_dimension;

/* What shape inference knows of an operator; it is the same for all its choices of element types. */
typedef struct {
    const char *domain, *name;
    const wb_origin *origins;       /* by size */
    const wb_dimension *dimensions; /* of all outputs, one after another */
    int types;
    const wb_family *const *families;   /* one for each choice of element types */
    const wb_gpu_table *const *on_gpu;  /* the same for GPUs; NULL where it has no such kernels */
} wb_operator;

/* What ONNX Runtime knows it by: for one choice of element types, and for processors or (with a table) for GPUs. */
typedef struct {
    OrtCustomOp base;
    const wb_family *family;
    const wb_gpu_table *table;
} wb_custom;

/* A call: `copy` moves old values to where new ones go, in memory that is that of a result, `there`. */
typedef struct wb_arguments_of_call {
    const wb_family *family;
    OrtStatus *(*copy)(struct wb_arguments_of_call *call, const OrtValue *there, void *to, const void *from, size_t bytes);
    const OrtValue *result;
    wb_array arrays[WB_MOST_ARRAYS];
    wb_border_value values[WB_MOST_ARRAYS];
    int64_t sizes[WB_MOST_ARRAYS];
    int64_t shapes[WB_MOST_ARRAYS][WB_MOST_RANK], strides[WB_MOST_ARRAYS][WB_MOST_RANK];
} wb_arguments_of_call;

extern const wb_operator wb_the_operator;
extern const OrtApi *wb_ort;

/* -- host.c: the threads and the memory of one call -- */

OrtStatus *wb_host_start(void);
/* What a call begins with on its thread, and ends with. */
void wb_enter(const OrtKernelContext *context);
void wb_leave(void);
wb_host wb_host_of_call(void);
/* Whether something went wrong; the caller goes on without. */
int wb_failed(OrtStatus *status);

/* -- shapes.c -- */

OrtStatus *wb_infer(OrtShapeInferContext *context);

/* -- operators.c -- */

/* The dispatcher's last message as ONNX Runtime's error. */
OrtStatus *wb_status(int code);
int wb_type_of(const wb_parameter *parameter);
/* The arguments of a call, checked, and memory for its results. */
OrtStatus *wb_take_call(wb_arguments_of_call *call, OrtKernelContext *context);
/* What a dispatcher's answer is; NULL for 0. */
OrtStatus *wb_answer(int64_t answer);

/* -- gpu_calls.c -- */

OrtStatus *wb_compute_there(void *kernel, OrtKernelContext *context);

#endif
