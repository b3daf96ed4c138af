/* SPDX-License-Identifier: BSD-2-Clause */
/* Socket calls other than transfers: create, bind, listen, accept, connect, shut down, close. */
#include "api/exs_call.h"
#include "socket/exs_socket_calls.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#define ACCEPTS_MAX 65536

/* ---- Checks --------------------------------------------------------------------------------- */

static int check_fd(int fd)
{
    struct exs_socket *socket = exs_socket_find(fd);

    if (!socket)
        return EBADF;
    exs_socket_leave(socket);
    return 0;
}

static int check_address(const struct sockaddr *addr, socklen_t length)
{
    if (!addr)
        return EFAULT;
    if (length < sizeof(addr->sa_family))
        return EINVAL;
    switch (addr->sa_family) {
    case AF_INET:
        return length >= sizeof(struct sockaddr_in) ? 0 : EINVAL;
    case AF_INET6:
        return length >= sizeof(struct sockaddr_in6) ? 0 : EINVAL;
    default:
        return EAFNOSUPPORT;
    }
}

/* ---- Setting up ----------------------------------------------------------------------------- */

int exs_socket(int domain, int type, int protocol)
{
    int cancel = exs_api_enter();
    int kind = type & ~SOCK_CLOEXEC;
    int error = 0;
    int fd = -1;

    if (domain != PF_INET && domain != PF_INET6)
        error = EAFNOSUPPORT;
    else if (kind != SOCK_STREAM && kind != SOCK_SEQPACKET)
        error = ESOCKTNOSUPPORT;
    else if (protocol != 0 && protocol != IPPROTO_TCP)
        error = EPROTONOSUPPORT;
    else if (!exs_api_ready())
        error = EPERM;
    else
        error = exs_socket_open(domain, kind, &fd);
    return exs_api_leave(cancel, error) ? -1 : fd;
}

int exs_bind(int fd, const struct sockaddr *addr, socklen_t addrlen)
{
    int cancel = exs_api_enter();
    int error = check_fd(fd);

    if (error == 0)
        error = check_address(addr, addrlen);
    if (error == 0)
        error = exs_socket_bind(fd, addr, addrlen);
    return exs_api_leave(cancel, error);
}

int exs_listen(int fd, int backlog)
{
    int cancel = exs_api_enter();

    return exs_api_leave(cancel, exs_socket_listen(fd, backlog > 0 ? backlog : 1));
}

static int microseconds(const struct timeval *timeout, uint64_t *us)
{
    *us = IT_TIMEOUT_INFINITE;
    if (!timeout)
        return 0;
    if (timeout->tv_sec < 0 || timeout->tv_usec < 0 || timeout->tv_usec >= 1000000)
        return EINVAL;
    if ((uint64_t)timeout->tv_sec < INT32_MAX)
        *us = (uint64_t)timeout->tv_sec * 1000000U + (uint64_t)timeout->tv_usec;
    return 0;
}

int exs_connect(int fd, const struct sockaddr *addr, socklen_t addrlen, int flags,
                const struct timeval *timeout, exs_qhandle_t qhandle, exs_ahandle_t ahandle)
{
    const struct exs_start start = {EXS_EVT_CONNECT, fd, flags, qhandle, ahandle};
    int cancel = exs_api_enter();
    struct exs_call *call = NULL;
    uint64_t us = 0;
    int error = check_fd(fd);

    if (error == 0 && flags & ~EXS_BLOCK)
        error = EINVAL;
    if (error == 0)
        error = check_address(addr, addrlen);
    if (error == 0)
        error = microseconds(timeout, &us);
    if (error == 0)
        error = exs_call_new(&start, &call);
    if (error == 0) {
        error = exs_socket_connect(fd, addr, addrlen, us, &call->request);
        if (error)
            exs_call_drop(call);
    }
    return (int)exs_call_return(cancel, flags, call, error);
}

/* ---- Accepting ------------------------------------------------------------------------------ */

static void finish_accept(struct exs_call *call, size_t moved, size_t lost)
{
    exs_evt_accept_t *result = &call->event.exs_evt_union.exs_evt_accept;

    (void)moved;
    (void)lost;
    result->exs_evt_new_socket = call->event.exs_evt_errno ? -1 : call->request.accepted;
    result->exs_evt_addrlen = call->event.exs_evt_errno ? 0 : call->address_length;
}

/* Creates one call for each element. */
static int new_accepts(struct exs_start *start, const exs_acceptaddr_t *elements, size_t count,
                       struct exs_request **requests)
{
    for (size_t i = 0; i < count; i++) {
        struct exs_call *call;
        int error;

        start->ahandle = elements[i].exs_ahandle;
        error = exs_call_new(start, &call);
        if (error) {
            while (i-- > 0)
                exs_call_drop(requests[i]->context);
            return error;
        }
        call->finish = finish_accept;
        call->event.exs_evt_union.exs_evt_accept.exs_evt_addr = elements[i].exs_addr;
        call->address_length = elements[i].exs_addr ? elements[i].exs_addrlen : 0;
        call->request.address = elements[i].exs_addr;
        call->request.address_length = &call->address_length;
        call->request.accepted = -1;
        requests[i] = &call->request;
    }
    return 0;
}

static int start_accepts(struct exs_start *start, const exs_acceptaddr_t *elements, size_t count,
                         struct exs_call **first)
{
    struct exs_request *one;
    struct exs_request **requests = &one;
    int error;

    if (count > 1)
        requests = malloc(count * sizeof(struct exs_request *));
    if (!requests)
        return ENOMEM;
    error = new_accepts(start, elements, count, requests);
    if (error == 0) {
        *first = requests[0]->context;
        error = exs_socket_accept(start->fd, requests, count);
        for (size_t i = 0; error && i < count; i++)
            exs_call_drop(requests[i]->context);
    }
    if (requests != &one)
        free(requests);
    return error;
}

int exs_accept(int fd, exs_acceptaddr_t *address_vector, int count, int flags,
               exs_qhandle_t qhandle)
{
    struct exs_start start = {EXS_EVT_ACCEPT, fd, flags, qhandle, NULL};
    int cancel = exs_api_enter();
    struct exs_call *first = NULL;
    int error = check_fd(fd);
    int accepted;

    if (error == 0 && !address_vector)
        error = EFAULT;
    if (error == 0 && (flags & ~EXS_BLOCK || count < 1 || count > ACCEPTS_MAX ||
                       (flags & EXS_BLOCK && count != 1)))
        error = EINVAL;
    if (error == 0)
        error = start_accepts(&start, address_vector, (size_t)count, &first);
    accepted = (int)exs_call_return(cancel, flags, first, error);
    if (accepted >= 0 && flags & EXS_BLOCK && address_vector->exs_addr)
        (void)exs_getpeername(accepted, address_vector->exs_addr, &address_vector->exs_addrlen);
    return accepted;
}

int exs_blocking_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
    exs_acceptaddr_t element = {.exs_addr = addr};
    int accepted;

    if (addr && !addrlen) {
        errno = EFAULT;
        return -1;
    }
    if (addr)
        element.exs_addrlen = *addrlen;
    accepted = exs_accept(fd, &element, 1, EXS_BLOCK, EXS_QHANDLE_INVALID);
    if (accepted >= 0 && addr)
        *addrlen = element.exs_addrlen;
    return accepted;
}

/* ---- The end -------------------------------------------------------------------------------- */

int exs_shutdown(int fd, int how, int flags, exs_qhandle_t qhandle, exs_ahandle_t ahandle)
{
    const struct exs_start start = {EXS_EVT_SHUTDOWN, fd, flags, qhandle, ahandle};
    int cancel = exs_api_enter();
    struct exs_call *call = NULL;
    int error = check_fd(fd);

    if (error == 0 &&
        (flags & ~EXS_BLOCK || (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)))
        error = EINVAL;
    if (error == 0)
        error = exs_call_new(&start, &call);
    if (error == 0) {
        call->cancel = NULL;
        error = exs_socket_shutdown(fd, how, &call->request);
        if (error)
            exs_call_drop(call);
    }
    return (int)exs_call_return(cancel, flags, call, error);
}

int exs_close(int fd, int flags, exs_qhandle_t qhandle, exs_ahandle_t ahandle)
{
    const struct exs_start start = {EXS_EVT_CLOSE, fd, flags, qhandle, ahandle};
    int cancel = exs_api_enter();
    struct exs_call *call = NULL;
    int error = check_fd(fd);

    if (error == 0 && flags & ~(EXS_BLOCK | EXS_DONTLINGER))
        error = EINVAL;
    if (error == 0)
        error = exs_call_new(&start, &call);
    if (error == 0) {
        call->cancel = NULL;
        error = exs_socket_close(fd, (flags & EXS_DONTLINGER) != 0, &call->request);
        if (error)
            exs_call_drop(call);
    }
    return (int)exs_call_return(cancel, flags, call, error);
}

int exs_blocking_connect(int fd, const struct sockaddr *addr, socklen_t addrlen)
{
    return exs_connect(fd, addr, addrlen, EXS_BLOCK, NULL, EXS_QHANDLE_INVALID, NULL);
}

int exs_blocking_close(int fd)
{
    return exs_close(fd, EXS_BLOCK, EXS_QHANDLE_INVALID, NULL);
}
