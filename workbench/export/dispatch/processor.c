/* What the processor that runs this has; an operating system that does not save wide registers counts as without. */

#define _GNU_SOURCE

#include "dispatch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#endif

int wb_processors(void)
{
#ifdef __linux__
    cpu_set_t usable;
    if (!sched_getaffinity(0, sizeof usable, &usable)) return CPU_COUNT(&usable);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int wb_level_at_most(int highest, const wb_level *levels, int count)
{
    const char *wanted = getenv("WORKBENCH_ISA");
    for (int n = highest; wanted && n >= 0 && n < count; ++n)
        if (!strcmp(levels[n].name, wanted)) return n;
    return highest;
}

#if defined(__x86_64__)
#include <cpuid.h>

static unsigned wb_leaf(unsigned leaf, int reg)
{
    unsigned r[4] = {0};
    if (!__get_cpuid_count(leaf, 0, &r[0], &r[1], &r[2], &r[3])) return 0;
    return r[reg];
}

static unsigned wb_saved(void)
{
    unsigned low, high;
    if (!(wb_leaf(1, 2) & 1u << 27)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* x86-64-v3: AVX2, FMA, F16C, BMI1, BMI2, LZCNT, MOVBE. */
int wb_cpu_has_avx2(void)
{
    const unsigned one = 1u << 12 | 1u << 22 | 1u << 28 | 1u << 29, seven = 1u << 3 | 1u << 5 | 1u << 8;
    return (wb_saved() & 6) == 6 && (wb_leaf(1, 2) & one) == one && (wb_leaf(7, 1) & seven) == seven
        && (wb_leaf(0x80000001u, 2) & 1u << 5);
}

/* x86-64-v4: AVX-512 F, DQ, CD, BW, VL. */
int wb_cpu_has_avx512(void)
{
    const unsigned seven = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    return wb_cpu_has_avx2() && (wb_saved() & 0xe6) == 0xe6 && (wb_leaf(7, 1) & seven) == seven;
}
#else
int wb_cpu_has_avx2(void)
{
    return 0;
}

int wb_cpu_has_avx512(void)
{
    return 0;
}
#endif

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#include <sys/prctl.h>

int wb_cpu_sve_bits(void)
{
    if (!(getauxval(AT_HWCAP) & 1ul << 22)) return 0;
    int bytes = prctl(51 /* PR_SVE_GET_VL */);
    return bytes < 0 ? 0 : 8 * (bytes & 0xffff);
}
#else
int wb_cpu_sve_bits(void)
{
    return 0;
}
#endif
