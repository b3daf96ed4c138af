/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private data in Request, Reply and reject, both ways.
 *
 * What the kernel (6.12) does with its length, all of which this test sees:
 *
 * siw accepts frames with at most 256 octets of private data, including the 4 octets of the
 * enhanced word. It drops a longer Request; then the library tries again with revision 1, which has
 * no such word. A longer Reply makes siw use a null pointer, after which its connection manager is
 * dead until the next boot. So this test sends none.
 *
 * The connection managers pass the length to applications in 8 bits: 256 octets arrive as none.
 *
 * Their interface accepts at most 255 octets, so siw never sends more than the library's array
 * holds.
 *
 * siw adds the 4 octets of the enhanced word to a length of 8 bits: with 252 octets or more the
 * length in its revision 2 frame is too small by 256, which makes the frame malformed. Then the
 * library ends the connection. siw does not survive that if the frame is a Reply to a peer-to-peer
 * Request (see README.md), so only Requests are tested. Revision 1 carries 255.
 */
#include <stdio.h>
#include <string.h>

#include "interop/pattern.h"
#include "interop/siw.h"
#include "interop/wire.h"

#define PEER_MOST 255
#define SIW_TAKES 252 /* with revision 2 */

static const size_t our_lengths[] = {0, 1, 252, 253, 255, 256};
static const size_t their_lengths[] = {0, 1, 56, 196, 251};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Returns the revision with which siw accepts a Request of this length. */
static unsigned revision_for(size_t length)
{
    return length <= SIW_TAKES ? 2 : 1;
}

/* Returns how many of these octets siw's application sees. */
static size_t seen(size_t length)
{
    return length & 0xff;
}

static void check_seen(const unsigned char *data, size_t got, size_t sent, unsigned seed)
{
    CHECK_EQ(seen(sent), got);
    pattern_check(data, got, 0, seed);
}

static void check_event(const unsigned char *data, it_boolean_t present, size_t sent, unsigned seed)
{
    CHECK_EQ(sent > 0 ? IT_TRUE : IT_FALSE, present);
    pattern_check(data, sent, 0, seed);
    CHECK(fx_is_byte(data + sent, IT_MAX_PRIV_DATA - sent, 0));
}

static void about(const struct wire_setup *setup, const char *what, size_t ours, size_t theirs)
{
    static char text[128];

    (void)snprintf(text, sizeof(text), "%s, %s, %zu octets from us, %zu from siw", wire_name(setup),
                   what, ours, theirs);
    check_context(text);
}

/* Returns "pd=..." with the pattern. */
static const char *their_words(size_t length, unsigned seed)
{
    static char words[8 + 2 * PEER_MOST];
    unsigned char octets[PEER_MOST];

    CHECK(length <= sizeof(octets));
    pattern_fill(octets, length, 0, seed);
    memcpy(words, "pd=", 3);
    (void)peer_hex(octets, length, words + 3);
    return words;
}

/* ---- Request and Reply ---------------------------------------------------------------------- */

static void accepted(struct wire *host, enum wire_role role, size_t ours, size_t theirs,
                     unsigned revision)
{
    unsigned char octets[IT_MAX_PRIV_DATA];
    struct wire_setup setup = {.place = host->setup.place,
                               .role = role,
                               .beside = host,
                               .data = octets,
                               .data_length = ours,
                               .peer_answer = their_words(theirs, 32)};
    const it_connection_event_t *event;
    struct wire wire;

    about(&setup, "accepted", ours, theirs);
    pattern_fill(octets, sizeof(octets), 0, 31);
    wire_connect(&wire, &setup);
    check_seen(wire.told.data, wire.told.data_length, ours, 31);
    event = &wire.established.conn;
    if (role == WIRE_ACTIVE) {
        check_event(event->private_data, event->private_data_present, theirs, 32);
    } else {
        check_event(wire.request.conn_req.private_data, wire.request.conn_req.private_data_present,
                    theirs, 32);
        check_event(event->private_data, event->private_data_present, 0, 0);
    }
    CHECK_EQ(revision, wire_mpa(&wire).revision);
    wire_ping_from_there(&wire, 20);
    wire_ping_from_here(&wire, 20);
    wire_part(&wire);
    wire_close(&wire);
}

/* ---- Reject --------------------------------------------------------------------------------- */

static void rejected_there(struct wire *host, size_t ours, size_t theirs)
{
    unsigned char octets[IT_MAX_PRIV_DATA];
    struct wire_setup setup = {.place = host->setup.place,
                               .role = WIRE_ACTIVE,
                               .beside = host,
                               .data = octets,
                               .data_length = ours};
    struct wire wire;
    it_event_t event;

    about(&setup, "rejected there", ours, theirs);
    pattern_fill(octets, sizeof(octets), 0, 33);
    wire_open(&wire, &setup);
    wire_meet(&wire);
    check_seen(wire.told.data, wire.told.data_length, ours, 33);
    peer_ask(wire.peer, NULL, "reject %u %s", wire.conn, their_words(theirs, 34));
    event = fx_conn(wire.node->conn_evd, wire.ep, IT_CM_MSG_CONN_PEER_REJECT_EVENT);
    check_event(event.conn.private_data, event.conn.private_data_present, theirs, 34);
    CHECK_EQ(0, event.conn.cn_est_id);
    CHECK_EQ(0, event.conn.rdma_read_ird);
    CHECK_EQ(0, event.conn.rdma_read_ord);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(wire.ep));
    wire_close(&wire);
}

static void rejected_here(struct wire *host, size_t ours, size_t theirs)
{
    struct wire_setup setup = {.place = host->setup.place,
                               .role = WIRE_PASSIVE,
                               .beside = host,
                               .peer_answer = their_words(theirs, 35)};
    unsigned char octets[IT_MAX_PRIV_DATA];
    it_conn_request_event_t *request;
    struct peer_answer answer;
    struct wire wire;
    size_t length;

    about(&setup, "rejected here", ours, theirs);
    pattern_fill(octets, sizeof(octets), 0, 36);
    wire_open(&wire, &setup);
    wire_meet(&wire);
    request = &wire.request.conn_req;
    check_event(request->private_data, request->private_data_present, theirs, 35);
    CHECK_OK(it_reject(request->cn_est_id, octets, ours));
    CHECK_STATUS(IT_ERR_INVALID_CN_EST_ID, it_reject(request->cn_est_id, NULL, 0));
    peer_hear_error(wire.peer, &answer, "rejected");
    length = peer_octets(&answer, "pd", octets, sizeof(octets));
    check_seen(octets, length, ours, 36);
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(wire.ep)); /* no EP was named */
    wire_close(&wire);
}

/* ---- What siw cannot ------------------------------------------------------------------------ */

/* siw's Request states fewer octets than the enhanced word has, so no application gets it. */
static void too_long_for_its_request(struct wire *host, size_t theirs)
{
    struct wire_setup setup = {.place = host->setup.place, .role = WIRE_PASSIVE, .beside = host};
    struct peer_answer answer;
    it_listen_handle_t listener;
    struct wire wire;
    uint16_t port;

    about(&setup, "malformed", 0, theirs);
    wire_open(&wire, &setup);
    listener = wire_listen(&wire, &port);
    wire.conn = (unsigned)peer_ask_number(wire.peer, "conn", "resolve %s %u " PEER_WAIT,
                                          setup.place->ours, port);
    peer_ask(wire.peer, NULL, "setup %u", wire.conn);
    peer_tell(wire.peer, "connect %u " PEER_WAIT " %s", wire.conn, their_words(theirs, 38));
    CHECK(!peer_hear_either(wire.peer, &answer));
    fx_empty(wire.node->listen_evd);
    CHECK_OK(it_listen_free(listener));
    wire_close(&wire);
}

/*
 * siw connects with revision 1: Request and Reply carry the most that both interfaces accept. A
 * reject without octets is not tested: siw then reads beyond the frame, and if it finds the
 * library's FIN already, it reports an error and not a reject.
 */
static void most_with_revision_1(struct wire *host)
{
    siw_set("mpa_version", 1);
    for (size_t i = 0; i < COUNT(our_lengths); i++) {
        accepted(host, WIRE_PASSIVE, our_lengths[i], PEER_MOST, 1);
        if (our_lengths[i] > 0)
            rejected_here(host, our_lengths[i], PEER_MOST);
    }
    siw_reset();
}

static void refused_by_length(struct wire *host)
{
    static const unsigned char octets[IT_MAX_PRIV_DATA + 1];
    it_path_t path = place_path(host->node, host->setup.place->theirs);
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = 1;
    CHECK_STATUS(IT_ERR_INVALID_PDATA_LENGTH,
                 it_ep_connect(host->ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, octets,
                               sizeof(octets)));
    CHECK_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(host->ep));
}

static void all_at(const struct place *place)
{
    struct wire_setup setup = {.place = place};
    struct wire host;

    wire_open(&host, &setup);
    for (size_t i = 0; i < COUNT(our_lengths); i++) {
        size_t ours = our_lengths[i];

        accepted(&host, WIRE_ACTIVE, ours, 3, revision_for(ours));
        rejected_there(&host, ours, 3);
        if (ours <= SIW_TAKES) {
            accepted(&host, WIRE_PASSIVE, ours, 3, 2);
            rejected_here(&host, ours, 3);
        }
    }
    for (size_t i = 0; i < COUNT(their_lengths); i++) {
        accepted(&host, WIRE_ACTIVE, 7, their_lengths[i], 2);
        accepted(&host, WIRE_PASSIVE, 7, their_lengths[i], 2);
        rejected_there(&host, 7, their_lengths[i]);
        rejected_here(&host, 7, their_lengths[i]);
    }
    accepted(&host, WIRE_ACTIVE, 256, PEER_MOST, 1);
    too_long_for_its_request(&host, 252);
    too_long_for_its_request(&host, PEER_MOST);
    refused_by_length(&host);
    most_with_revision_1(&host);
    check_context(NULL);
    wire_close(&host);
}

int main(void)
{
    siw_begin();
    all_at(place_named("same"));
    all_at(place_named("veth"));
    check_done();
    return 0;
}
