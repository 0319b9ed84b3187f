/* Blocks of a CUDA kernel on a processor: the threads of a block are fibers of one thread of the operating system.

   A fiber runs until it waits for others or ends.  When none can run, whoever waits for the same thing together goes
   on; if that is nobody, the threads are at different barriers, which is reported and ends the launch.  No header of the
   C++ library is used, so that any compiler for C++ will do. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define WB_CPU_UNSEEN __attribute__((no_sanitize("thread", "bounds"), disable_sanitizer_instrumentation))
#else
#define WB_CPU_UNSEEN __attribute__((no_sanitize("thread", "bounds")))
#endif
#define WB_CPU static inline __attribute__((unused)) WB_CPU_UNSEEN
#define WB_CPU_SLOW static __attribute__((noinline, unused)) WB_CPU_UNSEEN
#define WB_CPU_EXPORT extern "C" __attribute__((visibility("default"))) WB_CPU_UNSEEN

extern "C" {
void *mmap(void *, size_t, int, int, int, long);
int munmap(void *, size_t);
int mprotect(void *, size_t, int);
void *malloc(size_t);
void *realloc(void *, size_t);
void *calloc(size_t, size_t);
void free(void *);
void wb_cpu_switch(void **leave, void *enter);
void wb_cpu_begin(void);
}

struct dim3 {
    unsigned x, y, z;
    constexpr WB_CPU_UNSEEN dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct uint3 {
    unsigned x, y, z;
};

namespace wb_cpu {

/* A thread may have arrays of 512 KiB (cuda_printer.py); a page of a stack that nobody touches takes no memory. */
enum Limits { STACK_BYTES = 1280 << 10, WARP = 32, MOST_FINDINGS = 64, CALLS = 8 };
struct Cell;
struct Crew;
struct Own;

enum State { FRESH, READY, AT_BLOCK, AT_WARP, DONE };
enum Order { FORWARD, REVERSE, RANDOM };
enum Kind { DIVERGENT = 1, OUTSIDE, UNINITIALISED, RACE, UNFINISHED_COPY };

/* What was found: the access `a` that was noticed, the earlier one `b`.  A site is a line if it is small, else an
   address of code; `what` tells reads (0), writes (1), atomic updates (2), copies (3).  Known to records.py. */
struct Finding {
    int32_t kind, what_a, what_b, region;
    int64_t site_a, site_b, block_a, block_b, thread_a, thread_b, offset, bytes;
};

/* Memory that a kernel may touch: [low, high) in cells of `grain` bytes. */
struct Region {
    uint64_t low, high;
    int64_t grain;
    Cell *cells;
    int32_t shared, writable;
};

/* An element of an array that the code at `site` touched. */
struct Logged {
    int64_t site, region, element;
};

/* How many elements of an array the code at `site` wrote; `array` is its region, or tells the line that declares it. */
struct Written {
    int64_t site, array, elements;
};

/* One launch, shared by all workers that execute its blocks.  Known to records.py. */
struct Launch {
    void (*kernel)(void **);
    void **arguments;
    uint32_t grid[3], block[3];
    int64_t shared_bytes, next_block;
    uint64_t seed;
    int32_t order, stopped, found, regions;
    int64_t serial;
    Region *region;
    Logged *log;
    int64_t log_count, log_room;
    Written *written;
    int64_t written_count, written_room;
    Finding findings[MOST_FINDINGS];
};

struct Copy {
    void *to;
    const void *from;
    unsigned bytes, zeros;
    int64_t group, site;
};

struct Thread {
    uint3 index;
    unsigned linear;
    State state;
    unsigned mask;
    int64_t site;
    void *stack_pointer;
    char *stack;
    Crew *crew;
    int predicate;
    unsigned collectives;
    uint64_t slot[2][2];
    Copy *copies;
    int64_t copy_count, copy_room, group;
    unsigned joined[WARP];
    int64_t calls[CALLS];
    int depth, fence;
    Own *owns;
};

/* The threads of the block that one worker executes. */
struct Crew {
    Launch *launch;
    uint3 block_index;
    dim3 grid, block;
    int64_t block_number, phase;
    unsigned time;
    unsigned count, live;
    Thread *threads;
    unsigned *order;
    void *scheduler;
    char *stacks, **idle;
    unsigned idle_count;
    unsigned char *shared;
    int votes_all, votes_any, votes_count;
    uint64_t random;
};

static thread_local Thread *here;

WB_CPU uint64_t random_number(Crew &crew) {
    crew.random ^= crew.random << 13;
    crew.random ^= crew.random >> 7;
    return crew.random ^= crew.random << 17;
}

WB_CPU void leave(State state) {
    Thread *thread = here;
    thread->state = state;
    wb_cpu_switch(&thread->stack_pointer, thread->crew->scheduler);
}

/* Findings are told apart by their places; the launch goes on unless `last`. */
WB_CPU_SLOW void report(Launch &launch, const Finding &finding, bool last) {
    int n = 0;
    int known = launch.found < MOST_FINDINGS ? launch.found : (int)MOST_FINDINGS;
    while (n < known && !(launch.findings[n].kind == finding.kind && launch.findings[n].site_a == finding.site_a
                          && launch.findings[n].site_b == finding.site_b))
        ++n;
    if (n == known) {
        int place = __atomic_fetch_add(&launch.found, 1, __ATOMIC_RELAXED);
        if (place < MOST_FINDINGS) launch.findings[place] = finding;
    }
    if (last) __atomic_store_n(&launch.stopped, 1, __ATOMIC_RELAXED);
}

/* The thread gives up the launch and is never resumed. */
WB_CPU void give_up() {
    here->crew->launch->stopped = 1;
    leave(DONE);
}

WB_CPU void wait(State state, int64_t site, unsigned mask) {
    here->site = here->depth >= 2 ? here->calls[1] : site;
    here->mask = mask;
    leave(state);
}

WB_CPU_SLOW void barrier(int64_t line) { wait(AT_BLOCK, line, 0); }

WB_CPU_SLOW int vote(int64_t line, int predicate, int which) {
    here->predicate = predicate != 0;
    wait(AT_BLOCK, line, 0);
    Crew &crew = *here->crew;
    return which == 0 ? crew.votes_all : which == 1 ? crew.votes_any : crew.votes_count;
}

WB_CPU void grow(Thread &thread) {
    thread.copy_room = thread.copy_room ? 2 * thread.copy_room : 16;
    thread.copies = (Copy *)realloc(thread.copies, thread.copy_room * sizeof(Copy));
}

/* -- scheduling ---------------------------------------------------------------------------------------------------- */

WB_CPU_SLOW void shuffle_order(Crew &crew, Order order) {
    for (unsigned n = 0; n < crew.count; ++n) crew.order[n] = order == REVERSE ? crew.count - 1 - n : n;
    if (order != RANDOM) return;
    for (unsigned n = crew.count; n > 1; --n) {
        unsigned other = (unsigned)(random_number(crew) % n), kept_number = crew.order[n - 1];
        crew.order[n - 1] = crew.order[other];
        crew.order[other] = kept_number;
    }
}

WB_CPU void resume(Crew &crew, Thread &thread) {
    if (thread.state == FRESH) {
        thread.stack = crew.idle[--crew.idle_count];
        void **top = (void **)(thread.stack + STACK_BYTES);
#if defined(__x86_64__)
        top -= 8;
        for (int n = 0; n < 6; ++n) top[n] = 0;
        top[6] = (void *)wb_cpu_begin;
        top[7] = 0;
#elif defined(__aarch64__)
        top -= 20;
        for (int n = 0; n < 20; ++n) top[n] = 0;
        top[11] = (void *)wb_cpu_begin;
#endif
        thread.stack_pointer = top;
    }
    here = &thread;
    wb_cpu_switch(&crew.scheduler, thread.stack_pointer);
    here = 0;
    if (thread.state == DONE) {
        crew.idle[crew.idle_count++] = thread.stack;
        crew.live--;
    }
}

WB_CPU bool together(const Thread &a, const Thread &b) {
    return a.state == b.state && a.site == b.site && a.mask == b.mask;
}

WB_CPU_SLOW void release_block(Crew &crew) {
    crew.votes_count = 0;
    for (unsigned n = 0; n < crew.count; ++n) crew.votes_count += crew.threads[n].predicate;
    crew.votes_all = crew.votes_count == (int)crew.count;
    crew.votes_any = crew.votes_count > 0;
    for (unsigned n = 0; n < crew.count; ++n) {
        crew.threads[n].state = READY;
        crew.threads[n].predicate = 0;
    }
    crew.phase++;
}

/* The first thread that one waits for and that is not with it; its own number if it waits for nobody else. */
WB_CPU_SLOW unsigned missed(Crew &crew, unsigned waiting) {
    Thread &thread = crew.threads[waiting];
    unsigned first = thread.state == AT_WARP ? waiting / WARP * WARP : 0;
    unsigned end = thread.state == AT_WARP && first + WARP < crew.count ? first + WARP : crew.count;
    for (unsigned n = first; n < end; ++n) {
        bool counts = thread.state == AT_BLOCK || (thread.mask >> (n - first) & 1);
        if (counts && !together(thread, crew.threads[n])) return n;
    }
    return waiting;
}

/* What lanes of a warp did before __syncwarp comes before what the others do after it. */
WB_CPU_SLOW void join(Crew &crew, unsigned first, unsigned mask) {
    crew.time++;
    for (unsigned a = 0; a < WARP && first + a < crew.count; ++a)
        for (unsigned b = 0; b < WARP; ++b)
            if (mask >> a & mask >> b & 1) crew.threads[first + a].joined[b] = crew.time;
}

/* Lets go on who waits together; false if that is nobody. */
WB_CPU_SLOW bool release(Crew &crew) {
    bool some = false;
    unsigned waiting = 0;
    for (unsigned n = 0; n < crew.count; ++n) waiting += crew.threads[n].state == AT_BLOCK;
    if (waiting == crew.count && missed(crew, 0) == 0) {
        release_block(crew);
        return true;
    }
    for (unsigned n = 0; n < crew.count; ++n) {
        Thread &thread = crew.threads[n];
        if (thread.state == READY) some = true;
        if (thread.state != AT_WARP || missed(crew, n) != n) continue;
        unsigned first = n / WARP * WARP, mask = thread.mask;
        for (unsigned lane = 0; lane < WARP && first + lane < crew.count; ++lane) {
            if (!(mask >> lane & 1)) continue;
            crew.threads[first + lane].state = READY;
        }
        if (thread.fence) join(crew, first, mask);
        some = true;
    }
    return some;
}

WB_CPU_SLOW void report_divergence(Crew &crew) {
    for (unsigned n = 0; n < crew.count; ++n) {
        Thread &thread = crew.threads[n];
        if (thread.state != AT_BLOCK && thread.state != AT_WARP) continue;
        unsigned other = missed(crew, n);
        if (other == n) continue;
        int64_t site = crew.threads[other].state == DONE ? 0 : crew.threads[other].site;
        Finding found = {DIVERGENT, 0, 0, -1, thread.site, site, crew.block_number, crew.block_number, n, other, 0, 0};
        report(*crew.launch, found, true);
        return;
    }
}

WB_CPU_SLOW void run_block(Crew &crew, int64_t number) {
    Launch &launch = *crew.launch;
    crew.block_number = number;
    crew.block_index.x = (unsigned)(number % launch.grid[0]);
    crew.block_index.y = (unsigned)(number / launch.grid[0] % launch.grid[1]);
    crew.block_index.z = (unsigned)(number / launch.grid[0] / launch.grid[1]);
    crew.live = crew.count;
    crew.phase++;
    for (unsigned n = 0; n < crew.count; ++n) {
        Thread &thread = crew.threads[n];
        thread.state = FRESH;
        thread.predicate = thread.depth = 0;
        thread.copy_count = thread.group = 0;
        thread.owns = 0;
    }
    shuffle_order(crew, (Order)launch.order);
    for (;;) {
        for (unsigned n = 0; n < crew.count; ++n) {
            Thread &thread = crew.threads[crew.order[n]];
            if (thread.state <= READY) resume(crew, thread);
            if (launch.stopped) return;
        }
        if (!crew.live) return;
        if (!release(crew)) return report_divergence(crew);
        if (launch.order == RANDOM) shuffle_order(crew, RANDOM);
    }
}

}  // namespace wb_cpu
