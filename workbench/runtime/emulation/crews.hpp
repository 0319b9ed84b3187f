/* Workers: memory for the threads of a block, and the entry that Python calls from each of its threads. */

namespace wb_cpu {

WB_CPU_SLOW void hire(Crew &crew, Launch &launch) {
    unsigned count = launch.block[0] * launch.block[1] * launch.block[2];
    crew.launch = &launch;
    crew.grid = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
    crew.block = dim3(launch.block[0], launch.block[1], launch.block[2]);
    crew.count = crew.idle_count = count;
    crew.threads = (Thread *)calloc(count, sizeof(Thread));
    crew.order = (unsigned *)calloc(count, sizeof(unsigned));
    crew.idle = (char **)calloc(count, sizeof(char *));
    crew.random = launch.seed * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u;
    for (unsigned n = 0; n < count; ++n) {
        Thread &thread = crew.threads[n];
        thread.index.x = n % launch.block[0];
        thread.index.y = n / launch.block[0] % launch.block[1];
        thread.index.z = n / launch.block[0] / launch.block[1];
        thread.linear = n;
        thread.crew = &crew;
        crew.idle[n] = crew.stacks + (size_t)STACK_BYTES * (count - 1 - n);
    }
}

WB_CPU_SLOW void dismiss(Crew &crew) {
    for (unsigned n = 0; n < crew.count; ++n) free(crew.threads[n].copies);
    free(crew.threads);
    free(crew.order);
    free(crew.idle);
}

/* A block's number: in the order asked for; for random ones a walk with a stride that meets all. */
WB_CPU int64_t nth_block(const Launch &launch, int64_t n, int64_t total) {
    if (launch.order == REVERSE) return total - 1 - n;
    if (launch.order == FORWARD || total < 3) return n;
    uint64_t stride = 1 + launch.seed % (uint64_t)(total - 1);
    for (;; ++stride) {
        uint64_t a = stride, b = (uint64_t)total;
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1) return (int64_t)((stride * (uint64_t)n + launch.seed) % (uint64_t)total);
    }
}

}  // namespace wb_cpu

#if defined(__APPLE__)
#define WB_CPU_SYMBOL(name) "_" name
#define WB_CPU_HIDE(name) ".private_extern _" name "\n"
#define WB_CPU_ANONYMOUS 0x1002
#else
#define WB_CPU_SYMBOL(name) name
#define WB_CPU_HIDE(name) ".hidden " name "\n"
#define WB_CPU_ANONYMOUS 0x4022
#endif

#if defined(__x86_64__)
asm(".text\n.p2align 4\n.globl " WB_CPU_SYMBOL("wb_cpu_switch") "\n" WB_CPU_HIDE("wb_cpu_switch")
    WB_CPU_SYMBOL("wb_cpu_switch") ":\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nretq\n");
#elif defined(__aarch64__)
asm(".text\n.p2align 4\n.globl " WB_CPU_SYMBOL("wb_cpu_switch") "\n" WB_CPU_HIDE("wb_cpu_switch")
    WB_CPU_SYMBOL("wb_cpu_switch") ":\n"
    "sub sp, sp, #160\nstp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\n"
    "stp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\nstp d8, d9, [sp, #96]\n"
    "stp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, #48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\nldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\n"
    "ldp d12, d13, [sp, #128]\nldp d14, d15, [sp, #144]\nadd sp, sp, #160\nret\n");
#else
#error "kernels for a GPU are executed on x86-64 and on 64-bit ARM processors only"
#endif

extern "C" __attribute__((visibility("hidden"))) WB_CPU_UNSEEN void wb_cpu_begin(void) {
    wb_cpu::Launch *launch = wb_cpu::here->crew->launch;
    launch->kernel(launch->arguments);
    wb_cpu::leave(wb_cpu::DONE);
}

/* Executes blocks until none is left; several workers may call it for one launch.  0, or -1 without memory. */
WB_CPU_EXPORT int wb_cpu_run(wb_cpu::Launch *launch) {
    using namespace wb_cpu;
    int64_t total = (int64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    size_t bytes = (size_t)STACK_BYTES * launch->block[0] * launch->block[1] * launch->block[2];
    Crew crew = {};
    crew.stacks = (char *)mmap(0, bytes, 3, WB_CPU_ANONYMOUS, -1, 0);
    if (crew.stacks == (char *)-1) return -1;
    unsigned char *shared = (unsigned char *)WB_CPU_SHARED(launch->shared_bytes + 16);
    crew.shared = (unsigned char *)(((uintptr_t)shared + 15) & ~(uintptr_t)15);
    hire(crew, *launch);
    for (;;) {
        int64_t n = __atomic_fetch_add(&launch->next_block, 1, __ATOMIC_RELAXED);
        if (n >= total || launch->stopped) break;
        run_block(crew, nth_block(*launch, n, total));
    }
    dismiss(crew);
    WB_CPU_UNSHARED(shared);
    munmap(crew.stacks, bytes);
    return 0;
}

/* Each kernel is entered with the addresses of its arguments. */
template <unsigned... N> struct wb_cpu_numbers {};
template <unsigned N, unsigned... M> struct wb_cpu_count : wb_cpu_count<N - 1, N - 1, M...> {};
template <unsigned... M> struct wb_cpu_count<0, M...> {
    using type = wb_cpu_numbers<M...>;
};
template <class... P, unsigned... N>
WB_CPU void wb_cpu_spread(void (*kernel)(P...), void **arguments, wb_cpu_numbers<N...>) {
    (void)arguments;
    kernel(*(P *)arguments[N]...);
}
template <class... P> WB_CPU void wb_cpu_enter(void (*kernel)(P...), void **arguments) {
    wb_cpu_spread(kernel, arguments, typename wb_cpu_count<sizeof...(P)>::type());
}
#define WB_CPU_KERNEL(name) \
    WB_CPU_EXPORT void wb_cpu_enter_##name(void **arguments) { wb_cpu_enter(name, arguments); }
