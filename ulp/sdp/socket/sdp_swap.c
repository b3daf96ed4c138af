/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_swap.h"

#include "connection/sdp_connection.h"
#include "face/sdp_face.h"
#include "socket/sdp_behind.h"
#include "socket/sdp_interest.h"
#include "socket/sdp_own.h"
#include "socket/sdp_remember.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_table.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <unistd.h>

/*
 * ---- The events of the face --------------------------------------------------------------------
 */

/* Called with the socket's lock. */
static void show(struct sdp_socket *socket, unsigned events)
{
    unsigned shown = events & ~(SDP_NEWS | POLLPRI);
    unsigned news = events & SDP_NEWS && socket->wants_news ? shown & POLLIN : 0;

    if (events & SDP_ELSEWHERE)
        return; /* both processes have the face; the other one shows its events there */
    sdp_interests_urgent(socket, (events & POLLPRI) != 0);
    if (events & POLLPRI)
        shown |= POLLIN; /* wakes threads that ask for POLLPRI; they check again */
    if (socket->numbers_count > 0)
        sdp_face_show(&socket->face, socket->numbers[0], shown, news);
}

/*
 * A transfer may have ended the events reported here before this thread ran. So the events are read
 * again after the transfer, and the program is not notified of data that it has already read: see
 * sdp_swap_correct.
 */
static void changed(void *context, unsigned events)
{
    struct sdp_socket *socket = context;
    unsigned moves = socket->moves_told;

    (void)pthread_mutex_lock(&socket->lock);
    while (moves != atomic_load(&socket->moves)) {
        (void)pthread_mutex_unlock(&socket->lock);
        moves = atomic_load(&socket->moves);
        events = sdp_events(socket->connection) | (events & SDP_NEWS);
        (void)pthread_mutex_lock(&socket->lock);
    }
    socket->moves_told = moves;
    socket->changes++;
    if (!sdp_behind_may_be(socket, events))
        show(socket, events);
    (void)pthread_mutex_unlock(&socket->lock);
}

/*
 * sdp_events may call `changed`, so it is called without the lock, and again if `changed` came
 * between.
 */
unsigned sdp_swap_show(struct sdp_socket *socket)
{
    unsigned events;
    unsigned changes;

    (void)pthread_mutex_lock(&socket->lock);
    do {
        changes = socket->changes;
        (void)pthread_mutex_unlock(&socket->lock);
        events = sdp_events(socket->connection);
        (void)pthread_mutex_lock(&socket->lock);
    } while (changes != socket->changes);
    show(socket, events);
    (void)pthread_mutex_unlock(&socket->lock);
    return events;
}

unsigned sdp_swap_look(struct sdp_socket *socket)
{
    unsigned events = sdp_events(socket->connection);
    bool behind;

    (void)pthread_mutex_lock(&socket->lock);
    behind = socket->behind;
    (void)pthread_mutex_unlock(&socket->lock);
    return behind && events & POLLIN ? events : sdp_swap_show(socket);
}

void sdp_swap_correct(struct sdp_socket *socket, unsigned events)
{
    bool shown;

    (void)pthread_mutex_lock(&socket->lock);
    shown = (socket->face.shown & events) != 0;
    (void)pthread_mutex_unlock(&socket->lock);
    if (shown)
        (void)sdp_swap_show(socket);
}

/*
 * If there is room by now, the face has never shown the lack of room; it must signal an edge
 * anyway.
 */
void sdp_swap_blocked(struct sdp_socket *socket)
{
    if ((sdp_swap_show(socket) & (POLLOUT | SDP_ELSEWHERE)) != POLLOUT)
        return;
    (void)pthread_mutex_lock(&socket->lock);
    if (socket->wants_news && socket->numbers_count > 0 && socket->face.shown & POLLOUT)
        sdp_face_show(&socket->face, socket->numbers[0], socket->face.shown, POLLOUT);
    (void)pthread_mutex_unlock(&socket->lock);
}

/*
 * The connection always reports news: sdp_swap_correct may have removed from the face what was
 * reported before, so the same events can be new.
 */
void sdp_swap_watch(struct sdp_socket *socket)
{
    (void)pthread_mutex_lock(&socket->lock);
    socket->wants_news = atomic_load(&socket->flags) & O_ASYNC || sdp_interested_in_edges(socket);
    (void)pthread_mutex_unlock(&socket->lock);
}

/*
 * ---- Settings of the program -------------------------------------------------------------------
 */

/* What setsockopt does with a value. */
enum form {
    SWITCH,
    AT_LEAST_ONE,
    DOUBLED /* the kernel doubles the size, for its own data */
};

static const struct {
    int level;
    int name;
    enum form form;
    int option; /* enum sdp_option; below 0: of no effect on the connection */
} table[SDP_REMEMBERED] = {{IPPROTO_TCP, TCP_NODELAY, SWITCH, -1},
                           {IPPROTO_TCP, TCP_CORK, SWITCH, SDP_CORK},
                           {SOL_SOCKET, SO_OOBINLINE, SWITCH, SDP_OOB_INLINE},
                           {SOL_SOCKET, SO_RCVLOWAT, AT_LEAST_ONE, SDP_LOW_WATER},
                           {SOL_SOCKET, SO_SNDBUF, DOUBLED, SDP_SEND_BUFFER},
                           {SOL_SOCKET, SO_RCVBUF, DOUBLED, -1}};

void sdp_remember_read(struct sdp_socket *socket, int fd)
{
    for (int i = 0; i < SDP_REMEMBERED; i++) {
        socklen_t length = sizeof(socket->remembered[i]);

        (void)getsockopt(fd, table[i].level, table[i].name, &socket->remembered[i], &length);
    }
}

/* The connection chooses the size of its send buffer unless the program sets one. */
void sdp_remember_apply(struct sdp_socket *socket)
{
    for (int i = 0; i < SDP_REMEMBERED; i++)
        if (table[i].option >= 0 && table[i].form != DOUBLED)
            (void)sdp_set_option(socket->connection, (enum sdp_option)table[i].option,
                                 socket->remembered[i]);
}

int sdp_remember_find(int level, int name)
{
    for (int i = 0; i < SDP_REMEMBERED; i++)
        if (table[i].level == level && table[i].name == name)
            return i;
    return -1;
}

int sdp_remember_set(struct sdp_socket *socket, int which, int value)
{
    if (table[which].form == SWITCH)
        value = value != 0;
    else if (table[which].form == AT_LEAST_ONE)
        value = value < 0 ? INT_MAX : value > 0 ? value : 1;
    else
        value = value > INT_MAX / 2 ? INT_MAX : value * 2;
    socket->remembered[which] = value;
    return table[which].option < 0
               ? 0
               : sdp_set_option(socket->connection, (enum sdp_option)table[which].option, value);
}

static void remember(struct sdp_socket *socket, int fd)
{
    static const int limits[] = {SO_RCVTIMEO, SO_SNDTIMEO};
    socklen_t length;

    atomic_store(&socket->flags, fcntl(fd, F_GETFL) & (O_NONBLOCK | O_ASYNC));
    for (unsigned i = 0; i < 2; i++) {
        length = sizeof(socket->time_limits[i]);
        (void)getsockopt(fd, SOL_SOCKET, limits[i], &socket->time_limits[i], &length);
        socket->name_lengths[i] = sizeof(socket->names[i]);
    }
    sdp_remember_read(socket, fd);
    length = sizeof(socket->linger);
    (void)getsockopt(fd, SOL_SOCKET, SO_LINGER, &socket->linger, &length);
    (void)getsockname(fd, (struct sockaddr *)&socket->names[0], &socket->name_lengths[0]);
    (void)getpeername(fd, (struct sockaddr *)&socket->names[1], &socket->name_lengths[1]);
}

/* The signal goes to the same owner, with the same number. */
static void carry_async(struct sdp_socket *socket, int stream, int number)
{
    struct f_owner_ex owner;
    int signal = fcntl(stream, F_GETSIG);

    if (fcntl(stream, F_GETOWN_EX, &owner) == 0 && owner.pid != 0)
        (void)fcntl(number, F_SETOWN_EX, &owner);
    if (signal > 0)
        (void)fcntl(number, F_SETSIG, signal);
    if (atomic_load(&socket->flags) & O_ASYNC) {
        (void)fcntl(stream, F_SETFL, fcntl(stream, F_GETFL) & ~O_ASYNC);
        (void)fcntl(number, F_SETFL, O_NONBLOCK | O_ASYNC);
    }
}

/* ---- The change ----------------------------------------------------------------------------- */

/* Puts `fd` into all numbers; called with sdp_table_lock and the socket's. */
static void stand_in(struct sdp_socket *socket, int fd)
{
    for (unsigned i = 0; i < socket->numbers_count; i++) {
        int number = socket->numbers[i];
        int flags = fcntl(number, F_GETFD);

        (void)dup3(fd, number, flags >= 0 && flags & FD_CLOEXEC ? O_CLOEXEC : 0);
    }
}

static void change(struct sdp_socket *socket, int from, int to)
{
    sdp_table_lock();
    (void)pthread_mutex_lock(&socket->lock);
    sdp_interests_withdraw(socket);
    stand_in(socket, to);
    if (socket->numbers_count > 0)
        carry_async(socket, from, socket->numbers[0]);
    sdp_interests_restore(socket);
    (void)pthread_mutex_unlock(&socket->lock);
    sdp_table_unlock();
}

/* Moves the stream to a number of this library. */
static int keep_stream(struct sdp_socket *socket)
{
    int fd = -1;

    (void)pthread_mutex_lock(&socket->lock);
    if (socket->numbers_count > 0)
        fd = fcntl(socket->numbers[0], F_DUPFD_CLOEXEC, 3);
    (void)pthread_mutex_unlock(&socket->lock);
    return sdp_own_keep(fd);
}

static bool start(struct sdp_socket *socket, int stream, int face, bool active,
                  const struct sdp_settings *settings)
{
    struct sdp_notify notify = {.changed = changed, .context = socket};
    int result;

    remember(socket, stream);
    change(socket, stream, face);
    result = sdp_connection_start(stream, active ? SDP_ACTIVE : SDP_PASSIVE, settings, &notify,
                                  &socket->connection);
    if (result == 0) {
        sdp_remember_apply(socket);
        return true;
    }
    socket->connection = NULL;
    change(socket, face, stream);
    (void)fcntl(stream, F_SETFL, atomic_load(&socket->flags));
    return false;
}

/*
 * The peer converts, so octets that it has sent or still sends are not for the program. The program
 * finds the end of the stream.
 */
static void abandon(int stream)
{
    char octets[256];

    (void)shutdown(stream, SHUT_RDWR);
    while (recv(stream, octets, sizeof(octets), MSG_DONTWAIT) > 0)
        continue;
}

static void abandon_number(struct sdp_socket *socket)
{
    (void)pthread_mutex_lock(&socket->lock);
    if (socket->numbers_count > 0)
        abandon(socket->numbers[0]);
    (void)pthread_mutex_unlock(&socket->lock);
}

bool sdp_swap(struct sdp_socket *socket, bool active, const struct sdp_settings *settings)
{
    int stream = keep_stream(socket);
    int face = -1;
    bool started = false;

    if (stream < 0) {
        abandon_number(socket);
        return false;
    }
    if (sdp_face_open(&socket->face, &face) == 0) {
        started = start(socket, stream, face, active, settings);
        (void)close(face);
        if (!started)
            sdp_face_close(&socket->face);
    }
    if (!started) {
        abandon(stream);
        (void)close(stream);
        return false;
    }
    sdp_watch(socket->connection, SDP_WATCH_NEWS);
    sdp_swap_watch(socket);
    (void)sdp_swap_show(socket);
    return true;
}
