"""What CUDA's codes mean for somebody who called a kernel, as a table, and the errors made of them."""

from __future__ import annotations

from workbench.errors import BuildError, KernelError, WorkbenchError
from workbench.runtime.gpu.drivers.driver import DriverError

LOST = (
    "CUDA gives this process no further work on the GPU: start it again. kernel.apart(...) runs a kernel in a process "
    "of its own"
)
LOOK = "find the line without a GPU: wb.sanitize(schedule, *arrays)"
INSTALL = "install the driver of the machine's GPU (nvidia-smi has to list it)"

# Code → (CUDA's own words, what happened, what to do); those of LOSING end the context.
FAILURES: dict[str, tuple[str, str, str]] = {
    "CUDA_ERROR_ILLEGAL_ADDRESS": (
        "an illegal memory access was encountered", "the kernel touched memory outside of every array", LOOK),
    "CUDA_ERROR_MISALIGNED_ADDRESS": (
        "misaligned address", "the kernel read or wrote at an address that its type does not allow", LOOK),
    "CUDA_ERROR_ILLEGAL_INSTRUCTION": (
        "an illegal instruction was encountered", "the machine code is not this GPU's", "build the kernel again"),
    "CUDA_ERROR_INVALID_PC": (
        "invalid program counter", "the kernel jumped out of its code: it may have written over its stack", LOOK),
    "CUDA_ERROR_INVALID_ADDRESS_SPACE": (
        "operation not supported on global/shared address space", "an instruction met the wrong kind of memory", LOOK),
    "CUDA_ERROR_HARDWARE_STACK_ERROR": (
        "hardware stack error", "the stack of a thread is corrupt or full", "give threads smaller arrays"),
    "CUDA_ERROR_LAUNCH_FAILED": (
        "unspecified launch failure", "the kernel crashed", LOOK),
    "CUDA_ERROR_LAUNCH_TIMEOUT": (
        "the launch timed out and was terminated", "the kernel ran longer than this GPU allows, which also serves a "
        "display", "compute less in one launch, or use a GPU without a display"),
    "CUDA_ERROR_ASSERT": (
        "device-side assert triggered", "an assert of the kernel failed", LOOK),
    "CUDA_ERROR_ECC_UNCORRECTABLE": (
        "uncorrectable ECC error encountered", "the GPU's memory is faulty", "ask who runs this machine"),
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": (
        "too many resources requested for launch", "a block asks for more registers than a multiprocessor has",
        "bind fewer iterations to threads: kernel.resources shows registers and threads"),
    "CUDA_ERROR_INVALID_VALUE": (
        "invalid argument", "the launch is larger than this GPU allows, or an argument is wrong",
        "look at kernel.launches: blocks, threads and shared memory"),
    "CUDA_ERROR_OUT_OF_MEMORY": (
        "out of memory", "the GPU has not enough free memory for the arrays and temporaries",
        "compute less at once, or free what other programs hold there (nvidia-smi lists them)"),
    "CUDA_ERROR_NO_BINARY_FOR_GPU": (
        "no kernel image is available for execution on the device", "the machine code is for another architecture",
        "build the schedule on the machine that runs it"),
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": (
        "the provided PTX was compiled with an unsupported toolchain.", "the compiler is newer than the driver",
        "update the driver, or install an older nvidia-cuda-nvrtc"),
    "CUDA_ERROR_INVALID_IMAGE": (
        "device kernel image is invalid", "the machine code is not understood by this driver",
        "update the driver, or install an older nvidia-cuda-nvrtc"),
    "CUDA_ERROR_NOT_FOUND": (
        "named symbol not found", "the module has no such kernel", "build the kernel again"),
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": (
        "operation not permitted when stream is capturing", "a graph is being captured, and this call has to wait for "
        "the GPU", "give out=, and build with unchecked=True, so that nothing is waited for"),
    "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED": (
        "operation failed due to a previous error during capture", "the graph that was being captured is lost",
        "give out=, and build with unchecked=True, so that nothing is waited for"),
    "CUDA_ERROR_NO_DEVICE": (
        "no CUDA-capable device is detected", "the driver sees no GPU",
        "see nvidia-smi; the variable CUDA_VISIBLE_DEVICES may hide it"),
    "CUDA_ERROR_INVALID_DEVICE": (
        "invalid device ordinal", "there is no GPU of that number", "see nvidia-smi for those there are"),
    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": (
        "system has unsupported display driver / cuda driver combination", "the parts of the driver do not fit",
        "restart the machine, or install the driver again"),
    "CUDA_ERROR_SYSTEM_NOT_READY": (
        "system not yet initialized", "the GPUs' service is not running", "start nvidia-fabricmanager"),
    "CUDA_ERROR_UNKNOWN": (
        "unknown error", "the driver does not say what went wrong", "look at the system's log (dmesg)"),
}  # fmt: skip

LOSING = frozenset((
    "CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_MISALIGNED_ADDRESS", "CUDA_ERROR_ILLEGAL_INSTRUCTION",
    "CUDA_ERROR_INVALID_PC", "CUDA_ERROR_INVALID_ADDRESS_SPACE", "CUDA_ERROR_HARDWARE_STACK_ERROR",
    "CUDA_ERROR_LAUNCH_FAILED", "CUDA_ERROR_LAUNCH_TIMEOUT", "CUDA_ERROR_ASSERT", "CUDA_ERROR_ECC_UNCORRECTABLE",
))  # fmt: skip

_STARTING = ("cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain")


def error_code(said: str) -> str:
    """The code that CUDA's words stand for.

    >>> error_code("out of memory"), error_code("an illegal memory access was encountered - kernel x")
    ('CUDA_ERROR_OUT_OF_MEMORY', 'CUDA_ERROR_ILLEGAL_ADDRESS')
    """
    found = [code for code, (words, _, _) in FAILURES.items() if said.startswith(words)]
    return found[0] if found else "CUDA_ERROR_UNKNOWN"


def driver_failure(error: DriverError, where: str) -> WorkbenchError:
    """The error of the workbench that says what a refusal of the driver means; `where` is what was being done."""
    _, happened, advice = FAILURES.get(error.code, ("", f"CUDA says: {error.said}", "see CUDA's documentation"))
    message = f"{where}: {happened} ({error.code} in {error.doing}: {error.said}). {advice[0].upper()}{advice[1:]}."
    if error.code in LOSING:
        return KernelError(f"{message} {LOST}.")
    kind = BuildError if error.doing.startswith((*_STARTING, "cuModule")) else KernelError
    return kind(message)


def lost(error: BaseException) -> bool:
    """Whether an error says that this process can use the GPU no longer."""
    return any(code in str(error) for code in LOSING)
