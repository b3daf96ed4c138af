/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verbs-provider interface: struct vp_provider, one table of functions per provider. The access
 * layer (ual, tii, tdi) checks handles, flags, masks and private data lengths before it calls; a
 * provider checks what only it can know. Private areas are zeroed when an object is created.
 *
 * The door has two sides. This one is the same for every provider. The other one, what a provider
 * may call, is struct vp_host (ual/vp_host.h): functions, and one table of offsets. verbs and all
 * providers from shared libraries go through that table, and objects are opaque to them. uiwarp is
 * linked with the library and calls the functions behind the table by name: it takes the lock of an
 * EP and reads its state inline, since an indirect call for each would cost a message more than its
 * protocol does.
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

/* Contents of a connection event. Zeroed members are "nothing". */
struct ual_conn_news {
    it_event_type_t number;
    it_cn_est_identifier_t cn_est_id;
    uint32_t ird, ord;
    it_conn_reject_code_t reject_code;
    const void *private_data;
    size_t private_length; /* cut to IT_MAX_PRIV_DATA */
};

/* ---------------------------------------------------------------- incoming connections */

/*
 * An undecided incoming connection request, found by its cn_est_id (process-wide, never 0, never
 * reused). It is the provider's memory; whoever takes it out of the table owns it, so of racing
 * accept, reject, handoff and "the peer gave up" exactly one wins.
 */
struct ual_request {
    struct base_link link;     /* by the table's lock */
    it_cn_est_identifier_t id; /* set when it enters the table */
    struct ual_ia *ia;
    struct evd *connect_evd; /* of the listen point; held by the listen point only */
    size_t spigot_id;
    it_conn_qual_t conn_qual;
    it_net_addr_t source_addr;
    uint32_t peer_ird, peer_ord;
    const void *private_data;
    size_t private_length;
    bool datagram; /* asks for an EP of datagrams: ud_reply answers it, not accept or reject */
};

/* ---------------------------------------------------------------- datagrams */

/* The answer to a request for an EP of datagrams. */
struct vp_ud_reply {
    it_ud_svc_req_status_t status;
    it_remote_ep_info_t ep_info; /* with IT_UD_SVC_EP_INFO_VALID */
    it_path_t path;              /* ud_report: to the EP, or as it was asked for */
    const void *private_data;
    size_t private_length; /* ud_report: cut to IT_MAX_PRIV_DATA */
};

/* ---------------------------------------------------------------- attributes */

/* Limits and features, filled by ia_open, constant afterwards. */
struct vp_attributes {
    it_transport_type_t transport_type;
    it_boolean_t socket_conversion, three_way, suppress_depths, srq, atomics, relative_addressing;
    it_boolean_t srq_resizable, soft_hi_watermark, hard_hi_watermark; /* only with .srq */
    /* Changes that ep_modify can make. */
    it_boolean_t queues_resizable, ord_increasable, ird_modifiable, enables_modifiable;
    it_rmr_type_t rmr_types; /* bit mask; 0: no RMRs */
    it_boolean_t narrow_unlink, wide_unlink, unlink_fence;
    it_boolean_t send_unlink;     /* Send with remote unlink */
    it_boolean_t read_extensions; /* Read to RMR, IT_UNLINK_LOCAL_SINK */
    it_boolean_t lmr_link;        /* LMRs made without memory; for privileged programs */
    size_t max_request_dtos, max_recv_dtos;
    size_t max_srq_dtos; /* depth of an S-RQ; its segments are max_recv_segments */
    size_t max_send_segments, max_recv_segments, max_read_segments, max_write_segments;
    uint64_t max_message;
    uint64_t max_lmr_length;
    uint32_t max_ird, max_ord;
    size_t max_evd_queue;
    size_t connect_pdata, accept_pdata, reject_pdata, disconnect_pdata;
    it_conn_qual_type_t active_quals, passive_quals;
    uint64_t default_connect_timeout_us;
    it_boolean_t atomic_swap;
    uint32_t immediate_bits;    /* of an immediate value; 0: there are none */
    uint32_t send_imm_receives; /* what a Send with an immediate takes at the peer: 1 or 2 */
    it_boolean_t datagrams;     /* EPs of datagrams, address handles, service requests */
    size_t ud_request_pdata, ud_reply_pdata; /* only with .datagrams */
};

/* ---------------------------------------------------------------- data path */

enum vp_opcode {
    VP_SEND,
    VP_RDMA_WRITE,
    VP_RDMA_READ,
    VP_SEND_UNLINK,      /* rmr_context: what the peer is to unlink */
    VP_RDMA_READ_TO_RMR, /* windows instead of segments */
    VP_RMR_LINK,         /* link */
    VP_RMR_UNLINK,       /* link, only its RMR counts */
    VP_FETCH_ADD,
    VP_CMP_SWAP,
    VP_SWAP,      /* stores whatever it finds there */
    VP_SENDTO,    /* a datagram; the one opcode that an EP of datagrams gets */
    VP_INVALIDATE /* rmr_context: the key of a window or LMR of our own; link, of nothing */
};

/*
 * The window that a link opens: range and rights are within those of the LMR, all objects of one
 * PZ.
 */
struct vp_link {
    struct ual_rmr *rmr;
    struct ual_lmr *lmr; /* must not be freed while linked: held */
    uint8_t *addr;
    it_length_t length;
    it_addr_mode_t addr_mode;
    it_mem_priv_t privs;
    it_rmr_context_t *key; /* out: the new key, when the post is accepted */
    bool key_chosen;       /* in: the key that it is to have. Only with .rmr_key of the provider */
};

/* The memory that an RMR is linked to now. */
struct vp_rmr_state {
    struct ual_lmr *lmr; /* NULL: to nothing, and the rest is zero */
    uint8_t *addr;
    it_length_t length;
    it_addr_mode_t addr_mode;
    it_mem_priv_t privs;
    it_rmr_context_t key;
};

/*
 * A request, checked: flags legal, every segment's LMR handle live, count and length within limits.
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
            struct ual_address *address; /* live, of the EP's PZ */
            it_remote_ep_info_t to;
        };
    };
    const it_rmr_triplet_t *windows; /* VP_RDMA_READ_TO_RMR: segment_count of them, RMRs live */
    const struct vp_link *link;      /* VP_RMR_LINK, VP_RMR_UNLINK */
    uint64_t operand;                /* atomic operations: to add or to store */
    uint64_t compare;                /* VP_CMP_SWAP */
    /* VP_SEND, VP_RDMA_WRITE; only on an EP with .immediate_bits, and of no more bits than that. */
    bool has_immediate;
    uint64_t immediate;
};

/*
 * The request depends on a key of more bits than the 32 that transports have: no peer has such a
 * key. An RDMA Write or Read of no octets depends on none.
 */
static inline bool vp_request_has_bad_key(const struct vp_request *request)
{
    return request->opcode != VP_SENDTO && request->rmr_context > UINT32_MAX &&
           (request->length > 0 || request->opcode == VP_SEND_UNLINK);
}

/* The data path: reached by one indirect call from the EP itself. */
struct vp_ep_ops {
    /* Of an opcode that the provider does not know: IT_ERR_OP_NOT_SUPPORTED, in every state. */
    it_status_t (*post_request)(struct ual_ep *ep, const struct vp_request *request);
    it_status_t (*post_recv)(struct ual_ep *ep, const it_lmr_triplet_t *segments, size_t count,
                             it_dto_cookie_t cookie, it_dto_flags_t flags);
    /*
     * For usual posts in fewer instructions: what the posting calls come to on a live EP at once,
     * with nothing else checked; whatever is not usual is handed on to vp_host.entries, with the
     * arguments as they are. Counts of segments are limited to 1 at least, the IA works, and
     * datagrams do not come here. All but dequeue, which says IT_ERR_INVALID_EVD, post. NULL: there
     * are none.
     */
    const struct base_entries *entries;
};

/* Posting on an S-RQ: reached by one indirect call from the S-RQ itself. */
struct vp_srq_ops {
    it_status_t (*post_recv)(struct ual_srq *srq, const it_lmr_triplet_t *segments, size_t count,
                             it_dto_cookie_t cookie, it_dto_flags_t flags);
};

/* it_socket_convert and itx_socket_convert, checked and with the role decided. */
struct vp_convert {
    int fd; /* the provider's: a duplicate of the caller's */
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
 * All functions are needed, those of RMRs, of S-RQs and of datagrams if the IA's attributes
 * announce them; else they are NULL. What the transport cannot do is refused by their status.
 */
struct vp_provider {
    uint32_t abi;  /* VP_ABI */
    uint32_t size; /* sizeof(struct vp_provider) as the provider knows it */
    const char *name;
    size_t ia_area, pz_area, lmr_area, rmr_area, srq_area, ep_area, listen_area;
    size_t address_area, ud_service_area;

    /*
     * Fills at most capacity records; returns how many Interfaces exist (0: also without
     * resources).
     */
    size_t (*interfaces)(it_interface_t *interfaces, size_t capacity);
    /* Also true when it cannot be told without resources: ia_open then fails. */
    bool (*has_interface)(const char *name);

    /* The IA's own thread runs already. May set the progress functions (evd/evd_progress.h). */
    it_status_t (*ia_open)(struct ual_ia *ia);
    /* All objects of the IA are gone; its thread still runs. */
    void (*ia_close)(struct ual_ia *ia);
    const struct vp_attributes *(*ia_attributes)(const struct ual_ia *ia);
    /* Allocates with ual_ia_info_alloc and fills spigots, addresses, vendor and features. */
    it_status_t (*ia_query)(struct ual_ia *ia, it_ia_info_t **info);
    bool (*has_spigot)(const struct ual_ia *ia, size_t spigot_id);
    /* IT_ERR_INVALID_ADDRESS: it has not; IT_ERR_RESOURCES: it cannot be told. */
    it_status_t (*has_address)(const struct ual_ia *ia, const it_net_addr_t *address);
    it_status_t (*paths)(struct ual_ia *ia, size_t spigot_id, const it_net_addr_t *to,
                         size_t capacity, it_path_t *paths, size_t *total);
    void (*counters)(struct ual_ia *ia, struct itx_counters *counters);

    it_status_t (*pz_create)(struct ual_pz *pz);
    void (*pz_destroy)(struct ual_pz *pz);

    /* Sets the LMR's key and that it works. */
    it_status_t (*lmr_create)(struct ual_lmr *lmr);
    /* Returns when no octet can land in or leave the memory any more. */
    void (*lmr_destroy)(struct ual_lmr *lmr);
    /* No window is linked to it, nor can be until it returns. Sets both as lmr_create does. */
    it_status_t (*lmr_modify)(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs);

    /*
     * A window, with .rmr_types. Decides on its type if that is IT_RMR_TYPE_DEFAULT. A link holds
     * its LMR from the post on (it_lmr_free is busy) and, once executed, lets go of what was linked
     * before; a narrow window holds its EP while it is linked. It may outlive ep_destroy, as does
     * the object of its EP then, when the IA is closed.
     */
    it_status_t (*rmr_create)(struct ual_rmr *rmr);
    /* Linked or not. Returns when no octet moves through the window any more. */
    void (*rmr_destroy)(struct ual_rmr *rmr);
    void (*rmr_query)(struct ual_rmr *rmr, struct vp_rmr_state *state);

    /*
     * S-RQs, with .srq. Depth and segments are checked; may be rounded up here. Sets the
     * vp_srq_ops.
     */
    it_status_t (*srq_create)(struct ual_srq *srq);
    /* No EP uses it. */
    void (*srq_destroy)(struct ual_srq *srq);
    /*
     * Depth, low watermark or both; checked against the attributes. Takes the S-RQ's lock, refuses
     * a depth below what is posted (IT_ERR_INVALID_SRQ_SIZE) and a watermark above the depth
     * (IT_ERR_SRQ_LOW_WATERMARK), and stores both in the S-RQ. A watermark above what is posted
     * fires at once; whoever fires it sets it to 0 and raises IT_ASYNC_AFF_SRQ_LOW_WATERMARK.
     */
    it_status_t (*srq_modify)(struct ual_srq *srq, it_srq_param_mask_t mask,
                              const it_srq_param_t *params);

    /*
     * The EP's attributes are checked; may be rounded up here. Sets the EP's vp_ep_ops. With
     * .datagrams also EPs of datagrams (vp_ep_info): OPERATIONAL at once. Of such, what may be sent
     * on the Spigot (IT_ERR_PAYLOAD_SIZE) and the key (IT_ERR_INVALID_EP_KEY) are checked here, and
     * the number is set.
     */
    it_status_t (*ep_create)(struct ual_ep *ep);
    /* Any state: cuts a live connection, reports nothing, returns when no thread uses the EP. */
    void (*ep_destroy)(struct ual_ep *ep);
    /*
     * Around ep_modify_locked, without the EP's lock: nobody works on the EP between the two.
     * changed: what has been changed, 0 if that has failed.
     */
    void (*ep_halt)(struct ual_ep *ep);
    void (*ep_proceed)(struct ual_ep *ep, it_ep_param_mask_t changed);
    /*
     * State and limits are checked by the caller, who holds the EP's lock; what the IA cannot
     * change is IT_ERR_OP_NOT_SUPPORTED. On success *attr may be turned into what is in force from
     * then on, and the caller stores that. Of an EP of datagrams: IT_EP_PARAM_EP_KEY and the
     * depths.
     */
    it_status_t (*ep_modify_locked)(struct ual_ep *ep, it_ep_param_mask_t mask,
                                    it_ep_attributes_t *attr);
    /* NONOPERATIONAL to UNCONNECTED; of datagrams: to OPERATIONAL. */
    it_status_t (*ep_reset)(struct ual_ep *ep);
    it_status_t (*ep_set_mpa)(struct ual_ep *ep, const struct itx_mpa_params *params);
    it_status_t (*ep_get_mpa)(struct ual_ep *ep, struct itx_mpa_params *params);
    it_status_t (*ep_query_mpa)(struct ual_ep *ep, struct itx_mpa_info *info);

    /* Fills in the port of its qualifier when the consumer left the choice. */
    it_status_t (*listen_start)(struct ual_listen *listen);
    /* Undelivered requests are refused, delivered ones live on. */
    void (*listen_stop)(struct ual_listen *listen);
    /*
     * Moves the EP from UNCONNECTED (UAL_EP_CONNECT) or fails with IT_ERR_INVALID_EP_STATE.
     * attributes: as the consumer gave them, or NULL.
     */
    it_status_t (*connect)(struct ual_ep *ep, const it_path_t *path,
                           const it_conn_attributes_t *attributes, const it_conn_qual_t *qual,
                           it_cn_est_flags_t flags, const void *private_data, size_t length);
    /*
     * The request is taken; on success it is the provider's again, on failure put back by the
     * caller.
     */
    it_status_t (*accept)(struct ual_ep *ep, struct ual_request *request, const void *private_data,
                          size_t length);
    /* Also for what is undecided when its IA is freed. */
    it_status_t (*reject)(struct ual_request *request, const void *private_data, size_t length);
    /*
     * Announces the request anew, under another id, on the listen point that serves qual on the
     * spigot. Refused: the library puts it back under its old id, whatever it has now.
     */
    it_status_t (*handoff)(struct ual_request *request, const it_conn_qual_t *qual,
                           size_t spigot_id);
    it_status_t (*disconnect)(struct ual_ep *ep);
    it_status_t (*convert)(struct ual_ep *ep, const struct vp_convert *convert);

    /*
     * Datagrams, with .datagrams. A listen point also takes requests for EPs of datagrams. Of
     * paths, only the Spigot is checked, and those of iWARP.
     */
    /* May block, unless IT_AH_PATH_COMPLETE. IT_ERR_INVALID_SOURCE_PATH, IT_ERR_INVALID_ADDRESS. */
    it_status_t (*address_create)(struct ual_address *address, const it_path_t *path,
                                  it_ah_flags_t flags);
    /* Nobody sends to it during the call. On failure all is as before. */
    it_status_t (*address_modify)(struct ual_address *address, const it_path_t *path);
    void (*address_destroy)(struct ual_address *address);
    /* Nothing goes out yet. Checks qualifier and path. */
    it_status_t (*ud_service_create)(struct ual_ud_service *service);
    /* When it has returned, nothing is reported any more. */
    void (*ud_service_destroy)(struct ual_ud_service *service);
    /*
     * Sends the request; its outcome is reported once, by ud_report: also that nobody has answered
     * in the time of the path (IT_UD_SVC_REQ_REJECTED). IT_ERR_RESOURCES while the last one is
     * under way.
     */
    it_status_t (*ud_request)(struct ual_ud_service *service);
    /*
     * The request is taken; on success it is the provider's again, on failure put back by the
     * caller.
     */
    it_status_t (*ud_reply)(struct ual_request *request, const struct vp_ud_reply *reply);

    /*
     * Functions that a provider may leave out, each by itself: NULL, or .size ends before it.
     */
    /*
     * Adds to what is there, which is 0. The EP lives; from any thread, with the lock of the IA's
     * lists.
     */
    void (*ep_counters)(struct ual_ep *ep, struct itx_ep_counters *counters);
    /*
     * Sets .obstacle and .detail if something keeps Interfaces away or unusable. They say "none".
     */
    void (*obstacle)(struct itx_provider_info *info);
    /* itx_srq_set_message_timeout; any value. */
    it_status_t (*srq_set_message_timeout)(struct ual_srq *srq, uint64_t timeout_us);
    /*
     * Both ends of the EP's connection, the last one in NONOPERATIONAL. False: there was none. Of a
     * connected EP in one of these two states, by its lock.
     */
    bool (*ep_addresses_locked)(struct ual_ep *ep, struct itx_ep_addresses *addresses);
    /*
     * itx_ep_flush and itx_ep_clear: from any state to NONOPERATIONAL, to UNCONNECTED. When they
     * return, all that was posted has completed, or is gone.
     */
    it_status_t (*ep_flush)(struct ual_ep *ep);
    it_status_t (*ep_clear)(struct ual_ep *ep);
    /*
     * itx_lmr_create_at: lmr_create, but peers find the first octet at this address. A window that
     * is absolute lies where its part of the LMR lies.
     */
    it_status_t (*lmr_create_at)(struct ual_lmr *lmr, it_rdma_addr_t base);
    /*
     * itx_rmr_key: a key that is the window's own from now on, with all others that differ in the
     * low 8 bits. A link with one that is not is refused with IT_ERR_RANGE.
     */
    it_status_t (*rmr_key)(struct ual_rmr *rmr, it_rmr_context_t *key);
    /*
     * itx_ia_freeze, while the IA's thread rests: nobody works on the IA until ia_thaw, and its
     * connections are nobody's until ep_claim.
     */
    it_status_t (*ia_freeze)(struct ual_ia *ia);
    /*
     * copy: in a copy of the process; descriptors become its own. Returns the one that the IA's
     * thread watches, -1: it has failed.
     */
    int (*ia_thaw)(struct ual_ia *ia, bool copy);
    /* itx_ep_claim. */
    it_status_t (*ep_claim)(struct ual_ep *ep);
    /* itx_rmr_reset: as rmr_destroy, but the window lives on, linked to nothing. */
    void (*rmr_reset)(struct ual_rmr *rmr);
    /*
     * itx_socket_request; fd is the provider's on success, a duplicate of the caller's. With this
     * function a listen point may have ITX_LISTEN_SOCKETS.
     */
    it_status_t (*socket_request)(struct ual_listen *listen, int fd);
    /* ITX_LMR_KEEP_KEY: as lmr_modify, but keys and segments that are posted stay as they are. */
    it_status_t (*lmr_change)(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs);
    /* itx_listen_create_at: as listen_start, on one address (with port 0) or all of its version. */
    it_status_t (*listen_start_at)(struct ual_listen *listen,
                                   const struct sockaddr_storage *address);
    /* itx_ep_limit_hold. */
    it_status_t (*ep_limit_hold)(struct ual_ep *ep, unsigned tries, uint64_t try_us);
    /*
     * itx_ep_set_stream_option and itx_ep_get_stream_option, of an EP that is not frozen and that
     * ep_halt has stopped: an allowed option.
     */
    it_status_t (*ep_stream_option_halted)(struct ual_ep *ep, bool set, int level, int option,
                                           void *value, socklen_t *length);
};

/* The part of a table that no provider may leave out. */
#define VP_PROVIDER_SIZE offsetof(struct vp_provider, ep_counters)

/* A function of those that may be left out is there. */
#define VP_PROVIDER_HAS(provider, function)                                                        \
    ((provider)->size >= offsetof(struct vp_provider, function) + sizeof((provider)->function) &&  \
     (provider)->function)

#endif
