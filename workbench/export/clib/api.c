/* The border of the library: what callers give becomes what the dispatcher takes.  Memory comes from malloc, in blocks
   that are kept; threads are the pool's. */

#include "api.h"

#include <stdlib.h>

/* -- memory: a few blocks are kept for the next call -- */

enum { WB_SLOTS = 4, WB_HEAD = 64, WB_KEEP = 64 << 20 };

static void *wb_slots[WB_SLOTS];

static int64_t *wb_capacity(void *block)
{
    return block;
}

static void *wb_take(int64_t bytes, void **handle)
{
    for (int n = 0; n < WB_SLOTS; ++n) {
        void *kept = __atomic_exchange_n(&wb_slots[n], NULL, __ATOMIC_ACQ_REL);
        if (kept && *wb_capacity(kept) >= bytes) return *handle = kept, (char *)kept + WB_HEAD;
        free(kept);
    }
    void *block = NULL;
    if (bytes > INT64_MAX - WB_HEAD || posix_memalign(&block, 64, (size_t)bytes + WB_HEAD)) return NULL;
    *wb_capacity(block) = bytes;
    *handle = block;
    return (char *)block + WB_HEAD;
}

static void wb_give(void *memory, void *handle)
{
    (void)memory;
    for (int n = 0; n < WB_SLOTS && *wb_capacity(handle) <= WB_KEEP; ++n) {
        void *empty = NULL;
        if (__atomic_compare_exchange_n(&wb_slots[n], &empty, handle, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
    }
    free(handle);
}

__attribute__((destructor)) static void wb_free_slots(void)
{
    for (int n = 0; n < WB_SLOTS; ++n) free(__atomic_exchange_n(&wb_slots[n], NULL, __ATOMIC_ACQ_REL));
}

/* -- threads -- */

static int wb_wanted;

void wb_set_threads(int threads)
{
    __atomic_store_n(&wb_wanted, threads, __ATOMIC_RELAXED);
}

static wb_host wb_own_host(void)
{
    int threads = __atomic_load_n(&wb_wanted, __ATOMIC_RELAXED);
    if (threads <= 0) wb_set_threads(threads = wb_processors());
    return (wb_host){wb_take, wb_give, threads};
}

/* -- arrays -- */

int wb_lay_dense(const wb_family *f, void *const *data, const int64_t *sizes, wb_dense_arrays *made)
{
    const int status = f->holds(sizes);
    if (status) return status;
    for (int p = 0; p < f->inputs + f->outputs; ++p) {
        int64_t cells = 1;
        f->shape(p, sizes, made->shapes[p]);
        wb_dense(f->parameters[p].rank, made->shapes[p], made->strides[p]);
        for (int d = 0; d < f->parameters[p].rank; ++d) cells *= made->shapes[p][d];
        if (!data[p] && cells && !f->parameters[p].by_value)
            return wb_fail(WB_BAD_POINTER, "%s: %s is NULL", f->name, f->parameters[p].name);
        made->arrays[p] = (wb_array){data[p], made->shapes[p], made->strides[p]};
    }
    return 0;
}

int wb_call_dense(const wb_family *f, void *const *data, const wb_border_value *values, const int64_t *sizes)
{
    wb_dense_arrays made;
    const int status = wb_lay_dense(f, data, sizes, &made);
    if (status) return status;
    wb_host host = wb_own_host();
    return (int)wb_call(f, made.arrays, values, sizes, &host);
}

static int wb_take_tensor(const wb_family *f, int place, const workbench_tensor *tensor, wb_array *array, int64_t *strides)
{
    static const char *const kinds[] = {"int", "uint", "float", "?", "bfloat", "?", "bool"};
    const wb_parameter *p = &f->parameters[place];
    if (!tensor) return wb_fail(WB_BAD_POINTER, "%s: %s is NULL", f->name, p->name);
    if (tensor->device_type != 1 && tensor->device_type != 3)
        return wb_fail(WB_BAD_DEVICE, "%s: %s is on a device of DLPack's type %d; expected memory of the processor (1)",
                       f->name, p->name, (int)tensor->device_type);
    int bits = p->code == 6 ? 8 : p->bits;
    if (tensor->type_code != p->code || (tensor->type_bits != bits && tensor->type_bits != p->bits) || tensor->type_lanes != 1)
        return wb_fail(WB_BAD_TYPE, "%s: %s expected type %s%d but found %s%d%s", f->name, p->name, kinds[p->code], bits,
                       tensor->type_code < 7 ? kinds[tensor->type_code] : "?", tensor->type_bits,
                       tensor->type_lanes != 1 ? " in lanes" : "");
    int status = wb_check_rank(f, place, tensor->ndim);
    if (status) return status;
    int64_t cells = 1;
    for (int d = 0; d < p->rank; ++d) {
        if (tensor->shape[d] < 0) return wb_fail(WB_BAD_SHAPE, "%s: %s has a negative extent", f->name, p->name);
        cells *= tensor->shape[d];
    }
    if (!tensor->data && cells) return wb_fail(WB_BAD_POINTER, "%s: the data of %s is NULL", f->name, p->name);
    wb_dense(p->rank, tensor->shape, strides);
    const int64_t *own = tensor->strides ? tensor->strides : strides;
    *array = (wb_array){tensor->data ? (char *)tensor->data + tensor->byte_offset : NULL, tensor->shape, own};
    return 0;
}

/* Whether an output that the caller made has the shape that the sizes say. */
static int wb_check_output(const wb_family *f, int place, const wb_array *array, const int64_t *sizes)
{
    int64_t expected[WB_MOST_RANK];
    f->shape(place, sizes, expected);
    for (int d = 0; d < f->parameters[place].rank; ++d)
        if (array->shape[d] != expected[d])
            return wb_fail(WB_BAD_SHAPE, "%s: %s, dimension %d expected %lld but found %lld", f->name,
                           f->parameters[place].name, d, (long long)expected[d], (long long)array->shape[d]);
    return 0;
}

int wb_call_tensors(const wb_family *f, const workbench_tensor *const *tensors, const wb_border_value *values, int64_t *sizes)
{
    int64_t strides[WB_MOST_ARRAYS][WB_MOST_RANK];
    wb_array arrays[WB_MOST_ARRAYS];
    int status = 0, all = f->inputs + f->outputs;
    for (int p = 0; p < all && !status; ++p) {
        if (f->parameters[p].by_value) arrays[p] = (wb_array){NULL, NULL, NULL};
        else status = wb_take_tensor(f, p, tensors[p], &arrays[p], strides[p]);
    }
    if (!status) status = f->solve(arrays, sizes);
    for (int p = f->inputs; p < all && !status; ++p) status = wb_check_output(f, p, &arrays[p], sizes);
    if (status) return status;
    wb_host host = wb_own_host();
    return (int)wb_call(f, arrays, values, sizes, &host);
}
