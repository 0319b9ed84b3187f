/* row_argmax: M = 4, N = 35 */
/* schedule: naive | vectorize('V/n') */

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
            wb_v8f32 V_r[4];
            wb_v8i32 I_r[4];
            WB_UNROLL for (int64_t n_u = 0; n_u < 4; n_u++) {
                V_r[n_u] = wb_all_v8f32(-INFINITY);
                I_r[n_u] = wb_all_v8i32(2147483647);
            }
            for (int64_t n = 0; n < 32; n += 32) {
                WB_UNROLL for (int64_t n_u = 0; n_u < 4; n_u++) {
                    /* V: (V(m), I(m)) best= (A(m, n), n) */
                    {
                        const wb_v8f32 wb_a_v = V_r[n_u];
                        const wb_v8i32 wb_a_i = I_r[n_u];
                        const wb_v8f32 wb_b_w = *(const wb_v8f32_u *)&A[m*35 + n + 8 * n_u];
                        const wb_v8i32 wb_b_j = (wb_all_v8i32((int32_t)(n + 8 * n_u)) + wb_v8i32_iota());
                        V_r[n_u] = wb_select_v8f32(((wb_a_v > wb_b_w) | ((wb_a_v == wb_b_w) & (wb_a_i < wb_b_j))), wb_a_v, wb_b_w);
                        I_r[n_u] = wb_select_v8i32(((wb_a_v > wb_b_w) | ((wb_a_v == wb_b_w) & (wb_a_i < wb_b_j))), wb_a_i, wb_b_j);
                    }
                }
            }
            WB_UNROLL for (int64_t n_u = 0; n_u < 4; n_u++) {
                for (int wb_l = 0; wb_l < 8; wb_l++) {
                    const float wb_a_v = V[m];
                    const int32_t wb_a_i = I_[m];
                    const float wb_b_w = V_r[n_u][wb_l];
                    const int32_t wb_b_j = I_r[n_u][wb_l];
                    V[m] = wb_a_v > wb_b_w || (wb_a_v == wb_b_w && wb_a_i < wb_b_j) ? wb_a_v : wb_b_w;
                    I_[m] = wb_a_v > wb_b_w || (wb_a_v == wb_b_w && wb_a_i < wb_b_j) ? wb_a_i : wb_b_j;
                }
            }
        }
        {
            float V_r2;
            int32_t I_r2;
            V_r2 = V[m];
            I_r2 = I_[m];
            for (int64_t n = 32; n < 35; n++) {
                const float wb_a_v = V_r2;
                const int32_t wb_a_i = I_r2;
                const float wb_b_w = A[m*35 + n];
                const int32_t wb_b_j = (int32_t)n;
                V_r2 = wb_a_v > wb_b_w || (wb_a_v == wb_b_w && wb_a_i < wb_b_j) ? wb_a_v : wb_b_w;
                I_r2 = wb_a_v > wb_b_w || (wb_a_v == wb_b_w && wb_a_i < wb_b_j) ? wb_a_i : wb_b_j;
            }
            V[m] = V_r2;
            I_[m] = I_r2;
        }
    }
    return 0;
}
