/* -- threads: a loop in chunks on a small pool, for compilers without OpenMP --------------------------------------- */

#include <pthread.h>
#include <stdint.h>

typedef void (*wb_body)(const void *context, int64_t begin, int64_t end);
typedef void (*wb_pool_task)(const void *context, int64_t begin, int64_t end, int thread);
typedef void (*wb_pool_host)(int64_t begin, int64_t end, int threads, wb_pool_task task, const void *context);

enum { WB_POOL_LIMIT = 256, WB_POOL_SPINS = 2000, WB_POOL_CHUNKS_A_THREAD = 4 };

static struct {
    pthread_mutex_t region;      /* held by the caller whose loop runs */
    pthread_mutex_t lock;        /* guards all below that is not atomic */
    pthread_cond_t wake, idle;
    pthread_t handles[WB_POOL_LIMIT];
    int workers, stop;
    unsigned loops;              /* atomic: counts loops, so that a worker sees a new one */
    int open, helpers;           /* the loop takes helpers; only the first `helpers` workers may join */
    int running;                 /* atomic: helpers inside the loop */
    int64_t next, end, chunk;    /* atomic: next */
    wb_pool_task task;
    const void *context;
} wb_pool = {
    .region = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER,
};

static __thread int wb_pool_inside, wb_pool_thread;

/* Number of this thread within the parallel loop, 0 to threads - 1. */
__attribute__((unused)) static int wb_thread(void) {
    return wb_pool_thread;
}

static void wb_pool_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void wb_pool_work(int thread) {
    for (;;) {
        int64_t begin = __atomic_fetch_add(&wb_pool.next, wb_pool.chunk, __ATOMIC_RELAXED);
        if (begin >= wb_pool.end) return;
        int64_t end = wb_pool.end - begin < wb_pool.chunk ? wb_pool.end : begin + wb_pool.chunk;
        wb_pool.task(wb_pool.context, begin, end, thread);
    }
}

/* Wait for a loop after number `seen`; the lock is held on return. */
static void wb_pool_wait(unsigned seen) {
    for (int spin = 0; spin < WB_POOL_SPINS && __atomic_load_n(&wb_pool.loops, __ATOMIC_ACQUIRE) == seen; ++spin)
        wb_pool_pause();
    pthread_mutex_lock(&wb_pool.lock);
    while (wb_pool.loops == seen && !wb_pool.stop) pthread_cond_wait(&wb_pool.wake, &wb_pool.lock);
}

static void *wb_pool_worker(void *number) {
    int worker = (int)(intptr_t)number;
    unsigned seen = 0;
    for (;;) {
        wb_pool_wait(seen);
        if (wb_pool.stop) break;
        seen = wb_pool.loops;
        int joins = wb_pool.open && worker < wb_pool.helpers;
        if (joins) __atomic_fetch_add(&wb_pool.running, 1, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&wb_pool.lock);
        if (!joins) continue;
        wb_pool_work(worker + 1);
        pthread_mutex_lock(&wb_pool.lock);
        if (__atomic_sub_fetch(&wb_pool.running, 1, __ATOMIC_RELEASE) == 0) pthread_cond_signal(&wb_pool.idle);
        pthread_mutex_unlock(&wb_pool.lock);
    }
    pthread_mutex_unlock(&wb_pool.lock);
    return NULL;
}

/* A forked child has none of the workers, and may have copied locks that nobody will open. */
static void wb_pool_forget(void) {
    static const pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static const pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    wb_pool.region = wb_pool.lock = mutex;
    wb_pool.wake = wb_pool.idle = condition;
    wb_pool.workers = wb_pool.open = wb_pool.running = 0;
    wb_pool_inside = wb_pool_thread = 0;
}

/* Have `wanted` workers if the system gives them; the lock is held. */
static void wb_pool_grow(int wanted) {
    static int once;
    if (wanted <= wb_pool.workers) return;
    if (!once++) pthread_atfork(NULL, NULL, wb_pool_forget);
    while (wb_pool.workers < wanted && wb_pool.workers < WB_POOL_LIMIT) {
        void *number = (void *)(intptr_t)wb_pool.workers;
        if (pthread_create(&wb_pool.handles[wb_pool.workers], NULL, wb_pool_worker, number)) break;
        ++wb_pool.workers;
    }
}

/* Run a loop on the pool; when another loop has it, on this thread alone. */
static void wb_pool_run(int64_t begin, int64_t end, int threads, wb_pool_task task, const void *context) {
    if (pthread_mutex_trylock(&wb_pool.region)) {
        task(context, begin, end, 0);
        return;
    }
    int64_t pieces = (int64_t)threads * WB_POOL_CHUNKS_A_THREAD, count = end - begin;
    pthread_mutex_lock(&wb_pool.lock);
    wb_pool_grow(threads - 1);
    wb_pool.helpers = threads - 1;
    wb_pool.next = begin;
    wb_pool.end = end;
    wb_pool.chunk = count < pieces ? 1 : (count + pieces - 1) / pieces;
    wb_pool.task = task;
    wb_pool.context = context;
    wb_pool.open = 1;
    __atomic_fetch_add(&wb_pool.loops, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&wb_pool.wake);
    pthread_mutex_unlock(&wb_pool.lock);

    wb_pool_work(0);

    pthread_mutex_lock(&wb_pool.lock);
    wb_pool.open = 0;
    pthread_mutex_unlock(&wb_pool.lock);
    for (int spin = 0; spin < WB_POOL_SPINS && __atomic_load_n(&wb_pool.running, __ATOMIC_ACQUIRE); ++spin) wb_pool_pause();
    pthread_mutex_lock(&wb_pool.lock);
    while (wb_pool.running) pthread_cond_wait(&wb_pool.idle, &wb_pool.lock);
    pthread_mutex_unlock(&wb_pool.lock);
    pthread_mutex_unlock(&wb_pool.region);
}

/* When the library goes, its threads must not run on in it. */
__attribute__((destructor)) static void wb_pool_end(void) {
    pthread_mutex_lock(&wb_pool.lock);
    wb_pool.stop = 1;
    pthread_cond_broadcast(&wb_pool.wake);
    pthread_mutex_unlock(&wb_pool.lock);
    for (int worker = 0; worker < wb_pool.workers; ++worker) pthread_join(wb_pool.handles[worker], NULL);
}

/* Kernels of one process share the pool of the first; a host with threads of its own lends them the same way. */
static wb_pool_host wb_pool_current = wb_pool_run;

__attribute__((visibility("default"), unused)) void *wb_pool_lend(void) {
    return (void *)wb_pool_run;
}

__attribute__((visibility("default"), unused)) void wb_pool_borrow(void *host) {
    wb_pool_current = (wb_pool_host)host;
}

typedef struct {
    wb_body body;
    const void *context;
} wb_pool_call;

static void wb_pool_enter(const void *call, int64_t begin, int64_t end, int thread) {
    const wb_pool_call *loop = call;
    wb_pool_inside = 1;
    wb_pool_thread = thread;
    loop->body(loop->context, begin, end);
    wb_pool_inside = wb_pool_thread = 0;
}

/* Execute `body` on all of begin..end, in pieces, on up to `threads` threads; a loop inside a loop runs serially. */
static void wb_parallel_for(int64_t begin, int64_t end, int threads, wb_body body, const void *context) {
    wb_pool_call call = {body, context};
    if (end <= begin) return;
    if (threads > end - begin) threads = (int)(end - begin);
    if (threads > 1 && !wb_pool_inside) wb_pool_current(begin, end, threads, wb_pool_enter, &call);
    else body(context, begin, end);
}
