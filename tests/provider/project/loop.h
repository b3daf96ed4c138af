/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A foreign provider: Interface "loop0". Its endpoints reach those of the same process, and its
 * data path is memcpy. The calling thread does everything under one lock, so a request is complete
 * before its post returns.
 */
#ifndef LOOP_H
#define LOOP_H

#include <ual/vp.h>
#include <ual/vp_host.h>

#include <pthread.h>

#define LOOP_NAME     "loop0"
#define LOOP_SPIGOT   1u
#define LOOP_SEGMENTS 64u
#define LOOP_DEPTH    4096u

extern const struct vp_host *loop_host;
extern const struct vp_provider loop_provider;

/*
 * Guards everything below. It is taken before the lock of an EP. Calls of the host that may run
 * callbacks are made later, without this lock: see loop_later.
 */
extern pthread_mutex_t loop_lock;

struct loop_attempt;

struct loop_segment {
    struct ual_lmr *lmr;
    uint64_t key; /* key of the LMR when it was posted; if the LMR was freed, it has another one */
    uint8_t *addr;
    uint64_t length;
};

struct loop_receive {
    it_dto_cookie_t cookie;
    unsigned flags;
    size_t count;
    struct loop_segment segments[LOOP_SEGMENTS];
};

struct loop_ep {
    struct ual_ep *ual;
    struct ual_pz *pz;
    struct loop_ep *peer;          /* NULL: not connected */
    struct loop_attempt *attempt;  /* the undecided attempt of this EP */
    unsigned users;                /* number of loop_later structs that name it */
    bool lost;                     /* a completion found its EVD full: the connection breaks */
    struct loop_receive *receives; /* ring */
    uint32_t recv_depth, recv_head, recv_tail, recv_reported;
    uint32_t request_depth, request_reported;
    _Atomic uint32_t recv_retired, request_retired;
};

/* ---- loop_provider.c: what has to wait until no lock is held -------------------------------- */

enum loop_thing {
    LOOP_WAKE_REQUESTS,
    LOOP_WAKE_RECEIVES,
    LOOP_REPORT,
    LOOP_RAISE
};

#define LOOP_LATER_MAX 16

struct loop_later {
    unsigned count;
    struct {
        struct loop_ep *ep;
        enum loop_thing thing;
        it_event_type_t number; /* LOOP_RAISE */
        struct ual_conn_news news;
    } items[LOOP_LATER_MAX];
};

/* Takes the lock and empties *later. */
void loop_begin(struct loop_later *later);
/* Called with the lock held. The EP lives until loop_end. */
void loop_wake(struct loop_later *later, struct loop_ep *ep, enum vp_queue queue);
void loop_report(struct loop_later *later, struct loop_ep *ep, const struct ual_conn_news *news);
void loop_raise(struct loop_later *later, struct loop_ep *ep, it_event_type_t number);
/* Drops the lock and makes all calls. */
void loop_end(struct loop_later *later);
/* Called with the lock held, which it drops while it waits: afterwards no thread uses the EP. */
void loop_wait_unused(struct loop_ep *ep);

static inline struct loop_ep *loop_ep_of(struct ual_ep *ual)
{
    return vp_area(loop_host, VP_EP, ual);
}

/* ---- loop_memory.c -------------------------------------------------------------------------- */

it_status_t loop_lmr_create(struct ual_lmr *lmr);
void loop_lmr_destroy(struct ual_lmr *lmr);

/* Called with the lock held. */
void loop_segments(struct loop_segment *to, const it_lmr_triplet_t *from, size_t count);
/* Returns true if the regions still exist, are in this PZ, and allow the access. */
bool loop_is_allowed(const struct loop_segment *segments, size_t count, it_mem_priv_t right,
                     const struct ual_pz *pz);
/* Returns memory of a peer's region, or NULL if the access is refused. */
uint8_t *loop_remote(struct loop_ep *ep, it_rmr_context_t key, it_rdma_addr_t to, uint64_t length,
                     it_mem_priv_t right);
uint64_t loop_length(const struct loop_segment *segments, size_t count);
/* Copy between segments and contiguous octets. */
void loop_gather(uint8_t *to, const struct loop_segment *from, size_t count);
void loop_scatter(const struct loop_segment *to, size_t count, const uint8_t *from,
                  uint64_t length);
void loop_copy(const struct loop_segment *to, size_t to_count, const struct loop_segment *from,
               size_t from_count);

/* ---- loop_data.c ---------------------------------------------------------------------------- */

extern const struct vp_ep_ops loop_ep_ops;

/* Called with the lock held. Completes all receives, the first one with this status. */
void loop_flush(struct loop_later *later, struct loop_ep *ep, it_dto_status_t first);

/* ---- loop_ep.c ------------------------------------------------------------------------------ */

it_status_t loop_ep_create(struct ual_ep *ual);
void loop_ep_destroy(struct ual_ep *ual);
it_status_t loop_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                  it_ep_attributes_t *attr);
it_status_t loop_ep_reset(struct ual_ep *ual);

/* Called with the lock held. */
bool loop_step(struct loop_ep *ep, enum ual_ep_step step);
it_rc_only_attributes_t loop_rc(struct loop_ep *ep); /* the values in force */
/* Ends a connection: this side with `step`, the other with `peer_step`. Both get an event. */
void loop_part(struct loop_later *later, struct loop_ep *ep, enum ual_ep_step step,
               enum ual_ep_step peer_step);

/* ---- loop_cm.c ------------------------------------------------------------------------------ */

struct loop_listen {
    struct ual_listen *ual;
    struct loop_listen *next;
};

it_status_t loop_listen_start(struct ual_listen *ual);
void loop_listen_stop(struct ual_listen *ual);
it_status_t loop_connect(struct ual_ep *ual, const it_path_t *path,
                         const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                         it_cn_est_flags_t flags, const void *private_data, size_t length);
it_status_t loop_accept(struct ual_ep *ual, struct ual_request *request, const void *private_data,
                        size_t length);
it_status_t loop_reject(struct ual_request *request, const void *private_data, size_t length);
it_status_t loop_handoff(struct ual_request *request, const it_conn_qual_t *qual, size_t spigot_id);
it_status_t loop_disconnect(struct ual_ep *ual);
/* Called with the lock held: the EP gives up its attempt. */
void loop_give_up(struct loop_ep *ep);

#endif
