/* What CUDA C++ has and C++ has not, for text whose threads are fibers.  Calls that wait or that threads may race with
   are macros, so that a finding names their line. */

#define WB_PRELUDE
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define WB_UNROLL
#define WB_INLINE static inline __attribute__((unused))
#define WB_COLD static __attribute__((noinline, cold, unused))
#define WB_DYNAMIC_SHARED(name) unsigned char *name = ::wb_cpu::dynamic_shared()

#define threadIdx (::wb_cpu::thread_index())
#define blockIdx (::wb_cpu::block_index())
#define blockDim (::wb_cpu::block_extent())
#define gridDim (::wb_cpu::grid_extent())
#define warpSize 32

#define __syncthreads() ::wb_cpu::barrier(__LINE__)
#define __syncthreads_and(p) ::wb_cpu::vote(__LINE__, p, 0)
#define __syncthreads_or(p) ::wb_cpu::vote(__LINE__, p, 1)
#define __syncthreads_count(p) ::wb_cpu::vote(__LINE__, p, 2)
#define __syncwarp(...) ::wb_cpu::warp_barrier(__LINE__, ##__VA_ARGS__)
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_block() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __activemask() ::wb_cpu::active_mask()

#define __shfl_sync(m, v, ...) ::wb_cpu::shuffle<0>(__LINE__, m, v, __VA_ARGS__)
#define __shfl_up_sync(m, v, ...) ::wb_cpu::shuffle<1>(__LINE__, m, v, __VA_ARGS__)
#define __shfl_down_sync(m, v, ...) ::wb_cpu::shuffle<2>(__LINE__, m, v, __VA_ARGS__)
#define __shfl_xor_sync(m, v, ...) ::wb_cpu::shuffle<3>(__LINE__, m, v, __VA_ARGS__)
#define __ballot_sync(m, p) ::wb_cpu::ballot(__LINE__, m, p)
#define __any_sync(m, p) (::wb_cpu::ballot(__LINE__, m, p) != 0)
#define __all_sync(m, p) (::wb_cpu::ballot(__LINE__, m, !(p)) == 0)

#define atomicAdd(...) ::wb_cpu::atomic_update<::wb_cpu::Plus>(__LINE__, __VA_ARGS__)
#define atomicSub(...) ::wb_cpu::atomic_update<::wb_cpu::Minus>(__LINE__, __VA_ARGS__)
#define atomicMax(...) ::wb_cpu::atomic_update<::wb_cpu::Larger>(__LINE__, __VA_ARGS__)
#define atomicMin(...) ::wb_cpu::atomic_update<::wb_cpu::Smaller>(__LINE__, __VA_ARGS__)
#define atomicAnd(...) ::wb_cpu::atomic_update<::wb_cpu::And>(__LINE__, __VA_ARGS__)
#define atomicOr(...) ::wb_cpu::atomic_update<::wb_cpu::Or>(__LINE__, __VA_ARGS__)
#define atomicXor(...) ::wb_cpu::atomic_update<::wb_cpu::Xor>(__LINE__, __VA_ARGS__)
#define atomicExch(...) ::wb_cpu::atomic_update<::wb_cpu::Second>(__LINE__, __VA_ARGS__)
#define atomicCAS(...) ::wb_cpu::compare_and_swap(__LINE__, __VA_ARGS__)

#define wb_copy_async(to, from, bytes) ::wb_cpu::copy_async(__LINE__, to, from, bytes, 0)
#define wb_copies_commit() ::wb_cpu::copies_commit()
#define wb_copies_wait(n) ::wb_cpu::copies_wait(n)
#define __pipeline_memcpy_async(to, from, ...) ::wb_cpu::copy_async(__LINE__, to, from, __VA_ARGS__)
#define __pipeline_commit() wb_copies_commit()
#define __pipeline_wait_prior(n) wb_copies_wait(n)

namespace wb_cpu {

WB_CPU uint3 thread_index() { return here->index; }
WB_CPU uint3 block_index() { return here->crew->block_index; }
WB_CPU dim3 block_extent() { return here->crew->block; }
WB_CPU dim3 grid_extent() { return here->crew->grid; }
WB_CPU unsigned char *dynamic_shared() { return here->crew->shared; }

WB_CPU_SLOW void warp_barrier(int64_t line, unsigned mask = 0xffffffffu) {
    here->fence = 1;
    wait(AT_WARP, line, mask);
    here->fence = 0;
}

WB_CPU unsigned active_mask() {
    Thread *first = here - here->linear % WARP;
    unsigned lanes = here->crew->count - first->linear, mask = 0;
    for (unsigned n = 0; n < WARP && n < lanes; ++n) mask |= (unsigned)(first[n].state != DONE) << n;
    return mask;
}

/* Every lane of the mask puts its value into a slot; slots alternate, so that none is overwritten before it is read. */
template <class T> WB_CPU void publish(int64_t line, unsigned mask, T value) {
    static_assert(sizeof(T) <= 16, "shuffles move at most 16 bytes");
    __builtin_memcpy(here->slot[here->collectives & 1], &value, sizeof value);
    wait(AT_WARP, line, mask);
}

/* The value of a lane; a lane outside of the mask gives garbage, as it may on a GPU. */
template <class T> WB_CPU T taken(unsigned mask, unsigned lane) {
    T value;
    __builtin_memset(&value, 0xff, sizeof value);
    unsigned own = here->linear % WARP, last = here->crew->count - (here->linear - own);
    unsigned parity = here->collectives & 1;
    if (lane < WARP && lane < last && (mask >> lane & 1))
        __builtin_memcpy(&value, (here - own + lane)->slot[parity], sizeof value);
    return value;
}

template <int way, class T> WB_CPU T shuffle(int64_t line, unsigned mask, T value, int by, int width = 32) {
    publish(line, mask, value);
    int own = (int)(here->linear % WARP), first = own & ~(width - 1), lane = own;
    if (way == 0) lane = first + (by & (width - 1));
    if (way == 1) lane = own - by < first ? own : own - by;
    if (way == 2) lane = own + by >= first + width ? own : own + by;
    if (way == 3) lane = (own ^ by) >= first + width ? own : own ^ by;
    T found = taken<T>(mask, (unsigned)lane);
    here->collectives++;
    return found;
}

WB_CPU unsigned ballot(int64_t line, unsigned mask, int predicate) {
    publish(line, mask, predicate != 0);
    unsigned bits = 0, own = here->linear % WARP, last = here->crew->count - (here->linear - own);
    for (unsigned lane = 0; lane < WARP && lane < last; ++lane)
        if (mask >> lane & 1) bits |= (unsigned)taken<int>(mask, lane) << lane;
    here->collectives++;
    return bits;
}

/* -- atomic updates ------------------------------------------------------------------------------------------------ */

template <int bytes> struct Word;
template <> struct Word<4> { using type = uint32_t; };
template <> struct Word<8> { using type = uint64_t; };
template <> struct Word<2> { using type = uint16_t; };

struct Plus { template <class T> WB_CPU_UNSEEN static T of(T a, T b) { return a + b; } };
struct Minus { template <class T> WB_CPU_UNSEEN static T of(T a, T b) { return a - b; } };
struct Larger { template <class T> WB_CPU_UNSEEN static T of(T a, T b) { return a < b ? b : a; } };
struct Smaller { template <class T> WB_CPU_UNSEEN static T of(T a, T b) { return b < a ? b : a; } };
struct And { template <class T> WB_CPU_UNSEEN static T of(T a, T b) { return a & b; } };
struct Or { template <class T> WB_CPU_UNSEEN static T of(T a, T b) { return a | b; } };
struct Xor { template <class T> WB_CPU_UNSEEN static T of(T a, T b) { return a ^ b; } };
struct Second { template <class T> WB_CPU_UNSEEN static T of(T, T b) { return b; } };
template <class T> struct Same { using type = T; };

template <class F, class T> WB_CPU T atomic_update(int64_t line, T *cell, typename Same<T>::type value) {
    WB_CPU_SEES(cell, sizeof(T), UPDATE, line);
    using Bits = typename Word<sizeof(T)>::type;
    Bits before = __atomic_load_n((Bits *)cell, __ATOMIC_RELAXED), after;
    T old, changed;
    do {
        __builtin_memcpy(&old, &before, sizeof old);
        changed = F::of(old, value);
        __builtin_memcpy(&after, &changed, sizeof after);
    } while (!__atomic_compare_exchange_n((Bits *)cell, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

/* A thread that fails lets the others run, so that whoever holds a lock can give it back. */
template <class T>
WB_CPU T compare_and_swap(int64_t line, T *cell, typename Same<T>::type expected, typename Same<T>::type value) {
    T found = expected, apart = expected ^ value;
    unsigned first = 0, end = sizeof(T);  // the bytes that change: a word may hold elements of others
    while (end && !(apart >> 8 * (end - 1) & 0xff)) --end;
    while (first < end && !(apart >> 8 * first & 0xff)) ++first;
    WB_CPU_SEES((char *)cell + first, end - first, UPDATE, line);
    if (!__atomic_compare_exchange_n(cell, &found, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) leave(READY);
    return found;
}

/* -- asynchronous copies: made as late as they may be ---------------------------------------------------------------- */

WB_CPU_SLOW void copy_async(int64_t line, void *to, const void *from, unsigned bytes, unsigned zeros = 0) {
    Thread &thread = *here;
    if (thread.copy_count == thread.copy_room) grow(thread);
    Copy copy = {to, from, bytes, zeros, thread.group, thread.depth >= 2 ? thread.calls[1] : line};
    WB_CPU_SEES_COPY(copy);
    thread.copies[thread.copy_count++] = copy;
}

WB_CPU void make(const Copy &copy) {
    WB_CPU_SEES_ARRIVAL(copy);
    if (copy.bytes == 16 && !copy.zeros) {
        __builtin_memcpy(copy.to, copy.from, 16);
        return;
    }
    for (unsigned n = 0; n < copy.bytes; ++n)
        ((volatile char *)copy.to)[n] = n + copy.zeros < copy.bytes ? ((const volatile char *)copy.from)[n] : 0;
}

WB_CPU void copies_commit() { here->group++; }

WB_CPU_SLOW void copies_wait(int64_t young) {
    Thread &thread = *here;
    int64_t left = 0;
    for (int64_t n = 0; n < thread.copy_count; ++n) {
        if (thread.copies[n].group < thread.group - young) make(thread.copies[n]);
        else thread.copies[left++] = thread.copies[n];
    }
    thread.copy_count = left;
}

}  // namespace wb_cpu
