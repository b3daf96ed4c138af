/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An IA on the stub device and the stub of rdma_cm, with one endpoint in the stage that a test
 * wants.
 */
#ifndef ITAPI_TESTS_VERBS_CM_CM_KIT_H
#define ITAPI_TESTS_VERBS_CM_CM_KIT_H

#include "support/it_fixture.h"
#include "verbs/stub_device.h"
#include "verbs_cm/stub_rdma.h"

enum kit_kind {
    KIT_SIW,
    KIT_IWARP, /* another device */
    KIT_ROCE,
    KIT_INFINIBAND,
    KIT_KINDS
};

#define KIT_ON(kind)  (1u << (kind))
#define KIT_IWARPS    (KIT_ON(KIT_SIW) | KIT_ON(KIT_IWARP))
#define KIT_OTHERS    (KIT_ON(KIT_ROCE) | KIT_ON(KIT_INFINIBAND))
#define KIT_ALL_KINDS (KIT_IWARPS | KIT_OTHERS)

/* How far a connection is. */
enum kit_stage {
    KIT_ADDRESS,  /* being resolved */
    KIT_ROUTE,    /* being resolved */
    KIT_CALLING,  /* iWARP: rdma_connect does not come back */
    KIT_REPLY,    /* the request is out */
    KIT_ARRIVED,  /* not iWARP, three-way: the consumer has been asked */
    KIT_LIVE,     /* active */
    KIT_CLOSING,  /* active: disconnected, the peer has not answered */
    KIT_GIVEN_UP, /* iWARP, active: the attempt was ended, rdma_destroy_id does not come back */
    KIT_ANNOUNCED,
    KIT_CONFIRM, /* accepted, not confirmed */
    KIT_PASSIVE_LIVE,
    KIT_PASSIVE_CLOSING,
    KIT_STAGES
};

struct kit {
    enum kit_kind kind;
    struct fx_node node;
    it_ep_handle_t ep;
    struct rdma_cm_id *id;          /* of the connection */
    it_cn_est_identifier_t request; /* ARRIVED, ANNOUNCED */
    it_listen_handle_t listener;    /* passive; NULL: none */
    struct rdma_cm_id *listen_id;
};

const char *kit_kind_name(enum kit_kind kind);
const char *kit_stage_name(enum kit_stage stage);

/* Starts the stubs anew for that kind of device; failures in kit_open are set between the two. */
void kit_start(enum kit_kind kind);
void kit_open(struct kit *kit, enum kit_kind kind);
/* Frees everything. Fails if something is left, or an event was not acknowledged. */
void kit_close(struct kit *kit);

/* With a kit for each kind of device in turn; the whole of a test. */
void kit_each_kind(void (*test)(struct kit *kit));

/* False: there is none with this kind of device. */
bool kit_has_stage(enum kit_kind kind, enum kit_stage stage);
void kit_reach(struct kit *kit, enum kit_stage stage);

it_status_t kit_connect(struct kit *kit, it_cn_est_flags_t flags, uint64_t timeout_us);
void kit_listen(struct kit *kit);
/* A peer asks for a connection; the consumer has not been looked at. */
void kit_ask(struct kit *kit);

/* On return the provider has handled the event, and all before it. */
void kit_tell(struct kit *kit, int event, int status, const struct stub_news *news);
/* On return the provider has handled what there is. */
void kit_settle(const struct kit *kit);
/* Waits until the provider has called that often since the start. */
void kit_wait_calls(const struct kit *kit, enum stub_call call, unsigned count);
/* After that many connects the id has been exchanged; resolves the new one. Returns its port. */
uint16_t kit_resolve_again(struct kit *kit, unsigned connects);
/* The connection has failed with this code, and the log says so. */
void kit_expect_failed(const struct kit *kit, it_conn_reject_code_t code);

/* While held, a call has the request of a connection in hand: it cannot be withdrawn. */
void kit_hold_request(bool hold);

it_ep_state_rc_t kit_state(const struct kit *kit);

/* Lines of the log at warn or above since the last call. */
unsigned kit_warnings(void);
/* Those with that part in them, since the first of the two calls. */
void kit_watch_warnings(const char *part);
unsigned kit_watched_warnings(void);
/* The last of them. */
const char *kit_warning(void);

#endif
