/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs-provider interface: struct vp_provider, one table of functions per provider. The access
 * layer (ual, tii, tdi) checks handles, flags, masks and private data lengths before it calls; a
 * provider checks what only it can know. Private areas are zeroed when an object is created.
 *
 * This header has a counterpart: struct vp_host (ual/vp_host.h), a table of the functions that a
 * provider may call, with the offsets of the private areas. verbs and all providers from shared
 * libraries go through that table, and objects are opaque to them. uiwarp is linked with the
 * library and calls the functions of the host table by name: it takes the lock of an EP and reads
 * its state inline, since an indirect call for each would cost a message more than its protocol
 * does.
 *
 * docs/providers.md is the guide. Any change here that an installed provider would notice changes
 * VP_ABI.
 */
#ifndef ITAPI_UAL_VP_H
#define ITAPI_UAL_VP_H

#include "base/base_entries.h"
#include "base/base_list.h"

#include "it_api.h"
#include "itx_api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VP_ABI 3u

struct evd;
struct ual_ia;
struct ual_pz;
struct ual_lmr;
struct ual_rmr;
struct ual_srq;
struct ual_ep;
struct ual_listen;
struct ual_address;
struct ual_ud_service;

/* ---------------------------------------------------------------- states of an EP */

enum ual_ep_step {
    UAL_EP_CONNECT,        /* it_ep_connect, or conversion as Initiator */
    UAL_EP_ACCEPT,         /* it_ep_accept of a request */
    UAL_EP_WAIT_REQUEST,   /* conversion as Responder */
    UAL_EP_ARRIVAL,        /* three-way: positive answer */
    UAL_EP_ESTABLISHED,    /* data may flow */
    UAL_EP_ATTEMPT_FAILED, /* rejected by the peer or otherwise */
    UAL_EP_DISCONNECT,     /* it_ep_disconnect */
    UAL_EP_CLOSED,         /* the peer has disconnected */
    UAL_EP_BROKEN,         /* the established connection failed */
    UAL_EP_RESET,          /* it_ep_reset */
    UAL_EP_FLUSH,          /* itx_ep_flush, itx_ep_clear */
    UAL_EP_STEPS
};

/* A connection event. A member that is zero is absent. */
struct ual_conn_news {
    it_event_type_t number;
    it_cn_est_identifier_t cn_est_id;
    uint32_t ird, ord;
    it_conn_reject_code_t reject_code;
    const void *private_data;
    size_t private_length; /* truncated to IT_MAX_PRIV_DATA */
};

/* ---------------------------------------------------------------- incoming connections */

/*
 * An undecided incoming connection request, found by its cn_est_id (process-wide, never 0, never
 * reused). Its memory belongs to the provider. The call that takes the request out of the table
 * owns it, so exactly one of accept, reject, handoff and a peer that gave up wins a race.
 */
struct ual_request {
    struct base_link link;     /* guarded by the table's lock */
    it_cn_est_identifier_t id; /* set when it enters the table */
    struct ual_ia *ia;
    struct evd *connect_evd; /* EVD of the listen point, which holds the reference */
    size_t spigot_id;
    it_conn_qual_t conn_qual;
    it_net_addr_t source_addr;
    uint32_t peer_ird, peer_ord;
    const void *private_data;
    size_t private_length;
    bool datagram; /* asks for a UD endpoint: answered by ud_reply, not by accept or reject */
};

/* ---------------------------------------------------------------- datagrams */

/* The answer to a request for a UD endpoint. */
struct vp_ud_reply {
    it_ud_svc_req_status_t status;
    it_remote_ep_info_t ep_info; /* with IT_UD_SVC_EP_INFO_VALID */
    /* ud_report: the path to the EP; without one, the path of the request. */
    it_path_t path;
    const void *private_data;
    size_t private_length; /* in ud_report: truncated to IT_MAX_PRIV_DATA */
};

/* ---------------------------------------------------------------- attributes */

/* Limits and features. ia_open fills them in; they are constant afterwards. */
struct vp_attributes {
    it_transport_type_t transport_type;
    it_boolean_t socket_conversion, three_way, suppress_depths, srq, atomics, relative_addressing;
    it_boolean_t srq_resizable, soft_hi_watermark, hard_hi_watermark; /* only with .srq */
    /* Attributes that ep_modify_locked can change. */
    it_boolean_t queues_resizable, ord_increasable, ird_modifiable, enables_modifiable;
    it_rmr_type_t rmr_types; /* bit mask; 0: no RMRs */
    it_boolean_t narrow_unlink, wide_unlink, unlink_fence;
    it_boolean_t send_unlink;     /* Send with remote unlink */
    it_boolean_t read_extensions; /* Read to RMR, IT_UNLINK_LOCAL_SINK */
    it_boolean_t lmr_link;        /* LMRs created without memory; for privileged programs */
    size_t max_request_dtos, max_recv_dtos;
    size_t max_srq_dtos; /* depth of an S-RQ; its segments are limited by max_recv_segments */
    size_t max_send_segments, max_recv_segments, max_read_segments, max_write_segments;
    uint64_t max_message;
    uint64_t max_lmr_length;
    uint32_t max_ird, max_ord;
    size_t max_evd_queue;
    size_t connect_pdata, accept_pdata, reject_pdata, disconnect_pdata;
    it_conn_qual_type_t active_quals, passive_quals;
    uint64_t default_connect_timeout_us;
    it_boolean_t atomic_swap;
    uint32_t immediate_bits;    /* size of an immediate value in bits; 0: not supported */
    uint32_t send_imm_receives; /* receives that a Send with immediate uses at the peer: 1 or 2 */
    it_boolean_t datagrams;     /* UD endpoints, address handles, service requests */
    size_t ud_request_pdata, ud_reply_pdata; /* only with .datagrams */
};

/* ---------------------------------------------------------------- data path */

enum vp_opcode {
    VP_SEND,
    VP_RDMA_WRITE,
    VP_RDMA_READ,
    VP_SEND_UNLINK,      /* rmr_context: the window that the peer shall unlink */
    VP_RDMA_READ_TO_RMR, /* into .windows instead of .segments */
    VP_RMR_LINK,         /* uses .link */
    VP_RMR_UNLINK,       /* uses .link, and only its rmr */
    VP_FETCH_ADD,
    VP_CMP_SWAP,
    VP_SWAP,      /* stores .operand unconditionally */
    VP_SENDTO,    /* a datagram; the only opcode that a UD endpoint gets */
    VP_INVALIDATE /* rmr_context: a local key, of a window or an LMR; link names no objects */
};

/*
 * The window that a link opens. The access layer has checked that range and rights lie within those
 * of the LMR, and that all objects belong to one PZ.
 */
struct vp_link {
    struct ual_rmr *rmr;
    struct ual_lmr *lmr; /* held while linked, so that it cannot be freed */
    uint8_t *addr;
    it_length_t length;
    it_addr_mode_t addr_mode;
    it_mem_priv_t privs;
    it_rmr_context_t *key; /* out: the new key, when the post is accepted */
    bool key_chosen;       /* in: *key is the key to use; only if the provider has .rmr_key */
};

/* The memory that an RMR is linked to now. */
struct vp_rmr_state {
    struct ual_lmr *lmr; /* NULL: the RMR is not linked, and the rest is zero */
    uint8_t *addr;
    it_length_t length;
    it_addr_mode_t addr_mode;
    it_mem_priv_t privs;
    it_rmr_context_t key;
};

/*
 * A checked request: flags are legal, every segment's LMR handle is live, count and length are
 * within the limits.
 */
struct vp_request {
    enum vp_opcode opcode;
    it_dto_flags_t flags;
    it_dto_cookie_t cookie;
    const it_lmr_triplet_t *segments;
    size_t segment_count;
    uint64_t length; /* sum of the segments */
    union {
        struct {
            it_rdma_addr_t rdma_addr;
            it_rmr_context_t rmr_context;
        };
        struct {                         /* VP_SENDTO */
            struct ual_address *address; /* live; belongs to the EP's PZ */
            it_remote_ep_info_t to;
        };
    };
    const it_rmr_triplet_t *windows; /* VP_RDMA_READ_TO_RMR: segment_count windows, RMRs live */
    const struct vp_link *link;      /* VP_RMR_LINK, VP_RMR_UNLINK */
    uint64_t operand;                /* atomic operations: the value to add or to store */
    uint64_t compare;                /* VP_CMP_SWAP */
    /*
     * For VP_SEND and VP_RDMA_WRITE on an EP that has enabled immediate values; the value fits in
     * .immediate_bits.
     */
    bool has_immediate;
    uint64_t immediate;
    struct vp_lent *lent; /* of post_lent; otherwise NULL */
};

/* The octets of the last segment are elsewhere until the post returns. */
struct vp_lent {
    const void *octets;
    size_t copied;   /* out: how many of them were copied */
    uint32_t number; /* the provider's */
};

/*
 * Returns true if the request uses a key of more than the 32 bits that transports have: no peer has
 * such a key. An RDMA Write or Read of no octets uses no key.
 */
static inline bool vp_request_has_bad_key(const struct vp_request *request)
{
    return request->opcode != VP_SENDTO && request->rmr_context > UINT32_MAX &&
           (request->length > 0 || request->opcode == VP_SEND_UNLINK);
}

/* The data path. The EP holds a pointer to this table, so a post costs one indirect call. */
struct vp_ep_ops {
    /* Returns IT_ERR_OP_NOT_SUPPORTED, in every state, for an opcode it does not know. */
    it_status_t (*post_request)(struct ual_ep *ep, const struct vp_request *request);
    it_status_t (*post_recv)(struct ual_ep *ep, const it_lmr_triplet_t *segments, size_t count,
                             it_dto_cookie_t cookie, it_dto_flags_t flags);
    /*
     * A fast path for usual posts: the posting calls of the API check only that the EP is live,
     * then jump to these functions. The library guarantees that the IA has not failed, that the EP
     * is no UD endpoint, and that each limit on segments is at least 1. A function passes every
     * unusual post on to vp_host.entries, with the arguments unchanged. dequeue is not for EPs and
     * returns IT_ERR_INVALID_EVD. NULL: no fast path.
     */
    const struct base_entries *entries;
};

/* Posting on an S-RQ, which holds a pointer to this table. */
struct vp_srq_ops {
    it_status_t (*post_recv)(struct ual_srq *srq, const it_lmr_triplet_t *segments, size_t count,
                             it_dto_cookie_t cookie, it_dto_flags_t flags);
};

/* The arguments of it_socket_convert and itx_socket_convert, checked; the role is decided. */
struct vp_convert {
    int fd; /* owned by the provider: a duplicate of the caller's */
    bool initiator;
    bool no_request_reply;
    const unsigned char *message;
    size_t message_length;
    const unsigned char *early;
    size_t early_length;
    const unsigned char *private_data;
    size_t private_length;
    uint64_t timeout_us;
};

/* ---------------------------------------------------------------- the table */

/*
 * All functions are mandatory, except that those of RMRs, S-RQs and datagrams are NULL unless the
 * IA's attributes announce the feature, and except for the optional ones at the end. A provider
 * refuses what its transport cannot do by the returned status.
 */
struct vp_provider {
    uint32_t abi;  /* VP_ABI */
    uint32_t size; /* sizeof(struct vp_provider) as the provider knows it */
    const char *name;
    size_t ia_area, pz_area, lmr_area, rmr_area, srq_area, ep_area, listen_area;
    size_t address_area, ud_service_area;

    /*
     * Fills at most capacity records. Returns how many Interfaces exist; 0 also if resources run
     * out.
     */
    size_t (*interfaces)(it_interface_t *interfaces, size_t capacity);
    /* Also returns true when resources run out before it knows: ia_open then fails. */
    bool (*has_interface)(const char *name);

    /* The IA's own thread runs already. May set the progress functions (evd/evd_progress.h). */
    it_status_t (*ia_open)(struct ual_ia *ia);
    /* Called after all objects of the IA are gone, while its thread still runs. */
    void (*ia_close)(struct ual_ia *ia);
    const struct vp_attributes *(*ia_attributes)(const struct ual_ia *ia);
    /* Allocates with ual_ia_info_alloc and fills spigots, addresses, vendor and features. */
    it_status_t (*ia_query)(struct ual_ia *ia, it_ia_info_t **info);
    bool (*has_spigot)(const struct ual_ia *ia, size_t spigot_id);
    /*
     * IT_ERR_INVALID_ADDRESS: the IA does not have the address. IT_ERR_RESOURCES: resources run out
     * before it is known.
     */
    it_status_t (*has_address)(const struct ual_ia *ia, const it_net_addr_t *address);
    it_status_t (*paths)(struct ual_ia *ia, size_t spigot_id, const it_net_addr_t *to,
                         size_t capacity, it_path_t *paths, size_t *total);
    void (*counters)(struct ual_ia *ia, struct itx_counters *counters);

    it_status_t (*pz_create)(struct ual_pz *pz);
    void (*pz_destroy)(struct ual_pz *pz);

    /* Sets the LMR's key and marks the LMR as linked (vp_host.lmr_set_key). */
    it_status_t (*lmr_create)(struct ual_lmr *lmr);
    /* Returns when no octet can be placed into or read from the memory any more. */
    void (*lmr_destroy)(struct ual_lmr *lmr);
    /*
     * Called while no window is linked to the LMR; none can be linked until the call returns. Sets
     * the key, as lmr_create does.
     */
    it_status_t (*lmr_modify)(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs);

    /*
     * RMRs, with .rmr_types. Chooses a type if the type is IT_RMR_TYPE_DEFAULT. A link holds its
     * LMR from the post on, so that it_lmr_free returns busy; once executed, it releases the LMR
     * that was linked before. A narrow window holds its EP while it is linked. When the IA is
     * closed, a window may outlive ep_destroy of its EP; the memory of the EP's object then stays.
     */
    it_status_t (*rmr_create)(struct ual_rmr *rmr);
    /* The RMR may be linked. Returns when no octet moves through the window any more. */
    void (*rmr_destroy)(struct ual_rmr *rmr);
    void (*rmr_query)(struct ual_rmr *rmr, struct vp_rmr_state *state);

    /*
     * S-RQs, with .srq. Depth and segments are checked; the provider may round them up. Sets the
     * vp_srq_ops.
     */
    it_status_t (*srq_create)(struct ual_srq *srq);
    /* Called when no EP uses the S-RQ. */
    void (*srq_destroy)(struct ual_srq *srq);
    /*
     * Changes the depth, the low watermark or both; they are checked against the attributes. Takes
     * the S-RQ's lock, refuses a depth below the number of posted receives
     * (IT_ERR_INVALID_SRQ_SIZE) and a watermark above the depth (IT_ERR_SRQ_LOW_WATERMARK), and
     * stores both in the S-RQ. A watermark above the number of posted receives fires at once: the
     * provider sets it to 0 and raises IT_ASYNC_AFF_SRQ_LOW_WATERMARK.
     */
    it_status_t (*srq_modify)(struct ual_srq *srq, it_srq_param_mask_t mask,
                              const it_srq_param_t *params);

    /*
     * The EP's attributes are checked; the provider may round them up. Sets the EP's vp_ep_ops.
     * With .datagrams, also creates UD endpoints (vp_ep_info), which are OPERATIONAL at once. For a
     * UD endpoint it checks the payload that the Spigot can send (IT_ERR_PAYLOAD_SIZE) and the key
     * (IT_ERR_INVALID_EP_KEY), and sets the EP number.
     */
    it_status_t (*ep_create)(struct ual_ep *ep);
    /* In any state: ends a live connection, reports nothing, returns when no thread uses the EP. */
    void (*ep_destroy)(struct ual_ep *ep);
    /*
     * Called before and after ep_modify_locked, without the EP's lock: between the two calls no
     * thread of the provider works on the EP. changed: the attributes that were changed; 0 if the
     * change failed.
     */
    void (*ep_halt)(struct ual_ep *ep);
    void (*ep_proceed)(struct ual_ep *ep, it_ep_param_mask_t changed);
    /*
     * The caller checks state and limits and holds the EP's lock. Returns IT_ERR_OP_NOT_SUPPORTED
     * for what the IA cannot change. On success the provider may replace values in *attr by those
     * now in force, which the caller stores. For a UD endpoint: IT_EP_PARAM_EP_KEY and the depths.
     */
    it_status_t (*ep_modify_locked)(struct ual_ep *ep, it_ep_param_mask_t mask,
                                    it_ep_attributes_t *attr);
    /* From NONOPERATIONAL to UNCONNECTED; a UD endpoint to OPERATIONAL. */
    it_status_t (*ep_reset)(struct ual_ep *ep);
    it_status_t (*ep_set_mpa)(struct ual_ep *ep, const struct itx_mpa_params *params);
    it_status_t (*ep_get_mpa)(struct ual_ep *ep, struct itx_mpa_params *params);
    it_status_t (*ep_query_mpa)(struct ual_ep *ep, struct itx_mpa_info *info);

    /* Fills in the port of the listen point's qualifier if the consumer did not choose one. */
    it_status_t (*listen_start)(struct ual_listen *listen);
    /* Undelivered requests are refused; delivered ones stay. */
    void (*listen_stop)(struct ual_listen *listen);
    /*
     * Takes the step UAL_EP_CONNECT, or returns IT_ERR_INVALID_EP_STATE if the EP is not
     * UNCONNECTED. attributes: as the consumer gave them, or NULL.
     */
    it_status_t (*connect)(struct ual_ep *ep, const it_path_t *path,
                           const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                           it_cn_est_flags_t flags, const void *private_data, size_t length);
    /*
     * The request has been taken out of the table. On success it belongs to the provider again; on
     * failure the caller puts it back.
     */
    it_status_t (*accept)(struct ual_ep *ep, struct ual_request *request, const void *private_data,
                          size_t length);
    /* Also called for requests that are undecided when their IA is freed. */
    it_status_t (*reject)(struct ual_request *request, const void *private_data, size_t length);
    /*
     * Announces the request again, under another id, at the listen point that serves qual on the
     * Spigot. On failure the library puts the request back under its old id, whatever id it has by
     * then.
     */
    it_status_t (*handoff)(struct ual_request *request, const it_conn_qual_t *qual,
                           size_t spigot_id);
    it_status_t (*disconnect)(struct ual_ep *ep);
    it_status_t (*convert)(struct ual_ep *ep, const struct vp_convert *convert);

    /*
     * Datagrams, with .datagrams. A listen point also accepts requests for UD endpoints. The access
     * layer checks only a path's Spigot, and the whole path only for iWARP.
     */
    /*
     * May block, unless IT_AH_PATH_COMPLETE is set. Returns IT_ERR_INVALID_SOURCE_PATH or
     * IT_ERR_INVALID_ADDRESS for a bad path.
     */
    it_status_t (*address_create)(struct ual_address *address, const it_path_t *path,
                                  it_ah_flags_t flags);
    /* No thread sends to the address during the call. Changes nothing on failure. */
    it_status_t (*address_modify)(struct ual_address *address, const it_path_t *path);
    void (*address_destroy)(struct ual_address *address);
    /* Checks qualifier and path; sends nothing yet. */
    it_status_t (*ud_service_create)(struct ual_ud_service *service);
    /* Nothing is reported any more once it has returned. */
    void (*ud_service_destroy)(struct ual_ud_service *service);
    /*
     * Sends the request. ud_report reports the outcome once, also when no answer comes within the
     * time of the path (IT_UD_SVC_REQ_REJECTED). Returns IT_ERR_RESOURCES while an earlier request
     * is under way.
     */
    it_status_t (*ud_request)(struct ual_ud_service *service);
    /*
     * The request has been taken out of the table. On success it belongs to the provider again; on
     * failure the caller puts it back.
     */
    it_status_t (*ud_reply)(struct ual_request *request, const struct vp_ud_reply *reply);

    /* Each function from here on is optional: the pointer is NULL, or .size ends before it. */
    /*
     * Adds to the values in *counters, which begin at 0. The EP is live. Any thread; the lock of
     * the IA's lists is held.
     */
    void (*ep_counters)(struct ual_ep *ep, struct itx_ep_counters *counters);
    /*
     * If there is a reason why Interfaces are missing or unusable, stores it in .obstacle and
     * .detail. On entry these are ITX_OBSTACLE_NONE and "".
     */
    void (*obstacle)(struct itx_provider_info *info);
    /* For itx_srq_set_message_timeout; any value is valid. */
    it_status_t (*srq_set_message_timeout)(struct ual_srq *srq, uint64_t timeout_us);
    /*
     * Gets the addresses of both ends of the EP's connection; in NONOPERATIONAL those of the last
     * one. Returns false if there was no connection. Called with the EP's lock held, in CONNECTED
     * or NONOPERATIONAL, never for a UD endpoint.
     */
    bool (*ep_addresses_locked)(struct ual_ep *ep, struct itx_ep_addresses *addresses);
    /*
     * itx_ep_flush: from any state to NONOPERATIONAL. itx_ep_clear: from any state to UNCONNECTED.
     * When they return, every posted request has completed or is gone.
     */
    it_status_t (*ep_flush)(struct ual_ep *ep);
    it_status_t (*ep_clear)(struct ual_ep *ep);
    /*
     * For itx_lmr_create_at: as lmr_create, but base is the address of the first octet for peers.
     * An absolute window onto the LMR uses the same addresses.
     */
    it_status_t (*lmr_create_at)(struct ual_lmr *lmr, it_rdma_addr_t base);
    /*
     * For itx_rmr_key: reserves a key for the window, together with all keys that differ only in
     * the low 8 bits. A link with a key that is not reserved is refused with IT_ERR_RANGE.
     */
    it_status_t (*rmr_key)(struct ual_rmr *rmr, it_rmr_context_t *key);
    /*
     * For itx_ia_freeze, while the IA's thread is stopped: no thread works on the IA until ia_thaw,
     * and no process owns its connections until ep_claim.
     */
    it_status_t (*ia_freeze)(struct ual_ia *ia);
    /*
     * For itx_ia_thaw. copy: this process is a copy made by fork(2), and gets descriptors of its
     * own. Returns the descriptor that the IA's thread shall watch, or -1 on failure.
     */
    int (*ia_thaw)(struct ual_ia *ia, bool copy);
    /* For itx_ep_claim. */
    it_status_t (*ep_claim)(struct ual_ep *ep);
    /* For itx_rmr_reset: as rmr_destroy, but the window stays, not linked. */
    void (*rmr_reset)(struct ual_rmr *rmr);
    /*
     * For itx_socket_request. On success the provider owns fd, a duplicate of the caller's. Only
     * with this function may a listen point have ITX_LISTEN_SOCKETS.
     */
    it_status_t (*socket_request)(struct ual_listen *listen, int fd);
    /* For ITX_LMR_KEEP_KEY: as lmr_modify, but the key stays, and so do posted segments. */
    it_status_t (*lmr_change)(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs);
    /*
     * For itx_listen_create_at: as listen_start, on one address (its port is 0) or on all addresses
     * of its IP version.
     */
    it_status_t (*listen_start_at)(struct ual_listen *listen,
                                   const struct sockaddr_storage *address);
    /* For itx_ep_limit_hold. */
    it_status_t (*ep_limit_hold)(struct ual_ep *ep, unsigned tries, uint64_t try_us);
    /*
     * For itx_ep_set_stream_option and itx_ep_get_stream_option. The option is an allowed one, the
     * EP is not frozen, and ep_halt has stopped it.
     */
    it_status_t (*ep_stream_option_halted)(struct ual_ep *ep, bool set, int level, int option,
                                           void *value, socklen_t *length);
    /*
     * For itx_request_query_addresses. Called with the lock of the table of requests held, while
     * the request is in it.
     */
    void (*request_addresses_locked)(struct ual_request *request,
                                     struct itx_ep_addresses *addresses);
    /*
     * For itx_post_send_from: as post_request, for a request with .lent and at least one segment.
     * The octets that are not sent when the function returns are copied to the last segment.
     */
    it_status_t (*post_lent)(struct ual_ep *ep, const struct vp_request *request);
    /* For itx_ep_aim. aim: NULL ends the present aim. */
    it_status_t (*ep_aim)(struct ual_ep *ep, const struct itx_aim *aim, it_length_t *used);
};

/* The size of the mandatory part of the table. */
#define VP_PROVIDER_SIZE offsetof(struct vp_provider, ep_counters)

/* True if the provider has this optional function. */
#define VP_PROVIDER_HAS(provider, function)                                                        \
    ((provider)->size >= offsetof(struct vp_provider, function) + sizeof((provider)->function) &&  \
     (provider)->function)

#endif
