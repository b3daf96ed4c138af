/* SPDX-License-Identifier: BSD-2-Clause */
/* The state machine: finds the row, takes the step, tries the socket, waits. */
#include "vp/uiwarp/connect/uiw_conn_private.h"

#include <errno.h>
#include <sys/socket.h>

/* ---------------------------------------------------------------- the socket */

static enum uiw_conn_event conn_lost(struct uiw_conn *conn, int error)
{
    if (error == EAGAIN || error == EWOULDBLOCK)
        return UIW_ON_NOTHING;
    conn->error = error;
    return UIW_ON_LOST;
}

static enum uiw_conn_event conn_write(struct uiw_conn *conn)
{
    size_t rest = conn->out_length - conn->out_sent;
    ssize_t sent;

    if (rest == 0)
        return UIW_ON_SENT;
    do {
        sent = send(conn->fd, conn->out + conn->out_sent, rest, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0)
        return conn_lost(conn, errno);
    conn->out_sent += (size_t)sent;
    return UIW_ON_MOVED;
}

/* Reports an error of connect(2) itself; otherwise tries to send. */
static enum uiw_conn_event conn_connect(struct uiw_conn *conn)
{
    return conn->error != 0 ? UIW_ON_LOST : conn_write(conn);
}

/*
 * Reads octets of the frame. On a converted socket it never reads past the frame, since those
 * octets may not be meant for MPA. On other sockets an Initiator's first FPDUs may follow.
 */
static enum uiw_conn_event conn_receive(struct uiw_conn *conn)
{
    size_t room = conn->role->converts ? iw_mpa_wanted(&conn->mpa) : sizeof(conn->frame);
    ssize_t got;

    do {
        got = recv(conn->fd, conn->frame, room, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return conn_lost(conn, errno);
    if (got == 0)
        return conn_lost(conn, conn->mpa.length > 0 ? EBADMSG : ECONNRESET);
    conn->early = conn->frame;
    conn->early_length = (size_t)got;
    return UIW_ON_MOVED;
}

/* Parses octets that the caller had read before the conversion, then those of the socket. */
static enum uiw_conn_event conn_read(struct uiw_conn *conn)
{
    static const enum uiw_conn_event verdicts[] = {
        [IW_MPA_DONE] = UIW_ON_DONE,
        [IW_MPA_REJECTED] = UIW_ON_REJECTED,
        [IW_MPA_BAD] = UIW_ON_BAD,
        [IW_MPA_REFUSE] = UIW_ON_REFUSE,
        [IW_MPA_TERMINATE] = UIW_ON_TERMINATE,
    };
    enum uiw_conn_event event = UIW_ON_MOVED;
    size_t length;

    if (conn->mpa.verdict != IW_MPA_MORE)
        return verdicts[conn->mpa.verdict];
    if (conn->early_length == 0)
        event = conn_receive(conn);
    if (event != UIW_ON_MOVED)
        return event;
    length = iw_mpa_wanted(&conn->mpa);
    if (length > conn->early_length)
        length = conn->early_length;
    (void)iw_mpa_feed(&conn->mpa, conn->early, length); /* the verdict stays in .mpa */
    conn->early += length;
    conn->early_length -= length;
    return UIW_ON_MOVED;
}

bool uiw_conn_peer_is_quiet(const struct uiw_conn *conn)
{
    unsigned char octet;
    ssize_t got;

    if (conn->early_length > 0)
        return false;
    got = recv(conn->fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return true;
    if (got < 0) /* with IP_RECVERR an error is reported once: now the next read finds EOF */
        (void)shutdown(conn->fd, SHUT_RD);
    return false;
}

static enum uiw_conn_event conn_peek(struct uiw_conn *conn)
{
    return uiw_conn_peer_is_quiet(conn) ? UIW_ON_NOTHING : UIW_ON_LOST;
}

static enum uiw_conn_event conn_wait(struct uiw_conn *conn)
{
    (void)conn;
    return UIW_ON_NOTHING;
}

/* For each state: the function that tries the socket, and the events to wait for. */
static const struct {
    enum uiw_conn_event (*attempt)(struct uiw_conn *conn);
    unsigned events;
} conn_states[UIW_CONN_STATES] = {
    [UIW_CONN_OVER] = {conn_wait, 0},
    [UIW_CONN_CONNECTING] = {conn_connect, EVD_IO_WRITE}, /* a send finds TCP connected */
    [UIW_CONN_REFUSED] = {conn_wait, 0},
    [UIW_CONN_MESSAGE] = {conn_write, EVD_IO_WRITE},
    [UIW_CONN_ONLY_MESSAGE] = {conn_write, EVD_IO_WRITE},
    [UIW_CONN_NEXT_REQUEST] = {conn_write, EVD_IO_WRITE},
    [UIW_CONN_REQUEST] = {conn_write, EVD_IO_WRITE},
    [UIW_CONN_WAIT_REPLY] = {conn_read, EVD_IO_READ},
    [UIW_CONN_READ_REPLY] = {conn_read, EVD_IO_READ},
    [UIW_CONN_WAIT_REQUEST] = {conn_read, EVD_IO_READ},
    [UIW_CONN_READ_REQUEST] = {conn_read, EVD_IO_READ},
    [UIW_CONN_ANNOUNCED] = {conn_wait, 0},
    [UIW_CONN_WATCHED] = {conn_peek, EVD_IO_READ},
    [UIW_CONN_GONE] = {conn_wait, 0},
    [UIW_CONN_REPLY] = {conn_write, EVD_IO_WRITE},
};

static void conn_ready(void *argument, unsigned events)
{
    (void)events; /* the step tries the socket */
    uiw_conn_step(argument, UIW_ON_NOTHING);
}

static bool conn_watch(struct uiw_conn *conn)
{
    unsigned watched = conn->io.active ? conn->io.events : 0;
    unsigned wanted = conn_states[conn->state].events;

    if (watched == wanted)
        return true;
    evd_io_unwatch(&conn->io);
    return wanted == 0 ||
           evd_io_watch(&conn->io, conn->ia->ual->evd.loop, conn->fd, wanted, conn_ready, conn);
}

/* ---------------------------------------------------------------- steps */

const struct uiw_conn_row *uiw_conn_row(const struct uiw_conn_role *role, enum uiw_conn_state state,
                                        enum uiw_conn_event event)
{
    for (size_t i = 0; i < role->count; i++) {
        const struct uiw_conn_row *row = &role->rows[i];

        if ((row->states & 1u << state) && (row->events & 1u << event))
            return row;
    }
    return NULL;
}

static void conn_enter(struct uiw_conn *conn, enum uiw_conn_state state)
{
    struct uiw_cm *cm = &conn->ia->cm;

    if (UIW_CONN_UNDECIDED & 1u << conn->state)
        cm->undecided--;
    if (UIW_CONN_UNDECIDED & 1u << state)
        cm->undecided++;
    if (state == UIW_CONN_OVER)
        uiw_conn_end(conn);
    else
        conn->state = state;
}

static void conn_take(struct uiw_conn *conn, enum uiw_conn_event event)
{
    static const struct uiw_conn_row other = {.act = &uiw_act_fail};
    const struct uiw_conn_row *row = uiw_conn_row(conn->role, conn->state, event);
    enum uiw_conn_state next;

    if (event == UIW_ON_NOTHING || conn->state == UIW_CONN_OVER)
        return;
    if (!row)
        row = &other;
    conn->event = event;
    next = !row->act || row->act->run(conn) ? row->next : row->otherwise;
    if (next != UIW_CONN_SAME)
        conn_enter(conn, next);
}

/* Returns true if the socket need not be tried yet: the Reply takes a round trip. */
static bool conn_is_patient(const struct uiw_conn *conn)
{
    return conn->state == UIW_CONN_WAIT_REPLY && conn->early_length == 0;
}

void uiw_conn_step(struct uiw_conn *conn, enum uiw_conn_event event)
{
    uiw_conn_hold(conn);
    conn_take(conn, event);
    do {
        event = conn_states[conn->state].attempt(conn);
        conn_take(conn, event);
    } while (event != UIW_ON_NOTHING && !conn_is_patient(conn));
    while (!conn_watch(conn))
        conn_take(conn, UIW_ON_NO_MEMORY);
    uiw_conn_drop(conn);
}

static void conn_expired(void *argument)
{
    uiw_conn_step(argument, UIW_ON_EXPIRED);
}

bool uiw_conn_limit(struct uiw_conn *conn, uint64_t delay_ns)
{
    return evd_timer_start(&conn->timer, conn->ia->ual->evd.loop, delay_ns, conn_expired, conn);
}
