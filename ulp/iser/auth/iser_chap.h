/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CHAP of a login (RFC 7143 12.1.3), target side. Pure but for random numbers: texts of the
 * security stage in, texts out.
 */
#ifndef ITAPI_ULP_ISER_AUTH_ISER_CHAP_H
#define ITAPI_ULP_ISER_AUTH_ISER_CHAP_H

#include "itiser.h"
#include "pdu/iser_text.h"

#define ISER_CHALLENGE_MAX 64u

typedef enum {
    ISER_CHAP_MORE,  /* the answer is in out: the initiator goes on */
    ISER_CHAP_DONE,  /* the initiator is who it says, and has been answered */
    ISER_CHAP_FAILED /* login status 0201 */
} iser_chap_verdict_t;

/* Zeroed: a login that has not begun. */
struct iser_chap {
    int stage;
    unsigned algorithm;
    uint8_t id;
    uint8_t challenge[ISER_CHALLENGE_MAX];
    size_t challenge_length;
};

/*
 * One text of the security stage: takes AuthMethod and all CHAP_ keys, leaves others alone. What it
 * has to say is put behind what out holds. incoming.length 0: no proof is asked for, and
 * AuthMethod=None is taken.
 */
iser_chap_verdict_t iser_chap_step(struct iser_chap *chap, const struct itiser_secret *incoming,
                                   const struct itiser_secret *outgoing, const char *text,
                                   size_t length, struct iser_text *out);

#endif
