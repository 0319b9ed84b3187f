/* convolution: N = 1, C = 3, H = 9, W = 21, F = 5, KH = 3, KW = 2 */
/* schedule: naive */

#include <math.h>
#include <stdint.h>

int64_t convolution_workspace(int threads)
{
    (void)threads;
    return 0;
}

int convolution(const float *restrict I_, const float *restrict K, float *restrict O, void *workspace, int threads)
{
    (void)workspace;
    (void)threads;
    for (int64_t f = 0; f < 5; f++) {
        for (int64_t h = 0; h < 7; h++) {
            for (int64_t w = 0; w < 20; w++) {
                /* O.init: O(n, f, h, w) = 0.0 */
                O[f*140 + h*20 + w] = 0.0f;
                {
                    float O_r;
                    O_r = O[f*140 + h*20 + w];
                    for (int64_t c = 0; c < 3; c++) {
                        WB_UNROLL_TAPS for (int64_t kh = 0; kh < 3; kh++) {
                            WB_UNROLL_TAPS for (int64_t kw = 0; kw < 2; kw++) {
                                /* O: O(n, f, h, w) += I(n, c, h + kh, w + kw) * K(f, c, kh, kw) */
                                O_r += I_[c*189 + (h + kh)*21 + w + kw] * K[f*18 + c*6 + kh*2 + kw];
                            }
                        }
                    }
                    O[f*140 + h*20 + w] = O_r;
                }
            }
        }
    }
    return 0;
}
