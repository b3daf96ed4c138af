/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that a provider in a shared library may call. The library exports only the API, so
 * it hands over a table. Objects are opaque to such a provider. Installed, with ual/vp.h.
 *
 * The library looks for a function VP_ENTRY in the shared library and calls it once, on an
 * arbitrary thread. VP_ENTRY returns the provider's table, which must stay valid. It returns NULL
 * to decline, after a log line that says why. options is the text after the library's name in the
 * configuration file, "" if there is none; it is valid during the call. VP_ENTRY must not call the
 * API.
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
    VP_LOG_ERROR = 1, /* a request cannot be carried out */
    VP_LOG_WARN,      /* unexpected, but work continues */
    VP_LOG_INFO,      /* one line per event in an object's life, and whatever a peer can cause */
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
    uint32_t length;      /* octets transferred */
    bool notify;          /* raises a notification: IT_NOTIFY_FLAG, failure, or solicited */
    bool has_immediate;   /* of a receive */
    uint64_t immediate;   /* valid if has_immediate */
    it_handle_t unlinked; /* the region that the peer invalidated, or NULL */
    /*
     * For IT_DTO_UD_RECV_CMPL_EVENT: stays valid until *retire is written, or until ep_disown.
     * NULL: the source of the datagram is unknown.
     */
    const struct evd_datagram *datagram;
    /*
     * When the event is dequeued, retire_value is written to *retire. From it the provider learns
     * which slots of a queue are free: a slot is in use until its event has been dequeued. NULL:
     * not wanted. Not written any more once ep_destroy has returned.
     */
    _Atomic uint32_t *retire;
    uint32_t retire_value;
};

enum vp_completed {
    VP_COMPLETED,      /* queued */
    VP_COMPLETED_WAKE, /* queued; call wake as soon as no lock is held */
    VP_COMPLETION_LOST /* the EVD is full: call wake, and end the connection */
};

/*
 * An LMR. lmr_modify changes PZ, rights and key, and nothing else does; during that call these are
 * the old values.
 */
struct vp_lmr_info {
    struct ual_pz *pz;
    void *addr;
    it_length_t length;
    it_addr_mode_t addr_mode; /* relative: peers and segments count from 0 */
    it_mem_priv_t privs;
    it_rmr_context_t key; /* 0 until it is set */
};

/* An S-RQ. Immutable once srq_create has returned; srq_create may raise the segments. */
struct vp_srq_info {
    struct ual_pz *pz;
    size_t max_recv_segments;
};

/* The values of an S-RQ that can be modified; guarded by its lock. */
struct vp_srq_limits {
    size_t max_recv_dtos;
    size_t low_watermark; /* 0: not armed, or already fired */
};

/* An RMR; immutable. */
struct vp_rmr_info {
    struct ual_pz *pz;
    it_rmr_type_t type; /* in rmr_create possibly IT_RMR_TYPE_DEFAULT: see rmr_set_type */
};

/* An EP; immutable. */
struct vp_ep_info {
    struct ual_pz *pz;
    struct ual_srq *srq; /* NULL: receives are posted on the EP itself */
    it_ep_rc_creation_flags_t flags;
    it_ep_handle_t handle;
    bool datagrams;   /* a UD endpoint: without a connect EVD; its attributes are in .srv.ud */
    size_t spigot_id; /* valid if datagrams */
};

/* A request for a peer's UD endpoint; immutable. */
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
 * Offsets in octets from the beginning of an object, which is where its handle points. They are the
 * same for the life of the process.
 */
struct vp_layout {
    size_t area[VP_OBJECTS]; /* of the private area, which is aligned to 64 */
    size_t source_context;   /* in an EVD with a source: where the pointer to its context lies */
};

/* Opaque: work that an IA's thread does for a provider. */
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
    /* Returns the IA of any other object. */
    struct ual_ia *(*ia_of)(const void *object);
    const char *(*ia_name)(const struct ual_ia *ia);
    /*
     * Holds an LMR (for a link) or an EP (for a narrow window): it cannot be freed until it is
     * released.
     */
    bool (*hold)(void *object); /* returns false if it is already being freed */
    void (*release)(void *object);

    /* The posting calls with all checks, for posts that are not usual (vp_ep_ops.entries). */
    const struct base_entries *entries;
    /*
     * it_evd_dequeue with all checks, for evd_source_ops.dequeue, and the function that ends it
     * when no event is found: evd/queue/evd.h.
     */
    it_status_t (*evd_dequeue)(it_evd_handle_t evd, it_event_t *event);
    it_status_t (*evd_found_nothing)(it_evd_handle_t evd);

    /* ---- IA. */
    /* From ia_open. ops stay valid until ia_close has returned. */
    void (*ia_set_progress)(struct ual_ia *ia, const struct evd_progress_ops *ops, void *context);
    /* Returns one block of memory for ia_query, or NULL if memory runs out. */
    it_ia_info_t *(*ia_info_alloc)(size_t spigot_count, size_t address_count);

    /* Raises an unaffiliated event, IT_ASYNC_UNAFF_SPIGOT_*. No lock may be held. */
    void (*ia_raise_spigot)(struct ual_ia *ia, it_event_type_t number, size_t spigot_id);
    /* Declares the IA dead: calls return IT_ERR_IA_CATASTROPHE. No lock may be held. */
    void (*ia_fail)(struct ual_ia *ia);

    /* ---- The IA's thread: from ia_open on until ia_close has returned. */
    /*
     * Runs the function on the IA's thread and returns when it is done. The caller may hold no lock
     * that the IA's thread takes.
     */
    void (*ia_call)(struct ual_ia *ia, void (*function)(void *argument), void *argument);
    bool (*ia_is_current)(const struct ual_ia *ia); /* the caller is that thread */
    /*
     * Creates a task, which runs a function on the IA's thread: once for all submits since its last
     * run. Returns NULL if memory runs out.
     */
    struct vp_task *(*task_new)(struct ual_ia *ia, void (*run)(void *argument), void *argument);
    void (*task_submit)(struct vp_task *task); /* any thread, any lock held */
    /*
     * Any thread. On return the function is not running and will not run again, except that the
     * task may free itself.
     */
    void (*task_free)(struct vp_task *task);
    /*
     * Calls ready on the IA's thread while the descriptor is readable: level triggered, and
     * sometimes without reason. Any thread. Returns NULL if memory runs out. watch_stop gives the
     * guarantee of task_free.
     */
    struct vp_watch *(*watch_start)(struct ual_ia *ia, int fd, void (*ready)(void *argument),
                                    void *argument);
    void (*watch_stop)(struct vp_watch *watch);
    /*
     * One-shot timers. Only on the IA's thread, except timer_new. They return NULL or false if
     * memory runs out.
     */
    struct vp_timer *(*timer_new)(struct ual_ia *ia, void (*expired)(void *argument),
                                  void *argument);
    bool (*timer_start)(struct vp_timer *timer, uint64_t delay_ns); /* restarts a timer that runs */
    void (*timer_stop)(struct vp_timer *timer);
    void (*timer_free)(struct vp_timer *timer);

    /* ---- Threads that wait (for evd_progress_ops.wait). */
    /* Sleeps until woken or until the deadline. Returns 0, EINTR or ETIMEDOUT. */
    int (*waiter_sleep)(struct evd_waiter *waiter, uint64_t deadline_ns);
    /*
     * A thread calls these before and after it sleeps in a poll set that holds kick_fd, an eventfd
     * to which a wake-up writes. begin returns false when the thread has been woken already and
     * must not sleep. end returns true when it was woken.
     */
    bool (*waiter_begin_poll)(struct evd_waiter *waiter, int kick_fd);
    bool (*waiter_end_poll)(struct evd_waiter *waiter);
    /* Any thread. Wakes a sleeping thread, which polls again. Spurious wake-ups are allowed. */
    void (*waiter_wake)(struct evd_waiter *waiter);

    /* ---- LMR. */
    void (*lmr_info)(const struct ual_lmr *lmr, struct vp_lmr_info *info);
    /* For lmr_create and lmr_modify. The key is valid from now on. */
    void (*lmr_set_key)(struct ual_lmr *lmr, it_rmr_context_t key);
    /* Reports that the key is no longer valid: a peer has invalidated it. */
    void (*lmr_unlinked)(struct ual_lmr *lmr);
    /*
     * For a provider that caches LMRs. Returns the address of a number that identifies this version
     * of the LMR: no other LMR ever has it, it_lmr_modify gives the LMR a new one, and it becomes 0
     * when the LMR is freed. The address stays readable for the life of the process, so an
     * unchanged handle and number mean the same unchanged LMR. Returns NULL if the handle is no
     * live LMR.
     */
    const _Atomic uint64_t *(*lmr_pass)(it_lmr_handle_t handle);

    /* ---- RMR. */
    void (*rmr_info)(const struct ual_rmr *rmr, struct vp_rmr_info *info);
    void (*rmr_set_type)(struct ual_rmr *rmr, it_rmr_type_t type); /* from rmr_create */

    /* ---- S-RQ. */
    void (*srq_info)(const struct ual_srq *srq, struct vp_srq_info *info);
    /* For srq_create. */
    void (*srq_set_ops)(struct ual_srq *srq, const struct vp_srq_ops *ops, size_t segments);
    /*
     * The only lock of the S-RQ, shared with the library. While it is held, the provider may call
     * only srq_limits_locked and srq_set_limits_locked.
     */
    void (*srq_lock)(struct ual_srq *srq);
    void (*srq_unlock)(struct ual_srq *srq);
    void (*srq_limits_locked)(const struct ual_srq *srq, struct vp_srq_limits *limits);
    void (*srq_set_limits_locked)(struct ual_srq *srq, const struct vp_srq_limits *limits);
    /* Raises an affiliated event, IT_ASYNC_AFF_SRQ_*. No lock may be held. */
    void (*srq_raise)(struct ual_srq *srq, it_event_type_t number);

    /* ---- EP. */
    void (*ep_info)(const struct ual_ep *ep, struct vp_ep_info *info);
    void (*ep_set_ops)(struct ual_ep *ep, const struct vp_ep_ops *ops); /* from ep_create */
    /*
     * The attributes that it_ep_query shows. Once ep_create has returned they are read and written
     * with the EP's lock held.
     */
    it_ep_attributes_t *(*ep_attributes)(struct ual_ep *ep);
    /* Returns 0 unless the consumer has enabled immediate values. */
    uint32_t (*ep_immediate_bits)(const struct ual_ep *ep);
    /*
     * The only lock of the EP, shared with the library. While it is held, the provider may call the
     * functions with the suffix _locked, and complete.
     */
    void (*ep_lock)(struct ual_ep *ep);
    void (*ep_unlock)(struct ual_ep *ep);
    it_ep_state_rc_t (*ep_state)(const struct ual_ep *ep);
    /*
     * Called with the EP's lock held. Returns false and changes nothing when the step is not legal
     * in this state.
     */
    bool (*ep_step_locked)(struct ual_ep *ep, enum ual_ep_step step);
    void (*ep_set_path_locked)(struct ual_ep *ep, const it_path_t *path);
    /*
     * For a UD endpoint, which takes no steps. Called with the EP's lock held. Returns false when
     * the EP is in that state already.
     */
    bool (*ep_set_ud_state_locked)(struct ual_ep *ep, it_ep_state_ud_t state);
    it_ep_state_ud_t (*ep_ud_state)(const struct ual_ep *ep);

    /* ---- Events. */
    enum vp_completed (*complete)(struct ual_ep *ep, enum vp_queue queue,
                                  const struct vp_completion *completion);
    /* The lock of the EP may be held for complete, but no lock for the other functions. */
    void (*wake)(struct ual_ep *ep, enum vp_queue queue);
    /*
     * For ep_destroy, after the last completion of the EP: completions still in the EVD drop their
     * pointers to .retire and .datagram.
     */
    void (*ep_disown)(struct ual_ep *ep);
    void (*ep_report)(struct ual_ep *ep, const struct ual_conn_news *news);
    void (*ep_raise)(struct ual_ep *ep, it_event_type_t number); /* affiliated: IT_ASYNC_AFF_EP_* */

    /*
     * ---- A source of completions below an EVD (evd/evd_source.h). An EVD has at most one, and
     * keeps it until the EVD is freed. May be called from ep_create on. The caller makes sure that
     * two threads do not attach at once.
     */
    /*
     * Returns the context of the attached source; NULL when none is attached, or one with other
     * ops.
     */
    void *(*source_get)(struct ual_ep *ep, enum vp_queue queue, const struct evd_source_ops *ops);
    it_status_t (*source_attach)(struct ual_ep *ep, enum vp_queue queue,
                                 const struct evd_source_ops *ops, void *context, int fd);
    /*
     * Called after source_attach, even if another EP has attached the source: makes the IA's thread
     * watch fd. The caller may hold no lock that the IA's thread takes. Returns false if
     * memory runs out.
     */
    bool (*source_start)(struct ual_ep *ep, enum vp_queue queue);
    it_evd_handle_t (*source_evd)(struct ual_ep *ep, enum vp_queue queue, size_t *size);
    /* The lock under which the functions of the source are called; taken inside ep_lock. */
    void (*source_lock)(struct ual_ep *ep, enum vp_queue queue);
    void (*source_unlock)(struct ual_ep *ep, enum vp_queue queue);
    /*
     * Moves completions from the source to the EVD while it has room. If it returns true, call
     * wake, as for complete.
     */
    bool (*source_move)(struct ual_ep *ep, enum vp_queue queue);

    /* ---- Incoming connections. */
    void (*listen_info)(struct ual_listen *listen, struct vp_listen_info *info);
    /* Gives the request an id and enters it in the table; request_announce follows. */
    void (*request_add)(struct ual_request *request);
    /* Returns false when the EVD has no room: then withdraw the request. */
    bool (*request_announce)(const struct ual_request *request);
    /* The same for a handoff: a full EVD does not enter overflow. */
    bool (*request_offer)(const struct ual_request *request);
    /*
     * Takes the request out of the table. Returns false when a call of the consumer has taken it.
     */
    bool (*request_withdraw)(struct ual_request *request);

    /* ---- Datagrams. */
    struct ual_pz *(*address_pz)(const struct ual_address *address);
    void (*ud_service_info)(const struct ual_ud_service *service, struct vp_ud_service_info *info);
    /* Reports IT_CM_MSG_UD_SERVICE_REPLY_EVENT. No lock may be held. */
    void (*ud_report)(struct ual_ud_service *service, const struct vp_ud_reply *reply);

    /* ---- EVDs of several streams. */
    /*
     * Returns true if the completions of that queue and the connection events of the EP go to one
     * EVD: then the end of the connection must be reported after the completions that it flushes.
     * Immutable.
     */
    bool (*ep_is_mixed)(const struct ual_ep *ep, enum vp_queue queue);
};

/* Returns the private area of an object, given the object or its handle. */
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
