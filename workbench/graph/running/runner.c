/* Runs the steps of a model in order: each a kernel over addresses, after copies into what it updates. */

#ifdef __linux__
#define _GNU_SOURCE
#include <sched.h>
#endif
#include <stdint.h>
#include <time.h>

typedef int64_t (*wb_step)(void *const *data, void *workspace, int threads);

/* A step takes the slots places[first...]; before it the copies numbered copy_begin..copy_end are made.  It and those
   behind it, `beside` in all, do not wait for one another: each may run in a thread of its own, with as much workspace. */
typedef struct {
    wb_step run;
    int64_t number, first, count, copy_begin, copy_end, beside, workspace;
} wb_model_step;

/* From a slot to another; zeros if there is none to copy from (-1). */
typedef struct {
    int64_t to, from, bytes;
} wb_model_copy;

enum { WB_MODEL_MOST = 64 };

/* GCC's OpenMP waits for ever in a forked child for threads that only the parent has; one thread needs none. */
#if defined(_OPENMP) && !defined(__clang__)
extern int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
static int wb_model_forked;
static void wb_model_note_fork(void) {
    wb_model_forked = 1;
}
__attribute__((constructor)) static void wb_model_watch_forks(void) {
    pthread_atfork(0, 0, wb_model_note_fork);
}
#else
enum { wb_model_forked = 0 };
#endif

static int64_t wb_model_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Threads that share a processor wait for each other in every loop, for a time slice each: a busy system puts them so,
   and leaves them so.  Whoever shares one with a thread before it goes to one that none of the team has; the system may
   move it again.  Looked at once in ten milliseconds. */
#if defined(_OPENMP) && defined(__linux__)
int omp_get_thread_num(void);
enum { WB_MODEL_TEAM = 64, WB_MODEL_LOOK = 10000000 };

static void wb_model_leave(const int *at, int me, int threads) {
    cpu_set_t allowed, free;
    int shared = 0;
    for (int t = 0; t < me; ++t) shared |= at[t] == at[me];
    if (!shared || sched_getaffinity(0, sizeof allowed, &allowed)) return;
    free = allowed;
    for (int t = 0; t < threads; ++t) {
        if (at[t] >= 0 && at[t] < CPU_SETSIZE) CPU_CLR(at[t], &free);
    }
    if (CPU_COUNT(&free) && !sched_setaffinity(0, sizeof free, &free)) sched_setaffinity(0, sizeof allowed, &allowed);
}

static void wb_model_part(int threads) {
    static int64_t looked;
    int64_t now = wb_model_now();
    if (threads > WB_MODEL_TEAM || now - __atomic_load_n(&looked, __ATOMIC_RELAXED) < WB_MODEL_LOOK) return;
    __atomic_store_n(&looked, now, __ATOMIC_RELAXED);
    int at[WB_MODEL_TEAM];
    for (int t = 0; t < threads; ++t) at[t] = -1;
#pragma omp parallel num_threads(threads)
    {
        int me = omp_get_thread_num();
        at[me] = sched_getcpu();
#pragma omp barrier
        if (me > 0) wb_model_leave(at, me, threads);
    }
}
#else
static void wb_model_part(int threads) {
    (void)threads;
}
#endif

/* What a run of a program has: its tables, then what is its own. */
typedef struct {
    const wb_model_step *steps;
    const int64_t *places;
    const wb_model_copy *copies;
    void *workspace;
    void *slots[];
} wb_model_frame;

static int64_t wb_model_step_run(const wb_model_frame *frame, const wb_model_step *step, void *workspace, int threads,
                                 int64_t *nanoseconds) {
    void *const *slots = frame->slots;
    int64_t before = nanoseconds ? wb_model_now() : 0;
    for (int64_t c = step->copy_begin; c < step->copy_end; ++c) {
        const wb_model_copy *copy = &frame->copies[c];
        if (copy->from < 0) __builtin_memset(slots[copy->to], 0, (__SIZE_TYPE__)copy->bytes);
        else __builtin_memmove(slots[copy->to], slots[copy->from], (__SIZE_TYPE__)copy->bytes);
    }
    void *data[WB_MODEL_MOST];
    for (int64_t p = 0; p < step->count; ++p) data[p] = slots[frame->places[step->first + p]];
    int64_t status = step->run(data, workspace, threads);
    if (nanoseconds) nanoseconds[step->number] += wb_model_now() - before;
    return status;
}

/* The status of the first of these steps that failed, with its number as below; 0 if none did. */
static int64_t wb_model_beside(const wb_model_frame *frame, int64_t at, int threads, int64_t *nanoseconds) {
    const wb_model_step *steps = &frame->steps[at];
    int count = (int)steps->beside;
    int64_t failed[WB_MODEL_MOST] = {0};
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads < count ? threads : count) schedule(static, 1)
#endif
    for (int i = 0; i < count; ++i) {
        char *workspace = (char *)frame->workspace + i * steps->workspace;
        failed[i] = wb_model_step_run(frame, &steps[i], workspace, 1, nanoseconds);
    }
    for (int i = 0; i < count; ++i) {
        if (failed[i]) return ((at + i + 1) << 32) | (uint32_t)failed[i];
    }
    return 0;
}

#ifdef _OPENMP
enum { wb_model_has_threads = 1 };
#else
enum { wb_model_has_threads = 0 };
#endif

/* 0 if all went well, else the number of the step that failed, counted from 1, above the 32 bits of its status.
   nanoseconds, by numbers of calls, may be null. */
__attribute__((visibility("default")))
int64_t wb_model_run(const wb_model_frame *frame, int64_t begin, int64_t end, int threads, int64_t *nanoseconds) {
    if (wb_model_forked) threads = 1;
    if (threads > 1) wb_model_part(threads);
    for (int64_t at = begin; at < end; ++at) {
        const wb_model_step *step = &frame->steps[at];
        if (wb_model_has_threads && threads > 1 && step->beside > 1) {
            int64_t failed = wb_model_beside(frame, at, threads, nanoseconds);
            if (failed) return failed;
            at += step->beside - 1;
            continue;
        }
        int64_t status = wb_model_step_run(frame, step, frame->workspace, threads, nanoseconds);
        if (status) return ((at + 1) << 32) | (uint32_t)status;
    }
    return 0;
}
