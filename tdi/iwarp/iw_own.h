/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values that two ends of this library exchange in the STag and offset of empty messages, which
 * other peers do not look at (RFC 5040 5.2, RFC 5041 5.1): docs/acknowledgement.md.
 */
#ifndef ITAPI_TDI_IWARP_IW_OWN_H
#define ITAPI_TDI_IWARP_IW_OWN_H

#include "tdi/iwarp/iw.h"

#define IW_OWN_ACKS 1u
#define IW_OWN_HOLD 2u
#define IW_OWN_IMM  4u

/*
 * A bit of the RDMAP control octet that RFC 5040 4.1 reserves. After IW_OWN_IMM was agreed, a Send
 * with this bit carries a value in place of an STag to invalidate.
 */
#define IW_OWN_VALUE 0x10u

/* The offset of the Read that opens a connection, and of its response, with the bits << 8. */
#define IW_OWN_GREETING   UINT64_C(0x6974617000000001)
#define IW_OWN_BITS_SHIFT 8
#define IW_OWN_BITS       UINT64_C(0xff00)

/*
 * The STag and offset of an acknowledgement. The offset holds, from its top: IW_OWN_ACK; how often
 * a Send of the acknowledging side may be retried, plus one (0: for ever); a bit that says that
 * this is its last acknowledgement; a bit that says that a Send waits for a receive; the number of
 * messages.
 */
#define IW_OWN_STAG        UINT32_C(0x69746101)
#define IW_OWN_ACK         UINT64_C(0x6974)
#define IW_OWN_ACK_SHIFT   48
#define IW_OWN_LIMIT_SHIFT 45
#define IW_OWN_LIMIT       7u
#define IW_OWN_LAST        (UINT64_C(1) << 44)
#define IW_OWN_WAITS       (UINT64_C(1) << 43)

static inline uint64_t iw_own_greeting(unsigned bits)
{
    return IW_OWN_GREETING | (uint64_t)bits << IW_OWN_BITS_SHIFT;
}

/* Returns the bits of a greeting; 0 if it has none, or is no greeting. */
static inline unsigned iw_own_bits(uint64_t offset)
{
    if ((offset & ~IW_OWN_BITS) != IW_OWN_GREETING)
        return 0;
    return (unsigned)((offset & IW_OWN_BITS) >> IW_OWN_BITS_SHIFT);
}

/* Returns the offset of an acknowledgement of that many messages. */
static inline uint64_t iw_own_ack(uint64_t messages, unsigned limit)
{
    return IW_OWN_ACK << IW_OWN_ACK_SHIFT | (uint64_t)limit << IW_OWN_LIMIT_SHIFT | messages;
}

static inline bool iw_own_is_ack(const struct iw_segment *segment)
{
    return segment->opcode == IW_OP_WRITE && segment->length == 0 && segment->stag == IW_OWN_STAG &&
           segment->to >> IW_OWN_ACK_SHIFT == IW_OWN_ACK;
}

static inline uint64_t iw_own_acknowledged(const struct iw_segment *segment)
{
    return segment->to & (IW_OWN_WAITS - 1);
}

static inline unsigned iw_own_limit(const struct iw_segment *segment)
{
    return (unsigned)(segment->to >> IW_OWN_LIMIT_SHIFT) & IW_OWN_LIMIT;
}

#endif
