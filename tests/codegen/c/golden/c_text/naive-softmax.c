/* softmax: M = 5, N = 41 */
/* schedule: naive */

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
            float top_r;
            top_r = top[m];
            for (int64_t n = 0; n < 41; n++) {
                /* top: top(m) max= X(m, n) */
                top_r = wb_max_f32(top_r, X[m*41 + n]);
            }
            top[m] = top_r;
        }
    }
    for (int64_t m = 0; m < 5; m++) {
        const float top_v = top[m];
        for (int64_t n = 0; n < 41; n++) {
            /* Y: Y(m, n) = exp(X(m, n) - top(m)) */
            Y[m*41 + n] = wb_exp_f32(X[m*41 + n] - top_v);
        }
    }
    for (int64_t m = 0; m < 5; m++) {
        /* total.init: total(m) = 0.0 */
        total[m] = 0.0f;
        {
            float total_r;
            total_r = total[m];
            for (int64_t n = 0; n < 41; n++) {
                /* total: total(m) += Y(m, n) */
                total_r += Y[m*41 + n];
            }
            total[m] = total_r;
        }
    }
    for (int64_t m = 0; m < 5; m++) {
        const float total_v = total[m];
        for (int64_t n = 0; n < 41; n++) {
            /* Y.1: Y(m, n) = Y(m, n) / total(m) */
            Y[m*41 + n] = Y[m*41 + n] / total_v;
        }
    }
    return 0;
}
