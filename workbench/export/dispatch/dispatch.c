/* Chooses and runs a kernel: the first whose sizes, strides and alignment fit.  Where none takes the arrays as they lie
   in memory, or an output shares memory with another array, dense copies stand in for them. */

#include "dispatch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char wb_text[WB_TEXT];
static _Thread_local const char *wb_chosen = "";

enum { WB_LITTLE_WORK = 1 << 15 };

const char *wb_message(void)
{
    return wb_text;
}

const char *wb_last_kernel(void)
{
    return wb_chosen;
}

int wb_fail(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wb_text, sizeof wb_text, format, arguments);
    va_end(arguments);
    return status;
}

/* -- how an array lies in memory -- */

static int64_t wb_cells(int rank, const int64_t *shape)
{
    int64_t cells = 1;
    for (int d = 0; d < rank; ++d) cells *= shape[d];
    return cells;
}

int wb_lies(const wb_array *array, int rank, int bytes, const int64_t *strides)
{
    int fits = (uintptr_t)array->data % (uintptr_t)bytes == 0;
    for (int d = 0; d < rank; ++d) {
        if (array->shape[d] == 0) return 1;
        fits &= array->strides[d] == strides[d] || array->shape[d] == 1;
    }
    return fits;
}

void wb_dense(int rank, const int64_t *shape, int64_t *strides)
{
    int64_t step = 1;
    for (int d = rank - 1; d >= 0; --d) {
        strides[d] = step;
        step *= shape[d];
    }
}

int wb_check_rank(const wb_family *family, int parameter, int rank)
{
    const wb_parameter *p = &family->parameters[parameter];
    if (rank == p->rank) return 0;
    return wb_fail(WB_BAD_SHAPE, "%s: %s expected a tensor with %d dimension%s but found %d", family->name, p->name,
                   p->rank, p->rank == 1 ? "" : "s", rank);
}

/* First and one past the last byte. */
static void wb_span(const wb_array *array, const wb_parameter *p, const char **first, const char **last)
{
    *first = *last = array->data;
    for (int d = 0; d < p->rank; ++d) {
        int64_t reach = (array->shape[d] - 1) * array->strides[d] * p->bytes;
        *(reach < 0 ? first : last) += reach;
    }
    *last += p->bytes;
}

static int wb_meet(const wb_family *f, const wb_array *arrays, int one, int other)
{
    const wb_parameter *p = &f->parameters[one], *q = &f->parameters[other];
    const char *first, *last, *other_first, *other_last;
    if (q->by_value || !wb_cells(p->rank, arrays[one].shape) || !wb_cells(q->rank, arrays[other].shape)) return 0;
    wb_span(&arrays[one], p, &first, &last);
    wb_span(&arrays[other], q, &other_first, &other_last);
    return first < other_last && other_first < last;
}

/* An output has memory of its own: another array of the call that it meets, or -1. */
int wb_met(const wb_family *f, const wb_array *arrays, int output)
{
    for (int other = 0; other < f->inputs + f->outputs; ++other)
        if (other != output && wb_meet(f, arrays, output, other)) return other;
    return -1;
}

/* -- copies -- */

static void wb_copy(char *to, const int64_t *to_strides, const char *from, const int64_t *from_strides,
                    const int64_t *shape, int rank, int bytes)
{
    if (rank == 0) {
        memcpy(to, from, (size_t)bytes);
        return;
    }
    for (int64_t n = 0; n < shape[0]; ++n) {
        wb_copy(to + n * to_strides[0] * bytes, to_strides + 1, from + n * from_strides[0] * bytes, from_strides + 1,
                shape + 1, rank - 1, bytes);
    }
}

typedef struct {
    void *memory, *handle;
    int64_t strides[WB_MOST_RANK];
} wb_stand_in;

static int wb_replace(const wb_parameter *p, wb_array *array, wb_stand_in *copy, const wb_host *host, int filled)
{
    int64_t bytes = wb_cells(p->rank, array->shape) * p->bytes;
    wb_dense(p->rank, array->shape, copy->strides);
    copy->memory = host->take(bytes > 0 ? bytes : 1, &copy->handle);
    if (!copy->memory) return wb_fail(WB_NO_MEMORY, "no memory for a copy of %s, %lld bytes", p->name, (long long)bytes);
    if (filled && bytes)
        wb_copy(copy->memory, copy->strides, array->data, array->strides, array->shape, p->rank, p->bytes);
    array->data = copy->memory;
    array->strides = copy->strides;
    return 0;
}

/* Cells that no statement writes hold 0. */
static void wb_zero(char *at, const int64_t *shape, const int64_t *strides, int rank, int bytes)
{
    if (rank == 0) memset(at, 0, (size_t)bytes);
    for (int64_t n = 0; rank && n < shape[0]; ++n)
        wb_zero(at + n * strides[0] * bytes, shape + 1, strides + 1, rank - 1, bytes);
}

/* -- running -- */

/* Fills in the kernel's own symbols; how many threads it is worth. */
static int wb_prepare(const wb_family *f, const wb_kernel *kernel, const int64_t *sizes, int threads, int64_t *symbols)
{
    for (int n = 0; n < kernel->symbol_count; ++n) symbols[n] = sizes[kernel->symbols[n]];
    return kernel->fallback && f->work(sizes) < WB_LITTLE_WORK ? 1 : threads;
}

static int64_t wb_run(const wb_family *f, const wb_kernel *kernel, const wb_array *arrays, const wb_border_value *values,
                      const int64_t *sizes, const wb_host *host)
{
    void *data[WB_MOST_ARRAYS], *workspace = NULL, *handle = NULL;
    int64_t symbols[WB_MOST_ARRAYS] = {0}, cells = 0;
    for (int p = 0; p < f->inputs + f->outputs; ++p) data[p] = arrays[p].data;
    for (int p = f->inputs; p < f->inputs + f->outputs; ++p) cells |= wb_cells(f->parameters[p].rank, arrays[p].shape);
    wb_chosen = kernel->name;
    if (!cells && !kernel->check_count) return 0;
    for (int p = f->inputs; p < f->inputs + f->outputs; ++p) {
        const wb_parameter *output = &f->parameters[p];
        if (output->zero_fill) wb_zero(data[p], arrays[p].shape, arrays[p].strides, output->rank, output->bytes);
    }
    int threads = wb_prepare(f, kernel, sizes, host->threads, symbols);
    int64_t bytes = kernel->code->workspace(symbols, threads);
    if (bytes > 0 && !(workspace = host->take(bytes, &handle)))
        return wb_fail(WB_NO_MEMORY, "%s: no memory for the kernel's temporaries, %lld bytes", f->name, (long long)bytes);
    int64_t status = kernel->code->run(data, values, symbols, workspace, threads);
    if (workspace) host->give(workspace, handle);
    if (status > 0 && status <= kernel->check_count) wb_fail((int)status, "%s: %s", f->name, kernel->checks[status - 1]);
    return status;
}

/* The first kernel for these sizes, and for these arrays as they lie; `sized` says whether any is for the sizes. */
static const wb_kernel *wb_choose(const wb_level *level, const wb_array *arrays, const int64_t *sizes, int *sized)
{
    for (int n = 0; n < level->count; ++n) {
        const wb_kernel *kernel = &level->kernels[n];
        if (!kernel->fits(sizes)) continue;
        *sized = 1;
        if (kernel->lies(arrays, sizes)) return kernel;
    }
    return NULL;
}

static int64_t wb_with_copies(const wb_family *f, const wb_array *given, const wb_border_value *values,
                              const int64_t *sizes, const wb_host *host)
{
    wb_array arrays[WB_MOST_ARRAYS];
    wb_stand_in copies[WB_MOST_ARRAYS];
    int all = f->inputs + f->outputs, sized = 0;
    int64_t status = 0, dense[WB_MOST_RANK];
    memcpy(arrays, given, sizeof *arrays * (size_t)all);
    for (int p = 0; p < all; ++p) copies[p].memory = NULL;
    for (int p = 0; p < all && !status; ++p) {
        const wb_parameter *parameter = &f->parameters[p];
        if (parameter->by_value) continue;
        wb_dense(parameter->rank, given[p].shape, dense);
        int lies = wb_lies(&given[p], parameter->rank, parameter->bytes, dense);
        if (p >= f->inputs) lies &= wb_met(f, given, p) < 0;
        if (!lies) status = wb_replace(parameter, &arrays[p], &copies[p], host, 1);
    }
    const wb_kernel *kernel = status ? NULL : wb_choose(f->level(), arrays, sizes, &sized);
    if (kernel) status = wb_run(f, kernel, arrays, values, sizes, host);
    else if (!status) status = wb_fail(WB_NO_KERNEL, "%s: no kernel takes these arrays", f->name);
    for (int p = 0; p < all; ++p) {
        if (!copies[p].memory) continue;
        if (p >= f->inputs && !status)
            wb_copy(given[p].data, given[p].strides, copies[p].memory, copies[p].strides, given[p].shape,
                    f->parameters[p].rank, f->parameters[p].bytes);
        host->give(copies[p].memory, copies[p].handle);
    }
    return status;
}

int64_t wb_call(const wb_family *f, const wb_array *arrays, const wb_border_value *values, const int64_t *sizes,
                const wb_host *host)
{
    int sized = 0, apart = 1;
    int64_t status = f->level() ? 0 : wb_fail(WB_NO_KERNEL, "%s: the library has kernels for other processors only", f->name);
    if (!status && f->promised) status = f->promised(arrays, sizes);
    if (status) return status;
    for (int p = f->inputs; p < f->inputs + f->outputs; ++p) {
        int other = wb_met(f, arrays, p);
        if (other < 0) continue;
        apart = 0;
        if (f->refuses_aliases)
            return wb_fail(WB_ALIASED, "%s: %s and %s share memory, and %s is updated: give it memory of its own (a copy)",
                           f->name, f->parameters[other].name, f->parameters[p].name, f->parameters[p].name);
    }
    const wb_kernel *kernel = wb_choose(f->level(), arrays, sizes, &sized);
    if (!sized) return wb_fail(WB_NO_KERNEL, "%s: the library has no kernel for these scalars", f->name);
    if (kernel && apart) return wb_run(f, kernel, arrays, values, sizes, host);
    return wb_with_copies(f, arrays, values, sizes, host);
}

int64_t wb_workspace(const wb_family *f, const wb_array *arrays, const int64_t *sizes, int threads)
{
    int sized;
    int64_t symbols[WB_MOST_ARRAYS] = {0};
    const wb_kernel *kernel = wb_choose(f->level(), arrays, sizes, &sized);
    if (!kernel) return 0;
    threads = wb_prepare(f, kernel, sizes, threads, symbols);
    return kernel->code->workspace(symbols, threads);
}

/* -- promises about data -- */

static int64_t wb_number(const char *at, const wb_parameter *p)
{
    switch (p->bytes * (p->code == 0 ? -1 : 1)) {
        case -1: return *(const int8_t *)at;
        case -2: return *(const int16_t *)at;
        case -4: return *(const int32_t *)at;
        case 1: return *(const uint8_t *)at;
        case 2: return *(const uint16_t *)at;
        case 4: return *(const uint32_t *)at;
        default: return *(const int64_t *)at;
    }
}

/* The numbers of an array, one after another; NULL without memory. */
static int64_t *wb_numbers(const wb_array *array, const wb_parameter *p, int64_t count)
{
    int64_t *numbers = malloc(sizeof *numbers * (size_t)(count + 1)), dense[WB_MOST_RANK];
    char *packed = malloc((size_t)(count * p->bytes + 1));
    if (numbers && packed) {
        wb_dense(p->rank, array->shape, dense);
        wb_copy(packed, dense, array->data, array->strides, array->shape, p->rank, p->bytes);
        for (int64_t n = 0; n < count; ++n) numbers[n] = wb_number(packed + n * p->bytes, p);
    } else {
        free(numbers);
        numbers = NULL;
    }
    free(packed);
    return numbers;
}

int wb_in_range(const wb_array *array, const wb_parameter *p, int64_t lower, int64_t upper, const char *promise)
{
    int64_t count = wb_cells(p->rank, array->shape), *numbers = wb_numbers(array, p, count);
    int status = numbers ? 0 : wb_fail(WB_NO_MEMORY, "no memory to check %s", promise);
    for (int64_t n = 0; n < count && !status; ++n)
        if (numbers[n] < lower || numbers[n] >= upper)
            status = wb_fail(WB_BROKEN_PROMISE, "the promise %s does not hold: %s has %lld, which is not in %lld:%lld",
                             promise, p->name, (long long)numbers[n], (long long)lower, (long long)upper);
    free(numbers);
    return status;
}

static int wb_compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int wb_injective(const wb_array *array, const wb_parameter *p, const char *promise)
{
    int64_t count = wb_cells(p->rank, array->shape), *numbers = wb_numbers(array, p, count);
    if (!numbers) return wb_fail(WB_NO_MEMORY, "no memory to check %s", promise);
    qsort(numbers, (size_t)count, sizeof *numbers, wb_compare);
    int status = 0;
    for (int64_t n = 1; n < count && !status; ++n)
        if (numbers[n] == numbers[n - 1])
            status = wb_fail(WB_BROKEN_PROMISE, "the promise %s does not hold: %s has %lld twice", promise, p->name,
                             (long long)numbers[n]);
    free(numbers);
    return status;
}
