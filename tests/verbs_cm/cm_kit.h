/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An IA on the stub device and the stub of rdma_cm, with one endpoint at the stage that a test
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

/* The stage of a connection. */
enum kit_stage {
    KIT_ADDRESS,  /* the address is being resolved */
    KIT_ROUTE,    /* the route is being resolved */
    KIT_CALLING,  /* iWARP: rdma_connect does not return */
    KIT_REPLY,    /* the request has been sent */
    KIT_ARRIVED,  /* not iWARP, three-way: the consumer has the answer */
    KIT_LIVE,     /* active */
    KIT_CLOSING,  /* active: disconnected, and the peer has not answered */
    KIT_GIVEN_UP, /* iWARP, active: the attempt has ended, and rdma_destroy_id does not return */
    KIT_ANNOUNCED,
    KIT_CONFIRM, /* accepted and not confirmed */
    KIT_PASSIVE_LIVE,
    KIT_PASSIVE_CLOSING,
    KIT_STAGES
};

struct kit {
    enum kit_kind kind;
    struct fx_node node;
    it_ep_handle_t ep;
    struct rdma_cm_id *id;          /* id of the connection */
    it_cn_est_identifier_t request; /* ARRIVED, ANNOUNCED */
    it_listen_handle_t listener;    /* passive; NULL: none */
    struct rdma_cm_id *listen_id;
};

const char *kit_kind_name(enum kit_kind kind);
const char *kit_stage_name(enum kit_stage stage);

/*
 * Restarts the stubs for that kind of device. Failures in kit_open are set between the two calls.
 */
void kit_start(enum kit_kind kind);
void kit_open(struct kit *kit, enum kit_kind kind);
/* Frees everything. Fails if an object is left or an event was not acknowledged. */
void kit_close(struct kit *kit);

/* Runs a whole test with a kit for each kind of device in turn. */
void kit_each_kind(void (*test)(struct kit *kit));

/* Returns false if this kind of device does not have the stage. */
bool kit_has_stage(enum kit_kind kind, enum kit_stage stage);
void kit_reach(struct kit *kit, enum kit_stage stage);

it_status_t kit_connect(struct kit *kit, it_cn_est_flags_t flags, uint64_t timeout_us);
void kit_listen(struct kit *kit);
/* Makes a peer's connection request, which the consumer has not seen yet. */
void kit_ask(struct kit *kit);

/* Tells the provider of an event. Returns when the provider has handled it and all before it. */
void kit_tell(struct kit *kit, int event, int status, const struct stub_news *news);
/* Returns when the provider has handled everything. */
void kit_settle(const struct kit *kit);
/* Waits until the provider has made this call so often since the start. */
void kit_wait_calls(const struct kit *kit, enum stub_call call, unsigned count);
/* After that many connects the id has been replaced. Resolves the new one and returns its port. */
uint16_t kit_resolve_again(struct kit *kit, unsigned connects);
/* Checks that the connection has failed with this code and that the log says so. */
void kit_expect_failed(const struct kit *kit, it_conn_reject_code_t code);

/* While held, a call has taken the connection's request, so it cannot be withdrawn. */
void kit_hold_request(bool hold);
/* The IA's thread calls this once, when it finds the request held; it plays that call. */
void kit_run_when_held(void (*run)(void));

/* From now on the timers that the provider starts expire at once. */
void kit_hurry_timers(bool hurry);
/* Returns the delay with which the provider has started a timer last. */
uint64_t kit_timer_ns(void);

it_ep_state_rc_t kit_state(const struct kit *kit);

/* Returns the number of log lines at level warn or above since the last call. */
unsigned kit_warnings(void);
/*
 * The first call begins to count the lines with this part in them. The second returns their number.
 */
void kit_watch_warnings(const char *part);
unsigned kit_watched_warnings(void);
/* Returns the last of those lines. */
const char *kit_warning(void);

#endif
