/* The entry of a kernel that is only measured: no Python, no look at arguments, no interrupts. */

typedef struct {
    char kind;
    int8_t bytes, rank, by_value;
} wb_border_parameter;

typedef union {
    double real;
    int64_t integer;
    uint64_t natural;
} wb_border_value;

/* @KERNEL@ */

/* Status of the last call; -2 without memory for temporaries, which are kept between calls. */
__attribute__((visibility("default")))
int64_t wb_bare_repeat(void *const *data, const wb_border_value *values, const int64_t *symbols, int threads, int64_t times) {
    static char *block;
    static int64_t held;
    int64_t bytes = wb_border_workspace(symbols, threads), status = 0;
    if (bytes > held) {
        __builtin_free(block);
        held = 0;
        block = __builtin_malloc(256 + (__SIZE_TYPE__)bytes);
        if (!block) return -2;
        held = bytes;
    }
    void *workspace = bytes > 0 ? block + (128 - (__UINTPTR_TYPE__)block % 128) : (void *)0;
    while (times-- > 0 && !status) status = wb_border_kernel(data, values, symbols, workspace, threads);
    return status;
}
