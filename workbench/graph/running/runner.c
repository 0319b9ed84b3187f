/* Runs the steps of a model in order: each a kernel over addresses, after copies into what it updates. */

#include <stdint.h>
#include <time.h>

typedef int64_t (*wb_step)(void *const *data, void *workspace, int threads);

/* A step takes the slots places[first...]; before it the copies numbered copy_begin..copy_end are made. */
typedef struct {
    wb_step run;
    int64_t number, first, count, copy_begin, copy_end;
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

/* What a run of a program has: its tables, then what is its own. */
typedef struct {
    const wb_model_step *steps;
    const int64_t *places;
    const wb_model_copy *copies;
    void *workspace;
    void *slots[];
} wb_model_frame;

/* 0 if all went well, else the number of the step that failed, counted from 1, above the 32 bits of its status.
   nanoseconds, by numbers of calls, may be null. */
__attribute__((visibility("default")))
int64_t wb_model_run(const wb_model_frame *frame, int64_t begin, int64_t end, int threads, int64_t *nanoseconds) {
    void *const *slots = frame->slots;
    if (wb_model_forked) threads = 1;
    for (int64_t at = begin; at < end; ++at) {
        const wb_model_step *step = &frame->steps[at];
        int64_t before = nanoseconds ? wb_model_now() : 0;
        for (int64_t c = step->copy_begin; c < step->copy_end; ++c) {
            const wb_model_copy *copy = &frame->copies[c];
            if (copy->from < 0) __builtin_memset(slots[copy->to], 0, (__SIZE_TYPE__)copy->bytes);
            else __builtin_memmove(slots[copy->to], slots[copy->from], (__SIZE_TYPE__)copy->bytes);
        }
        void *data[WB_MODEL_MOST];
        for (int64_t p = 0; p < step->count; ++p) data[p] = slots[frame->places[step->first + p]];
        int64_t status = step->run(data, frame->workspace, threads);
        if (nanoseconds) nanoseconds[step->number] += wb_model_now() - before;
        if (status) return ((at + 1) << 32) | (uint32_t)status;
    }
    return 0;
}
