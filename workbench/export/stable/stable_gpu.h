// What a library takes from PyTorch for calls on a GPU: its device, its current stream, memory in the order of that.

#ifndef WORKBENCH_STABLE_GPU_H
#define WORKBENCH_STABLE_GPU_H

#include <dlfcn.h>

#include <cstdio>

extern "C" {
#include "gpu_images.h"
}

namespace {

using Device = std::pair<int32_t, int32_t>;

std::string name_of_device(const Device &device)
{
    if (device.first == aoti_torch_device_type_cpu()) return "cpu";
    if (device.first == aoti_torch_device_type_meta()) return "meta";
    char text[32];  // std::to_string would give out a symbol of its own
    std::snprintf(text, sizeof text, "%s%d", device.first == aoti_torch_device_type_cuda() ? "cuda:" : "device ", int(device.second));
    return text;
}

// A function of the part of PyTorch that is for GPUs; who has tensors there has loaded it.
template <class F>
F of_cuda(const char *name)
{
    static void *const library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    void *found = dlsym(library ? library : RTLD_DEFAULT, name);
    if (!found) throw std::runtime_error(std::string("PyTorch has no ") + name + ", which calls on a GPU need");
    return reinterpret_cast<F>(found);
}

// Where the call that runs in this thread takes memory.
thread_local Device memory_of;

void *take_there(int64_t bytes, void **handle)
{
    try {
        Tensor block = empty(1, &bytes, aoti_torch_dtype_uint8(), memory_of.first, memory_of.second);
        void *memory = nullptr;
        if (torch_get_mutable_data_ptr(block.get(), &memory) != AOTI_TORCH_SUCCESS) return nullptr;
        *handle = block.release();
        return memory;
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

// The device of a call is current while it runs.
class OnDevice {
    Device device_;
    void *guard_ = nullptr, *stream_ = nullptr;

public:
    explicit OnDevice(const Device &device) : device_(device)
    {
        memory_of = device;
        if (device.first == aoti_torch_device_type_cpu()) return;
        const auto enter = of_cuda<AOTITorchError (*)(int32_t, void **)>("aoti_torch_create_cuda_guard");
        const auto current = of_cuda<AOTITorchError (*)(int32_t, void **)>("aoti_torch_get_current_cuda_stream");
        succeed(current(device.second, &stream_), "the current stream");
        succeed(enter(device.second, &guard_), "a device");
    }
    OnDevice(const OnDevice &) = delete;
    OnDevice &operator=(const OnDevice &) = delete;
    ~OnDevice()
    {
        if (guard_) of_cuda<AOTITorchError (*)(void *)>("aoti_torch_delete_cuda_guard")(guard_);
    }
    wb_gpu_host host() const { return {{take_there, give, 1}, stream_, device_.second}; }
};

}  // namespace

#endif
