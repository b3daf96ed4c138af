/* SPDX-License-Identifier: BSD-2-Clause */
/* CRC32c (Castagnoli) as MPA uses it: iw_crc_final(iw_crc_update(IW_CRC_INIT, ...)). */
#ifndef ITAPI_TDI_IWARP_IW_CRC_H
#define ITAPI_TDI_IWARP_IW_CRC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define IW_CRC_INIT UINT32_C(0xffffffff)

/* Running value over more octets; any split gives the same result. */
uint32_t iw_crc_update(uint32_t crc, const void *data, size_t length);
uint32_t iw_crc_update_iov(uint32_t crc, const struct iovec *iov, unsigned count, size_t length);

/* Copies, and sums the copy: others may change the source at any time. */
uint32_t iw_crc_copy(uint32_t crc, void *dst, const void *src, size_t length);

/* The way of CPUs without the instructions of iw_crc_fold.h. */
uint32_t iw_crc_update_narrow(uint32_t crc, const void *data, size_t length);

/* The way of CPUs without an instruction for CRC32c, where ISA-L is left out. */
uint32_t iw_crc_update_table(uint32_t crc, const void *data, size_t length);

static inline uint32_t iw_crc_final(uint32_t crc)
{
    return ~crc;
}

#endif
