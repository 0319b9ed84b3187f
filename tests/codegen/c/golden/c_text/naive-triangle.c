/* triangle: M = 13, N = 18 */
/* schedule: naive */

#include <math.h>
#include <stdint.h>

int64_t triangle_workspace(int threads)
{
    (void)threads;
    return 0;
}

int triangle(const float *restrict A, const float *restrict B, float *restrict C, void *workspace, int threads)
{
    (void)workspace;
    (void)threads;
    for (int64_t i = 0; i < 13; i++) {
        for (int64_t j = 0; j < 18; j++) {
            /* C.init: C(i, j) = 0.0 */
            C[i*18 + j] = 0.0f;
            {
                float C_r;
                C_r = C[i*18 + j];
                for (int64_t k = i + 1; k < 13; k++) {
                    /* C: C(i, j) += A(k, i) * B(k, j) where k in i + 1:M */
                    C_r += A[k*13 + i] * B[k*18 + j];
                }
                C[i*18 + j] = C_r;
            }
        }
    }
    return 0;
}
