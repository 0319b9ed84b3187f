/* convolution: N = 1, C = 3, H = 9, W = 21, F = 5, KH = 3, KW = 2 */
/* schedule: naive | tile({'O/f': 5, 'O/w': 16}) | reorder('O/n', 'O/h', 'O/w_o', 'O/f_o', 'O/f_i', 'O/w_i') | distribute('O', loop='f_i') | reorder('O/c', 'O/kh', 'O/kw', 'O/f_i', 'O/w_i') | unroll('O.init/f_i') | vectorize('O.init/w_i') | unroll('O/f_i') | vectorize('O/w_i') */

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
    for (int64_t h = 0; h < 7; h++) {
        for (int64_t w_o = 0; w_o < 2; w_o++) {
            if (20 - 16 * w_o >= 16) {
                wb_v8f32 O_r[5][2];
                WB_UNROLL for (int64_t f_i = 0; f_i < 5; f_i++) {
                    WB_UNROLL for (int64_t w_i = 0; w_i < 16; w_i += 8) {
                        /* O.init: O(n, f, h, w) = 0.0 */
                        O_r[f_i][w_i / 8] = wb_all_v8f32(0.0f);
                    }
                }
                for (int64_t c = 0; c < 3; c++) {
                    WB_UNROLL_TAPS for (int64_t kh = 0; kh < 3; kh++) {
                        WB_UNROLL_TAPS for (int64_t kw = 0; kw < 2; kw++) {
                            WB_UNROLL for (int64_t f_i = 0; f_i < 5; f_i++) {
                                WB_UNROLL for (int64_t w_i = 0; w_i < 16; w_i += 8) {
                                    /* O: O(n, f, h, w) += I(n, c, h + kh, w + kw) * K(f, c, kh, kw) */
                                    O_r[f_i][w_i / 8] += (*(const wb_v8f32_u *)&I_[c*189 + (h + kh)*21 + 16 * w_o + w_i + kw] * wb_all_v8f32(K[f_i*18 + c*6 + kh*2 + kw]));
                                }
                            }
                        }
                    }
                }
                WB_UNROLL for (int64_t f_i = 0; f_i < 5; f_i++)
                    WB_UNROLL for (int64_t w_i = 0; w_i < 16; w_i += 8) {
                        *(wb_v8f32_u *)&O[f_i*140 + h*20 + 16 * w_o + w_i] = O_r[f_i][w_i / 8];
                    }
            } else {
                if (20 - 16 * w_o > 8) {
                    wb_v8f32 O_r3[5][2];
                    WB_UNROLL for (int64_t f_i = 0; f_i < 5; f_i++) {
                        WB_UNROLL for (int64_t w_i = 0; w_i < 16; w_i += 8) {
                            O_r3[f_i][w_i / 8] = wb_all_v8f32(0.0f);
                        }
                    }
                    for (int64_t c = 0; c < 3; c++) {
                        WB_UNROLL_TAPS for (int64_t kh = 0; kh < 3; kh++) {
                            WB_UNROLL_TAPS for (int64_t kw = 0; kw < 2; kw++) {
                                WB_UNROLL for (int64_t f_i = 0; f_i < 5; f_i++) {
                                    WB_UNROLL for (int64_t w_i = 0; w_i < 16; w_i += 8) {
                                        O_r3[f_i][w_i / 8] += (wb_v8f32_first(&I_[c*189 + (h + kh)*21 + 16 * w_o + w_i + kw], 20 - 16 * w_o - w_i) * wb_all_v8f32(K[f_i*18 + c*6 + kh*2 + kw]));
                                    }
                                }
                            }
                        }
                    }
                    WB_UNROLL for (int64_t f_i = 0; f_i < 5; f_i++)
                        WB_UNROLL for (int64_t w_i = 0; w_i < 16; w_i += 8) {
                            wb_v8f32_put_first(&O[f_i*140 + h*20 + 16 * w_o + w_i], O_r3[f_i][w_i / 8], 20 - 16 * w_o - w_i);
                        }
                } else {
                    for (int64_t w_i = 0; w_i < 20 - 16 * w_o; w_i += 8) {
                        wb_v8f32 O_r2[5];
                        WB_UNROLL for (int64_t f_i = 0; f_i < 5; f_i++) {
                            O_r2[f_i] = wb_all_v8f32(0.0f);
                        }
                        for (int64_t c = 0; c < 3; c++) {
                            WB_UNROLL_TAPS for (int64_t kh = 0; kh < 3; kh++) {
                                WB_UNROLL_TAPS for (int64_t kw = 0; kw < 2; kw++) {
                                    WB_UNROLL for (int64_t f_i = 0; f_i < 5; f_i++) {
                                        O_r2[f_i] += (wb_v8f32_first(&I_[c*189 + (h + kh)*21 + 16 * w_o + w_i + kw], 20 - 16 * w_o - w_i) * wb_all_v8f32(K[f_i*18 + c*6 + kh*2 + kw]));
                                    }
                                }
                            }
                        }
                        WB_UNROLL for (int64_t f_i = 0; f_i < 5; f_i++) {
                            wb_v8f32_put_first(&O[f_i*140 + h*20 + 16 * w_o + w_i], O_r2[f_i], 20 - 16 * w_o - w_i);
                        }
                    }
                }
            }
        }
    }
    return 0;
}
