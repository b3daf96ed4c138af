/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine_kit.h - an endpoint of uiwarp in any state of the RC state machine, for tests that walk
 * its tables cell by cell. States are letters, in the order in which the tables have them.
 */
#ifndef ITAPI_TESTS_MACHINE_MACHINE_KIT_H
#define ITAPI_TESTS_MACHINE_MACHINE_KIT_H

#include "support/it_fixture.h"
#include "support/raw_peer.h"

/*
 * UNCONNECTED, ACTIVE1, ACTIVE2, PASSIVE, waiting for a Request, CONNECTED, NONOPERATIONAL. With
 * iWARP ACTIVE2 is never entered and PASSIVE left before a program can look: an endpoint is put
 * there by hand, for the calls that must refuse it or end it.
 */
#define MACHINE_LETTERS "U12PWCN"
#define MACHINE_STATES  7u

struct machine {
    struct fx_node node;
    it_ep_handle_t ep;
    struct fx_node other; /* in C, unless the peer is a raw one */
    it_ep_handle_t other_ep;
    struct raw_peer peer; /* in 1 and W, and in C if asked for; fd -1: none */

    /* For the calls: an undecided request, another listen point, a peer, a stream to convert. */
    it_cn_est_identifier_t id;
    struct raw_peer client;
    int idle; /* a listening socket that answers nothing */
    uint16_t idle_port;
    it_conn_qual_t elsewhere;
    int spare;
    struct raw_peer spare_peer;
};

/* .ep comes to that state; what it takes is on the way. raw: in C its peer is a raw one. */
void machine_open(struct machine *machine, char letter, bool raw);
/* The same for .ep in UNCONNECTED, whatever it was made with. */
void machine_bring(struct machine *machine, char letter, bool raw);
void machine_close(struct machine *machine);

/* Adds what the calls need. */
void machine_equip(struct machine *machine);

/* The attempts of which the events are told: active with revision 1, and a conversion. */
void machine_connect(struct machine *machine, uint64_t timeout_us);
void machine_convert(struct machine *machine, it_sc_flags_t flags, uint64_t timeout_us);
/* The peer's side of the exchange: a Request or Reply of revision 1 with these flags and data. */
void machine_say(struct machine *machine, bool reply, unsigned flags, const char *private_data);
/* Takes the library's Request or Reply. */
void machine_hear(struct machine *machine, bool reply);

/* The state as a letter; '?' for a value that is none. */
char machine_state(it_ep_handle_t ep);

/* No event is queued on any EVD of the node. */
void machine_is_silent(const struct machine *machine);

#endif
