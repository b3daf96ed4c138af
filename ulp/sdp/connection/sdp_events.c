/* SPDX-License-Identifier: BSD-2-Clause */
/* Arriving events, messages to send, and the end. */
#include "connection/sdp_object.h"

#include <errno.h>
#include <string.h>

#define BATCH  16u
#define ROUNDS 8u /* rounds for one connection before others get their turn */

/* ---- The end -------------------------------------------------------------------------------- */

void sdp_disconnect_here(struct sdp_later *farewell)
{
    const struct sdp_connection *connection =
        (struct sdp_connection *)(void *)((char *)farewell -
                                          offsetof(struct sdp_connection, farewell));

    (void)it_ep_disconnect(connection->ep, NULL, 0);
}

/*
 * On a device this waits for the IA's thread, which may wait for the lock in the connection's
 * callback. So that thread does it.
 */
static void disconnect(struct sdp_connection *connection)
{
    if (connection->disconnecting || connection->ended || connection->buried)
        return;
    connection->disconnecting = true;
    if (sdp_adapter_get()->device)
        sdp_adapter_later(&connection->farewell);
    else
        sdp_disconnect_here(&connection->farewell);
}

static void give_up(struct sdp_connection *connection, int error)
{
    /* As TCP has it: a reset behind the peer's end concerns whoever still sends. */
    if (connection->error == 0 && !connection->eof)
        connection->error = error;
    else if (connection->error == 0 && !connection->no_sends && error == ECONNRESET)
        connection->error = EPIPE;
    connection->failed = true;
    connection->eof = true;
    connection->no_sends = true;
}

void sdp_fail(struct sdp_connection *connection, int error)
{
    give_up(connection, error);
    disconnect(connection);
}

void sdp_reset(struct sdp_connection *connection)
{
    if (connection->failed)
        return;
    sdp_machine_abort(&connection->machine);
    give_up(connection, ECONNRESET);
    sdp_push(connection);
}

/* Returns true if octets wait, or a call offers them: the peer has not read all before. */
static bool is_sending(const struct sdp_connection *connection)
{
    return connection->tx_filled != connection->tx_sent || connection->sending_zcopy;
}

/*
 * The transport has ended. Without a word of the peer, its process has been killed: TCP shows the
 * end of the stream, and what is sent then finds nobody. Or it shows a reset, if that process has
 * left octets unread.
 */
static void on_end(struct sdp_connection *connection, int error)
{
    const struct sdp_machine *machine = &connection->machine;
    bool finished = machine->got_disconn && machine->sent_disconn;
    bool killed = error == 0 && !finished && !connection->failed;

    connection->ended = true;
    if (connection->frozen) /* nobody reads it here: the other process has claimed it */
        connection->lost = true;
    if (finished)
        error = 0;
    if (killed && !connection->no_sends && is_sending(connection))
        error = ECONNRESET;
    if (error != 0)
        give_up(connection, error);
    connection->eof = true;
    connection->vanished = killed && !connection->no_sends;
    connection->no_sends = !connection->vanished;
}

/* ---- Messages ------------------------------------------------------------------------------- */

static void on_urgent(struct sdp_connection *connection, const struct sdp_heard *heard)
{
    if (heard->pend)
        connection->oob_pending = true;
    if (!heard->urgent)
        return;
    /* An urgent octet that was not read in time becomes an ordinary one. */
    connection->mark = connection->rx_position + connection->unread - 1;
    connection->mark_set = true;
    connection->oob_pending = false;
    connection->oob_valid = true;
    connection->oob_octet = heard->payload[heard->octets - 1];
}

static void keep_piece(struct sdp_connection *connection, uint32_t slot, uint32_t at,
                       uint32_t octets)
{
    uint32_t last = (connection->piece_first + connection->piece_count++) % connection->piece_room;

    connection->pieces[last] = (struct sdp_piece){.slot = slot, .at = at, .octets = octets};
    connection->unread += octets;
    connection->news = true;
}

/* Octets of the stream, none of them urgent. */
static bool is_usual(const unsigned char *head)
{
    return head[0] == SDP_DATA && (head[1] & SDP_FLAG_OOB_PRES) == 0;
}

/*
 * A message has arrived whose payload is at the aim (sdp_aim.c). Returns how many octets of it, the
 * first ones, stay there; the others are in the slot. 0: all are, since it is unusual, or since a
 * receiving call must not return it yet.
 */
static uint32_t settle(struct sdp_connection *connection, uint32_t slot, uint32_t length)
{
    struct sdp_aim *aim = &connection->aim;
    unsigned char *head = sdp_slot(connection, slot);
    const unsigned char *from = aim->octets + aim->placed;
    size_t octets = length > SDP_HEAD_OCTETS ? length - SDP_HEAD_OCTETS : 0;
    bool next = aim->spare || (aim->placed == aim->taken && connection->piece_count == 0);

    if (octets > aim->length - aim->placed)
        octets = aim->length - aim->placed;
    aim->placed += octets;
    if (next && is_usual(head) && !connection->mark_set && !connection->detached)
        return (uint32_t)octets;
    memcpy(head + SDP_HEAD_OCTETS, from, octets);
    return 0;
}

static void keep_aimed(struct sdp_connection *connection, uint32_t octets)
{
    struct sdp_aim *aim = &connection->aim;

    if (aim->spare) {
        connection->spare_pieces++;
        keep_piece(connection, connection->slots,
                   (uint32_t)(SDP_HEAD_OCTETS + aim->placed - octets), octets);
        return;
    }
    aim->taken += octets;
    connection->rx_position += octets;
    connection->counters.received += octets;
    connection->counters.direct_received += octets;
    connection->news = true;
}

/* The peer may send another message. */
static void post_again(struct sdp_connection *connection, uint32_t slot)
{
    sdp_post_receive(connection, slot);
    sdp_machine_posted(&connection->machine);
}

/* Keeps payload, of which the first octets are at the aim. */
static void keep_payload(struct sdp_connection *connection, uint32_t slot,
                         const struct sdp_heard *heard, uint32_t aimed)
{
    uint32_t at = (uint32_t)(heard->payload - sdp_slot(connection, slot));

    connection->bulk = heard->octets >= SDP_AIM_LEAST;
    if (aimed > 0)
        keep_aimed(connection, aimed);
    if (heard->octets > aimed)
        keep_piece(connection, slot, at + aimed, heard->octets - aimed);
    else
        post_again(connection, slot);
}

static void on_receive(struct sdp_connection *connection, uint32_t slot, uint32_t length,
                       bool marked)
{
    struct sdp_heard heard;
    uint32_t aimed = 0; /* octets of payload */
    bool greeted = connection->machine.greeted;

    if (connection->failed && !sdp_machine_awaits_greeting(&connection->machine))
        return;
    if (marked)
        aimed = settle(connection, slot, length);
    connection->counters.messages_received++;
    if (!sdp_machine_hear(&connection->machine, sdp_slot(connection, slot), length, &heard)) {
        if (greeted)
            sdp_reset(connection);
        else
            sdp_fail(connection, ECONNRESET); /* nothing may be sent to such a peer */
        return;
    }
    if (heard.reset) {
        sdp_fail(connection, ECONNRESET);
        return;
    }
    if (heard.opened) {
        if (!connection->active)
            sdp_post_greeting(connection);
        sdp_forget_greeting(connection, slot);
    }
    if (heard.octets > 0 && connection->detached) {
        sdp_reset(connection); /* no program will read it */
        return;
    }
    if (heard.octets > 0)
        keep_payload(connection, slot, &heard, aimed);
    else
        post_again(connection, slot);
    /* No call is about to read it: the peer then sends Data, which polls see. */
    if (heard.source && (!connection->large_read || connection->sending_zcopy))
        (void)sdp_machine_refuse(&connection->machine);
    on_urgent(connection, &heard);
    connection->eof = connection->eof || connection->machine.got_disconn;
}

static void on_sent(struct sdp_connection *connection, uint32_t number)
{
    connection->tx_done = number;
    connection->tx_freed = connection->freed_by[number % SDP_HEADS];
    connection->news = true;
    /* An empty ring starts again at its beginning, in memory that is still cached. */
    if (connection->tx_freed == connection->tx_filled)
        connection->ring_base = connection->tx_filled;
}

static void on_completion(struct sdp_connection *connection, const it_dto_cmpl_event_t *event)
{
    if (event->dto_status != IT_DTO_SUCCESS)
        return; /* the end of the connection follows */
    if (event->event_number == IT_DTO_RC_RECV_CMPL_EVENT)
        on_receive(connection, (uint32_t)event->cookie, event->transferred_length,
                   (event->cookie & SDP_AIM_MARK) != 0);
    else if (event->event_number == IT_DTO_RDMA_READ_CMPL_EVENT)
        connection->read_done = true;
    else
        on_sent(connection, (uint32_t)event->cookie);
}

void sdp_on_event(struct sdp_connection *connection, const it_event_t *event)
{
    switch ((int)event->event_number) {
    case IT_CM_MSG_CONN_ESTABLISHED_EVENT:
        connection->live = true;
        if (connection->active)
            sdp_post_greeting(connection);
        break;
    case IT_CM_MSG_CONN_DISCONNECT_EVENT:
        on_end(connection, 0); /* end of file, as TCP shows the end of a process */
        break;
    case IT_CM_MSG_CONN_BROKEN_EVENT:
    case IT_CM_MSG_CONN_PEER_REJECT_EVENT:
    case IT_CM_MSG_CONN_NONPEER_REJECT_EVENT:
        on_end(connection, ECONNRESET);
        break;
    default:
        on_completion(connection, &event->dto_cmpl);
        break;
    }
}

bool sdp_take(struct sdp_connection *connection)
{
    if (connection->driver || connection->buried)
        return false;
    sdp_be_quiet(connection);
    return sdp_take_here(connection);
}

bool sdp_take_here(struct sdp_connection *connection)
{
    it_event_t events[BATCH];
    size_t count;
    bool taken = false;

    if (connection->driver || connection->buried)
        return false;
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (itx_evd_dequeue_n(connection->evd, BATCH, events, &count) != IT_SUCCESS)
            break;
        for (size_t i = 0; i < count; i++)
            sdp_on_event(connection, &events[i]);
        taken = true;
        if (count < BATCH)
            break;
    }
    return taken;
}

/* ---- Sending -------------------------------------------------------------------------------- */

/* Returns the octets of the next message; 0: none may be sent now. */
static uint32_t next_octets(const struct sdp_connection *connection, bool *urgent)
{
    uint64_t waiting = connection->tx_filled - connection->tx_sent;
    bool gather = (connection->cork || connection->more) && !connection->finish;
    uint32_t octets;
    uint32_t room;
    size_t at;

    *urgent = false;
    if (waiting == 0)
        return 0;
    room = sdp_machine_room(&connection->machine);
    octets = waiting < room ? (uint32_t)waiting : room;
    if (octets == 0)
        return 0;
    at = (size_t)((connection->tx_sent - connection->ring_base) % connection->ring_size);
    if (octets > connection->ring_size - at)
        octets = (uint32_t)(connection->ring_size - at);
    if (connection->urgent_count > 0 && connection->urgent[0] - connection->tx_sent <= octets) {
        octets = (uint32_t)(connection->urgent[0] - connection->tx_sent);
        *urgent = true;
    }
    gather = gather && octets < room && octets < SDP_GATHER;
    return gather && octets == waiting && connection->urgent_count == 0 ? 0 : octets;
}

static void push_data(struct sdp_connection *connection)
{
    const unsigned char *from;
    struct sdp_message message;
    uint32_t octets;
    bool urgent;

    while ((octets = next_octets(connection, &urgent)) > 0 && sdp_post_room(connection)) {
        from = connection->ring +
               (connection->tx_sent - connection->ring_base) % connection->ring_size;
        sdp_machine_data(&connection->machine, octets, urgent, &message);
        connection->tx_sent += octets;
        connection->counters.sent += octets;
        if (urgent) {
            connection->urgent_count--;
            for (uint32_t i = 0; i < connection->urgent_count; i++)
                connection->urgent[i] = connection->urgent[i + 1];
        }
        if (connection->lent)
            sdp_post_lent(connection, &message, from);
        else
            sdp_post(connection, &message, connection->lmr, from);
    }
}

static void push_control(struct sdp_connection *connection)
{
    struct sdp_message message;

    while (sdp_post_room(connection) && sdp_machine_next(&connection->machine, &message))
        sdp_post(connection, &message, connection->lmr, NULL);
}

void sdp_push(struct sdp_connection *connection)
{
    struct sdp_machine *machine = &connection->machine;
    bool drained;

    if (connection->post_failed)
        sdp_fail(connection, ECONNRESET);
    if (connection->live && !connection->ended && !connection->frozen && !connection->lost) {
        push_data(connection);
        if (connection->finish && connection->tx_sent == connection->tx_filled)
            sdp_machine_finish(machine);
        push_control(connection);
        drained = sdp_post_is_done(connection, connection->tx_end);
        if (drained && !sdp_machine_awaits_greeting(machine) &&
            (machine->failed ? machine->due == 0 || sdp_machine_credits(machine) == 0
                             : machine->sent_disconn && machine->got_disconn))
            disconnect(connection);
    }
    if (connection->detached && (connection->ended || connection->lost))
        sdp_bury(connection);
}
