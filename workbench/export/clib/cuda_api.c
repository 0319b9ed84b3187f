/* The border of a library for GPUs: pointers are there, aligned, and no output shares memory with another array. */

#include "cuda_api.h"

static int wb_arrays_fit(const wb_family *f, const wb_dense_arrays *made)
{
    for (int p = 0; p < f->inputs + f->outputs; ++p) {
        const wb_parameter *parameter = &f->parameters[p];
        if (parameter->by_value) continue;
        if (!wb_lies(&made->arrays[p], parameter->rank, parameter->bytes, made->strides[p]))
            return wb_fail(WB_BAD_POINTER, "%s: %s is not aligned to its elements", f->name, parameter->name);
        const int other = p < f->inputs ? -1 : wb_met(f, made->arrays, p);
        if (other >= 0)
            return wb_fail(WB_ALIASED, "%s: %s and %s share memory", f->name, parameter->name, f->parameters[other].name);
    }
    return 0;
}

int wb_call_on_stream(const wb_family *f, const wb_gpu_table *table, void *const *data, const wb_border_value *values,
                      const int64_t *sizes, void *stream)
{
    wb_dense_arrays made;
    int status = wb_lay_dense(f, data, sizes, &made);
    if (!status) status = wb_arrays_fit(f, &made);
    if (status) return status;
    const wb_gpu_entries *there = wb_gpu_loaded(f->name, table, WB_CURRENT_DEVICE);
    if (!there) return WB_NO_KERNEL;
    const wb_gpu_host host = {{NULL, NULL, 1}, stream, WB_CURRENT_DEVICE};
    const int64_t answer = there->entries.call(f, made.arrays, values, sizes, &host.host);
    return answer == WB_GPU_REFUSED || answer == WB_GPU_STRIDES ? WB_NO_KERNEL : (int)answer;
}
