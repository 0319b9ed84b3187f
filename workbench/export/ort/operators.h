/* Between the tables of an operator and ONNX Runtime. */

#ifndef WORKBENCH_OPERATORS_H
#define WORKBENCH_OPERATORS_H

#include "dispatch.h"
#include "ort.h"

#define WB_PUBLIC __attribute__((visibility("default")))

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
    const wb_family *const *families; /* one for each choice of element types */
} wb_operator;

extern const wb_operator wb_the_operator;
extern const OrtApi *wb_ort;

/* -- host.c: the threads and the memory of one call -- */

OrtStatus *wb_host_start(void);
/* What a call begins with on its thread, and ends with. */
void wb_enter(const OrtKernelContext *context);
void wb_leave(void);
wb_host wb_host_of_call(void);

/* -- shapes.c -- */

OrtStatus *wb_infer(OrtShapeInferContext *context);

/* -- operators.c -- */

/* The dispatcher's last message as ONNX Runtime's error. */
OrtStatus *wb_status(int code);
int wb_type_of(const wb_parameter *parameter);

#endif
