/* SPDX-License-Identifier: BSD-2-Clause */
/* exs_send and exs_recv, and messages of several pieces, which are gathered in one copy. */
#include "api/exs_transfer_calls.h"

#include "transfer/exs_transfer.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MAX 1024
#define PACKET_MAX ((size_t)INT32_MAX)
#define SEND_FLAGS                                                                                 \
    (EXS_BLOCK | EXS_UNSIGNALED | EXS_CREDIT_WAIT | EXS_DONTWAIT | MSG_DONTWAIT | MSG_NOSIGNAL |   \
     MSG_EOR)
#define RECV_FLAGS (SEND_FLAGS | MSG_WAITALL | MSG_PEEK)
#define NS_PER_US  UINT64_C(1000)
#define SHORT_SEND 2048u               /* no longer one fits a message */
#define LONG_SEND  ((size_t)512 << 10) /* so long that events may come during the call */

/* ---- Starting ------------------------------------------------------------------------------- */

int exs_api_check_transfer(const struct exs_socket *socket, int flags, bool receive, size_t length)
{
    if (flags & MSG_OOB)
        return EOPNOTSUPP;
    if (flags & ~(receive ? RECV_FLAGS : SEND_FLAGS) || length > SSIZE_MAX)
        return EINVAL;
    if (!receive && socket->type == SOCK_SEQPACKET && length > PACKET_MAX)
        return EMSGSIZE;
    return 0;
}

static void expire(struct exs_socket *socket, uint64_t serial)
{
    exs_call_expire(socket, serial, ETIMEDOUT);
}

struct attempt {
    struct exs_credit_wait credit;
    struct exs_socket *socket;
    struct exs_call *call;
    struct exs_request *request;
    uint64_t limit_ns; /* EXS_TIME_NEVER: none */
    bool receive;
    int error;
};

/* Returns when the call that starts now has to end by the socket's time limit. */
static uint64_t limit_of(const struct exs_socket *socket, const struct exs_call *call, bool receive)
{
    uint64_t us = receive ? socket->options.recv_timeout_us : socket->options.send_timeout_us;

    return us == 0 || call->file ? EXS_TIME_NEVER : exs_clock_ns() + us * NS_PER_US;
}

/* Starts the time limit. It cannot expire before the caller releases the lock. */
static int set_limit(const struct attempt *attempt)
{
    struct exs_call *call = attempt->call;

    if (attempt->limit_ns == EXS_TIME_NEVER)
        return 0;
    call->timer = (struct exs_timer){.at_ns = attempt->limit_ns,
                                     .fire = expire,
                                     .socket = attempt->socket,
                                     .serial = call->serial};
    return exs_timer_start(&call->timer);
}

/* Called with the lock, when a call is to start (1) or has not started after all (-1). */
static void mark(const struct attempt *attempt, int started)
{
    attempt->call->started = started > 0;
    attempt->call->socket = attempt->socket;
    if (attempt->call->file)
        attempt->socket->files += started;
}

/* Called with the lock. A call that has started may have ended when this returns. */
static void start(struct attempt *attempt)
{
    mark(attempt, 1);
    attempt->error = set_limit(attempt);
    if (attempt->error == 0)
        attempt->error = attempt->receive ? exs_transfer_recv(attempt->socket, attempt->request)
                                          : exs_transfer_send(attempt->socket, attempt->request);
    if (attempt->error != 0) {
        exs_timer_stop(&attempt->call->timer);
        mark(attempt, -1);
    }
}

/* The call starts, and ends at once, without a credit. */
static void start_in_vain(struct attempt *attempt, int error)
{
    mark(attempt, 1);
    exs_socket_finish(attempt->socket, attempt->request, error);
    attempt->error = 0;
}

/* Called with the lock. Returns true if the wait is over. */
static bool try_again(struct attempt *attempt)
{
    int cancelled = attempt->credit.error;

    if (cancelled != 0)
        start_in_vain(attempt, cancelled);
    else
        start(attempt);
    if (attempt->error == EBUSY)
        return false;
    exs_socket_await_no_credit(attempt->socket, &attempt->credit);
    return true;
}

static bool start_again(void *argument, bool sleeps)
{
    struct attempt *attempt = argument;
    bool over;

    exs_socket_enter(attempt->socket);
    over = try_again(attempt);
    attempt->credit.sleeps = sleeps && !over;
    exs_socket_leave(attempt->socket);
    return over;
}

/* The time limit has passed. */
static void start_too_late(struct attempt *attempt)
{
    exs_socket_enter(attempt->socket);
    if (!try_again(attempt)) {
        start_in_vain(attempt, ETIMEDOUT);
        exs_socket_await_no_credit(attempt->socket, &attempt->credit);
    }
    exs_socket_leave(attempt->socket);
}

/* Cleanup of a thread that is cancelled while it waits for a credit. */
static void give_up(void *argument)
{
    struct attempt *attempt = argument;

    exs_socket_enter(attempt->socket);
    exs_socket_await_no_credit(attempt->socket, &attempt->credit);
    exs_call_drop(attempt->call);
    exs_socket_leave(attempt->socket);
    exs_socket_put(attempt->socket);
}

static void wait_credit(struct attempt *attempt, int cancel)
{
    const struct exs_wait wait = {
        .kind = attempt->call->wait, .cancel = cancel, .deadline_ns = attempt->limit_ns};
    int error;

    exs_socket_await_credit(attempt->socket, &attempt->credit, attempt->request);
    exs_socket_hold(attempt->socket);
    exs_socket_leave(attempt->socket);
    pthread_cleanup_push(give_up, attempt);
    do
        error = exs_wait_until(&attempt->credit.sleeper, &wait, start_again, attempt);
    while (error == EINTR);
    pthread_cleanup_pop(0);
    if (error == ETIMEDOUT)
        start_too_late(attempt);
    exs_socket_enter(attempt->socket);
    exs_socket_put(attempt->socket);
}

int exs_api_start_transfer(struct exs_socket *socket, struct exs_call *call,
                           struct exs_request *request, bool receive, int cancel)
{
    struct attempt attempt = {.socket = socket,
                              .call = call,
                              .request = request,
                              .limit_ns = limit_of(socket, call, receive),
                              .receive = receive};

    if (socket->options.fd_flags & EXS_FD_BUSYPOLL)
        call->wait = EXS_WAIT_BUSY_POLL;
    start(&attempt);
    if (attempt.error == EBUSY && call->flags & EXS_CREDIT_WAIT)
        wait_credit(&attempt, cancel);
    return attempt.error;
}

/* ---- One piece of memory -------------------------------------------------------------------- */

static void finish_transfer(struct exs_call *call, size_t moved, size_t lost)
{
    exs_evt_xfer_t *result = &call->event.exs_evt_union.exs_evt_xfer;

    result->exs_evt_length = moved;
    result->exs_evt_amount_lost = lost;
    if (call->event.exs_evt_errno == ETIMEDOUT)
        call->event.exs_evt_type =
            call->event.exs_evt_type == EXS_EVT_RECV ? EXS_EVT_RECVTIMEOUT : EXS_EVT_SENDTIMEOUT;
}

static int new_transfer(const struct exs_start *start, void *buffer, size_t length,
                        exs_mhandle_t mhandle, struct exs_call **new)
{
    bool receive = start->type == EXS_EVT_RECV;
    struct exs_call *call;
    int error = exs_call_new(start, &call);

    if (error)
        return error;
    call->finish = finish_transfer;
    call->request.addr = buffer;
    call->request.length = length;
    call->event.exs_evt_union.exs_evt_xfer =
        (exs_evt_xfer_t){.exs_evt_buffer = buffer, .exs_evt_mhandle = mhandle};
    error = exs_memory_take(mhandle, buffer, length, receive, &call->own, &call->request.memory);
    /* To free an LMR may take long. */
    call->request.brief = mhandle != EXS_MHANDLE_UNREGISTERED;
    if (error)
        exs_call_drop(call);
    else
        *new = call;
    return error;
}

/* Reports a short send that was sent at once, so that it needs no struct exs_call. */
static void tell_sent(struct exs_completion *completion, const struct exs_start *start,
                      const void *buffer, size_t length, exs_mhandle_t mhandle)
{
    const exs_event_t event = {
        .exs_evt_type = EXS_EVT_SEND,
        .exs_evt_socket = start->fd,
        .exs_evt_ahandle = start->ahandle,
        .exs_evt_union.exs_evt_xfer = {.exs_evt_buffer = (void *)(uintptr_t)buffer,
                                       .exs_evt_length = length,
                                       .exs_evt_mhandle = mhandle}};

    (void)exs_completion_tell(completion, &event);
}

/*
 * Most short sends are sent at once and keep no memory of the program. Such a send needs no struct
 * exs_call; one would take longer than everything else that this library does before it sends the
 * message. Returns false if nothing has been done.
 */
static bool send_at_once(struct exs_socket *socket, const struct exs_start *start,
                         const void *buffer, size_t length, exs_mhandle_t mhandle)
{
    struct exs_completion completion;
    struct exs_memory *memory;
    struct exs_memory own;
    bool silent;
    bool sent;

    if (length > SHORT_SEND ||
        exs_memory_take(mhandle, (void *)(uintptr_t)buffer, length, false, &own, &memory) != 0)
        return false;
    sent = exs_completion_open_success(&completion, start->qhandle, start->flags, &silent) == 0;
    if (sent) {
        sent = exs_transfer_send_at_once(socket, buffer, length);
        if (!silent && sent)
            tell_sent(&completion, start, buffer, length, mhandle);
        else if (!silent)
            exs_completion_drop(&completion);
    }
    exs_memory_give(memory);
    return sent;
}

static ssize_t transfer(const struct exs_start *start, void *buffer, size_t length,
                        exs_mhandle_t mhandle)
{
    bool receive = start->type == EXS_EVT_RECV;
    int cancel = exs_api_enter();
    struct exs_socket *socket = exs_socket_lock(start->fd);
    struct exs_call *call = NULL;
    int error;

    if (!socket)
        return exs_api_leave(cancel, EBADF);
    error = exs_api_check_transfer(socket, start->flags, receive, length);
    if (error == 0 && !receive && send_at_once(socket, start, buffer, length, mhandle)) {
        exs_lock_drop(&socket->lock);
        (void)exs_api_leave(cancel, 0);
        return start->flags & EXS_BLOCK ? (ssize_t)length : 0;
    }
    exs_socket_hold(socket);
    if (error == 0)
        error = new_transfer(start, buffer, length, mhandle, &call);
    if (error == 0) {
        error = exs_api_start_transfer(socket, call, &call->request, receive, cancel);
        if (error)
            exs_call_drop(call);
    }
    exs_socket_leave(socket);
    if (!receive && length >= LONG_SEND)
        exs_lead_look();
    return exs_call_return(cancel, start->flags, call, error);
}

ssize_t exs_send(int fd, const void *buffer, size_t length, int flags, exs_qhandle_t qhandle,
                 exs_ahandle_t ahandle, exs_mhandle_t mhandle)
{
    const struct exs_start start = {EXS_EVT_SEND, fd, flags, qhandle, ahandle};

    return transfer(&start, (void *)(uintptr_t)buffer, length, mhandle);
}

ssize_t exs_recv(int fd, void *buffer, size_t max_length, int flags, exs_qhandle_t qhandle,
                 exs_ahandle_t ahandle, exs_mhandle_t mhandle)
{
    const struct exs_start start = {EXS_EVT_RECV, fd, flags, qhandle, ahandle};

    return transfer(&start, buffer, max_length, mhandle);
}

/* ---- Several pieces ------------------------------------------------------------------------- */

static int check_message(const exs_msghdr_t *msg, bool receive, size_t *total)
{
    *total = 0;
    if (!msg || (msg->exs_msg_iovlen > 0 && !msg->exs_msg_iov))
        return EFAULT;
    if (msg->exs_msg_iovlen > PIECES_MAX)
        return EMSGSIZE;
    if (!receive && msg->exs_msg_controllen > 0)
        return EINVAL;
    for (size_t i = 0; i < msg->exs_msg_iovlen; i++) {
        if (msg->exs_msg_iov[i].exs_iov_len > SSIZE_MAX - *total)
            return EINVAL;
        *total += msg->exs_msg_iov[i].exs_iov_len;
    }
    return 0;
}

/* The registrations of several pieces are in use until the end, though only a copy is sent. */
static int take_pieces(struct exs_call *call, const exs_msghdr_t *msg, bool receive)
{
    struct exs_memory unregistered;

    call->pieces = calloc(msg->exs_msg_iovlen, sizeof(struct exs_memory *));
    if (!call->pieces)
        return ENOMEM;
    while (call->piece_count < msg->exs_msg_iovlen) {
        const exs_iovec_t *piece = &msg->exs_msg_iov[call->piece_count];
        struct exs_memory **memory = &call->pieces[call->piece_count];
        int error = exs_memory_take(piece->exs_iov_mhandle, piece->exs_iov_base, piece->exs_iov_len,
                                    receive, &unregistered, memory);

        if (error)
            return error;
        if (*memory == &unregistered) {
            exs_memory_give(&unregistered);
            *memory = NULL;
        }
        call->piece_count++;
    }
    return 0;
}

static void gather(char *copy, const exs_msghdr_t *msg)
{
    for (size_t i = 0; i < msg->exs_msg_iovlen; i++) {
        if (msg->exs_msg_iov[i].exs_iov_len > 0)
            memcpy(copy, msg->exs_msg_iov[i].exs_iov_base, msg->exs_msg_iov[i].exs_iov_len);
        copy += msg->exs_msg_iov[i].exs_iov_len;
    }
}

static void scatter(const char *copy, size_t length, const exs_msghdr_t *msg)
{
    for (size_t i = 0; i < msg->exs_msg_iovlen && length > 0; i++) {
        size_t part = msg->exs_msg_iov[i].exs_iov_len;

        if (part > length)
            part = length;
        if (part > 0)
            memcpy(msg->exs_msg_iov[i].exs_iov_base, copy, part);
        copy += part;
        length -= part;
    }
}

static void finish_message(struct exs_call *call, size_t moved, size_t lost)
{
    exs_evt_xfermsg_t *result = &call->event.exs_evt_union.exs_evt_xfermsg;
    exs_msghdr_t *msg = result->exs_evt_msghdr;

    result->exs_evt_length = moved;
    result->exs_evt_amount_lost = lost;
    if (call->event.exs_evt_type == EXS_EVT_RECVMSG) {
        if (call->copy)
            scatter(call->copy, moved, msg);
        msg->exs_msg_flags = (call->request.filled ? MSG_EOR : 0) | (lost > 0 ? MSG_TRUNC : 0);
        msg->exs_msg_controllen = 0;
    }
    if (call->event.exs_evt_errno == ETIMEDOUT)
        call->event.exs_evt_type =
            call->event.exs_evt_type == EXS_EVT_RECVMSG ? EXS_EVT_RECVTIMEOUT : EXS_EVT_SENDTIMEOUT;
}

/* A single piece is sent from where it is. Several are copied into one, now. */
static int fill_message(struct exs_call *call, const exs_msghdr_t *msg, size_t total, bool receive)
{
    const exs_iovec_t *first = msg->exs_msg_iov;
    int error = 0;

    call->request.length = total;
    if (msg->exs_msg_iovlen == 1) {
        call->request.addr = first->exs_iov_base;
        return exs_memory_take(first->exs_iov_mhandle, first->exs_iov_base, total, receive,
                               &call->own, &call->request.memory);
    }
    if (total > 0) {
        error = take_pieces(call, msg, receive);
        if (error == 0)
            call->copy = malloc(total);
        if (error == 0 && !call->copy)
            error = ENOMEM;
        if (error == 0 && !receive)
            gather(call->copy, msg);
    }
    if (error)
        return error;
    call->request.addr = call->copy;
    exs_memory_make(&call->own, call->copy, total, receive);
    call->request.memory = &call->own;
    return 0;
}

/* Stores the peer's name as getpeername does, truncated if there is not enough room. */
static void tell_name(const struct exs_socket *socket, exs_msghdr_t *msg)
{
    socklen_t size = socket->peer.ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                        : sizeof(struct sockaddr_in);

    if (!msg->exs_msg_name || socket->peer.ss_family == 0)
        return;
    memcpy(msg->exs_msg_name, &socket->peer,
           msg->exs_msg_namelen < size ? msg->exs_msg_namelen : size);
    msg->exs_msg_namelen = size;
}

static int start_message(struct exs_socket *socket, const struct exs_start *start,
                         exs_msghdr_t *msg, int cancel, struct exs_call **new)
{
    bool receive = start->type == EXS_EVT_RECVMSG;
    struct exs_call *call;
    size_t total;
    int error = check_message(msg, receive, &total);

    if (error == 0)
        error = exs_api_check_transfer(socket, start->flags, receive, total);
    if (error == 0)
        error = exs_call_new(start, &call);
    if (error)
        return error;
    call->finish = finish_message;
    call->event.exs_evt_union.exs_evt_xfermsg.exs_evt_msghdr = msg;
    error = fill_message(call, msg, total, receive);
    /* Once it has started, the message may be the program's again. */
    if (error == 0 && receive)
        tell_name(socket, msg);
    if (error == 0)
        error = exs_api_start_transfer(socket, call, &call->request, receive, cancel);
    if (error) {
        exs_call_drop(call);
        return error;
    }
    *new = call;
    return 0;
}

static ssize_t message(const struct exs_start *start, exs_msghdr_t *msg)
{
    int cancel = exs_api_enter();
    struct exs_socket *socket = exs_socket_find(start->fd);
    struct exs_call *call = NULL;
    int error;

    if (!socket)
        return exs_api_leave(cancel, EBADF);
    error = start_message(socket, start, msg, cancel, &call);
    exs_socket_leave(socket);
    return exs_call_return(cancel, start->flags, call, error);
}

ssize_t exs_sendmsg(int fd, const exs_msghdr_t *msg, int flags, exs_qhandle_t qhandle,
                    exs_ahandle_t ahandle)
{
    const struct exs_start start = {EXS_EVT_SENDMSG, fd, flags, qhandle, ahandle};

    return message(&start, (exs_msghdr_t *)(uintptr_t)msg);
}

ssize_t exs_recvmsg(int fd, exs_msghdr_t *msg, int flags, exs_qhandle_t qhandle,
                    exs_ahandle_t ahandle)
{
    const struct exs_start start = {EXS_EVT_RECVMSG, fd, flags, qhandle, ahandle};

    return message(&start, msg);
}

/* ---- Calls that always wait ----------------------------------------------------------------- */

ssize_t exs_blocking_send(int fd, const void *buffer, size_t length, int flags,
                          exs_mhandle_t mhandle)
{
    return exs_send(fd, buffer, length, flags | EXS_BLOCK, EXS_QHANDLE_INVALID, NULL, mhandle);
}

ssize_t exs_blocking_recv(int fd, void *buffer, size_t max_length, int flags, exs_mhandle_t mhandle)
{
    return exs_recv(fd, buffer, max_length, flags | EXS_BLOCK, EXS_QHANDLE_INVALID, NULL, mhandle);
}

ssize_t exs_read(int fd, void *buffer, size_t max_length)
{
    return exs_blocking_recv(fd, buffer, max_length, 0, EXS_MHANDLE_UNREGISTERED);
}

ssize_t exs_write(int fd, const void *buffer, size_t length)
{
    return exs_blocking_send(fd, buffer, length, 0, EXS_MHANDLE_UNREGISTERED);
}
