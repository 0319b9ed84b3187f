// Registers operators whose kernels stand in libraries of their own: one such file serves all of them.  Kernels are
// boxed, as calls from Python are; what an operator does is looked up at each call, so that it can be replaced.

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <c10/core/Allocator.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>
#include <torch/version.h>

#include <atomic>
#include <map>
#include <mutex>

extern "C" {
#include "gpu.h"
#include "host.h"
}
#include "torch_loops.h"

namespace {

using torch::jit::Stack;
using Entries = wb_entries;

// How an operator of gradients is called: what each of its arguments is, and whose gradient each of its results.
struct Gradient {
    c10::OperatorHandle handle;
    std::vector<std::pair<char, int>> arguments;  // 'i' argument of the forward call, 'd' gradient of a result
    std::vector<int> inputs;                      // places among the forward arguments
};

struct Implementation {
    std::vector<const Entries *> types;  // one for each choice of element types; on a GPU null until it is wanted
};

// Which arguments a gradient is wanted for, as bits.
using Wanted = uint64_t;

struct Operator {
    std::string name;
    std::atomic<const Implementation *> implementation{nullptr}, on_gpu{nullptr};
    int (*prepare)(const char *name, Wanted) = nullptr;        // of Python: makes a gradient when it is first wanted
    int (*prepare_gpu)(const char *name, int, int) = nullptr;  // and kernels for a GPU and a choice of types
    std::mutex lock;                                           // guards the rest
    std::map<Wanted, const Gradient *> gradients;              // null: there is none
    std::string why_none, why_not_on_gpu;

    const Gradient *gradient(Wanted wanted)
    {
        for (int attempt = 0;; ++attempt) {
            {
                const std::lock_guard<std::mutex> held(lock);
                const auto known = gradients.find(wanted);
                if (known != gradients.end() || attempt) return known == gradients.end() ? nullptr : known->second;
            }
            prepare(name.c_str(), wanted);
        }
    }
};

// -- the host: ATen's threads and allocators; on a GPU memory comes in the order of the current stream --

template <c10::DeviceType device>
void *take(int64_t bytes, void **handle)
{
    auto *block = new c10::DataPtr(c10::GetAllocator(device)->allocate(static_cast<size_t>(bytes)));
    *handle = block;
    return block->get();
}

void give(void *, void *handle)
{
    delete static_cast<c10::DataPtr *>(handle);
}

int thread()
{
    return at::get_thread_num();
}

const wb_threads THREADS{parallel_for, thread};

// What a call lends to kernels: on a GPU its current stream.
wb_gpu_host host_on(c10::Device device)
{
    if (device.is_cpu()) return {{take<at::kCPU>, give, at::in_parallel_region() ? 1 : at::get_num_threads()}, nullptr, 0};
    const c10::impl::VirtualGuardImpl guard(device.type());
    return {{take<at::kCUDA>, give, 1}, guard.getStreamNativeHandle(guard.getStream(device)), device.index()};
}

// -- calls --

at::ScalarType type_of(const wb_parameter &p)
{
    switch (p.code) {
        case 0: return p.bits == 8 ? at::kChar : p.bits == 16 ? at::kShort : p.bits == 32 ? at::kInt : at::kLong;
        case 1: return p.bits == 8 ? at::kByte : p.bits == 16 ? at::kUInt16 : p.bits == 32 ? at::kUInt32 : at::kUInt64;
        case 4: return at::kBFloat16;
        case 6: return at::kBool;
        default: return p.bits == 16 ? at::kHalf : p.bits == 32 ? at::kFloat : at::kDouble;
    }
}

bool types_fit(const wb_family &f, c10::ArrayRef<c10::IValue> given)
{
    for (int n = 0; n < f.arguments; ++n)
        if (given[n].isTensor() && given[n].toTensor().scalar_type() != type_of(f.parameters[f.call[n].place])) return false;
    return true;
}

// The choice of element types that a call is for: the first where none fits, which then says so.
size_t choice(const Implementation &made, c10::ArrayRef<c10::IValue> given)
{
    for (size_t n = 0; n < made.types.size() && made.types.size() > 1; ++n)
        if (types_fit(*made.types[n]->family, given)) return n;
    return 0;
}

const Entries &chosen(const Implementation &made, c10::ArrayRef<c10::IValue> given)
{
    return *made.types[choice(made, given)];
}

c10::ArrayRef<c10::IValue> arguments(const Implementation &made, const Stack &stack)
{
    return torch::jit::last(stack, size_t(made.types[0]->family->arguments));
}

void take_tensor(const wb_family &f, int place, const at::Tensor &tensor, c10::Device device, wb_array &array)
{
    const wb_parameter &p = f.parameters[place];
    TORCH_CHECK(tensor.defined(), f.name, ": ", p.name, " is None; expected a tensor");
    TORCH_CHECK_TYPE(tensor.scalar_type() == type_of(p), f.name, ": ", p.name, " expected type ", type_of(p), " but found ",
                     tensor.scalar_type());
    TORCH_CHECK(tensor.device() == device, f.name, ": ", p.name, " is on ", tensor.device(), "; expected a tensor on ", device);
    TORCH_CHECK(tensor.layout() == at::kStrided, f.name, ": ", p.name, " is ", tensor.layout(), "; expected a strided tensor");
    TORCH_CHECK_VALUE(tensor.dim() == p.rank, f.name, ": ", p.name, " expected a tensor with ", int(p.rank), " dimension",
                      p.rank == 1 ? "" : "s", " but found ", tensor.dim(), " (shape ", tensor.sizes(), ")");
    array = {const_cast<void *>(tensor.const_data_ptr()), tensor.sizes().data(), tensor.strides().data()};
}

void take_number(const wb_parameter &p, const c10::IValue &given, wb_border_value &value)
{
    if (p.code == 2 || p.code == 4) {
        const double number = given.toDouble();
        if (p.bits > 16) value.real = number;
        else value.natural = p.code == 4 ? c10::BFloat16(float(number)).x : c10::Half(float(number)).x;
    } else if (p.code == 6) {
        value.integer = given.toBool();
    } else {
        value.integer = given.toInt();
    }
}

c10::IValue number_of(const at::Tensor &tensor)
{
    const at::Scalar number = tensor.item();
    if (number.isFloatingPoint()) return number.toDouble();
    if (number.isBoolean()) return number.toBool();
    return number.toLong();
}

void refuse(const Entries &e, int64_t status)
{
    const std::string message = e.message();
    if (status > 0) TORCH_CHECK_INDEX(false, message);
    TORCH_CHECK(status != WB_GPU_REFUSED, message);
    if (status == WB_NO_MEMORY) TORCH_CHECK_WITH(OutOfMemoryError, false, message);
    TORCH_CHECK_VALUE(false, message);
}

at::Tensor result_of(const wb_family &f, int place, const int64_t *sizes, const at::Tensor &given, c10::Device device)
{
    const wb_parameter &p = f.parameters[place];
    if (p.updated) return given.clone(at::MemoryFormat::Contiguous);
    int64_t shape[WB_MOST_RANK];
    f.shape(place, sizes, shape);
    if (device.is_cpu()) return at::Tensor(at::detail::empty_cpu({shape, size_t(p.rank)}, type_of(p)));
    return at::empty({shape, size_t(p.rank)}, at::TensorOptions(type_of(p)).device(device));
}

// Where no kernel takes the arrays as they lie, dense copies stand in for them.
void densely(const wb_family &f, const at::Tensor *const *tensors, wb_array *arrays, c10::SmallVector<at::Tensor, 4> &copies)
{
    for (int p = 0; p < f.inputs; ++p) {
        if (!tensors[p]) continue;
        const auto at = reinterpret_cast<uintptr_t>(tensors[p]->const_data_ptr());
        if (tensors[p]->is_contiguous() && at % f.parameters[p].bytes == 0) continue;
        const at::Tensor &made = copies.emplace_back(tensors[p]->clone(at::MemoryFormat::Contiguous));
        arrays[p] = {const_cast<void *>(made.const_data_ptr()), made.sizes().data(), made.strides().data()};
    }
}

void run(const Entries &e, c10::Device device, Stack *stack)
{
    const wb_family &f = *e.family;
    const size_t count = size_t(f.arguments);
    const auto given = torch::jit::last(*stack, count);
    wb_array arrays[WB_MOST_ARRAYS];
    wb_border_value values[WB_MOST_ARRAYS];
    int64_t sizes[WB_MOST_ARRAYS] = {0};
    const at::Tensor *tensors[WB_MOST_ARRAYS] = {nullptr};
    for (size_t n = 0; n < count; ++n) {
        const int place = f.call[n].place;
        if (f.call[n].kind == 's') sizes[place] = given[n].toInt();
        else if (f.call[n].kind == 'v') take_number(f.parameters[place], given[n], values[place]);
        else if (f.call[n].kind == 't') take_number(f.parameters[place], number_of(given[n].toTensor()), values[place]);
        else take_tensor(f, place, *(tensors[place] = &given[n].toTensor()), device, arrays[place]);
    }
    if (const int status = f.solve(arrays, sizes)) refuse(e, status);
    c10::SmallVector<at::Tensor, 4> results;
    for (int p = f.inputs; p < f.inputs + f.outputs; ++p) {
        const at::Tensor &made = results.emplace_back(result_of(f, p, sizes, tensors[p] ? *tensors[p] : at::Tensor(), device));
        arrays[p] = {made.mutable_data_ptr(), made.sizes().data(), made.strides().data()};
    }
    const wb_gpu_host host = host_on(device);
    c10::SmallVector<at::Tensor, 4> copies;
    int64_t status = e.call(&f, arrays, values, sizes, &host.host);
    if (status == WB_GPU_STRIDES) {
        densely(f, tensors, arrays, copies);
        status = e.call(&f, arrays, values, sizes, &host.host);
    }
    if (status) refuse(e, status);
    torch::jit::drop(*stack, count);
    for (at::Tensor &made : results) stack->emplace_back(std::move(made));
}

struct Kernel final : c10::OperatorKernel {
    const Operator *op;
    explicit Kernel(const Operator *op) : op(op) {}
    void operator()(const c10::OperatorHandle &, c10::DispatchKeySet, Stack *stack)
    {
        const Implementation &made = *op->implementation.load(std::memory_order_acquire);
        run(chosen(made, arguments(made, *stack)), at::kCPU, stack);
    }
};

// On GPUs: kernels are made when they are first wanted; the device is that of the first tensor there.
struct OnGpu final : c10::OperatorKernel {
    Operator *op;
    explicit OnGpu(Operator *op) : op(op) {}
    void operator()(const c10::OperatorHandle &, c10::DispatchKeySet, Stack *stack)
    {
        const Implementation &there = *op->implementation.load(std::memory_order_acquire);
        const auto given = arguments(there, *stack);
        const c10::Device device = device_of(given);
        const c10::OptionalDeviceGuard guard(device.is_cpu() ? std::nullopt : std::optional(device));
        run(made(choice(there, given), device), device, stack);
    }

    static c10::Device device_of(c10::ArrayRef<c10::IValue> given)
    {
        for (const auto &value : given)
            if (value.isTensor() && value.toTensor().is_cuda()) return value.toTensor().device();
        return at::kCPU;
    }

    const Entries &made(size_t types, c10::Device device)
    {
        for (int attempt = 0;; ++attempt) {
            const Implementation *found = op->on_gpu.load(std::memory_order_acquire);
            if (found && found->types[types]) return *found->types[types];
            if (attempt) break;
            op->prepare_gpu(op->name.c_str(), int(types), std::max(0, int(device.index())));
        }
        const std::lock_guard<std::mutex> held(op->lock);
        TORCH_CHECK_NOT_IMPLEMENTED(false, op->name, " ", op->why_not_on_gpu);
    }
};

struct OtherDevice final : c10::OperatorKernel {
    const Operator *op;
    explicit OtherDevice(const Operator *op) : op(op) {}
    void operator()(const c10::OperatorHandle &, c10::DispatchKeySet, Stack *)
    {
        TORCH_CHECK_NOT_IMPLEMENTED(false, op->name, " was exported for dense tensors on cpu; move tensors with .cpu(), and "
                                    "make sparse ones dense with .to_dense()");
    }
};

// -- autocast: floating tensors become what the kernels take --

struct Autocast final : c10::OperatorKernel {
    const Operator *op;
    c10::DeviceType device;
    Autocast(const Operator *op, c10::DeviceType device) : op(op), device(device) {}
    void operator()(const c10::OperatorHandle &handle, c10::DispatchKeySet, Stack *stack)
    {
        c10::impl::ExcludeDispatchKeyGuard no_autocast(at::autocast::get_autocast_dispatch_key_from_device_type(device));
        const wb_family &f = *op->implementation.load(std::memory_order_acquire)->types[0]->family;
        const auto given = torch::jit::last(*stack, size_t(f.arguments));
        if (!types_fit(*chosen(*op->implementation.load(std::memory_order_acquire), given).family, given)) {
            const size_t first = stack->size() - size_t(f.arguments);
            for (int n = 0; n < f.arguments; ++n) {
                if (!(*stack)[first + n].isTensor()) continue;
                const at::ScalarType wanted = type_of(f.parameters[f.call[n].place]);
                const at::Tensor tensor = (*stack)[first + n].toTensor();
                if (at::isFloatingType(wanted) && tensor.is_floating_point() && tensor.scalar_type() != at::kDouble)
                    (*stack)[first + n] = at::autocast::cached_cast(wanted, tensor, device);
            }
        }
        handle.callBoxed(stack);
    }
};

// -- gradients --

bool wants_gradient(c10::ArrayRef<c10::IValue> given)
{
    bool wanted = false;
    for (const auto &value : given) {
        if (!value.isTensor() || !value.toTensor().defined()) continue;
        TORCH_CHECK_NOT_IMPLEMENTED(!torch::autograd::isFwGradDefined(value.toTensor()),
                                    "an operator of the workbench has no forward-mode derivative");
        wanted |= value.toTensor().requires_grad();
    }
    return wanted && at::GradMode::is_enabled();
}

struct Backward final : torch::autograd::Node {
    Operator *op = nullptr;
    const Gradient *gradient = nullptr;
    std::string why_none;
    std::vector<c10::IValue> plain;  // arguments that are no tensors, in their places
    std::vector<torch::autograd::SavedVariable> inputs;
    std::vector<int> places;  // of the edges among the arguments

    std::string name() const override { return op->name + "Backward"; }

    void release_variables() override
    {
        for (auto &variable : inputs) variable.reset_data();
    }

    torch::autograd::variable_list apply(torch::autograd::variable_list &&gradients) override
    {
        TORCH_CHECK_NOT_IMPLEMENTED(gradient, op->name, " has no gradient: ", why_none);
        Stack stack;
        for (const auto &[kind, n] : gradient->arguments) {
            if (kind == 'i') stack.push_back(plain[n].isNone() ? c10::IValue(inputs[n].unpack()) : plain[n]);
            else stack.emplace_back(gradients[n].defined() ? gradients[n] : zeros(n));
        }
        gradient->handle.callBoxed(&stack);
        torch::autograd::variable_list found(places.size());
        for (size_t result = 0; result < gradient->inputs.size(); ++result)
            for (size_t edge = 0; edge < places.size(); ++edge)
                if (places[edge] == gradient->inputs[result]) found[edge] = stack[result].toTensor();
        return found;
    }

    at::Tensor zeros(int n) { return input_metadata(size_t(n)).zeros_like(); }
};

// How PyTorch counts who has a node.
#if TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 13
using NodePointer = std::shared_ptr<Backward>;
NodePointer new_node() { return NodePointer(new Backward, torch::autograd::deleteNode); }
#else
using NodePointer = c10::intrusive_ptr<Backward>;
NodePointer new_node() { return c10::make_intrusive<Backward>(); }
#endif

struct Autograd final : c10::OperatorKernel {
    Operator *op;
    explicit Autograd(Operator *op) : op(op) {}

    void operator()(const c10::OperatorHandle &handle, c10::DispatchKeySet keys, Stack *stack)
    {
        const size_t count = handle.schema().arguments().size();
        const auto given = torch::jit::last(*stack, count);
        const auto below = keys & c10::after_autograd_keyset;
        if (!wants_gradient(given)) {
            at::AutoDispatchBelowADInplaceOrView guard;
            handle.redispatchBoxed(below, stack);
            return;
        }
        const NodePointer node = prepared(given);
        {
            at::AutoDispatchBelowADInplaceOrView guard;
            handle.redispatchBoxed(below, stack);
        }
        const auto results = torch::jit::last(*stack, handle.schema().returns().size());
        for (const auto &result : results) {
            const at::Tensor &tensor = result.toTensor();
            const bool smooth = torch::autograd::isDifferentiableType(tensor.scalar_type());
            torch::autograd::set_history(smooth ? tensor : at::Tensor(), node);
        }
    }

    NodePointer prepared(c10::ArrayRef<c10::IValue> given)
    {
        Wanted wanted = 0;
        for (size_t n = 0; n < given.size() && n < 64; ++n)
            if (given[n].isTensor() && given[n].toTensor().requires_grad()) wanted |= Wanted(1) << n;
        const NodePointer node = new_node();
        node->op = op;
        node->gradient = op->gradient(wanted);
        if (!node->gradient) {
            const std::lock_guard<std::mutex> held(op->lock);
            node->why_none = op->why_none;
        }
        torch::autograd::edge_list edges;
        for (size_t n = 0; n < given.size(); ++n) {
            const bool tensor = given[n].isTensor();
            node->plain.push_back(tensor ? c10::IValue() : given[n]);
            node->inputs.emplace_back(tensor ? given[n].toTensor() : at::Tensor(), false);
            if (!tensor) continue;
            edges.push_back(torch::autograd::impl::gradient_edge(given[n].toTensor()));
            node->places.push_back(int(n));
        }
        node->set_next_edges(std::move(edges));
        return node;
    }
};

const Implementation *implementation(const void *const *entries, int count)
{
    auto *made = new Implementation;
    for (int n = 0; n < count; ++n) made->types.push_back(static_cast<const Entries *>(entries[n]));
    return made;
}

thread_local std::string failure;

template <class F>
int guarded(F &&action)
{
    try {
        action();
        return 0;
    } catch (const std::exception &error) {
        failure = error.what();
        return 1;
    }
}

}  // namespace

#define WB_EXPORT extern "C" __attribute__((visibility("default")))

WB_EXPORT const char *wb_torch_failure() { return failure.c_str(); }

WB_EXPORT const void *wb_torch_open(const Entries *(*open)(const wb_threads *)) { return open(&THREADS); }

// The kernels of an operator whose schema is known already; what they do is set afterwards.
WB_EXPORT void *wb_torch_register(const char *space, const char *name, int (*prepare)(const char *, uint64_t),
                                  int (*prepare_gpu)(const char *, int, int))
{
    auto *op = new Operator;
    op->name = std::string(space) + "::" + name;
    op->prepare = prepare;
    op->prepare_gpu = prepare_gpu;
    const int failed = guarded([&] {
        const auto add = [&](c10::DispatchKey key, torch::CppFunction kernel) {
            auto *library = new torch::Library(torch::Library::IMPL, space, key, __FILE__, __LINE__);
            library->impl(name, std::move(kernel));
        };
        using torch::CppFunction;
        add(c10::DispatchKey::CPU, CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(op)));
        using Key = c10::DispatchKey;
        add(Key::CUDA, CppFunction::makeFromBoxedFunctor(std::make_unique<OnGpu>(op)));
        for (const auto key : {Key::XPU, Key::MPS, Key::SparseCPU, Key::SparseCsrCPU, Key::MkldnnCPU, Key::QuantizedCPU,
                               Key::NestedTensorCPU})
            add(key, CppFunction::makeFromBoxedFunctor(std::make_unique<OtherDevice>(op)));
        add(c10::DispatchKey::Autograd, CppFunction::makeFromBoxedFunctor(std::make_unique<Autograd>(op)));
        add(c10::DispatchKey::AutocastCPU, CppFunction::makeFromBoxedFunctor(std::make_unique<Autocast>(op, at::kCPU)));
        add(Key::AutocastCUDA, CppFunction::makeFromBoxedFunctor(std::make_unique<Autocast>(op, at::kCUDA)));
    });
    return failed ? nullptr : op;
}

// New kernels; the old ones stay loaded for calls that still run.
WB_EXPORT void wb_torch_implement(void *op, const void *const *entries, int count)
{
    auto &known = *static_cast<Operator *>(op);
    known.implementation.store(implementation(entries, count), std::memory_order_release);
    known.on_gpu.store(nullptr, std::memory_order_release);
    const std::lock_guard<std::mutex> held(known.lock);
    known.gradients.clear();
}

// Kernels for one of `count` choices of element types.
WB_EXPORT void wb_torch_implement_on_gpu(void *op, const void *entries, int types, int count)
{
    auto &known = *static_cast<Operator *>(op);
    const std::lock_guard<std::mutex> held(known.lock);
    const Implementation *before = known.on_gpu.load(std::memory_order_acquire);
    auto *made = before ? new Implementation(*before) : new Implementation{std::vector<const Entries *>(size_t(count), nullptr)};
    made->types[size_t(types)] = static_cast<const Entries *>(entries);
    known.on_gpu.store(made, std::memory_order_release);
}

WB_EXPORT void wb_torch_not_on_gpu(void *op, const char *why)
{
    auto &known = *static_cast<Operator *>(op);
    const std::lock_guard<std::mutex> held(known.lock);
    known.why_not_on_gpu = why;
}

WB_EXPORT int wb_torch_gradient(void *op, uint64_t wanted, const char *name, const char *kinds, const int *places,
                                int arguments, const int *inputs, int results)
{
    return guarded([&] {
        auto &known = *static_cast<Operator *>(op);
        auto *made = new Gradient{c10::Dispatcher::singleton().findSchemaOrThrow(name, ""), {}, {}};
        for (int n = 0; n < arguments; ++n) made->arguments.emplace_back(kinds[n], places[n]);
        made->inputs.assign(inputs, inputs + results);
        const std::lock_guard<std::mutex> held(known.lock);
        known.gradients[wanted] = made;
    });
}

WB_EXPORT void wb_torch_no_gradient(void *op, uint64_t wanted, const char *why)
{
    auto &known = *static_cast<Operator *>(op);
    const std::lock_guard<std::mutex> held(known.lock);
    known.gradients[wanted] = nullptr;
    known.why_none = why;
}

WB_EXPORT const char *wb_torch_last_kernel(void *op, int on_gpu)
{
    const auto &known = *static_cast<Operator *>(op);
    const Implementation *made = (on_gpu ? known.on_gpu : known.implementation).load(std::memory_order_acquire);
    for (size_t n = 0; made && n < made->types.size(); ++n)
        if (made->types[n]) return made->types[n]->last_kernel();
    return "";
}
