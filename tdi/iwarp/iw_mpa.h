/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA startup of both roles, revisions 1 and 2 (RFC 5044 7.1, RFC 6581). It takes the peer's octets
 * and returns octets and a verdict. It never asks for an octet behind the frame. Time limits are up
 * to the caller.
 */
#ifndef ITAPI_TDI_IWARP_IW_MPA_H
#define ITAPI_TDI_IWARP_IW_MPA_H

#include "tdi/iwarp/iw.h"

#define IW_MPA_FRAME       20  /* octets before the private data */
#define IW_MPA_PRIVATE_MAX 512 /* limit of PD_Length, which counts the enhanced word */
#define IW_MPA_FRAME_MAX   (IW_MPA_FRAME + IW_MPA_PRIVATE_MAX)
#define IW_MPA_DEPTH_MAX   0x3ffeu /* largest read depth that a frame can hold */
#define IW_MPA_DEPTH_NONE  0x3fffu /* "not negotiated" */

enum iw_mpa_rtr {
    IW_RTR_SEND = 1,
    IW_RTR_WRITE = 2,
    IW_RTR_READ = 4
};

/* What this side wants. */
struct iw_mpa_config {
    unsigned revision; /* initiator: the one it sends, 1 or 2; responder: the highest it takes */
    bool crc;          /* ask for CRC */
    bool peer_to_peer; /* initiator: ask for the peer-to-peer model (A bit), revision 2 only */
    unsigned rtr; /* bits of enum iw_mpa_rtr: what the initiator can send, the responder take */
    bool suppress_depths; /* exchange no read depths: revision 2 then sends 3fff/3fff */
    uint16_t ird;         /* own read depths; at most IW_MPA_DEPTH_MAX */
    uint16_t ord;
};

/* What both sides agreed on. Written once; all later code takes the values from here. */
struct iw_mpa_result {
    unsigned revision;
    bool enhanced;     /* read depths were exchanged */
    bool crc;          /* both directions */
    bool send_markers; /* the peer wants markers in what this side sends */
    bool peer_to_peer;
    unsigned rtr; /* initiator: the kind it must send; responder: the kind it announced; or 0 */
    uint32_t ird; /* own depths, as agreed */
    uint32_t ord;
    uint32_t peer_ird; /* from the peer's frame; 0 when not enhanced */
    uint32_t peer_ord;
};

enum iw_mpa_verdict {
    IW_MPA_MORE,     /* read iw_mpa_wanted() more octets */
    IW_MPA_DONE,     /* the frame is complete and acceptable */
    IW_MPA_REJECTED, /* initiator: a valid Reply with the reject bit, and private data */
    IW_MPA_BAD,      /* the frame is malformed: close, send nothing */
    IW_MPA_REFUSE,   /* responder: answer iw_mpa_encode_refusal(), then close */
    IW_MPA_TERMINATE /* initiator: send a Terminate with mpa->error, then close */
};

struct iw_mpa {
    bool initiator;
    struct iw_mpa_config config;
    enum iw_mpa_verdict verdict;     /* IW_MPA_MORE until the frame is complete */
    enum iw_error error;             /* with IW_MPA_TERMINATE */
    uint16_t length;                 /* octets in frame */
    uint8_t frame[IW_MPA_FRAME_MAX]; /* the peer's frame */
    /* The peer's frame, decoded; valid with IW_MPA_DONE and IW_MPA_REJECTED. */
    uint8_t peer_flags;
    unsigned peer_revision;
    bool peer_enhanced;
    uint32_t peer_word;          /* RFC 6581 enhanced word */
    const uint8_t *private_data; /* the upper layer's, inside .frame */
    uint16_t private_length;
    struct iw_mpa_result
        result; /* initiator: with IW_MPA_DONE; responder: after iw_mpa_encode_reply */
};

void iw_mpa_init(struct iw_mpa *mpa, bool initiator, const struct iw_mpa_config *config);

/* Writes an initiator's Request to dst, of IW_MPA_FRAME_MAX octets. Returns its length. */
size_t iw_mpa_encode_request(const struct iw_mpa *mpa, const void *private_data,
                             size_t private_length, uint8_t *dst);

/* Returns how many octets to read next, never behind the frame; 0 after the verdict. */
size_t iw_mpa_wanted(const struct iw_mpa *mpa);

/* Takes at most iw_mpa_wanted() octets. Refuses a wrong octet of the key as soon as it comes. */
enum iw_mpa_verdict iw_mpa_feed(struct iw_mpa *mpa, const uint8_t *data, size_t length);

/*
 * Writes a responder's Reply, after IW_MPA_DONE, and fills in .result. The caller may have changed
 * .config.ird and .ord to those of the EP.
 */
size_t iw_mpa_encode_reply(struct iw_mpa *mpa, const void *private_data, size_t private_length,
                           uint8_t *dst);
/* Writes a Reply with the reject bit, and the upper layer's private data. */
size_t iw_mpa_encode_reject(const struct iw_mpa *mpa, const void *private_data,
                            size_t private_length, uint8_t *dst);
/* Writes a Reply with the reject bit alone, after IW_MPA_REFUSE. */
size_t iw_mpa_encode_refusal(const struct iw_mpa *mpa, uint8_t *dst);

#endif
