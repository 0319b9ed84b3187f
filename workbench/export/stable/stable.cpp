// Registers operators with PyTorch through its stable ABI: C functions alone, so that the library serves every version
// from 2.10 on.  Kernels are boxed; what each operator is called with stands in its family's table.

#include "stable_host.h"

#include "stable_gpu.h"

#include <cstring>
#include <vector>

namespace {

struct Operator {
    const char *name, *schema;
    const wb_family *const *types;  // one for each choice of element types
    int count;
    const wb_gpu_table *const *gpu;  // the same for GPUs; null where it has no such kernels
};

}  // namespace

#include "operators.h"

namespace {

// -- the arguments of a call --

struct Call {
    const Operator &op;
    const wb_family *family;
    std::vector<Tensor> tensors;  // by place in the call; empty for numbers
    wb_array arrays[WB_MOST_ARRAYS];
    wb_border_value values[WB_MOST_ARRAYS];
    int64_t sizes[WB_MOST_ARRAYS] = {0};
    int given[WB_MOST_ARRAYS];  // place in the call
    int types = 0;              // the choice of element types
    std::pair<int32_t, int32_t> device{aoti_torch_device_type_cpu(), 0};

    // The arguments are ours from here on: they are given back even if the call is refused.
    Call(const Operator &op, StableIValue *stack) : op(op), family(op.types[0])
    {
        tensors.resize(size_t(family->arguments));
        for (int n = 0; n < family->arguments; ++n)
            if (family->call[n].kind == 'a' || family->call[n].kind == 't')
                tensors[size_t(n)] = Tensor(reinterpret_cast<AtenTensorHandle>(stack[n]));
    }

    void choose_types()
    {
        for (int n = 0; n < op.count; ++n)
            if (types_fit(*op.types[n])) {
                family = op.types[n];
                types = n;
                return;
            }
    }

    bool types_fit(const wb_family &f) const
    {
        for (int n = 0; n < f.arguments; ++n)
            if (tensors[size_t(n)].get() && tensors[size_t(n)].type() != type_of(f.parameters[f.call[n].place]).number())
                return false;
        return true;
    }

    [[noreturn]] void refuse_type(const wb_parameter &p, const char *found) const
    {
        throw std::runtime_error(std::string(family->name) + ": " + p.name + " expected type " + type_of(p).name
                                 + " but found " + found);
    }

    void take_array(int n, bool with_data)
    {
        const int place = family->call[n].place;
        const wb_parameter &p = family->parameters[place];
        const Tensor &tensor = tensors[size_t(n)];
        if (const int32_t found = tensor.type(); found != type_of(p).number()) refuse_type(p, name_of(found));
        if (tensor.device() != device)
            throw std::runtime_error(std::string(family->name) + ": " + p.name + " is on another device; expected a tensor on "
                                     + name_of_device(device));
        int64_t rank = 0, *shape = nullptr, *strides = nullptr;
        succeed(aoti_torch_get_dim(tensor.get(), &rank), "a tensor's rank");
        if (wb_check_rank(family, place, int(rank))) throw std::invalid_argument(wb_message());
        if (aoti_torch_get_sizes(tensor.get(), &shape) || aoti_torch_get_strides(tensor.get(), &strides))
            throw std::runtime_error(std::string(family->name) + ": sizes that are symbols are known to the Python file "
                                     "that was written beside this library; import it");
        const void *data = nullptr;
        if (with_data) succeed(torch_get_const_data_ptr(tensor.get(), &data), "a tensor's memory");
        arrays[place] = {const_cast<void *>(data), shape, strides};
        given[place] = n;
    }

    void take_number(const wb_parameter &p, double real, int64_t integer, wb_border_value &value) const
    {
        if (p.code == 2 && p.bits > 16) value.real = real;
        else if (p.code == 2) value.natural = c10::Half(float(real)).x;
        else if (p.code == 4) value.natural = c10::BFloat16(float(real)).x;
        else value.integer = integer;
    }

    // A number stands in the stack as it is; a bool in its first byte.
    void take_value(const wb_parameter &p, StableIValue given, wb_border_value &value) const
    {
        double real = 0;
        int64_t integer = 0;
        bool truth = false;
        std::memcpy(&real, &given, sizeof real);
        std::memcpy(&integer, &given, sizeof integer);
        std::memcpy(&truth, &given, sizeof truth);
        take_number(p, real, p.code == 6 ? truth : integer, value);
    }

    // A number that comes as a tensor, of whatever type.
    void take_boxed(const wb_parameter &p, const Tensor &tensor, wb_border_value &value) const
    {
        AtenTensorHandle handle = tensor.get();
        const int32_t type = tensor.type();
        double real = 0;
        int64_t integer = 0;
        float single = 0;
        int32_t small = 0;
        bool truth = false;
        AOTITorchError failed = AOTI_TORCH_SUCCESS;
        if (type == aoti_torch_dtype_float64()) failed = aoti_torch_item_float64(handle, &real);
        else if (type == aoti_torch_dtype_float32()) failed = aoti_torch_item_float32(handle, &single), real = single;
        else if (type == aoti_torch_dtype_int64()) failed = aoti_torch_item_int64(handle, &integer);
        else if (type == aoti_torch_dtype_int32()) failed = aoti_torch_item_int32(handle, &small), integer = small;
        else if (type == aoti_torch_dtype_bool()) failed = aoti_torch_item_bool(handle, &truth), integer = truth;
        else refuse_type(p, name_of(type));
        succeed(failed, "a tensor's only number");
        if (type == aoti_torch_dtype_float64() || type == aoti_torch_dtype_float32()) integer = int64_t(real);
        else real = double(integer);
        take_number(p, real, integer, value);
    }

    void take(StableIValue *stack, bool with_data)
    {
        choose_types();
        for (int n = 0; n < family->arguments; ++n) {
            const int place = family->call[n].place;
            const char kind = family->call[n].kind;
            if (kind == 's') std::memcpy(&sizes[place], &stack[n], sizeof sizes[place]);
            else if (kind == 'v') take_value(family->parameters[place], stack[n], values[place]);
            else if (kind == 'a') take_array(n, with_data);
            else if (with_data) take_boxed(family->parameters[place], tensors[size_t(n)], values[place]);
        }
        if (family->solve(arrays, sizes)) throw std::invalid_argument(wb_message());
    }

    Tensor result(int place, bool with_data)
    {
        const wb_parameter &p = family->parameters[place];
        int64_t shape[WB_MOST_RANK];
        family->shape(place, sizes, shape);
        Tensor made = empty(p.rank, shape, type_of(p).number(), device.first, device.second);
        if (with_data && p.updated)
            succeed(aoti_torch_copy_(made.get(), tensors[size_t(given[place])].get(), 0), "a copy");
        return made;
    }
};

[[noreturn]] void refuse(int64_t status)
{
    if (status > 0) throw std::out_of_range(wb_message());
    if (status == WB_NO_MEMORY) throw std::bad_alloc();
    if (status == WB_GPU_REFUSED) throw std::runtime_error(wb_message());
    throw std::invalid_argument(wb_message());
}

void describe(const Tensor &tensor, wb_array &array)
{
    int64_t *shape = nullptr, *strides = nullptr;
    void *data = nullptr;
    succeed(aoti_torch_get_sizes(tensor.get(), &shape) | aoti_torch_get_strides(tensor.get(), &strides), "an array");
    if (tensor.device().first != aoti_torch_device_type_meta())
        succeed(torch_get_mutable_data_ptr(tensor.get(), &data), "an array's memory");
    array = {data, shape, strides};
}

// Tensors for the results, described for the kernel.
std::vector<Tensor> prepared(Call &call, bool with_data)
{
    std::vector<Tensor> results;
    for (int p = call.family->inputs; p < call.family->inputs + call.family->outputs; ++p)
        describe(results.emplace_back(call.result(p, with_data)), call.arrays[p]);
    return results;
}

void give_back(std::vector<Tensor> &results, StableIValue *stack)
{
    for (size_t n = 0; n < results.size(); ++n) stack[n] = reinterpret_cast<StableIValue>(results[n].release());
}

// Only the results where there is no data: a meta tensor has sizes alone.
void run(const Operator &op, StableIValue *stack, bool with_data)
{
    Call call(op, stack);
    if (!with_data) call.device = {aoti_torch_device_type_meta(), 0};
    call.take(stack, with_data);
    std::vector<Tensor> results = prepared(call, with_data);
    const wb_family &f = *call.family;
    const wb_host host{take, give, threads()};
    if (with_data)
        if (const int64_t status = wb_call(&f, call.arrays, call.values, call.sizes, &host)) refuse(status);
    give_back(results, stack);
}

// Where no kernel takes the arrays as they lie, dense copies stand in for them.
void densely(Call &call, std::vector<Tensor> &copies)
{
    for (int n = 0; n < call.family->arguments; ++n) {
        const int p = call.family->call[n].place;
        if (call.family->call[n].kind != 'a' || p >= call.family->inputs) continue;
        const wb_parameter &parameter = call.family->parameters[p];
        wb_array &array = call.arrays[p];
        Tensor &made = copies.emplace_back(
            empty(parameter.rank, array.shape, type_of(parameter).number(), call.device.first, call.device.second));
        succeed(aoti_torch_copy_(made.get(), call.tensors[size_t(n)].get(), 0), "a copy");
        describe(made, array);
    }
}

void run_on_gpu(const Operator &op, StableIValue *stack)
{
    Call call(op, stack);
    call.choose_types();
    const wb_gpu_table *table = op.gpu[call.types];
    if (!table)
        throw std::runtime_error(std::string(WB_SPACE) + "::" + op.name + " was exported for dense tensors on cpu; "
                                 "move tensors with .cpu(), and make sparse ones dense with .to_dense()");
    for (const Tensor &tensor : call.tensors)
        if (tensor.get() && tensor.device().first == aoti_torch_device_type_cuda() && call.device.first != tensor.device().first)
            call.device = tensor.device();
    call.take(stack, true);
    const OnDevice entered(call.device);
    const wb_gpu_entries *found = wb_gpu_loaded(op.name, table, call.device.second);
    if (!found) throw std::runtime_error(wb_message());
    const wb_entries &entries = found->entries;
    const wb_gpu_host host = entered.host();
    std::vector<Tensor> results = prepared(call, true), copies;
    int64_t status = entries.call(entries.family, call.arrays, call.values, call.sizes, &host.host);
    if (status == WB_GPU_STRIDES) {
        densely(call, copies);
        status = entries.call(entries.family, call.arrays, call.values, call.sizes, &host.host);
    }
    if (status) refuse(status);
    give_back(results, stack);
}

// -- registration --

using Boxed = void (*)(StableIValue *, uint64_t, uint64_t);

template <size_t N>
void on_cpu(StableIValue *stack, uint64_t, uint64_t)
{
    run(OPERATORS[N], stack, true);
}

template <size_t N>
void on_cuda(StableIValue *stack, uint64_t, uint64_t)
{
    run_on_gpu(OPERATORS[N], stack);
}

template <size_t N>
void on_meta(StableIValue *stack, uint64_t, uint64_t)
{
    run(OPERATORS[N], stack, false);
}

template <size_t N>
void elsewhere(StableIValue *stack, uint64_t, uint64_t)
{
    const Call call(OPERATORS[N], stack);
    throw std::runtime_error(std::string(WB_SPACE) + "::" + OPERATORS[N].name + " was exported for dense tensors on cpu; "
                             "move tensors with .cpu(), and make sparse ones dense with .to_dense()");
}

// What cannot be registered is left as it is: an exception must not leave a library that is being loaded.
bool registered(TorchLibraryHandle library, const char *key, const std::vector<Boxed> &kernels)
{
    bool all = library != nullptr;
    for (size_t n = 0; n < kernels.size() && all; ++n)
        all = torch_library_impl(library, OPERATORS[n].name, kernels[n], TORCH_ABI_VERSION) == AOTI_TORCH_SUCCESS;
    if (!all) aoti_torch_warn(key, __FILE__, __LINE__, "operators of the workbench could not be registered for a device");
    return all;
}

TorchLibraryHandle implementing(const char *key)
{
    TorchLibraryHandle library = nullptr;
    return aoti_torch_library_init_impl(WB_SPACE, key, __FILE__, __LINE__, &library) ? nullptr : library;
}

constexpr const char *ELSEWHERE[] = {"XPU", "MPS", "SparseCPU", "SparseCsrCPU", "MkldnnCPU", "QuantizedCPU",
                                     "NestedTensorCPU", "AutogradNestedTensor"};

template <size_t... N>
void register_all(std::index_sequence<N...>)
{
    // Libraries are never given back: kernels stay as long as the process runs.
    TorchLibraryHandle schemas = nullptr;
    bool all = !aoti_torch_library_init_fragment(WB_SPACE, __FILE__, __LINE__, &schemas);
    for (const Operator &op : OPERATORS) all = all && !aoti_torch_library_def(schemas, op.schema);
    if (!all) {
        aoti_torch_warn(WB_SPACE, __FILE__, __LINE__,
                        "operators of " WB_SPACE " exist already in this process; those of this library are left out");
        return;
    }
    registered(implementing("CPU"), "CPU", {on_cpu<N>...});
    registered(implementing("CUDA"), "CUDA", {on_cuda<N>...});
    registered(implementing("Meta"), "Meta", {on_meta<N>...});
    for (const char *key : ELSEWHERE) registered(implementing(key), key, {elsewhere<N>...});
}

__attribute__((constructor)) void load()
{
    register_all(std::make_index_sequence<sizeof OPERATORS / sizeof *OPERATORS>());
}

}  // namespace
