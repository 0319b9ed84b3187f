/* Between the public function of a library for GPUs and what starts its kernels. */

#ifndef WORKBENCH_CUDA_API_H
#define WORKBENCH_CUDA_API_H

#include "api.h"
#include "gpu_images.h"

/* Dense arrays in memory of the GPU, by parameter; kernels are started on a stream of the context that is current. */
int wb_call_on_stream(const wb_family *family, const wb_gpu_table *table, void *const *data, const wb_border_value *values,
                      const int64_t *sizes, void *stream);

#endif
