/* SPDX-License-Identifier: BSD-2-Clause */
/* Operational keys of a login (RFC 7143 13, RFC 7145 6) as one table. Pure. */
#ifndef ITAPI_ULP_ISER_SESSION_ISER_KEYS_H
#define ITAPI_ULP_ISER_SESSION_ISER_KEYS_H

#include "pdu/iser_text.h"

/* The negotiated values; before that, the defaults. Booleans are 0 or 1. */
struct iser_params {
    uint32_t header_digest, data_digest; /* 1: CRC32C */
    uint32_t initial_r2t, immediate_data;
    uint32_t max_burst, first_burst;
    uint32_t max_r2t, max_connections, recovery_level;
    uint32_t time2wait, time2retain;
    uint32_t pdu_in_order, sequence_in_order, if_marker, of_marker;
    uint32_t receive_max; /* MaxRecvDataSegmentLength of the initiator */
    uint32_t rdma, initiator_receive_max, target_receive_max;
    uint32_t hello, tagged_solicited, tagged_told; /* tagged_told: the key was sent */
    uint32_t unexpected_max, ahs_max;
};

/* The values that this side insists on. */
struct iser_terms {
    bool initial_r2t;  /* InitialR2T=Yes */
    bool no_immediate; /* ImmediateData=No */
    bool rdma;         /* RDMAExtensions=Yes is acceptable */
    bool digests;      /* CRC32C is acceptable: plain TCP */
    bool connection;   /* the session has begun: only keys of its connection may come */
    uint32_t first_burst;
    bool first_burst_set; /* by the configuration: initiators that offer nothing are told */
};

/* Keys of a login so far, as bits; initially zero. */
struct iser_keys_said {
    uint64_t theirs;  /* the initiator has sent them */
    uint64_t offered; /* this side has offered them, and the initiator may still answer */
};

void iser_params_init(struct iser_params *params);
/* Takes the values of a session for another connection; those of the connection are as at first. */
void iser_params_continue(struct iser_params *params, const struct iser_params *session);

/*
 * Handles a legal text and appends the answers to out. Returns false if a key has come twice, may
 * not come, or answers an offer by what was not offered.
 */
bool iser_keys_negotiate(struct iser_params *params, const struct iser_terms *terms,
                         const char *text, size_t length, struct iser_keys_said *said,
                         struct iser_text *out);
/*
 * Called before the last answer: offers what this side insists on and the initiator has not
 * offered, since the defaults would hold otherwise. Returns true if the initiator has to answer.
 */
bool iser_keys_offer(struct iser_params *params, const struct iser_terms *terms,
                     struct iser_keys_said *said, struct iser_text *out);
/*
 * Handles a key after the login, where an initiator may only declare another
 * MaxRecvDataSegmentLength and its alias; answers all other keys.
 */
void iser_keys_declare(struct iser_params *params, const char *name, const char *value,
                       struct iser_text *out);

#endif
