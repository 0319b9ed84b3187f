/* How long a word takes from one thread to another and back: some 50 ns within a cache that both share, 300 without. */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { BLOCKS = 40, TRIPS = 100, PATIENCE = 300000000 };

static struct {
    int word;
    char rest[124];
} shared __attribute__((aligned(128)));

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int awaited(int value) {
    for (int n = 0; n < PATIENCE; ++n) {
        if (__atomic_load_n(&shared.word, __ATOMIC_ACQUIRE) == value) return 1;
    }
    return 0;
}

static int stay(int processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    return sched_setaffinity(0, sizeof one, &one);
}

static void *answer(void *processor) {
    if (stay(*(int *)processor)) return 0;
    for (int n = 0; n < BLOCKS * TRIPS && awaited(2 * n + 1); ++n) __atomic_store_n(&shared.word, 2 * n + 2, __ATOMIC_RELEASE);
    return 0;
}

/* Seconds of a round trip, the least mean of a block of them; 0 where it cannot be told. */
double handoff(int first, int second) {
    cpu_set_t before;
    pthread_t thread;
    double least = 0;
    if (sched_getaffinity(0, sizeof before, &before) || stay(first)) return 0;
    shared.word = 0;
    if (!pthread_create(&thread, 0, answer, &second)) {
        int going = 1;
        for (int block = 0; block < BLOCKS && going; ++block) {
            double begin = now();
            for (int n = block * TRIPS; n < (block + 1) * TRIPS && going; ++n) {
                __atomic_store_n(&shared.word, 2 * n + 1, __ATOMIC_RELEASE);
                going = awaited(2 * n + 2);
            }
            double took = (now() - begin) / TRIPS;
            if (going && (!least || took < least)) least = took;
        }
        if (!going) __atomic_store_n(&shared.word, -1, __ATOMIC_RELEASE);
        pthread_join(thread, 0);
    }
    sched_setaffinity(0, sizeof before, &before);
    return least;
}
