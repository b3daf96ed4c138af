/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams: EPs (verbs_ud.c), destinations (verbs_address.c), finding EPs of peers (verbs_sidr.c). */
#ifndef ITAPI_VP_VERBS_QP_VERBS_UD_H
#define ITAPI_VP_VERBS_QP_VERBS_UD_H

#include "vp/verbs/device/verbs.h"

/* A part of a receive in which a part of the header arrives. */
struct verbs_ud_piece {
    const unsigned char *addr;
    size_t length;
};

/* What only an EP of datagrams has. */
struct verbs_ud {
    uint8_t port;       /* immutable, as what follows */
    bool on_ethernet;   /* there is a header always */
    size_t piece_count; /* per receive */
    /* By the number of the slot. Of a receive while it is posted: */
    struct verbs_ud_piece *pieces;
    /* and from its completion until its event is dequeued: */
    struct evd_datagram *datagrams;
};

/* A destination. */
struct verbs_address {
    struct ibv_ah *ah;
};

static inline struct verbs_address *verbs_address_of(struct ual_address *address)
{
    return (struct verbs_address *)(void *)((unsigned char *)address + verbs_host->address_offset);
}

/* ---------------------------------------------------------------- EPs (verbs_ud.c) */

/* The longest datagram that a port sends, 0 if it sends none. */
size_t verbs_ud_max(const struct verbs_ia *ia, uint8_t port);
/* What of the attributes only this provider knows. */
it_status_t verbs_ud_check(const struct verbs_ia *ia, uint8_t port, const it_ep_attributes_t *attr);
/* Sets ep->ud; the queues are made. False without memory. */
bool verbs_ud_make(struct verbs_ep *ep, uint8_t port);
void verbs_ud_free(struct verbs_ep *ep);
/* From RESET to RTS: 0 or errno. */
int verbs_ud_start_qp(const struct verbs_ep *ep, struct ibv_qp *qp);
/* The QP is ready: tells its number, lets requests in. With the EP's lock, if anybody knows the EP. */
void verbs_ud_open_locked(struct verbs_ep *ep);
/* With the lock of the queue: where the header of what this slot receives will be. */
void verbs_ud_note(struct verbs_queue *queue, const struct verbs_slot *slot,
                   const it_lmr_triplet_t *segments, size_t count);
/* With the lock of the EVD: what a completion says of where the datagram has come from. */
void verbs_ud_tell(struct verbs_ep *ep, const struct verbs_slot *slot, const struct ibv_wc *wc,
                   struct evd_dto *dto);
/* On the IA's thread: something has failed, perhaps the QP as a whole. */
void verbs_ud_failed(struct verbs_ep *ep);
it_status_t verbs_ud_modify_locked(struct verbs_ep *ep, unsigned mask,
                                   const it_ep_attributes_t *attr);

/* ---------------------------------------------------------------- functions of the provider's table */

it_status_t verbs_address_create(struct ual_address *ual, const it_path_t *path,
                                 it_ah_flags_t flags);
it_status_t verbs_address_modify(struct ual_address *ual, const it_path_t *path);
void verbs_address_destroy(struct ual_address *ual);

#endif
