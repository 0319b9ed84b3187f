// What a library takes from PyTorch through its stable ABI: tensors, element types, threads and memory.

#ifndef WORKBENCH_STABLE_HOST_H
#define WORKBENCH_STABLE_HOST_H

#include <torch/csrc/stable/c/shim.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

extern "C" {
#include "dispatch.h"
}
#include "torch_loops.h"

namespace {

void succeed(AOTITorchError code, const char *what)
{
    if (code != AOTI_TORCH_SUCCESS) throw std::runtime_error(std::string("PyTorch did not give ") + what);
}

// An owned tensor.
class Tensor {
    AtenTensorHandle handle_ = nullptr;

public:
    Tensor() = default;
    explicit Tensor(AtenTensorHandle handle) : handle_(handle) {}
    Tensor(Tensor &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Tensor &operator=(Tensor &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Tensor()
    {
        if (handle_) aoti_torch_delete_tensor_object(handle_);
    }
    AtenTensorHandle get() const { return handle_; }
    AtenTensorHandle release() { return std::exchange(handle_, nullptr); }

    // (kind, number); the number is 0 where there is one of the kind.
    std::pair<int32_t, int32_t> device() const
    {
        int32_t kind = 0, number = 0;
        succeed(aoti_torch_get_device_type(handle_, &kind), "a tensor's device");
        if (kind == aoti_torch_device_type_cuda()) succeed(aoti_torch_get_device_index(handle_, &number), "a tensor's device");
        return {kind, number};
    }

    int32_t type() const
    {
        int32_t type = -1;
        succeed(aoti_torch_get_dtype(handle_, &type), "a tensor's type");
        return type;
    }
};

// -- element types --

struct Type {
    int code, bits;
    const char *name;
    int32_t (*number)();
};

const Type TYPES[] = {
    {2, 32, "float32", aoti_torch_dtype_float32}, {2, 64, "float64", aoti_torch_dtype_float64},
    {2, 16, "float16", aoti_torch_dtype_float16}, {4, 16, "bfloat16", aoti_torch_dtype_bfloat16},
    {0, 8, "int8", aoti_torch_dtype_int8},        {0, 16, "int16", aoti_torch_dtype_int16},
    {0, 32, "int32", aoti_torch_dtype_int32},     {0, 64, "int64", aoti_torch_dtype_int64},
    {1, 8, "uint8", aoti_torch_dtype_uint8},      {1, 16, "uint16", aoti_torch_dtype_uint16},
    {1, 32, "uint32", aoti_torch_dtype_uint32},   {1, 64, "uint64", aoti_torch_dtype_uint64},
    {6, 1, "bool", aoti_torch_dtype_bool},
};

const Type &type_of(const wb_parameter &p)
{
    for (const Type &type : TYPES)
        if (type.code == p.code && (type.bits == p.bits || p.code == 6)) return type;
    throw std::runtime_error(std::string(p.name) + " has a type that PyTorch has not");
}

const char *name_of(int32_t number)
{
    for (const Type &type : TYPES)
        if (type.number() == number) return type.name;
    return "another type";
}

// -- the host: PyTorch's threads and allocator --

Tensor empty(int rank, const int64_t *shape, int32_t type, int32_t device, int32_t number = 0)
{
    int64_t strides[WB_MOST_RANK];
    AtenTensorHandle made = nullptr;
    wb_dense(rank, shape, strides);
    if (aoti_torch_empty_strided(rank, shape, strides, type, device, number, &made) != AOTI_TORCH_SUCCESS) throw std::bad_alloc();
    return Tensor(made);
}

void *take(int64_t bytes, void **handle)
{
    try {
        Tensor block = empty(1, &bytes, aoti_torch_dtype_uint8(), aoti_torch_device_type_cpu());
        void *memory = nullptr;
        if (torch_get_mutable_data_ptr(block.get(), &memory) != AOTI_TORCH_SUCCESS) return nullptr;
        *handle = block.release();
        return memory;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

void give(void *, void *handle)
{
    Tensor(static_cast<AtenTensorHandle>(handle));
}

int threads()
{
    uint32_t count = 1;
    return torch_get_num_threads(&count) == AOTI_TORCH_SUCCESS && count ? int(count) : 1;
}

}  // namespace

extern "C" void wb_parallel_for(int64_t begin, int64_t end, int threads, Body body, const void *context)
{
    if (end - begin > 1 && threads > 1) {
        parallel_for(begin, end, threads, body, context);
    } else if (end > begin) {
        body(context, begin, end);
    }
}

extern "C" int wb_thread()
{
    uint32_t number = 0;
    torch_get_thread_idx(&number);
    return int(number);
}

#endif
