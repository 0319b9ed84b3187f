/* Between the public functions of a library and the dispatcher. */

#ifndef WORKBENCH_API_H
#define WORKBENCH_API_H

#include "dispatch.h"
#include "workbench.h"

#define WB_PUBLIC __attribute__((visibility("default")))

/* Dense arrays by parameter (NULL for a number by value); all sizes are known. */
int wb_call_dense(const wb_family *family, void *const *data, const wb_border_value *values, const int64_t *sizes);
/* Tensors by parameter; `sizes` holds what no shape tells. */
int wb_call_tensors(const wb_family *family, const workbench_tensor *const *tensors, const wb_border_value *values,
                    int64_t *sizes);
void wb_set_threads(int threads);

#endif
