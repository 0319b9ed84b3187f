/* What we use of ONNX Runtime's C interface, as version 17 of it defines it.

   Its table of functions only grows at its end, so that a function is found by its place in every later version too. */

#ifndef WORKBENCH_ORT_H
#define WORKBENCH_ORT_H

#include <stddef.h>
#include <stdint.h>

enum { WB_ORT_VERSION = 17, WB_ORT_IN_PLACE = 18 /* whose OrtCustomOp has GetMayInplace */,
       WB_ORT_SCRATCH = 18 /* which gives memory in the order of a stream */, WB_ORT_FUNCTIONS = 279 };

typedef struct OrtStatus OrtStatus;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
typedef struct OrtKernelInfo OrtKernelInfo;
typedef struct OrtKernelContext OrtKernelContext;
typedef struct OrtShapeInferContext OrtShapeInferContext;
typedef struct OrtValue OrtValue;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtAllocator OrtAllocator;

typedef struct {
    void (*at[WB_ORT_FUNCTIONS])(void);
} OrtApi;

typedef struct {
    const OrtApi *(*GetApi)(uint32_t version);
    const char *(*GetVersionString)(void);
} OrtApiBase;

enum { ORT_RUNTIME_EXCEPTION = 6, ORT_INVALID_ARGUMENT = 2, ORT_NOT_IMPLEMENTED = 9 };
enum { ORT_ARENA_ALLOCATOR = 1, ORT_MEMORY_DEFAULT = 0, ORT_MEMORY_OF_CPU_INPUT = -2, ORT_REQUIRED = 0 };

/* Types of elements, by ONNX's numbers. */
enum { ORT_FLOAT = 1, ORT_UINT8, ORT_INT8, ORT_UINT16, ORT_INT16, ORT_INT32, ORT_INT64, ORT_BOOL = 9, ORT_FLOAT16,
       ORT_DOUBLE, ORT_UINT32, ORT_UINT64, ORT_BFLOAT16 = 16 };

/* A function by its name: its place in the table, and its type. */
#define WB_ORT(name, place, result, ...) \
    enum { name##_place = place };       \
    typedef result (*name##_type)(__VA_ARGS__)
#define ORT(name) ((name##_type)wb_ort->at[name##_place])

WB_ORT(CreateStatus, 0, OrtStatus *, int code, const char *message);
WB_ORT(CreateCustomOpDomain, 26, OrtStatus *, const char *name, OrtCustomOpDomain **made);
WB_ORT(CustomOpDomain_Add, 27, OrtStatus *, OrtCustomOpDomain *domain, const struct OrtCustomOp *op);
WB_ORT(AddCustomOpDomain, 28, OrtStatus *, OrtSessionOptions *options, OrtCustomOpDomain *domain);
WB_ORT(GetTensorMutableData, 51, OrtStatus *, OrtValue *value, void **data);
WB_ORT(CreateTensorTypeAndShapeInfo, 57, OrtStatus *, OrtTensorTypeAndShapeInfo **made);
WB_ORT(SetTensorElementType, 58, OrtStatus *, OrtTensorTypeAndShapeInfo *info, int type);
WB_ORT(SetDimensions, 59, OrtStatus *, OrtTensorTypeAndShapeInfo *info, const int64_t *shape, size_t rank);
WB_ORT(GetTensorElementType, 60, OrtStatus *, const OrtTensorTypeAndShapeInfo *info, int *type);
WB_ORT(GetDimensionsCount, 61, OrtStatus *, const OrtTensorTypeAndShapeInfo *info, size_t *rank);
WB_ORT(GetDimensions, 62, OrtStatus *, const OrtTensorTypeAndShapeInfo *info, int64_t *shape, size_t rank);
WB_ORT(GetSymbolicDimensions, 63, OrtStatus *, const OrtTensorTypeAndShapeInfo *info, const char **names, size_t rank);
WB_ORT(GetTensorTypeAndShape, 65, OrtStatus *, const OrtValue *value, OrtTensorTypeAndShapeInfo **made);
WB_ORT(CreateCpuMemoryInfo, 69, OrtStatus *, int allocator, int memory, OrtMemoryInfo **made);
WB_ORT(MemoryInfoGetId, 72, OrtStatus *, const OrtMemoryInfo *memory, int *id);
WB_ORT(AllocatorAlloc, 75, OrtStatus *, OrtAllocator *allocator, size_t bytes, void **memory);
WB_ORT(AllocatorFree, 76, OrtStatus *, OrtAllocator *allocator, void *memory);
WB_ORT(KernelContext_GetInput, 90, OrtStatus *, const OrtKernelContext *context, size_t n, const OrtValue **value);
WB_ORT(KernelContext_GetOutput, 91, OrtStatus *, OrtKernelContext *context, size_t n, const int64_t *shape, size_t rank,
       OrtValue **value);
WB_ORT(ReleaseStatus, 93, void, OrtStatus *status);
WB_ORT(ReleaseTensorTypeAndShapeInfo, 99, void, OrtTensorTypeAndShapeInfo *info);
WB_ORT(ReleaseAllocator, 132, void, OrtAllocator *allocator);
WB_ORT(KernelContext_GetGPUComputeStream, 193, OrtStatus *, const OrtKernelContext *context, void **stream);
WB_ORT(GetTensorMemoryInfo, 194, OrtStatus *, const OrtValue *value, const OrtMemoryInfo **memory);
WB_ORT(KernelContext_GetAllocator, 253, OrtStatus *, const OrtKernelContext *context, const OrtMemoryInfo *memory,
       OrtAllocator **allocator);
WB_ORT(ShapeInferContext_GetInputTypeShape, 268, OrtStatus *, const OrtShapeInferContext *context, size_t n,
       OrtTensorTypeAndShapeInfo **info);
WB_ORT(ShapeInferContext_SetOutputTypeShape, 270, OrtStatus *, const OrtShapeInferContext *context, size_t n,
       const OrtTensorTypeAndShapeInfo *info);
WB_ORT(SetSymbolicDimensions, 271, OrtStatus *, OrtTensorTypeAndShapeInfo *info, const char **names, size_t rank);
WB_ORT(KernelContext_ParallelFor, 274, OrtStatus *, const OrtKernelContext *context, void (*task)(void *shared, size_t n),
       size_t total, size_t batches, void *shared);

WB_ORT(KernelContext_GetScratchBuffer, 277, OrtStatus *, const OrtKernelContext *context, const OrtMemoryInfo *memory,
       size_t bytes, void **made);

/* What ONNX Runtime asks of an operator. */
typedef struct OrtCustomOp {
    uint32_t version;
    void *(*CreateKernel)(const struct OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info);
    const char *(*GetName)(const struct OrtCustomOp *op);
    const char *(*GetExecutionProviderType)(const struct OrtCustomOp *op);
    int (*GetInputType)(const struct OrtCustomOp *op, size_t n);
    size_t (*GetInputTypeCount)(const struct OrtCustomOp *op);
    int (*GetOutputType)(const struct OrtCustomOp *op, size_t n);
    size_t (*GetOutputTypeCount)(const struct OrtCustomOp *op);
    void (*KernelCompute)(void *kernel, OrtKernelContext *context);
    void (*KernelDestroy)(void *kernel);
    int (*GetInputCharacteristic)(const struct OrtCustomOp *op, size_t n);
    int (*GetOutputCharacteristic)(const struct OrtCustomOp *op, size_t n);
    int (*GetInputMemoryType)(const struct OrtCustomOp *op, size_t n);
    int (*GetVariadicInputMinArity)(const struct OrtCustomOp *op);
    int (*GetVariadicInputHomogeneity)(const struct OrtCustomOp *op);
    int (*GetVariadicOutputMinArity)(const struct OrtCustomOp *op);
    int (*GetVariadicOutputHomogeneity)(const struct OrtCustomOp *op);
    OrtStatus *(*CreateKernelV2)(const struct OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info, void **kernel);
    OrtStatus *(*KernelComputeV2)(void *kernel, OrtKernelContext *context);
    OrtStatus *(*InferOutputShapeFn)(const struct OrtCustomOp *op, OrtShapeInferContext *context);
    int (*GetStartVersion)(const struct OrtCustomOp *op);
    int (*GetEndVersion)(const struct OrtCustomOp *op);
    size_t (*GetMayInplace)(int **inputs, int **outputs);
    void (*ReleaseMayInplace)(int *inputs, int *outputs);
    size_t (*GetAliasMap)(int **inputs, int **outputs);
    void (*ReleaseAliasMap)(int *inputs, int *outputs);
} OrtCustomOp;

#endif
