/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MPA startup of both roles, revisions 1 and 2 (RFC 5044 7.1, RFC 6581). Fed octets, returns octets
 * and a verdict; never asks for an octet past the frame. Time limits are the caller's.
 */
#ifndef ITAPI_TDI_IWARP_IW_MPA_H
#define ITAPI_TDI_IWARP_IW_MPA_H

#include "tdi/iwarp/iw.h"

#define IW_MPA_FRAME       20  /* octets in front of the private data */
#define IW_MPA_PRIVATE_MAX 512 /* PD_Length, the enhanced word included */
#define IW_MPA_FRAME_MAX   (IW_MPA_FRAME + IW_MPA_PRIVATE_MAX)
#define IW_MPA_DEPTH_MAX   0x3ffeu /* largest read depth that can be said */
#define IW_MPA_DEPTH_NONE  0x3fffu /* "not negotiated" */

enum iw_mpa_rtr {
    IW_RTR_SEND = 1,
    IW_RTR_WRITE = 2,
    IW_RTR_READ = 4
};

/* The wishes of this side. */
struct iw_mpa_config {
    unsigned revision;    /* initiator: 1 or 2 is sent; responder: the highest one taken */
    bool crc;             /* ask for CRC */
    bool peer_to_peer;    /* initiator: ask for the peer-to-peer model (A bit), revision 2 only */
    unsigned rtr;         /* enum iw_mpa_rtr bits: initiator can send, responder can take */
    bool suppress_depths; /* do not exchange read depths: revision 2 says 3fff/3fff */
    uint16_t ird;         /* own read depths, at most IW_MPA_DEPTH_MAX */
    uint16_t ord;
};

/* The agreement of both sides: written once, the only source afterwards. */
struct iw_mpa_result {
    unsigned revision;
    bool enhanced;     /* read depths were exchanged */
    bool crc;          /* both directions */
    bool send_markers; /* the peer wants markers in what we send */
    bool peer_to_peer;
    unsigned
        rtr; /* initiator: the one kind it must send; responder: the one it announced; 0: none */
    uint32_t ird; /* own effective depths */
    uint32_t ord;
    uint32_t peer_ird; /* as the peer said; 0 when not enhanced */
    uint32_t peer_ord;
};

enum iw_mpa_verdict {
    IW_MPA_MORE,     /* read iw_mpa_wanted() more octets */
    IW_MPA_DONE,     /* frame complete and acceptable */
    IW_MPA_REJECTED, /* initiator: well-formed Reply with the reject bit; private data is there */
    IW_MPA_BAD,      /* malformed: close, send nothing */
    IW_MPA_REFUSE,   /* responder: answer iw_mpa_encode_refusal(), then close */
    IW_MPA_TERMINATE /* initiator: Reply not acceptable: Terminate with mpa->error, then close */
};

struct iw_mpa {
    bool initiator;
    struct iw_mpa_config config;
    enum iw_mpa_verdict verdict;     /* MORE until the frame is judged */
    enum iw_error error;             /* with TERMINATE */
    uint16_t length;                 /* octets in frame */
    uint8_t frame[IW_MPA_FRAME_MAX]; /* the peer's frame */
    /* The peer's frame, decoded; valid with DONE, REJECTED. */
    uint8_t peer_flags;
    unsigned peer_revision;
    bool peer_enhanced;
    uint32_t peer_word;          /* RFC 6581 enhanced word */
    const uint8_t *private_data; /* the ULP's, inside frame */
    uint16_t private_length;
    struct iw_mpa_result result; /* initiator: with DONE; responder: after iw_mpa_encode_reply */
};

void iw_mpa_init(struct iw_mpa *mpa, bool initiator, const struct iw_mpa_config *config);

/* Longest ULP private data that fits this side's frame, 512 or 508. Responder: valid after DONE. */
size_t iw_mpa_private_max(const struct iw_mpa *mpa);

/* Initiator's Request. dst has IW_MPA_FRAME_MAX octets. Returns its length. */
size_t iw_mpa_encode_request(const struct iw_mpa *mpa, const void *private_data,
                             size_t private_length, uint8_t *dst);

/* Octets to read next, never past the frame; 0 when judged. */
size_t iw_mpa_wanted(const struct iw_mpa *mpa);

/* At most iw_mpa_wanted() octets. A wrong octet of the key is refused as soon as it is seen. */
enum iw_mpa_verdict iw_mpa_feed(struct iw_mpa *mpa, const uint8_t *data, size_t length);

/* Responder, after DONE. config.ird/ord may have been changed to those of the EP. Fills result. */
size_t iw_mpa_encode_reply(struct iw_mpa *mpa, const void *private_data, size_t private_length,
                           uint8_t *dst);
/* Responder: the ULP says no (R bit), with its private data. */
size_t iw_mpa_encode_reject(const struct iw_mpa *mpa, const void *private_data,
                            size_t private_length, uint8_t *dst);
/* Responder, after REFUSE: R bit, nothing else. */
size_t iw_mpa_encode_refusal(const struct iw_mpa *mpa, uint8_t *dst);

#endif
