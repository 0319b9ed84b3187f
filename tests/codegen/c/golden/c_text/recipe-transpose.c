/* transpose: M = 17, N = 21 */
/* schedule: naive | tile({'B/n': 8, 'B/m': 8}) | vectorize('B/m_i') */

#include <math.h>
#include <stdint.h>

int64_t transpose_workspace(int threads)
{
    (void)threads;
    return 0;
}

int transpose(const float *restrict A, float *restrict B, void *workspace, int threads)
{
    (void)workspace;
    (void)threads;
    for (int64_t n_o = 0; n_o < 3; n_o++) {
        for (int64_t m_o = 0; m_o < 3; m_o++) {
            {
                int64_t n_i = 0;
                for (; n_i + 7 < wb_min_i64(21 - 8 * n_o, 8); n_i += 8) {
                    for (int64_t m_i = 0; m_i < wb_whole(wb_min_i64(17 - 8 * m_o, 8), 8); m_i += 8) {
                        /* B: B(n, m) = A(m, n) */
                        wb_v8f32_turn(&A[(8 * m_o + m_i)*21 + 8 * n_o + n_i], 21, &B[(8 * n_o + n_i)*17 + 8 * m_o + m_i], 17);
                    }
                }
                for (; n_i + 3 < wb_min_i64(21 - 8 * n_o, 8); n_i += 4) {
                    for (int64_t m_i = 0; m_i < wb_whole(wb_min_i64(17 - 8 * m_o, 8), 8); m_i += 8) {
                        wb_v8f32_get_four(&A[(8 * m_o + m_i)*21 + 8 * n_o + n_i], 21, &B[(8 * n_o + n_i)*17 + 8 * m_o + m_i], &B[(8 * n_o + n_i + 1)*17 + 8 * m_o + m_i], &B[(8 * n_o + n_i + 2)*17 + 8 * m_o + m_i], &B[(8 * n_o + n_i + 3)*17 + 8 * m_o + m_i]);
                    }
                }
                for (; n_i < wb_min_i64(21 - 8 * n_o, 8); n_i++) {
                    for (int64_t m_i = 0; m_i < wb_whole(wb_min_i64(17 - 8 * m_o, 8), 8); m_i += 8) {
                        *(wb_v8f32_u *)&B[(8 * n_o + n_i)*17 + 8 * m_o + m_i] = wb_v8f32_apart(&A[(8 * m_o + m_i)*21 + 8 * n_o + n_i], 21);
                    }
                }
            }
            for (int64_t n_i = 0; n_i < wb_min_i64(21 - 8 * n_o, 8); n_i++) {
                for (int64_t m_i = wb_whole(wb_min_i64(17 - 8 * m_o, 8), 8); m_i < wb_min_i64(17 - 8 * m_o, 8); m_i++) {
                    B[(8 * n_o + n_i)*17 + 8 * m_o + m_i] = A[(8 * m_o + m_i)*21 + 8 * n_o + n_i];
                }
            }
        }
    }
    return 0;
}
