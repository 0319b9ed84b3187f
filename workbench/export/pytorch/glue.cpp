// Registers operators whose kernels stand in libraries of their own: one such file serves all of them.  Kernels are
// boxed, as calls from Python are; what an operator does is looked up at each call, so that it can be replaced.

#include <ATen/EmptyTensor.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <c10/core/CPUAllocator.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include <atomic>
#include <map>
#include <mutex>

extern "C" {
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
    std::vector<const Entries *> types;  // one for each choice of element types
};

// Which arguments a gradient is wanted for, as bits.
using Wanted = uint64_t;

struct Operator {
    std::string name;
    std::atomic<const Implementation *> implementation{nullptr};
    int (*prepare)(const char *name, Wanted) = nullptr;  // of Python: makes a gradient when it is first wanted
    std::mutex lock;                                     // guards the rest
    std::map<Wanted, const Gradient *> gradients;        // null: there is none
    std::string why_none;

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

// -- the host: ATen's threads and allocator --

void *take(int64_t bytes, void **handle)
{
    auto *block = new c10::DataPtr(c10::GetCPUAllocator()->allocate(static_cast<size_t>(bytes)));
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

const Entries &chosen(const Operator &op, c10::ArrayRef<c10::IValue> given)
{
    const auto &all = op.implementation.load(std::memory_order_acquire)->types;
    if (all.size() == 1) return *all[0];
    for (const Entries *each : all)
        if (types_fit(*each->family, given)) return *each;
    return *all[0];
}

void take_tensor(const wb_family &f, int place, const at::Tensor &tensor, wb_array &array)
{
    const wb_parameter &p = f.parameters[place];
    TORCH_CHECK(tensor.defined(), f.name, ": ", p.name, " is None; expected a tensor");
    TORCH_CHECK_TYPE(tensor.scalar_type() == type_of(p), f.name, ": ", p.name, " expected type ", type_of(p), " but found ",
                     tensor.scalar_type());
    TORCH_CHECK(tensor.device().is_cpu(), f.name, ": ", p.name, " is on ", tensor.device(), "; expected a tensor on cpu");
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
    if (status == WB_NO_MEMORY) TORCH_CHECK_WITH(OutOfMemoryError, false, message);
    TORCH_CHECK_VALUE(false, message);
}

at::Tensor result_of(const wb_family &f, int place, const int64_t *sizes, const at::Tensor &given)
{
    const wb_parameter &p = f.parameters[place];
    if (p.updated) return given.clone(at::MemoryFormat::Contiguous);
    int64_t shape[WB_MOST_RANK];
    f.shape(place, sizes, shape);
    return at::Tensor(at::detail::empty_cpu({shape, size_t(p.rank)}, type_of(p)));
}

void run(const Operator &op, Stack *stack)
{
    const size_t count = size_t(op.implementation.load(std::memory_order_acquire)->types[0]->family->arguments);
    const auto given = torch::jit::last(*stack, count);
    const Entries &e = chosen(op, given);
    const wb_family &f = *e.family;
    wb_array arrays[WB_MOST_ARRAYS];
    wb_border_value values[WB_MOST_ARRAYS];
    int64_t sizes[WB_MOST_ARRAYS] = {0};
    const at::Tensor *updated[WB_MOST_ARRAYS] = {nullptr};
    for (size_t n = 0; n < count; ++n) {
        const int place = f.call[n].place;
        if (f.call[n].kind == 's') sizes[place] = given[n].toInt();
        else if (f.call[n].kind == 'v') take_number(f.parameters[place], given[n], values[place]);
        else if (f.call[n].kind == 't') take_number(f.parameters[place], number_of(given[n].toTensor()), values[place]);
        else take_tensor(f, place, *(updated[place] = &given[n].toTensor()), arrays[place]);
    }
    if (const int status = f.solve(arrays, sizes)) refuse(e, status);
    c10::SmallVector<at::Tensor, 4> results;
    for (int p = f.inputs; p < f.inputs + f.outputs; ++p) {
        const at::Tensor &made = results.emplace_back(result_of(f, p, sizes, updated[p] ? *updated[p] : at::Tensor()));
        arrays[p] = {made.mutable_data_ptr(), made.sizes().data(), made.strides().data()};
    }
    const wb_host host{take, give, at::in_parallel_region() ? 1 : at::get_num_threads()};
    if (const int64_t status = e.call(&f, arrays, values, sizes, &host)) refuse(e, status);
    torch::jit::drop(*stack, count);
    for (at::Tensor &made : results) stack->emplace_back(std::move(made));
}

struct Kernel final : c10::OperatorKernel {
    const Operator *op;
    explicit Kernel(const Operator *op) : op(op) {}
    void operator()(const c10::OperatorHandle &, c10::DispatchKeySet, Stack *stack) { run(*op, stack); }
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
        if (!types_fit(*chosen(*op, given).family, given)) {
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
        const auto node = prepared(given);
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

    c10::intrusive_ptr<Backward> prepared(c10::ArrayRef<c10::IValue> given)
    {
        Wanted wanted = 0;
        for (size_t n = 0; n < given.size() && n < 64; ++n)
            if (given[n].isTensor() && given[n].toTensor().requires_grad()) wanted |= Wanted(1) << n;
        auto node = c10::make_intrusive<Backward>();
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
WB_EXPORT void *wb_torch_register(const char *space, const char *name, int (*prepare)(const char *, uint64_t))
{
    auto *op = new Operator;
    op->name = std::string(space) + "::" + name;
    op->prepare = prepare;
    const int failed = guarded([&] {
        const auto add = [&](c10::DispatchKey key, torch::CppFunction kernel) {
            auto *library = new torch::Library(torch::Library::IMPL, space, key, __FILE__, __LINE__);
            library->impl(name, std::move(kernel));
        };
        using torch::CppFunction;
        add(c10::DispatchKey::CPU, CppFunction::makeFromBoxedFunctor(std::make_unique<Kernel>(op)));
        using Key = c10::DispatchKey;
        for (const auto key : {Key::CUDA, Key::XPU, Key::MPS, Key::SparseCPU, Key::SparseCsrCPU, Key::MkldnnCPU, Key::QuantizedCPU})
            add(key, CppFunction::makeFromBoxedFunctor(std::make_unique<OtherDevice>(op)));
        add(c10::DispatchKey::Autograd, CppFunction::makeFromBoxedFunctor(std::make_unique<Autograd>(op)));
        add(c10::DispatchKey::AutocastCPU, CppFunction::makeFromBoxedFunctor(std::make_unique<Autocast>(op, at::kCPU)));
    });
    return failed ? nullptr : op;
}

// New kernels; the old ones stay loaded for calls that still run.
WB_EXPORT void wb_torch_implement(void *op, const void *const *entries, int count)
{
    auto *made = new Implementation;
    for (int n = 0; n < count; ++n) made->types.push_back(static_cast<const Entries *>(entries[n]));
    auto &known = *static_cast<Operator *>(op);
    known.implementation.store(made, std::memory_order_release);
    const std::lock_guard<std::mutex> held(known.lock);
    known.gradients.clear();
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

WB_EXPORT const char *wb_torch_last_kernel(void *op)
{
    return static_cast<Operator *>(op)->implementation.load(std::memory_order_acquire)->types[0]->last_kernel();
}
