/* matmul: M = 19, K = 11, N = 37 */
/* schedule: naive */

#include <math.h>
#include <stdint.h>

int64_t matmul_workspace(int threads)
{
    (void)threads;
    return 0;
}

int matmul(const float *restrict A, const float *restrict B, float *restrict C, void *workspace, int threads)
{
    (void)workspace;
    (void)threads;
    for (int64_t m = 0; m < 19; m++) {
        for (int64_t n = 0; n < 37; n++) {
            /* C.init: C(m, n) = 0.0 */
            C[m*37 + n] = 0.0f;
            {
                float C_r;
                C_r = C[m*37 + n];
                for (int64_t k = 0; k < 11; k++) {
                    /* C: C(m, n) += A(m, k) * B(k, n) */
                    C_r += A[m*11 + k] * B[k*37 + n];
                }
                C[m*37 + n] = C_r;
            }
        }
    }
    return 0;
}
