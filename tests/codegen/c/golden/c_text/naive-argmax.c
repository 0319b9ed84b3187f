/* row_argmax: M = 4, N = 35 */
/* schedule: naive */

#include <math.h>
#include <stdint.h>

int64_t row_argmax_workspace(int threads)
{
    (void)threads;
    return 0;
}

int row_argmax(const float *restrict A, float *restrict V, int32_t *restrict I_, void *workspace, int threads)
{
    (void)workspace;
    (void)threads;
    for (int64_t m = 0; m < 4; m++) {
        /* V.init: (V(m), I(m)) = (-inf, 2147483647) */
        V[m] = -INFINITY;
        I_[m] = 2147483647;
        {
            float V_r;
            int32_t I_r;
            V_r = V[m];
            I_r = I_[m];
            for (int64_t n = 0; n < 35; n++) {
                /* V: (V(m), I(m)) best= (A(m, n), n) */
                {
                    const float wb_a_v = V_r;
                    const int32_t wb_a_i = I_r;
                    const float wb_b_w = A[m*35 + n];
                    const int32_t wb_b_j = (int32_t)n;
                    V_r = wb_a_v > wb_b_w || (wb_a_v == wb_b_w && wb_a_i < wb_b_j) ? wb_a_v : wb_b_w;
                    I_r = wb_a_v > wb_b_w || (wb_a_v == wb_b_w && wb_a_i < wb_b_j) ? wb_a_i : wb_b_j;
                }
            }
            V[m] = V_r;
            I_[m] = I_r;
        }
    }
    return 0;
}
