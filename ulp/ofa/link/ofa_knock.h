/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of a queue pair that is connected by hand to the process of its peer's number. A message
 * is a connection request on an EP of its own, which is always rejected.
 *
 * OFA_GREETING_KNOCK: the queue pair has entered RTS and is not the end that connects. So the peer
 * connects although it may never send itself, and an end whose peer does not exist learns of that.
 *
 * OFA_GREETING_ASK: a request with both numbers and PSNs has arrived. Only the process that listens
 * on the port in the peer's number knows whether its queue pair has sent it; if so, the rejection
 * repeats the nonce.
 */
#ifndef ITAPI_ULP_OFA_LINK_OFA_KNOCK_H
#define ITAPI_ULP_OFA_LINK_OFA_KNOCK_H

#include "object/ofa_object.h"

/* The outcome of a message. */
struct ofa_knock_answer {
    uint32_t number; /* of the queue pair, which may be destroyed */
    bool asked;      /* a question; otherwise a knock */
    uint64_t nonce;
    bool reached;                    /* a process listens there */
    const struct ofa_greeting *said; /* contents of the rejection; NULL: none */
};

/* Called on the IA's thread. */
typedef void (*ofa_knock_handler)(struct ofa_context *context,
                                  const struct ofa_knock_answer *answer);

/* With ofa_context.open_lock, before the first message. Returns 0 or errno. */
int ofa_knock_open(struct ofa_context *context, ofa_knock_handler handler);

/* Called after the adapter is closed: no answer comes any more. */
void ofa_knock_close(struct ofa_context *context);

/* Sends a message. On the IA's thread, or without a lock. Returns 0 or errno. */
int ofa_knock(struct ofa_qp *qp, const struct sockaddr_in6 *peer,
              const struct ofa_greeting *greeting, uint64_t timeout_us);

#endif /* ITAPI_ULP_OFA_LINK_OFA_KNOCK_H */
