/* lookup: E = 7, D = 19, B = 3, L = 4 */
/* schedule: naive | tile({'O/d': 64}) | distribute('O', loop='d_i') | reorder('O/l', 'O/d_i') | vectorize('O.init/d_i') | vectorize('O/d_i') */

#include <math.h>
#include <stdint.h>

int64_t lookup_workspace(int threads)
{
    (void)threads;
    return 0;
}

int lookup(const float *restrict T, const int32_t *restrict I_, float *restrict O, void *workspace, int threads)
{
    int wb_failed = 0;
    if ((wb_failed = lookup_check(T, I_, O, workspace, threads)) != 0) return wb_failed;
    (void)workspace;
    (void)threads;
    for (int64_t b = 0; b < 3; b++) {
        wb_v8f32 O_r[3];
        WB_UNROLL for (int64_t d_i = 0; d_i < 24; d_i += 8) {
            /* O.init: O(b, d) = 0.0 */
            O_r[d_i / 8] = wb_all_v8f32(0.0f);
        }
        WB_UNROLL_TAPS for (int64_t l = 0; l < 4; l++) {
            WB_UNROLL for (int64_t d_i = 0; d_i < 24; d_i += 8) {
                /* O: O(b, d) += T(I(b, l), d) */
                O_r[d_i / 8] += wb_v8f32_first(&T[I_[b*4 + l]*19 + d_i], 19 - d_i);
            }
        }
        WB_UNROLL for (int64_t d_i = 0; d_i < 24; d_i += 8) {
            wb_v8f32_put_first(&O[b*19 + d_i], O_r[d_i / 8], 19 - d_i);
        }
    }
    return wb_failed;
}
