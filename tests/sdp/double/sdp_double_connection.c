/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces connection/: it moves the octets over the TCP stream that it was given, so a peer
 * notices nothing. The face, the table and the hooks above it must behave towards a program as its
 * socket would.
 */
#include "connection/sdp_connection.h"
#include "guard/sdp_guard.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct sdp_connection {
    int fd;
    struct sdp_notify notify;
    pthread_mutex_t lock; /* guards `fd` at the end; only one thread reports at a time */
    bool closed;
    struct sdp_connection *next; /* of all, which are never freed */
};

static struct sdp_connection
    *all; /* guarded by all_lock, which is taken before those of connections */
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static int watcher = -1;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static unsigned now(const struct sdp_connection *connection)
{
    struct pollfd poll_one = {.fd = connection->fd,
                              .events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP};

    (void)poll(&poll_one, 1, 0);
    return (unsigned)poll_one.revents & 0xffff;
}

/* Reports every change. A connection's memory is never freed, so that a report may be late. */
static void *watch(void *argument)
{
    struct epoll_event event;

    (void)argument;
    for (;;) {
        struct sdp_connection *connection;

        if (epoll_wait(watcher, &event, 1, -1) != 1)
            continue;
        connection = event.data.ptr;
        (void)pthread_mutex_lock(&connection->lock);
        if (!connection->closed) {
            unsigned events = now(connection);

            connection->notify.changed(connection->notify.context,
                                       events | (event.events & EPOLLIN ? SDP_NEWS : 0));
        }
        (void)pthread_mutex_unlock(&connection->lock);
    }
    return NULL;
}

static void start_watcher(void)
{
    pthread_t thread;

    watcher = epoll_create1(EPOLL_CLOEXEC);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        (void)pthread_detach(thread);
}

void sdp_use_interface(const char *name)
{
    (void)name;
}

void sdp_interface_prepare(void)
{
}

bool sdp_interface_serves(const uint8_t own[16])
{
    (void)own;
    return true;
}

unsigned sdp_interface_kind(void)
{
    return 0;
}

int sdp_connection_start(int fd, enum sdp_role role, const struct sdp_settings *settings,
                         const struct sdp_notify *notify, struct sdp_connection **connection)
{
    struct sdp_connection *made = calloc(1, sizeof(*made));
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLPRI | EPOLLRDHUP | EPOLLET,
                                .data.ptr = made};

    (void)role;
    (void)settings;
    if (!made)
        return -ENOMEM;
    sdp_guard_install();
    (void)pthread_once(&once, start_watcher);
    made->fd = fd;
    made->notify = *notify;
    (void)pthread_mutex_init(&made->lock, NULL);
    *connection = made;
    (void)pthread_mutex_lock(&all_lock);
    made->next = all;
    all = made;
    (void)pthread_mutex_unlock(&all_lock);
    (void)epoll_ctl(watcher, EPOLL_CTL_ADD, fd, &event);
    return 0;
}

/* Polls until the call may continue. Returns 0, or the error that the call returns. */
static int wait_for(struct sdp_connection *connection, short events,
                    const struct timespec *deadline)
{
    struct pollfd poll_one = {.fd = connection->fd, .events = events};
    struct timespec left;
    int result;

    if (deadline) {
        (void)clock_gettime(CLOCK_MONOTONIC, &left);
        left.tv_sec = deadline->tv_sec - left.tv_sec;
        left.tv_nsec = deadline->tv_nsec - left.tv_nsec;
        if (left.tv_nsec < 0) {
            left.tv_nsec += 1000000000;
            left.tv_sec--;
        }
        if (left.tv_sec < 0)
            return -EAGAIN;
    }
    result = ppoll(&poll_one, 1, deadline ? &left : NULL, NULL);
    return result > 0 ? 0 : result == 0 ? -EAGAIN : -errno;
}

/* Updates the face, which may show events that are over. */
static void look(struct sdp_connection *connection)
{
    (void)pthread_mutex_lock(&connection->lock);
    connection->notify.changed(connection->notify.context, now(connection));
    (void)pthread_mutex_unlock(&connection->lock);
}

static size_t take(struct iovec *rest, int *count, const struct iovec *parts, size_t done)
{
    size_t left = 0;

    for (int i = 0, into = 0; i < *count; i++) {
        size_t skip = done < parts[i].iov_len ? done : parts[i].iov_len;

        rest[into].iov_base = (char *)parts[i].iov_base + skip;
        rest[into++].iov_len = parts[i].iov_len - skip;
        left += parts[i].iov_len - skip;
        done -= skip;
    }
    return left;
}

ssize_t sdp_send(struct sdp_connection *connection, const struct iovec *parts, int count, int flags,
                 const struct timespec *deadline)
{
    struct iovec rest[16];
    ssize_t done = 0;
    ssize_t result;

    count = count > 16 ? 16 : count;
    for (;;) {
        size_t left = take(rest, &count, parts, (size_t)done);
        struct msghdr message = {.msg_iov = rest, .msg_iovlen = (size_t)count};

        result = sendmsg(connection->fd, &message, flags | MSG_DONTWAIT | MSG_NOSIGNAL);
        if (result >= 0)
            done += result;
        if ((size_t)(result > 0 ? result : 0) == left)
            break;
        if (result < 0 && errno != EAGAIN)
            break;
        if (flags & MSG_DONTWAIT)
            break;
        result = wait_for(connection, POLLOUT, deadline);
        if (result < 0) {
            errno = (int)-result;
            break;
        }
    }
    result = done > 0 || result >= 0 ? done : -errno;
    look(connection);
    return result;
}

static bool may_go_on(ssize_t result, size_t done, size_t size, int flags)
{
    if (result == 0)
        return false;
    if (result < 0)
        return errno == EAGAIN && !(flags & MSG_DONTWAIT) && (done == 0 || flags & MSG_WAITALL);
    return done < size && flags & MSG_WAITALL && !(flags & (MSG_DONTWAIT | MSG_PEEK | MSG_OOB));
}

ssize_t sdp_receive(struct sdp_connection *connection, const struct iovec *parts, int count,
                    int flags, const struct timespec *deadline)
{
    struct iovec rest[16];
    size_t done = 0;
    ssize_t result;

    count = count > 16 ? 16 : count;
    for (;;) {
        size_t left = take(rest, &count, parts, done);
        struct msghdr message = {.msg_iov = rest, .msg_iovlen = (size_t)count};

        result = recvmsg(connection->fd, &message, (flags & ~MSG_WAITALL) | MSG_DONTWAIT);
        if (result > 0)
            done += (size_t)result;
        if (!may_go_on(result, done, done + left - (size_t)(result > 0 ? result : 0), flags))
            break;
        if (result < 0) {
            result = wait_for(connection, POLLIN, deadline);
            if (result < 0) {
                errno = (int)-result;
                break;
            }
        }
    }
    result = done > 0 || result >= 0 ? (ssize_t)done : -errno;
    look(connection);
    return result;
}

int sdp_shutdown(struct sdp_connection *connection, int how)
{
    int result = shutdown(connection->fd, how) < 0 ? -errno : 0;

    look(connection);
    return result;
}

int sdp_close(struct sdp_connection *connection, const struct linger *linger)
{
    (void)pthread_mutex_lock(&connection->lock);
    connection->closed = true;
    if (linger)
        (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, linger, sizeof(*linger));
    (void)close(connection->fd);
    (void)pthread_mutex_unlock(&connection->lock);
    return 0;
}

void sdp_disturb(struct sdp_connection *connection)
{
    (void)connection;
}

unsigned sdp_events(struct sdp_connection *connection)
{
    return now(connection);
}

void sdp_watch(struct sdp_connection *connection, enum sdp_watch watch_what)
{
    (void)connection;
    (void)watch_what;
}

__thread bool sdp_leads __attribute__((tls_model("initial-exec")));

int sdp_lead_begin(void)
{
    return -1;
}

void sdp_lead_end(bool readable)
{
    (void)readable;
}

int sdp_error(struct sdp_connection *connection)
{
    int error = 0;
    socklen_t length = sizeof(error);

    (void)getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &length);
    return error;
}

static size_t ask(struct sdp_connection *connection, unsigned long request)
{
    int size = 0;

    (void)ioctl(connection->fd, request, &size);
    return (size_t)size;
}

size_t sdp_unread(struct sdp_connection *connection)
{
    return ask(connection, FIONREAD);
}

size_t sdp_unsent(struct sdp_connection *connection)
{
    return ask(connection, TIOCOUTQ);
}

bool sdp_at_mark(struct sdp_connection *connection)
{
    return sockatmark(connection->fd) == 1;
}

bool sdp_is_closed(struct sdp_connection *connection)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    return getpeername(connection->fd, (struct sockaddr *)&peer, &length) < 0;
}

int sdp_set_option(struct sdp_connection *connection, enum sdp_option option, int value)
{
    static const int names[] = {
        [SDP_CORK] = TCP_CORK, [SDP_OOB_INLINE] = SO_OOBINLINE, [SDP_LOW_WATER] = SO_RCVLOWAT};
    static const int known = sizeof(names) / sizeof(names[0]);
    int level = option == SDP_CORK ? IPPROTO_TCP : SOL_SOCKET;

    if ((int)option >= known)
        return 0;
    return setsockopt(connection->fd, level, names[option], &value, sizeof(value)) < 0 ? -errno : 0;
}

int sdp_set_stream_option(struct sdp_connection *connection, int level, int name, const void *value,
                          socklen_t length)
{
    return setsockopt(connection->fd, level, name, value, length) < 0 ? -errno : 0;
}

int sdp_get_stream_option(struct sdp_connection *connection, int level, int name, void *value,
                          socklen_t *length)
{
    return getsockopt(connection->fd, level, name, value, length) < 0 ? -errno : 0;
}

/* The watcher may report at this moment: its lock would stay locked in the child. */
void sdp_before_fork(void)
{
    (void)pthread_mutex_lock(&all_lock);
    for (struct sdp_connection *each = all; each; each = each->next)
        (void)pthread_mutex_lock(&each->lock);
}

void sdp_after_fork_parent(void)
{
    for (struct sdp_connection *each = all; each; each = each->next)
        (void)pthread_mutex_unlock(&each->lock);
    (void)pthread_mutex_unlock(&all_lock);
}

/* The thread exists only in the parent. */
void sdp_after_fork_child(void)
{
    pthread_t thread;

    for (struct sdp_connection *each = all; each; each = each->next)
        (void)pthread_mutex_init(&each->lock, NULL);
    (void)pthread_mutex_init(&all_lock, NULL);
    if (watcher >= 0 && pthread_create(&thread, NULL, watch, NULL) == 0)
        (void)pthread_detach(thread);
}

bool sdp_drain(const struct timespec *deadline)
{
    (void)deadline;
    return true;
}

bool sdp_bequeath(void)
{
    return false;
}

void sdp_inherit(void)
{
}
