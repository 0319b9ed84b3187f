/* Runs the kernels of a model in order. */

#include "model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int wb_wanted;

void wb_model_set_threads(int threads)
{
    __atomic_store_n(&wb_wanted, threads, __ATOMIC_RELAXED);
}

static int wb_model_threads(void)
{
    int threads = __atomic_load_n(&wb_wanted, __ATOMIC_RELAXED);
    if (threads <= 0) wb_model_set_threads(threads = wb_processors());
    return threads;
}

static const wb_model_level *wb_model_level_of(const wb_model *m)
{
    return &m->levels[m->level_number()];
}

/* -- constants, packed when the first call wants them -- */

void wb_model_forget(const wb_model *m)
{
    free(__atomic_exchange_n(m->packed, NULL, __ATOMIC_ACQ_REL));
}

static int wb_model_pack(const wb_model *m, const wb_model_packing *p, char *memory)
{
    void *data[] = {(void *)(m->weights + m->constant_offsets[p->constant]), memory + p->offset}, *space = NULL;
    const int64_t bytes = p->code->workspace(NULL, 1);
    if (bytes > 0 && posix_memalign(&space, WB_MODEL_ALIGN, (size_t)bytes)) return WB_NO_MEMORY;
    const int64_t status = p->code->run(data, NULL, NULL, space, 1);
    free(space);
    return (int)status;
}

/* Memory that holds zeros where a packed constant has no cell; NULL without memory. */
static char *wb_model_packed_anew(const wb_model *m, const wb_model_level *level)
{
    void *memory = NULL;
    int status = posix_memalign(&memory, WB_MODEL_ALIGN, (size_t)level->packed_bytes);
    if (status) return NULL;
    memset(memory, 0, (size_t)level->packed_bytes);
    for (int n = 0; n < level->packed && !status; ++n) status = wb_model_pack(m, &level->packings[n], memory);
    if (!status) return memory;
    free(memory);
    return NULL;
}

static char *wb_model_packed(const wb_model *m)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char *found = __atomic_load_n(m->packed, __ATOMIC_ACQUIRE);
    if (found) return found;
    pthread_mutex_lock(&lock);
    found = __atomic_load_n(m->packed, __ATOMIC_RELAXED);
    if (!found) __atomic_store_n(m->packed, found = wb_model_packed_anew(m, wb_model_level_of(m)), __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return found;
}

/* -- a call -- */

int64_t wb_model_workspace(const wb_model *m, int threads)
{
    int64_t most = 0;
    const wb_code *const *codes = wb_model_level_of(m)->codes;
    for (int k = 0; k < m->kernel_count; ++k) {
        int64_t bytes = codes[k]->workspace(NULL, threads);
        if (bytes > most) most = bytes;
    }
    return m->arena + most + WB_MODEL_ALIGN;
}

int64_t wb_model_bytes(const wb_model *m)
{
    return m->level() ? wb_model_workspace(m, wb_model_threads()) : 0;
}

static wb_border_value wb_model_value(const wb_border_parameter *p, const void *from)
{
    wb_border_value value = {.natural = 0};
    switch (p->kind) {
        case 'f':
            if (p->bytes == 4) {
                float number;
                memcpy(&number, from, sizeof number);
                value.real = (double)number;
            } else memcpy(&value.real, from, sizeof value.real);
            break;
        case 'i':
            switch (p->bytes) {
                case 1: value.integer = *(const int8_t *)from; break;
                case 2: value.integer = *(const int16_t *)from; break;
                case 4: value.integer = *(const int32_t *)from; break;
                default: value.integer = *(const int64_t *)from;
            }
            break;
        default:
            switch (p->bytes) {
                case 1: value.natural = *(const uint8_t *)from; break;
                case 2: value.natural = *(const uint16_t *)from; break;
                case 4: value.natural = *(const uint32_t *)from; break;
                default: value.natural = *(const uint64_t *)from;
            }
    }
    return value;
}

static int wb_model_step_run(const wb_model *m, const wb_model_step *step, void *const *slots, void *workspace,
                             int threads)
{
    const wb_model_level *level = wb_model_level_of(m);
    const wb_model_kernel *kernel = &level->kernels[step->kernel];
    const int *places = &level->places[level->first[step - m->step]];
    void *data[WB_MOST_ARRAYS];
    wb_border_value values[WB_MOST_ARRAYS];
    for (int c = step->copy_begin; c < step->copy_end; ++c) {
        const wb_model_copy *copy = &m->copies[c];
        if (copy->from < 0) memset(slots[copy->to], 0, (size_t)copy->bytes);
        else memmove(slots[copy->to], slots[copy->from], (size_t)copy->bytes);
    }
    for (int p = 0; p < kernel->count; ++p) {
        data[p] = slots[places[p]];
        if (kernel->parameters[p].by_value) values[p] = wb_model_value(&kernel->parameters[p], data[p]);
    }
    int64_t status = level->codes[step->kernel]->run(data, values, NULL, workspace, threads);
    if (status > 0 && status <= kernel->check_count)
        return wb_fail((int)status, "%s: in the call of %s: %s", m->name, step->name, kernel->checks[status - 1]);
    return status ? wb_fail((int)status, "%s: the call of %s failed", m->name, step->name) : 0;
}

static int wb_model_run(const wb_model *m, void *const *arguments, void **slots, char *base, int threads)
{
    const wb_model_level *level = wb_model_level_of(m);
    void **slot = slots;
    for (int n = 0; n < m->given; ++n) *slot++ = arguments[m->arguments[n]];
    for (int n = 0; n < m->inside; ++n) *slot++ = base + m->offsets[n];
    for (int n = 0; n < m->constants; ++n) *slot++ = (void *)(m->weights + m->constant_offsets[n]);
    for (int n = 0; n < level->packed; ++n) *slot++ = *m->packed + level->packings[n].offset;
    int status = 0;
    for (int n = 0; n < m->steps && !status; ++n)
        status = wb_model_step_run(m, &m->step[n], slots, base + m->arena, threads);
    for (int n = 0; n < m->copies_at_end && !status; ++n)
        memcpy(arguments[m->at_end[n].to], slots[m->at_end[n].from], (size_t)m->at_end[n].bytes);
    return status;
}

int wb_model_run_in(const wb_model *m, void *const *arguments, void *memory, int threads)
{
    const wb_model_level *level = wb_model_level_of(m);
    if (level->packed && !wb_model_packed(m))
        return wb_fail(WB_NO_MEMORY, "%s: no memory for its packed weights, %lld bytes", m->name, (long long)level->packed_bytes);
    size_t count = (size_t)(m->given + m->inside + m->constants + level->packed + 1);
    void **slots = malloc(count * sizeof *slots);
    if (!slots) return wb_fail(WB_NO_MEMORY, "%s: no memory for the addresses of its arrays", m->name);
    char *base = (char *)(((uintptr_t)memory + WB_MODEL_ALIGN - 1) / WB_MODEL_ALIGN * WB_MODEL_ALIGN);
    int status = wb_model_run(m, arguments, slots, base, threads);
    free(slots);
    return status;
}

int wb_model_call(const wb_model *m, void *const *arguments, void *memory)
{
    if (!m->level())
        return wb_fail(WB_NO_KERNEL, "%s: the library has kernels for other processors only", m->name);
    for (int n = 0; n < m->ports; ++n)
        if (!arguments[n]) return wb_fail(WB_BAD_POINTER, "%s: %s is NULL", m->name, m->port[n].name);
    int threads = wb_model_threads();
    int64_t bytes = wb_model_workspace(m, threads);
    void *own = memory ? NULL : malloc((size_t)bytes);
    if (!memory && !own) return wb_fail(WB_NO_MEMORY, "%s: no memory for its arena, %lld bytes", m->name, (long long)bytes);
    int status = wb_model_run_in(m, arguments, memory ? memory : own, threads);
    free(own);
    return status;
}

int wb_model_lies(const wb_model *m, const wb_array *arrays)
{
    int64_t dense[WB_MOST_RANK];
    for (int n = 0; n < m->ports; ++n) {
        wb_dense(m->port[n].rank, m->port[n].shape, dense);
        if (!wb_lies(&arrays[n], m->port[n].rank, m->port[n].bytes, dense)) return 0;
    }
    return 1;
}

/* -- tensors -- */

static int64_t wb_port_bytes(const wb_model_port *p)
{
    int64_t bytes = p->bytes;
    for (int d = 0; d < p->rank; ++d) bytes *= p->shape[d];
    return bytes;
}

static int wb_port_fits(const wb_model *m, const wb_model_port *p, const workbench_tensor *t)
{
    if (!t) return wb_fail(WB_BAD_POINTER, "%s: %s is NULL", m->name, p->name);
    if (t->device_type != 1 && t->device_type != 3)
        return wb_fail(WB_BAD_DEVICE, "%s: %s is not in memory of the processor", m->name, p->name);
    if (t->type_code != p->code || (t->type_bits != p->bits && t->type_bits != 8 * p->bytes) || t->type_lanes != 1)
        return wb_fail(WB_BAD_TYPE, "%s: %s has elements of another type", m->name, p->name);
    if (t->ndim != p->rank)
        return wb_fail(WB_BAD_SHAPE, "%s: %s expected a tensor with %d dimensions but found %d", m->name, p->name,
                       (int)p->rank, (int)t->ndim);
    for (int d = 0; d < p->rank; ++d)
        if (t->shape[d] != p->shape[d])
            return wb_fail(WB_BAD_SHAPE, "%s: %s, dimension %d expected %lld but found %lld", m->name, p->name, d,
                           (long long)p->shape[d], (long long)t->shape[d]);
    if (!t->data && wb_port_bytes(p)) return wb_fail(WB_BAD_POINTER, "%s: the data of %s is NULL", m->name, p->name);
    return 0;
}

static int wb_port_is_dense(const wb_model_port *p, const workbench_tensor *t)
{
    int64_t step = 1;
    for (int d = p->rank - 1; d >= 0 && t->strides; --d) {
        if (p->shape[d] != 1 && t->strides[d] != step) return !wb_port_bytes(p);
        step *= p->shape[d];
    }
    return (uintptr_t)((char *)t->data + t->byte_offset) % p->bytes == 0;
}

/* First and one past the last byte. */
static void wb_port_span(const wb_model_port *p, const workbench_tensor *t, const char **first, const char **last)
{
    int64_t step = p->bytes;
    *first = *last = (const char *)t->data + t->byte_offset;
    for (int d = p->rank - 1; d >= 0; --d) {
        int64_t reach = (p->shape[d] - 1) * (t->strides ? t->strides[d] * p->bytes : step);
        *(reach < 0 ? first : last) += reach;
        step *= p->shape[d];
    }
    *last += p->bytes;
}

static int wb_port_meets_another(const wb_model *m, const workbench_tensor *const *tensors, int port)
{
    const char *first, *last, *other_first, *other_last;
    wb_port_span(&m->port[port], tensors[port], &first, &last);
    for (int n = 0; n < m->ports; ++n) {
        if (n == port || !wb_port_bytes(&m->port[n]) || !wb_port_bytes(&m->port[port])) continue;
        wb_port_span(&m->port[n], tensors[n], &other_first, &other_last);
        if (first < other_last && other_first < last) return 1;
    }
    return 0;
}

/* Between a tensor and dense memory: `out` of the tensor, or into it. */
static void wb_port_copy(const workbench_tensor *t, char *at, char *dense, int64_t cells, int rank, int d, int bytes, int out)
{
    if (d == rank) {
        memcpy(out ? dense : at, out ? at : dense, (size_t)bytes);
        return;
    }
    int64_t inner = t->shape[d] ? cells / t->shape[d] : 0;
    for (int64_t n = 0; n < t->shape[d]; ++n)
        wb_port_copy(t, at + n * (t->strides ? t->strides[d] : inner) * bytes, dense + n * inner * bytes, inner, rank, d + 1,
                     bytes, out);
}

int wb_model_call_tensors(const wb_model *m, const workbench_tensor *const *tensors)
{
    int status = 0;
    size_t count = (size_t)(m->ports ? m->ports : 1);
    void **arguments = calloc(count, sizeof *arguments), **copies = calloc(count, sizeof *copies);
    if (!arguments || !copies) status = wb_fail(WB_NO_MEMORY, "%s: no memory", m->name);
    for (int n = 0; n < m->ports && !status; ++n) status = wb_port_fits(m, &m->port[n], tensors[n]);
    for (int n = 0; n < m->ports && !status; ++n) {
        const wb_model_port *p = &m->port[n];
        char *at = (char *)tensors[n]->data + tensors[n]->byte_offset;
        int64_t bytes = wb_port_bytes(p);
        int apart = wb_port_is_dense(p, tensors[n]) && !(p->written && wb_port_meets_another(m, tensors, n));
        if (!apart && !(copies[n] = malloc((size_t)bytes + 1)))
            status = wb_fail(WB_NO_MEMORY, "%s: no memory for a copy of %s", m->name, p->name);
        else if (!apart && !p->written)
            wb_port_copy(tensors[n], at, copies[n], bytes / p->bytes, p->rank, 0, p->bytes, 1);
        arguments[n] = copies[n] ? copies[n] : bytes ? (void *)at : (void *)m;
    }
    if (!status) status = wb_model_call(m, arguments, NULL);
    for (int n = 0; n < m->ports && copies; ++n) {
        const wb_model_port *p = &m->port[n];
        if (copies[n] && p->written && !status)
            wb_port_copy(tensors[n], (char *)tensors[n]->data + tensors[n]->byte_offset, copies[n],
                         wb_port_bytes(p) / p->bytes, p->rank, 0, p->bytes, 0);
        free(copies[n]);
    }
    free(arguments);
    free(copies);
    return status;
}
