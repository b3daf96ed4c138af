/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_crc.h"

#include "tdi/iwarp/iw_crc_fold.h"

#include <string.h>

/* ITAPI_CRC_ISAL=0 or ITAPI_CRC_SOFT=1 builds without libisal. */
#if defined(ITAPI_CRC_SOFT) && ITAPI_CRC_SOFT
#undef ITAPI_CRC_ISAL
#define ITAPI_CRC_ISAL 0
#endif
#ifndef ITAPI_CRC_ISAL
#define ITAPI_CRC_ISAL 1
#endif

#if ITAPI_CRC_ISAL
#include <isa-l/crc.h>
#endif

#include <limits.h>
#include <stdbool.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
#elif defined(__AARCH64EL__) && defined(__linux__)
#include <sys/auxv.h>
#endif

/* Remainders of four bits by the reflected polynomial 82f63b78. */
static const uint32_t iw_crc_table[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
    0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t iw_crc_update_table(uint32_t crc, const void *data, size_t length)
{
    const uint8_t *octets = data;

    for (; length > 0; length--) {
        crc ^= *octets++;
        crc = crc >> 4 ^ iw_crc_table[crc & 15];
        crc = crc >> 4 ^ iw_crc_table[crc & 15];
    }
    return crc;
}

#if defined(__x86_64__)

#define IW_CRC_INSTRUCTION 1

static inline bool iw_crc_has_instruction(void)
{
#if defined(__SSE4_2__)
    return true;
#else
    return __builtin_cpu_supports("sse4.2") != 0;
#endif
}

__attribute__((target("sse4.2"))) static uint32_t
iw_crc_instruction(uint32_t crc, const uint8_t *data, size_t length)
{
    uint64_t wide = crc;

    for (; length >= 8; data += 8, length -= 8) {
        uint64_t word;

        memcpy(&word, data, sizeof(word));
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    if (length & 4) {
        uint32_t word;

        memcpy(&word, data, sizeof(word));
        crc = _mm_crc32_u32(crc, word);
        data += 4;
    }
    for (length &= 3; length > 0; length--)
        crc = _mm_crc32_u8(crc, *data++);
    return crc;
}

/*
 * The instruction has a latency of three cycles and one can start in each cycle, so three lanes run
 * side by side. The remainder of a lane is multiplied by x^(8 * octets behind the lane). The
 * constant is x^(8 * octets - 33), bit-reflected: the reducing instruction contributes 32, and the
 * product of reflected numbers one.
 */
#define IW_CRC_LANE       ((size_t)256)
#define IW_CRC_LANES      3u
#define IW_CRC_BEHIND_ONE 0xb9e02b86u /* one lane is behind it */
#define IW_CRC_BEHIND_TWO 0xdd7e3b0cu

static inline bool iw_crc_has_lanes(void)
{
    return iw_crc_has_instruction() && __builtin_cpu_supports("pclmul") != 0;
}

__attribute__((target("sse4.2,pclmul"))) static uint64_t iw_crc_behind(uint64_t crc,
                                                                       uint32_t constant)
{
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128((long long)crc),
                                           _mm_cvtsi64_si128((long long)constant), 0);

    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* Takes as many full rounds of all lanes as the octets allow: *taken octets. */
__attribute__((target("sse4.2,pclmul"))) static uint32_t
iw_crc_lanes(uint32_t crc, const uint8_t *data, size_t length, size_t *taken)
{
    uint64_t first = crc;

    *taken = 0;
    for (; length - *taken >= IW_CRC_LANE * IW_CRC_LANES; *taken += IW_CRC_LANE * IW_CRC_LANES) {
        const uint8_t *lanes = data + *taken;
        uint64_t second = 0;
        uint64_t third = 0;

        for (size_t i = 0; i < IW_CRC_LANE; i += 8) {
            uint64_t words[IW_CRC_LANES];

            for (unsigned lane = 0; lane < IW_CRC_LANES; lane++)
                memcpy(&words[lane], lanes + lane * IW_CRC_LANE + i, sizeof(words[lane]));
            first = _mm_crc32_u64(first, words[0]);
            second = _mm_crc32_u64(second, words[1]);
            third = _mm_crc32_u64(third, words[2]);
        }
        first = iw_crc_behind(first, IW_CRC_BEHIND_TWO) ^ iw_crc_behind(second, IW_CRC_BEHIND_ONE) ^
                third;
    }
    return (uint32_t)first;
}

#elif defined(__AARCH64EL__) && defined(__linux__)

#define IW_CRC_INSTRUCTION 1

static inline bool iw_crc_has_instruction(void)
{
#if defined(__ARM_FEATURE_CRC32)
    return true;
#else
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

/* By hand, since gcc and clang differ in how <arm_acle.h> enables the extension. */
static uint32_t iw_crc_instruction(uint32_t crc, const uint8_t *data, size_t length)
{
    for (; length >= 8; data += 8, length -= 8) {
        uint64_t word;

        memcpy(&word, data, sizeof(word));
        __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
    }
    for (; length > 0; length--)
        __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(*data++));
    return crc;
}

#else

#define IW_CRC_INSTRUCTION 0

#endif

/* For CPUs without the instruction. */
static uint32_t iw_crc_other(uint32_t crc, const uint8_t *data, size_t length)
{
#if ITAPI_CRC_ISAL
    /* crc32_iscsi inverts neither seed nor result. Its length is an int. */
    while (length > 0) {
        int part = length < INT_MAX ? (int)length : INT_MAX;

        crc = crc32_iscsi((unsigned char *)(uintptr_t)data, part, crc);
        data += part;
        length -= (size_t)part;
    }
    return crc;
#else
    return iw_crc_update_table(crc, data, length);
#endif
}

static uint32_t iw_crc_short(uint32_t crc, const uint8_t *data, size_t length)
{
#if defined(__x86_64__)
    size_t taken;

    if (length >= IW_CRC_LANE * IW_CRC_LANES && iw_crc_has_lanes()) {
        crc = iw_crc_lanes(crc, data, length, &taken);
        data += taken;
        length -= taken;
    }
#endif
#if IW_CRC_INSTRUCTION
    if (iw_crc_has_instruction())
        return iw_crc_instruction(crc, data, length);
#endif
    return iw_crc_other(crc, data, length);
}

/*
 * The length from which on ISA-L is used. In a loop it is as fast for shorter data. After a system
 * call its code and tables are out of the near caches, which costs a third of a microsecond.
 */
#define IW_CRC_LONG ((size_t)8192)

uint32_t iw_crc_update_narrow(uint32_t crc, const void *data, size_t length)
{
    if (ITAPI_CRC_ISAL && length >= IW_CRC_LONG)
        return iw_crc_other(crc, data, length);
    return iw_crc_short(crc, data, length);
}

uint32_t iw_crc_update(uint32_t crc, const void *data, size_t length)
{
#if IW_CRC_INSTRUCTION
    if (length < IW_CRC_FOLD_MIN && iw_crc_has_instruction())
        return iw_crc_instruction(crc, data, length);
#endif
#if IW_CRC_FOLD
    if (length >= IW_CRC_FOLD_MIN && iw_crc_fold_can())
        return iw_crc_fold(crc, data, length);
#endif
    return iw_crc_update_narrow(crc, data, length);
}

#define IW_CRC_PIECE ((size_t)8192)

/* In pieces that the first level cache holds between the copy and the sum. */
static uint32_t iw_crc_copy_pieces(uint32_t crc, void *dst, const void *src, size_t length)
{
    for (size_t at = 0; at < length; at += IW_CRC_PIECE) {
        size_t part = length - at < IW_CRC_PIECE ? length - at : IW_CRC_PIECE;

        memcpy((uint8_t *)dst + at, (const uint8_t *)src + at, part);
        crc = iw_crc_update(crc, (uint8_t *)dst + at, part);
    }
    return crc;
}

uint32_t iw_crc_copy(uint32_t crc, void *dst, const void *src, size_t length)
{
#if IW_CRC_FOLD
    if (length >= IW_CRC_FOLD_MIN && iw_crc_fold_can())
        return iw_crc_fold_copy(crc, dst, src, length);
#endif
    return iw_crc_copy_pieces(crc, dst, src, length);
}

uint32_t iw_crc_update_iov(uint32_t crc, const struct iovec *iov, unsigned count, size_t length)
{
    for (unsigned i = 0; i < count && length > 0; i++) {
        size_t part = iov[i].iov_len < length ? iov[i].iov_len : length;

        crc = iw_crc_update(crc, iov[i].iov_base, part);
        length -= part;
    }
    return crc;
}
