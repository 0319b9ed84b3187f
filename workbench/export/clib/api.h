/* Between the public functions of a library and the dispatcher. */

#ifndef WORKBENCH_API_H
#define WORKBENCH_API_H

#include "dispatch.h"
#include "workbench.h"

#ifndef WB_PUBLIC
#define WB_PUBLIC __attribute__((visibility("default")))
#endif

typedef struct {
    wb_array arrays[WB_MOST_ARRAYS];
    int64_t shapes[WB_MOST_ARRAYS][WB_MOST_RANK], strides[WB_MOST_ARRAYS][WB_MOST_RANK];
} wb_dense_arrays;

/* Dense arrays by parameter (NULL for a number by value) as the dispatcher takes them, of the shapes that the sizes say. */
int wb_lay_dense(const wb_family *family, void *const *data, const int64_t *sizes, wb_dense_arrays *made);
/* A call with dense arrays; all sizes are known. */
int wb_call_dense(const wb_family *family, void *const *data, const wb_border_value *values, const int64_t *sizes);
/* Tensors by parameter; `sizes` holds what no shape tells. */
int wb_call_tensors(const wb_family *family, const workbench_tensor *const *tensors, const wb_border_value *values,
                    int64_t *sizes);
void wb_set_threads(int threads);

#endif
