/* Interrupts: Ctrl-C ends a call of the kernel above that takes long.

   While such a call of the main thread runs, a handler stands before the interpreter's own.  It counts `wb_stops` on, which
   outer loops compare in every thread with what it was when their call began, and hands the signal on.  Calls of the same
   kernel in other threads end, too; those that begin later do not.  Calls that were soon over with these sizes go without.

   Of C's headers only those that declare no function, here and in the border: an operator may be called `div`, or `kill`. */

#include <stddef.h>
#include <stdint.h>

enum { WB_STOPS_SIGNAL = 2, WB_STOPS_BLOB = 512, WB_STOPS_SHORT = 1, WB_STOPS_STOPPED = 2, WB_STOPS_STATUS = -3 };

typedef void (*wb_stops_handler)(int signal, void *information, void *context);

/* The handler is what `struct sigaction` begins with; the rest stays as it was. */
typedef union {
    wb_stops_handler handler;
    uint64_t blob[WB_STOPS_BLOB / 8];
} wb_stops_action;

typedef struct {
    int (*sigaction)(int signal, const void *wanted, void *was);
    unsigned long (*thread)(void);
    uintptr_t main_thread;
} wb_stops_system;

typedef struct {
    int64_t *mark; /* what is remembered of calls with these sizes */
    uint64_t clock;
    unsigned began;
    int watching;
    wb_stops_action before;
} wb_stops_call;

static wb_stops_system wb_stops_api;
static wb_stops_handler wb_stops_next;

static void wb_stops_interrupted(int signal, void *information, void *context) {
    __atomic_add_fetch(&wb_stops, 1, __ATOMIC_RELAXED);
    wb_stops_next(signal, information, context);
}

/* A count that goes on with time; 0 where there is none without a call. */
static uint64_t wb_stops_clock(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc() >> 21; /* about a millisecond */
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks >> 15; /* a millisecond at most */
#else
    return 0;
#endif
}

static int wb_stops_watch(wb_stops_action *before) {
    if (!wb_stops_api.sigaction || wb_stops_api.thread() != wb_stops_api.main_thread) return 0;
    if (wb_stops_api.sigaction(WB_STOPS_SIGNAL, NULL, before)) return 0;
    uintptr_t handler = (uintptr_t)before->handler;
    if (handler <= 1 || handler == UINTPTR_MAX || before->handler == wb_stops_interrupted) return 0; /* none, ignored */
    wb_stops_action own = *before;
    own.handler = wb_stops_interrupted;
    wb_stops_next = before->handler;
    return !wb_stops_api.sigaction(WB_STOPS_SIGNAL, &own, NULL);
}

static void wb_stops_begin(wb_stops_call *call, int64_t *mark, int64_t times) {
    int brief = times == 1 && (*mark & WB_STOPS_SHORT);
    call->mark = mark;
    call->watching = 0;
    call->began = wb_stops;
    if (!brief) {
        *mark = 0;
        call->clock = wb_stops_clock();
        call->watching = wb_stops_watch(&call->before);
    }
}

/* The status of the call. */
static int64_t wb_stops_end(wb_stops_call *call, int64_t status) {
    if (call->watching) wb_stops_api.sigaction(WB_STOPS_SIGNAL, &call->before, NULL);
    if (wb_stops != call->began) {
        *call->mark = WB_STOPS_STOPPED;
        return WB_STOPS_STATUS;
    }
    if (!*call->mark && !status && wb_stops_clock() && wb_stops_clock() - call->clock <= 1) *call->mark = WB_STOPS_SHORT;
    return status;
}
