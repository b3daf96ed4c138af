/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a queue pair that is connected by hand has to say to the process of its peer's number: a
 * connection request that is always rejected, on an EP of its own.
 *
 * OFA_GREETING_KNOCK: it has come to RTS and is not the end that connects. So the peer connects
 * although it may never send itself, and an end whose peer is not there learns of that.
 *
 * OFA_GREETING_ASK: somebody has connected who knows both numbers and PSNs. Only the process that
 * listens on the port in the peer's number can say whether it was its queue pair: the rejection
 * then repeats the nonce.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_KNOCK_H
#define ITAPI_ULP_OFA_LINK_OFA_KNOCK_H

#include "object/ofa_object.h"

/* What has become of one. */
struct ofa_knock_answer {
    uint32_t number; /* whose it was; that queue pair may be gone */
    bool asked;      /* a question; else a knock */
    uint64_t short_nonce;
    bool reached;                    /* somebody listens there */
    const struct ofa_greeting *said; /* NULL: nothing */
};

/* On the IA's thread. */
typedef void (*ofa_knock_handler)(struct ofa_context *context,
                                  const struct ofa_knock_answer *answer);

/* What of a nonce tells one attempt of a queue pair from the next. */
static inline uint64_t ofa_knock_short_nonce(uint64_t nonce)
{
    return nonce & ((UINT64_C(1) << 39) - 1);
}

/* With ofa_context.open_lock, before anything is said. 0 or errno. */
int ofa_knock_open(struct ofa_context *context, ofa_knock_handler handler);

/* 0 or errno. On the IA's thread, or without a lock. */
int ofa_knock(struct ofa_qp *qp, const struct sockaddr_in6 *peer,
              const struct ofa_greeting *greeting, uint64_t timeout_us);

#endif /* ITAPI_ULP_OFA_LINK_OFA_KNOCK_H */
