/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The receiving half of a stream in Full Operation: octets in, calls out. Resumes at any octet;
 * keeps no payload. The reader feeds it what it has read (iw_rx_consume); in the middle of a large
 * payload the reader may instead read straight into the destination (iw_rx_direct_begin / _end).
 *
 * With CRC on nothing is reported (done, read_request, terminate ...) from an FPDU before its CRC
 * was found good. A segment that lies whole in the consumed octets is checked before it is placed;
 * of one that arrives in pieces the payload is placed as it comes. When the header of an FPDU that
 * arrives in pieces is refused, the verdict waits for the CRC: a damaged FPDU is a CRC error, not
 * whatever its damaged header looks like. The sequence of calls does not depend on how the octets
 * were cut (map/unmap apart).
 */
#ifndef ITAPI_TDI_IWARP_IW_RX_H
#define ITAPI_TDI_IWARP_IW_RX_H

#include "tdi/iwarp/iw.h"

#include <sys/uio.h>

#define IW_RX_IOV_MAX 16
#define IW_RX_CARRY                                                                                \
    96 /* longest FPDU that is collected before it is looked at: control messages,
                          small data; one that is longer is looked at when its header is there */

struct iw_rx_ops {
    /*
     * A data segment (Write, Read Response, Send family) is about to be placed: is there a buffer,
     * does the STag allow it, does the Read exist? Consumes nothing. Zero-length tagged Writes
     * never come here.
     */
    enum iw_error (*check)(void *context, const struct iw_segment *segment);
    /*
     * Memory for the payload octets [offset, offset + *length) of the segment, as at most
     * IW_RX_IOV_MAX pieces; stays valid until unmap. *length becomes what the pieces sum up to:
     * less where more of them would be needed, but not 0. Called only after check, again for each
     * piece of the segment that arrives, since the memory may go away between two pieces.
     */
    enum iw_error (*map)(void *context, const struct iw_segment *segment, uint32_t offset,
                         uint32_t *length, struct iovec *iov, unsigned *count);
    void (*unmap)(void *context);
    /*
     * In place of check, map and unmap for a segment whose payload is all there and whose CRC is
     * good: copies it to where it belongs. NULL: check, map and unmap are called.
     */
    enum iw_error (*place)(void *context, const struct iw_segment *segment, const uint8_t *payload);
    /*
     * In place of all of these for the usual message, whose payload is all there and whose CRC is
     * good: a Send of one segment, not an empty one, that invalidates nothing. False: nothing has
     * been done, and they are called. NULL: always so.
     */
    bool (*take)(void *context, const uint8_t *payload, uint32_t length, bool solicited);
    /* All of the segment is placed, its CRC is good. For each data segment, empty Writes too. */
    enum iw_error (*done)(void *context, const struct iw_segment *segment);
    enum iw_error (*read_request)(void *context, const struct iw_read_request *request);
    /* RFC 7306. Who does not speak it answers IW_ERR_RDMAP_OPCODE. */
    enum iw_error (*atomic_request)(void *context, const struct iw_atomic_request *request);
    enum iw_error (*atomic_response)(void *context, const struct iw_atomic_response *response);
    enum iw_error (*immediate)(void *context, uint64_t value, bool solicited);
    /* Ends the stream: everything behind it is dropped. */
    void (*terminate)(void *context, const struct iw_terminate *terminate);
};

enum iw_rx_state {
    IW_RX_HEADER,  /* collecting ULPDU_Length and headers (or a whole short FPDU) in carry */
    IW_RX_PAYLOAD, /* placing */
    IW_RX_TRAILER, /* pad and CRC, in carry */
    IW_RX_REFUSED, /* skipping the payload of a refused FPDU until its CRC decides */
    IW_RX_DEAD     /* after an error or a Terminate: everything is dropped */
};

struct iw_rx {
    const struct iw_rx_ops *ops;
    void *context;
    enum iw_rx_state state;
    bool crc; /* verify CRCs */
    uint8_t carry_length;
    uint8_t header_length; /* octets of DDP + RDMAP header kept for a Terminate */
    uint32_t ulpdu_length;
    uint32_t next_msn[4];       /* expected MSN of queue 0 to 3 */
    bool send_open;             /* within a Send: a segment has come, the last has not */
    uint32_t send_mo;           /* where its next segment goes; 0 between two */
    enum iw_opcode send_opcode; /* all segments of one Send carry the same */
    uint32_t send_stag;
    struct iw_segment segment; /* current FPDU */
    uint64_t fpdus;            /* good FPDUs so far, a Terminate apart; the reader watches it for
                                  "first FPDU arrived" */
    /* An FPDU that arrives in pieces. */
    uint32_t placed; /* payload octets already placed or skipped */
    uint32_t crc_value;
    uint32_t mapped;       /* octets handed out by direct_begin */
    enum iw_error verdict; /* what it will be if the CRC is good */
    uint8_t carry[IW_RX_CARRY];
    uint8_t header[IW_UNTAGGED_HEADER + IW_ATOMIC_REQUEST_HEADER];
    unsigned direct_count;
    struct iovec direct[IW_RX_IOV_MAX]; /* where direct_begin pointed to, for the CRC */
};

void iw_rx_init(struct iw_rx *rx, const struct iw_rx_ops *ops, void *context, bool crc);

/*
 * Takes all length octets. IW_OK, or the first error; then rx is dead and the caller sends the
 * Terminate (iw_rx_fill_terminate) and ends the stream. In a dead rx octets vanish with IW_OK.
 */
enum iw_error iw_rx_consume(struct iw_rx *rx, const uint8_t *data, size_t length);

/* Payload octets of the current FPDU that are still to come and may be read directly; 0: none. */
uint32_t iw_rx_direct_wanted(const struct iw_rx *rx);

/*
 * Maps the next *wanted octets, or the first of them: *wanted becomes how many. The caller reads
 * into iov and then calls iw_rx_direct_end, in any case.
 */
enum iw_error iw_rx_direct_begin(struct iw_rx *rx, uint32_t *wanted, struct iovec *iov,
                                 unsigned *count);
enum iw_error iw_rx_direct_end(struct iw_rx *rx, uint32_t arrived);

/* Octets that have come of the Send that is not complete yet. */
uint32_t iw_rx_arrived(const struct iw_rx *rx);

/* True between two FPDUs: a FIN here is graceful. Also true when dead. */
bool iw_rx_at_boundary(const struct iw_rx *rx);

/* The Terminate that the error just returned asks for. */
void iw_rx_fill_terminate(const struct iw_rx *rx, enum iw_error error,
                          struct iw_terminate *terminate);

#endif
