/* matmul: M = 19, K = 11, N = 37 */
/* schedule: naive | tile({'C/m': 5, 'C/n': 16}) | interchange('C/n_o', 'C/m_o', 'C/m_i', 'C/n_i') | distribute('C', loop='m_i') | interchange('C/k', 'C/m_i', 'C/n_i') | unroll('C.init/m_i') | vectorize('C.init/n_i') | unroll('C/m_i') | vectorize('C/n_i') */

#include <math.h>
#include <stdint.h>

int64_t matmul_workspace(int threads)
{
    (void)threads;
    return 0;
}

int matmul(const float *restrict A, const float *restrict B, float *restrict C, void *workspace, int threads)
{
    (void)workspace;
    (void)threads;
    for (int64_t n_o = 0; n_o < 3; n_o++) {
        for (int64_t m_o = 0; m_o < 4; m_o++) {
            if (19 - 5 * m_o >= 5) {
                if (37 - 16 * n_o >= 16) {
                    wb_v8f32 C_r[5][2];
                    WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                        WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                            /* C.init: C(m, n) +=! A(m, k) * B(k, n) */
                            C_r[m_i][n_i / 8] = wb_all_v8f32(0.0f);
                        }
                    }
                    for (int64_t k = 0; k < 11; k++) {
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                            WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                /* C: C(m, n) +=! A(m, k) * B(k, n) */
                                C_r[m_i][n_i / 8] += (wb_all_v8f32(A[(5 * m_o + m_i)*11 + k]) * *(const wb_v8f32_u *)&B[k*37 + 16 * n_o + n_i]);
                            }
                        }
                    }
                    WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++)
                        WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                            *(wb_v8f32_u *)&C[(5 * m_o + m_i)*37 + 16 * n_o + n_i] = C_r[m_i][n_i / 8];
                        }
                } else {
                    for (int64_t n_i = 0; n_i < wb_whole(wb_min_i64(37 - 16 * n_o, 16), 8); n_i += 8) {
                        wb_v8f32 C_r2[5];
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                            C_r2[m_i] = wb_all_v8f32(0.0f);
                        }
                        for (int64_t k = 0; k < 11; k++) {
                            WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                                C_r2[m_i] += (wb_all_v8f32(A[(5 * m_o + m_i)*11 + k]) * *(const wb_v8f32_u *)&B[k*37 + 16 * n_o + n_i]);
                            }
                        }
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                            *(wb_v8f32_u *)&C[(5 * m_o + m_i)*37 + 16 * n_o + n_i] = C_r2[m_i];
                        }
                    }
                    for (int64_t n_i = wb_whole(wb_min_i64(37 - 16 * n_o, 16), 8); n_i < wb_whole(wb_min_i64(37 - 16 * n_o, 16), 4); n_i += 4) {
                        wb_v4f32 C_r3[5];
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                            C_r3[m_i] = wb_all_v4f32(0.0f);
                        }
                        for (int64_t k = 0; k < 11; k++) {
                            WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                                C_r3[m_i] += (wb_all_v4f32(A[(5 * m_o + m_i)*11 + k]) * *(const wb_v4f32_u *)&B[k*37 + 16 * n_o + n_i]);
                            }
                        }
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                            *(wb_v4f32_u *)&C[(5 * m_o + m_i)*37 + 16 * n_o + n_i] = C_r3[m_i];
                        }
                    }
                    for (int64_t n_i = wb_whole(wb_min_i64(37 - 16 * n_o, 16), 4); n_i < wb_min_i64(37 - 16 * n_o, 16); n_i++) {
                        float C_r4[5];
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                            C_r4[m_i] = 0.0f;
                        }
                        for (int64_t k = 0; k < 11; k++) {
                            WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                                C_r4[m_i] += A[(5 * m_o + m_i)*11 + k] * B[k*37 + 16 * n_o + n_i];
                            }
                        }
                        WB_UNROLL for (int64_t m_i = 0; m_i < 5; m_i++) {
                            C[(5 * m_o + m_i)*37 + 16 * n_o + n_i] = C_r4[m_i];
                        }
                    }
                }
            } else {
                for (int64_t m_i = 0; m_i < wb_min_i64(19 - 5 * m_o, 5); m_i++) {
                    if (37 - 16 * n_o >= 16) {
                        wb_v8f32 C_r5[2];
                        WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                            C_r5[n_i / 8] = wb_all_v8f32(0.0f);
                        }
                        for (int64_t k = 0; k < 11; k++) {
                            WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                                C_r5[n_i / 8] += (wb_all_v8f32(A[(5 * m_o + m_i)*11 + k]) * *(const wb_v8f32_u *)&B[k*37 + 16 * n_o + n_i]);
                            }
                        }
                        WB_UNROLL for (int64_t n_i = 0; n_i < 16; n_i += 8) {
                            *(wb_v8f32_u *)&C[(5 * m_o + m_i)*37 + 16 * n_o + n_i] = C_r5[n_i / 8];
                        }
                    } else {
                        for (int64_t n_i = 0; n_i < wb_whole(wb_min_i64(37 - 16 * n_o, 16), 8); n_i += 8) {
                            wb_v8f32 C_r6;
                            C_r6 = wb_all_v8f32(0.0f);
                            for (int64_t k = 0; k < 11; k++) {
                                C_r6 += (wb_all_v8f32(A[(5 * m_o + m_i)*11 + k]) * *(const wb_v8f32_u *)&B[k*37 + 16 * n_o + n_i]);
                            }
                            *(wb_v8f32_u *)&C[(5 * m_o + m_i)*37 + 16 * n_o + n_i] = C_r6;
                        }
                        for (int64_t n_i = wb_whole(wb_min_i64(37 - 16 * n_o, 16), 8); n_i < wb_whole(wb_min_i64(37 - 16 * n_o, 16), 4); n_i += 4) {
                            wb_v4f32 C_r7;
                            C_r7 = wb_all_v4f32(0.0f);
                            for (int64_t k = 0; k < 11; k++) {
                                C_r7 += (wb_all_v4f32(A[(5 * m_o + m_i)*11 + k]) * *(const wb_v4f32_u *)&B[k*37 + 16 * n_o + n_i]);
                            }
                            *(wb_v4f32_u *)&C[(5 * m_o + m_i)*37 + 16 * n_o + n_i] = C_r7;
                        }
                        for (int64_t n_i = wb_whole(wb_min_i64(37 - 16 * n_o, 16), 4); n_i < wb_min_i64(37 - 16 * n_o, 16); n_i++) {
                            float C_r8;
                            C_r8 = 0.0f;
                            for (int64_t k = 0; k < 11; k++) {
                                C_r8 += A[(5 * m_o + m_i)*11 + k] * B[k*37 + 16 * n_o + n_i];
                            }
                            C[(5 * m_o + m_i)*37 + 16 * n_o + n_i] = C_r8;
                        }
                    }
                }
            }
        }
    }
    return 0;
}
