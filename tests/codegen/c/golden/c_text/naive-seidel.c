/* seidel: N = 9 */
/* schedule: naive */

#include <math.h>
#include <stdint.h>

int64_t seidel_workspace(int threads)
{
    (void)threads;
    return 0;
}

int seidel(const float *restrict A0, float *restrict A, void *workspace, int threads)
{
    (void)workspace;
    (void)threads;
    for (int64_t i = 0; i < 9; i++) {
        for (int64_t j = 0; j < 9; j++) {
            /* A: A(i, j) = A0(i, j) */
            A[i*9 + j] = A0[i*9 + j];
        }
    }
    for (int64_t t = 0; t < 4; t++) {
        for (int64_t i = 1; i < 8; i++) {
            for (int64_t j = 1; j < 8; j++) {
                /* A.1: A(i, j) = 0.25 * (A(i - 1, j) + A(i, j - 1) + A(i + 1, j) + A(i, j + 1)) where i in 1:N - 1, j in 1:N - 1 */
                A[i*9 + j] = 0.25f * (A[(i - 1)*9 + j] + A[i*9 + j - 1] + A[(i + 1)*9 + j] + A[i*9 + j + 1]);
            }
        }
    }
    return 0;
}
