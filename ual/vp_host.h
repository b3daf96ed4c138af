/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that a provider in a shared library may call: the library exports only the API, so
 * it hands over a table. Objects are opaque to such a provider. Installed, with ual/vp.h.
 *
 * The library looks for a function VP_ENTRY in the shared library and calls it once, on an
 * arbitrary thread. It returns the table of the provider, which must stay valid, or NULL to stay
 * out (after a line in the log that says why). options: what stands behind the name of the library
 * in the configuration file, "" if nothing does; valid during the call. It must not call the API.
 */
#ifndef ITAPI_UAL_VP_HOST_H
#define ITAPI_UAL_VP_HOST_H

#include "evd/evd_progress.h"
#include "evd/evd_source.h"
#include "ual/vp.h"

#include <stdatomic.h>

#define VP_ENTRY      itapi_provider_3 /* ends in VP_ABI */
#define VP_ENTRY_NAME "itapi_provider_3"

enum vp_log_level {
    VP_LOG_ERROR = 1, /* what was asked for cannot be done */
    VP_LOG_WARN,      /* odd, but it went on */
    VP_LOG_INFO,      /* one line in an object's life, and what a peer can cause */
    VP_LOG_DEBUG
};

enum vp_queue {
    VP_REQUESTS,
    VP_RECEIVES
};

/* One completion of an EP. */
struct vp_completion {
    it_event_type_t event_number;
    it_dto_status_t status;
    it_dto_cookie_t cookie;
    uint32_t length;      /* transferred */
    bool notify;          /* a notification event: IT_NOTIFY_FLAG, failure, solicited */
    bool has_immediate;   /* of a receive */
    uint64_t immediate;   /* with has_immediate */
    it_handle_t unlinked; /* a region the peer has invalidated, else NULL; without has_immediate */
    /*
     * IT_DTO_UD_RECV_CMPL_EVENT: stays until retire is written, or ep_disown. NULL: it is not
     * known.
     */
    const struct evd_datagram *datagram;
    /*
     * When the event is dequeued retire_value is written to *retire: counting those tells which
     * slots of a queue are free again (rule: a slot is taken until its event has been dequeued).
     * NULL: not wanted. Not written any more once ep_destroy has returned.
     */
    _Atomic uint32_t *retire;
    uint32_t retire_value;
};

enum vp_completed {
    VP_COMPLETED,      /* queued */
    VP_COMPLETED_WAKE, /* queued; call wake as soon as no lock is held */
    VP_COMPLETION_LOST /* the EVD is full: call wake, and end the connection */
};

/* An LMR. Only lmr_modify changes PZ, rights and key: in it they are as before. */
struct vp_lmr_info {
    struct ual_pz *pz;
    void *addr;
    it_length_t length;
    it_addr_mode_t addr_mode; /* relative: peers and segments count from 0 */
    it_mem_priv_t privs;
    it_rmr_context_t key; /* 0 until it is set */
};

/* An S-RQ; immutable once srq_create has returned, which may raise the segments. */
struct vp_srq_info {
    struct ual_pz *pz;
    size_t max_recv_segments;
};

/* The values of an S-RQ that can be modified; by its lock. */
struct vp_srq_limits {
    size_t max_recv_dtos;
    size_t low_watermark; /* armed; 0: off, or fired */
};

/* An RMR; immutable. */
struct vp_rmr_info {
    struct ual_pz *pz;
    it_rmr_type_t type; /* in rmr_create perhaps IT_RMR_TYPE_DEFAULT: see rmr_set_type */
};

/* An EP; immutable. */
struct vp_ep_info {
    struct ual_pz *pz;
    struct ual_srq *srq; /* NULL: receives are posted on the EP itself */
    it_ep_rc_creation_flags_t flags;
    it_ep_handle_t handle;
    bool datagrams;   /* of datagrams; it has no connect EVD, and its attributes are .srv.ud */
    size_t spigot_id; /* with .datagrams */
};

/* A request for a peer's EP of datagrams; immutable. */
struct vp_ud_service_info {
    it_conn_qual_t conn_qual;
    it_path_t path;
    const void *private_data;
    size_t private_length;
};

/* A listen point; only listen_start may change the port of conn_qual. */
struct vp_listen_info {
    size_t spigot_id;
    it_listen_flags_t flags;
    it_conn_qual_t *conn_qual;
    struct evd *connect_evd; /* for ual_request.connect_evd */
};

/* Objects with a private area. */
enum vp_object {
    VP_IA,
    VP_PZ,
    VP_LMR,
    VP_RMR,
    VP_SRQ,
    VP_EP,
    VP_LISTEN,
    VP_ADDRESS,
    VP_UD_SERVICE,
    VP_OBJECTS
};

/*
 * The one table of offsets: octets from where an object begins, which is also what its handle
 * points to. It is the same for the life of the process.
 */
struct vp_layout {
    size_t area[VP_OBJECTS]; /* of the private area, aligned to 64 */
    size_t source_context;   /* in an EVD that has a source: of the address of its context */
};

/* Opaque: what an IA's thread does for a provider. */
struct vp_task;
struct vp_watch;
struct vp_timer;

struct vp_host {
    uint32_t abi;  /* VP_ABI */
    uint32_t size; /* sizeof(struct vp_host) as the library knows it */

    /* Writes a line if ITAPI_LOG asks for it. Any thread. */
    void (*log)(enum vp_log_level level, const char *format, ...)
        __attribute__((format(printf, 2, 3)));

    /* ---- Objects. */
    struct vp_layout layout;
    /* The IA of any other object. */
    struct ual_ia *(*ia_of)(const void *object);
    const char *(*ia_name)(const struct ual_ia *ia);
    /*
     * An LMR (for a link) or an EP (for a narrow window): it cannot be freed until it is released.
     */
    bool (*hold)(void *object); /* false: it is just being freed */
    void (*release)(void *object);

    /* The posts with all checks, for those that are not usual (vp_ep_ops.entries). */
    const struct base_entries *entries;
    /*
     * The same of it_evd_dequeue (evd_source_ops.dequeue), and its end if there is nothing:
     * evd/queue/evd.h.
     */
    it_status_t (*evd_dequeue)(it_evd_handle_t evd, it_event_t *event);
    it_status_t (*evd_found_nothing)(it_evd_handle_t evd);

    /* ---- IA. */
    /* From ia_open. ops stay valid until ia_close has returned. */
    void (*ia_set_progress)(struct ual_ia *ia, const struct evd_progress_ops *ops, void *context);
    /* One block of memory for ia_query. NULL without memory. */
    it_ia_info_t *(*ia_info_alloc)(size_t spigot_count, size_t address_count);

    /* Unaffiliated: IT_ASYNC_UNAFF_SPIGOT_. No lock may be held. */
    void (*ia_raise_spigot)(struct ual_ia *ia, it_event_type_t number, size_t spigot_id);
    /* The IA is of no use any more: calls return IT_ERR_IA_CATASTROPHE. No lock may be held. */
    void (*ia_fail)(struct ual_ia *ia);

    /* ---- The IA's thread: from ia_open on until ia_close has returned. */
    /*
     * Runs the function there and returns when it is done. No lock may be held that anything on
     * that thread takes.
     */
    void (*ia_call)(struct ual_ia *ia, void (*function)(void *argument), void *argument);
    bool (*ia_is_current)(const struct ual_ia *ia); /* the caller is that thread */
    /* Has a function run there, once for all submits since its last run. NULL without memory. */
    struct vp_task *(*task_new)(struct ual_ia *ia, void (*run)(void *argument), void *argument);
    void (*task_submit)(struct vp_task *task); /* any thread, any lock held */
    /* Any thread; on return it does not run and will not, unless it is the caller itself. */
    void (*task_free)(struct vp_task *task);
    /*
     * Calls ready there whenever the descriptor is readable (level triggered; also without reason).
     * Any thread. NULL without memory. stop: as task_free.
     */
    struct vp_watch *(*watch_start)(struct ual_ia *ia, int fd, void (*ready)(void *argument),
                                    void *argument);
    void (*watch_stop)(struct vp_watch *watch);
    /* One-shot timers. On that thread only, but timer_new. NULL, false: without memory. */
    struct vp_timer *(*timer_new)(struct ual_ia *ia, void (*expired)(void *argument),
                                  void *argument);
    bool (*timer_start)(struct vp_timer *timer, uint64_t delay_ns); /* also: anew */
    void (*timer_stop)(struct vp_timer *timer);
    void (*timer_free)(struct vp_timer *timer);

    /* ---- Threads that wait (for evd_progress_ops.wait). */
    /* Sleeps until woken or the deadline. 0, EINTR or ETIMEDOUT. */
    int (*waiter_sleep)(struct evd_waiter *waiter, uint64_t deadline_ns);
    /*
     * Around sleeping in a poll set that holds kick_fd, an eventfd, which a wake-up writes. begin:
     * false when the thread was woken already and must not sleep. end: true when it was woken.
     */
    bool (*waiter_begin_poll)(struct evd_waiter *waiter, int kick_fd);
    bool (*waiter_end_poll)(struct evd_waiter *waiter);
    /* Makes a thread that sleeps look again, as if by chance. Any thread. */
    void (*waiter_wake)(struct evd_waiter *waiter);

    /* ---- LMR. */
    void (*lmr_info)(const struct ual_lmr *lmr, struct vp_lmr_info *info);
    /* From lmr_create and lmr_modify. The key works from now on. */
    void (*lmr_set_key)(struct ual_lmr *lmr, it_rmr_context_t key);
    /* The key works no more: a peer has invalidated it. */
    void (*lmr_unlinked)(struct ual_lmr *lmr);
    /*
     * For a provider that remembers LMRs: where a number stands that no other LMR has or will have,
     * nor this one once it_lmr_modify has changed it; it becomes 0 when the LMR is freed. It may be
     * read for the life of the process: handle and number as before, the same LMR as before. NULL:
     * no live LMR.
     */
    const _Atomic uint64_t *(*lmr_pass)(it_lmr_handle_t handle);

    /* ---- RMR. */
    void (*rmr_info)(const struct ual_rmr *rmr, struct vp_rmr_info *info);
    void (*rmr_set_type)(struct ual_rmr *rmr, it_rmr_type_t type); /* from rmr_create */

    /* ---- S-RQ. */
    void (*srq_info)(const struct ual_srq *srq, struct vp_srq_info *info);
    /* From srq_create. */
    void (*srq_set_ops)(struct ual_srq *srq, const struct vp_srq_ops *ops, size_t segments);
    /* One lock per S-RQ, for the provider too. Nothing is called with it held, but the next two. */
    void (*srq_lock)(struct ual_srq *srq);
    void (*srq_unlock)(struct ual_srq *srq);
    void (*srq_limits_locked)(const struct ual_srq *srq, struct vp_srq_limits *limits);
    void (*srq_set_limits_locked)(struct ual_srq *srq, const struct vp_srq_limits *limits);
    /* Affiliated: IT_ASYNC_AFF_SRQ_. No lock may be held. */
    void (*srq_raise)(struct ual_srq *srq, it_event_type_t number);

    /* ---- EP. */
    void (*ep_info)(const struct ual_ep *ep, struct vp_ep_info *info);
    void (*ep_set_ops)(struct ual_ep *ep, const struct vp_ep_ops *ops); /* from ep_create */
    /*
     * The attributes that it_ep_query shows. After ep_create it is read and written with the EP's
     * lock held.
     */
    it_ep_attributes_t *(*ep_attributes)(struct ual_ep *ep);
    /* Not 0: the consumer has agreed to immediate values. */
    uint32_t (*ep_immediate_bits)(const struct ual_ep *ep);
    /* One lock per EP, for the provider too. complete may be called with it held, nothing else. */
    void (*ep_lock)(struct ual_ep *ep);
    void (*ep_unlock)(struct ual_ep *ep);
    it_ep_state_rc_t (*ep_state)(const struct ual_ep *ep);
    /* The lock is held. False, and nothing is changed, when the step is not legal in this state. */
    bool (*ep_step_locked)(struct ual_ep *ep, enum ual_ep_step step);
    void (*ep_set_path_locked)(struct ual_ep *ep, const it_path_t *path);
    /*
     * Of an EP of datagrams, which takes no steps. The lock is held. False: it was there already.
     */
    bool (*ep_set_ud_state_locked)(struct ual_ep *ep, it_ep_state_ud_t state);
    it_ep_state_ud_t (*ep_ud_state)(const struct ual_ep *ep);

    /* ---- Events. */
    enum vp_completed (*complete)(struct ual_ep *ep, enum vp_queue queue,
                                  const struct vp_completion *completion);
    /* The others: no lock may be held. */
    void (*wake)(struct ual_ep *ep, enum vp_queue queue);
    /*
     * From ep_destroy, when no completion comes any more: those that wait to be dequeued point
     * nowhere.
     */
    void (*ep_disown)(struct ual_ep *ep);
    void (*ep_report)(struct ual_ep *ep, const struct ual_conn_news *news);
    void (*ep_raise)(struct ual_ep *ep, it_event_type_t number); /* affiliated: IT_ASYNC_AFF_EP_ */

    /*
     * ---- A queue of completions below an EVD (evd/evd_source.h). An EVD has at most one, which it
     * keeps until it is freed. From ep_create on; the caller sees to it that two do not attach at
     * once.
     */
    /* Its context, or NULL when none is attached, or one with other functions. */
    void *(*source_get)(struct ual_ep *ep, enum vp_queue queue, const struct evd_source_ops *ops);
    it_status_t (*source_attach)(struct ual_ep *ep, enum vp_queue queue,
                                 const struct evd_source_ops *ops, void *context, int fd);
    /*
     * Afterwards, also when another EP has attached it: the IA's thread watches fd from now on. No
     * lock may be held that anything on that thread takes. False: without memory.
     */
    bool (*source_start)(struct ual_ep *ep, enum vp_queue queue);
    it_evd_handle_t (*source_evd)(struct ual_ep *ep, enum vp_queue queue, size_t *size);
    /* The lock that the functions of the source are called with; below ep_lock. */
    void (*source_lock)(struct ual_ep *ep, enum vp_queue queue);
    void (*source_unlock)(struct ual_ep *ep, enum vp_queue queue);
    /* Moves completions up, as many as the EVD has room for. True: call wake, as for complete. */
    bool (*source_move)(struct ual_ep *ep, enum vp_queue queue);

    /* ---- Incoming connections. */
    void (*listen_info)(struct ual_listen *listen, struct vp_listen_info *info);
    /* Gives the request an id and makes it findable; then it is announced. */
    void (*request_add)(struct ual_request *request);
    /* False when the EVD has no room: withdraw it. */
    bool (*request_announce)(const struct ual_request *request);
    /* The same, but an EVD without room stays as it is: for a handoff. */
    bool (*request_offer)(const struct ual_request *request);
    /* Takes it out. False: a call of the consumer has it. */
    bool (*request_withdraw)(struct ual_request *request);

    /* ---- Datagrams. */
    struct ual_pz *(*address_pz)(const struct ual_address *address);
    void (*ud_service_info)(const struct ual_ud_service *service, struct vp_ud_service_info *info);
    /* IT_CM_MSG_UD_SERVICE_REPLY_EVENT. No lock may be held. */
    void (*ud_report)(struct ual_ud_service *service, const struct vp_ud_reply *reply);

    /* ---- EVDs of several streams. */
    /*
     * The completions of that queue and the connection events of the EP go to one EVD: the end of
     * the connection is reported behind the completions that it flushes. Immutable.
     */
    bool (*ep_is_mixed)(const struct ual_ep *ep, enum vp_queue queue);
};

/* The private area of an object, given the object or its handle. */
static inline void *vp_area(const struct vp_host *host, enum vp_object kind, const void *object)
{
    return (unsigned char *)(uintptr_t)object + host->layout.area[kind];
}

/* The objects of handles that the access layer has checked. */
static inline struct ual_lmr *vp_lmr_of(it_lmr_handle_t handle)
{
    return (struct ual_lmr *)(void *)handle;
}

static inline struct ual_rmr *vp_rmr_of(it_rmr_handle_t handle)
{
    return (struct ual_rmr *)(void *)handle;
}

typedef const struct vp_provider *vp_entry_fn(const struct vp_host *host, const char *options);

/* Defined by the provider. */
__attribute__((visibility("default"))) vp_entry_fn VP_ENTRY;

#endif
