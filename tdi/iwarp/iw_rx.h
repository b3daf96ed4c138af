/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiving half of a stream in Full Operation turns octets into calls. It resumes at any octet
 * and keeps no payload. The reader passes on what it has read (iw_rx_consume). In the middle of a
 * large payload it may instead read straight into the destination (iw_rx_direct_begin / _end).
 *
 * With CRC on, nothing of an FPDU is reported (done, read_request, terminate ...) before its CRC is
 * found good. The CRC of an FPDU that is whole in the consumed octets is checked before the payload
 * is placed; the payload of one that arrives in pieces is placed as it comes. If the header of such
 * an FPDU is refused, the verdict waits for the CRC: a damaged FPDU is a CRC error, whatever its
 * header looks like. But for map and unmap, the sequence of calls does not depend on how the octets
 * were cut.
 */
#ifndef ITAPI_TDI_IWARP_IW_RX_H
#define ITAPI_TDI_IWARP_IW_RX_H

#include "tdi/iwarp/iw.h"

#include <sys/uio.h>

#define IW_RX_IOV_MAX 16
#define IW_RX_CARRY                                                                                \
    96 /* the longest FPDU that is collected whole: control messages, small data; of a longer
                          one only the header */

struct iw_rx_ops {
    /*
     * Decides whether a data segment (Write, Read Response, Send family) may be placed: there is a
     * receive, the STag allows it, the Read exists. Changes nothing. Not called for an RDMA Write
     * of no octets.
     */
    enum iw_error (*check)(void *context, const struct iw_segment *segment);
    /*
     * Returns memory for the payload octets [offset, offset + *length) of the segment, as at most
     * IW_RX_IOV_MAX pieces, which stay valid until unmap. *length becomes the sum of the pieces: it
     * shrinks, though not to 0, if more pieces were needed. Called after check, and again for each
     * part of the segment that arrives, since the memory may be deregistered in between.
     */
    enum iw_error (*map)(void *context, const struct iw_segment *segment, uint32_t offset,
                         uint32_t *length, struct iovec *iov, unsigned *count);
    void (*unmap)(void *context);
    /*
     * Checks and copies a segment whose payload is complete and whose CRC is good, in place of
     * check, map and unmap; may be NULL.
     */
    enum iw_error (*place)(void *context, const struct iw_segment *segment, const uint8_t *payload);
    /*
     * Takes a complete usual message with a good CRC, in place of all these and done: a Send of one
     * segment, not empty, that invalidates nothing. Returns false when it did nothing: the others
     * are called then. May be NULL.
     */
    bool (*take)(void *context, const uint8_t *payload, uint32_t length, bool solicited);
    /* Reports a data segment that is placed and whose CRC is good; also empty Writes. */
    enum iw_error (*done)(void *context, const struct iw_segment *segment);
    enum iw_error (*read_request)(void *context, const struct iw_read_request *request);
    /* RFC 7306. A provider without it returns IW_ERR_RDMAP_OPCODE from the next three. */
    enum iw_error (*atomic_request)(void *context, const struct iw_atomic_request *request);
    enum iw_error (*atomic_response)(void *context, const struct iw_atomic_response *response);
    enum iw_error (*immediate)(void *context, uint64_t value, bool solicited);
    /* Reports a Terminate, which ends the stream: all octets behind it are dropped. */
    void (*terminate)(void *context, const struct iw_terminate *terminate);
};

enum iw_rx_state {
    IW_RX_HEADER,  /* collects ULPDU_Length and headers, or a whole short FPDU, in carry */
    IW_RX_PAYLOAD, /* places payload */
    IW_RX_TRAILER, /* collects pad and CRC in carry */
    IW_RX_REFUSED, /* skips the payload of a refused FPDU; then the CRC decides */
    IW_RX_DEAD     /* drops everything, after an error or a Terminate */
};

struct iw_rx {
    const struct iw_rx_ops *ops;
    void *context;
    enum iw_rx_state state;
    bool crc; /* verify CRCs */
    uint8_t carry_length;
    uint8_t header_length; /* octets in .header, which a Terminate may quote */
    uint32_t ulpdu_length;
    uint32_t next_msn[4];       /* expected MSN of queue 0 to 3 */
    bool send_open;             /* a segment of a Send has come, and not the last one */
    uint32_t send_mo;           /* MO of the next segment; 0 between two Sends */
    enum iw_opcode send_opcode; /* the same in all segments of a Send */
    uint32_t send_stag;
    struct iw_segment segment; /* current FPDU */
    uint64_t fpdus;            /* number of good FPDUs, without a Terminate; tells the reader
                                  that the first one has come */
    /* An FPDU that arrives in pieces. */
    uint32_t placed; /* payload octets placed or skipped so far */
    uint32_t crc_value;
    uint32_t mapped;       /* octets mapped by direct_begin */
    enum iw_error verdict; /* the result if the CRC is good */
    uint8_t carry[IW_RX_CARRY];
    uint8_t header[IW_UNTAGGED_HEADER + IW_ATOMIC_REQUEST_HEADER];
    unsigned direct_count;
    struct iovec direct[IW_RX_IOV_MAX]; /* the pieces of direct_begin, for the CRC */
};

void iw_rx_init(struct iw_rx *rx, const struct iw_rx_ops *ops, void *context, bool crc);

/*
 * Consumes all length octets. Returns IW_OK or the first error. After an error rx is dead: the
 * caller sends the Terminate (iw_rx_fill_terminate) and ends the stream. A dead rx drops octets,
 * with IW_OK.
 */
enum iw_error iw_rx_consume(struct iw_rx *rx, const uint8_t *data, size_t length);

/* Returns how many payload octets of the current FPDU may be read directly. */
uint32_t iw_rx_direct_wanted(const struct iw_rx *rx);

/*
 * Maps up to *wanted of the next octets; *wanted becomes their number. The caller reads into iov,
 * and calls iw_rx_direct_end whatever the read returned.
 */
enum iw_error iw_rx_direct_begin(struct iw_rx *rx, uint32_t *wanted, struct iovec *iov,
                                 unsigned *count);
enum iw_error iw_rx_direct_end(struct iw_rx *rx, uint32_t arrived);

/* Returns how many octets of the incomplete Send have come. */
uint32_t iw_rx_arrived(const struct iw_rx *rx);

/* Returns true between two FPDUs, where a FIN is graceful, and when dead. */
bool iw_rx_at_boundary(const struct iw_rx *rx);

/* Fills in the Terminate for the error that was just returned. */
void iw_rx_fill_terminate(const struct iw_rx *rx, enum iw_error error,
                          struct iw_terminate *terminate);

#endif
