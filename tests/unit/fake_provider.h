/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A provider without a transport, Interface "fake0". It counts the calls that it gets, keeps their
 * arguments and returns the test's answer. fake_world is a set of objects made on it.
 */
#ifndef ITAPI_TESTS_UNIT_FAKE_PROVIDER_H
#define ITAPI_TESTS_UNIT_FAKE_PROVIDER_H

#include "ual/object/ual_ep_state.h"
#include "ual/object/ual_provider.h"

#define FAKE_NAME   "fake0"
#define FAKE_SPIGOT 1
#define FAKE_KEY    UINT64_C(0x1234)

/* Calls that the provider got, in the order of ual/vp.h. */
struct fake_calls {
    unsigned ia_open, ia_close, pz_create, pz_destroy, lmr_create, lmr_destroy;
    unsigned lmr_modify, rmr_create, rmr_destroy;
    unsigned ep_create, ep_destroy, ep_modify, ep_reset, listen_start, listen_stop;
    unsigned connect, accept, reject, handoff, disconnect, convert, post_request, post_recv;
    unsigned srq_create, srq_destroy, srq_modify, post_srq_recv;
    unsigned address_create, address_modify, address_destroy;
    unsigned ud_service_create, ud_service_destroy, ud_request, ud_reply;
};

struct fake {
    struct vp_attributes attributes; /* of every IA; a test may change them at any time */
    it_status_t answer;              /* returned by every call that has a status */
    unsigned spigots;                /* bit 1 << number; 0: FAKE_SPIGOT alone */
    bool lowers_ord;                 /* a changed ORD is in force with one less */
    int halted;                      /* number of ep_halt calls without an ep_proceed */
    it_ep_param_mask_t changed;      /* argument of the last ep_proceed */
    struct fake_calls calls;
    struct vp_request request; /* last post; the caller owns its segments */
    struct vp_link link;       /* of the last post that had one */
    struct vp_rmr_state rmr;   /* what every RMR is linked to */
    struct vp_convert convert; /* last conversion */
    size_t private_length;     /* of the last call with private data */
    struct vp_ud_reply reply;  /* last answer to a request for a datagram EP */
    /*
     * One letter for each destroyed object, in order: listen service (u) ep rmr srq lmr address pz
     * ia.
     */
    char closing[64];
};

extern struct fake fake;
extern const struct vp_provider fake_provider;

/* Sets the defaults in `fake` and registers the provider. Called once per process. */
void fake_setup(void);

/* All objects of an IA that a test needs. Two worlds have two IAs. */
struct fake_world {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t dto_evd;  /* request and receive completions */
    it_evd_handle_t conn_evd; /* CM messages */
    it_evd_handle_t req_evd;  /* CM requests */
    it_evd_handle_t aevd;
    it_lmr_handle_t lmr; /* registers .memory */
    it_ep_handle_t ep;
    it_ep_attributes_t attr; /* of ep */
    unsigned char memory[4096];
};

void fake_world_open(struct fake_world *world);
void fake_world_close(struct fake_world *world);

/* Puts an endpoint into a state without the state machine. */
void fake_ep_force(it_ep_handle_t ep, it_ep_state_rc_t state);

/* Enters a request into the table as if it had arrived on the IA. */
void fake_request_arrives(struct ual_request *request, const struct fake_world *world);

#endif
