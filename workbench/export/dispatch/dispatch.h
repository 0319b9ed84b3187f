/* What chooses, at each call, one of several kernels of an operator: tables that the operator's own file fills in. */

#ifndef WORKBENCH_DISPATCH_H
#define WORKBENCH_DISPATCH_H

#include <stddef.h>
#include <stdint.h>

/* Answers beside 0 and, of kernels, 1 + the number of the check that failed. */
enum {
    WB_NO_MEMORY = -2,
    WB_BAD_SHAPE = -10,
    WB_BAD_SIZE = -11,
    WB_BAD_TYPE = -12,
    WB_BAD_DEVICE = -13,
    WB_BAD_POINTER = -14,
    WB_NO_KERNEL = -15,
    WB_ALIASED = -16,
    WB_BROKEN_PROMISE = -17
};
enum { WB_MOST_ARRAYS = 64, WB_MOST_RANK = 16, WB_TEXT = 512 };

/* Strides count elements. */
typedef struct {
    void *data;
    const int64_t *shape, *strides;
} wb_array;

typedef union {
    double real;
    int64_t integer;
    uint64_t natural;
} wb_border_value;

typedef struct {
    char kind;
    int8_t bytes, rank, by_value;
} wb_border_parameter;

/* Element types by DLPack's codes: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool. */
typedef struct {
    const char *name;
    uint8_t code, bits, bytes, rank, by_value, updated, zero_fill;
} wb_parameter;

/* An argument of a call, in order: 'a' an array, 'v' a number, 't' a number in a tensor, 's' a size; its place among its
   kind. */
typedef struct {
    const char *name;
    char kind;
    int place;
} wb_argument;

typedef struct {
    int64_t (*run)(void *const *data, const wb_border_value *values, const int64_t *symbols, void *workspace, int threads);
    int64_t (*workspace)(const int64_t *symbols, int threads);
} wb_code;

typedef struct {
    const char *name;
    const wb_code *code;
    int (*fits)(const int64_t *sizes);
    int (*lies)(const wb_array *arrays, const int64_t *sizes);
    const int8_t *symbols; /* places of its own symbols among the sizes */
    int symbol_count, check_count;
    const char *const *checks;
    int fallback;
} wb_kernel;

typedef struct {
    const char *name;
    const wb_kernel *kernels;
    int count;
} wb_level;

typedef struct {
    const char *name;
    int inputs, outputs, sizes, arguments, checked;
    const wb_parameter *parameters; /* inputs, then outputs */
    const wb_argument *call;
    int (*solve)(const wb_array *arrays, int64_t *sizes); /* completes what only shapes tell, checks all */
    int (*holds)(const int64_t *sizes);
    void (*shape)(int parameter, const int64_t *sizes, int64_t *shape);
    double (*work)(const int64_t *sizes);
    int (*promised)(const wb_array *arrays, const int64_t *sizes);
    const wb_level *(*level)(void); /* NULL: the processor runs none of them */
    int refuses_aliases;
} wb_family;

/* Memory and threads are the host's. */
typedef struct {
    void *(*take)(int64_t bytes, void **handle); /* 64-byte aligned */
    void (*give)(void *memory, void *handle);
    int threads;
} wb_host;

extern const wb_family wb_the_family;

/* Arrays and values by parameter, inputs first; `sizes` are complete. */
int64_t wb_call(const wb_family *family, const wb_array *arrays, const wb_border_value *values, const int64_t *sizes,
                const wb_host *host);
/* Bytes that the kernel for such a call takes. */
int64_t wb_workspace(const wb_family *family, const wb_array *arrays, const int64_t *sizes, int threads);
const char *wb_message(void);
const char *wb_last_kernel(void);
int wb_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

int wb_lies(const wb_array *array, int rank, int bytes, const int64_t *strides);
/* An array that shares memory with an output, both as the arrays of a call are numbered; -1 if there is none. */
int wb_met(const wb_family *family, const wb_array *arrays, int output);
void wb_dense(int rank, const int64_t *shape, int64_t *strides);
int wb_check_rank(const wb_family *family, int parameter, int rank);
int wb_in_range(const wb_array *array, const wb_parameter *parameter, int64_t lower, int64_t upper, const char *promise);
int wb_injective(const wb_array *array, const wb_parameter *parameter, const char *promise);

int wb_processors(void); /* which this process may use */
int wb_level_at_most(int highest, const wb_level *levels, int count);
int wb_cpu_has_avx2(void);
int wb_cpu_has_avx512(void);
int wb_cpu_sve_bits(void);

#endif
