/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hostile_kit.h - an IA under attack. It owns a healthy connection to another IA of the same
 * process, which must survive whatever the raw peers do, and victims: endpoints whose peer is a
 * raw one (support/raw_peer.h).
 */
#ifndef ITAPI_TESTS_HOSTILE_HOSTILE_KIT_H
#define ITAPI_TESTS_HOSTILE_HOSTILE_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

/* How the victim came to its connection, i.e. what the raw peer talks to. */
enum hk_role {
    HK_LISTEN,            /* our listener; the victim is MPA Responder */
    HK_CONNECT,           /* our it_ep_connect; Initiator */
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
    size_t fds; /* open descriptors when all is calm */
};

void hk_open(struct hk *kit);
/* Checks that nothing is left over, then closes everything. */
void hk_close(struct hk *kit);
/* The healthy connection still moves data, both ways. */
void hk_healthy(struct hk *kit);
/* No event is queued anywhere. */
void hk_quiet(struct hk *kit);

/* What the raw side puts into its Request or Reply. */
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

/* A victim that is connected, and its peer ready to exchange FPDUs. */
void hk_victim(struct hk *kit, struct hk_victim *victim, enum hk_role role,
               const struct hk_startup *startup);
/* The same for an endpoint of the test's own making (in state UNCONNECTED). */
void hk_victim_of(struct hk *kit, struct hk_victim *victim, it_ep_handle_t ep, enum hk_role role,
                  const struct hk_startup *startup);
/* As far as the TCP connection, with the victim expecting a Request or Reply. */
void hk_victim_start(struct hk *kit, struct hk_victim *victim, it_ep_handle_t ep,
                     enum hk_role role);
/* Ends what is left of it. */
void hk_victim_close(struct hk_victim *victim);
/* The peer leaves in order, and so does the victim. */
void hk_part(struct hk_victim *victim);

/* One FPDU that does nothing, so that the victim may send: a zero-length Write. */
void hk_wake(struct hk_victim *victim);

/* layer/type/code as one number: 1/2/05 is 0x1205. */
unsigned hk_code(const struct raw_segment *terminate);
/*
 * Skips FPDUs up to a Terminate, checks its form and that the stream ends properly behind it, and
 * returns its code. offender is the ULPDU it is about (NULL: not compared).
 */
unsigned hk_terminated(struct hk_victim *victim, const struct raw_bytes *offender);

/* The victim is NONOPERATIONAL and gets this connection event, and no other one. */
void hk_ended(struct hk_victim *victim, it_event_type_t number);
/* The next affiliated event is one of these two for the victim. */
void hk_affiliated(struct hk_victim *victim, it_event_type_t one, it_event_type_t other);

#endif /* ITAPI_TESTS_HOSTILE_HOSTILE_KIT_H */
