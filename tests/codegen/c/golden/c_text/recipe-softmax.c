/* softmax: M = 5, N = 41 */
/* schedule: naive | vectorize('top/n') | vectorize('Y/n') | vectorize('total/n') | vectorize('Y.1/n') */

#include <math.h>
#include <stdint.h>

int64_t softmax_workspace(int threads)
{
    (void)threads;
    return 128;
}

int softmax(const float *restrict X, float *restrict Y, void *workspace, int threads)
{
    float *restrict top = (float *)((char *)workspace + 0);
    float *restrict total = (float *)((char *)workspace + 64);
    (void)threads;
    for (int64_t m = 0; m < 5; m++) {
        /* top.init: top(m) = -inf */
        top[m] = -INFINITY;
        {
            wb_v8f32 top_r[4];
            WB_UNROLL for (int64_t n_u = 0; n_u < 4; n_u++) {
                top_r[n_u] = wb_all_v8f32(-INFINITY);
            }
            for (int64_t n = 0; n < 32; n += 32) {
                WB_UNROLL for (int64_t n_u = 0; n_u < 4; n_u++) {
                    /* top: top(m) max= X(m, n) */
                    top_r[n_u] = wb_max_v8f32(top_r[n_u], *(const wb_v8f32_u *)&X[m*41 + n + 8 * n_u]);
                }
            }
            top[m] = wb_max_f32(top[m], wb_v8f32_max(wb_max_v8f32(wb_max_v8f32(top_r[0], top_r[1]), wb_max_v8f32(top_r[2], top_r[3]))));
        }
        {
            wb_v8f32 top_r2;
            top_r2 = wb_all_v8f32(-INFINITY);
            for (int64_t n = 32; n < 40; n += 8) {
                top_r2 = wb_max_v8f32(top_r2, *(const wb_v8f32_u *)&X[m*41 + n]);
            }
            top[m] = wb_max_f32(top[m], wb_v8f32_max(top_r2));
        }
        {
            float top_r3;
            top_r3 = top[m];
            for (int64_t n = 40; n < 41; n++) {
                top_r3 = wb_max_f32(top_r3, X[m*41 + n]);
            }
            top[m] = top_r3;
        }
    }
    for (int64_t m = 0; m < 5; m++) {
        {
            const float top_v = top[m];
            for (int64_t n = 0; n < 40; n += 8) {
                /* Y: Y(m, n) = exp(X(m, n) - top(m)) */
                *(wb_v8f32_u *)&Y[m*41 + n] = wb_exp_v8f32((*(const wb_v8f32_u *)&X[m*41 + n] - wb_all_v8f32(top_v)));
            }
        }
        {
            const float top_v2 = top[m];
            for (int64_t n = 40; n < 41; n += 8) {
                wb_v8f32_put_first(&Y[m*41 + n], wb_exp_v8f32((wb_v8f32_first(&X[m*41 + n], 41 - n) - wb_all_v8f32(top_v2))), 41 - n);
            }
        }
    }
    for (int64_t m = 0; m < 5; m++) {
        /* total.init: total(m) = 0.0 */
        total[m] = 0.0f;
        {
            wb_v8f32 total_r[4];
            WB_UNROLL for (int64_t n_u2 = 0; n_u2 < 4; n_u2++) {
                total_r[n_u2] = wb_all_v8f32(0.0f);
            }
            for (int64_t n = 0; n < 32; n += 32) {
                WB_UNROLL for (int64_t n_u2 = 0; n_u2 < 4; n_u2++) {
                    /* total: total(m) += Y(m, n) */
                    total_r[n_u2] += *(const wb_v8f32_u *)&Y[m*41 + n + 8 * n_u2];
                }
            }
            total[m] += wb_v8f32_sum(((total_r[0] + total_r[1]) + (total_r[2] + total_r[3])));
        }
        {
            wb_v8f32 total_r2;
            total_r2 = wb_all_v8f32(0.0f);
            for (int64_t n = 32; n < 40; n += 8) {
                total_r2 += *(const wb_v8f32_u *)&Y[m*41 + n];
            }
            total[m] += wb_v8f32_sum(total_r2);
        }
        {
            float total_r3;
            total_r3 = total[m];
            for (int64_t n = 40; n < 41; n++) {
                total_r3 += Y[m*41 + n];
            }
            total[m] = total_r3;
        }
    }
    for (int64_t m = 0; m < 5; m++) {
        {
            const float total_v = total[m];
            for (int64_t n = 0; n < 40; n += 8) {
                /* Y.1: Y(m, n) = Y(m, n) / total(m) */
                *(wb_v8f32_u *)&Y[m*41 + n] = (*(const wb_v8f32_u *)&Y[m*41 + n] / wb_all_v8f32(total_v));
            }
        }
        {
            const float total_v2 = total[m];
            for (int64_t n = 40; n < 41; n += 8) {
                wb_v8f32_put_first(&Y[m*41 + n], (wb_v8f32_first(&Y[m*41 + n], 41 - n) / wb_all_v8f32(total_v2)), 41 - n);
            }
        }
    }
    return 0;
}
