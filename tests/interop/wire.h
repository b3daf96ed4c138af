/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire.h - one connection between an endpoint of the library and a queue pair of verbs_peer, in
 * either role and at any place. Every step ends the test when it fails, and steps can be taken one
 * by one:
 *
 *     wire_open     our IA and EP, the peer program
 *     wire_meet     one side listens, the other calls; both sides can post receives now
 *     wire_join     accept and establishment, on both sides
 *     wire_part     our side disconnects, both hear of it
 *     wire_close    nothing unexpected may be left; the peer ends with status 0
 */
#ifndef ITAPI_TESTS_INTEROP_WIRE_H
#define ITAPI_TESTS_INTEROP_WIRE_H

#include "interop/peer.h"
#include "interop/place.h"
#include "support/it_fixture.h"

enum wire_role {
    WIRE_ACTIVE,
    WIRE_PASSIVE
}; /* the library's side */

struct wire;

struct wire_setup {
    const struct place *place;
    enum wire_role role;
    const it_ep_attributes_t *attr;   /* NULL: fx_ep_attr() */
    const struct itx_mpa_params *mpa; /* NULL: the library's defaults */
    const char *peer_setup;  /* added to the peer's "setup": "sq=128 sge=6"; NULL: nothing */
    const char *peer_answer; /* added to its "accept" or "connect": "ird=4"; NULL: nothing */
    const void *data;        /* the library's private data in Request or Reply */
    size_t data_length;
    struct wire *beside; /* the wire whose IA and peer program this one shares */
    size_t events;       /* size of the completion EVDs; 0: 512 */
};

/* What the peer's "request" (library active) or "connect" (library passive) has answered. */
struct wire_told {
    unsigned ird;
    unsigned ord;
    unsigned char data[512];
    size_t data_length;
};

struct wire {
    struct wire_setup setup;
    struct fx_node *node;
    struct fx_node own_node;
    it_ep_handle_t ep;
    struct peer *peer;
    unsigned others;   /* number of open wires that share this one's IA and peer program */
    unsigned listener; /* library active: the peer's listener until wire_join has ended; 0: none */
    unsigned conn;     /* the peer's number of the connection; set by wire_meet */
    struct wire_told told;
    it_event_t request;     /* library passive: the connection request */
    it_event_t established; /* the library's event */
};

void wire_open(struct wire *wire, const struct wire_setup *setup);
void wire_meet(struct wire *wire);
void wire_join(struct wire *wire);
/* All three. */
void wire_connect(struct wire *wire, const struct wire_setup *setup);
void wire_part(struct wire *wire);
/* The peer disconnects. Both sides see the end. */
void wire_part_from_there(struct wire *wire);
/* Frees the EP in any state. A wire whose parts others share is closed last. */
void wire_close(struct wire *wire);

/* Returns text such as "active, veth" for check_context. The text is static. */
const char *wire_name(const struct wire_setup *setup);

/* ---- Parts of it, for tests of what goes wrong ---------------------------------------------- */

/*
 * Connects the library to a port of the peer's address (host byte order) with the wire's private
 * data.
 */
void wire_call(struct wire *wire, uint16_t port);
/* Makes the library listen on a free port (host byte order). */
it_listen_handle_t wire_listen(struct wire *wire, uint16_t *port);
struct itx_mpa_info wire_mpa(const struct wire *wire);

/* ---- Data ----------------------------------------------------------------------------------- */

it_rdma_addr_t wire_address(const struct peer_mem *mem, size_t offset);
/* Post the library's RDMA Write to, or Read from, the peer's memory. */
void wire_write(const struct wire *wire, const struct fx_buf *from, size_t offset, size_t length,
                const struct peer_mem *to, size_t to_offset, it_dto_cookie_t cookie,
                it_dto_flags_t flags);
void wire_read(const struct wire *wire, const struct fx_buf *to, size_t offset, size_t length,
               const struct peer_mem *from, size_t from_offset, it_dto_cookie_t cookie,
               it_dto_flags_t flags);

/* Make the peer write to, or read from, the library's memory. */
void wire_write_from_there(const struct wire *wire, const struct peer_mem *from, size_t offset,
                           size_t length, const struct fx_buf *to, size_t to_offset, uint64_t id);
void wire_read_from_there(const struct wire *wire, const struct peer_mem *to, size_t offset,
                          size_t length, const struct fx_buf *from, size_t from_offset,
                          uint64_t id);

/* Checks that the peer's next completion has this id and this status. */
void wire_far_done(const struct wire *wire, uint64_t id, const char *status);

/* Send one message from the peer to the library, or back, and check every octet. */
void wire_ping_from_there(const struct wire *wire, size_t length);
void wire_ping_from_here(const struct wire *wire, size_t length);
/* Library passive, before the peer's first FPDU: checks that the library's message waits for it. */
void wire_check_held_back(const struct wire *wire);

#endif /* ITAPI_TESTS_INTEROP_WIRE_H */
