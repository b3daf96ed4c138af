/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostile_kit.h - an IA under attack. It has a healthy connection to another IA of this process,
 * which must survive whatever the raw peers do, and victims: endpoints whose peer is a raw one
 * (support/raw_peer.h).
 */
#ifndef ITAPI_TESTS_HOSTILE_HOSTILE_KIT_H
#define ITAPI_TESTS_HOSTILE_HOSTILE_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

/* How the victim got its connection, so what the raw peer talks to. */
enum hk_role {
    HK_LISTEN,            /* the library listens; the victim is the MPA responder */
    HK_CONNECT,           /* it_ep_connect; initiator */
    HK_CONVERT_RESPONDER, /* it_socket_convert with a message */
    HK_CONVERT_INITIATOR, /* it_socket_convert without one */
    HK_ROLES
};

#define HK_LAST_MESSAGE     "go"
#define HK_LAST_MESSAGE_LEN 2u

const char *hk_role_name(enum hk_role role);
bool hk_victim_initiates(enum hk_role role);

struct hk {
    struct fx_node node; /* under attack */
    struct fx_pair good; /* good.a is the node itself */
    it_listen_handle_t listener;
    uint16_t port;
    size_t fds; /* number of open descriptors without a victim */
};

void hk_open(struct hk *kit);
/* Checks that nothing is left, then closes everything. */
void hk_close(struct hk *kit);
/* Checks that the healthy connection moves data both ways. */
void hk_healthy(struct hk *kit);
/* Checks that no event is queued anywhere. */
void hk_quiet(struct hk *kit);

/* The raw peer's Request or Reply. */
struct hk_startup {
    unsigned revision;
    unsigned flags; /* RAW_MPA_C and RAW_MPA_M */
    uint32_t word;  /* revision 2: the enhanced word */
};

/* Revision 1 with CRC. */
extern const struct hk_startup hk_plain;

struct hk_victim {
    struct hk *kit;
    it_ep_handle_t ep;
    struct raw_peer peer;
    enum hk_role role;
    struct raw_mpa_frame theirs; /* the library's Request or Reply */
};

/* Makes a connected victim whose peer is ready to exchange FPDUs. */
void hk_victim(struct hk *kit, struct hk_victim *victim, enum hk_role role,
               const struct hk_startup *startup);
/* Does the same for an endpoint that the test has made (in state UNCONNECTED). */
void hk_victim_of(struct hk *kit, struct hk_victim *victim, it_ep_handle_t ep, enum hk_role role,
                  const struct hk_startup *startup);
/* Makes the TCP connection only. The victim expects a Request or Reply. */
void hk_victim_start(struct hk *kit, struct hk_victim *victim, it_ep_handle_t ep,
                     enum hk_role role);
/* Closes what is left of the victim. */
void hk_victim_close(struct hk_victim *victim);
/* The peer closes in order, and the victim ends, too. */
void hk_part(struct hk_victim *victim);

/* Sends an FPDU that does nothing, a zero-length Write, so that the victim may send. */
void hk_wake(struct hk_victim *victim);

/* Returns layer/type/code as one number: 1/2/05 is 0x1205. */
unsigned hk_code(const struct raw_segment *terminate);
/*
 * Skips FPDUs up to a Terminate, checks its form and that the stream ends properly after it, and
 * returns its code. offender is the ULPDU that it names (NULL: not compared).
 */
unsigned hk_terminated(struct hk_victim *victim, const struct raw_bytes *offender);

/* Checks that the victim is NONOPERATIONAL and has this connection event and no other. */
void hk_ended(struct hk_victim *victim, it_event_type_t number);
/* Takes the next affiliated event, which must be one of these two and for the victim. */
void hk_affiliated(struct hk_victim *victim, it_event_type_t one, it_event_type_t other);

#endif /* ITAPI_TESTS_HOSTILE_HOSTILE_KIT_H */
