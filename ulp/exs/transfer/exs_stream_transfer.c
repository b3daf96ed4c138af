/* SPDX-License-Identifier: BSD-2-Clause */
/* SOCK_STREAM: the protocol of stream/ on a connection. */
#include "transfer/exs_connection.h"

#include "include/exs.h"
#include "memory/exs_memory.h"

#include <errno.h>
#include <string.h>

/*
 * uiwarp's FPDUs hold 32 octets less than 64 KiB. So a Write of n times 64 KiB ends with an FPDU of
 * n times 32 octets. Up to 320 KiB these fit the tail, which spares that FPDU. The tail is not
 * longer, since uiwarp reads 256 octets together with the payload in front of them: the message and
 * the next header, which spares a system call.
 */
#define TAIL     160u
#define TAIL_MIN ((uint64_t)64 << 10)
#define TAIL_MAX ((uint64_t)320 << 10)

/* ---- Sending -------------------------------------------------------------------------------- */

/* Gathers octets of the requests, in order, into the next message. */
static void gather(struct exs_connection *connection, uint64_t count)
{
    unsigned char *to = exs_post_payload(connection);
    struct exs_request *request;
    size_t part;

    connection->waiting -= count;
    while (count > 0) {
        request = exs_sends_next(connection);
        part = request->length - request->moved;
        if (part > count)
            part = (size_t)count;
        memcpy(to, (const char *)request->addr + request->moved, part);
        request->moved += part;
        to += part;
        count -= part;
    }
}

/* The last octets of a Write go in the message behind it. */
static void put_tail(struct exs_connection *connection, const struct exs_request *request,
                     struct exs_message *message)
{
    message->flags |= EXS_MESSAGE_TAIL;
    message->tail = TAIL;
    memcpy(exs_post_payload(connection),
           (const char *)request->addr + request->moved + message->count - TAIL, TAIL);
}

static void send_data(struct exs_connection *connection, struct exs_request *request,
                      const struct exs_step *step)
{
    bool direct = step->kind == EXS_STEP_DIRECT;
    struct exs_message message = {.type = EXS_MESSAGE_DATA,
                                  .flags = direct ? EXS_MESSAGE_DIRECT : 0,
                                  .chain = step->chain,
                                  .count = step->count};
    struct exs_place place = step->place;

    if (!direct) {
        place = connection->peer_ring;
        place.addr += step->offset;
    }
    if (step->in_line) {
        message.flags |= EXS_MESSAGE_INLINE;
        gather(connection, step->count);
    } else {
        connection->patience = direct ? EXS_ASK_POLLS : 0;
        if (direct && step->count >= TAIL_MIN && step->count <= TAIL_MAX)
            put_tail(connection, request, &message);
        if (!exs_post_write(connection, request, (const char *)request->addr + request->moved,
                            (size_t)(step->count - message.tail), &place))
            return;
        request->moved += (size_t)step->count;
        connection->waiting -= step->count;
    }
    exs_post(connection, &message);
}

static uint64_t inline_max(const struct exs_connection *connection)
{
    uint64_t wish = (uint64_t)connection->socket->options.inline_max;

    return wish < EXS_INLINE_MAX ? wish : EXS_INLINE_MAX;
}

/* Octets for one step: of all waiting requests if they fit a message, otherwise of the first. */
static uint64_t step_octets(const struct exs_connection *connection,
                            const struct exs_request *request)
{
    uint64_t most = inline_max(connection);
    uint64_t octets = request->length - request->moved;

    if (octets > most)
        return octets;
    for (; !request->more && request->next && octets < most; octets += request->length)
        request = request->next;
    return octets < most ? octets : most;
}

/* Returns true if these octets wait for further ones, to be sent together. */
static bool collects(const struct exs_connection *connection, uint64_t octets)
{
    return octets < EXS_INLINE_MAX / 2 &&
           !(connection->socket->options.fd_flags & EXS_FD_NODELAY) &&
           exs_flow_answer_comes(&connection->flow);
}

bool exs_stream_send_at_once(struct exs_connection *connection, const void *octets, size_t length)
{
    struct exs_message message = {.type = EXS_MESSAGE_DATA, .count = length};
    struct exs_step step;

    if (length == 0 || length > inline_max(connection) || !exs_post_room(connection) ||
        collects(connection, length) || !exs_stream_out_takes(&connection->out, length))
        return false;
    exs_stream_out_step(&connection->out, length, inline_max(connection), &step);
    message.flags = EXS_MESSAGE_INLINE;
    if (step.kind == EXS_STEP_DIRECT)
        message.flags |= EXS_MESSAGE_DIRECT;
    message.chain = step.chain;
    memcpy(exs_post_payload(connection), octets, length);
    exs_post(connection, &message);
    exs_post_all(connection);
    return true;
}

/*
 * An ADVERT usually comes without an ASK, while the receiver processes the data. Returns true if it
 * has not come after EXS_ASK_POLLS polls, so the sender asks for it.
 */
static bool asks_now(struct exs_connection *connection)
{
    if (connection->patience == 0)
        return true;
    connection->patience--;
    exs_connection_push_later(connection);
    return false;
}

/* Takes one step. Returns false if there is nothing to do, or it has to wait. */
static bool push_step(struct exs_connection *connection)
{
    struct exs_request *request = exs_sends_next(connection);
    struct exs_message message = {0};
    struct exs_step step;
    uint64_t octets;

    if (!request || !exs_post_room(connection))
        return false;
    octets = step_octets(connection, request);
    if (collects(connection, octets))
        return false;
    exs_stream_out_step(&connection->out, octets, inline_max(connection), &step);
    switch ((int)step.kind) {
    case EXS_STEP_DIRECT:
    case EXS_STEP_RING:
        send_data(connection, request, &step);
        return true;
    case EXS_STEP_ASK:
        if (!exs_connection_may_ask(connection) || !asks_now(connection))
            return false;
        exs_stream_out_asked(&connection->out);
        message.type = EXS_MESSAGE_ASK;
        exs_post(connection, &message);
        return true;
    case EXS_STEP_WANT:
        message.type = EXS_MESSAGE_WANT;
        exs_post(connection, &message);
        return true;
    default:
        return false;
    }
}

/* ---- Advertising ---------------------------------------------------------------------------- */

/*
 * Returns the next receive to advertise; NULL: none. Those whose memory cannot be registered end.
 */
static const struct exs_receive *next_advert(struct exs_connection *connection,
                                             it_rmr_context_t *key)
{
    struct exs_stream_in *in = &connection->in;
    const struct exs_receive *next;
    struct exs_request *request;
    it_lmr_handle_t lmr;
    uint64_t filled;
    int error;

    while ((next = exs_stream_in_next_advert(in)) != NULL) {
        request = next->owner;
        filled = next->filled;
        error = exs_memory_lmr(request->memory, &lmr, key);
        if (error == 0)
            return next;
        exs_request_cancel(request, error);
        exs_stream_in_remove(in, in->advertised);
        exs_receive_cancelled(connection, request, (size_t)filled);
    }
    return NULL;
}

/* Advertises one receive. Returns false if there is none. */
static bool advertise(struct exs_connection *connection, struct exs_place *place, uint8_t *flags,
                      uint64_t *seq)
{
    it_rmr_context_t key;
    const struct exs_receive *next = next_advert(connection, &key);

    if (!next)
        return false;
    *flags = next->waitall ? EXS_MESSAGE_WAITALL : 0;
    place->addr = (uintptr_t)((struct exs_request *)next->owner)->addr + next->filled;
    place->length = next->length - next->filled;
    place->stag = (uint32_t)key;
    exs_stream_in_advertise(&connection->in, seq);
    return true;
}

static void push_adverts(struct exs_connection *connection)
{
    struct exs_message message = {.type = EXS_MESSAGE_ADVERT};
    unsigned char *more = exs_post_payload(connection) + EXS_PLACE_OCTETS;
    struct exs_place place;
    uint64_t seq;
    uint8_t flags;

    if (!exs_post_room(connection) ||
        !advertise(connection, &message.place, &message.flags, &message.count))
        return;
    exs_post_spent(connection); /* so that the ADVERT counts them, and spares a CREDIT */
    for (; message.more < EXS_ADVERTS_MAX - 1 && advertise(connection, &place, &flags, &seq);
         message.more++, more += EXS_PLACE_OCTETS)
        exs_message_put_more(more, &place, flags);
    message.chain = connection->in.chain;
    exs_post(connection, &message);
}

void exs_stream_push(struct exs_connection *connection)
{
    struct exs_message none = {.type = EXS_MESSAGE_NONE};

    if (exs_stream_in_adverts_due(&connection->in) &&
        !(exs_stream_in_expects(&connection->in) && exs_connection_waits(connection)))
        push_adverts(connection);
    if (connection->in.asked && connection->ring_size > 0 && exs_post_room(connection) &&
        exs_connection_may_ask(connection) && exs_stream_in_none_due(&connection->in))
        exs_post(connection, &none);
    if (exs_sends_wait(connection))
        return;
    while (connection->next && push_step(connection)) {
    }
}

/* ---- Receiving ------------------------------------------------------------------------------ */

static void complete(struct exs_connection *connection)
{
    struct exs_receive receive;

    while (exs_stream_in_complete(&connection->in, &receive))
        exs_receive_done(connection, receive.owner, (size_t)receive.filled, 0);
}

/* Ends cancelled receives in order, once none of them is advertised. */
static void sweep(struct exs_connection *connection)
{
    struct exs_stream_in *in = &connection->in;
    struct exs_request *request;
    uint64_t filled;

    if (!connection->cancels || in->withdrawing)
        return;
    connection->cancels = in->advertised > 0;
    for (uint32_t i = in->advertised; i < in->count;) {
        request = exs_stream_in_at(in, i)->owner;
        filled = exs_stream_in_at(in, i)->filled;
        if (!request->cancelled) {
            i++;
            continue;
        }
        exs_stream_in_remove(in, i);
        exs_receive_cancelled(connection, request, (size_t)filled);
    }
}

/*
 * Copies octets of the ring to the first receives. Octets from position start on are not in the
 * ring but in fresh, in the message that has brought them.
 */
static void serve(struct exs_connection *connection, const unsigned char *fresh, uint64_t start)
{
    struct exs_take take;
    char *to;
    size_t old;

    complete(connection);
    while (exs_stream_in_take(&connection->in, &take)) {
        to = (char *)((struct exs_request *)take.receive->owner)->addr + take.to;
        old = 0;
        if (take.position < start) {
            old = (size_t)(start - take.position < take.count ? start - take.position : take.count);
            exs_ring_get(connection, take.position, to, old);
        }
        if (old < take.count)
            memcpy(to + old, fresh + (take.position + old - start), (size_t)take.count - old);
        complete(connection);
    }
}

void exs_stream_serve(struct exs_connection *connection)
{
    sweep(connection);
    serve(connection, NULL, UINT64_MAX);
    sweep(connection);
}

static bool got_ring_data(struct exs_connection *connection, const struct exs_message *message)
{
    struct exs_stream_in *in = &connection->in;
    uint64_t start = in->ring_written;
    uint64_t from;

    if (!exs_stream_in_ring(in, message->count, (message->flags & EXS_MESSAGE_INLINE) != 0))
        return false;
    if (connection->no_more_receives)
        exs_stream_in_drop(in);
    sweep(connection);
    if (!(message->flags & EXS_MESSAGE_INLINE)) {
        serve(connection, NULL, UINT64_MAX);
        return true;
    }
    serve(connection, message->payload, start);
    from = in->ring_read > start ? in->ring_read : start;
    if (from < in->ring_written)
        exs_ring_put(connection, from, message->payload + (from - start),
                     (size_t)(in->ring_written - from));
    return true;
}

static bool got_direct_data(struct exs_connection *connection, const struct exs_message *message)
{
    uint64_t here; /* octets that the message has brought */
    uint64_t to;
    struct exs_receive *receive =
        exs_stream_in_direct(&connection->in, message->chain, message->count,
                             (message->flags & EXS_MESSAGE_INLINE) != 0, &to);

    if (!receive)
        return false;
    here = (message->flags & EXS_MESSAGE_INLINE) ? message->count : message->tail;
    if (here > 0)
        memcpy((char *)((struct exs_request *)receive->owner)->addr + to + message->count - here,
               message->payload, (size_t)here);
    complete(connection);
    return true;
}

static bool got_adverts(struct exs_connection *connection, const struct exs_message *message)
{
    struct exs_message each = *message;

    do {
        if (!exs_stream_out_advert(&connection->out, &each))
            return false;
    } while (exs_message_next_more(&each));
    return true;
}

static bool got_withdraw(struct exs_connection *connection, uint32_t chain)
{
    connection->withdrawn = chain;
    connection->due |= EXS_DUE_WITHDRAWN;
    return exs_stream_out_withdraw(&connection->out, chain);
}

static bool got_ring(struct exs_connection *connection, const struct exs_message *message)
{
    if (!connection->out.wanted || connection->out.ring_known ||
        message->place.length != connection->out.ring_size)
        return false;
    connection->peer_ring = message->place;
    connection->out.ring_known = true;
    return true;
}

static bool __attribute__((noinline))
got_control(struct exs_connection *connection, const struct exs_message *message)
{
    switch (message->type) {
    case EXS_MESSAGE_ADVERT:
        return got_adverts(connection, message);
    case EXS_MESSAGE_ASK:
        return exs_stream_in_ask(&connection->in);
    case EXS_MESSAGE_NONE:
        exs_stream_out_none(&connection->out);
        return true;
    case EXS_MESSAGE_WITHDRAW:
        return got_withdraw(connection, message->chain);
    case EXS_MESSAGE_WITHDRAWN:
        if (!exs_stream_in_withdrawn(&connection->in, message->chain))
            return false;
        exs_stream_serve(connection);
        return true;
    case EXS_MESSAGE_WANT:
        connection->due |= EXS_DUE_RING;
        return connection->ring_size > 0 && !connection->ring_lmr;
    case EXS_MESSAGE_RING:
        return got_ring(connection, message);
    default:
        return false;
    }
}

bool exs_stream_message(struct exs_connection *connection, const struct exs_message *message)
{
    if (!exs_stream_out_freed(&connection->out, message->freed))
        return false;
    if (message->type != EXS_MESSAGE_DATA)
        return got_control(connection, message);
    return (message->flags & EXS_MESSAGE_DIRECT) ? got_direct_data(connection, message)
                                                 : got_ring_data(connection, message);
}

void exs_stream_receive(struct exs_connection *connection, struct exs_request *request)
{
    struct exs_receive receive = {.length = request->length,
                                  .waitall = (request->flags & MSG_WAITALL) != 0,
                                  .peek = (request->flags & MSG_PEEK) != 0,
                                  .owner = request};

    exs_stream_in_post(&connection->in, &receive);
    serve(connection, NULL, UINT64_MAX);
}
