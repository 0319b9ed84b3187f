/* Chooses a kernel for a GPU and starts it through NVIDIA's driver library, which is looked for when machine code is
   first given. */

#include "gpu.h"

#include <dlfcn.h>
#include <string.h>

typedef uint64_t wb_address;

/* The functions of the driver library, under the names it has for them. */
#define WB_DRIVER(_) \
    _(cuInit, (unsigned)) \
    _(cuGetErrorString, (int, const char **)) \
    _(cuGetErrorName, (int, const char **)) \
    _(cuDeviceGet, (int *, int)) \
    _(cuDevicePrimaryCtxRetain, (void **, int)) \
    _(cuCtxGetCurrent, (void **)) \
    _(cuCtxGetDevice, (int *)) \
    _(cuCtxSetCurrent, (void *)) \
    _(cuLibraryLoadData, (void **, const void *, int *, void **, unsigned, int *, void **, unsigned)) \
    _(cuLibraryGetKernel, (void **, void *, const char *)) \
    _(cuKernelSetAttribute, (int, int, void *, int)) \
    _(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **)) \
    _(cuMemAllocAsync, (wb_address *, size_t, void *)) \
    _(cuMemFreeAsync, (wb_address, void *)) \
    _(cuMemsetD8Async, (wb_address, unsigned char, size_t, void *)) \
    _(cuMemcpyDtoHAsync_v2, (void *, wb_address, size_t, void *)) \
    _(cuMemcpyDtoDAsync_v2, (wb_address, wb_address, size_t, void *)) \
    _(cuStreamSynchronize, (void *)) \
    _(cuStreamIsCapturing, (void *, int *))

enum { WB_MOST_DEVICES = 64, WB_FREE_SHARED = 48 << 10, WB_MOST_SHARED = 8, WB_MOST_BLOCKS = 65535 };

#define WB_DECLARED(name, taken) int (*name) taken;
static struct {
    WB_DRIVER(WB_DECLARED)
} wb_driver;

static struct {
    void *context;
    int number;
} wb_devices[WB_MOST_DEVICES];

/* The call that runs in this thread. */
static _Thread_local struct {
    void *stream;
    int number, code; /* the driver's of the device; its first refusal */
    const char *doing, *chosen;
} wb_now = {.chosen = ""};

static int wb_said(int code, const char *doing)
{
    if (code && !wb_now.code) {
        wb_now.code = code;
        wb_now.doing = doing;
    }
    return code;
}

static int wb_refused(const char *operator_name)
{
    const char *name = "an error without a name", *words = "";
    wb_driver.cuGetErrorName(wb_now.code, &name);
    wb_driver.cuGetErrorString(wb_now.code, &words);
    return wb_fail(WB_GPU_REFUSED, "%s: the GPU's driver refused %s: %s (%s)", operator_name, wb_now.doing, name, words);
}

/* -- the driver and the machine code -- */

static int wb_found(void *library, const char *name, void **function)
{
    *function = dlsym(library, name);
    return *function ? 0 : wb_fail(WB_GPU_REFUSED, "NVIDIA's driver has no %s; it is older than CUDA 12", name);
}

static int wb_find_driver(void)
{
    static int ready;
    if (ready) return 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    int status = library ? 0 : wb_fail(WB_GPU_REFUSED, "NVIDIA's driver is not installed: %s", dlerror());
#define WB_LOOKED_FOR(name, taken) \
    if (!status) status = wb_found(library, #name, (void **)&wb_driver.name);
    WB_DRIVER(WB_LOOKED_FOR)
    if (!status && wb_said(wb_driver.cuInit(0), "to begin")) status = wb_refused(wb_the_family.name);
    ready = !status;
    return status;
}

/* A context is current in this thread until `wb_leave`: the primary one of the device, which is that of frameworks. */
static int wb_enter(int device, void **outer)
{
    *outer = NULL;
    if (wb_said(wb_driver.cuCtxGetCurrent(outer), "to say which context is current")) return 1;
    if (device == WB_CURRENT_DEVICE && *outer) return wb_said(wb_driver.cuCtxGetDevice(&wb_now.number), "the current device");
    if (device == WB_CURRENT_DEVICE) device = 0;
    if (device < 0 || device >= WB_MOST_DEVICES) return wb_said(101, "a device of this number");
    if (!wb_devices[device].context) {
        int number;
        void *context;
        if (wb_said(wb_driver.cuDeviceGet(&number, device), "the device")) return 1;
        if (wb_said(wb_driver.cuDevicePrimaryCtxRetain(&context, number), "the device's context")) return 1;
        wb_devices[device].number = number;
        wb_devices[device].context = context;
    }
    wb_now.number = wb_devices[device].number;
    if (*outer == wb_devices[device].context) return 0;
    return wb_said(wb_driver.cuCtxSetCurrent(wb_devices[device].context), "its context");
}

static void wb_leave(int device, void *outer)
{
    if (outer && device != WB_CURRENT_DEVICE && outer != wb_devices[device].context) wb_driver.cuCtxSetCurrent(outer);
}

WB_PUBLIC const char *wb_gpu_message(void)
{
    return wb_message();
}

/* Machine code of one text; answers 0, or a number below it and words in `wb_gpu_message`. */
WB_PUBLIC int wb_gpu_load(int number, const void *image, int device)
{
    if (number < 0 || number >= wb_gpu_unit_count) return wb_fail(WB_GPU_REFUSED, "there is no text %d", number);
    int status = wb_find_driver();
    if (status) return status;
    wb_now.code = 0;
    const wb_gpu_unit *unit = &wb_gpu_units[number];
    if (!unit->count || unit->functions[0].kernel) return 0;
    void *library = NULL, *outer;
    if (wb_enter(device, &outer)) return wb_refused(wb_the_family.name);
    int failed = wb_said(wb_driver.cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0), "the machine code");
    for (int n = unit->count - 1; n >= 0 && !failed; --n)
        failed = wb_said(wb_driver.cuLibraryGetKernel(&unit->functions[n].kernel, library, unit->functions[n].name),
                         unit->functions[n].name);
    wb_leave(device, outer);
    return failed ? wb_refused(wb_the_family.name) : 0;
}

/* -- what kernels are started with -- */

void wb_gpu_launch(const wb_gpu_function *function, const int64_t *grid, const unsigned *block, int64_t shared,
                   void **arguments)
{
    if (wb_now.code || grid[0] <= 0 || grid[1] <= 0 || grid[2] <= 0) return;
    if (grid[0] > INT32_MAX || grid[1] > WB_MOST_BLOCKS || grid[2] > WB_MOST_BLOCKS) {
        wb_said(9, function->name); /* CUDA_ERROR_INVALID_CONFIGURATION of the runtime: so many blocks are too many */
        return;
    }
    if (shared < 0) shared = 0;
    if (shared > WB_FREE_SHARED)
        wb_said(wb_driver.cuKernelSetAttribute(WB_MOST_SHARED, (int)shared, function->kernel, wb_now.number),
                function->name);
    if (!wb_now.code)
        wb_said(wb_driver.cuLaunchKernel(function->kernel, (unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2], block[0],
                                         block[1], block[2], (unsigned)shared, wb_now.stream, arguments, NULL),
                function->name);
}

void wb_gpu_clear(void *at, int64_t bytes)
{
    if (wb_now.code || bytes <= 0) return;
    wb_said(wb_driver.cuMemsetD8Async((wb_address)(uintptr_t)at, 0, (size_t)bytes, wb_now.stream), "to set memory to 0");
}

int64_t wb_gpu_status(const int *words)
{
    int recorded = 0, found[2] = {0, 0};
    if (wb_now.code || wb_said(wb_driver.cuStreamIsCapturing(wb_now.stream, &recorded), "the stream") || recorded) return 0;
    if (wb_said(wb_driver.cuMemcpyDtoHAsync_v2(found, (wb_address)(uintptr_t)words, sizeof found, wb_now.stream), "a copy")) return 0;
    if (wb_said(wb_driver.cuStreamSynchronize(wb_now.stream), "the kernels that were started")) return 0;
    return found[0] ? found[0] : found[1];
}

/* -- a call -- */

static int64_t wb_cells(int rank, const int64_t *shape)
{
    int64_t cells = 1;
    for (int d = 0; d < rank; ++d) cells *= shape[d];
    return cells;
}

static const wb_kernel *wb_for(const wb_level *level, const wb_array *arrays, const int64_t *sizes, int *sized)
{
    *sized = 0;
    for (int n = 0; n < level->count; ++n) {
        const wb_kernel *kernel = &level->kernels[n];
        if (!kernel->fits(sizes)) continue;
        *sized = 1;
        if (kernel->lies(arrays, sizes)) return kernel;
    }
    return NULL;
}

/* Who calls without memory to lend has the driver's, in the order of the stream. */
static void *wb_take(const wb_host *host, int64_t bytes, void **handle)
{
    wb_address found = 0;
    if (host->take) return host->take(bytes, handle);
    if (wb_said(wb_driver.cuMemAllocAsync(&found, (size_t)bytes, wb_now.stream), "memory for temporaries")) return NULL;
    return (void *)(uintptr_t)found;
}

static void wb_give(const wb_host *host, void *memory, void *handle)
{
    if (host->take) host->give(memory, handle);
    else wb_said(wb_driver.cuMemFreeAsync((wb_address)(uintptr_t)memory, wb_now.stream), "to free temporaries");
}

static int64_t wb_started(const wb_family *f, const wb_kernel *kernel, const wb_array *arrays, const wb_border_value *values,
                          const int64_t *sizes, const wb_host *host)
{
    void *data[WB_MOST_ARRAYS], *space = NULL, *handle = NULL;
    int64_t symbols[WB_MOST_ARRAYS] = {0};
    for (int n = 0; n < kernel->symbol_count; ++n) symbols[n] = sizes[kernel->symbols[n]];
    for (int p = 0; p < f->inputs + f->outputs; ++p) data[p] = arrays[p].data;
    for (int p = f->inputs; p < f->inputs + f->outputs; ++p) {
        const wb_parameter *output = &f->parameters[p];
        if (output->zero_fill) wb_gpu_clear(data[p], wb_cells(output->rank, arrays[p].shape) * output->bytes);
    }
    const int64_t bytes = kernel->code->workspace(symbols, 1);
    if (bytes > 0 && !(space = wb_take(host, bytes, &handle)))
        return wb_fail(WB_NO_MEMORY, "%s: no memory for the kernel's temporaries, %lld bytes", f->name, (long long)bytes);
    const int64_t status = kernel->code->run(data, values, symbols, space, 1);
    if (space) wb_give(host, space, handle);
    if (wb_now.code) return wb_refused(f->name);
    if (status > 0 && status <= kernel->check_count) wb_fail((int)status, "%s: %s", f->name, kernel->checks[status - 1]);
    return status;
}

static void wb_begin(const wb_gpu_host *gpu, const char *chosen)
{
    wb_now.stream = gpu->stream;
    wb_now.code = 0;
    wb_now.chosen = chosen;
}

static int64_t wb_gpu_call(const wb_family *f, const wb_array *arrays, const wb_border_value *values, const int64_t *sizes,
                           const wb_host *host)
{
    const wb_gpu_host *gpu = (const wb_gpu_host *)host;
    int64_t cells = 0;
    int sized;
    const wb_kernel *kernel = wb_for(f->level(), arrays, sizes, &sized);
    if (!sized) return wb_fail(WB_NO_KERNEL, "%s: no kernel for a GPU takes these sizes", f->name);
    if (!kernel) return wb_fail(WB_GPU_STRIDES, "%s: no kernel for a GPU takes arrays that lie so in memory", f->name);
    wb_begin(gpu, kernel->name);
    for (int p = f->inputs; p < f->inputs + f->outputs; ++p) cells |= wb_cells(f->parameters[p].rank, arrays[p].shape);
    if (!cells && !kernel->check_count) return 0;
    void *outer;
    if (wb_enter(gpu->device, &outer)) return wb_refused(f->name);
    const int64_t status = wb_started(f, kernel, arrays, values, sizes, host);
    wb_leave(gpu->device, outer);
    return status;
}

static int wb_gpu_copy(const wb_host *host, void *to, const void *from, int64_t bytes)
{
    const wb_gpu_host *gpu = (const wb_gpu_host *)host;
    void *outer;
    wb_begin(gpu, wb_now.chosen);
    if (wb_enter(gpu->device, &outer)) return wb_refused(wb_the_family.name);
    const wb_address target = (wb_address)(uintptr_t)to, source = (wb_address)(uintptr_t)from;
    wb_said(wb_driver.cuMemcpyDtoDAsync_v2(target, source, (size_t)bytes, gpu->stream), "a copy");
    wb_leave(gpu->device, outer);
    return wb_now.code ? wb_refused(wb_the_family.name) : 0;
}

static int wb_gpu_read(const wb_host *host, void *to, const void *from, int64_t bytes)
{
    const wb_gpu_host *gpu = (const wb_gpu_host *)host;
    void *outer;
    wb_begin(gpu, wb_now.chosen);
    if (wb_enter(gpu->device, &outer)) return wb_refused(wb_the_family.name);
    wb_said(wb_driver.cuMemcpyDtoHAsync_v2(to, (wb_address)(uintptr_t)from, (size_t)bytes, gpu->stream), "to read a number");
    wb_said(wb_driver.cuStreamSynchronize(gpu->stream), "what was started before");
    wb_leave(gpu->device, outer);
    return wb_now.code ? wb_refused(wb_the_family.name) : 0;
}

static int64_t wb_gpu_workspace(const wb_family *f, const wb_array *arrays, const int64_t *sizes, int threads)
{
    int sized;
    int64_t symbols[WB_MOST_ARRAYS] = {0};
    const wb_kernel *kernel = wb_for(f->level(), arrays, sizes, &sized);
    if (!kernel) return 0;
    for (int n = 0; n < kernel->symbol_count; ++n) symbols[n] = sizes[kernel->symbols[n]];
    return kernel->code->workspace(symbols, threads);
}

static const char *wb_gpu_last(void)
{
    return wb_now.chosen;
}

WB_PUBLIC const wb_entries *wb_open(const wb_threads *threads)
{
    static const wb_gpu_entries all = {
        {&wb_the_family, wb_gpu_call, wb_gpu_workspace, wb_message, wb_gpu_last}, wb_gpu_copy, wb_gpu_read};
    (void)threads;
    return &all.entries;
}
