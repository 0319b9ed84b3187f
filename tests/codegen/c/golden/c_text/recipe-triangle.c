/* triangle: M = 13, N = 18 */
/* schedule: naive | tile({'C/i': 6, 'C/j': 16}) | reorder('C/j_o', 'C/i_o', 'C/i_i', 'C/j_i') | distribute('C', loop='i_i') | reorder('C/k', 'C/i_i', 'C/j_i') | unroll('C.init/i_i') | vectorize('C.init/j_i') | unroll('C/i_i') | vectorize('C/j_i') */

#include <math.h>
#include <stdint.h>

int64_t triangle_workspace(int threads)
{
    (void)threads;
    return 0;
}

int triangle(const float *restrict A, const float *restrict B, float *restrict C, void *workspace, int threads)
{
    (void)workspace;
    (void)threads;
    for (int64_t j_o = 0; j_o < 2; j_o++) {
        for (int64_t i_o = 0; i_o < 3; i_o++) {
            for (int64_t i_i = 0; i_i < wb_min_i64(13 - 6 * i_o, 6); i_i++) {
                for (int64_t j_i = 0; j_i < wb_whole(wb_min_i64(18 - 16 * j_o, 16), 8); j_i += 8) {
                    /* C.init: C(i, j) = 0.0 */
                    *(wb_v8f32_u *)&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i] = wb_all_v8f32(0.0f);
                }
                for (int64_t j_i = wb_whole(wb_min_i64(18 - 16 * j_o, 16), 8); j_i < wb_min_i64(18 - 16 * j_o, 16); j_i += 8) {
                    wb_v8f32_put_first(&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i], wb_all_v8f32(0.0f), wb_min_i64(18 - 16 * j_o, 16) - j_i);
                }
            }
            for (int64_t k = 6 * i_o + 1; k < wb_min_i64(6 * i_o + 6, 13); k++) {
                for (int64_t i_i = 0; i_i < wb_min_i64(k - 6 * i_o, 6); i_i++) {
                    if (0 < wb_whole(wb_min_i64(18 - 16 * j_o, 16), 8)) {
                        const float A_v = A[k*13 + 6 * i_o + i_i];
                        for (int64_t j_i = 0; j_i < wb_whole(wb_min_i64(18 - 16 * j_o, 16), 8); j_i += 8) {
                            /* C: C(i, j) += A(k, i) * B(k, j) where k in i + 1:M */
                            *(wb_v8f32_u *)&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i] += (wb_all_v8f32(A_v) * *(const wb_v8f32_u *)&B[k*18 + 16 * j_o + j_i]);
                        }
                    }
                    if (wb_whole(wb_min_i64(18 - 16 * j_o, 16), 8) < wb_min_i64(18 - 16 * j_o, 16)) {
                        const float A_v2 = A[k*13 + 6 * i_o + i_i];
                        for (int64_t j_i = wb_whole(wb_min_i64(18 - 16 * j_o, 16), 8); j_i < wb_min_i64(18 - 16 * j_o, 16); j_i += 8) {
                            wb_v8f32_put_first(&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i], wb_v8f32_first(&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i], wb_min_i64(18 - 16 * j_o, 16) - j_i) + (wb_all_v8f32(A_v2) * wb_v8f32_first(&B[k*18 + 16 * j_o + j_i], wb_min_i64(18 - 16 * j_o, 16) - j_i)), wb_min_i64(18 - 16 * j_o, 16) - j_i);
                        }
                    }
                }
            }
            if (wb_min_i64(6 * i_o + 6, 13) < 13) {
                if (18 - 16 * j_o >= 16) {
                    wb_v8f32 C_r[6][2];
                    WB_UNROLL for (int64_t i_i = 0; i_i < 6; i_i++)
                        WB_UNROLL for (int64_t j_i = 0; j_i < 16; j_i += 8) {
                            C_r[i_i][j_i / 8] = *(const wb_v8f32_u *)&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i];
                        }
                    for (int64_t k = wb_min_i64(6 * i_o + 6, 13); k < 13; k++) {
                        WB_UNROLL for (int64_t i_i = 0; i_i < 6; i_i++) {
                            WB_UNROLL for (int64_t j_i = 0; j_i < 16; j_i += 8) {
                                C_r[i_i][j_i / 8] += (wb_all_v8f32(A[k*13 + 6 * i_o + i_i]) * *(const wb_v8f32_u *)&B[k*18 + 16 * j_o + j_i]);
                            }
                        }
                    }
                    WB_UNROLL for (int64_t i_i = 0; i_i < 6; i_i++)
                        WB_UNROLL for (int64_t j_i = 0; j_i < 16; j_i += 8) {
                            *(wb_v8f32_u *)&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i] = C_r[i_i][j_i / 8];
                        }
                } else {
                    if (18 - 16 * j_o > 8) {
                        wb_v8f32 C_r3[6][2];
                        WB_UNROLL for (int64_t i_i = 0; i_i < 6; i_i++)
                            WB_UNROLL for (int64_t j_i = 0; j_i < 16; j_i += 8) {
                                C_r3[i_i][j_i / 8] = wb_v8f32_first(&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i], 18 - 16 * j_o - j_i);
                            }
                        for (int64_t k = wb_min_i64(6 * i_o + 6, 13); k < 13; k++) {
                            WB_UNROLL for (int64_t i_i = 0; i_i < 6; i_i++) {
                                WB_UNROLL for (int64_t j_i = 0; j_i < 16; j_i += 8) {
                                    C_r3[i_i][j_i / 8] += (wb_all_v8f32(A[k*13 + 6 * i_o + i_i]) * wb_v8f32_first(&B[k*18 + 16 * j_o + j_i], 18 - 16 * j_o - j_i));
                                }
                            }
                        }
                        WB_UNROLL for (int64_t i_i = 0; i_i < 6; i_i++)
                            WB_UNROLL for (int64_t j_i = 0; j_i < 16; j_i += 8) {
                                wb_v8f32_put_first(&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i], C_r3[i_i][j_i / 8], 18 - 16 * j_o - j_i);
                            }
                    } else {
                        for (int64_t j_i = 0; j_i < 18 - 16 * j_o; j_i += 8) {
                            wb_v8f32 C_r2[6];
                            WB_UNROLL for (int64_t i_i = 0; i_i < 6; i_i++) {
                                C_r2[i_i] = wb_v8f32_first(&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i], 18 - 16 * j_o - j_i);
                            }
                            for (int64_t k = wb_min_i64(6 * i_o + 6, 13); k < 13; k++) {
                                WB_UNROLL for (int64_t i_i = 0; i_i < 6; i_i++) {
                                    C_r2[i_i] += (wb_all_v8f32(A[k*13 + 6 * i_o + i_i]) * wb_v8f32_first(&B[k*18 + 16 * j_o + j_i], 18 - 16 * j_o - j_i));
                                }
                            }
                            WB_UNROLL for (int64_t i_i = 0; i_i < 6; i_i++) {
                                wb_v8f32_put_first(&C[(6 * i_o + i_i)*18 + 16 * j_o + j_i], C_r2[i_i], 18 - 16 * j_o - j_i);
                            }
                        }
                    }
                }
            }
        }
    }
    return 0;
}
