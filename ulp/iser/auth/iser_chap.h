/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CHAP in a login (RFC 7143 12.1.3), for both ends. Pure except for random numbers: texts of the
 * security stage in, texts out.
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
    ISER_CHAP_MORE,  /* the answer is in out; the login continues */
    ISER_CHAP_DONE,  /* the peer is authenticated, and has its answer */
    ISER_CHAP_FAILED /* login status 0201 */
} iser_chap_verdict_t;

typedef enum {
    ISER_CHAP_METHOD,    /* target: waits for AuthMethod */
    ISER_CHAP_ALGORITHM, /* waits for CHAP_A */
    ISER_CHAP_RESPONSE,  /* waits for CHAP_R */
    ISER_CHAP_OVER
} iser_chap_stage_t;

/* Zeroed: a login that has not begun. */
struct iser_chap {
    iser_chap_stage_t stage;
    unsigned algorithm;
    uint8_t id;
    uint8_t challenge[ISER_CHALLENGE]; /* of this side */
};

/*
 * Returns what is wrong with a pair of secrets, as text; NULL: nothing. Either may have length 0.
 */
const char *iser_chap_complaint(const struct itiser_secret *incoming,
                                const struct itiser_secret *outgoing);

/*
 * Target: handles one text of the security stage. Takes AuthMethod and all CHAP_ keys, and ignores
 * other keys. Appends its answer to out. incoming.length 0: no proof is required, and
 * AuthMethod=None is accepted.
 */
iser_chap_verdict_t iser_chap_step(struct iser_chap *chap, const struct itiser_secret *incoming,
                                   const struct itiser_secret *outgoing, const char *text,
                                   size_t length, struct iser_text *out);

/*
 * Initiator: the same for the answers of the target; an empty text begins. own: the secret that
 * this side proves; target: the secret that the target must prove; length 0: none.
 */
iser_chap_verdict_t iser_chap_initiate(struct iser_chap *chap, const struct itiser_secret *own,
                                       const struct itiser_secret *target, const char *text,
                                       size_t length, struct iser_text *out);

#endif
