/* transpose: M = 17, N = 21 */
/* schedule: naive */

#include <math.h>
#include <stdint.h>

int64_t transpose_workspace(int threads)
{
    (void)threads;
    return 0;
}

int transpose(const float *restrict A, float *restrict B, void *workspace, int threads)
{
    (void)workspace;
    (void)threads;
    for (int64_t n = 0; n < 21; n++) {
        for (int64_t m = 0; m < 17; m++) {
            /* B: B(n, m) = A(m, n) */
            B[n*17 + m] = A[m*21 + n];
        }
    }
    return 0;
}
