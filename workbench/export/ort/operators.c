/* The operator as ONNX Runtime sees it: its inputs and outputs, and a call of it. */

#include "operators.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const OrtApi *wb_ort;

static wb_custom wb_customs[2 * WB_MOST_TYPES];

static const wb_family *wb_family_of(const OrtCustomOp *op)
{
    return ((const wb_custom *)op)->family;
}

OrtStatus *wb_status(int code)
{
    return ORT(CreateStatus)(code, wb_message());
}

/* -- what it is -- */

int wb_type_of(const wb_parameter *p)
{
    static const int ints[] = {ORT_INT8, ORT_INT16, ORT_INT32, ORT_INT64};
    static const int naturals[] = {ORT_UINT8, ORT_UINT16, ORT_UINT32, ORT_UINT64};
    int size = p->bytes == 1 ? 0 : p->bytes == 2 ? 1 : p->bytes == 4 ? 2 : 3;
    switch (p->code) {
        case 0: return ints[size];
        case 1: return naturals[size];
        case 4: return ORT_BFLOAT16;
        case 6: return ORT_BOOL;
        default: return size == 1 ? ORT_FLOAT16 : size == 2 ? ORT_FLOAT : ORT_DOUBLE;
    }
}

static const char *wb_name(const OrtCustomOp *op)
{
    (void)op;
    return wb_the_operator.name;
}

static const char *wb_provider(const OrtCustomOp *op)
{
    return ((const wb_custom *)op)->table ? "CUDAExecutionProvider" : "CPUExecutionProvider";
}

/* Numbers and sizes are read by the processor. */
static int wb_input_memory(const OrtCustomOp *op, size_t n)
{
    const int is_array = wb_family_of(op)->call[n].kind == 'a';
    return is_array || !((const wb_custom *)op)->table ? ORT_MEMORY_DEFAULT : ORT_MEMORY_OF_CPU_INPUT;
}

static size_t wb_input_count(const OrtCustomOp *op)
{
    return (size_t)wb_family_of(op)->arguments;
}

static int wb_input_type(const OrtCustomOp *op, size_t n)
{
    const wb_family *f = wb_family_of(op);
    return f->call[n].kind == 's' ? ORT_INT64 : wb_type_of(&f->parameters[f->call[n].place]);
}

static size_t wb_output_count(const OrtCustomOp *op)
{
    return (size_t)wb_family_of(op)->outputs;
}

static int wb_output_type(const OrtCustomOp *op, size_t n)
{
    const wb_family *f = wb_family_of(op);
    return wb_type_of(&f->parameters[(size_t)f->inputs + n]);
}

static int wb_zero(const OrtCustomOp *op, size_t n)
{
    (void)op;
    (void)n;
    return 0;
}

static int wb_one(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static int wb_any_version(const OrtCustomOp *op)
{
    (void)op;
    return INT32_MAX;
}

static OrtStatus *wb_infer_shapes(const OrtCustomOp *op, OrtShapeInferContext *context)
{
    (void)op;
    return wb_infer(context);
}

/* What is updated may be updated in place: pairs of an input and the output of its new value. */
static size_t wb_may_be_in_place(int **inputs, int **outputs)
{
    const wb_family *f = wb_the_operator.families[0];
    size_t count = 0;
    *inputs = malloc(sizeof **inputs * WB_MOST_ARRAYS);
    *outputs = malloc(sizeof **outputs * WB_MOST_ARRAYS);
    for (int n = 0; *inputs && *outputs && n < f->arguments; ++n) {
        if (f->call[n].kind != 'a' || f->call[n].place < f->inputs) continue;
        (*inputs)[count] = n;
        (*outputs)[count++] = f->call[n].place - f->inputs;
    }
    return count;
}

static void wb_free_both(int *inputs, int *outputs)
{
    free(inputs);
    free(outputs);
}

static size_t wb_no_aliases(int **inputs, int **outputs)
{
    *inputs = *outputs = NULL;
    return 0;
}

/* -- a call -- */

static OrtStatus *wb_read(const OrtKernelContext *context, size_t n, void **data, int64_t *shape, size_t *rank)
{
    const OrtValue *value = NULL;
    OrtTensorTypeAndShapeInfo *info = NULL;
    OrtStatus *status = ORT(KernelContext_GetInput)(context, n, &value);
    if (!status) status = ORT(GetTensorMutableData)((OrtValue *)value, data);
    if (!status) status = ORT(GetTensorTypeAndShape)(value, &info);
    if (!status) status = ORT(GetDimensionsCount)(info, rank);
    if (!status) status = ORT(GetDimensions)(info, shape, *rank < WB_MOST_RANK ? *rank : WB_MOST_RANK);
    if (info) ORT(ReleaseTensorTypeAndShapeInfo)(info);
    return status;
}

static void wb_take_number(const wb_parameter *p, const void *data, wb_border_value *value)
{
    value->natural = 0;
    if (p->code == 2 && p->bits == 32) value->real = *(const float *)data;
    else if (p->code == 2 && p->bits == 64) value->real = *(const double *)data;
    else if (p->code == 0 && p->bytes == 1) value->integer = *(const int8_t *)data;
    else if (p->code == 0 && p->bytes == 2) value->integer = *(const int16_t *)data;
    else if (p->code == 0 && p->bytes == 4) value->integer = *(const int32_t *)data;
    else if (p->code == 0) value->integer = *(const int64_t *)data;
    else memcpy(&value->natural, data, p->bytes); /* the processors have the low bytes first */
}

static OrtStatus *wb_take_argument(wb_arguments_of_call *call, const OrtKernelContext *context, int n)
{
    const wb_family *f = call->family;
    const wb_argument *argument = &f->call[n];
    int place = argument->place;
    int64_t shape[WB_MOST_RANK];
    void *data = NULL;
    size_t rank = 0;
    OrtStatus *status = wb_read(context, (size_t)n, &data, argument->kind == 'a' ? call->shapes[place] : shape, &rank);
    if (status) return status;
    if (argument->kind == 's') {
        if (rank == 0) call->sizes[place] = *(const int64_t *)data;
        else wb_fail(WB_BAD_SHAPE, "%s: %s expected a number but found a tensor with %d dimension%s", f->name,
                     argument->name, (int)rank, rank == 1 ? "" : "s");
        return rank == 0 ? NULL : wb_status(ORT_INVALID_ARGUMENT);
    }
    if (wb_check_rank(f, place, (int)rank)) return wb_status(ORT_INVALID_ARGUMENT);
    if (argument->kind == 'a') {
        wb_dense((int)rank, call->shapes[place], call->strides[place]);
        call->arrays[place] = (wb_array){data, call->shapes[place], call->strides[place]};
    } else {
        wb_take_number(&f->parameters[place], data, &call->values[place]);
    }
    return NULL;
}

/* Memory for a result; what is updated begins as it was. */
static OrtStatus *wb_make_result(wb_arguments_of_call *call, OrtKernelContext *context, int place)
{
    const wb_family *f = call->family;
    const wb_parameter *p = &f->parameters[place];
    const void *old = p->updated ? call->arrays[place].data : NULL;
    size_t bytes = p->bytes;
    OrtValue *value = NULL;
    void *data = NULL;
    f->shape(place, call->sizes, call->shapes[place]);
    OrtStatus *status = ORT(KernelContext_GetOutput)(context, (size_t)(place - f->inputs), call->shapes[place], p->rank, &value);
    if (!status) status = ORT(GetTensorMutableData)(value, &data);
    if (status) return status;
    for (int d = 0; d < p->rank; ++d) bytes *= (size_t)call->shapes[place][d];
    if (old && old != data && bytes) status = call->copy(call, value, data, old, bytes);
    call->result = value;
    wb_dense(p->rank, call->shapes[place], call->strides[place]);
    call->arrays[place] = (wb_array){data, call->shapes[place], call->strides[place]};
    return status;
}

OrtStatus *wb_take_call(wb_arguments_of_call *call, OrtKernelContext *context)
{
    const wb_family *f = call->family;
    OrtStatus *status = NULL;
    memset(call->sizes, 0, sizeof call->sizes);
    for (int n = 0; n < f->arguments && !status; ++n) status = wb_take_argument(call, context, n);
    if (status) return status;
    if (f->solve(call->arrays, call->sizes)) return wb_status(ORT_INVALID_ARGUMENT);
    for (int p = f->inputs; p < f->inputs + f->outputs && !status; ++p) status = wb_make_result(call, context, p);
    return status;
}

OrtStatus *wb_answer(int64_t answer)
{
    if (!answer) return NULL;
    return wb_status(answer == WB_NO_MEMORY || answer == WB_GPU_REFUSED ? ORT_RUNTIME_EXCEPTION : ORT_INVALID_ARGUMENT);
}

static OrtStatus *wb_copy_here(wb_arguments_of_call *call, const OrtValue *there, void *to, const void *from, size_t bytes)
{
    (void)call;
    (void)there;
    memcpy(to, from, bytes);
    return NULL;
}

static OrtStatus *wb_compute(void *kernel, OrtKernelContext *context)
{
    wb_arguments_of_call call;
    call.family = wb_family_of(kernel);
    call.copy = wb_copy_here;
    wb_enter(context);
    OrtStatus *status = wb_take_call(&call, context);
    if (!status) {
        const wb_host host = wb_host_of_call();
        status = wb_answer(wb_call(call.family, call.arrays, call.values, call.sizes, &host));
    }
    wb_leave();
    return status;
}

/* The operator itself is all that a kernel has to know. */
static OrtStatus *wb_create(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info, void **kernel)
{
    (void)api;
    (void)info;
    *kernel = (void *)op;
    return NULL;
}

static void wb_destroy(void *kernel)
{
    (void)kernel;
}

/* -- registration -- */

static wb_custom wb_custom_for(const wb_family *family, const wb_gpu_table *table, uint32_t version)
{
    return (wb_custom){
        {.version = version, .GetName = wb_name, .GetExecutionProviderType = wb_provider, .GetInputType = wb_input_type,
         .GetInputTypeCount = wb_input_count, .GetOutputType = wb_output_type, .GetOutputTypeCount = wb_output_count,
         .KernelDestroy = wb_destroy, .GetInputCharacteristic = wb_zero, .GetOutputCharacteristic = wb_zero,
         .GetInputMemoryType = wb_input_memory, .GetVariadicInputMinArity = wb_one, .GetVariadicInputHomogeneity = wb_one,
         .GetVariadicOutputMinArity = wb_one, .GetVariadicOutputHomogeneity = wb_one, .CreateKernelV2 = wb_create,
         .KernelComputeV2 = table ? wb_compute_there : wb_compute, .InferOutputShapeFn = wb_infer_shapes, .GetStartVersion = wb_one,
         .GetEndVersion = wb_any_version, .GetMayInplace = wb_may_be_in_place, .ReleaseMayInplace = wb_free_both,
         .GetAliasMap = wb_no_aliases, .ReleaseAliasMap = wb_free_both},
        family, table};
}

/* The number after the first point of a runtime's version is that of its interface. */
static uint32_t wb_version_of(const OrtApiBase *base)
{
    const char *point = strchr(base->GetVersionString(), '.');
    return point ? (uint32_t)atoi(point + 1) : 0;
}

static OrtStatus *wb_make_domain(uint32_t version, OrtCustomOpDomain **domain)
{
    OrtStatus *status = ORT(CreateCustomOpDomain)(wb_the_operator.domain, domain);
    for (int n = 0; n < 2 * wb_the_operator.types && !status; ++n) {
        const int of = n % wb_the_operator.types, on_gpu = n >= wb_the_operator.types;
        const wb_gpu_table *table = on_gpu ? wb_the_operator.on_gpu[of] : NULL;
        if (on_gpu && (!table || version < WB_ORT_SCRATCH)) continue;
        wb_customs[n] = wb_custom_for(wb_the_operator.families[of], table, version);
        status = ORT(CustomOpDomain_Add)(*domain, &wb_customs[n].base);
    }
    return status;
}

static OrtStatus *wb_register(OrtSessionOptions *options, uint32_t version)
{
    static OrtCustomOpDomain *domain; /* sessions use it as long as the library is loaded */
    if (version < WB_ORT_VERSION) {
        wb_fail(WB_NO_KERNEL, "%s: the library needs ONNX Runtime 1.%d or newer; this one has version %d of the interface",
                wb_the_operator.name, WB_ORT_VERSION, (int)version);
        return wb_status(ORT_NOT_IMPLEMENTED);
    }
    if (!wb_the_operator.families[0]->level()) {
        wb_fail(WB_NO_KERNEL, "%s: the library has kernels for other processors only; export it for this one",
                wb_the_operator.name);
        return wb_status(ORT_NOT_IMPLEMENTED);
    }
    OrtStatus *status = wb_host_start();
    if (!status && !domain)
        status = wb_make_domain(version < WB_ORT_IN_PLACE ? WB_ORT_VERSION : WB_ORT_IN_PLACE, &domain);
    return status ? status : ORT(AddCustomOpDomain)(options, domain);
}

WB_PUBLIC OrtStatus *RegisterCustomOps(OrtSessionOptions *options, const OrtApiBase *base)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    uint32_t version = wb_version_of(base);
    pthread_mutex_lock(&once);
    wb_ort = base->GetApi(version < WB_ORT_VERSION ? 1 : WB_ORT_VERSION);
    OrtStatus *status = wb_register(options, version);
    pthread_mutex_unlock(&once);
    return status;
}
