/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_api.h - the Interconnect Transport API (IT-API), version 2.1, as published by the Open Group.
 *
 * Choosing a version. The numbered functions (it_lmr_create10, it_lmr_create20, ...) always exist.
 * What the unnumbered names mean is fixed before this header is first included:
 *
 *   defined by the program         it_lmr_create    it_rmr_create    it_rmr_bind     in force
 *   nothing                        it_lmr_create10  it_rmr_create10  it_rmr_bind10   1.0
 *   ITAPI_ENABLE_V20_BINDINGS      it_lmr_create20  it_rmr_create20  it_rmr_link     2.0
 *   ITAPI_ENABLE_V21_BINDINGS      it_lmr_create21  it_rmr_create20  it_rmr_link     2.1
 *
 * If both are defined, 2.0 wins. Under 1.0 the macro ITAPI_ENABLE_V10_BINDINGS is defined here.
 *
 * Conventions, valid for every function unless its own comment says otherwise:
 *
 *   Handles       A handle that is null, was freed or names another kind of object is refused
 *                 with the code listed for that argument.
 *   Pointers      A required pointer that is NULL is refused with IT_ERR_FAULT. Results are
 *                 written only when the call returns IT_SUCCESS.
 *   Order         Arguments are checked in the order handles, pointers, flags and masks, other
 *                 values, features of the adapter, state, resources; the first problem is
 *                 reported.
 *   Query masks   Mask 0 is legal and reads nothing; the ALL bit reads every member that
 *                 applies; members not asked for keep their old content.
 *   Modify masks  Mask 0 is legal and changes nothing; ALL and read-only bits are refused. A
 *                 call that fails leaves the object as it was.
 *   Siblings      Objects named in one call have to belong to one IA and, where zones matter,
 *                 one PZ.
 *   Private data  Length 0 means "none" and the pointer is ignored. The bytes are copied.
 *   Async calls   IT_SUCCESS promises exactly one outcome event (except for requests posted
 *                 without IT_COMPLETION_FLAG that succeed); any other status promises that there
 *                 is none.
 *   Threads       "Any thread" means: callable at any time, calls on one object take effect one
 *                 after the other. An object must not be freed while another thread uses it. No
 *                 function may be called from a signal handler; handles do not survive fork.
 *   Time          Durations are microseconds.
 *   Byte order    Ports and service ids are in network byte order, keys (it_rmr_context_t) and
 *                 remote addresses (it_rdma_addr_t) in host byte order.
 */
#ifndef ITAPI_INCLUDE_IT_API_H
#define ITAPI_INCLUDE_IT_API_H

#if defined(ITAPI_ENABLE_V20_BINDINGS) || defined(ITAPI_ENABLE_V21_BINDINGS)
#undef ITAPI_ENABLE_V10_BINDINGS
#elif !defined(ITAPI_ENABLE_V10_BINDINGS)
#define ITAPI_ENABLE_V10_BINDINGS
#endif

#include "it_api_os_specific.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==============================================================================================
 * Constants
 * ============================================================================================== */

#define IT_INTERFACE_NAME_SIZE 128 /* bytes of an Interface name, its NUL included */
#define IT_MAX_PRIV_DATA       256 /* array bound of private data; it_ia_info_t has the limits */
#define IT_MAX_VIA_ADDR_LEN    64  /* bytes of a VIA address */
#define IT_MAX_VIA_DISC_LEN    64  /* bytes of a VIA discriminator */

#define IT_EVENT_STREAM_MASK         0xff000        /* event number & this = its stream */
#define IT_TIMEOUT_INFINITE          ((uint64_t)-1) /* wait without limit */
#define IT_THRESHOLD_DISABLE         0              /* EVD without threshold */
#define IT_HARD_HI_WATERMARK_DISABLE ((size_t)-1)   /* EP without hard watermark */

/* No object. */
#ifdef __cplusplus
#define IT_NULL_HANDLE NULL
#else
#define IT_NULL_HANDLE ((it_handle_t)NULL)
#endif

/* No virtual address. */
#define IT_NO_ADDR NULL

/* ==============================================================================================
 * Names kept from version 1.0
 * ============================================================================================== */

/* Members. */
#define rdma_read_inflight_incoming rdma_read_ird
#define rdma_read_inflight_outgoing rdma_read_ord
#define ird_support                 ird_ord_ia_support
#define ord_support                 ird_ord_ia_support

/* Functions with one meaning under every binding. */
#define it_make_rdma_addr      it_make_rdma_addr_absolute
#define it_lmr_sync_rdma_read  it_lmr_flush_to_mem
#define it_lmr_sync_rdma_write it_lmr_refresh_from_mem
#define it_rmr_unbind          it_rmr_unlink

/* Functions whose meaning depends on the binding. */
#if defined(ITAPI_ENABLE_V10_BINDINGS)
#define it_lmr_create it_lmr_create10
#define it_rmr_create it_rmr_create10
#define it_rmr_bind   it_rmr_bind10
#else
#if defined(ITAPI_ENABLE_V20_BINDINGS)
#define it_lmr_create it_lmr_create20
#else
#define it_lmr_create it_lmr_create21
#endif
#define it_rmr_create it_rmr_create20
#define it_rmr_bind   it_rmr_link
#endif

/* ==============================================================================================
 * Handles and scalar types
 * ============================================================================================== */

typedef struct it_addr_s *it_addr_handle_t;             /* address handle: a UD destination */
typedef struct it_ep_s *it_ep_handle_t;                 /* endpoint */
typedef struct it_evd_s *it_evd_handle_t;               /* event dispatcher, simple or aggregate */
typedef struct it_ia_s *it_ia_handle_t;                 /* Interface Adapter */
typedef struct it_listen_s *it_listen_handle_t;         /* listen point */
typedef struct it_lmr_s *it_lmr_handle_t;               /* local memory region */
typedef struct it_pz_s *it_pz_handle_t;                 /* protection zone */
typedef struct it_rmr_s *it_rmr_handle_t;               /* remote memory region */
typedef struct it_ud_svc_req_s *it_ud_svc_req_handle_t; /* UD service request */
typedef struct it_srq_s *it_srq_handle_t;               /* shared receive queue */
typedef void *it_handle_t;                              /* any of the above */

typedef uint64_t it_dto_cookie_t;            /* program's value, returned in the completion */
typedef uint64_t it_rmr_context_t;           /* key that opens a memory region to peers */
typedef uint64_t it_rdma_addr_t;             /* place in a peer's memory region */
typedef uint64_t it_cn_est_identifier_t;     /* names one connection request or accept; never 0 */
typedef uint64_t it_ud_svc_req_identifier_t; /* names one incoming UD service request */
typedef uint64_t it_ib_serviceid_t;          /* InfiniBand service id, network byte order */
typedef struct in6_addr it_ib_gid_t;         /* InfiniBand GID */
typedef uint32_t it_ud_ep_id_t;              /* datagram endpoint number */
typedef uint32_t it_ud_ep_key_t;             /* datagram endpoint key */

/*
 * EVD callback. Runs on the IA's thread, or on one that leads (itx_ia_lead_end), never twice at
 * once for one EVD. arg is the value passed to it_evd_callback_attach. The callback may call any
 * function, except that it must not free the EVD or its IA (see it_evd_callback_attach).
 */
typedef void (*it_evd_callback_rtn_t)(it_evd_handle_t evd, void *arg);

/* ==============================================================================================
 * Status codes
 * ============================================================================================== */

/* The result of every call that can fail. */
typedef enum {
    IT_SUCCESS = 0,     /* call done, or accepted and queued when the call is asynchronous */
    IT_ERR_ABORT = 1,   /* a blocked wait ended because its EVD or IA was freed */
    IT_ERR_ACCESS = 2,  /* memory rights do not cover the requested privileges */
    IT_ERR_ADDRESS = 3, /* memory address unusable for this registration or mapping */
    IT_ERR_AEVD_NOT_ALLOWED = 4,       /* aggregate EVD given where only a simple EVD may stand */
    IT_ERR_ASYNC_AFF_EVD_EXISTS = 5,   /* the IA already has its one affiliated-error EVD */
    IT_ERR_ASYNC_UNAFF_EVD_EXISTS = 6, /* the IA already has its one unaffiliated-error EVD */
    IT_ERR_CALLBACK_EXISTS = 7,        /* a callback is attached to the EVD */
    IT_ERR_CANNOT_RESET = 8,           /* the error condition of this object cannot be cleared */
    IT_ERR_CONN_QUAL_BUSY = 9,         /* port / service id already taken */
    IT_ERR_EP_BUSY = 10,               /* endpoint still has dependents or a call running on it */
    /* previous connection of this endpoint or address still in time-wait */
    IT_ERR_EP_TIMEWAIT = 11,
    IT_ERR_EVD_BUSY = 12,          /* EVD still fed by or grouped with other objects */
    IT_ERR_EVD_WAIT = 13,          /* a thread is blocked in it_evd_wait on the EVD */
    IT_ERR_EVD_QUEUE_FULL = 14,    /* no room for one more software event */
    IT_ERR_FAULT = 15,             /* NULL or unmapped pointer argument */
    IT_ERR_HARD_HI_WATERMARK = 16, /* IA has no hard high watermark feature */
    IT_ERR_IA_CATASTROPHE = 17,    /* the IA has failed; only frees still work */
    IT_ERR_INTERRUPT = 18,         /* wait ended by a signal */
    IT_ERR_INVALID_ADDR_MODE = 19, /* addressing mode unknown or not offered by the IA */
    IT_ERR_INVALID_ADDRESS = 20,   /* destination part of a path or address is unusable */
    IT_ERR_INVALID_AEVD = 21,      /* aggregate EVD handle bad, not aggregate, or of another IA */
    IT_ERR_INVALID_AH = 22,        /* address handle bad */
    IT_ERR_INVALID_ATIMEOUT = 23,  /* IB local ACK timeout out of range */
    IT_ERR_INVALID_ATOMIC_OP = 24, /* atomic operation code unknown */
    IT_ERR_INVALID_CM_RETRY = 25,  /* IB CM retry count out of range */
    /* connect flags unknown, contradictory or not offered by the IA */
    IT_ERR_INVALID_CN_EST_FLAGS = 26,
    IT_ERR_INVALID_CN_EST_ID = 27,  /* connection identifier unknown, used up or expired */
    IT_ERR_INVALID_CONN_EVD = 28,   /* connect EVD bad or of the wrong stream */
    IT_ERR_INVALID_CONN_QUAL = 29,  /* connection qualifier type or value not acceptable */
    IT_ERR_INVALID_CONVERSION = 30, /* address pair or socket cannot be converted */
    IT_ERR_INVALID_DTO_FLAGS = 31,  /* DTO flag bits unknown or not applicable to this operation */
    IT_ERR_INVALID_EP = 32,         /* endpoint handle bad */
    IT_ERR_INVALID_EP_ATTR = 33,    /* endpoint attribute value not acceptable */
    IT_ERR_INVALID_EP_KEY = 34,     /* UD endpoint key not acceptable */
    IT_ERR_INVALID_EP_STATE = 35,   /* call not legal in the endpoint's present state */
    IT_ERR_INVALID_EP_TYPE = 36,    /* call does not fit the endpoint's service type */
    IT_ERR_INVALID_EVD = 37,        /* EVD handle bad */
    IT_ERR_INVALID_EVD_STATE = 38,  /* EVD configuration or condition forbids the call */
    IT_ERR_INVALID_EVD_TYPE = 39,   /* event stream unknown or unsuitable */
    IT_ERR_INVALID_FLAGS = 40,      /* flag bits unknown or contradictory */
    IT_ERR_INVALID_HANDLE = 41,     /* generic handle bad */
    IT_ERR_INVALID_IA = 42,         /* IA handle bad */
    IT_ERR_INVALID_IOBL = 43,       /* I/O buffer list malformed or of an unsupported kind */
    IT_ERR_INVALID_LENGTH = 44,     /* length not acceptable */
    IT_ERR_INVALID_LISTEN = 45,     /* listen handle bad */
    IT_ERR_INVALID_LMR = 46,        /* LMR handle bad or unsuitable */
    IT_ERR_INVALID_LTIMEOUT = 47,   /* IB local CM timeout out of range */
    IT_ERR_INVALID_MAJOR_VERSION = 48, /* requested API major version not available */
    IT_ERR_INVALID_MASK = 49, /* mask has an unknown bit, or one not allowed in this call */
    IT_ERR_INVALID_MINOR_VERSION = 50, /* requested API minor version not available */
    IT_ERR_INVALID_NAME = 51,          /* no Interface of that name */
    IT_ERR_INVALID_NETADDR = 52,       /* network address malformed or of an unsupported type */
    IT_ERR_INVALID_NUM_SEGMENTS = 53,  /* more segments than the object allows */
    IT_ERR_INVALID_PDATA_LENGTH = 54,  /* private data longer than the IA carries in this call */
    IT_ERR_INVALID_PRIVS = 55,         /* privilege bits unknown or contradictory */
    IT_ERR_INVALID_PZ = 56,            /* PZ handle bad, or PZs of the objects differ */
    IT_ERR_INVALID_QUEUE_SIZE = 57,    /* EVD queue size zero or otherwise not acceptable */
    IT_ERR_INVALID_RECV_DTO = 58, /* receive cannot be posted to this endpoint (it uses an S-RQ) */
    IT_ERR_INVALID_RECV_EVD = 59, /* receive EVD bad or of the wrong stream */
    IT_ERR_INVALID_RECV_EVD_STATE = 60, /* receive EVD overflowed or dead */
    IT_ERR_INVALID_REQ_EVD = 61,        /* request EVD bad or of the wrong stream */
    IT_ERR_INVALID_REQ_EVD_STATE = 62,  /* request EVD overflowed or dead */
    IT_ERR_INVALID_RETRY = 63,          /* IB transport retry count out of range */
    IT_ERR_INVALID_RMR = 64,            /* RMR handle bad or unsuitable */
    IT_ERR_INVALID_RNR_RETRY = 65,      /* IB receiver-not-ready retry count out of range */
    IT_ERR_INVALID_RMR_TYPE = 66,       /* RMR type unknown or not offered by the IA */
    IT_ERR_INVALID_RTIMEOUT = 67,       /* IB remote CM timeout out of range */
    IT_ERR_INVALID_SOFT_EVD = 68,       /* EVD is not for software events */
    IT_ERR_INVALID_SOURCE_PATH = 69,    /* local part of a path does not belong to the IA */
    IT_ERR_INVALID_SPIGOT = 70,         /* Spigot number unknown to the IA */
    IT_ERR_INVALID_SRQ = 71,            /* S-RQ handle bad or of another PZ */
    IT_ERR_INVALID_SRQ_SIZE = 72,       /* S-RQ size zero, too large, or below what is posted */
    IT_ERR_INVALID_THRESHOLD = 73,      /* EVD threshold larger than the queue, or not applicable */
    IT_ERR_INVALID_UD_STATUS = 74,      /* UD reply status unknown */
    IT_ERR_INVALID_UD_SVC = 75,         /* UD service request handle bad */
    IT_ERR_INVALID_UD_SVC_REQ_ID = 76,  /* UD request identifier unknown or already answered */
    IT_ERR_INVALID_WATERMARK = 77,      /* high watermark value out of range */
    IT_ERR_LMR_BUSY = 78,               /* RMRs are linked to the LMR */
    IT_ERR_MISMATCH_FD = 79,         /* file descriptor request does not fit the other arguments */
    IT_ERR_NO_CONTEXT = 80,          /* no consumer context was ever set on the handle */
    IT_ERR_NO_PERMISSION = 81,       /* caller may not open the device or use the port */
    IT_ERR_OP_NOT_SUPPORTED = 82,    /* IA lacks the feature */
    IT_ERR_PAYLOAD_SIZE = 83,        /* payload larger than the IA or the endpoint allows */
    IT_ERR_PDATA_NOT_SUPPORTED = 84, /* IA carries no private data at all */
    /* privileged operation, but caller or endpoint is not privileged */
    IT_ERR_PRIV_OPS_UNAVAILABLE = 85,
    IT_ERR_PZ_BUSY = 86,             /* objects still belong to the PZ */
    IT_ERR_QUEUE_EMPTY = 87,         /* no event to dequeue */
    IT_ERR_RANGE = 88,               /* address range lies outside the LMR */
    IT_ERR_RESOURCES = 89,           /* memory or device objects exhausted */
    IT_ERR_RESOURCE_IRD = 90,        /* inbound read depth cannot be provided */
    IT_ERR_RESOURCE_LMR_LENGTH = 91, /* LMR longer than the IA can register */
    IT_ERR_RESOURCE_ORD = 92,        /* outbound read depth cannot be provided */
    IT_ERR_RESOURCE_QUEUE_SIZE = 93, /* EVD queue that long cannot be provided */
    IT_ERR_RESOURCE_RECV_DTO = 94,   /* that many receive DTOs cannot be provided */
    IT_ERR_RESOURCE_REQ_DTO = 95,    /* that many request DTOs cannot be provided */
    IT_ERR_RESOURCE_RRSEG = 96,      /* that many RDMA Read segments cannot be provided */
    IT_ERR_RESOURCE_RSEG = 97,       /* that many receive segments cannot be provided */
    IT_ERR_RESOURCE_RWSEG = 98,      /* that many RDMA Write segments cannot be provided */
    IT_ERR_RESOURCE_SSEG = 99,       /* that many send segments cannot be provided */
    IT_ERR_SOFT_HI_WATERMARK = 100,  /* IA has no soft high watermark feature */
    IT_ERR_SRQ_BUSY = 101,           /* endpoints are attached to the S-RQ */
    IT_ERR_SRQ_LOW_WATERMARK = 102,  /* S-RQ low watermark value out of range */
    IT_ERR_SRQ_NOT_SUPPORTED = 103,  /* IA has no S-RQ feature */
    IT_ERR_TIMEOUT_EXPIRED = 104,    /* wait time ran out */
    IT_ERR_TOO_MANY_POSTS = 105,     /* work queue already holds its maximum */
    IT_ERR_WAITER_LIMIT = 106        /* more threads waiting than the implementation supports */
} it_status_t;

/* ==============================================================================================
 * Basic types
 * ============================================================================================== */

/* Two-valued flag. Treat any non-zero input as true. */
typedef enum {
    IT_FALSE = 0, /* no */
    IT_TRUE = 1   /* yes */
} it_boolean_t;

/* The kind of object that a handle names. */
typedef enum {
    IT_HANDLE_TYPE_ADDR = 0,       /* address handle */
    IT_HANDLE_TYPE_EP = 1,         /* endpoint */
    IT_HANDLE_TYPE_EVD = 2,        /* event dispatcher */
    IT_HANDLE_TYPE_IA = 3,         /* interface adapter */
    IT_HANDLE_TYPE_LISTEN = 4,     /* listen point */
    IT_HANDLE_TYPE_LMR = 5,        /* local memory region */
    IT_HANDLE_TYPE_PZ = 6,         /* protection zone */
    IT_HANDLE_TYPE_RMR = 7,        /* remote memory region */
    IT_HANDLE_TYPE_UD_SVC_REQ = 8, /* UD service request */
    IT_HANDLE_TYPE_SRQ = 9         /* shared receive queue */
} it_handle_type_enum_t;

/* Value a program hangs on a handle. */
typedef union {
    void *ptr;      /* as pointer */
    uint64_t index; /* as number */
} it_context_t;

/* ==============================================================================================
 * Addresses, connection qualifiers and paths
 * ============================================================================================== */

/* Discriminator of it_net_addr_t. */
typedef enum {
    IT_IPV4 = 0x01,        /* IPv4 */
    IT_IPV6 = 0x02,        /* IPv6 */
    IT_IB_GID = 0x03,      /* InfiniBand GID */
    IT_VIA_HOSTADDR = 0x04 /* VIA host address */
} it_net_addr_type_t;

/* VIA network address. */
typedef struct {
    uint16_t len;                                /* bytes in use */
    unsigned char hostaddr[IT_MAX_VIA_ADDR_LEN]; /* the bytes */
} it_via_net_addr_t;

/* VIA element of a path. */
typedef it_via_net_addr_t it_via_net_endpoint_t;

/* Tagged network address. */
typedef struct {
    it_net_addr_type_t addr_type; /* which union member counts */
    union {
        struct in_addr ipv4;   /* IPv4, network byte order */
        struct in6_addr ipv6;  /* IPv6 */
        it_ib_gid_t gid;       /* GID */
        it_via_net_addr_t via; /* VIA address */
    } addr;
} it_net_addr_t;

/* Discriminator of it_conn_qual_t; bit mask in it_spigot_info_t. */
typedef enum {
    IT_IANA_PORT = 0x01,         /* one TCP/UDP port */
    IT_IB_SERVICEID = 0x02,      /* InfiniBand service id */
    IT_VIA_DISCRIMINATOR = 0x04, /* VIA discriminator bytes */
    IT_IANA_LR_PORT = 0x08       /* local plus remote TCP port */
} it_conn_qual_type_t;

/* VIA connection discriminator. */
typedef struct {
    uint16_t len;                                     /* bytes in use */
    unsigned char discriminator[IT_MAX_VIA_DISC_LEN]; /* the bytes */
} it_via_discriminator_t;

/* TCP port pair. Network byte order. */
typedef struct {
    uint16_t local;  /* own port; 0 = any */
    uint16_t remote; /* peer's port; ignored when listening */
} it_iana_lr_port_t;

/*
 * Connection qualifier: names the service at the peer (and, with IT_IANA_LR_PORT, the local
 * port).
 */
typedef struct {
    it_conn_qual_type_t type; /* which union member counts */
    union {
        uint16_t port;                        /* one port, network byte order */
        it_ib_serviceid_t serviceid;          /* service id, network byte order */
        it_via_discriminator_t discriminator; /* VIA bytes */
        it_iana_lr_port_t lr_port;            /* port pair, network byte order */
    } conn_qual;
} it_conn_qual_t;

/* InfiniBand path record. */
typedef struct {
    uint16_t partition_key;                 /* P_Key */
    ITAPI_BITS uint8_t path_mtu : 4;        /* path MTU code */
    ITAPI_BITS uint8_t packet_lifetime : 6; /* packet lifetime code */
    uint16_t local_port_lid;                /* own LID */
    uint16_t remote_port_lid;               /* peer LID */
    it_ib_gid_t local_port_gid;             /* own GID */
    it_ib_gid_t remote_port_gid;            /* peer GID */
    ITAPI_BITS uint8_t packet_rate : 6;     /* static rate code */
    ITAPI_BITS uint8_t sl : 4;              /* service level */
    /* peer on same subnet; set means no global routing fields needed */
    ITAPI_BITS uint8_t subnet_local : 1;
    uint32_t flow_label : 20; /* GRH flow label */
    uint8_t traffic_class;    /* GRH traffic class */
    uint8_t hop_limit;        /* GRH hop limit */
} it_ib_net_endpoint_t;

/* IP version selector of an iWARP path. */
typedef enum {
    IT_IP_VERS_IPV4 = 0x01, /* IPv4 pair */
    IT_IP_VERS_IPV6 = 0x02  /* IPv6 pair */
} it_ip_vers_t;

/* IPv4 or IPv6 address, by the ip_vers member beside it. */
typedef union {
    struct in_addr ipv4;  /* IPv4, network byte order */
    struct in6_addr ipv6; /* IPv6 */
} it_in_addr_t;

/* IP address pair of an iWARP path. */
typedef struct {
    it_ip_vers_t ip_vers; /* which member of both unions counts */
    it_in_addr_t laddr;   /* own address; all-zero = any */
    it_in_addr_t raddr;   /* peer address */
} it_iwarp_net_endpoint_t;

/* Transport part of a path. */
typedef union {
    it_ib_net_endpoint_t ib;       /* InfiniBand */
    it_via_net_endpoint_t via;     /* VIA */
    it_iwarp_net_endpoint_t iwarp; /* iWARP */
} it_path_remote_t;

/* A path to a peer. "u" is a second spelling of the union "remote"; both name the same bytes. */
typedef struct {
    size_t spigot_id; /* local Spigot to use; 0: the only one that the IA has */
    uint64_t timeout; /* connection establishment limit, microseconds; 0 = default */
    union {
        it_path_remote_t remote; /* chosen by the transport of the IA */
        it_path_remote_t u;      /* second spelling of remote */
    };
} it_path_t;

/* ==============================================================================================
 * Interface Adapter types
 * ============================================================================================== */

/* Transport of an Interface/IA. */
typedef enum {
    IT_IB_TRANSPORT = 1,        /* InfiniBand */
    IT_VIA_IP_TRANSPORT = 2,    /* VIA over IP */
    IT_VIA_FC_TRANSPORT = 3,    /* VIA over Fibre Channel */
    IT_IWARP_TCP_TRANSPORT = 4, /* iWARP over TCP */
    IT_VENDOR_TRANSPORT = 1000  /* vendor specific */
} it_transport_type_t;

/* Service type of an endpoint; bit mask in it_ia_info_t. */
typedef enum {
    IT_RC_SERVICE = 0x01, /* reliable connected */
    IT_UD_SERVICE = 0x02  /* unreliable datagram */
} it_transport_service_type_t;

/* Scope of an RMR; also used as a bit mask in it_ia_info_t.rmr_types_supported. */
typedef enum {
    IT_RMR_TYPE_DEFAULT = 0, /* implementation picks narrow or wide */
    IT_RMR_TYPE_NARROW = 1,  /* usable only over the endpoint it was linked on */
    IT_RMR_TYPE_WIDE = 2     /* usable over every endpoint of the PZ */
} it_rmr_type_t;

/* Kinds of I/O buffer list; bit mask in it_ia_info_t. */
typedef enum {
    IT_IOBL_PAGE_LIST = 0x0001,   /* equal-size page list */
    IT_IOBL_BLOCK_LIST = 0x0002,  /* equal-size block list, any alignment */
    IT_IOBL_VE_PAGE_LIST = 0x0004 /* page list with per-element length */
} it_iobl_type_t;

/* One record of it_interface_list. */
typedef struct {
    uint32_t major_version;             /* newest API major it supports */
    uint32_t minor_version;             /* its minor */
    it_transport_type_t transport_type; /* its transport */
    char name[IT_INTERFACE_NAME_SIZE];  /* name for it_ia_create, NUL-terminated */
} it_interface_t;

/* One port (Spigot) of an IA. */
typedef struct {
    size_t spigot_id; /* number of this Spigot */
    /* longest RC send, bytes; at most 0xffffffff because completions count in 32 bits */
    size_t max_rc_send_len;
    size_t max_rc_rdma_len;     /* longest RC RDMA transfer, bytes; same limit */
    size_t max_ud_send_len;     /* longest UD send, bytes; 0 without UD */
    it_boolean_t spigot_online; /* link is up */
    /* qualifier types accepted when connecting (bit mask) */
    it_conn_qual_type_t active_side_conn_qual;
    /* qualifier types accepted when listening (bit mask) */
    it_conn_qual_type_t passive_side_conn_qual;
    size_t num_net_addr;     /* entries of net_addr */
    it_net_addr_t *net_addr; /* the Spigot's addresses */
} it_spigot_info_t;

/* InfiniBand vendor identification. */
typedef struct {
    uint32_t vendor : 24; /* 24-bit IEEE vendor id */
    uint16_t device;      /* device id */
    uint32_t revision;    /* hardware revision */
} it_vendor_ib_t;

/* VIA vendor identification. */
typedef struct {
    char name[64];          /* NIC name */
    unsigned long hardware; /* hardware version */
    unsigned long provider; /* driver version */
} it_vendor_via_t;

/* iWARP vendor identification. */
typedef struct {
    it_boolean_t valid_vid; /* vid is meaningful */
    unsigned char vid[64];  /* vendor bytes */
} it_vendor_iwarp_tcp_t;

/*
 * Everything an IA reports about itself. Allocated by it_ia_query, released by it_ia_info_free.
 */
typedef struct {
    char *ia_name;              /* name given to it_ia_create */
    uint32_t api_major_version; /* highest API major supported */
    uint32_t api_minor_version; /* its minor */
    uint32_t sw_major_version;  /* driver/library version, free meaning */
    uint32_t sw_minor_version;  /* same, minor */
    union {
        it_vendor_ib_t ib;              /* InfiniBand */
        it_vendor_via_t via;            /* VIA */
        it_vendor_iwarp_tcp_t iwarp;    /* iWARP */
    } vendor;                           /* by transport_type */
    uint32_t dto_alignment_hint;        /* buffer alignment that performs best; advice only */
    it_transport_type_t transport_type; /* the transport */
    it_transport_service_type_t supported_service_types; /* bit mask of service types */
    it_boolean_t ep_work_queues_resizable;               /* DTO queue depths may be modified */
    it_boolean_t three_way_handshake_support;            /* three-way connect offered */
    it_boolean_t private_data_support;                   /* private data carried in CM calls */
    it_boolean_t max_message_size_support;   /* max_message_size of a request event is meaningful */
    it_boolean_t ird_ord_ia_support;         /* read depths exist and are reported */
    it_boolean_t ird_ord_suppressible;       /* suppress flags accepted */
    it_boolean_t spigot_online_support;      /* online events are produced */
    it_boolean_t spigot_offline_support;     /* offline events are produced */
    size_t connect_private_data_len;         /* private data limit of it_ep_connect */
    size_t accept_private_data_len;          /* same, it_ep_accept */
    size_t reject_private_data_len;          /* same, it_reject */
    size_t disconnect_private_data_len;      /* same, it_ep_disconnect */
    size_t ud_req_private_data_len;          /* same, UD service request */
    size_t ud_rep_private_data_len;          /* same, UD service reply */
    size_t num_spigots;                      /* entries of spigot_info */
    it_spigot_info_t *spigot_info;           /* the Spigots */
    it_evd_handle_t affiliated_err_evd;      /* the affiliated-error EVD, or null handle */
    it_evd_handle_t unaffiliated_err_evd;    /* the unaffiliated-error EVD, or null handle */
    it_boolean_t srq_support;                /* S-RQs exist */
    it_boolean_t hard_hi_watermark_support;  /* hard limit on receives taken from an S-RQ */
    it_boolean_t soft_hi_watermark_support;  /* warning event for the same */
    it_boolean_t srq_resizable;              /* S-RQ depth may be modified */
    it_boolean_t extended_iwarp_qp_states;   /* RNIC has more QP states than the RDMAC model */
    it_boolean_t socket_conversion_support;  /* it_socket_convert works */
    it_boolean_t rdma_read_ord_increasable;  /* ORD may be raised later */
    it_boolean_t rdma_read_ird_modifiable;   /* IRD may be changed later */
    it_rmr_type_t rmr_types_supported;       /* bit mask narrow/wide */
    it_boolean_t addr_mode_relative_support; /* relative addressing works */
    it_boolean_t rdma_read_requires_remote_write; /* read sink needs remote write right */
    it_boolean_t ep_rdma_enables_modifiable;      /* RDMA enables may change after creation */
    it_boolean_t rdma_read_local_extensions;      /* read-to-RMR and unlink-local-sink work */
    it_boolean_t dto_evd_overflow_detection;      /* overflow of completion EVDs is noticed */
    it_boolean_t atomic_support;                  /* atomics work */
    it_boolean_t lmr_link_support;                /* unlinked LMRs and LMR link work (privileged) */
    it_boolean_t direct_lmr_handle_support;       /* a direct LMR handle exists (privileged) */
    it_lmr_handle_t direct_lmr_handle;            /* that handle, or null handle */
    it_boolean_t post_send_unlink_remote_support; /* it_post_send_and_unlink works */
    it_boolean_t narrow_rmr_unlink_support;       /* narrow RMRs can be unlinked */
    it_boolean_t wide_rmr_unlink_support;         /* wide RMRs can be unlinked */
    it_boolean_t unlink_fence_support;            /* IT_UNLINK_FENCE_FLAG accepted */
    it_iobl_type_t iobl_types_supported;          /* bit mask of list kinds */
} it_ia_info_t;

/* ==============================================================================================
 * Protection Zone types
 * ============================================================================================== */

/* Bit mask. Selects it_pz_param_t members. */
typedef enum {
    IT_PZ_PARAM_ALL = 0x01, /* all members */
    IT_PZ_PARAM_IA = 0x02   /* ia */
} it_pz_param_mask_t;

/* Result of it_pz_query. */
typedef struct {
    it_ia_handle_t ia; /* owning IA */
} it_pz_param_t;

/* ==============================================================================================
 * Memory types
 * ============================================================================================== */

/* Bit mask. Access rights of an LMR or RMR. */
typedef enum {
    IT_PRIV_NONE = 0x0000,         /* no right (kept for 1.0) */
    IT_PRIV_LOCAL_READ = 0x0001,   /* local IA may read */
    IT_PRIV_LOCAL_WRITE = 0x0002,  /* local IA may write */
    IT_PRIV_LOCAL = 0x0003,        /* both local rights */
    IT_PRIV_DEFAULT = 0x0003,      /* 1.0 spelling of IT_PRIV_LOCAL */
    IT_PRIV_REMOTE_READ = 0x0004,  /* peer may RDMA Read */
    IT_PRIV_REMOTE_WRITE = 0x0008, /* peer may RDMA Write */
    IT_PRIV_REMOTE = 0x000c,       /* both remote rights */
    IT_PRIV_ATOMIC = 0x0010,       /* peer may run atomics */
    IT_PRIV_ALL = 0x001f           /* all of the above */
} it_mem_priv_t;

/* How remote peers address bytes inside an LMR or RMR. */
typedef enum {
    IT_ADDR_MODE_ABSOLUTE = 0, /* by local virtual address */
    IT_ADDR_MODE_RELATIVE = 1  /* by offset from the start of the region */
} it_addr_mode_t;

/* Bit mask. Options of LMR creation; 0 is taken as IT_LMR_FLAG_NONE. */
typedef enum {
    IT_LMR_FLAG_NONE = 0x0001,         /* nothing special */
    IT_LMR_FLAG_SHARED = 0x0002,       /* share device resources with LMRs of the same shared_id */
    IT_LMR_FLAG_NONCOHERENT = 0x0004,  /* consumer will flush/refresh explicitly */
    IT_LMR_FLAG_NON_SHAREABLE = 0x0008 /* never share translation resources */
} it_lmr_flag_t;

/* Element of a variable-element-length I/O buffer list. */
typedef struct {
    it_io_addr_t io_addr; /* bus/physical address */
    it_length_t elt_len;  /* length of this element */
} it_iobl_ve_elt_t;

/* I/O buffer list (privileged registrations). */
typedef struct {
    it_iobl_type_t iobl_type; /* which list kind */
    union {
        struct {
            it_io_addr_t *list_elt; /* first address */
            it_length_t elt_len;    /* length of each element */
        } ce_list;                  /* constant element length */
        struct {
            it_iobl_ve_elt_t *list_elt; /* first element */
        } ve_list;                      /* variable element length */
    } list;
    size_t num_elts; /* number of elements */
    it_length_t fbo; /* byte offset of the region inside the first element */
} it_iobl_t;

/* Local data segment: region, start, byte count. */
typedef struct {
    it_lmr_handle_t lmr; /* the region */
    union {
        void *abs;       /* start, absolute mode */
        it_length_t rel; /* start, relative mode */
        it_io_addr_t io; /* start, direct LMR (I/O address) */
    } addr;
    it_length_t length; /* bytes */
} it_lmr_triplet_t;

/* Local data segment named through an RMR. */
typedef struct {
    it_rmr_handle_t rmr; /* the RMR */
    union {
        void *abs;       /* start, absolute mode */
        it_length_t rel; /* start, relative mode */
    } addr;
    it_length_t length; /* bytes */
} it_rmr_triplet_t;

/* Bit mask. Selects it_lmr_param_t members. */
typedef enum {
    IT_LMR_PARAM_ALL = 0x000001,           /* all members */
    IT_LMR_PARAM_IA = 0x000002,            /* ia */
    IT_LMR_PARAM_PZ = 0x000004,            /* pz */
    IT_LMR_PARAM_ADDR = 0x000008,          /* addr */
    IT_LMR_PARAM_LENGTH = 0x000010,        /* length */
    IT_LMR_PARAM_MEM_PRIV = 0x000020,      /* privs */
    IT_LMR_PARAM_FLAG = 0x000040,          /* flags */
    IT_LMR_PARAM_SHARED_ID = 0x000080,     /* shared_id */
    IT_LMR_PARAM_RMR_CONTEXT = 0x000100,   /* rmr_context */
    IT_LMR_PARAM_ACTUAL_ADDR = 0x000200,   /* actual_addr */
    IT_LMR_PARAM_ACTUAL_LENGTH = 0x000400, /* actual_length */
    IT_LMR_PARAM_ADDR_MODE = 0x000800,     /* addr_mode */
    IT_LMR_PARAM_LINKED = 0x001000,        /* linked */
    IT_LMR_PARAM_IOBL_NUM_ELTS = 0x002000, /* iobl_num_elts */
    IT_LMR_PARAM_IOBL_TYPE = 0x004000      /* iobl_type */
} it_lmr_param_mask_t;

/* LMR parameters for query and modify. */
typedef struct {
    it_ia_handle_t ia;            /* owning IA */
    it_pz_handle_t pz;            /* owning PZ */
    void *addr;                   /* start as given */
    it_length_t length;           /* length as given */
    it_mem_priv_t privs;          /* rights */
    it_lmr_flag_t flags;          /* creation flags */
    uint32_t shared_id;           /* sharing group */
    it_rmr_context_t rmr_context; /* key for peers */
    void *actual_addr;            /* start really registered */
    it_length_t actual_length;    /* length really registered */
    it_addr_mode_t addr_mode;     /* addressing mode */
    it_boolean_t linked;          /* memory is attached */
    size_t iobl_num_elts;         /* list capacity (unlinked LMR) */
    it_iobl_type_t iobl_type;     /* list kind */
} it_lmr_param_t;

/* Bit mask. Selects it_rmr_param_t members. */
typedef enum {
    IT_RMR_PARAM_ALL = 0x000001,         /* all members */
    IT_RMR_PARAM_IA = 0x000002,          /* ia */
    IT_RMR_PARAM_PZ = 0x000004,          /* pz */
    IT_RMR_PARAM_LINKED = 0x000008,      /* linked */
    IT_RMR_PARAM_BOUND = 0x000008,       /* bound (1.0 spelling of linked) */
    IT_RMR_PARAM_LMR = 0x000010,         /* lmr */
    IT_RMR_PARAM_ADDR = 0x000020,        /* addr */
    IT_RMR_PARAM_LENGTH = 0x000040,      /* length */
    IT_RMR_PARAM_MEM_PRIV = 0x000080,    /* privs */
    IT_RMR_PARAM_RMR_CONTEXT = 0x000100, /* rmr_context */
    IT_RMR_PARAM_TYPE = 0x000200,        /* type */
    IT_RMR_PARAM_ADDR_MODE = 0x000400    /* addr_mode */
} it_rmr_param_mask_t;

/* Result of it_rmr_query. Under the 1.0 bindings the third member is called "bound". */
typedef struct {
    it_ia_handle_t ia; /* owning IA */
    it_pz_handle_t pz; /* owning PZ */
#ifdef ITAPI_ENABLE_V10_BINDINGS
    it_boolean_t bound; /* attached to an LMR */
#else
    it_boolean_t linked; /* attached to an LMR */
#endif
    it_lmr_handle_t lmr;          /* that LMR */
    void *addr;                   /* start */
    it_length_t length;           /* length */
    it_mem_priv_t privs;          /* rights */
    it_rmr_context_t rmr_context; /* key for peers */
    it_rmr_type_t type;           /* narrow or wide */
    it_addr_mode_t addr_mode;     /* addressing mode */
} it_rmr_param_t;

/* ==============================================================================================
 * Shared Receive Queue types
 * ============================================================================================== */

/* Bit mask. Selects it_srq_param_t members. */
typedef enum {
    IT_SRQ_PARAM_ALL = 0x000001,          /* all members */
    IT_SRQ_PARAM_IA = 0x000002,           /* ia */
    IT_SRQ_PARAM_PZ = 0x000004,           /* pz */
    IT_SRQ_PARAM_MAX_RECV_DTO = 0x000008, /* max_recv_dtos */
    IT_SRQ_PARAM_MAX_RECV_SEG = 0x000010, /* max_recv_segs */
    IT_SRQ_PARAM_LOW_WATERMARK = 0x000020 /* low_watermark */
} it_srq_param_mask_t;

/* S-RQ parameters for query and modify. */
typedef struct {
    it_ia_handle_t ia;    /* owning IA */
    it_pz_handle_t pz;    /* owning PZ */
    size_t max_recv_dtos; /* depth */
    size_t max_recv_segs; /* segments per receive */
    size_t low_watermark; /* warn below this many; 0 = off */
} it_srq_param_t;

/* ==============================================================================================
 * Endpoint types
 * ============================================================================================== */

/* States of a reliable-connected endpoint. */
typedef enum {
    IT_EP_STATE_UNCONNECTED = 0,                /* idle, may connect or accept */
    IT_EP_STATE_ACTIVE1_CONNECTION_PENDING = 1, /* connect sent, no answer yet */
    IT_EP_STATE_ACTIVE2_CONNECTION_PENDING = 2, /* three-way: answer arrived, confirm it */
    IT_EP_STATE_PASSIVE_CONNECTION_PENDING = 3, /* accept sent, confirmation awaited */
    IT_EP_STATE_CONNECTED = 4,                  /* data may flow */
    IT_EP_STATE_NONOPERATIONAL = 5,             /* connection over; only reset or free */
    IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ = 6 /* converted socket waits for the MPA Request */
} it_ep_state_rc_t;

/* States of a datagram endpoint. */
typedef enum {
    IT_EP_STATE_UD_NONOPERATIONAL = 0, /* failed; reset or free */
    IT_EP_STATE_UD_OPERATIONAL = 1     /* usable */
} it_ep_state_ud_t;

/* Union, selected by the service type. */
typedef union {
    it_ep_state_rc_t rc; /* RC state */
    it_ep_state_ud_t ud; /* UD state */
} it_ep_state_t;

/* Bit mask. Options of it_ep_rc_create. */
typedef enum {
    IT_EP_NO_FLAG = 0x00,   /* nothing special */
    IT_EP_REUSEADDR = 0x01, /* it_ep_connect may take a local port that is in time-wait */
    IT_EP_SRQ = 0x02        /* take receives from attr.srv.rc.srq */
} it_ep_rc_creation_flags_t;

/* RC part of the endpoint attributes. */
typedef struct {
    it_boolean_t rdma_read_enable;  /* peer may RDMA Read through this EP */
    it_boolean_t rdma_write_enable; /* peer may RDMA Write through this EP */
    size_t max_rdma_read_segments;  /* local segments per RDMA Read */
    size_t max_rdma_write_segments; /* local segments per RDMA Write */
    uint32_t rdma_read_ird;         /* inbound reads handled at once */
    uint32_t rdma_read_ord;         /* outbound reads in flight at once */
    it_srq_handle_t srq;            /* S-RQ to use with IT_EP_SRQ */
    /*
     * Limits of the receives that this endpoint has taken from its S-RQ. An endpoint holds a
     * receive from the arrival of the message until its completion is dequeued. Above the soft mark
     * there is one warning, and no further one until the mark is set again or the endpoint is
     * reset. Above the hard mark the message is refused and the connection breaks, so with 0 the
     * endpoint cannot receive.
     */
    size_t soft_hi_watermark;    /* 0 = off */
    size_t hard_hi_watermark;    /* IT_HARD_HI_WATERMARK_DISABLE = off */
    it_boolean_t atomics_enable; /* peer may run atomics through this EP */
} it_rc_only_attributes_t;

/* Identity of a datagram endpoint. */
typedef struct {
    it_ud_ep_id_t ud_ep_id;   /* endpoint number (IB QPN) */
    it_ud_ep_key_t ud_ep_key; /* endpoint key (IB Q_Key) */
} it_remote_ep_info_t;

/* UD part of the endpoint attributes. */
typedef struct {
    it_remote_ep_info_t ep_info; /* own identity; id is output, key is input/output */
} it_ud_only_attributes_t;

/* Union, selected by the service type. */
typedef union {
    it_rc_only_attributes_t rc; /* RC attributes */
    it_ud_only_attributes_t ud; /* UD attributes */
} it_service_attributes_t;

/* Endpoint attributes for create and modify. */
typedef struct {
    size_t max_dto_payload_size;  /* largest Send, bytes; RDMA Reads and Writes may be as long as
                                     the IA allows */
    size_t max_request_dtos;      /* depth of the request queue */
    size_t max_recv_dtos;         /* depth of the receive queue; ignored with an S-RQ */
    size_t max_send_segments;     /* segments per send */
    size_t max_recv_segments;     /* segments per receive; ignored with an S-RQ */
    it_service_attributes_t srv;  /* selected by the service type */
    it_boolean_t priv_ops_enable; /* EP may run privileged operations */
} it_ep_attributes_t;

/* Bit mask. Selects it_ep_param_t / it_ep_attributes_t members. */
typedef enum {
    IT_EP_PARAM_ALL = 0x00000001,                /* every member that applies */
    IT_EP_PARAM_IA = 0x00000002,                 /* ia */
    IT_EP_PARAM_SPIGOT = 0x00000004,             /* spigot_id */
    IT_EP_PARAM_STATE = 0x00000008,              /* ep_state */
    IT_EP_PARAM_SERV_TYPE = 0x00000010,          /* service_type */
    IT_EP_PARAM_PATH = 0x00000020,               /* dst_path */
    IT_EP_PARAM_PZ = 0x00000040,                 /* pz */
    IT_EP_PARAM_REQ_SEVD = 0x00000080,           /* request_sevd */
    IT_EP_PARAM_RECV_SEVD = 0x00000100,          /* recv_sevd */
    IT_EP_PARAM_CONN_SEVD = 0x00000200,          /* connect_sevd */
    IT_EP_PARAM_RDMA_RD_ENABLE = 0x00000400,     /* attr.srv.rc.rdma_read_enable */
    IT_EP_PARAM_RDMA_WR_ENABLE = 0x00000800,     /* attr.srv.rc.rdma_write_enable */
    IT_EP_PARAM_MAX_RDMA_READ_SEG = 0x00001000,  /* attr.srv.rc.max_rdma_read_segments */
    IT_EP_PARAM_MAX_RDMA_WRITE_SEG = 0x00002000, /* attr.srv.rc.max_rdma_write_segments */
    IT_EP_PARAM_MAX_IRD = 0x00004000,            /* attr.srv.rc.rdma_read_ird */
    IT_EP_PARAM_MAX_ORD = 0x00008000,            /* attr.srv.rc.rdma_read_ord */
    IT_EP_PARAM_EP_ID = 0x00010000,              /* attr.srv.ud.ep_info.ud_ep_id */
    IT_EP_PARAM_EP_KEY = 0x00020000,             /* attr.srv.ud.ep_info.ud_ep_key */
    IT_EP_PARAM_MAX_PAYLOAD = 0x00040000,        /* attr.max_dto_payload_size */
    IT_EP_PARAM_MAX_REQ_DTO = 0x00080000,        /* attr.max_request_dtos */
    IT_EP_PARAM_MAX_RECV_DTO = 0x00100000,       /* attr.max_recv_dtos */
    IT_EP_PARAM_MAX_SEND_SEG = 0x00200000,       /* attr.max_send_segments */
    IT_EP_PARAM_MAX_RECV_SEG = 0x00400000,       /* attr.max_recv_segments */
    IT_EP_PARAM_SRQ = 0x00800000,                /* attr.srv.rc.srq */
    IT_EP_PARAM_SOFT_HI_WATERMARK = 0x01000000,  /* attr.srv.rc.soft_hi_watermark */
    IT_EP_PARAM_HARD_HI_WATERMARK = 0x02000000,  /* attr.srv.rc.hard_hi_watermark */
    IT_EP_PARAM_ATOMICS_ENABLE = 0x04000000,     /* attr.srv.rc.atomics_enable */
    IT_EP_PARAM_PRIV_OPS_ENABLE = 0x08000000     /* attr.priv_ops_enable */
} it_ep_param_mask_t;

/* Result of it_ep_query. */
typedef struct {
    it_ia_handle_t ia;                        /* owning IA */
    size_t spigot_id;                         /* Spigot in use */
    it_ep_state_t ep_state;                   /* present state */
    it_transport_service_type_t service_type; /* RC or UD */
    it_path_t dst_path;                       /* path of the connection */
    it_pz_handle_t pz;                        /* owning PZ */
    it_evd_handle_t request_sevd;             /* EVD for request completions */
    it_evd_handle_t recv_sevd;                /* EVD for receive completions */
    it_evd_handle_t connect_sevd;             /* EVD for connection events */
    it_ep_attributes_t attr;                  /* attributes */
} it_ep_param_t;

/* ==============================================================================================
 * Connection management types
 * ============================================================================================== */

/* Bit mask. Options of it_listen_create. */
typedef enum {
    IT_LISTEN_NO_FLAG = 0x0000,          /* nothing special */
    IT_LISTEN_CONN_QUAL_INPUT = 0x0001,  /* listen on the given qualifier instead of a chosen one */
    IT_LISTEN_SUPPRESS_IRD_ORD = 0x0002, /* do not exchange read depths */
    ITX_LISTEN_SOCKETS = 0x0100 /* no port: streams of itx_socket_request only (extension) */
} it_listen_flags_t;

/* Bit mask. Selects it_listen_param_t members. */
typedef enum {
    IT_LISTEN_PARAM_ALL = 0x0001,         /* all members */
    IT_LISTEN_PARAM_IA_HANDLE = 0x0002,   /* ia_handle */
    IT_LISTEN_PARAM_SPIGOT_ID = 0x0004,   /* spigot_id */
    IT_LISTEN_PARAM_CONNECT_EVD = 0x0008, /* connect_evd */
    IT_LISTEN_PARAM_CONN_QUAL = 0x0010    /* connect_qual */
} it_listen_param_mask_t;

/* Result of it_listen_query. */
typedef struct {
    it_ia_handle_t ia_handle;    /* owning IA */
    size_t spigot_id;            /* Spigot */
    it_evd_handle_t connect_evd; /* EVD for requests */
    it_conn_qual_t connect_qual; /* qualifier in use */
} it_listen_param_t;

/* Bit mask. Options of it_ep_connect. */
typedef enum {
    IT_CONNECT_FLAG_TWO_WAY = 0x0001,    /* library confirms by itself */
    IT_CONNECT_FLAG_THREE_WAY = 0x0002,  /* program confirms with it_ep_accept */
    IT_CONNECT_SUPPRESS_IRD_ORD = 0x0004 /* do not exchange read depths */
} it_cn_est_flags_t;

/* InfiniBand connection parameters. */
typedef struct {
    ITAPI_BITS uint8_t remote_cm_timeout : 5; /* peer's CM response timeout code */
    ITAPI_BITS uint8_t local_cm_timeout : 5;  /* own CM response timeout code */
    ITAPI_BITS uint8_t retry_count : 3;       /* transport retries */
    ITAPI_BITS uint8_t rnr_retry_count : 3;   /* receiver-not-ready retries */
    ITAPI_BITS uint8_t max_cm_retries : 4;    /* CM message retries */
    ITAPI_BITS uint8_t local_ack_timeout : 5; /* ACK timeout code */
} it_ib_conn_attributes_t;

/* VIA has none. */
typedef struct {
    void *unused; /* placeholder */
} it_via_conn_attributes_t;

/* iWARP has none. */
typedef struct {
    void *unused; /* placeholder */
} it_iwarp_conn_attributes_t;

/* Union, selected by the transport of the IA. */
typedef union {
    it_ib_conn_attributes_t ib;       /* InfiniBand */
    it_via_conn_attributes_t via;     /* VIA */
    it_iwarp_conn_attributes_t iwarp; /* iWARP */
} it_conn_attributes_t;

/* Why a connection attempt failed without the peer program refusing it. */
typedef enum {
    IT_CN_REJ_OTHER = 0,         /* any other cause */
    IT_CN_REJ_TIMEOUT = 1,       /* no answer in time */
    IT_CN_REJ_BAD_PATH = 2,      /* path or peer address not usable */
    IT_CN_REJ_STALE_CONN = 3,    /* peer still holds an old connection */
    IT_CN_REJ_BAD_ORD = 4,       /* read depth not acceptable */
    IT_CN_REJ_RESOURCES = 5,     /* peer or path out of resources */
    IT_CN_REJ_BAD_CONN_PARMS = 6 /* other connection parameters not acceptable */
} it_conn_reject_code_t;

/*
 * Bit mask. Options of it_socket_convert and itx_socket_convert. The ITX_ values are an
 * extension of this library.
 */
typedef enum {
    IT_SC_DEFAULT = 0x0000,    /* MPA Request/Reply takes place */
    IT_SC_NO_REQ_REP = 0x0001, /* no MPA Request/Reply */
    ITX_SC_INITIATOR = 0x0100, /* force MPA Initiator (extension) */
    ITX_SC_RESPONDER = 0x0200  /* force MPA Responder (extension) */
} it_sc_flags_t;

/* ==============================================================================================
 * Data transfer types
 * ============================================================================================== */

/* Bit mask. Options of one posted operation. */
typedef enum {
    IT_COMPLETION_FLAG = 0x01, /* report success with a completion event; failures always report */
    IT_NOTIFY_FLAG = 0x02, /* that event also counts as notification for waiters, FD, callback */
    IT_SOLICITED_WAIT_FLAG = 0x04, /* make the peer's receive completion a notification */
    IT_BARRIER_FENCE_FLAG = 0x08,  /* hold this request until earlier RDMA Reads are done */
    IT_UNLINK_FENCE_FLAG = 0x10,   /* hold this unlink until all earlier requests are done */
    IT_UNLINK_LOCAL_SINK = 0x20,   /* invalidate the read sink's handle when the read completes */
    /*
     * More posts follow: the request waits for a post on this endpoint without the flag, and is
     * sent together with it. A request that takes the last slot of the queue does not wait, and no
     * request waits while the program sleeps on an EVD of the endpoint (it_evd_wait).
     */
    IT_COALESCE_WR_FLAG = 0x40
} it_dto_flags_t;

/* Outcome carried by a completion event. */
typedef enum {
    IT_DTO_SUCCESS = 0,          /* finished well */
    IT_DTO_ERR_LOCAL_LENGTH = 1, /* message did not fit the local buffer, or local length illegal */
    IT_DTO_ERR_LOCAL_EP = 2,     /* local endpoint (queue) inconsistency */
    IT_DTO_ERR_LOCAL_PROTECTION = 3,    /* local LMR check failed (PZ, range, right) */
    IT_DTO_ERR_FLUSHED = 4,             /* never executed; endpoint left the connected state */
    IT_RMR_OPERATION_FAILED = 5,        /* RMR link/unlink refused */
    IT_DTO_ERR_BAD_RESPONSE = 6,        /* unexpected transport opcode came back */
    IT_DTO_ERR_REMOTE_ACCESS = 7,       /* peer refused the remote access */
    IT_DTO_ERR_REMOTE_RESPONDER = 8,    /* peer could not execute the operation */
    IT_DTO_ERR_TRANSPORT = 9,           /* transport gave up (retries, stream lost) */
    IT_DTO_ERR_RECEIVER_NOT_READY = 10, /* peer had no receive posted for too long */
    IT_DTO_ERR_PARTIAL_PACKET = 11,     /* UD packet only partly received */
    IT_DTO_ERR_LOCAL_MM_OPERATION = 12  /* local memory operation (LMR link/unlink) failed */
} it_dto_status_t;

/* Selects an atomic operation. */
typedef enum {
    IT_COMPARE_AND_SWAP = 0, /* write new value if old value matches */
    IT_FETCH_AND_ADD = 1     /* add, return old value */
} it_atomic_op_t;

/* ==============================================================================================
 * Datagram types
 * ============================================================================================== */

/* Bit mask in a UD receive completion. */
typedef enum {
    IT_UD_IB_GRH_PRESENT = 0x01 /* first 40 bytes of the buffer hold a GRH */
} it_dto_ud_flags_t;

/* Discriminator of it_dg_remote_ep_addr_t. */
typedef enum {
    IT_DG_TYPE_IB_UD = 0 /* InfiniBand UD */
} it_dg_type_t;

/* Destination of a UD send. */
typedef struct {
    it_addr_handle_t addr;       /* address handle */
    it_remote_ep_info_t ep_info; /* peer endpoint identity */
} it_ib_ud_addr_t;

/* Tagged destination of a UD send. */
typedef struct {
    it_dg_type_t type; /* which union member counts */
    union {
        it_ib_ud_addr_t ud; /* InfiniBand UD */
    } addr;
} it_dg_remote_ep_addr_t;

/* Answer to a UD service request. */
typedef enum {
    IT_UD_SVC_EP_INFO_VALID = 0,    /* ep_info is filled in */
    IT_UD_SVC_ID_NOT_SUPPORTED = 1, /* no service has that qualifier */
    IT_UD_SVC_REQ_REJECTED = 2,     /* refused */
    IT_UD_NO_EP_AVAILABLE = 3,      /* service has no endpoint to give */
    IT_UD_REQ_REDIRECTED = 4        /* ask at dst_path instead */
} it_ud_svc_req_status_t;

/* Bit mask. Selects it_ud_svc_req_param_t members. */
typedef enum {
    IT_UD_PARAM_ALL = 0x00000001,             /* all members */
    IT_UD_PARAM_IA_HANDLE = 0x00000002,       /* ia */
    IT_UD_PARAM_REQ_ID = 0x00000004,          /* request_id */
    IT_UD_PARAM_REPLY_EVD = 0x00000008,       /* reply_evd */
    IT_UD_PARAM_CONN_QUAL = 0x00000010,       /* conn_qual */
    IT_UD_PARAM_DEST_PATH = 0x00000020,       /* destination_path */
    IT_UD_PARAM_PRIV_DATA = 0x00000040,       /* private_data */
    IT_UD_PARAM_PRIV_DATA_LENGTH = 0x00000080 /* private_data_length */
} it_ud_svc_req_param_mask_t;

/* Result of it_ud_service_request_handle_query. */
typedef struct {
    it_ia_handle_t ia;                            /* owning IA */
    uint32_t request_id;                          /* request number */
    it_evd_handle_t reply_evd;                    /* EVD for the reply */
    it_conn_qual_t conn_qual;                     /* qualifier asked for */
    it_path_t destination_path;                   /* where to */
    unsigned char private_data[IT_MAX_PRIV_DATA]; /* bytes to send */
    size_t private_data_length;                   /* their count */
} it_ud_svc_req_param_t;

/* Options of address handle creation. 0 is allowed. */
typedef enum {
    IT_AH_PATH_COMPLETE = 0x01 /* path needs no further resolution */
} it_ah_flags_t;

/* Bit mask. Selects it_addr_param_t members. */
typedef enum {
    IT_ADDR_PARAM_ALL = 0x0001, /* all members */
    IT_ADDR_PARAM_IA = 0x0002,  /* ia */
    IT_ADDR_PARAM_PZ = 0x0004,  /* pz */
    IT_ADDR_PARAM_PATH = 0x0008 /* path */
} it_addr_param_mask_t;

/* Parameters of an address handle. */
typedef struct {
    it_ia_handle_t ia; /* owning IA */
    it_pz_handle_t pz; /* owning PZ */
    it_path_t path;    /* destination */
} it_addr_param_t;

/* ==============================================================================================
 * Event types
 * ============================================================================================== */

/* Event numbers. Bits selected by IT_EVENT_STREAM_MASK give the stream. */
typedef enum {
    IT_DTO_EVENT_STREAM = 0x00000,                 /* stream: completions */
    IT_DTO_SEND_CMPL_EVENT = 0x00001,              /* send, send-and-unlink or UD send done */
    IT_DTO_RC_RECV_CMPL_EVENT = 0x00002,           /* receive on an RC endpoint done */
    IT_DTO_UD_RECV_CMPL_EVENT = 0x00003,           /* receive on a UD endpoint done */
    IT_DTO_RDMA_WRITE_CMPL_EVENT = 0x00004,        /* RDMA Write done */
    IT_DTO_RDMA_READ_CMPL_EVENT = 0x00005,         /* RDMA Read (also into an RMR) done */
    IT_RMR_BIND_CMPL_EVENT = 0x00006,              /* 1.0 spelling of the next */
    IT_RMR_LINK_CMPL_EVENT = 0x00006,              /* RMR link or unlink done */
    IT_DTO_FETCH_ADD_CMPL_EVENT = 0x00007,         /* atomic fetch-and-add done */
    IT_DTO_CMP_SWAP_CMPL_EVENT = 0x00008,          /* atomic compare-and-swap done */
    IT_LMR_LINK_CMPL_EVENT = 0x00009,              /* LMR link or unlink done */
    IT_CM_REQ_EVENT_STREAM = 0x01000,              /* stream: incoming requests */
    IT_CM_REQ_CONN_REQUEST_EVENT = 0x01001,        /* a peer asks to connect */
    IT_CM_REQ_UD_SERVICE_REQUEST_EVENT = 0x01002,  /* a peer asks for UD endpoint data */
    IT_CM_MSG_EVENT_STREAM = 0x02000,              /* stream: progress of own connections */
    IT_CM_MSG_CONN_ACCEPT_ARRIVAL_EVENT = 0x02001, /* three-way: peer accepted, now confirm */
    IT_CM_MSG_CONN_ESTABLISHED_EVENT = 0x02002,    /* connection is up */
    IT_CM_MSG_CONN_DISCONNECT_EVENT = 0x02003,     /* connection ended in an orderly way */
    IT_CM_MSG_CONN_PEER_REJECT_EVENT = 0x02004,    /* peer program refused */
    IT_CM_MSG_CONN_NONPEER_REJECT_EVENT = 0x02005, /* attempt failed for another reason */
    IT_CM_MSG_CONN_BROKEN_EVENT = 0x02006,         /* established connection failed */
    IT_CM_MSG_UD_SERVICE_REPLY_EVENT = 0x02007,    /* answer to a UD service request */
    IT_ASYNC_AFF_EVENT_STREAM = 0x04000,           /* stream: errors of one EP, EVD or S-RQ */
    /* an event could not be put on a simple EVD (cause.sevd) */
    IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE = 0x04001,
    /* other spelling of IT_ASYNC_AFF_SEVD_ENQUEUE_FAILURE */
    IT_ASYNC_AFF_EP_SEVD_FULL_ERROR = 0x04001,
    IT_ASYNC_AFF_EP_FAILURE = 0x04002, /* endpoint failed for a local, unspecific reason */
    IT_ASYNC_AFF_EP_BAD_TRANSPORT_OPCODE = 0x04003, /* peer sent an undefined operation code */
    IT_ASYNC_AFF_EP_REQ_DROPPED = 0x04005, /* a connection request for this EP was lost locally */
    /* inbound RDMA Write hit a protection check */
    IT_ASYNC_AFF_EP_RDMAW_ACCESS_VIOLATION = 0x04006,
    IT_ASYNC_AFF_EP_RDMAW_CORRUPT_DATA = 0x04007,     /* inbound RDMA Write damaged */
    IT_ASYNC_AFF_EP_RDMAR_ACCESS_VIOLATION = 0x04008, /* inbound RDMA Read hit a protection check */
    IT_ASYNC_AFF_EP_LOCAL_ACCESS_VIOLATION = 0x04020, /* older name of the next value */
    IT_ASYNC_AFF_EP_L_ACCESS_VIOLATION = 0x04020,     /* local side detected an access violation */
    /* local receive buffer failed its access check */
    IT_ASYNC_AFF_EP_L_RECV_ACCESS_VIOLATION = 0x04021,
    /* inbound read-request queue failed its access check */
    IT_ASYNC_AFF_EP_L_IRRQ_ACCESS_VIOLATION = 0x04022,
    /* local side detected an RDMAP/DDP protocol error */
    IT_ASYNC_AFF_EP_L_TRANSPORT_ERROR = 0x04023,
    IT_ASYNC_AFF_EP_L_LLP_ERROR = 0x04024,        /* local side detected an MPA/TCP error */
    IT_ASYNC_AFF_EP_R_ERROR = 0x04040,            /* peer reported an error (iWARP Terminate) */
    IT_ASYNC_AFF_EP_R_ACCESS_VIOLATION = 0x04041, /* peer reported an access violation */
    /* peer's receive buffer failed its access check */
    IT_ASYNC_AFF_EP_R_RECV_ACCESS_VIOLATION = 0x04042,
    IT_ASYNC_AFF_EP_R_RECV_LENGTH_ERROR = 0x04043, /* peer's receive buffer was too short */
    IT_ASYNC_AFF_EP_SOFT_HI_WATERMARK = 0x04060,   /* soft high watermark crossed */
    IT_ASYNC_AFF_EP_SRQ_ERROR = 0x04061,      /* endpoint could not get a receive from its S-RQ */
    IT_ASYNC_AFF_SRQ_LOW_WATERMARK = 0x04100, /* S-RQ fell below its low watermark */
    IT_ASYNC_AFF_SRQ_CATASTROPHIC = 0x04101, /* S-RQ died (cause.srq); not raised by this library */
    /* completion EVD full (cause.sevd); not raised by this library */
    IT_ASYNC_AFF_SEVD_FULL_ERROR = 0x04200,
    /* completion EVD failed (cause.sevd); not raised by this library */
    IT_ASYNC_AFF_SEVD_OP_ERROR = 0x04201,
    IT_ASYNC_UNAFF_EVENT_STREAM = 0x08000,   /* stream: errors and changes of the whole IA */
    IT_ASYNC_UNAFF_SPIGOT_ONLINE = 0x08002,  /* a Spigot came up */
    IT_ASYNC_UNAFF_SPIGOT_OFFLINE = 0x08003, /* a Spigot went down */
    /* an event could not be queued and no affiliated EVD could say so */
    IT_ASYNC_UNAFF_SEVD_ENQUEUE_FAILURE = 0x08004,
    IT_SOFTWARE_EVENT_STREAM = 0x10000,          /* stream: events posted by programs */
    IT_SOFTWARE_EVENT = 0x10001,                 /* one such event */
    IT_AEVD_NOTIFICATION_EVENT_STREAM = 0x20000, /* stream constant that makes an EVD aggregate */
    IT_AEVD_NOTIFICATION_EVENT = 0x20001         /* a member EVD has something to dequeue */
} it_event_type_t;

/* Common head of every event. */
typedef struct {
    it_event_type_t event_number; /* any number */
    it_evd_handle_t evd;          /* EVD the event was read from */
} it_any_event_t;

/* Event: completion, all kinds except UD receive. */
typedef struct {
    it_event_type_t event_number;   /* IT_DTO_..., IT_RMR_LINK_..., IT_LMR_LINK_... */
    it_evd_handle_t evd;            /* EVD the event was read from */
    it_ep_handle_t ep;              /* endpoint of the operation */
    it_dto_cookie_t cookie;         /* value given at post time */
    it_dto_status_t dto_status;     /* outcome */
    uint32_t transferred_length;    /* bytes moved; only on success */
    it_handle_t unlinked_mr_handle; /* region the operation invalidated, or null handle */
} it_dto_cmpl_event_t;

/*
 * Event: completion, any kind. Starts with the members of it_dto_cmpl_event_t in the same order.
 */
typedef struct {
    it_event_type_t event_number;   /* any completion number */
    it_evd_handle_t evd;            /* EVD the event was read from */
    it_ep_handle_t ep;              /* endpoint of the operation */
    it_dto_cookie_t cookie;         /* value given at post time */
    it_dto_status_t dto_status;     /* outcome */
    uint32_t transferred_length;    /* bytes moved; only on success */
    it_handle_t unlinked_mr_handle; /* region the operation invalidated, or null handle */
    it_dto_ud_flags_t flags;        /* UD receive: GRH present */
    it_ud_ep_id_t ud_ep_id;         /* UD receive: sender's endpoint number */
    it_path_t src_path;             /* UD receive: path back to the sender */
} it_all_dto_cmpl_event_t;

/* Event: incoming connection request. */
typedef struct {
    it_event_type_t event_number;                 /* IT_CM_REQ_CONN_REQUEST_EVENT */
    it_evd_handle_t evd;                          /* EVD the event was read from */
    it_cn_est_identifier_t cn_est_id;             /* id to accept, reject or hand off */
    it_conn_qual_t conn_qual;                     /* qualifier the peer asked for */
    it_net_addr_t source_addr;                    /* peer address */
    size_t spigot_id;                             /* Spigot it came in on */
    uint32_t max_message_size;                    /* peer's message limit, if the IA supports it */
    uint32_t rdma_read_ird;                       /* peer's inbound read depth */
    uint32_t rdma_read_ord;                       /* peer's outbound read depth */
    unsigned char private_data[IT_MAX_PRIV_DATA]; /* bytes from the peer */
    it_boolean_t private_data_present;            /* private_data holds something */
} it_conn_request_event_t;

/* Event: connection progress. */
typedef struct {
    it_event_type_t event_number;             /* IT_CM_MSG_CONN_... */
    it_evd_handle_t evd;                      /* EVD the event was read from */
    it_cn_est_identifier_t cn_est_id;         /* id for accept/reject; only with ACCEPT_ARRIVAL */
    it_ep_handle_t ep;                        /* the endpoint */
    uint32_t rdma_read_ird;                   /* inbound read depth */
    uint32_t rdma_read_ord;                   /* outbound read depth */
    it_path_t dst_path;                       /* path in use */
    it_conn_reject_code_t reject_reason_code; /* only with NONPEER_REJECT */
    unsigned char private_data[IT_MAX_PRIV_DATA]; /* bytes from the peer */
    it_boolean_t private_data_present;            /* private_data holds something */
} it_connection_event_t;

/* Event: incoming UD service request. */
typedef struct {
    it_event_type_t event_number;                 /* IT_CM_REQ_UD_SERVICE_REQUEST_EVENT */
    it_evd_handle_t evd;                          /* EVD the event was read from */
    it_ud_svc_req_identifier_t ud_svc_req_id;     /* id for it_ud_service_reply */
    it_conn_qual_t conn_qual;                     /* qualifier the peer asked for */
    it_net_addr_t source_addr;                    /* peer address */
    size_t spigot_id;                             /* Spigot it came in on */
    unsigned char private_data[IT_MAX_PRIV_DATA]; /* bytes from the peer */
    it_boolean_t private_data_present;            /* private_data holds something */
} it_ud_svc_request_event_t;

/* Event: UD service reply. */
typedef struct {
    it_event_type_t event_number;                 /* IT_CM_MSG_UD_SERVICE_REPLY_EVENT */
    it_evd_handle_t evd;                          /* EVD the event was read from */
    it_ud_svc_req_handle_t ud_svc;                /* the request handle */
    it_ud_svc_req_status_t status;                /* the answer */
    it_remote_ep_info_t ep_info;                  /* peer endpoint identity */
    it_path_t dst_path;                           /* path to it, or redirect target */
    unsigned char private_data[IT_MAX_PRIV_DATA]; /* bytes from the peer */
    it_boolean_t private_data_present;            /* private_data holds something */
} it_ud_svc_reply_event_t;

/* Event: affiliated asynchronous error. */
typedef struct {
    it_event_type_t event_number; /* IT_ASYNC_AFF_... */
    it_evd_handle_t evd;          /* EVD the event was read from */
    union {
        it_evd_handle_t sevd; /* for ..._SEVD_... numbers */
        it_ep_handle_t ep;    /* for ..._EP_... numbers */
        it_srq_handle_t srq;  /* for ..._SRQ_... numbers */
    } cause;                  /* the object concerned */
} it_affiliated_event_t;

/* Event: unaffiliated asynchronous. */
typedef struct {
    it_event_type_t event_number; /* IT_ASYNC_UNAFF_... */
    it_evd_handle_t evd;          /* EVD the event was read from */
    it_ia_handle_t ia;            /* the IA */
    size_t spigot_id;             /* Spigot concerned (SPIGOT numbers only) */
} it_unaffiliated_event_t;

/* Event: posted by a program. */
typedef struct {
    it_event_type_t event_number; /* IT_SOFTWARE_EVENT */
    it_evd_handle_t evd;          /* EVD the event was read from */
    void *data;                   /* pointer given to it_evd_post_se */
} it_software_event_t;

/* Event: a member of an AEVD became ready. */
typedef struct {
    it_event_type_t event_number; /* IT_AEVD_NOTIFICATION_EVENT */
    it_evd_handle_t aevd;         /* the aggregate */
    it_evd_handle_t sevd;         /* the member that is ready */
} it_aevd_notification_event_t;

/* Union of all events. Every member starts with the event number. */
typedef union {
    it_event_type_t event_number;             /* number alone */
    it_any_event_t any;                       /* number and EVD */
    it_dto_cmpl_event_t dto_cmpl;             /* completion except UD receive */
    it_all_dto_cmpl_event_t all_dto_cmpl;     /* any completion */
    it_conn_request_event_t conn_req;         /* connection request */
    it_ud_svc_request_event_t ud_svc_request; /* UD service request */
    it_connection_event_t conn;               /* connection progress */
    it_ud_svc_reply_event_t ud_svc_reply;     /* UD service reply */
    it_affiliated_event_t aff_async;          /* affiliated error */
    it_unaffiliated_event_t unaff_async;      /* unaffiliated event */
    it_software_event_t sw;                   /* software event */
    it_aevd_notification_event_t aevd_notify; /* AEVD notification */
} it_event_t;

/* Bit mask. Options of it_evd_create. 0 is allowed and means default overflow handling. */
typedef enum {
    /* AEVD hands out notification records instead of member events */
    IT_EVD_DEQUEUE_NOTIFICATIONS = 0x01,
    IT_EVD_CREATE_FD = 0x02,          /* also create a pollable descriptor */
    IT_EVD_OVERFLOW_DEFAULT = 0x04,   /* default overflow handling */
    IT_EVD_OVERFLOW_NOTIFY = 0x08,    /* raise an asynchronous error on overflow */
    IT_EVD_OVERFLOW_AUTO_RESET = 0x10 /* leave the overflow condition once there is room again */
} it_evd_flags_t;

/* Bit mask. Selects it_evd_param_t members. */
typedef enum {
    IT_EVD_PARAM_ALL = 0x000001,          /* all members */
    IT_EVD_PARAM_IA = 0x000002,           /* ia */
    IT_EVD_PARAM_EVENT_NUMBER = 0x000004, /* event_number */
    IT_EVD_PARAM_FLAG = 0x000008,         /* evd_flag */
    IT_EVD_PARAM_QUEUE_SIZE = 0x000010,   /* sevd_queue_size */
    IT_EVD_PARAM_THRESHOLD = 0x000020,    /* sevd_threshold */
    IT_EVD_PARAM_AEVD_HANDLE = 0x000040,  /* aevd */
    IT_EVD_PARAM_FD = 0x000080,           /* fd */
    IT_EVD_PARAM_BOUND = 0x000100,        /* evd_bound */
    IT_EVD_PARAM_ENABLED = 0x000200,      /* evd_enabled */
    IT_EVD_PARAM_OVERFLOWED = 0x000400,   /* evd_overflowed */
    IT_EVD_PARAM_CALLBACK = 0x000800      /* evd_callback */
} it_evd_param_mask_t;

/* EVD parameters for query and modify. */
typedef struct {
    it_ia_handle_t ia;            /* owning IA */
    it_event_type_t event_number; /* its stream */
    it_evd_flags_t evd_flag;      /* creation flags */
    size_t sevd_queue_size;       /* capacity, events */
    size_t sevd_threshold;        /* events needed to wake; 0 = off */
    it_evd_handle_t aevd;         /* aggregate it belongs to, or null handle */
    int fd;                       /* descriptor, or -1 */
    it_boolean_t evd_bound;       /* some object feeds this EVD */
    it_boolean_t evd_enabled;     /* notifications are passed on */
    it_boolean_t evd_overflowed;  /* events were lost */
    it_boolean_t evd_callback;    /* a callback is attached */
} it_evd_param_t;

/* ==============================================================================================
 * Interface Adapter (IA)
 * ============================================================================================== */

/**
 * Lists the Interfaces that this process could open: uiwarp, which has all IP addresses of the
 * machine, one for each of its network interfaces (uiwarp:eth0), and the devices of rdma-core.
 *
 * Reports no failure: if the devices cannot be read, both counts become 0.
 *
 * @param interfaces        room for the records, owned by the caller; may be NULL when
 *                          *num_interfaces is 0
 * @param num_interfaces    in: room, in records; out: records filled in. NULL counts as room for
 *                          none
 * @param total_interfaces  out: Interfaces that exist, whether or not they found room; may be
 *                          NULL
 *
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
void it_interface_list(it_interface_t *interfaces, size_t *num_interfaces,
                       size_t *total_interfaces);

/**
 * Opens an Interface. Every call makes an IA of its own, even for the same name; objects of
 * different IAs cannot be mixed.
 *
 * @param name           name of an Interface as told by it_interface_list, fewer than
 *                       IT_INTERFACE_NAME_SIZE bytes
 * @param major_version  major number of the API version the program was written to
 * @param minor_version  its minor number; 1.0, 2.0 and 2.1 are known
 * @param ia_handle      out: the IA, to be closed with it_ia_free
 *
 * @retval IT_SUCCESS                    done
 * @retval IT_ERR_INVALID_NAME           name is NULL, too long, or no Interface is called so
 * @retval IT_ERR_FAULT                  ia_handle is NULL
 * @retval IT_ERR_INVALID_MAJOR_VERSION  no version with this major number is offered
 * @retval IT_ERR_INVALID_MINOR_VERSION  the major number is, but not with this minor number
 * @retval IT_ERR_NO_PERMISSION          the user has no access to the device
 * @retval IT_ERR_RESOURCES              memory, descriptors or threads are used up
 * @retval IT_ERR_IA_CATASTROPHE         the device has failed already
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ia_create(const char *name, uint32_t major_version, uint32_t minor_version,
                         it_ia_handle_t *ia_handle);

/**
 * Describes an IA: transport, limits, optional features, Spigots with their addresses, and the
 * EVDs that receive its asynchronous errors.
 *
 * @param ia_handle  the IA
 * @param ia_info    out: a new record owned by the caller, to be released with it_ia_info_free
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_IA      ia_handle does not name an open IA
 * @retval IT_ERR_FAULT           ia_info is NULL
 * @retval IT_ERR_RESOURCES       no memory for the record
 * @retval IT_ERR_IA_CATASTROPHE  the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ia_query(it_ia_handle_t ia_handle, it_ia_info_t **ia_info);

/**
 * Releases a record made by it_ia_query together with the arrays in it.
 *
 * @param ia_info  the record; NULL is allowed and does nothing
 *
 * Threads: any thread, once per record.
 * Source: IT-API 2.1.
 */
void it_ia_info_free(it_ia_info_t *ia_info);

/**
 * Closes an IA. Everything created under it is destroyed with it, so the call never finds the IA
 * busy. Established connections end, and only the peers get an event for that; a thread blocked in
 * it_evd_wait returns with IT_ERR_ABORT. Before anything is destroyed, the call waits until running
 * callbacks have returned. Works on a failed IA.
 *
 * @param ia_handle  the IA; it and all handles made under it become invalid
 *
 * @retval IT_SUCCESS         done
 * @retval IT_ERR_INVALID_IA  ia_handle does not name an open IA
 * @retval IT_ERR_EVD_BUSY    the call comes from the callback of an EVD of this IA, or from one
 *                            that runs inside a wait on such an EVD
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread. No other thread may be inside a call on the IA or its objects, except
 * waiters and callbacks.
 * Source: IT-API 2.1.
 */
it_status_t it_ia_free(it_ia_handle_t ia_handle);

/**
 * Looks up the paths from a Spigot to a network address. For iWARP this is a route lookup: it finds
 * the local address to use. An unreachable destination is not an error; it has no paths. May block
 * while addresses are resolved.
 *
 * @param ia_handle    the IA
 * @param spigot_id    the local Spigot; 0: the only one that the IA has
 * @param net_addr     the destination; IPv4 or IPv6 for iWARP
 * @param num_paths    in: room in paths, in elements; out: elements filled in
 * @param total_paths  out: paths that exist
 * @param paths        out: the paths, memory of the caller; may be NULL when *num_paths is 0
 *
 * @retval IT_SUCCESS              done
 * @retval IT_ERR_INVALID_IA       ia_handle does not name an open IA
 * @retval IT_ERR_FAULT            net_addr, num_paths or total_paths is NULL, or paths is while
 *                                 there should be room
 * @retval IT_ERR_INVALID_SPIGOT   the IA has no such Spigot
 * @retval IT_ERR_INVALID_NETADDR  the kind of address is unknown or of no use to this transport
 * @retval IT_ERR_RESOURCES        out of memory or descriptors
 * @retval IT_ERR_IA_CATASTROPHE   the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_get_pathinfo(it_ia_handle_t ia_handle, size_t spigot_id,
                            const it_net_addr_t *net_addr, size_t *num_paths, size_t *total_paths,
                            it_path_t *paths);

/* ==============================================================================================
 * Privileged memory mapping
 * ============================================================================================== */

/**
 * Would make memory of some address space reachable by I/O address. That is for privileged
 * programs such as kernel modules; this library runs in user space and refuses every caller.
 *
 * @param ia_handle   the IA
 * @param vaddr       first byte of the range
 * @param aspace_id   the address space vaddr belongs to
 * @param len         bytes to map
 * @param io_addr     out: I/O address of the first piece
 * @param mapped_len  out: bytes of that piece; less than len where memory is not contiguous
 *
 * @retval IT_ERR_INVALID_IA            ia_handle does not name an open IA
 * @retval IT_ERR_FAULT                 io_addr or mapped_len is NULL
 * @retval IT_ERR_PRIV_OPS_UNAVAILABLE  otherwise, always, whatever the range
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_mem_map(it_ia_handle_t ia_handle, void *vaddr, uint64_t aspace_id, size_t len,
                       it_io_addr_t *io_addr, size_t *mapped_len);

/**
 * Would undo it_mem_map. Refused for the same reason.
 *
 * @param ia_handle   the IA
 * @param io_addr     as told by it_mem_map
 * @param mapped_len  bytes, as told by it_mem_map
 *
 * @retval IT_ERR_INVALID_IA            ia_handle does not name an open IA
 * @retval IT_ERR_PRIV_OPS_UNAVAILABLE  otherwise, always: nothing was ever mapped
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_mem_unmap(it_ia_handle_t ia_handle, it_io_addr_t io_addr, size_t mapped_len);

/* ==============================================================================================
 * Protection Zone (PZ)
 * ============================================================================================== */

/**
 * Creates a protection zone. Endpoints, memory regions, shared receive queues and address
 * handles each belong to one zone and only work with others of the same zone.
 *
 * @param ia_handle  the IA
 * @param pz_handle  out: the zone, to be destroyed with it_pz_free
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_IA      ia_handle does not name an open IA
 * @retval IT_ERR_FAULT           pz_handle is NULL
 * @retval IT_ERR_RESOURCES       memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE  the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_pz_create(it_ia_handle_t ia_handle, it_pz_handle_t *pz_handle);

/**
 * Reads properties of a protection zone.
 *
 * @param pz_handle  the zone
 * @param mask       which members to read
 * @param params     out: the members asked for
 *
 * @retval IT_SUCCESS           done
 * @retval IT_ERR_INVALID_PZ    pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT         params is NULL
 * @retval IT_ERR_INVALID_MASK  a bit that does not exist
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_pz_query(it_pz_handle_t pz_handle, it_pz_param_mask_t mask, it_pz_param_t *params);

/**
 * Destroys a protection zone to which no object belongs any more.
 *
 * @param pz_handle  the zone
 *
 * @retval IT_SUCCESS         done
 * @retval IT_ERR_INVALID_PZ  pz_handle does not name a protection zone
 * @retval IT_ERR_PZ_BUSY     some EP, LMR, RMR, S-RQ or address handle still belongs to it
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread. If an object is created in the zone at the same moment, exactly one of
 * the two calls fails.
 * Source: IT-API 2.1.
 */
it_status_t it_pz_free(it_pz_handle_t pz_handle);

/* ==============================================================================================
 * Event Dispatcher (EVD)
 * ============================================================================================== */

/**
 * Creates an event dispatcher. A simple EVD (SEVD) queues the events of one stream; an aggregate
 * EVD (AEVD, stream IT_AEVD_NOTIFICATION_EVENT_STREAM) lets a program wait on many SEVDs at
 * once.
 *
 * @param ia_handle        the IA
 * @param event_number     one of the IT_..._EVENT_STREAM constants
 * @param evd_flag         it_evd_flags_t bits; 0 gives the default treatment of overflow
 * @param sevd_queue_size  events an SEVD can hold, at least 1; not looked at for an AEVD
 * @param sevd_threshold   notifications needed before a waiter is woken, at most the queue size;
 *                         IT_THRESHOLD_DISABLE wakes at each; not looked at for an AEVD
 * @param aevd_handle      an AEVD the new SEVD joins, or a null handle
 * @param evd_handle       out: the EVD, to be destroyed with it_evd_free
 * @param fd               out, with IT_EVD_CREATE_FD only: a descriptor for poll() and epoll,
 *                         readable while the condition is met that wakes it_evd_wait, threshold
 *                         included, or the IA has failed. Who waits for edges takes events until
 *                         IT_ERR_QUEUE_EMPTY. It belongs to the EVD: do not read or close it.
 *                         Without the flag fd may be NULL
 *
 * @retval IT_SUCCESS                     done
 * @retval IT_ERR_INVALID_IA              ia_handle does not name an open IA
 * @retval IT_ERR_FAULT                   evd_handle is NULL
 * @retval IT_ERR_INVALID_EVD_TYPE        event_number is not a stream constant
 * @retval IT_ERR_INVALID_FLAGS           unknown bit, or IT_EVD_DEQUEUE_NOTIFICATIONS for an
 *                                        SEVD
 * @retval IT_ERR_INVALID_AEVD            aevd_handle does not name an AEVD of this IA
 * @retval IT_ERR_AEVD_NOT_ALLOWED        an AEVD cannot join an AEVD
 * @retval IT_ERR_MISMATCH_FD             a descriptor is wanted but fd is NULL, or the SEVD
 *                                        joins an AEVD
 * @retval IT_ERR_INVALID_QUEUE_SIZE      sevd_queue_size is 0
 * @retval IT_ERR_RESOURCE_QUEUE_SIZE     the IA cannot provide a queue this long
 * @retval IT_ERR_INVALID_THRESHOLD       sevd_threshold exceeds sevd_queue_size
 * @retval IT_ERR_ASYNC_AFF_EVD_EXISTS    the IA has its EVD for affiliated errors already
 * @retval IT_ERR_ASYNC_UNAFF_EVD_EXISTS  the IA has its EVD for unaffiliated errors already
 * @retval IT_ERR_RESOURCES               out of memory or descriptors
 * @retval IT_ERR_IA_CATASTROPHE          the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_evd_create(it_ia_handle_t ia_handle, it_event_type_t event_number,
                          it_evd_flags_t evd_flag, size_t sevd_queue_size, size_t sevd_threshold,
                          it_evd_handle_t aevd_handle, it_evd_handle_t *evd_handle, int *fd);

/**
 * Reads properties of an EVD. The answer is a snapshot.
 *
 * @param evd_handle  the EVD
 * @param mask        which members to read
 * @param params      out: the members asked for
 *
 * @retval IT_SUCCESS           done
 * @retval IT_ERR_INVALID_EVD   evd_handle does not name an EVD
 * @retval IT_ERR_FAULT         params is NULL
 * @retval IT_ERR_INVALID_MASK  a bit that does not exist
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_evd_query(it_evd_handle_t evd_handle, it_evd_param_mask_t mask,
                         it_evd_param_t *params);

/**
 * Changes an EVD: the length of its queue, its threshold, the AEVD it belongs to (a null handle
 * leaves the AEVD), whether notifications are passed on, the overflow bits of its flags, and the
 * overflow condition, which can only be cleared. Either everything asked for is changed or
 * nothing.
 *
 * @param evd_handle  the EVD
 * @param mask        members to change: IT_EVD_PARAM_QUEUE_SIZE, _THRESHOLD, _AEVD_HANDLE,
 *                    _ENABLED, _OVERFLOWED, _FLAG
 * @param params      the new values; copied
 *
 * @retval IT_SUCCESS                  done
 * @retval IT_ERR_INVALID_EVD          evd_handle does not name an EVD
 * @retval IT_ERR_FAULT                params is NULL
 * @retval IT_ERR_INVALID_MASK         a bit outside the list above, or a queue, threshold or
 *                                     AEVD bit for an AEVD
 * @retval IT_ERR_INVALID_QUEUE_SIZE   0, or not enough for what is queued now
 * @retval IT_ERR_RESOURCE_QUEUE_SIZE  the IA cannot provide a queue this long
 * @retval IT_ERR_INVALID_THRESHOLD    more than the queue can hold
 * @retval IT_ERR_INVALID_AEVD         params->aevd does not name an AEVD of the same IA
 * @retval IT_ERR_INVALID_FLAGS        a flag that is fixed at creation would change
 * @retval IT_ERR_INVALID_EVD_STATE    an EVD with a callback, descriptor or waiter would join an
 *                                     AEVD
 * @retval IT_ERR_CANNOT_RESET         the overflow left the EVD unusable
 * @retval IT_ERR_RESOURCES            memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE       the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_evd_modify(it_evd_handle_t evd_handle, it_evd_param_mask_t mask,
                          const it_evd_param_t *params);

/**
 * Takes one event from an EVD; sleeps until there is a notification (for an SEVD with a threshold:
 * that many) or until the timeout. On an AEVD the event comes from a member; an AEVD made with
 * IT_EVD_DEQUEUE_NOTIFICATIONS instead returns a record that names the member.
 *
 * A completion is a notification only if its request had IT_NOTIFY_FLAG. A completion without that
 * flag is returned if it is queued when the call begins, but one that arrives during the sleep does
 * not end the sleep.
 *
 * @param evd_handle  the EVD
 * @param timeout     longest sleep, microseconds; 0 = do not sleep, IT_TIMEOUT_INFINITE = no
 *                    limit
 * @param event       out: the event
 * @param nmore       out: events still queued; may be NULL
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_EVD        evd_handle does not name an EVD
 * @retval IT_ERR_FAULT              event is NULL
 * @retval IT_ERR_INVALID_EVD_STATE  an SEVD that belongs to an AEVD: wait on the AEVD; or
 *                                   itx_evd_set_waitable forbids it
 * @retval IT_ERR_CALLBACK_EXISTS    a callback handles the events of this EVD
 * @retval IT_ERR_WAITER_LIMIT       as many threads as possible are waiting here already
 * @retval IT_ERR_TIMEOUT_EXPIRED    nothing happened in time; with timeout 0, nothing has
 *                                   happened yet
 * @retval IT_ERR_INTERRUPT          a signal handler ran in this thread
 * @retval IT_ERR_ABORT              the EVD or its IA was freed during the sleep
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: the call itself consumes one event.
 * Threads: any thread; no event is given to two waiters. No cancellation point: a thread that is
 * cancelled waits on.
 * Source: IT-API 2.1.
 */
it_status_t it_evd_wait(it_evd_handle_t evd_handle, uint64_t timeout, it_event_t *event,
                        size_t *nmore);

/**
 * Takes the oldest event from an EVD at once, whether or not it was a notification or the
 * threshold is reached. Meant for polling, and for use with an AEVD, a descriptor or a
 * callback.
 *
 * @param evd_handle  the EVD
 * @param event       out: the event
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_EVD     evd_handle does not name an EVD
 * @retval IT_ERR_FAULT           event is NULL
 * @retval IT_ERR_QUEUE_EMPTY     there is no event
 * @retval IT_ERR_IA_CATASTROPHE  the IA has failed
 *
 * Completion: the call itself consumes one event.
 * Threads: any thread, callbacks included.
 * Source: IT-API 2.1.
 */
it_status_t it_evd_dequeue(it_evd_handle_t evd_handle, it_event_t *event);

/**
 * Queues a software event, which always counts as a notification. Useful to wake a thread that
 * waits on an AEVD.
 *
 * @param evd_handle  an EVD of the stream IT_SOFTWARE_EVENT_STREAM
 * @param event       any pointer, NULL included; handed over as it is, never followed
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_EVD       evd_handle does not name an EVD
 * @retval IT_ERR_INVALID_SOFT_EVD  the EVD belongs to another stream
 * @retval IT_ERR_EVD_QUEUE_FULL    the queue has no room; this is not an overflow of the EVD
 * @retval IT_ERR_IA_CATASTROPHE    the IA has failed
 *
 * Completion: IT_SOFTWARE_EVENT on the EVD itself.
 * Threads: any thread, callbacks included.
 * Source: IT-API 2.1.
 */
it_status_t it_evd_post_se(it_evd_handle_t evd_handle, const void *event);

/**
 * Makes the IA's thread call a function whenever the notification condition of the EVD is met, at
 * once if it is met now. The condition is that of it_evd_wait: threshold, notification events,
 * failed completions. An EVD can have one callback.
 *
 * The callback takes the events itself, with it_evd_dequeue until that returns IT_ERR_QUEUE_EMPTY.
 * If the condition is still met when the callback returns, it is called again. Events that arrive
 * while it runs are reported after it has returned. It may call any function: post, free an
 * endpoint, attach and detach callbacks, its own included. Only it_evd_free for its own EVD and
 * it_ia_free for its IA return IT_ERR_EVD_BUSY.
 *
 * The IA's thread does nothing else while a callback runs, so the callback should not block. In
 * particular it must not wait for a lock that another thread holds across a call that makes,
 * accepts, rejects or converts a connection, creates or frees a listen point, or frees an endpoint
 * of this IA: such calls wait for the IA's thread. If the callback calls it_evd_wait, the thread
 * does its other work, callbacks of other EVDs included, until that call returns. Two callbacks
 * that run at once must not free or detach each other: each of these calls waits for the other.
 *
 * @param evd_handle  the EVD
 * @param callback    the function
 * @param arg         passed to the function; not followed by the library
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_EVD        evd_handle does not name an EVD
 * @retval IT_ERR_FAULT              callback is NULL
 * @retval IT_ERR_CALLBACK_EXISTS    there is a callback already
 * @retval IT_ERR_EVD_WAIT           a thread is sleeping in it_evd_wait on this EVD
 * @retval IT_ERR_INVALID_EVD_STATE  the EVD belongs to an AEVD
 * @retval IT_ERR_RESOURCES          out of memory
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, callbacks included. Runs of one EVD's callback never overlap.
 * Source: IT-API 2.1.
 */
it_status_t it_evd_callback_attach(it_evd_handle_t evd_handle, it_evd_callback_rtn_t callback,
                                   void *arg);

/**
 * Detaches the callback from an EVD. On return the callback is not running and will not run again,
 * except that a call from the callback itself returns at once.
 *
 * @param evd_handle  the EVD
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_EVD        evd_handle does not name an EVD
 * @retval IT_ERR_INVALID_EVD_STATE  there is no callback
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, callbacks included.
 * Source: IT-API 2.1.
 */
it_status_t it_evd_callback_detach(it_evd_handle_t evd_handle);

/**
 * Destroys an EVD with its queued events, descriptor and callback. Requests of peers among the
 * events are rejected. Threads sleeping in it_evd_wait return with IT_ERR_ABORT.
 *
 * @param evd_handle  the EVD
 *
 * @retval IT_SUCCESS          done
 * @retval IT_ERR_INVALID_EVD  evd_handle does not name an EVD
 * @retval IT_ERR_EVD_BUSY     an endpoint, listen point or UD request still uses it, it is an
 *                             AEVD with members, or the call comes from its own callback, or
 *                             from another one that runs inside a wait on it
 *
 * Completion: none; the call is synchronous. It waits until a running callback has returned.
 * Threads: any thread; callbacks of other EVDs included.
 * Source: IT-API 2.1.
 */
it_status_t it_evd_free(it_evd_handle_t evd_handle);

/* ==============================================================================================
 * Endpoint (EP)
 * ============================================================================================== */

/**
 * Creates a reliable-connected endpoint in state IT_EP_STATE_UNCONNECTED. The library may grant
 * more depths and segment counts than were asked for; it_ep_query returns those in force.
 *
 * @param pz_handle            the protection zone the endpoint belongs to
 * @param request_sevd_handle  simple EVD of the DTO stream for completions of requests
 * @param recv_sevd_handle     the same for receives; may be the same EVD
 * @param connect_sevd_handle  simple EVD of the CM message stream for connection events
 * @param flags                it_ep_rc_creation_flags_t bits
 * @param ep_attr              the attributes; copied. Only with IT_EP_SRQ do srv.rc.srq and the
 *                             watermarks count, and then the receive depth and segments do not
 * @param ep_handle            out: the endpoint, to be destroyed with it_ep_free
 *
 * @retval IT_SUCCESS                     done
 * @retval IT_ERR_INVALID_PZ              pz_handle does not name a protection zone
 * @retval IT_ERR_INVALID_REQ_EVD         request_sevd_handle is no DTO-stream EVD of this IA
 * @retval IT_ERR_INVALID_RECV_EVD        recv_sevd_handle is no DTO-stream EVD of this IA
 * @retval IT_ERR_INVALID_CONN_EVD        connect_sevd_handle is no CM-message EVD of this IA
 * @retval IT_ERR_AEVD_NOT_ALLOWED        one of the three is an AEVD
 * @retval IT_ERR_FAULT                   ep_attr or ep_handle is NULL
 * @retval IT_ERR_INVALID_FLAGS           unknown bit
 * @retval IT_ERR_INVALID_SRQ             IT_EP_SRQ, but srv.rc.srq names no S-RQ of this zone
 * @retval IT_ERR_INVALID_EP_ATTR         some attribute is out of range, or enables what the IA
 *                                        lacks
 * @retval IT_ERR_PAYLOAD_SIZE            max_dto_payload_size is beyond the Spigot's limit
 * @retval IT_ERR_RESOURCE_REQ_DTO        max_request_dtos is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RECV_DTO       max_recv_dtos is more than the IA can provide
 * @retval IT_ERR_RESOURCE_SSEG           max_send_segments is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RSEG           max_recv_segments is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RRSEG          max_rdma_read_segments is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RWSEG          max_rdma_write_segments is more than the IA can provide
 * @retval IT_ERR_RESOURCE_IRD            rdma_read_ird is more than the IA can provide
 * @retval IT_ERR_RESOURCE_ORD            rdma_read_ord is more than the IA can provide
 * @retval IT_ERR_SOFT_HI_WATERMARK       S-RQ: a soft watermark on an IA without
 * @retval IT_ERR_HARD_HI_WATERMARK       S-RQ: a hard watermark on an IA without
 * @retval IT_ERR_INVALID_WATERMARK       S-RQ: a watermark beyond the depth of the queue
 * @retval IT_ERR_SRQ_NOT_SUPPORTED       the IA has no S-RQs
 * @retval IT_ERR_PRIV_OPS_UNAVAILABLE    priv_ops_enable in an unprivileged program
 * @retval IT_ERR_INVALID_REQ_EVD_STATE   the request EVD has overflowed
 * @retval IT_ERR_INVALID_RECV_EVD_STATE  the receive EVD has overflowed
 * @retval IT_ERR_RESOURCES               memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE          the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ep_rc_create(it_pz_handle_t pz_handle, it_evd_handle_t request_sevd_handle,
                            it_evd_handle_t recv_sevd_handle, it_evd_handle_t connect_sevd_handle,
                            it_ep_rc_creation_flags_t flags, const it_ep_attributes_t *ep_attr,
                            it_ep_handle_t *ep_handle);

/**
 * Creates a datagram endpoint, which is ready for use at once. Its number, needed by peers, can
 * be read with it_ep_query. supported_service_types of it_ia_info_t says which IAs have datagrams:
 * InfiniBand and RoCE devices do, iWARP does not.
 *
 * @param pz_handle            the protection zone the endpoint belongs to
 * @param request_sevd_handle  simple EVD of the DTO stream for completions of sends
 * @param recv_sevd_handle     the same for receives
 * @param ep_attr              the attributes; copied
 * @param spigot_id            the Spigot the endpoint is tied to; 0: the only one that the IA has
 * @param ep_handle            out: the endpoint, to be destroyed with it_ep_free
 *
 * @retval IT_SUCCESS                     done
 * @retval IT_ERR_INVALID_PZ              pz_handle does not name a protection zone
 * @retval IT_ERR_OP_NOT_SUPPORTED        the IA has no datagram service (always so with iWARP)
 * @retval IT_ERR_INVALID_REQ_EVD         request_sevd_handle is no DTO-stream EVD of this IA
 * @retval IT_ERR_INVALID_RECV_EVD        recv_sevd_handle is no DTO-stream EVD of this IA
 * @retval IT_ERR_AEVD_NOT_ALLOWED        one of them is an AEVD
 * @retval IT_ERR_FAULT                   ep_attr or ep_handle is NULL
 * @retval IT_ERR_INVALID_SPIGOT          the IA has no such Spigot
 * @retval IT_ERR_INVALID_EP_KEY          the key in ep_attr is not usable
 * @retval IT_ERR_INVALID_EP_ATTR         some attribute is out of range or not offered
 * @retval IT_ERR_PAYLOAD_SIZE            max_dto_payload_size is beyond the Spigot's limit
 * @retval IT_ERR_RESOURCE_REQ_DTO        max_request_dtos is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RECV_DTO       max_recv_dtos is more than the IA can provide
 * @retval IT_ERR_RESOURCE_SSEG           max_send_segments is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RSEG           max_recv_segments is more than the IA can provide
 * @retval IT_ERR_INVALID_REQ_EVD_STATE   the request EVD has overflowed
 * @retval IT_ERR_INVALID_RECV_EVD_STATE  the receive EVD has overflowed
 * @retval IT_ERR_RESOURCES               memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE          the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ep_ud_create(it_pz_handle_t pz_handle, it_evd_handle_t request_sevd_handle,
                            it_evd_handle_t recv_sevd_handle, const it_ep_attributes_t *ep_attr,
                            size_t spigot_id, it_ep_handle_t *ep_handle);

/**
 * Reads properties of an endpoint. The state is a snapshot; it is never older than an event
 * already dequeued. After establishment the read depths are those in force.
 *
 * @param ep_handle  the endpoint
 * @param mask       which members to read; ALL means those that exist for this type of endpoint
 * @param params     out: the members asked for
 *
 * @retval IT_SUCCESS           done
 * @retval IT_ERR_INVALID_EP    ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT         params is NULL
 * @retval IT_ERR_INVALID_MASK  unknown bit, or a member that only the other type of endpoint has
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ep_query(it_ep_handle_t ep_handle, it_ep_param_mask_t mask, it_ep_param_t *params);

/**
 * Changes attributes of an endpoint, either all that were asked for or none. Features of the IA
 * and the endpoint's state decide what can change: segment counts and the payload limit only
 * while UNCONNECTED with nothing posted, the IRD only while UNCONNECTED; depths, RDMA rights, the
 * ORD and, with an S-RQ, the watermarks also while CONNECTED, where the IA permits it. Watermarks
 * of an endpoint without an S-RQ are ignored, as at creation.
 *
 * @param ep_handle  the endpoint
 * @param mask       members to change
 * @param ep_attr    the new values; copied
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_EP         ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT              ep_attr is NULL
 * @retval IT_ERR_INVALID_MASK       unknown bit, the ALL bit, or a member fixed at creation
 * @retval IT_ERR_INVALID_EP_TYPE    the member belongs to the other type of endpoint
 * @retval IT_ERR_INVALID_EP_KEY     the UD key is not usable
 * @retval IT_ERR_INVALID_EP_ATTR    some attribute is out of range, or enables what the IA lacks;
 *                                   a depth below what is posted
 * @retval IT_ERR_PAYLOAD_SIZE       max_dto_payload_size is beyond the Spigot's limit
 * @retval IT_ERR_RESOURCE_REQ_DTO   max_request_dtos is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RECV_DTO  max_recv_dtos is more than the IA can provide
 * @retval IT_ERR_RESOURCE_SSEG      max_send_segments is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RSEG      max_recv_segments is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RRSEG     max_rdma_read_segments is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RWSEG     max_rdma_write_segments is more than the IA can provide
 * @retval IT_ERR_RESOURCE_IRD       rdma_read_ird is more than the IA can provide
 * @retval IT_ERR_RESOURCE_ORD       rdma_read_ord is more than the IA can provide; while CONNECTED
 *                                   also: more than the IRD that the peer has announced
 * @retval IT_ERR_SOFT_HI_WATERMARK  S-RQ: a soft watermark on an IA without
 * @retval IT_ERR_HARD_HI_WATERMARK  S-RQ: a hard watermark on an IA without
 * @retval IT_ERR_INVALID_WATERMARK  S-RQ: a watermark beyond the depth of the queue
 * @retval IT_ERR_OP_NOT_SUPPORTED   the IA does not permit this change (resizing, changing the
 *                                   IRD, raising the ORD, ...); receive depth or segments with an
 *                                   S-RQ
 * @retval IT_ERR_INVALID_EP_STATE   the member cannot change in the present state, or with receives
 *                                   posted
 * @retval IT_ERR_RESOURCES          memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread; a change applies between operations, never in the middle of one.
 * Source: IT-API 2.1.
 */
it_status_t it_ep_modify(it_ep_handle_t ep_handle, it_ep_param_mask_t mask,
                         const it_ep_attributes_t *ep_attr);

/**
 * Makes an endpoint whose connection is over usable again: NONOPERATIONAL becomes UNCONNECTED
 * (UD: OPERATIONAL). Does nothing in UNCONNECTED. Completions waiting in EVDs stay there.
 *
 * @param ep_handle  the endpoint
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_EP        ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_EP_STATE  any other state
 * @retval IT_ERR_EP_TIMEWAIT       the old connection is in time-wait and IT_EP_REUSEADDR was
 *                                  not given (never with iWARP: the next one has other addresses)
 * @retval IT_ERR_CANNOT_RESET      the endpoint is beyond repair and can only be freed
 * @retval IT_ERR_RESOURCES         memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE    the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ep_reset(it_ep_handle_t ep_handle);

/**
 * Destroys an endpoint, in whatever state. A live connection ends: the peer is notified, this side
 * gets no event, and unfinished operations may get no completion. Events already queued remain and
 * carry the dead handle.
 *
 * @param ep_handle  the endpoint
 *
 * @retval IT_SUCCESS         done
 * @retval IT_ERR_INVALID_EP  ep_handle does not name an endpoint
 * @retval IT_ERR_EP_BUSY     a narrow RMR is linked through it, or a call on it is running in
 *                            another thread
 *
 * Completion: none; the call is synchronous.
 * Threads: no other call on the endpoint may be running.
 * Source: IT-API 2.1.
 */
it_status_t it_ep_free(it_ep_handle_t ep_handle);

/* ==============================================================================================
 * Connection management, for every transport
 * ============================================================================================== */

/**
 * Starts listening for connection requests on a Spigot; for iWARP, on a TCP port. A request is
 * reported once a whole, valid MPA Request has arrived. Several listen points may share one EVD.
 *
 * @param ia_handle      the IA
 * @param spigot_id      the Spigot; 0: the only one that the IA has
 * @param connect_evd    simple EVD of the CM request stream
 * @param flags          it_listen_flags_t bits
 * @param conn_qual      in, with IT_LISTEN_CONN_QUAL_INPUT: where to listen; out, without it:
 *                       what the library chose, of the type IT_IANA_LR_PORT if that is given, else
 *                       IT_IANA_PORT. Ports in network byte order
 * @param listen_handle  out: the listen point, to be destroyed with it_listen_free
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_IA         ia_handle does not name an open IA
 * @retval IT_ERR_INVALID_CONN_EVD   connect_evd is no CM-request EVD of this IA
 * @retval IT_ERR_AEVD_NOT_ALLOWED   connect_evd is an AEVD
 * @retval IT_ERR_FAULT              conn_qual or listen_handle is NULL
 * @retval IT_ERR_INVALID_FLAGS      unknown bit, suppression of read depths where the IA always
 *                                   exchanges them, or ITX_LISTEN_SOCKETS with a given qualifier
 *                                   or on a device
 * @retval IT_ERR_INVALID_SPIGOT     the IA has no such Spigot
 * @retval IT_ERR_INVALID_CONN_QUAL  a kind of qualifier one cannot listen on, or port 0 as input
 * @retval IT_ERR_CONN_QUAL_BUSY     somebody listens there already
 * @retval IT_ERR_NO_PERMISSION      a port reserved for privileged users
 * @retval IT_ERR_RESOURCES          memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: none for the call. Each request is an IT_CM_REQ_CONN_REQUEST_EVENT on connect_evd;
 * it is answered with it_ep_accept, it_reject or it_handoff.
 * Threads: any thread.
 * Source: IT-API 2.1; RFC 5044 and RFC 6581 (MPA startup).
 */
it_status_t it_listen_create(it_ia_handle_t ia_handle, size_t spigot_id,
                             it_evd_handle_t connect_evd, it_listen_flags_t flags,
                             it_conn_qual_t *conn_qual, it_listen_handle_t *listen_handle);

/**
 * Reads properties of a listen point.
 *
 * @param listen_handle  the listen point
 * @param mask           which members to read
 * @param params         out: the members asked for
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_LISTEN  listen_handle does not name a listen point
 * @retval IT_ERR_FAULT           params is NULL
 * @retval IT_ERR_INVALID_MASK    a bit that does not exist
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_listen_query(it_listen_handle_t listen_handle, it_listen_param_mask_t mask,
                            it_listen_param_t *params);

/**
 * Stops listening. Requests that were already reported can still be answered; the others are
 * turned away.
 *
 * @param listen_handle  the listen point
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_LISTEN  listen_handle does not name a listen point
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_listen_free(it_listen_handle_t listen_handle);

/**
 * Starts to connect an endpoint to a service. For iWARP: opens a TCP connection, sends an MPA
 * Request with the private data and waits for the Reply.
 *
 * @param ep_handle            an RC endpoint in state UNCONNECTED
 * @param path                 where to connect and from where; path->timeout limits the attempt,
 *                             in microseconds (0 = the library's default, 30 seconds)
 * @param conn_attr            attributes of the transport; NULL means defaults. Not looked at by
 *                             iWARP; of InfiniBand's, the retries and local_ack_timeout count
 * @param connect_qual         the service at the peer: IT_IANA_PORT, or IT_IANA_LR_PORT to
 *                             choose the local port too; network byte order
 * @param cn_est_flags         exactly one of IT_CONNECT_FLAG_TWO_WAY and
 *                             IT_CONNECT_FLAG_THREE_WAY, plus options. iWARP knows two-way only
 * @param private_data         bytes for the peer's request event
 * @param private_data_length  their count; the limit is connect_private_data_len of it_ia_info_t
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT                 path or connect_qual is NULL, or private_data is while it
 *                                      has a length
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_CN_EST_FLAGS  unknown bit, not exactly one mode, or something the IA
 *                                      lacks
 * @retval IT_ERR_INVALID_CONN_QUAL     a kind of qualifier one cannot connect to, or remote port
 *                                      0
 * @retval IT_ERR_INVALID_SPIGOT        the path starts at a Spigot the IA does not have
 * @retval IT_ERR_INVALID_SOURCE_PATH   the path starts at an address the IA does not have
 * @retval IT_ERR_INVALID_ADDRESS       the path leads to an address that cannot be a destination
 * @retval IT_ERR_INVALID_ATIMEOUT      InfiniBand: local_ack_timeout out of range
 * @retval IT_ERR_INVALID_LTIMEOUT      InfiniBand: local_cm_timeout out of range
 * @retval IT_ERR_INVALID_RTIMEOUT      InfiniBand: remote_cm_timeout out of range
 * @retval IT_ERR_INVALID_RETRY         InfiniBand: retry_count out of range
 * @retval IT_ERR_INVALID_RNR_RETRY     InfiniBand: rnr_retry_count out of range
 * @retval IT_ERR_INVALID_CM_RETRY      InfiniBand: max_cm_retries out of range
 * @retval IT_ERR_INVALID_PDATA_LENGTH  more private data than the IA carries here
 * @retval IT_ERR_PDATA_NOT_SUPPORTED   private data on an IA that carries none at all
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is not UNCONNECTED
 * @retval IT_ERR_CONN_QUAL_BUSY        the local port asked for is taken
 * @retval IT_ERR_EP_TIMEWAIT           the local port was chosen, this pair of addresses is in
 *                                      time-wait and IT_EP_REUSEADDR was not given
 * @retval IT_ERR_RESOURCES             memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: on the connect EVD, IT_CM_MSG_CONN_ESTABLISHED_EVENT (with the private data of the
 * accept), IT_CM_MSG_CONN_PEER_REJECT_EVENT or IT_CM_MSG_CONN_NONPEER_REJECT_EVENT. Three-way
 * connects pass through IT_CM_MSG_CONN_ACCEPT_ARRIVAL_EVENT first.
 * Threads: any thread; of two calls at once, one is told IT_ERR_INVALID_EP_STATE.
 * Source: IT-API 2.1; RFC 5044 and RFC 6581 (MPA startup).
 */
it_status_t it_ep_connect(it_ep_handle_t ep_handle, const it_path_t *path,
                          const it_conn_attributes_t *conn_attr, const it_conn_qual_t *connect_qual,
                          it_cn_est_flags_t cn_est_flags, const unsigned char *private_data,
                          size_t private_data_length);

/**
 * Accepts a connection. On the passive side it binds the request named by cn_est_id to an endpoint
 * and answers the peer; on the active side of a three-way connect it confirms the accept that has
 * arrived. If the call succeeds, the identifier is used up. On iWARP the accepting side's requests
 * wait for the first message of the connecting side, unless both sides have agreed on a
 * ready-to-receive message, as two endpoints of this library do.
 *
 * @param ep_handle            passive: an RC endpoint in state UNCONNECTED; active: the
 *                             connecting endpoint
 * @param cn_est_id            from the request (or accept arrival) event
 * @param private_data         bytes for the peer's ESTABLISHED event
 * @param private_data_length  their count; the limit is accept_private_data_len of it_ia_info_t
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_CN_EST_ID     unknown, used up, of another IA, or the peer has gone
 * @retval IT_ERR_FAULT                 private_data is NULL while it has a length
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_PDATA_LENGTH  more private data than the IA carries here
 * @retval IT_ERR_PDATA_NOT_SUPPORTED   private data on an IA that carries none at all
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is not UNCONNECTED (active: not waiting for
 *                                      this confirmation)
 * @retval IT_ERR_EP_TIMEWAIT           the endpoint's last connection is in time-wait (never with
 *                                      iWARP)
 * @retval IT_ERR_RESOURCES             memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_CM_MSG_CONN_ESTABLISHED_EVENT on the connect EVD, or one of the two reject
 * events.
 * Threads: any thread; of several answers to one identifier only the first counts.
 * Source: IT-API 2.1; RFC 5044 and RFC 6581 (MPA startup).
 */
it_status_t it_ep_accept(it_ep_handle_t ep_handle, it_cn_est_identifier_t cn_est_id,
                         const unsigned char *private_data, size_t private_data_length);

/**
 * Declines a connection request or, in a three-way connect, the accept that has arrived; no
 * endpoint is needed. The identifier is used up. In the three-way case the connecting endpoint
 * becomes NONOPERATIONAL without an event.
 *
 * @param cn_est_id            from the request (or accept arrival) event
 * @param private_data         bytes for the peer's PEER_REJECT event
 * @param private_data_length  their count; the limit is reject_private_data_len of it_ia_info_t
 *
 * @retval IT_SUCCESS                   done
 * @retval IT_ERR_INVALID_CN_EST_ID     unknown, used up, or the peer has gone
 * @retval IT_ERR_FAULT                 private_data is NULL while it has a length
 * @retval IT_ERR_INVALID_PDATA_LENGTH  more private data than the IA carries here
 * @retval IT_ERR_PDATA_NOT_SUPPORTED   private data on an IA that carries none at all
 * @retval IT_ERR_RESOURCES             out of memory
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: none on this side; the peer gets IT_CM_MSG_CONN_PEER_REJECT_EVENT.
 * Threads: any thread.
 * Source: IT-API 2.1; RFC 5044 (reject bit of the MPA Reply).
 */
it_status_t it_reject(it_cn_est_identifier_t cn_est_id, const unsigned char *private_data,
                      size_t private_data_length);

/**
 * Moves an unanswered request to another listen point of the same IA, as if it had arrived there.
 * The peer does not notice.
 *
 * @param conn_qual  what the other listen point listens on
 * @param spigot_id  its Spigot; 0: the only one that the IA has
 * @param cn_est_id  from the request event; used up on success
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_CN_EST_ID  unknown, used up, not an incoming request, or the peer has
 *                                   gone
 * @retval IT_ERR_FAULT              conn_qual is NULL
 * @retval IT_ERR_INVALID_CONN_QUAL  no listen point there
 * @retval IT_ERR_INVALID_SPIGOT     the IA has no such Spigot
 * @retval IT_ERR_OP_NOT_SUPPORTED   the IA cannot move requests
 * @retval IT_ERR_RESOURCES          no room in the other EVD, or out of memory
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: none for the call; the other listen point's EVD gets an
 * IT_CM_REQ_CONN_REQUEST_EVENT with a new identifier and the same private data.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_handoff(const it_conn_qual_t *conn_qual, size_t spigot_id,
                       it_cn_est_identifier_t cn_est_id);

/**
 * Ends a connection, or an attempt to connect. The endpoint becomes NONOPERATIONAL, and posted
 * requests that have not finished complete with IT_DTO_ERR_FLUSHED. A program that needs its data
 * delivered waits for its completion first.
 *
 * @param ep_handle            an RC endpoint that is connected or on the way there
 * @param private_data         bytes for the peer, where the transport can carry them; iWARP
 *                             cannot
 * @param private_data_length  their count; the limit is disconnect_private_data_len of
 *                             it_ia_info_t
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT                 private_data is NULL while it has a length
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_PDATA_LENGTH  more private data than the IA carries here
 * @retval IT_ERR_PDATA_NOT_SUPPORTED   private data on an IA that carries none at all
 * @retval IT_ERR_INVALID_EP_STATE      UNCONNECTED, or NONOPERATIONAL already, perhaps by the
 *                                      peer's doing
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_CM_MSG_CONN_DISCONNECT_EVENT on the connect EVDs of both sides.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ep_disconnect(it_ep_handle_t ep_handle, const unsigned char *private_data,
                             size_t private_data_length);

/* ==============================================================================================
 * Socket conversion
 * ============================================================================================== */

/**
 * Turns a connected TCP socket into the RDMA connection of an endpoint. The side that sends the
 * last message in streaming mode passes it as msg and becomes MPA Responder; the other side reads
 * exactly that message and converts without one, as MPA Initiator. ITX_SC_INITIATOR and
 * ITX_SC_RESPONDER choose the role explicitly. With IT_SC_NO_REQ_REP, which both sides must have
 * agreed on, there is no MPA Request and Reply; CRCs are on and markers off.
 *
 * On the IA of a device the stream itself does not become the connection. Both sides must be on
 * devices. They use the stream to agree on a connection between their devices, which the Initiator
 * makes; then the stream is closed. If either side cannot convert, both continue with the stream,
 * and no data is lost.
 *
 * On success the library owns the stream. It keeps a descriptor of its own, so the program may
 * close sd, but must not read or write it. If the call or the conversion fails, sd itself is left
 * alone. See itx_socket_convert for private data and for streams read through a buffer.
 *
 * @param sd         a connected TCP socket (IPv4 or IPv6) whose local address the IA owns
 * @param ep_handle  an RC endpoint in state UNCONNECTED
 * @param flags      it_sc_flags_t bits
 * @param msg        last message in streaming mode; copied. May be NULL when len is 0
 * @param len        its bytes
 *
 * @retval IT_SUCCESS                 accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP          ep_handle does not name an endpoint
 * @retval IT_ERR_FAULT               msg is NULL while len is not 0
 * @retval IT_ERR_INVALID_FLAGS       unknown bit, both roles, or IT_SC_NO_REQ_REP on a device
 * @retval IT_ERR_INVALID_LENGTH      msg is longer than 65536 bytes
 * @retval IT_ERR_INVALID_EP_TYPE     a datagram endpoint
 * @retval IT_ERR_INVALID_CONVERSION  sd is no connected TCP socket, or the IA does not own its
 *                                    local address
 * @retval IT_ERR_OP_NOT_SUPPORTED    socket_conversion_support of the IA is IT_FALSE
 * @retval IT_ERR_INVALID_EP_STATE    the endpoint is not UNCONNECTED
 * @retval IT_ERR_RESOURCES           out of memory or descriptors
 * @retval IT_ERR_IA_CATASTROPHE      the IA has failed
 *
 * Completion: on the connect EVD, IT_CM_MSG_CONN_ESTABLISHED_EVENT,
 * IT_CM_MSG_CONN_PEER_REJECT_EVENT or IT_CM_MSG_CONN_NONPEER_REJECT_EVENT (after 30 seconds
 * without an answer, too).
 * Threads: any thread; no other thread may use sd during the call.
 * Source: IT-API 2.1; RFC 5044 (MPA startup from streaming mode), RFC 6581.
 */
it_status_t it_socket_convert(int sd, it_ep_handle_t ep_handle, it_sc_flags_t flags,
                              const unsigned char *msg, size_t len);

/* ==============================================================================================
 * Local Memory Region (LMR)
 * ============================================================================================== */

/**
 * Registers memory for RDMA, in the form of version 1.0: peers address it by its virtual address.
 * The same as it_lmr_create20 with IT_ADDR_MODE_ABSOLUTE.
 *
 * Regions with IT_LMR_FLAG_SHARED and the same shared_id are on the same memory, in one process or
 * in several that have it mapped. On uiwarp they share nothing else: each has its own key, rights
 * and lifetime.
 *
 * @param pz_handle    the protection zone the region belongs to
 * @param addr         first byte. The memory stays the caller's and must exist until it_lmr_free
 * @param length       bytes, at least 1
 * @param privs        it_mem_priv_t bits
 * @param flags        it_lmr_flag_t bits
 * @param shared_id    with IT_LMR_FLAG_SHARED, the group to share resources with
 * @param lmr_handle   out: the region, to be destroyed with it_lmr_free
 * @param rmr_context  out: the key for peers, host byte order; NULL if it is not wanted
 *
 * @retval IT_SUCCESS                  done
 * @retval IT_ERR_INVALID_PZ           pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT                lmr_handle is NULL, or part of the range is not mapped
 * @retval IT_ERR_INVALID_FLAGS        unknown bit, or SHARED and NON_SHAREABLE at once
 * @retval IT_ERR_INVALID_PRIVS        unknown bit, remote write without local write, or atomics
 *                                     on an IA without
 * @retval IT_ERR_INVALID_LENGTH       length is 0
 * @retval IT_ERR_RESOURCE_LMR_LENGTH  more than the IA can register in one region
 * @retval IT_ERR_ACCESS               the pages are protected against that kind of access
 * @retval IT_ERR_RESOURCES            memory, lockable memory or keys are used up
 * @retval IT_ERR_IA_CATASTROPHE       the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_lmr_create10(it_pz_handle_t pz_handle, void *addr, it_length_t length,
                            it_mem_priv_t privs, it_lmr_flag_t flags, uint32_t shared_id,
                            it_lmr_handle_t *lmr_handle, it_rmr_context_t *rmr_context);

/**
 * Registers memory for RDMA, in the form of version 2.0: with a choice of how peers address it,
 * by virtual address or by offset.
 *
 * @param pz_handle    the protection zone the region belongs to
 * @param addr         first byte. The memory stays the caller's and must exist until it_lmr_free
 * @param length       bytes, at least 1
 * @param addr_mode    by virtual address or by offset from addr
 * @param privs        it_mem_priv_t bits
 * @param flags        it_lmr_flag_t bits
 * @param shared_id    with IT_LMR_FLAG_SHARED, the group to share resources with
 * @param lmr_handle   out: the region, to be destroyed with it_lmr_free
 * @param rmr_context  out: the key for peers, host byte order; NULL if it is not wanted
 *
 * @retval IT_SUCCESS                  done
 * @retval IT_ERR_INVALID_PZ           pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT                lmr_handle is NULL, or part of the range is not mapped
 * @retval IT_ERR_INVALID_FLAGS        unknown bit, or SHARED and NON_SHAREABLE at once
 * @retval IT_ERR_INVALID_PRIVS        unknown bit, remote write without local write, or atomics
 *                                     on an IA without
 * @retval IT_ERR_INVALID_LENGTH       length is 0
 * @retval IT_ERR_RESOURCE_LMR_LENGTH  more than the IA can register in one region
 * @retval IT_ERR_ACCESS               the pages are protected against that kind of access
 * @retval IT_ERR_RESOURCES            memory, lockable memory or keys are used up
 * @retval IT_ERR_INVALID_ADDR_MODE    no such mode, or offsets where the IA lacks them
 * @retval IT_ERR_IA_CATASTROPHE       the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_lmr_create20(it_pz_handle_t pz_handle, void *addr, it_length_t length,
                            it_addr_mode_t addr_mode, it_mem_priv_t privs, it_lmr_flag_t flags,
                            uint32_t shared_id, it_lmr_handle_t *lmr_handle,
                            it_rmr_context_t *rmr_context);

/**
 * Registers memory for RDMA, in the form of version 2.1: as it_lmr_create20, and privileged
 * programs may describe the memory by I/O addresses.
 *
 * Regions with IT_LMR_FLAG_SHARED and the same shared_id are on the same memory, in one process or
 * in several that have it mapped. On uiwarp they share nothing else: each has its own key, rights
 * and lifetime.
 *
 * @param pz_handle    the protection zone the region belongs to
 * @param addr         first byte. The memory stays the caller's and must exist until
 *                     it_lmr_free. IT_NO_ADDR only with a list and offsets
 * @param iobl         list of I/O addresses, or NULL for ordinary memory; copied
 * @param length       bytes, at least 1
 * @param addr_mode    by virtual address or by offset from addr
 * @param privs        it_mem_priv_t bits
 * @param flags        it_lmr_flag_t bits
 * @param shared_id    with IT_LMR_FLAG_SHARED, the group to share resources with
 * @param lmr_handle   out: the region, to be destroyed with it_lmr_free
 * @param rmr_context  out: the key for peers, host byte order; NULL if it is not wanted
 *
 * @retval IT_SUCCESS                   done
 * @retval IT_ERR_INVALID_PZ            pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT                 lmr_handle is NULL, or part of the range is not mapped
 * @retval IT_ERR_INVALID_FLAGS         unknown bit, or SHARED and NON_SHAREABLE at once
 * @retval IT_ERR_INVALID_PRIVS         unknown bit, remote write without local write, or atomics
 *                                      on an IA without
 * @retval IT_ERR_INVALID_LENGTH        length is 0
 * @retval IT_ERR_RESOURCE_LMR_LENGTH   more than the IA can register in one region
 * @retval IT_ERR_ACCESS                the pages are protected against that kind of access
 * @retval IT_ERR_RESOURCES             memory, lockable memory or keys are used up
 * @retval IT_ERR_INVALID_ADDR_MODE     no such mode, or offsets where the IA lacks them
 * @retval IT_ERR_INVALID_IOBL          the list makes no sense, or is of a kind the IA lacks
 * @retval IT_ERR_ADDRESS               IT_NO_ADDR without a list, or with IT_ADDR_MODE_ABSOLUTE
 * @retval IT_ERR_PRIV_OPS_UNAVAILABLE  a list, from an unprivileged program
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_lmr_create21(it_pz_handle_t pz_handle, void *addr, it_iobl_t *iobl,
                            it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                            it_lmr_flag_t flags, uint32_t shared_id, it_lmr_handle_t *lmr_handle,
                            it_rmr_context_t *rmr_context);

/**
 * Creates a region without memory, which it_lmr_link fills later; for privileged programs.
 * Adapters of this library have no such regions.
 *
 * @param pz_handle      the protection zone the region belongs to
 * @param iobl_num_elts  longest list of I/O addresses to be linked, in elements
 * @param flags          it_lmr_flag_t bits
 * @param shared_id      with IT_LMR_FLAG_SHARED, the group to share resources with
 * @param lmr_handle     out: the region, to be destroyed with it_lmr_free
 *
 * @retval IT_SUCCESS                   done
 * @retval IT_ERR_INVALID_PZ            pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT                 lmr_handle is NULL
 * @retval IT_ERR_INVALID_FLAGS         unknown bit
 * @retval IT_ERR_INVALID_IOBL          iobl_num_elts is 0 or too much
 * @retval IT_ERR_OP_NOT_SUPPORTED      lmr_link_support of the IA is IT_FALSE
 * @retval IT_ERR_PRIV_OPS_UNAVAILABLE  the program is not privileged
 * @retval IT_ERR_RESOURCES             memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_lmr_create_unlinked(it_pz_handle_t pz_handle, size_t iobl_num_elts,
                                   it_lmr_flag_t flags, uint32_t shared_id,
                                   it_lmr_handle_t *lmr_handle);

/**
 * Posts a request that gives an unlinked region its memory and rights. The key is known on
 * return; peers can use it from the moment the request has run. Adapters of this library cannot
 * do this.
 *
 * @param lmr_handle   a region made by it_lmr_create_unlinked
 * @param addr         virtual address of the first byte, or IT_NO_ADDR with offsets
 * @param iobl         the memory, as I/O addresses; copied
 * @param length       bytes, at least 1
 * @param addr_mode    by virtual address or by offset
 * @param privs        it_mem_priv_t bits
 * @param ep_handle    the RC endpoint whose request queue runs the request
 * @param cookie       given back in the completion
 * @param dto_flags    it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE, COALESCE_WR
 * @param rmr_context  out: the new key, host byte order
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_LMR           lmr_handle does not name a region made for linking
 * @retval IT_ERR_INVALID_PZ            the region and the endpoint are in different zones
 * @retval IT_ERR_FAULT                 iobl or rmr_context is NULL
 * @retval IT_ERR_INVALID_PRIVS         unknown bit
 * @retval IT_ERR_INVALID_ADDR_MODE     no such mode, or one the IA lacks
 * @retval IT_ERR_INVALID_IOBL          the list makes no sense or is longer than the region
 *                                      permits
 * @retval IT_ERR_INVALID_LENGTH        0, or more than the list covers
 * @retval IT_ERR_OP_NOT_SUPPORTED      lmr_link_support of the IA is IT_FALSE
 * @retval IT_ERR_PRIV_OPS_UNAVAILABLE  priv_ops_enable of the endpoint is IT_FALSE
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_LMR_LINK_CMPL_EVENT on the request EVD; its status is
 * IT_DTO_ERR_LOCAL_MM_OPERATION if the region has memory already.
 * Threads: any thread; requests run in the order in which they were posted.
 * Source: IT-API 2.1.
 */
it_status_t it_lmr_link(it_lmr_handle_t lmr_handle, const void *addr, const it_iobl_t *iobl,
                        it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                        it_ep_handle_t ep_handle, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                        it_rmr_context_t *rmr_context);

/**
 * Posts a request that takes the memory away from a linked region; when it has run, the key is
 * invalid. Adapters of this library cannot do this.
 *
 * @param lmr_handle  a region made by it_lmr_create_unlinked
 * @param ep_handle   the RC endpoint whose request queue runs the request
 * @param cookie      given back in the completion
 * @param dto_flags   it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE, UNLINK_FENCE,
 *                    COALESCE_WR
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_LMR           lmr_handle does not name a region made for linking
 * @retval IT_ERR_INVALID_PZ            the region and the endpoint are in different zones
 * @retval IT_ERR_OP_NOT_SUPPORTED      lmr_link_support of the IA is IT_FALSE
 * @retval IT_ERR_PRIV_OPS_UNAVAILABLE  priv_ops_enable of the endpoint is IT_FALSE
 * @retval IT_ERR_LMR_BUSY              RMRs are linked to the region
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_LMR_LINK_CMPL_EVENT on the request EVD.
 * Threads: any thread; requests run in the order in which they were posted.
 * Source: IT-API 2.1.
 */
it_status_t it_lmr_unlink(it_lmr_handle_t lmr_handle, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags);

/**
 * Moves a region to another zone, changes its rights, or both. The region then has a new key, which
 * the program must read again; the old key is invalid. A region whose key was invalidated (by
 * it_post_send_and_unlink of a peer, or by a read with IT_UNLINK_LOCAL_SINK) is thereby linked
 * again.
 *
 * @param lmr_handle  the region; no operation may be using it, posted receives included
 * @param mask        IT_LMR_PARAM_PZ, IT_LMR_PARAM_MEM_PRIV or both. With ITX_LMR_KEEP_KEY, too
 *                    (itx_api.h, uiwarp only), the region keeps its key
 * @param params      the new values; copied
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_LMR       lmr_handle does not name a region
 * @retval IT_ERR_INVALID_PZ        params->pz does not name a zone of this IA
 * @retval IT_ERR_FAULT             params is NULL
 * @retval IT_ERR_INVALID_MASK      any other bit
 * @retval IT_ERR_INVALID_PRIVS     rights that do not exist or do not go together
 * @retval IT_ERR_ACCESS            the pages are protected against that kind of access
 * @retval IT_ERR_LMR_BUSY          RMRs are linked to the region
 * @retval IT_ERR_OP_NOT_SUPPORTED  the IA cannot do it (uiwarp can)
 * @retval IT_ERR_RESOURCES         memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE    the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, while no operation uses the region.
 * Source: IT-API 2.1.
 */
it_status_t it_lmr_modify(it_lmr_handle_t lmr_handle, it_lmr_param_mask_t mask,
                          const it_lmr_param_t *params);

/**
 * Reads properties of a region.
 *
 * @param lmr_handle  the region
 * @param mask        which members to read
 * @param params      out: the members asked for
 *
 * @retval IT_SUCCESS           done
 * @retval IT_ERR_INVALID_LMR   lmr_handle does not name a region
 * @retval IT_ERR_FAULT         params is NULL
 * @retval IT_ERR_INVALID_MASK  a bit that does not exist
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_lmr_query(it_lmr_handle_t lmr_handle, it_lmr_param_mask_t mask,
                         it_lmr_param_t *params);

/**
 * Ends a registration. On return the key is invalid and the library no longer accesses the memory;
 * operations that would still need it fail with a protection error.
 *
 * @param lmr_handle  the region
 *
 * @retval IT_SUCCESS          done
 * @retval IT_ERR_INVALID_LMR  lmr_handle does not name a region, or is the direct LMR handle
 * @retval IT_ERR_LMR_BUSY     RMRs are linked to the region
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, while no operation uses the region.
 * Source: IT-API 2.1.
 */
it_status_t it_lmr_free(it_lmr_handle_t lmr_handle);

/**
 * Makes the CPU's writes to non-coherent regions (IT_LMR_FLAG_NONCOHERENT) visible to the IA.
 * Called before a peer reads the memory or a send takes data from it. In user space all memory is
 * coherent, so the call is a memory barrier.
 *
 * @param local_segments  the memory concerned
 * @param num_segments    number of segments; 0 is allowed and does nothing
 *
 * @retval IT_SUCCESS                   done
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_FAULT                 local_segments is NULL while there should be segments
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than 65536
 * @retval IT_ERR_RANGE                 a segment is not inside its region
 * @retval IT_ERR_IA_CATASTROPHE        the IA of a region has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1; called it_lmr_sync_rdma_read in 1.0.
 */
it_status_t it_lmr_flush_to_mem(const it_lmr_triplet_t *local_segments, size_t num_segments);

/**
 * Makes the IA's writes to non-coherent regions (IT_LMR_FLAG_NONCOHERENT) visible to the CPU.
 * Called after a peer has written and before the program reads the memory. In user space all memory
 * is coherent, so the call is a memory barrier.
 *
 * @param local_segments  the memory concerned
 * @param num_segments    number of segments; 0 is allowed and does nothing
 *
 * @retval IT_SUCCESS                   done
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_FAULT                 local_segments is NULL while there should be segments
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than 65536
 * @retval IT_ERR_RANGE                 a segment is not inside its region
 * @retval IT_ERR_IA_CATASTROPHE        the IA of a region has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1; called it_lmr_sync_rdma_write in 1.0.
 */
it_status_t it_lmr_refresh_from_mem(const it_lmr_triplet_t *local_segments, size_t num_segments);

/* ==============================================================================================
 * Remote Memory Region (RMR)
 * ============================================================================================== */

/**
 * Creates a memory window of the default type, not linked yet. uiwarp makes it narrow.
 *
 * @param pz_handle   the protection zone the window belongs to
 * @param rmr_handle  out: the window, to be destroyed with it_rmr_free
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_PZ        pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT             rmr_handle is NULL
 * @retval IT_ERR_INVALID_RMR_TYPE  the IA has no windows (rmr_types_supported is 0)
 * @retval IT_ERR_RESOURCES         memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE    the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_rmr_create10(it_pz_handle_t pz_handle, it_rmr_handle_t *rmr_handle);

/**
 * Creates a memory window of a chosen type, not linked yet. A narrow window is for the one
 * connection on which it was linked, a wide one for all endpoints of the zone.
 *
 * @param pz_handle   the protection zone the window belongs to
 * @param rmr_type    narrow (one endpoint), wide (the whole zone) or default
 * @param rmr_handle  out: the window, to be destroyed with it_rmr_free
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_PZ        pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT             rmr_handle is NULL
 * @retval IT_ERR_INVALID_RMR_TYPE  no such type, or one the IA lacks
 * @retval IT_ERR_RESOURCES         memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE    the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_rmr_create20(it_pz_handle_t pz_handle, it_rmr_type_t rmr_type,
                            it_rmr_handle_t *rmr_handle);

/**
 * Links a window, in the form of version 1.0: always by virtual address, which a region with
 * offsets does not permit (IT_ERR_INVALID_ADDR_MODE). Otherwise the same as it_rmr_link.
 *
 * @param rmr_handle   the window
 * @param lmr_handle   the region to open a part of
 * @param addr         first byte of that part
 * @param length       bytes, at least 1
 * @param privs        what peers may do: IT_PRIV_REMOTE_READ, IT_PRIV_REMOTE_WRITE,
 *                     IT_PRIV_ATOMIC
 * @param ep_handle    the RC endpoint whose request queue runs the request
 * @param cookie       given back in the completion
 * @param dto_flags    it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE, COALESCE_WR
 * @param rmr_context  out: the new key, host byte order
 *
 * @retval IT_SUCCESS                accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP         ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_RMR        rmr_handle does not name a window
 * @retval IT_ERR_INVALID_LMR        lmr_handle does not name a region that has memory
 * @retval IT_ERR_INVALID_PZ         window, region and endpoint are not all in one zone
 * @retval IT_ERR_FAULT              rmr_context is NULL
 * @retval IT_ERR_INVALID_PRIVS      no remote right, a local right, or an unknown bit
 * @retval IT_ERR_INVALID_LENGTH     length is 0
 * @retval IT_ERR_RANGE              that part is not inside the region
 * @retval IT_ERR_ACCESS             the region lacks the local right on which a remote right
 *                                   rests (reading: local read; writing and atomics: local
 *                                   write)
 * @retval IT_ERR_INVALID_ADDR_MODE  the region is one with offsets
 * @retval IT_ERR_INVALID_EP_TYPE    a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS  a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE   the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS     the request queue is full, or there is no key left
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: IT_RMR_BIND_CMPL_EVENT on the request EVD.
 * Threads: any thread; requests run in the order in which they were posted.
 * Source: IT-API 2.1.
 */
it_status_t it_rmr_bind10(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                          it_length_t length, it_mem_priv_t privs, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                          it_rmr_context_t *rmr_context);

/**
 * Posts a request that gives peers access to part of a region. The new key is returned at once and
 * valid for everything posted later on the same endpoint. A window that is already linked moves;
 * its old key then becomes invalid, and once the request has completed no byte moves through it.
 *
 * While a window is linked, and from the moment a link has been posted, its region cannot be freed
 * or modified; while a narrow one is linked, its endpoint cannot be freed either. A narrow window
 * can be used over the connection on which it was linked, and over no later connection of the
 * endpoint.
 *
 * @param rmr_handle   the window
 * @param lmr_handle   the region to open a part of
 * @param addr         first byte of that part
 * @param length       bytes, at least 1
 * @param addr_mode    how peers address it, by virtual address or by offset from addr
 * @param privs        what peers may do: IT_PRIV_REMOTE_READ, IT_PRIV_REMOTE_WRITE,
 *                     IT_PRIV_ATOMIC
 * @param ep_handle    the RC endpoint whose request queue runs the request
 * @param cookie       given back in the completion
 * @param dto_flags    it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE, COALESCE_WR
 * @param rmr_context  out: the new key, host byte order
 *
 * @retval IT_SUCCESS                accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP         ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_RMR        rmr_handle does not name a window
 * @retval IT_ERR_INVALID_LMR        lmr_handle does not name a region that is linked
 * @retval IT_ERR_INVALID_PZ         window, region and endpoint are not all in one zone
 * @retval IT_ERR_FAULT              rmr_context is NULL
 * @retval IT_ERR_INVALID_PRIVS      no remote right, a local right, or an unknown bit
 * @retval IT_ERR_INVALID_LENGTH     length is 0
 * @retval IT_ERR_RANGE              that part is not inside the region
 * @retval IT_ERR_ACCESS             the region lacks the local right on which a remote right
 *                                   rests (reading: local read; writing and atomics: local
 *                                   write)
 * @retval IT_ERR_INVALID_ADDR_MODE  no such mode, one that the IA lacks, or virtual addresses on
 *                                   a region with offsets
 * @retval IT_ERR_INVALID_EP_TYPE    a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS  a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE   the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS     the request queue is full, or there is no key left
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: IT_RMR_LINK_CMPL_EVENT on the request EVD. A window that was freed in between is
 * unlinked, and the request succeeds; a device may fail it, and break the connection.
 * Threads: any thread; requests run in the order in which they were posted.
 * Source: IT-API 2.1.
 */
it_status_t it_rmr_link(it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                        it_length_t length, it_addr_mode_t addr_mode, it_mem_priv_t privs,
                        it_ep_handle_t ep_handle, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                        it_rmr_context_t *rmr_context);

/**
 * Posts a request that closes a window. When it has run, the key is invalid; once it has completed,
 * no byte moves through the window. A window that is not linked (perhaps because a peer has
 * unlinked it first) stays so, which is no failure. Any endpoint of the zone can be used.
 * IT_UNLINK_FENCE_FLAG holds the request back until everything posted before has finished.
 *
 * @param rmr_handle  the window
 * @param ep_handle   the RC endpoint whose request queue runs the request
 * @param cookie      given back in the completion
 * @param dto_flags   it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE, UNLINK_FENCE,
 *                    COALESCE_WR
 *
 * @retval IT_SUCCESS                accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP         ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_RMR        rmr_handle does not name a window
 * @retval IT_ERR_INVALID_PZ         the window and the endpoint are in different zones
 * @retval IT_ERR_OP_NOT_SUPPORTED   the IA cannot unlink windows of this type, or has none
 * @retval IT_ERR_INVALID_EP_TYPE    a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS  a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE   the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS     the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: IT_RMR_LINK_CMPL_EVENT on the request EVD.
 * Threads: any thread; requests run in the order in which they were posted.
 * Source: IT-API 2.1; called it_rmr_unbind in 1.0.
 */
it_status_t it_rmr_unlink(it_rmr_handle_t rmr_handle, it_ep_handle_t ep_handle,
                          it_dto_cookie_t cookie, it_dto_flags_t dto_flags);

/**
 * Reads properties of a window. While a link is in progress they may be those from before or after
 * it.
 *
 * @param rmr_handle  the window
 * @param mask        which members to read
 * @param params      out: the members asked for
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_RMR       rmr_handle does not name a window
 * @retval IT_ERR_FAULT             params is NULL
 * @retval IT_ERR_INVALID_MASK      a bit that does not exist
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_rmr_query(it_rmr_handle_t rmr_handle, it_rmr_param_mask_t mask,
                         it_rmr_param_t *params);

/**
 * Destroys a window; an open window is closed. On return its key is invalid and no byte moves
 * through it. A posted link of the window that has not been executed fails.
 *
 * @param rmr_handle  the window
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_RMR       rmr_handle does not name a window
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, while no operation uses the window.
 * Source: IT-API 2.1.
 */
it_status_t it_rmr_free(it_rmr_handle_t rmr_handle);

/* ==============================================================================================
 * Shared Receive Queue (S-RQ)
 * ============================================================================================== */

/**
 * Creates a queue of receives that several RC endpoints share. Each arriving message takes the
 * oldest receive, whichever endpoint it is for; the completion is queued on that endpoint's receive
 * EVD. As soon as a message has taken a receive, there is room for another one. Note the order of
 * the two numbers.
 *
 * @param pz_handle          the protection zone the queue belongs to
 * @param max_recv_segments  segments per receive
 * @param max_recv_dtos      receives the queue can hold
 * @param srq_handle         out: the queue, to be destroyed with it_srq_free
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_PZ         pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT              srq_handle is NULL
 * @retval IT_ERR_INVALID_SRQ_SIZE   max_recv_dtos is 0
 * @retval IT_ERR_RESOURCE_RECV_DTO  max_recv_dtos is more than the IA can provide
 * @retval IT_ERR_RESOURCE_RSEG      max_recv_segments is more than the IA can provide
 * @retval IT_ERR_SRQ_NOT_SUPPORTED  srq_support of the IA is IT_FALSE
 * @retval IT_ERR_RESOURCES          memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_srq_create(it_pz_handle_t pz_handle, size_t max_recv_segments, size_t max_recv_dtos,
                          it_srq_handle_t *srq_handle);

/**
 * Reads properties of a shared receive queue.
 *
 * @param srq_handle  the queue
 * @param mask        which members to read
 * @param params      out: the members asked for
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_SRQ       srq_handle does not name an S-RQ
 * @retval IT_ERR_FAULT             params is NULL
 * @retval IT_ERR_INVALID_MASK      a bit that does not exist
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_srq_query(it_srq_handle_t srq_handle, it_srq_param_mask_t mask,
                         it_srq_param_t *params);

/**
 * Changes the depth of a shared receive queue or arms its low watermark: when fewer receives are
 * left than the watermark, one event warns the program. If fewer are left already, the event comes
 * at once. After the event the watermark is off (a query shows 0) until it is set again.
 *
 * @param srq_handle  the queue
 * @param mask        IT_SRQ_PARAM_MAX_RECV_DTO, IT_SRQ_PARAM_LOW_WATERMARK or both
 * @param params      the new values; copied
 *
 * @retval IT_SUCCESS                done
 * @retval IT_ERR_INVALID_SRQ        srq_handle does not name an S-RQ
 * @retval IT_ERR_FAULT              params is NULL
 * @retval IT_ERR_INVALID_MASK       any other bit
 * @retval IT_ERR_INVALID_SRQ_SIZE   a depth of 0, or not enough for what is posted
 * @retval IT_ERR_RESOURCE_RECV_DTO  the IA cannot provide the depth, or memory runs out
 * @retval IT_ERR_SRQ_LOW_WATERMARK  the watermark exceeds the depth
 * @retval IT_ERR_OP_NOT_SUPPORTED   a new depth where srq_resizable is IT_FALSE
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: none for the call; later IT_ASYNC_AFF_SRQ_LOW_WATERMARK on the EVD for affiliated
 * errors.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_srq_modify(it_srq_handle_t srq_handle, it_srq_param_mask_t mask,
                          const it_srq_param_t *params);

/**
 * Destroys a shared receive queue that no endpoint uses. Receives still in it are dropped without a
 * completion.
 *
 * @param srq_handle  the queue
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_SRQ       srq_handle does not name an S-RQ
 * @retval IT_ERR_SRQ_BUSY          an endpoint draws from it
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_srq_free(it_srq_handle_t srq_handle);

/* ==============================================================================================
 * Data transfer on RC endpoints (DTO)
 * ============================================================================================== */

/*
 * The functions below neither block nor wait for the peer. The segment array is copied; the
 * buffers it names belong to the library until the operation completes. An operation that
 * succeeds without IT_COMPLETION_FLAG gives no event; receives, and operations that fail, always
 * give one. Completions of one queue come in the order of posting. On an endpoint in state
 * NONOPERATIONAL every post succeeds and completes with IT_DTO_ERR_FLUSHED. A segment outside
 * its region, without the local right or of another zone is found when the operation runs: it
 * completes with IT_DTO_ERR_LOCAL_PROTECTION and the connection breaks. An operation keeps its
 * slot in the queue until its completion event, or a later one of the same queue, has been
 * dequeued.
 */

/**
 * Sends a message that consists of the segments, one after the other; the peer needs a receive for
 * it. The completion means that the buffers can be reused, not that the peer has received the
 * message. RDMA Writes posted earlier are in place when the peer's receive completes.
 *
 * @param ep_handle       a connected RC endpoint
 * @param local_segments  the message; NULL is allowed with num_segments 0
 * @param num_segments    number of segments, at most max_send_segments; 0 sends an empty message
 * @param cookie          given back in the completion
 * @param dto_flags       it_dto_flags_t bits: COMPLETION, NOTIFY, SOLICITED_WAIT, BARRIER_FENCE,
 *                        COALESCE_WR
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_FAULT                 local_segments is NULL while there should be segments
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_send_segments
 * @retval IT_ERR_PAYLOAD_SIZE          the segments add up to more than max_dto_payload_size
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_DTO_SEND_CMPL_EVENT on the request EVD.
 * Threads: any thread; the order in which calls return is the order on the wire.
 * Source: IT-API 2.1; RFC 5040 (Send, Send with Solicited Event).
 */
it_status_t it_post_send(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                         size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags);

/**
 * Sends a message as it_post_send does and also invalidates a key of the peer: when the peer's
 * receive completes, the region or window with that key is no longer accessible, and the completion
 * names it in unlinked_mr_handle.
 *
 * A peer can unlink only what no other connection can use: a narrow window of this connection, or,
 * if the zone has no other endpoint, a wide window or a region without windows. Anything else
 * breaks the connection. Only the region's key becomes invalid; the peer's own requests still use
 * the memory.
 *
 * @param ep_handle       a connected RC endpoint
 * @param local_segments  the message; NULL is allowed with num_segments 0
 * @param num_segments    number of segments, at most max_send_segments
 * @param cookie          given back in the completion
 * @param dto_flags       it_dto_flags_t bits: COMPLETION, NOTIFY, SOLICITED_WAIT, BARRIER_FENCE,
 *                        COALESCE_WR
 * @param rmr_context     the peer's key, host byte order
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_FAULT                 local_segments is NULL while there should be segments
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_send_segments
 * @retval IT_ERR_PAYLOAD_SIZE          the segments add up to more than max_dto_payload_size
 * @retval IT_ERR_OP_NOT_SUPPORTED      post_send_unlink_remote_support of the IA is IT_FALSE
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_DTO_SEND_CMPL_EVENT on the request EVD.
 * Threads: any thread; the order in which calls return is the order on the wire.
 * Source: IT-API 2.1; RFC 5040 (Send with Invalidate).
 */
it_status_t it_post_send_and_unlink(it_ep_handle_t ep_handle,
                                    const it_lmr_triplet_t *local_segments, size_t num_segments,
                                    it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                                    it_rmr_context_t rmr_context);

/**
 * Posts a buffer for one incoming message, on an RC endpoint in any state or on a shared receive
 * queue. Buffers are filled in the order of posting. A message longer than its buffer ends the
 * receive with IT_DTO_ERR_LOCAL_LENGTH and breaks the connection.
 *
 * @param handle          an RC endpoint or an S-RQ
 * @param local_segments  the buffer; NULL is allowed with num_segments 0
 * @param num_segments    number of segments, at most max_recv_segments
 * @param cookie          given back in the completion
 * @param dto_flags       it_dto_flags_t bits: COMPLETION, NOTIFY, COALESCE_WR
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_HANDLE        handle names neither an endpoint nor an S-RQ
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_FAULT                 local_segments is NULL while there should be segments
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint, which needs it_post_recvfrom
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_recv_segments
 * @retval IT_ERR_INVALID_RECV_DTO      the endpoint draws its receives from an S-RQ
 * @retval IT_ERR_TOO_MANY_POSTS        the receive queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_DTO_RC_RECV_CMPL_EVENT on the receive EVD of the endpoint that got the message;
 * always.
 * Threads: any thread.
 * Source: IT-API 2.1; RFC 5041 (untagged buffers).
 */
it_status_t it_post_recv(it_handle_t handle, const it_lmr_triplet_t *local_segments,
                         size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags);

/**
 * Writes the segments, one after the other, to a peer's memory. The peer's program is not notified;
 * a send posted afterwards notifies it and finds the data in place.
 *
 * @param ep_handle       a connected RC endpoint
 * @param local_segments  the data; NULL is allowed with num_segments 0
 * @param num_segments    number of segments, at most max_rdma_write_segments
 * @param cookie          given back in the completion
 * @param dto_flags       it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE, COALESCE_WR
 * @param rdma_addr       where to write, in the terms of the peer's region; host byte order
 * @param rmr_context     the key of that region, host byte order
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_FAULT                 local_segments is NULL while there should be segments
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_rdma_write_segments
 * @retval IT_ERR_PAYLOAD_SIZE          the segments add up to more than the IA allows in a message
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_DTO_RDMA_WRITE_CMPL_EVENT on the request EVD. With iWARP it may be a success
 * although the peer refuses the data later; then the connection breaks.
 * Threads: any thread; the order in which calls return is the order on the wire.
 * Source: IT-API 2.1; RFC 5040 (RDMA Write).
 */
it_status_t it_post_rdma_write(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                               size_t num_segments, it_dto_cookie_t cookie,
                               it_dto_flags_t dto_flags, it_rdma_addr_t rdma_addr,
                               it_rmr_context_t rmr_context);

/**
 * Reads from a peer's memory into the segments. The ORD of the endpoint limits how many reads are
 * outstanding; further ones wait. The data is in place when the read completes. On an endpoint
 * whose ORD is 0 it completes with IT_DTO_ERR_LOCAL_EP.
 *
 * With IT_UNLINK_LOCAL_SINK the key of the sink is invalid when the read completes, and the
 * completion names the region in unlinked_mr_handle; if windows are linked to the region, the read
 * fails with IT_DTO_ERR_LOCAL_MM_OPERATION.
 *
 * @param ep_handle       a connected RC endpoint
 * @param local_segments  where the data goes; NULL is allowed with num_segments 0
 * @param num_segments    number of segments, at most max_rdma_read_segments
 * @param cookie          given back in the completion
 * @param dto_flags       it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE, COALESCE_WR;
 *                        UNLINK_LOCAL_SINK with one segment where rdma_read_local_extensions is
 *                        IT_TRUE
 * @param rdma_addr       where to read, in the terms of the peer's region; host byte order
 * @param rmr_context     the key of that region, host byte order
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_FAULT                 local_segments is NULL while there should be segments
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_rdma_read_segments
 * @retval IT_ERR_PAYLOAD_SIZE          the segments add up to more than the IA allows in a message
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_DTO_RDMA_READ_CMPL_EVENT on the request EVD.
 * Threads: any thread; the order in which calls return is the order on the wire.
 * Source: IT-API 2.1; RFC 5040 (RDMA Read).
 */
it_status_t it_post_rdma_read(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                              size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                              it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context);

/**
 * Reads from a peer's memory as it_post_rdma_read does, into memory named by windows instead of
 * regions. A window must permit remote writing and, if it is narrow, be linked on this endpoint; it
 * counts as linked once its link has been posted. The read goes to the memory that the window is
 * linked to when the read starts. With IT_UNLINK_LOCAL_SINK the window is unlinked when the read
 * completes.
 *
 * @param ep_handle       a connected RC endpoint
 * @param local_segments  where the data goes; NULL is allowed with num_segments 0
 * @param num_segments    number of segments, at most max_rdma_read_segments
 * @param cookie          given back in the completion
 * @param dto_flags       it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE,
 *                        UNLINK_LOCAL_SINK (one segment), COALESCE_WR
 * @param rdma_addr       where to read, in the terms of the peer's region; host byte order
 * @param rmr_context     the key of that region, host byte order
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_RMR           a segment names no window, or one that is not linked
 * @retval IT_ERR_FAULT                 local_segments is NULL while there should be segments
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_rdma_read_segments
 * @retval IT_ERR_PAYLOAD_SIZE          the segments add up to more than the IA allows in a message
 * @retval IT_ERR_OP_NOT_SUPPORTED      rdma_read_local_extensions of the IA is IT_FALSE
 * @retval IT_ERR_INVALID_EP_TYPE       a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE      the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_DTO_RDMA_READ_CMPL_EVENT on the request EVD.
 * Threads: any thread; the order in which calls return is the order on the wire.
 * Source: IT-API 2.1; RFC 5040 (RDMA Read).
 */
it_status_t it_post_rdma_read_to_rmr(it_ep_handle_t ep_handle,
                                     const it_rmr_triplet_t *local_segments, size_t num_segments,
                                     it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                                     it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context);

/**
 * Changes 8 bytes of a peer's memory in one atomic step and fetches their old value. The peer's
 * endpoint needs atomics_enable, its region IT_PRIV_ATOMIC. The operation counts towards the ORD
 * like a read and runs in its place among the writes and sends of this endpoint. It is atomic with
 * respect to the atomic operations of all endpoints and, on uiwarp, of the peer's processor. A read
 * posted before it may see its result, unless the atomic operation carries IT_BARRIER_FENCE_FLAG.
 *
 * Nothing on the wire of iWARP shows whether the peer supports atomics (RFC 7306). A peer that does
 * not ends the connection, and the operation completes with IT_DTO_ERR_REMOTE_RESPONDER.
 *
 * @param ep_handle    a connected RC endpoint
 * @param op           IT_COMPARE_AND_SWAP or IT_FETCH_AND_ADD
 * @param swap_or_add  compare and swap: the value to store; fetch and add: the value to add
 * @param compare      compare and swap: the old value needed for the store; not looked at
 *                     otherwise
 * @param result       one segment of 8 bytes, aligned to 8, for the old value
 * @param cookie       given back in the completion
 * @param dto_flags    it_dto_flags_t bits: COMPLETION, NOTIFY, BARRIER_FENCE, COALESCE_WR
 * @param rdma_addr    the 8 bytes, in the terms of the peer's region, aligned to 8; host byte
 *                     order
 * @param rmr_context  the key of that region, host byte order
 *
 * @retval IT_SUCCESS                accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP         ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_LMR        result does not name a region
 * @retval IT_ERR_FAULT              result is NULL
 * @retval IT_ERR_INVALID_ATOMIC_OP  no such operation
 * @retval IT_ERR_INVALID_LENGTH     result is not 8 bytes long
 * @retval IT_ERR_ADDRESS            rdma_addr or the result's address is not a multiple of 8
 * @retval IT_ERR_OP_NOT_SUPPORTED   atomic_support of the IA is IT_FALSE
 * @retval IT_ERR_INVALID_EP_TYPE    a datagram endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS  a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_EP_STATE   the endpoint is neither CONNECTED nor NONOPERATIONAL
 * @retval IT_ERR_TOO_MANY_POSTS     the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE     the IA has failed
 *
 * Completion: IT_DTO_CMP_SWAP_CMPL_EVENT or IT_DTO_FETCH_ADD_CMPL_EVENT on the request EVD.
 * Threads: any thread; the order in which calls return is the order on the wire.
 * Source: IT-API 2.1; RFC 7306 (atomic operations).
 */
it_status_t it_post_atomic(it_ep_handle_t ep_handle, it_atomic_op_t op, uint64_t swap_or_add,
                           uint64_t compare, const it_lmr_triplet_t *result, it_dto_cookie_t cookie,
                           it_dto_flags_t dto_flags, it_rdma_addr_t rdma_addr,
                           it_rmr_context_t rmr_context);

/* ==============================================================================================
 * Unreliable datagrams (UD)
 * ============================================================================================== */

/*
 * iWARP has no datagrams, and supported_service_types of its adapters says so. There the calls that
 * create UD objects look at handles, pointers, flags and paths and then return
 * IT_ERR_OP_NOT_SUPPORTED. All endpoints are connected ones (IT_ERR_INVALID_EP_TYPE), and no handle
 * or identifier names an address handle or a service request.
 */

/**
 * Sends one datagram.
 *
 * @param ep_handle       a UD endpoint
 * @param local_segments  the message; NULL is allowed with num_segments 0
 * @param num_segments    number of segments, at most max_send_segments
 * @param cookie          given back in the completion
 * @param dto_flags       it_dto_flags_t bits: COMPLETION, NOTIFY, SOLICITED_WAIT, COALESCE_WR
 * @param remote_ep_addr  the destination; copied
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_AH            the destination's address handle is bad or of another
 *                                      zone
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_FAULT                 remote_ep_addr is NULL, or local_segments is while there
 *                                      should be segments
 * @retval IT_ERR_INVALID_EP_TYPE       an RC endpoint, or a destination of unknown kind
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_send_segments
 * @retval IT_ERR_PAYLOAD_SIZE          the segments add up to more than max_dto_payload_size
 * @retval IT_ERR_TOO_MANY_POSTS        the request queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_DTO_SEND_CMPL_EVENT on the request EVD: the datagram has left.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_post_sendto(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                           size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags,
                           const it_dg_remote_ep_addr_t *remote_ep_addr);

/**
 * Posts a buffer for one incoming datagram. On InfiniBand its first 40 bytes are set aside for
 * the global routing header, whether one comes or not.
 *
 * @param ep_handle       a UD endpoint
 * @param local_segments  the buffer; NULL is allowed with num_segments 0
 * @param num_segments    number of segments, at most max_recv_segments
 * @param cookie          given back in the completion
 * @param dto_flags       it_dto_flags_t bits: COMPLETION, NOTIFY, COALESCE_WR
 *
 * @retval IT_SUCCESS                   accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_EP            ep_handle does not name an endpoint
 * @retval IT_ERR_INVALID_LMR           a segment does not name a region
 * @retval IT_ERR_FAULT                 local_segments is NULL while there should be segments
 * @retval IT_ERR_INVALID_EP_TYPE       an RC endpoint
 * @retval IT_ERR_INVALID_DTO_FLAGS     a flag that does not exist or does not apply
 * @retval IT_ERR_INVALID_NUM_SEGMENTS  more than max_recv_segments
 * @retval IT_ERR_TOO_MANY_POSTS        the receive queue is full
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: IT_DTO_UD_RECV_CMPL_EVENT on the receive EVD; always.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_post_recvfrom(it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                             size_t num_segments, it_dto_cookie_t cookie, it_dto_flags_t dto_flags);

/**
 * Prepares a request to a remote service, which asks for the datagram endpoint to use. It belongs
 * to the IA of the reply EVD.
 *
 * @param conn_qual            the service; copied
 * @param reply_evd            simple EVD of the CM message stream for the answer
 * @param destination_path     where the service is; copied
 * @param private_data         bytes for the service; copied
 * @param private_data_length  their count; the limit is ud_req_private_data_len of it_ia_info_t
 * @param ud_svc_handle        out: the request, to be destroyed with
 *                             it_ud_service_request_handle_free
 *
 * @retval IT_SUCCESS                   done
 * @retval IT_ERR_INVALID_EVD           reply_evd does not name an EVD
 * @retval IT_ERR_INVALID_EVD_TYPE      reply_evd is of another stream
 * @retval IT_ERR_AEVD_NOT_ALLOWED      reply_evd is an AEVD
 * @retval IT_ERR_FAULT                 conn_qual, destination_path or ud_svc_handle is NULL, or
 *                                      private_data is while it has a length
 * @retval IT_ERR_INVALID_CONN_QUAL     a kind of qualifier that cannot be used here
 * @retval IT_ERR_INVALID_SOURCE_PATH   the path starts at an address the IA does not have
 * @retval IT_ERR_INVALID_ADDRESS       the path leads to an address that cannot be a destination
 * @retval IT_ERR_INVALID_PDATA_LENGTH  more private data than the IA carries here
 * @retval IT_ERR_PDATA_NOT_SUPPORTED   private data on an IA that carries none at all
 * @retval IT_ERR_OP_NOT_SUPPORTED      no datagram service
 * @retval IT_ERR_RESOURCES             out of memory
 * @retval IT_ERR_IA_CATASTROPHE        the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ud_service_request_handle_create(const it_conn_qual_t *conn_qual,
                                                it_evd_handle_t reply_evd,
                                                const it_path_t *destination_path,
                                                const unsigned char *private_data,
                                                size_t private_data_length,
                                                it_ud_svc_req_handle_t *ud_svc_handle);

/**
 * Reads properties of a prepared request.
 *
 * @param ud_svc_handle       the request
 * @param mask                which members to read
 * @param ud_svc_handle_info  out: the members asked for
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_UD_SVC    ud_svc_handle does not name a UD service request
 * @retval IT_ERR_FAULT             ud_svc_handle_info is NULL
 * @retval IT_ERR_INVALID_MASK      a bit that does not exist
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ud_service_request_handle_query(it_ud_svc_req_handle_t ud_svc_handle,
                                               it_ud_svc_req_param_mask_t mask,
                                               it_ud_svc_req_param_t *ud_svc_handle_info);

/**
 * Destroys a prepared request. An answer that has not been delivered is lost.
 *
 * @param ud_svc_handle  the request
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_UD_SVC    ud_svc_handle does not name a UD service request
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ud_service_request_handle_free(it_ud_svc_req_handle_t ud_svc_handle);

/**
 * Sends a prepared request; after the answer it can be sent again.
 *
 * @param ud_svc_handle  the request
 *
 * @retval IT_SUCCESS               accepted; the outcome follows as an event
 * @retval IT_ERR_INVALID_UD_SVC    ud_svc_handle does not name a UD service request
 * @retval IT_ERR_RESOURCES         memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE    the IA has failed
 *
 * Completion: IT_CM_MSG_UD_SERVICE_REPLY_EVENT on the reply EVD; without an answer in time its
 * status is IT_UD_SVC_REQ_REJECTED and there is no private data.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ud_service_request(it_ud_svc_req_handle_t ud_svc_handle);

/**
 * Answers a request from a peer; its identifier is used up.
 *
 * @param ud_svc_req_id        from the IT_CM_REQ_UD_SERVICE_REQUEST_EVENT
 * @param status               the answer
 * @param ep_info              the endpoint to use; only looked at with IT_UD_SVC_EP_INFO_VALID
 * @param private_data         bytes for the peer's reply event; copied
 * @param private_data_length  their count; the limit is ud_rep_private_data_len of it_ia_info_t
 *
 * @retval IT_SUCCESS                    done
 * @retval IT_ERR_INVALID_UD_SVC_REQ_ID  no such request is waiting for an answer
 * @retval IT_ERR_FAULT                  private_data is NULL while it has a length
 * @retval IT_ERR_INVALID_UD_STATUS      no such status
 * @retval IT_ERR_INVALID_PDATA_LENGTH   more private data than the IA carries here
 * @retval IT_ERR_PDATA_NOT_SUPPORTED    private data on an IA that carries none at all
 * @retval IT_ERR_RESOURCES              memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE         the IA has failed
 *
 * Completion: none on this side.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_ud_service_reply(it_ud_svc_req_identifier_t ud_svc_req_id,
                                it_ud_svc_req_status_t status, it_remote_ep_info_t ep_info,
                                const unsigned char *private_data, size_t private_data_length);

/* ==============================================================================================
 * Address handle (destination of datagrams)
 * ============================================================================================== */

/**
 * Creates an address handle for a path. Unless IT_AH_PATH_COMPLETE is given, missing parts of
 * the path are looked up, which may block.
 *
 * @param pz_handle         the protection zone the address handle belongs to
 * @param destination_path  the path; copied
 * @param ah_flags          it_ah_flags_t bits, or 0
 * @param addr_handle       out: the address handle, to be destroyed with it_address_handle_free
 *
 * @retval IT_SUCCESS                  done
 * @retval IT_ERR_INVALID_PZ           pz_handle does not name a protection zone
 * @retval IT_ERR_FAULT                destination_path or addr_handle is NULL
 * @retval IT_ERR_INVALID_FLAGS        unknown bit
 * @retval IT_ERR_INVALID_SPIGOT       the path starts at a Spigot the IA does not have
 * @retval IT_ERR_INVALID_SOURCE_PATH  the path starts at an address the IA does not have
 * @retval IT_ERR_INVALID_ADDRESS      the path leads nowhere
 * @retval IT_ERR_OP_NOT_SUPPORTED     no datagram service
 * @retval IT_ERR_RESOURCES            memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE       the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_address_handle_create(it_pz_handle_t pz_handle, const it_path_t *destination_path,
                                     it_ah_flags_t ah_flags, it_addr_handle_t *addr_handle);

/**
 * Reads properties of an address handle.
 *
 * @param addr_handle  the address handle
 * @param mask         which members to read
 * @param params       out: the members asked for
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_AH        addr_handle does not name an address handle
 * @retval IT_ERR_FAULT             params is NULL
 * @retval IT_ERR_INVALID_MASK      a bit that does not exist
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_address_handle_query(it_addr_handle_t addr_handle, it_addr_param_mask_t mask,
                                    it_addr_param_t *params);

/**
 * Gives an address handle another path.
 *
 * @param addr_handle  the address handle
 * @param mask         IT_ADDR_PARAM_PATH
 * @param params       the new value; copied
 *
 * @retval IT_SUCCESS                  done
 * @retval IT_ERR_INVALID_AH           addr_handle does not name an address handle
 * @retval IT_ERR_FAULT                params is NULL
 * @retval IT_ERR_INVALID_MASK         any other bit
 * @retval IT_ERR_INVALID_SOURCE_PATH  the path starts at an address the IA does not have
 * @retval IT_ERR_INVALID_ADDRESS      the path leads nowhere
 * @retval IT_ERR_RESOURCES            memory or resources of the device are used up
 * @retval IT_ERR_IA_CATASTROPHE       the IA has failed
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, while no send uses the address handle.
 * Source: IT-API 2.1.
 */
it_status_t it_address_handle_modify(it_addr_handle_t addr_handle, it_addr_param_mask_t mask,
                                     const it_addr_param_t *params);

/**
 * Destroys an address handle.
 *
 * @param addr_handle  the address handle
 *
 * @retval IT_SUCCESS               done
 * @retval IT_ERR_INVALID_AH        addr_handle does not name an address handle
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread, while no send uses the address handle.
 * Source: IT-API 2.1.
 */
it_status_t it_address_handle_free(it_addr_handle_t addr_handle);

/* ==============================================================================================
 * Utilities
 * ============================================================================================== */

/**
 * Returns what kind of object a handle names.
 *
 * @param handle          any handle
 * @param type_of_handle  out: the kind
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_HANDLE  handle names no object
 * @retval IT_ERR_FAULT           type_of_handle is NULL
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_get_handle_type(it_handle_t handle, it_handle_type_enum_t *type_of_handle);

/**
 * Attaches a value of the program's choice to an object. The library keeps it and never looks at
 * it.
 *
 * @param handle   any handle
 * @param context  the value
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_HANDLE  handle names no object
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread; the last call wins.
 * Source: IT-API 2.1.
 */
it_status_t it_set_consumer_context(it_handle_t handle, it_context_t context);

/**
 * Reads the value that was attached to an object.
 *
 * @param handle   any handle
 * @param context  out: the value
 *
 * @retval IT_SUCCESS             done
 * @retval IT_ERR_INVALID_HANDLE  handle names no object
 * @retval IT_ERR_FAULT           context is NULL
 * @retval IT_ERR_NO_CONTEXT      no value was ever attached
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_status_t it_get_consumer_context(it_handle_t handle, it_context_t *context);

/**
 * Expresses a network address as one of another kind, where that is possible: any kind as
 * itself, IPv4 as v4-mapped IPv6 and back, IPv4 or IPv6 as the GID of the same form and back.
 *
 * @param source_addr       the address
 * @param addr_type         the kind wanted
 * @param destination_addr  out: the address of that kind; may be the same memory as source_addr
 *
 * @retval IT_SUCCESS                 done
 * @retval IT_ERR_FAULT               a pointer is NULL
 * @retval IT_ERR_INVALID_NETADDR     the kind of source_addr is unknown, or its length
 *                                    impossible
 * @retval IT_ERR_INVALID_CONVERSION  the address has no equivalent of that kind, or there is no
 *                                    such kind
 *
 * Completion: none; the call is synchronous.
 * Threads: any thread.
 * Source: IT-API 2.1; RFC 4291 section 2.5.5.2 (IPv4-mapped addresses).
 */
it_status_t it_convert_net_addr(const it_net_addr_t *source_addr, it_net_addr_type_t addr_type,
                                it_net_addr_t *destination_addr);

/**
 * Converts 64 bits from host to network byte order, for keys and remote addresses sent in
 * messages.
 *
 * @param hostint  value in host byte order
 *
 * @return the value in network byte order
 *
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
uint64_t it_hton64(uint64_t hostint);

/**
 * Converts 64 bits from network to host byte order.
 *
 * @param netint  value in network byte order
 *
 * @return the value in host byte order
 *
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
uint64_t it_ntoh64(uint64_t netint);

/**
 * Makes the remote address of a byte in a region that peers address by virtual address.
 *
 * @param addr  the byte; not followed
 *
 * @return the remote address, host byte order
 *
 * Threads: any thread.
 * Source: IT-API 2.1; called it_make_rdma_addr in 1.0.
 */
it_rdma_addr_t it_make_rdma_addr_absolute(void *addr);

/**
 * Makes the remote address of a byte in a region that peers address by offset.
 *
 * @param offset  bytes from the start of the region
 *
 * @return the remote address, host byte order
 *
 * Threads: any thread.
 * Source: IT-API 2.1.
 */
it_rdma_addr_t it_make_rdma_addr_relative(it_length_t offset);

#ifdef __cplusplus
} /* extern "C" */
#include "it_api_cxx.h"
#endif

#endif /* ITAPI_INCLUDE_IT_API_H */
