/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine_kit.h - an endpoint of uiwarp in any state of the RC state machine, for tests that enter
 * each cell of its tables. A letter stands for each state, in the order of the tables.
 */
#ifndef ITAPI_TESTS_MACHINE_MACHINE_KIT_H
#define ITAPI_TESTS_MACHINE_MACHINE_KIT_H

#include "support/it_fixture.h"
#include "support/raw_peer.h"

/*
 * UNCONNECTED, ACTIVE1, ACTIVE2, PASSIVE, waiting for a Request, CONNECTED, NONOPERATIONAL. On
 * iWARP ACTIVE2 is never entered, and PASSIVE is left before a program can see it. Tests of calls
 * that must refuse or end these states set them by hand.
 */
#define MACHINE_LETTERS "U12PWCN"
#define MACHINE_STATES  7u

struct machine {
    struct fx_node node;
    it_ep_handle_t ep;
    struct fx_node other; /* peer in C, unless that is a raw one */
    it_ep_handle_t other_ep;
    struct raw_peer peer; /* peer in 1 and W, and in C on request; fd -1: none */

    /* For the calls: an undecided request, another listen point, a peer, a stream to convert. */
    it_cn_est_identifier_t id;
    struct raw_peer client;
    int idle; /* a listening socket that never answers */
    uint16_t idle_port;
    it_conn_qual_t elsewhere;
    int spare;
    struct raw_peer spare_peer;
};

/* Brings .ep to that state with all that this needs. raw: in C its peer is a raw one. */
void machine_open(struct machine *machine, char letter, bool raw);
/* Does the same for an .ep in UNCONNECTED that the test has made. */
void machine_bring(struct machine *machine, char letter, bool raw);
void machine_close(struct machine *machine);

/* Adds the objects that the calls need. */
void machine_equip(struct machine *machine);

/* Begin an attempt: actively with revision 1, and by conversion. */
void machine_connect(struct machine *machine, uint64_t timeout_us);
void machine_convert(struct machine *machine, it_sc_flags_t flags, uint64_t timeout_us);
/* Sends the peer's Request or Reply of revision 1 with these flags and data. */
void machine_say(struct machine *machine, bool reply, unsigned flags, const char *private_data);
/* Receives the library's Request or Reply. */
void machine_hear(struct machine *machine, bool reply);

/* Returns the state as a letter, or '?' for an unknown value. */
char machine_state(it_ep_handle_t ep);

/* Checks that no event is queued on any EVD of the node. */
void machine_is_silent(const struct machine *machine);

#endif
