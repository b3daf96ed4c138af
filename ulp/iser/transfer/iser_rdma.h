/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link over RDMA (RFC 7145): PDUs are Sends, data of reads is sent by RDMA Writes, solicited data
 * of writes is fetched by RDMA Reads. An endpoint with one EVD for all its events.
 */
#ifndef ITAPI_ULP_ISER_TRANSFER_ISER_RDMA_H
#define ITAPI_ULP_ISER_TRANSFER_ISER_RDMA_H

#include "transfer/iser_link.h"
#include "transfer/iser_stay.h"

#include "itx_api.h"

#include <event2/event.h>
#include <event2/event_struct.h>

#define RDMA_SLOT 8448u /* iSER header, header segment, 8192 octets of data, padding */
/* One receive holds the request being answered, while another takes the next. */
#define RDMA_LOGIN_RECEIVES 2u
#define RDMA_LOGIN_SENDS    4u
#define RDMA_SENDS_SPARE    64u  /* Sends in addition to two responses for each command */
#define RDMA_DEPTH          16u  /* maximum of outstanding RDMA Reads */
#define RDMA_REQUESTS       640u /* a Send for each slot, a Write or a Read for each command */
#define RDMA_RECEIVES       (ISER_LINK_RECEIVES + RDMA_LOGIN_RECEIVES)

/* State that IAs and links share. Zeroed, then .ia, .pz, .base and .stay are set. */
struct iser_rdma_shared {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    struct event_base *base;
    struct rdma *dying; /* links whose EVD must be freed outside its callback */
    bool no_crc;        /* do not ask for CRC */
    bool is_device;     /* not uiwarp */
    struct iser_stay *stay;
};

struct rdma_slot {
    uint8_t *octets;
    it_lmr_handle_t lmr;
    struct rdma_slot *next;
    struct iser_transfer *transfer; /* of a response */
};

/* Slots that are allocated and registered together. */
struct rdma_region {
    uint8_t *octets;
    it_lmr_handle_t lmr;
    struct rdma_slot *slots;
    unsigned count;
};

/* The kind of a request is in the low bits of its cookie; the rest is a pointer. */
enum rdma_cookie {
    RDMA_RECEIVE, /* struct rdma_slot */
    RDMA_SEND,    /* struct rdma_slot */
    RDMA_READ,    /* struct iser_transfer */
    RDMA_WRITE,   /* no pointer: the completion of the next Send covers it */
    RDMA_COOKIES
};

/* A Send, an RDMA Read or an RDMA Write. */
struct rdma_request {
    enum rdma_cookie kind;
    it_lmr_triplet_t segment;
    it_dto_cookie_t cookie;
    unsigned flags; /* it_dto_flags_t */
    bool invalidates;
    uint32_t stag; /* the initiator's: to invalidate, read from or write to */
    uint64_t place;
};

struct rdma {
    struct iser_link link;
    struct iser_rdma_shared *shared;
    it_evd_handle_t evd;
    it_ep_handle_t ep;
    struct rdma_region login, full;
    struct rdma_slot *free; /* free slots for Sends */
    unsigned sending;
    /* During a turn requests are deferred and sent together at its end. */
    unsigned turns;
    bool has_last;
    struct rdma_request last; /* the last request; earlier ones are posted, and wait for this one */
    bool remote_invalidation;
    bool awaits_hello;
    bool disconnecting;
    struct event reap;
    struct rdma *next;
};

static inline struct rdma *rdma_of(struct iser_link *link)
{
    return (struct rdma *)(void *)link;
}

/* ---- iser_rdma.c ---- */

/*
 * Creates an endpoint, neither connected nor accepted, with the receives of a login posted. Returns
 * NULL if memory runs out. remote_invalidation: the initiator accepts Sends with Invalidate.
 */
struct iser_link *iser_rdma_new(struct iser_rdma_shared *shared, bool remote_invalidation);
it_ep_handle_t iser_rdma_endpoint(struct iser_link *link);
/* Frees the rest of closed links. */
void iser_rdma_reap(struct iser_rdma_shared *shared);

/* ---- iser_rdma_post.c ---- */

/* Requests put between the two are sent at once. Calls nest. */
void rdma_begin_turn(struct rdma *rdma);
void rdma_end_turn(struct rdma *rdma);
bool rdma_post_receive(struct rdma *rdma, struct rdma_slot *slot);
/* A Send has completed, or failed. */
void rdma_sent(struct rdma *rdma, struct rdma_slot *slot);
/* Sends a HelloReply, or another message without a BHS. */
void rdma_answer_hello(struct rdma *rdma, const struct iser_header *hello);
void rdma_disconnect_if_drained(struct rdma *rdma);
void rdma_send(struct iser_link *link, const uint8_t *bhs, const void *data, uint32_t length);
void rdma_solicit(struct iser_link *link, struct iser_transfer *transfer);
void rdma_respond(struct iser_link *link, struct iser_transfer *transfer);
void rdma_drain(struct iser_link *link);

/* ---- iser_rdma_memory.c ---- */

/* Returns false if memory runs out. */
bool rdma_region_make(struct rdma *rdma, struct rdma_region *region, unsigned receives,
                      unsigned sends);
bool rdma_full_feature(struct iser_link *link);
void rdma_discard(struct iser_link *link);
void rdma_free(struct iser_link *link);

#endif
