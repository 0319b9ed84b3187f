/* CUDA's vectors, intrinsics and mathematical functions that C has not. */

#define WB_CPU_VECTOR(T, name) \
    struct __attribute__((aligned(2 * sizeof(T)))) name##2 { T x, y; }; \
    struct name##3 { T x, y, z; }; \
    struct __attribute__((aligned(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)))) name##4 { T x, y, z, w; }; \
    WB_CPU name##2 make_##name##2(T x, T y) { return {x, y}; } \
    WB_CPU name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    WB_CPU name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

#define uint3 wb_cpu_uint3
WB_CPU_VECTOR(float, float)
WB_CPU_VECTOR(double, double)
WB_CPU_VECTOR(int, int)
WB_CPU_VECTOR(unsigned, uint)
WB_CPU_VECTOR(short, short)
WB_CPU_VECTOR(unsigned short, ushort)
WB_CPU_VECTOR(signed char, char)
WB_CPU_VECTOR(unsigned char, uchar)
WB_CPU_VECTOR(long long, longlong)
#undef uint3

namespace wb_cpu {
template <class T, class F> WB_CPU T bits_of(F value) {
    static_assert(sizeof(T) == sizeof(F), "a value is read as another of its size");
    T found;
    __builtin_memcpy(&found, &value, sizeof found);
    return found;
}
}  // namespace wb_cpu

#define __float_as_int(v) ::wb_cpu::bits_of<int>((float)(v))
#define __float_as_uint(v) ::wb_cpu::bits_of<unsigned>((float)(v))
#define __int_as_float(v) ::wb_cpu::bits_of<float>((int)(v))
#define __uint_as_float(v) ::wb_cpu::bits_of<float>((unsigned)(v))
#define __double_as_longlong(v) ::wb_cpu::bits_of<long long>((double)(v))
#define __longlong_as_double(v) ::wb_cpu::bits_of<double>((long long)(v))
#define __popc(v) __builtin_popcount(v)
#define __popcll(v) __builtin_popcountll(v)
#define __ffs(v) __builtin_ffs(v)
#define __ffsll(v) __builtin_ffsll(v)
#define __clz(v) ((v) ? __builtin_clz(v) : 32)
#define __clzll(v) ((v) ? __builtin_clzll(v) : 64)
#define __umulhi(a, b) ((unsigned)(((unsigned long long)(a) * (b)) >> 32))
#define __ldg(p) (*(p))
#define __ldcs(p) (*(p))
#define __stcs(p, v) ((void)(*(p) = (v)))
#define __fmaf_rn(a, b, c) fmaf(a, b, c)
#define __fma_rn(a, b, c) fma(a, b, c)
#define __fdividef(a, b) ((float)(a) / (float)(b))
#define __fsqrt_rn(v) sqrtf(v)
#define __frcp_rn(v) (1.0f / (float)(v))
#define __expf(v) expf(v)
#define __logf(v) logf(v)
#define __sinf(v) sinf(v)
#define __cosf(v) cosf(v)
#define __powf(a, b) powf(a, b)
#define __saturatef(v) fminf(fmaxf(v, 0.0f), 1.0f)
#define rsqrtf(v) (1.0f / sqrtf(v))
#define rsqrt(v) (1.0 / sqrt(v))

/* -- 16-bit floats ------------------------------------------------------------------------------------------------- */

struct __half { uint16_t bits; };
struct __nv_bfloat16 { uint16_t bits; };

WB_CPU __half __ushort_as_half(unsigned short v) { return {v}; }
WB_CPU unsigned short __half_as_ushort(__half v) { return v.bits; }
WB_CPU __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return {v}; }
WB_CPU unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.bits; }

WB_CPU float __bfloat162float(__nv_bfloat16 v) { return __uint_as_float((unsigned)v.bits << 16); }
WB_CPU __nv_bfloat16 __float2bfloat16(float v) {
    unsigned bits = __float_as_uint(v);
    if (v != v) return {0x7fff};
    return {(uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

WB_CPU float __half2float(__half v) {
    unsigned sign = (unsigned)(v.bits & 0x8000) << 16, exponent = v.bits >> 10 & 31, mantissa = v.bits & 0x3ff;
    if (exponent == 31) return __uint_as_float(sign | 0x7f800000 | mantissa << 13);
    if (exponent) return __uint_as_float(sign | (exponent + 112) << 23 | mantissa << 13);
    float small = (float)mantissa * 5.9604644775390625e-8f;
    return sign ? -small : small;
}
/* Adding 2^-k with k from the exponent rounds to the places that are left, to even, as the processor adds. */
WB_CPU __half __float2half(float v) {
    unsigned sign = __float_as_uint(v) >> 16 & 0x8000, bits = __float_as_uint(v) & 0x7fffffff;
    if (bits > 0x7f800000) return {0x7fff};
    if (bits >= 0x477ff000) return {(uint16_t)(sign | 0x7c00)};
    if (bits < 0x38800000) {
        float sum = __uint_as_float(bits) + 0.5f;
        return {(uint16_t)(sign | (__float_as_uint(sum) - 0x3f000000))};
    }
    return {(uint16_t)(sign | ((bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13))};
}
#define __float2half_rn(v) __float2half(v)
#define __float2bfloat16_rn(v) __float2bfloat16(v)

/* Overloads of C++ in CUDA. */
template <class T> WB_CPU T min(T a, T b) { return b < a ? b : a; }
template <class T> WB_CPU T max(T a, T b) { return a < b ? b : a; }
