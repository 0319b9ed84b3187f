/* matmul: M = 19, K = 11, N = 37 */
/* schedule: naive | tile({'C/m': 5, 'C/n': 16}) | reorder('C/n_o', 'C/m_o', 'C/m_i', 'C/n_i') | distribute('C', loop='m_i') | reorder('C/k', 'C/m_i', 'C/n_i') | unroll('C.init/m_i') | vectorize('C.init/n_i') | unroll('C/m_i') | vectorize('C/n_i') */

#include <math.h>
#include <stdint.h>

int64_t matmul_workspace(int threads)
{
    (void)threads;
    return 0;
}

int matmul(const float *restrict A, const float *restrict B, float *restrict C, void *workspace, int threads)
{
    const unsigned wb_began = WB_STOPS;
    (void)workspace;
    (void)threads;
    for (int64_t n_o = 0; n_o < 3; n_o++) {
        for (int64_t m_o = 0; m_o < 4; m_o++) {
            if (19 - 5 * m_o >= 5) {
                if (37 - 16 * n_o >= 16) {
                    wb_v8f32 C_r[5][2];
                    WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                        WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                            /* C.init: C(m, n) = 0.0 */
                            C_r[m_i][n_i / 8] = wb_all_v8f32(0.0f);
                        }
                    }
                    for (int64_t k = 0; k < 11; k++) {
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                            WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                /* C: C(m, n) += A(m, k) * B(k, n) */
                                C_r[m_i][n_i / 8] += (wb_all_v8f32(A[(5 * m_o + m_i)*11 + k]) * *(const wb_v8f32_u *)&B[k*37 + 16 * n_o + n_i]);
                            }
                        }
                    }
                    WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++)
                        WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                            *(wb_v8f32_u *)&C[(5 * m_o + m_i)*37 + 16 * n_o + n_i] = C_r[m_i][n_i / 8];
                        }
                } else {
                    if (37 - 16 * n_o > 8) {
                        wb_v8f32 C_r3[5][2];
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                            WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                C_r3[m_i][n_i / 8] = wb_all_v8f32(0.0f);
                            }
                        }
                        for (int64_t k = 0; k < 11; k++) {
                            WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                                WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                    C_r3[m_i][n_i / 8] += (wb_all_v8f32(A[(5 * m_o + m_i)*11 + k]) * wb_v8f32_first(&B[k*37 + 16 * n_o + n_i], 37 - 16 * n_o - n_i));
                                }
                            }
                        }
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++)
                            WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                wb_v8f32_put_first(&C[(5 * m_o + m_i)*37 + 16 * n_o + n_i], C_r3[m_i][n_i / 8], 37 - 16 * n_o - n_i);
                            }
                    } else {
                        for (int64_t n_i = 0; n_i < 37 - 16 * n_o; n_i += 8) {
                            wb_v8f32 C_r2[5];
                            WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                                C_r2[m_i] = wb_all_v8f32(0.0f);
                            }
                            for (int64_t k = 0; k < 11; k++) {
                                WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                                    C_r2[m_i] += (wb_all_v8f32(A[(5 * m_o + m_i)*11 + k]) * wb_v8f32_first(&B[k*37 + 16 * n_o + n_i], 37 - 16 * n_o - n_i));
                                }
                            }
                            WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                                wb_v8f32_put_first(&C[(5 * m_o + m_i)*37 + 16 * n_o + n_i], C_r2[m_i], 37 - 16 * n_o - n_i);
                            }
                        }
                    }
                }
            } else {
                for (int64_t m_i_2 = 0; m_i_2 < 19 - 5 * m_o; m_i_2 += 4) {
                    if (WB_STOPS != wb_began) break;
                    if (37 - 16 * n_o >= 16) {
                        wb_v8f32 C_r4[4][2];
                        WB_UNROLL for (int64_t m_i = 0; m_i < 4; m_i++) {
                            WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                C_r4[m_i][n_i / 8] = wb_all_v8f32(0.0f);
                            }
                        }
                        for (int64_t k = 0; k < 11; k++) {
                            WB_UNROLL for (int64_t m_i = 0; m_i < 4; m_i++) {
                                WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                    C_r4[m_i][n_i / 8] += (wb_all_v8f32(A[(5 * m_o + m_i_2 + m_i)*11 + k]) * *(const wb_v8f32_u *)&B[k*37 + 16 * n_o + n_i]);
                                }
                            }
                        }
                        WB_UNROLL for (int64_t m_i = 0; m_i < 4; m_i++)
                            WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                *(wb_v8f32_u *)&C[(5 * m_o + m_i_2 + m_i)*37 + 16 * n_o + n_i] = C_r4[m_i][n_i / 8];
                            }
                    } else {
                        if (37 - 16 * n_o > 8) {
                            wb_v8f32 C_r6[4][2];
                            WB_UNROLL for (int64_t m_i = 0; m_i < 4; m_i++) {
                                WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                    C_r6[m_i][n_i / 8] = wb_all_v8f32(0.0f);
                                }
                            }
                            for (int64_t k = 0; k < 11; k++) {
                                WB_UNROLL for (int64_t m_i = 0; m_i < 4; m_i++) {
                                    WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                        C_r6[m_i][n_i / 8] += (wb_all_v8f32(A[(5 * m_o + m_i_2 + m_i)*11 + k]) * wb_v8f32_first(&B[k*37 + 16 * n_o + n_i], 37 - 16 * n_o - n_i));
                                    }
                                }
                            }
                            WB_UNROLL for (int64_t m_i = 0; m_i < 4; m_i++)
                                WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                    wb_v8f32_put_first(&C[(5 * m_o + m_i_2 + m_i)*37 + 16 * n_o + n_i], C_r6[m_i][n_i / 8], 37 - 16 * n_o - n_i);
                                }
                        } else {
                            for (int64_t n_i = 0; n_i < 37 - 16 * n_o; n_i += 8) {
                                wb_v8f32 C_r5[4];
                                WB_UNROLL for (int64_t m_i = 0; m_i < 4; m_i++) {
                                    C_r5[m_i] = wb_all_v8f32(0.0f);
                                }
                                for (int64_t k = 0; k < 11; k++) {
                                    WB_UNROLL for (int64_t m_i = 0; m_i < 4; m_i++) {
                                        C_r5[m_i] += (wb_all_v8f32(A[(5 * m_o + m_i_2 + m_i)*11 + k]) * wb_v8f32_first(&B[k*37 + 16 * n_o + n_i], 37 - 16 * n_o - n_i));
                                    }
                                }
                                WB_UNROLL for (int64_t m_i = 0; m_i < 4; m_i++) {
                                    wb_v8f32_put_first(&C[(5 * m_o + m_i_2 + m_i)*37 + 16 * n_o + n_i], C_r5[m_i], 37 - 16 * n_o - n_i);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    return 0;
}
