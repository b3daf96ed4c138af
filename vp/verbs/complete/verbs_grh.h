/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of a datagram, by the header in front of its data. */
#ifndef ITAPI_VP_VERBS_COMPLETE_VERBS_GRH_H
#define ITAPI_VP_VERBS_COMPLETE_VERBS_GRH_H

#include "vp/verbs/device/verbs_ep.h"

#define UD_HEADER 40u

/* A part of a receive in which a part of the header arrives. */
struct verbs_ud_piece {
    const unsigned char *addr;
    size_t length;
};

/* The part of an EP of datagrams. */
struct verbs_ud {
    uint8_t port;       /* immutable, as what follows */
    bool on_ethernet;   /* there is a header always */
    size_t piece_count; /* per receive */
    /* By the number of the slot. Of a receive while it is posted: */
    struct verbs_ud_piece *pieces;
    /* and from its completion until its event is dequeued: */
    struct evd_datagram *datagrams;
};

/* With the lock of the queue: where the header of what this slot receives will be. */
void verbs_ud_note(struct verbs_queue *queue, const struct verbs_slot *slot,
                   const it_lmr_triplet_t *segments, size_t count);

/* With the lock of the EVD: what a completion says of where the datagram has come from. */
void verbs_ud_tell(struct verbs_ep *ep, const struct verbs_slot *slot, const struct ibv_wc *wc,
                   struct evd_dto *dto);

#endif
