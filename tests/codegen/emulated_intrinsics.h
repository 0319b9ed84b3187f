/* What instructions do that a test's processor may not have, lane by lane, under the names of <immintrin.h>.
   After Intel's Intrinsics Guide; denormal numbers are not flushed. */
#include <stdint.h>
#include <string.h>
/* Called, not put in line: a tile of them, each a loop over lanes, would be thousands of lines to a compiler. */
#define WB_CALLED static __attribute__((noinline, unused))
typedef long long __m512i __attribute__((vector_size(64), may_alias));
typedef float __m512 __attribute__((vector_size(64), may_alias));
typedef short __m512bh __attribute__((vector_size(64), may_alias));
typedef long long __m256i __attribute__((vector_size(32), may_alias));
typedef float __m256 __attribute__((vector_size(32), may_alias));
typedef short __m256bh __attribute__((vector_size(32), may_alias));
typedef long long __m128i __attribute__((vector_size(16), may_alias));
typedef float __m128 __attribute__((vector_size(16), may_alias));
typedef short __m128bh __attribute__((vector_size(16), may_alias));

#define WB_DOT(NAME, VECTOR, BYTES, LEFT, RIGHT, GROUP, KEEP)                                       \
    WB_CALLED VECTOR NAME(VECTOR sums, VECTOR x, VECTOR y) {                                        \
        int32_t r[BYTES / 4]; LEFT a[BYTES / sizeof(LEFT)]; RIGHT b[BYTES / sizeof(RIGHT)];         \
        memcpy(r, &sums, BYTES); memcpy(a, &x, BYTES); memcpy(b, &y, BYTES);                        \
        for (int i = 0; i < BYTES / 4; i++) {                                                       \
            uint32_t sum = KEEP ? (uint32_t)r[i] : 0;                                               \
            for (int q = 0; q < GROUP; q++) sum += (uint32_t)((int32_t)a[i*GROUP + q] * b[i*GROUP + q]); \
            r[i] = (int32_t)sum;                                                                    \
        }                                                                                           \
        memcpy(&sums, r, BYTES);                                                                    \
        return sums;                                                                                \
    }
WB_DOT(_mm512_dpbusd_epi32, __m512i, 64, uint8_t, int8_t, 4, 1)
WB_DOT(_mm256_dpbusd_epi32, __m256i, 32, uint8_t, int8_t, 4, 1)
WB_DOT(_mm_dpbusd_epi32, __m128i, 16, uint8_t, int8_t, 4, 1)
WB_DOT(_mm_dpbusd_avx_epi32, __m128i, 16, uint8_t, int8_t, 4, 1)
WB_DOT(_mm512_dpwssd_epi32, __m512i, 64, int16_t, int16_t, 2, 1)
WB_DOT(_mm256_dpbusd_avx_epi32, __m256i, 32, uint8_t, int8_t, 4, 1)
WB_DOT(_mm256_dpwssd_avx_epi32, __m256i, 32, int16_t, int16_t, 2, 1)
WB_DOT(_mm256_dpwssd_epi32, __m256i, 32, int16_t, int16_t, 2, 1)
WB_DOT(_mm_dpwssd_epi32, __m128i, 16, int16_t, int16_t, 2, 1)
WB_DOT(_mm_dpwssd_avx_epi32, __m128i, 16, int16_t, int16_t, 2, 1)
WB_DOT(wb_madd_512, __m512i, 64, int16_t, int16_t, 2, 0)
WB_DOT(wb_madd_256, __m256i, 32, int16_t, int16_t, 2, 0)
WB_DOT(wb_madd_128, __m128i, 16, int16_t, int16_t, 2, 0)
#define _mm512_madd_epi16(x, y) wb_madd_512((__m512i){0}, x, y)
#define _mm256_madd_epi16(x, y) wb_madd_256((__m256i){0}, x, y)
#define _mm_madd_epi16(x, y) wb_madd_128((__m128i){0}, x, y)

static inline float wb_bf16(uint16_t x) { uint32_t u = (uint32_t)x << 16; float f; memcpy(&f, &u, 4); return f; }
#define WB_BF16(NAME, VECTOR, HALVES, LANES)                                                         \
    WB_CALLED VECTOR NAME(VECTOR sums, HALVES x, HALVES y) {                                        \
        for (int i = 0; i < LANES; i++) {                                                           \
            sums[i] += wb_bf16((uint16_t)x[2*i + 1]) * wb_bf16((uint16_t)y[2*i + 1]);               \
            sums[i] += wb_bf16((uint16_t)x[2*i]) * wb_bf16((uint16_t)y[2*i]);                       \
        }                                                                                           \
        return sums;                                                                                \
    }
WB_BF16(_mm512_dpbf16_ps, __m512, __m512bh, 16)
WB_BF16(_mm256_dpbf16_ps, __m256, __m256bh, 8)
WB_BF16(_mm_dpbf16_ps, __m128, __m128bh, 4)

static _Thread_local uint8_t wb_tile[8][16][64], wb_tile_rows[8];
static _Thread_local uint16_t wb_tile_bytes[8];
static inline void _tile_loadconfig(const void *at) {
    const uint8_t *shape = at;
    if (shape[0] != 1) __builtin_trap();
    memcpy(wb_tile_bytes, shape + 16, 16);
    memcpy(wb_tile_rows, shape + 48, 8);
}
static inline void _tile_release(void) { memset(wb_tile_rows, 0, 8); }
static inline void _tile_zero(int t) { memset(wb_tile[t], 0, 1024); }
static inline void _tile_loadd(int t, const void *at, int64_t stride) {
    for (int r = 0; r < wb_tile_rows[t]; r++) memcpy(wb_tile[t][r], (const char *)at + r*stride, wb_tile_bytes[t]);
}
static inline void _tile_stored(int t, void *at, int64_t stride) {
    for (int r = 0; r < wb_tile_rows[t]; r++) memcpy((char *)at + r*stride, wb_tile[t][r], wb_tile_bytes[t]);
}
#define WB_TILES(NAME, SUM, ELEMENT_A, ELEMENT_B, GROUP, A, B)                                      \
    WB_CALLED void NAME(int d, int s, int t) {                                                      \
        for (int m = 0; m < wb_tile_rows[s]; m++)                                                   \
            for (int k = 0; k < wb_tile_bytes[s] / 4; k++)                                          \
                for (int n = 0; n < wb_tile_bytes[d] / 4; n++)                                      \
                    for (int q = 0; q < GROUP; q++) {                                               \
                        ELEMENT_A a; ELEMENT_B b; SUM c;                                            \
                        memcpy(&a, wb_tile[s][m] + (GROUP*k + q)*sizeof a, sizeof a);               \
                        memcpy(&b, wb_tile[t][k] + (GROUP*n + q)*sizeof b, sizeof b);               \
                        memcpy(&c, wb_tile[d][m] + 4*n, 4);                                         \
                        c += (SUM)(A) * (SUM)(B);                                                   \
                        memcpy(wb_tile[d][m] + 4*n, &c, 4);                                         \
                    }                                                                               \
    }
WB_TILES(_tile_dpbssd, int32_t, int8_t, int8_t, 4, a, b)
WB_TILES(_tile_dpbusd, int32_t, uint8_t, int8_t, 4, a, b)
WB_TILES(_tile_dpbsud, int32_t, int8_t, uint8_t, 4, a, b)
WB_TILES(_tile_dpbuud, int32_t, uint8_t, uint8_t, 4, a, b)
WB_TILES(_tile_dpbf16ps, float, uint16_t, uint16_t, 2, wb_bf16(a), wb_bf16(b))
