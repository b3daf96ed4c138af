/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CHAP of a login (RFC 7143 12.1.3), both ends. Pure but for random numbers: texts of the security
 * stage in, texts out.
 */
#ifndef ITAPI_ULP_ISER_AUTH_ISER_CHAP_H
#define ITAPI_ULP_ISER_AUTH_ISER_CHAP_H

#include "itiser.h"
#include "pdu/iser_text.h"

#define ISER_SECRET_MIN    12u /* octets of a secret */
#define ISER_CHALLENGE     32u /* octets of our challenges */
#define ISER_CHALLENGE_MIN 16u /* of the peer's: shorter ones are refused */
#define ISER_CHALLENGE_MAX 1024u

typedef enum {
    ISER_CHAP_MORE,  /* the answer is in out: the login goes on */
    ISER_CHAP_DONE,  /* the peer is who it says, and has been answered */
    ISER_CHAP_FAILED /* login status 0201 */
} iser_chap_verdict_t;

typedef enum {
    ISER_CHAP_METHOD,    /* target: waits for AuthMethod */
    ISER_CHAP_ALGORITHM, /* for CHAP_A */
    ISER_CHAP_RESPONSE,  /* for CHAP_R */
    ISER_CHAP_OVER
} iser_chap_stage_t;

/* Zeroed: a login that has not begun. */
struct iser_chap {
    iser_chap_stage_t stage;
    unsigned algorithm;
    uint8_t id;
    uint8_t challenge[ISER_CHALLENGE]; /* ours */
};

/* What is wrong with a pair of secrets, for people; NULL: nothing. Either may have length 0. */
const char *iser_chap_complaint(const struct itiser_secret *incoming,
                                const struct itiser_secret *outgoing);

/*
 * Target: one text of the security stage. Takes AuthMethod and all CHAP_ keys, leaves others alone.
 * What it has to say is put behind what out holds. incoming.length 0: no proof is asked for, and
 * AuthMethod=None is taken.
 */
iser_chap_verdict_t iser_chap_step(struct iser_chap *chap, const struct itiser_secret *incoming,
                                   const struct itiser_secret *outgoing, const char *text,
                                   size_t length, struct iser_text *out);

/*
 * Initiator: the same for the answers of the target; an empty text begins. own: what this end
 * proves; target: what the target has to prove, length 0: nothing.
 */
iser_chap_verdict_t iser_chap_initiate(struct iser_chap *chap, const struct itiser_secret *own,
                                       const struct itiser_secret *target, const char *text,
                                       size_t length, struct iser_text *out);

#endif
