/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_crc_fold.h"

#if IW_CRC_FOLD

#include <immintrin.h>
#include <string.h>

#define FOLD __attribute__((target("sse4.2,pclmul,avx512f,vpclmulqdq")))

/*
 * A block of 128 bits is worth its remainder times x^(bits behind it): the product of its halves
 * and two constants, which is added to the block there. Each constant is x^(bits - 33)
 * bit-reflected, for the first half with 64 more bits: the product of two reflected numbers is one
 * bit short, and a constant of 32 bits stands 32 bits too low.
 */
#define BEHIND_128_FIRST   0xf20c0dfeLL
#define BEHIND_128_SECOND  0x493c7d27LL
#define BEHIND_256_FIRST   0x3da6d0cbLL
#define BEHIND_256_SECOND  0xba4fc28eLL
#define BEHIND_384_FIRST   0x1c291d04LL
#define BEHIND_384_SECOND  0xddc0152bLL
#define BEHIND_512_FIRST   0x740eef02LL
#define BEHIND_512_SECOND  0x9e4addf8LL
#define BEHIND_2048_FIRST  0xdcb17aa4LL
#define BEHIND_2048_SECOND 0xb9e02b86LL

#define LINE ((size_t)64)

/* 256 octets: four multiplications are under way at a time. An array would live in memory. */
struct fold_quad {
    __m512i first, second, third, fourth;
};

FOLD static inline __m512i fold_constants(long long first, long long second)
{
    return _mm512_broadcast_i32x4(_mm_set_epi64x(second, first));
}

FOLD static inline __m512i fold_line(__m512i line, __m512i constants, __m512i behind)
{
    return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(line, constants, 0x00),
                                     _mm512_clmulepi64_epi128(line, constants, 0x11), behind, 0x96);
}

FOLD static inline struct fold_quad fold_load(const uint8_t *data)
{
    return (struct fold_quad){
        _mm512_loadu_si512(data),
        _mm512_loadu_si512(data + LINE),
        _mm512_loadu_si512(data + 2 * LINE),
        _mm512_loadu_si512(data + 3 * LINE),
    };
}

FOLD static inline struct fold_quad fold_quad(struct fold_quad quad, __m512i constants,
                                              struct fold_quad behind)
{
    return (struct fold_quad){
        fold_line(quad.first, constants, behind.first),
        fold_line(quad.second, constants, behind.second),
        fold_line(quad.third, constants, behind.third),
        fold_line(quad.fourth, constants, behind.fourth),
    };
}

/* The four blocks of a line, one behind the other, as one. */
FOLD static inline __m128i fold_to_block(__m512i line)
{
    const __m512i constants =
        _mm512_set_epi64(0, 0, BEHIND_128_SECOND, BEHIND_128_FIRST, BEHIND_256_SECOND,
                         BEHIND_256_FIRST, BEHIND_384_SECOND, BEHIND_384_FIRST);
    __m512i parts = _mm512_xor_si512(_mm512_clmulepi64_epi128(line, constants, 0x00),
                                     _mm512_clmulepi64_epi128(line, constants, 0x11));

    return _mm_xor_si128(
        _mm_xor_si128(_mm512_castsi512_si128(parts), _mm512_extracti32x4_epi32(parts, 1)),
        _mm_xor_si128(_mm512_extracti32x4_epi32(parts, 2), _mm512_extracti32x4_epi32(line, 3)));
}

/* Stores what was loaded; copy: NULL if nobody wants a copy. */
FOLD static inline void fold_store(uint8_t *copy, size_t at, __m512i line)
{
    if (copy)
        _mm512_storeu_si512(copy + at, line);
}

FOLD static inline void fold_store_quad(uint8_t *copy, size_t at, struct fold_quad quad)
{
    fold_store(copy, at, quad.first);
    fold_store(copy, at + LINE, quad.second);
    fold_store(copy, at + 2 * LINE, quad.third);
    fold_store(copy, at + 3 * LINE, quad.fourth);
}

/* Sums fewer octets than a line. If it copies, it sums the copy, since the source may change. */
FOLD static inline uint32_t fold_rest(uint32_t crc, const uint8_t *data, uint8_t *copy,
                                      size_t length)
{
    uint64_t wide = crc;

    if (copy)
        data = memcpy(copy, data, length);
    for (; length >= 8; data += 8, length -= 8) {
        uint64_t word;

        memcpy(&word, data, sizeof(word));
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    for (; length > 0; length--)
        crc = _mm_crc32_u8(crc, *data++);
    return crc;
}

/* Each octet is loaded once, so what is summed is what is copied. */
FOLD static inline __attribute__((always_inline)) uint32_t
fold_all(uint32_t crc, const uint8_t *data, uint8_t *copy, size_t length)
{
    const size_t step = 4 * LINE;
    const __m512i behind_quad = fold_constants(BEHIND_2048_FIRST, BEHIND_2048_SECOND);
    const __m512i behind_line = fold_constants(BEHIND_512_FIRST, BEHIND_512_SECOND);
    struct fold_quad quad = fold_load(data);
    size_t at = step;
    __m512i line;
    __m128i block;

    fold_store_quad(copy, 0, quad);
    quad.first = _mm512_xor_si512(quad.first, _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)crc)));
    for (; length - at >= step; at += step) {
        struct fold_quad next = fold_load(data + at);

        fold_store_quad(copy, at, next);
        quad = fold_quad(quad, behind_quad, next);
    }
    line = fold_line(quad.first, behind_line, quad.second);
    line = fold_line(line, behind_line, quad.third);
    line = fold_line(line, behind_line, quad.fourth);
    for (; length - at >= LINE; at += LINE) {
        __m512i next = _mm512_loadu_si512(data + at);

        fold_store(copy, at, next);
        line = fold_line(line, behind_line, next);
    }
    block = fold_to_block(line);
    /* The remainder of a block: the instruction over its octets, begun with nothing. */
    crc = (uint32_t)_mm_crc32_u64(_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(block)),
                                  (uint64_t)_mm_extract_epi64(block, 1));
    return fold_rest(crc, data + at, copy ? copy + at : NULL, length - at);
}

FOLD uint32_t iw_crc_fold(uint32_t crc, const uint8_t *data, size_t length)
{
    return fold_all(crc, data, NULL, length);
}

FOLD uint32_t iw_crc_fold_copy(uint32_t crc, uint8_t *copy, const uint8_t *data, size_t length)
{
    return fold_all(crc, data, copy, length);
}

#else

typedef int iw_crc_fold_is_not_for_this_cpu;

#endif
