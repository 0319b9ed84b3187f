/* Parallel loops on the threads that XLA computes with, and memory that it planned for. */

#include "lending.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { WB_ALIGNMENT = 64, WB_CHUNKS_A_THREAD = 4 };

/* What this thread was lent; NULL inside a parallel loop, where there is nothing to share. */
static _Thread_local wb_loan *wb_current;
static _Thread_local int wb_number;

int wb_failed(const XLA_FFI_Api *api, XLA_FFI_Error *error)
{
    if (!error) return 0;
    XLA_FFI_Error_Destroy_Args args = {XLA_FFI_Error_Destroy_Args_STRUCT_SIZE, NULL, error};
    api->XLA_FFI_Error_Destroy(&args);
    return 1;
}

/* -- memory -- */

static void *wb_take(int64_t bytes, void **handle)
{
    const int64_t rounded = (bytes + WB_ALIGNMENT - 1) / WB_ALIGNMENT * WB_ALIGNMENT;
    if ((uintptr_t)wb_current->scratch % WB_ALIGNMENT == 0 && rounded <= wb_current->scratch_bytes) {
        void *memory = wb_current->scratch;
        wb_current->scratch += rounded;
        wb_current->scratch_bytes -= rounded;
        *handle = NULL;
        return memory;
    }
    return *handle = aligned_alloc(WB_ALIGNMENT, (size_t)rounded); /* kernels that came after the program was compiled */
}

static void wb_give(void *memory, void *handle)
{
    (void)memory;
    free(handle);
}

/* -- threads -- */

/* Whoever comes takes the next chunk.  A task that the pool begins late finds a loop that is over, so the loop lives as
   long as somebody knows it; and the caller waits for those only that have begun, because all threads of the pool may be
   callers. */
typedef struct {
    _Atomic int64_t next;
    int64_t end, chunk;
    wb_body body;
    const void *context;
    pthread_mutex_t lock;
    pthread_cond_t left;
    int owners, came, working, over; /* under the lock */
} wb_loop;

static void wb_work(wb_loop *loop)
{
    for (;;) {
        int64_t begin = atomic_fetch_add_explicit(&loop->next, loop->chunk, memory_order_relaxed);
        if (begin >= loop->end) return;
        int64_t end = begin + loop->chunk < loop->end ? begin + loop->chunk : loop->end;
        loop->body(loop->context, begin, end);
    }
}

static void wb_forget(wb_loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    int last = --loop->owners == 0;
    pthread_mutex_unlock(&loop->lock);
    if (!last) return;
    pthread_cond_destroy(&loop->left);
    pthread_mutex_destroy(&loop->lock);
    free(loop);
}

static void wb_help(void *shared)
{
    wb_loop *loop = shared;
    pthread_mutex_lock(&loop->lock);
    int number = loop->over ? 0 : ++loop->came;
    if (number) ++loop->working;
    pthread_mutex_unlock(&loop->lock);
    if (number) {
        wb_loan *outer = wb_current;
        const int outer_number = wb_number;
        wb_current = NULL;
        wb_number = number;
        wb_work(loop);
        wb_current = outer;
        wb_number = outer_number;
        pthread_mutex_lock(&loop->lock);
        if (--loop->working == 0) pthread_cond_signal(&loop->left);
        pthread_mutex_unlock(&loop->lock);
    }
    wb_forget(loop);
}

static void wb_ask_for_help(wb_loop *loop, const XLA_FFI_CallFrame *frame, int64_t helpers)
{
    for (int64_t n = 0; n < helpers; ++n) {
        pthread_mutex_lock(&loop->lock);
        ++loop->owners;
        pthread_mutex_unlock(&loop->lock);
        XLA_FFI_ThreadPool_Schedule_Args args = {
            XLA_FFI_ThreadPool_Schedule_Args_STRUCT_SIZE, NULL, frame->ctx, wb_help, loop};
        if (wb_failed(frame->api, frame->api->XLA_FFI_ThreadPool_Schedule(&args))) {
            wb_forget(loop);
            return;
        }
    }
}

static void wb_share(int64_t begin, int64_t end, int threads, wb_body body, const void *context)
{
    wb_loan *loan = wb_current;
    wb_loop *loop = loan ? malloc(sizeof *loop) : NULL;
    if (!loop) {
        body(context, begin, end);
        return;
    }
    const int64_t pieces = (int64_t)threads * WB_CHUNKS_A_THREAD, count = end - begin;
    const int64_t chunk = (count + pieces - 1) / pieces, most = (count + chunk - 1) / chunk;
    *loop = (wb_loop){.end = end, .chunk = chunk, .body = body, .context = context, .owners = 1};
    atomic_init(&loop->next, begin);
    pthread_mutex_init(&loop->lock, NULL);
    pthread_cond_init(&loop->left, NULL);
    wb_ask_for_help(loop, loan->frame, (threads < most ? threads : most) - 1);
    wb_current = NULL;
    wb_work(loop);
    wb_current = loan;
    pthread_mutex_lock(&loop->lock);
    loop->over = 1;
    while (loop->working) pthread_cond_wait(&loop->left, &loop->lock);
    pthread_mutex_unlock(&loop->lock);
    wb_forget(loop);
}

static int wb_own_number(void)
{
    return wb_number;
}

static int wb_threads_of(const XLA_FFI_CallFrame *frame)
{
    int64_t count = 1;
    XLA_FFI_ThreadPool_NumThreads_Args args = {
        XLA_FFI_ThreadPool_NumThreads_Args_STRUCT_SIZE, NULL, frame->ctx, &count};
    if (wb_failed(frame->api, frame->api->XLA_FFI_ThreadPool_NumThreads(&args)) || count < 1) return 1;
    return (int)count;
}

const wb_threads wb_lent_threads = {wb_share, wb_own_number};

wb_loan *wb_enter(wb_loan *loan, int most_threads, wb_host *host)
{
    wb_loan *outer = wb_current;
    const int threads = wb_threads_of(loan->frame);
    *host = (wb_host){wb_take, wb_give, threads < most_threads ? threads : most_threads};
    wb_current = loan;
    return outer;
}

void wb_leave(wb_loan *outer)
{
    wb_current = outer;
}
