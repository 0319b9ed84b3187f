/* The border between Python and the kernel above.

   It takes the arrays of a call through the buffer protocol, sees that they are what the kernel was compiled for, and
   calls it without the interpreter's lock.  What it does not expect the caller in Python explains or repairs:
   WB_BORDER_LOOK.  No header of Python is needed: `wb_border_open` gets the functions; structures are of its stable ABI. */

enum { WB_BORDER_LOOK = -1, WB_BORDER_NO_MEMORY = -2 };
enum { WB_BORDER_SKIP_OVERLAP = 1 };
enum { WB_BORDER_READ = 0x1C, WB_BORDER_WRITE = 0x1D, WB_BORDER_FASTCALL = 0x80 };
enum { WB_BORDER_SLOTS = 8, WB_BORDER_ALIGN = 128, WB_BORDER_KEEP = 64 << 20 };

typedef struct {
    void *buf, *obj;
    ptrdiff_t len, itemsize;
    int readonly, ndim;
    char *format;
    ptrdiff_t *shape, *strides, *suboffsets;
    void *internal;
} wb_border_view;

typedef struct {
    int (*get_buffer)(void *object, wb_border_view *view, int flags);
    void (*release_buffer)(wb_border_view *view);
    void *(*save_thread)(void);
    void (*restore_thread)(void *state);
    ptrdiff_t (*tuple_size)(void *tuple);
    void *(*tuple_item)(void *tuple, ptrdiff_t position);
    double (*as_double)(void *object);
    long long (*as_integer)(void *object);
    unsigned long long (*as_natural)(void *object);
    void *(*as_pointer)(void *object);
    void *(*from_integer)(long long value);
    void *(*error_occurred)(void);
    void (*error_clear)(void);
    void *(*type_of)(void *object);
    void (*give_up)(void *object);
    int (*has_attribute)(void *object, const char *name);
} wb_border_python;

typedef struct {
    const char *name;
    void *(*function)(void *self, void *const *arguments, ptrdiff_t count);
    int flags;
    const char *doc;
} wb_border_method;

/* kind: f float, i signed, u unsigned, b bool, h a 16-bit float kept as bits. */
typedef struct {
    char kind;
    int8_t bytes;
    int8_t rank;
    int8_t by_value;
} wb_border_parameter;

typedef union {
    double real;
    int64_t integer;
    uint64_t natural;
} wb_border_value;

/* @KERNEL@ */

enum { WB_BORDER_ALL = WB_BORDER_INPUTS + WB_BORDER_OUTPUTS };

static wb_border_python wb_border_api;
static void *wb_border_array;

/* -- workspace: blocks are kept in slots that all kernels of the process share -- */

typedef struct {
    int64_t capacity;
    void *memory;
} wb_border_block;

static wb_border_block **wb_border_slots;

static void wb_border_free(wb_border_block *block) {
    if (block) __builtin_free(block->memory);
}

static wb_border_block *wb_border_take(int64_t bytes) {
    for (int slot = 0; wb_border_slots && slot < WB_BORDER_SLOTS; ++slot) {
        wb_border_block *block = __atomic_exchange_n(&wb_border_slots[slot], NULL, __ATOMIC_ACQ_REL);
        if (block && block->capacity >= bytes) return block;
        wb_border_free(block);
    }
    char *memory = __builtin_malloc(2 * WB_BORDER_ALIGN + (size_t)bytes);
    if (!memory) return NULL;
    wb_border_block *fresh = (wb_border_block *)(memory + (WB_BORDER_ALIGN - (uintptr_t)memory % WB_BORDER_ALIGN));
    fresh->capacity = bytes;
    fresh->memory = memory;
    return fresh;
}

static void wb_border_give(wb_border_block *block) {
    for (int slot = 0; wb_border_slots && slot < WB_BORDER_SLOTS && block->capacity <= WB_BORDER_KEEP; ++slot) {
        wb_border_block *empty = NULL;
        if (__atomic_compare_exchange_n(&wb_border_slots[slot], &empty, block, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
    }
    wb_border_free(block);
}

/* GCC's OpenMP waits for ever in a forked child for threads that only the parent has; one thread needs none. */
#if defined(_OPENMP) && !defined(__clang__)
extern int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
static int wb_border_forked;
static void wb_border_note_fork(void) {
    wb_border_forked = 1;
}
__attribute__((constructor)) static void wb_border_watch_forks(void) {
    pthread_atfork(NULL, NULL, wb_border_note_fork);
}
#else
enum { wb_border_forked = 0 };
#endif
static int64_t wb_border_run(void *const *data, const wb_border_value *values, const int64_t *symbols, int threads) {
    if (wb_border_forked) threads = 1;
    int64_t bytes = wb_border_workspace(symbols, threads);
    if (bytes <= 0) return wb_border_kernel(data, values, symbols, NULL, threads);
    wb_border_block *block = wb_border_take(bytes);
    if (!block) return WB_BORDER_NO_MEMORY;
    int64_t status = wb_border_kernel(data, values, symbols, (char *)block + WB_BORDER_ALIGN, threads);
    wb_border_give(block);
    return status;
}

/* The kernel, many times to measure a call without Python, of which it needs nothing.  A place behind the symbols is its. */
__attribute__((visibility("default")))
int64_t wb_border_repeat(void *const *data, const wb_border_value *values, int64_t *symbols, int threads, int64_t times) {
    int64_t status = 0;
    wb_stops_call call;
    wb_stops_begin(&call, symbols + WB_BORDER_SYMBOLS, times);
    while (times-- > 0 && !status) status = wb_border_run(data, values, symbols, threads);
    return wb_stops_end(&call, status);
}

__attribute__((visibility("default")))
int64_t wb_border_plain(void *const *data, const wb_border_value *values, int64_t *symbols, int threads) {
    return wb_border_repeat(data, values, symbols, threads, 1);
}

/* -- arguments ----------------------------------------------------------------------------------------------------- */

static int wb_border_kind(const char *format) {
    if (*format == '@' || *format == '=' || *format == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')) ++format;
    if (format[0] && format[1]) return 0;
    switch (format[0]) {
        case 'e': case 'f': case 'd': return 'f';
        case 'b': case 'h': case 'i': case 'l': case 'q': return 'i';
        case 'B': case 'H': case 'I': case 'L': case 'Q': return 'u';
        case '?': return 'b';
        default: return 0;
    }
}

/* layout: extent and stride in bytes for each dimension. */
static int wb_border_fits(const wb_border_view *view, const wb_border_parameter *parameter, const int64_t *layout) {
    int kind = wb_border_kind(view->format ? view->format : "B");
    if (kind != parameter->kind && !(parameter->kind == 'h' && kind == 'u')) return 0;
    if (view->itemsize != parameter->bytes || view->ndim != parameter->rank) return 0;
    if ((uintptr_t)view->buf % (uintptr_t)parameter->bytes && view->len) return 0;
    for (int d = 0; d < parameter->rank; ++d) {
        if (view->shape[d] != layout[2 * d]) return 0;
        if (view->strides[d] != layout[2 * d + 1] && view->shape[d] > 1 && view->len) return 0;
    }
    return 1;
}

static int wb_border_scalar(void *object, const wb_border_parameter *parameter, wb_border_value *value) {
    int unused = 64 - 8 * parameter->bytes;
    switch (parameter->kind) {
        case 'f':
            value->real = wb_border_api.as_double(object);
            return value->real != -1.0 || !wb_border_api.error_occurred();
        case 'u':
            value->natural = wb_border_api.as_natural(object);
            return (value->natural != (uint64_t)-1 || !wb_border_api.error_occurred()) && value->natural << unused >> unused == value->natural;
        case 'h': return 0;
        default:
            value->integer = wb_border_api.as_integer(object);
            if (value->integer == -1 && wb_border_api.error_occurred()) return 0;
            if (parameter->kind == 'b') return value->integer == 0 || value->integer == 1;
            return (int64_t)((uint64_t)value->integer << unused) >> unused == value->integer;
    }
}

/* A half by value arrives as an array of no dimensions. */
static int wb_border_half(void *object, wb_border_value *value) {
    wb_border_view view;
    if (wb_border_api.get_buffer(object, &view, WB_BORDER_READ)) return 0;
    int fits = view.itemsize == 2 && view.ndim == 0 && wb_border_kind(view.format ? view.format : "B") == 'u';
    if (fits) value->natural = *(const uint16_t *)view.buf;
    wb_border_api.release_buffer(&view);
    return fits;
}

/* First and one past the last byte that a view covers. */
static void wb_border_span(const wb_border_view *view, char **first, char **last) {
    *first = *last = view->buf;
    for (int d = 0; d < view->ndim; ++d) {
        ptrdiff_t reach = (view->shape[d] - 1) * view->strides[d];
        *(reach < 0 ? first : last) += reach;
    }
    *last += view->itemsize;
}

/* `restrict` in the kernel promises that no output shares memory with another array. */
static int wb_border_overlap(const wb_border_view *views) {
    for (int out = WB_BORDER_INPUTS; out < WB_BORDER_ALL; ++out) {
        char *first, *last, *other_first, *other_last;
        if (!views[out].len) continue;
        wb_border_span(&views[out], &first, &last);
        for (int other = 0; other < out; ++other) {
            if (!views[other].obj || !views[other].len) continue;
            wb_border_span(&views[other], &other_first, &other_last);
            if (first < other_last && other_first < last) return 1;
        }
    }
    return 0;
}

/* A subclass of NumPy's array may carry a mask, which is for Python to look at. */
static int wb_border_masked(void *object) {
    void *type = wb_border_api.type_of(object);
    wb_border_api.give_up(type);
    return type != wb_border_array && wb_border_api.has_attribute(object, "_mask");
}

static void *wb_border_argument(void *arrays, void *out, int position) {
    if (position < WB_BORDER_INPUTS) return wb_border_api.tuple_item(arrays, position);
    return WB_BORDER_OUTPUTS == 1 ? out : wb_border_api.tuple_item(out, position - WB_BORDER_INPUTS);
}

/* Take every argument; a view whose `obj` is set has to be released. */
static int wb_border_accept(void *arrays, void *out, int64_t **layout, wb_border_view *views, wb_border_value *values) {
    for (int p = 0; p < WB_BORDER_ALL; ++p) {
        const wb_border_parameter *parameter = &wb_border_parameters[p];
        void *object = wb_border_argument(arrays, out, p);
        if (!object) return 0;
        if (parameter->by_value) {
            if (!(parameter->kind == 'h' ? wb_border_half(object, &values[p]) : wb_border_scalar(object, parameter, &values[p]))) return 0;
            continue;
        }
        if (wb_border_masked(object)) return 0;
        if (wb_border_api.get_buffer(object, &views[p], p < WB_BORDER_INPUTS ? WB_BORDER_READ : WB_BORDER_WRITE)) {
            views[p].obj = NULL;
            return 0;
        }
        if (!wb_border_fits(&views[p], parameter, *layout)) return 0;
        *layout += 2 * parameter->rank;
    }
    return 1;
}

static int64_t wb_border_launch(const wb_border_view *views, const wb_border_value *values, int64_t *symbols, int threads) {
    void *data[WB_BORDER_ALL + 1];
    int cells = 0;
    for (int p = 0; p < WB_BORDER_ALL; ++p) {
        data[p] = views[p].buf;
        cells |= p >= WB_BORDER_INPUTS && views[p].len;
    }
    if (!cells && !WB_BORDER_CHECKS) return 0;
    void *state = wb_border_api.save_thread();
    int64_t status = wb_border_plain(data, values, symbols, threads);
    wb_border_api.restore_thread(state);
    return status;
}

/* border(arrays, out, layout, threads, flags) -> status */
static void *wb_border_call(void *self, void *const *arguments, ptrdiff_t count) {
    (void)self;
    wb_border_view views[WB_BORDER_ALL + 1];
    wb_border_value values[WB_BORDER_ALL + 1];
    for (int p = 0; p < WB_BORDER_ALL; ++p) views[p].obj = views[p].buf = NULL;
    int64_t status = WB_BORDER_LOOK;
    if (count == 5 && wb_border_api.tuple_size(arguments[0]) == WB_BORDER_INPUTS
        && (WB_BORDER_OUTPUTS == 1 || wb_border_api.tuple_size(arguments[1]) == WB_BORDER_OUTPUTS)) {
        int64_t *layout = wb_border_api.as_pointer(arguments[2]);
        int threads = (int)wb_border_api.as_integer(arguments[3]);
        int skip = (int)wb_border_api.as_integer(arguments[4]) & WB_BORDER_SKIP_OVERLAP;
        if (wb_border_accept(arguments[0], arguments[1], &layout, views, values) && (skip || !wb_border_overlap(views)))
            status = wb_border_launch(views, values, layout, threads);
    }
    for (int p = 0; p < WB_BORDER_ALL; ++p)
        if (views[p].obj) wb_border_api.release_buffer(&views[p]);
    if (status == WB_BORDER_LOOK) wb_border_api.error_clear();
    return wb_border_api.from_integer(status);
}

static wb_border_method wb_border_definition = {"kernel", wb_border_call, WB_BORDER_FASTCALL, NULL};

/* Take over Python's functions, NumPy's array type and the shared slots; answers the definition of `wb_border_call`. */
__attribute__((visibility("default")))
void *wb_border_open(const wb_border_python *functions, const wb_stops_system *system, void *array_type, void **slots) {
    wb_border_api = *functions;
    wb_stops_api = *system;
    wb_border_array = array_type;
    wb_border_slots = (wb_border_block **)slots;
    return &wb_border_definition;
}
