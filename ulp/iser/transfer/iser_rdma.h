/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A link over RDMA (RFC 7145): PDUs are Sends, data of reads RDMA Writes, solicited data of writes
 * RDMA Reads. An endpoint with one event dispatcher for all that happens to it.
 */
#ifndef ITAPI_ULP_ISER_TRANSFER_ISER_RDMA_H
#define ITAPI_ULP_ISER_TRANSFER_ISER_RDMA_H

#include "transfer/iser_link.h"

#include "itx_api.h"

#include <event2/event.h>
#include <event2/event_struct.h>

#define RDMA_SLOT 8448u /* iSER header, header segment, 8192 octets of data, padding */
/* One holds the request that is being answered, while the next one may come. */
#define RDMA_LOGIN_RECEIVES 2u
#define RDMA_LOGIN_SENDS    4u
#define RDMA_SENDS_SPARE    64u /* beyond the responses of all commands, and of those before them */
#define RDMA_DEPTH          16u /* RDMA Reads under way, at most */
#define RDMA_REQUESTS       640u /* a Send for each slot, a Write or a Read for each command */
#define RDMA_RECEIVES       (ISER_LINK_RECEIVES + RDMA_LOGIN_RECEIVES)

/* How a turn of events ends: asking for the next command for some time before the thread sleeps. */
struct rdma_stay {
    bool off;
    uint64_t ask_ns;  /* how long the next one asks */
    uint64_t left_ns; /* when the last one has ended */
    unsigned pause;   /* short sleeps until it is tried again */
};

/* What IAs and links share. Zeroed, then .ia, .pz and .base. */
struct iser_rdma_shared {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    struct event_base *base;
    struct rdma *dying; /* links whose EVD is to be freed outside of its callback */
    bool no_crc;        /* none is asked for */
    /* Nobody but the one session has anything to do: iser_rdma_stay.c. */
    bool (*is_alone)(const void *portal);
    const void *portal;
    struct rdma_stay stay;
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

/* The kind of a request is in the low bits of its cookie, the rest is a pointer. */
enum rdma_cookie {
    RDMA_RECEIVE, /* struct rdma_slot */
    RDMA_SEND,    /* struct rdma_slot */
    RDMA_READ,    /* struct iser_transfer */
    RDMA_WRITE,   /* nothing: the Send behind it tells */
    RDMA_COOKIES
};

/* A Send, an RDMA Read or an RDMA Write. */
struct rdma_request {
    enum rdma_cookie kind;
    it_lmr_triplet_t segment;
    it_dto_cookie_t cookie;
    unsigned flags; /* it_dto_flags_t */
    bool invalidates;
    uint32_t stag; /* the initiator's: to be invalidated, read from or written to */
    uint64_t place;
};

struct rdma {
    struct iser_link link;
    struct iser_rdma_shared *shared;
    it_evd_handle_t evd;
    it_ep_handle_t ep;
    struct rdma_region login, full;
    struct rdma_slot *free; /* to send from */
    unsigned sending;
    /* What events lead to leaves together when they have been looked at. */
    unsigned turns;
    bool has_last;
    struct rdma_request last; /* of it; the others are posted, and wait for this one */
    bool remote_invalidation;
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
 * An endpoint with the receives of a login posted.
 * Neither connected nor accepted. NULL without memory. remote_invalidation: the initiator takes
 * Sends with Invalidate.
 */
struct iser_link *iser_rdma_new(struct iser_rdma_shared *shared, bool remote_invalidation);
it_ep_handle_t iser_rdma_endpoint(struct iser_link *link);
/* Frees what is left of links that are closed. */
void iser_rdma_reap(struct iser_rdma_shared *shared);

/* ---- iser_rdma_post.c ---- */

/* What is put between the two leaves at once. They nest. */
void rdma_begin_turn(struct rdma *rdma);
void rdma_end_turn(struct rdma *rdma);
bool rdma_post_receive(struct rdma *rdma, struct rdma_slot *slot);
/* A send has completed, or failed. */
void rdma_sent(struct rdma *rdma, struct rdma_slot *slot);
/* A HelloReply, or whatever has no BHS. */
void rdma_answer_hello(struct rdma *rdma, const struct iser_header *hello);
void rdma_disconnect_if_drained(struct rdma *rdma);
void rdma_send(struct iser_link *link, const uint8_t *bhs, const void *data, uint32_t length);
void rdma_solicit(struct iser_link *link, struct iser_transfer *transfer);
void rdma_respond(struct iser_link *link, struct iser_transfer *transfer);
void rdma_drain(struct iser_link *link);

/* ---- iser_rdma_stay.c ---- */

/* The thread comes from its sleep: was that short? */
void rdma_stay_learn(struct rdma_stay *stay);
/* Takes what comes within a short time; take: how many events there were, answers included. */
void rdma_stay(struct rdma *rdma, size_t (*take)(struct rdma *rdma));

/* ---- iser_rdma_memory.c ---- */

/* False without memory. */
bool rdma_region_make(struct rdma *rdma, struct rdma_region *region, unsigned receives,
                      unsigned sends);
bool rdma_full_feature(struct iser_link *link);
void rdma_discard(struct iser_link *link);
void rdma_free(struct iser_link *link);

#endif
