/* NVIDIA's driver library without a GPU, as far as the workbench asks: memory is the host's, a module is a library of the
   processor's stand-in for CUDA, streams are orders that are always kept.  Calls without a context are refused. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OK, INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE = 101, INVALID_IMAGE = 200, INVALID_CONTEXT, NOT_FOUND = 500,
       ILLEGAL_ADDRESS = 700 };
enum { BLOCK_ALIGNMENT = 512, CONTEXT = 0x77, STREAM = 0x99, DEVICE = 5 };
#define ENTERED if (depth <= 0) return INVALID_CONTEXT

typedef int Result;
typedef uint64_t Pointer;
typedef struct { void *enter; int (*run)(void *); } Function;
/* wb_cpu::Launch of fibers.hpp, and room for what it has behind. */
typedef struct {
    void *enter, *arguments;
    uint32_t grid[3], block[3];
    int64_t shared, next;
    uint64_t seed;
    int32_t order, rest[3];
    char more[1 << 16];
} Launch;

static _Thread_local int depth;

Result cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags, int *status) {
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    *found = dlsym(self, name);
    if (status) *status = *found ? 0 : 1;
    return *found ? OK : NOT_FOUND;
}

Result cuInit(unsigned flags) { return OK; }
Result cuDriverGetVersion(int *version) { *version = 13000; return OK; }
Result cuDeviceGet(int *device, int number) { *device = DEVICE; return number ? INVALID_DEVICE : OK; }
Result cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "Pretended H200"); return OK; }
Result cuDeviceTotalMem(size_t *size, int device) { *size = (size_t)141 << 30; return OK; }

Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    switch (attribute) {
        case 1: *value = 1024; return OK;     /* threads of a block */
        case 16: *value = 132; return OK;     /* multiprocessors */
        case 75: *value = 9; return OK;       /* capability */
        case 76: *value = 0; return OK;
        case 97: *value = 232448; return OK;  /* shared memory of a block that is asked for */
    }
    return INVALID_VALUE;
}

Result cuDevicePrimaryCtxRetain(void **context, int device) {
    *context = (void *)CONTEXT;
    return device == DEVICE ? OK : INVALID_DEVICE;
}
Result cuCtxPushCurrent(void *context) {
    if (context != (void *)CONTEXT) return INVALID_CONTEXT;
    depth++;
    return OK;
}
Result cuCtxPopCurrent(void **context) {
    ENTERED;
    depth--;
    if (context) *context = (void *)CONTEXT;
    return OK;
}
/* Under the names that the library itself has for them. */
Result cuCtxPushCurrent_v2(void *context) { return cuCtxPushCurrent(context); }
Result cuCtxPopCurrent_v2(void **context) { return cuCtxPopCurrent(context); }
Result cuCtxSynchronize(void) { ENTERED; return OK; }

Result cuStreamCreate(void **stream, unsigned flags) {
    ENTERED;
    *stream = (void *)STREAM;
    return flags == 1 ? OK : INVALID_VALUE;
}
static int known(void *stream) { return stream == 0 || stream == (void *)STREAM; }
Result cuStreamSynchronize(void *stream) { ENTERED; return known(stream) ? OK : INVALID_VALUE; }
Result cuStreamWaitEvent(void *stream, void *event, unsigned flags) { ENTERED; return known(stream) ? OK : INVALID_VALUE; }

Result cuMemAlloc(Pointer *block, size_t size) {
    ENTERED;
    if (size > (size_t)1 << 32) return OUT_OF_MEMORY;
    *block = (Pointer)aligned_alloc(BLOCK_ALIGNMENT, (size + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT);
    return OK;
}
Result cuMemFree(Pointer block) { ENTERED; free((void *)block); return OK; }
Result cuMemHostAlloc(void **pages, size_t size, unsigned flags) { ENTERED; *pages = malloc(size); return OK; }
Result cuMemFreeHost(void *pages) { ENTERED; free(pages); return OK; }

static Result copied(void *to, const void *from, size_t size, void *stream) {
    ENTERED;
    memmove(to, from, size);
    return known(stream) ? OK : INVALID_VALUE;
}
Result cuMemcpyHtoDAsync(Pointer to, const void *from, size_t n, void *s) { return copied((void *)to, from, n, s); }
Result cuMemcpyDtoHAsync(void *to, Pointer from, size_t n, void *s) { return copied(to, (void *)from, n, s); }
Result cuMemcpyDtoDAsync(Pointer to, Pointer from, size_t n, void *s) { return copied((void *)to, (void *)from, n, s); }
Result cuMemsetD8Async(Pointer to, unsigned char value, size_t size, void *stream) {
    ENTERED;
    memset((void *)to, value, size);
    return OK;
}

Result cuEventCreate(void **event, unsigned flags) { ENTERED; *event = calloc(1, sizeof(struct timespec)); return OK; }
Result cuEventRecord(void *event, void *stream) { ENTERED; clock_gettime(CLOCK_MONOTONIC, event); return OK; }
Result cuEventSynchronize(void *event) { ENTERED; return OK; }
Result cuEventElapsedTime(float *milliseconds, struct timespec *begun, struct timespec *ended) {
    ENTERED;
    *milliseconds = (ended->tv_sec - begun->tv_sec) * 1e3f + (ended->tv_nsec - begun->tv_nsec) * 1e-6f;
    return OK;
}

Result cuModuleLoadData(void **module, const char *path) {
    ENTERED;
    *module = dlopen(path, RTLD_NOW);
    return *module ? OK : INVALID_IMAGE;
}
Result cuModuleGetFunction(void **function, void *module, const char *name) {
    ENTERED;
    char entry[256];
    snprintf(entry, sizeof entry, "wb_cpu_enter_%s", name);
    Function *made = calloc(1, sizeof *made);
    made->enter = dlsym(module, entry);
    made->run = (int (*)(void *))dlsym(module, "wb_cpu_run");
    *function = made;
    return made->enter ? OK : NOT_FOUND;
}
Result cuFuncGetAttribute(int *value, int attribute, void *function) {
    ENTERED;
    *value = 100 + attribute;
    return OK;
}
Result cuFuncSetAttribute(void *function, int attribute, int value) {
    ENTERED;
    return attribute == 8 && value <= 232448 ? OK : INVALID_VALUE;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads, size_t shared) {
    ENTERED;
    *blocks = 2048 / threads;
    return OK;
}
Result cuLaunchKernel(Function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **arguments, void **extra) {
    ENTERED;
    if (extra || !known(stream) || bx * by * bz > 1024) return INVALID_VALUE;
    Launch *launch = calloc(1, sizeof *launch);
    *launch = (Launch){function->enter, arguments, {gx, gy, gz}, {bx, by, bz}, shared};
    int failed = function->run(launch);
    free(launch);
    return failed ? ILLEGAL_ADDRESS : OK;
}

/* What a library that is made for any context asks. */
Result cuCtxGetCurrent(void **context) { *context = depth > 0 ? (void *)CONTEXT : NULL; return OK; }
Result cuCtxSetCurrent(void *context) { depth = context == (void *)CONTEXT; return OK; }
Result cuStreamIsCapturing(void *stream, int *recorded) { ENTERED; *recorded = 0; return known(stream) ? OK : INVALID_VALUE; }
Result cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t n, void *s) { return cuMemcpyDtoHAsync(to, from, n, s); }
Result cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t n, void *s) { return cuMemcpyDtoDAsync(to, from, n, s); }
Result cuMemAlloc_v2(Pointer *block, size_t size) { return cuMemAlloc(block, size); }
Result cuMemcpyHtoD_v2(Pointer to, const void *from, size_t n) { return copied((void *)to, from, n, 0); }
Result cuMemcpyDtoH_v2(void *to, Pointer from, size_t n) { return copied(to, (void *)from, n, 0); }
Result cuCtxGetDevice(int *device) { ENTERED; *device = DEVICE; return OK; }
Result cuMemAllocAsync(Pointer *block, size_t size, void *stream) { return known(stream) ? cuMemAlloc(block, size) : INVALID_VALUE; }
Result cuMemFreeAsync(Pointer block, void *stream) { return known(stream) ? cuMemFree(block) : INVALID_VALUE; }
Result cuDeviceTotalMem_v2(size_t *size, int device) { return cuDeviceTotalMem(size, device); }
Result cuLibraryLoadData(void **library, const void *path, int *o, void **v, unsigned n, int *p, void **w, unsigned m) {
    return cuModuleLoadData(library, path);
}
Result cuLibraryGetKernel(void **kernel, void *library, const char *name) { return cuModuleGetFunction(kernel, library, name); }
Result cuKernelSetAttribute(int attribute, int value, void *kernel, int device) {
    return device == DEVICE ? cuFuncSetAttribute(kernel, attribute, value) : INVALID_DEVICE;
}
Result cuGetErrorName(Result code, const char **name) {
    *name = code == INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : code == ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR";
    return OK;
}

Result cuGetErrorString(Result code, const char **words) {
    *words = code == OUT_OF_MEMORY ? "out of memory" : code == INVALID_CONTEXT ? "invalid device context" : "invalid argument";
    return OK;
}
