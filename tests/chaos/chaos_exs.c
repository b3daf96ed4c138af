/* SPDX-License-Identifier: BSD-2-Clause */
/* Extended Sockets: each stream has a queue of its own, and one call at a time. */
#include "chaos/chaos_stream.h"

#include <errno.h>
#include <exs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <unistd.h>

#define CLOSE_STEPS (100u * (unsigned)chaos->time_factor) /* of STREAM_WAIT_MS each */

struct state {
    exs_qhandle_t queue;
    bool is_due; /* a call's event */
};

/* Accepts of the listening socket. */
static exs_qhandle_t listening;
static bool accept_is_due;

static bool start(bool is_server)
{
    return setenv("ITAPI_EXS_INTERFACE", chaos->places[is_server].interface, 1) == 0 &&
           exs_init(EXS_VERSION1) == 0;
}

static int open_listener(uint16_t *port)
{
    struct sockaddr_in address = chaos_server_address(0);
    socklen_t length = sizeof(address);
    int fd, error;

    if (!listening)
        listening = exs_qcreate(8);
    fd = listening ? exs_socket(PF_INET, SOCK_STREAM, 0) : -1;
    if (fd >= 0 && exs_bind(fd, (struct sockaddr *)&address, length) == 0 &&
        exs_listen(fd, 64) == 0 && exs_getsockname(fd, (struct sockaddr *)&address, &length) == 0) {
        *port = address.sin_port;
        return fd;
    }
    error = errno;
    if (fd >= 0)
        (void)exs_close(fd, EXS_BLOCK | EXS_DONTLINGER, NULL, NULL);
    errno = error;
    return -1;
}

/* Returns whether an event has come; -1 with errno if the call fails. */
static int take(exs_qhandle_t queue, exs_event_t *event)
{
    struct timeval limit = {.tv_usec = STREAM_WAIT_MS * 1000};
    int count = exs_qdequeue(queue, event, 1, &limit);

    return count < 0 && errno == EINTR ? 0 : count;
}

static bool make_state(struct stream *stream)
{
    struct state *state = calloc(1, sizeof(*state));

    state->queue = exs_qcreate(8);
    stream->state = state;
    if (state->queue)
        return true;
    free(state);
    (void)exs_close(stream->fd, EXS_BLOCK | EXS_DONTLINGER, NULL, NULL);
    return false;
}

static bool accept_one(int listener, struct stream *stream)
{
    exs_acceptaddr_t element = {.exs_ahandle = &accept_is_due};
    exs_event_t event;
    int count;

    if (!accept_is_due && exs_accept(listener, &element, 1, 0, listening) != 0)
        return false;
    accept_is_due = true;
    count = take(listening, &event);
    if (count <= 0) {
        errno = count == 0 ? EAGAIN : errno;
        return false;
    }
    accept_is_due = false;
    errno = event.exs_evt_errno;
    if (errno != 0)
        return false;
    stream->fd = event.exs_evt_union.exs_evt_accept.exs_evt_new_socket;
    return make_state(stream);
}

static bool connect_to(uint16_t port, struct stream *stream)
{
    struct sockaddr_in address = chaos_server_address(port);
    int error;

    stream->fd = exs_socket(PF_INET, SOCK_STREAM, 0);
    if (stream->fd < 0)
        return false;
    if (exs_blocking_connect(stream->fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return make_state(stream);
    error = errno;
    (void)exs_close(stream->fd, EXS_BLOCK | EXS_DONTLINGER, NULL, NULL);
    errno = error;
    return false;
}

/* The call is under way. Returns the octets that its event tells. */
static ssize_t moved(struct state *state)
{
    exs_event_t event;
    int count = take(state->queue, &event);

    if (count <= 0)
        return count;
    state->is_due = false;
    errno = event.exs_evt_errno;
    if (errno != 0 || event.exs_evt_union.exs_evt_xfer.exs_evt_length == 0)
        return -1;
    return (ssize_t)event.exs_evt_union.exs_evt_xfer.exs_evt_length;
}

static ssize_t send_some(struct stream *stream, const void *data, size_t length)
{
    struct state *state = stream->state;

    if (!state->is_due &&
        exs_send(stream->fd, data, length, 0, state->queue, state, EXS_MHANDLE_UNREGISTERED) != 0)
        return -1;
    state->is_due = true;
    return moved(state);
}

static ssize_t receive_some(struct stream *stream, void *data, size_t length)
{
    struct state *state = stream->state;

    if (!state->is_due &&
        exs_recv(stream->fd, data, length, 0, state->queue, state, EXS_MHANDLE_UNREGISTERED) != 0)
        return -1;
    state->is_due = true;
    return moved(state);
}

/* The call that is under way, and the close: each has its event. */
static bool close_one(struct stream *stream)
{
    struct state *state = stream->state;
    unsigned due = state->is_due;
    exs_event_t event;

    if (exs_close(stream->fd, EXS_DONTLINGER, state->queue, state) == 0)
        due++;
    else
        return false;
    for (unsigned i = 0; due > 0 && i < CLOSE_STEPS; i++)
        due -= take(state->queue, &event) == 1;
    (void)exs_qdelete(state->queue);
    free(state);
    return due == 0;
}

const struct stream_calls stream_calls = {
    start, open_listener, accept_one, connect_to, send_some, receive_some, close_one,
};
