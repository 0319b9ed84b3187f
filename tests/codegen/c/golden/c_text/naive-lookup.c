/* lookup: E = 7, D = 19, B = 3, L = 4 */
/* schedule: naive */

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
        for (int64_t d = 0; d < 19; d++) {
            /* O.init: O(b, d) = 0.0 */
            O[b*19 + d] = 0.0f;
            {
                float O_r;
                O_r = O[b*19 + d];
                WB_UNROLL_TAPS for (int64_t l = 0; l < 4; l++) {
                    /* O: O(b, d) += T(I(b, l), d) */
                    O_r += T[I_[b*4 + l]*19 + d];
                }
                O[b*19 + d] = O_r;
            }
        }
    }
    return wb_failed;
}
