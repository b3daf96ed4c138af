/* SPDX-License-Identifier: BSD-2-Clause */
#include "rsocket/ofa_rs_options.h"

#include "rsocket/ofa_rsocket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "/etc/rdma/rsocket/"

enum kind {
    SWITCH,
    LINGER,  /* a struct linger; only l_onoff is kept */
    BUFFER,  /* bytes; doubled, as with sockets */
    SECONDS, /* at least 1 */
    SIZE     /* of a queue; only before the connection */
};

static const struct option {
    int level;
    int name;
    enum kind kind;
    int usual;
    int least;
    int most;
    const char *file;
} options[RS_OPTIONS] = {
    [RS_REUSEADDR] = {SOL_SOCKET, SO_REUSEADDR, SWITCH, 0, 0, 1, NULL},
    [RS_LINGER] = {SOL_SOCKET, SO_LINGER, LINGER, 1, 0, 1, NULL},
    [RS_KEEPALIVE_ON] = {SOL_SOCKET, SO_KEEPALIVE, SWITCH, 0, 0, 1, NULL},
    [RS_OOBINLINE] = {SOL_SOCKET, SO_OOBINLINE, SWITCH, 0, 0, 1, NULL},
    [RS_RCVBUF] = {SOL_SOCKET, SO_RCVBUF, BUFFER, 1 << 17, 4096, 1 << 28, FOLDER "mem_default"},
    [RS_SNDBUF] = {SOL_SOCKET, SO_SNDBUF, BUFFER, 1 << 17, 4096, 1 << 28, FOLDER "wmem_default"},
    [RS_NODELAY] = {IPPROTO_TCP, TCP_NODELAY, SWITCH, 0, 0, 1, NULL},
    [RS_MAXSEG] = {IPPROTO_TCP, TCP_MAXSEG, SWITCH, 4096, 4096, 4096, NULL},
    [RS_KEEPIDLE] = {IPPROTO_TCP, TCP_KEEPIDLE, SECONDS, 7200, 1, 32767, NULL},
    [RS_KEEPINTVL] = {IPPROTO_TCP, TCP_KEEPINTVL, SECONDS, 1, 1, 1, NULL},
    [RS_KEEPCNT] = {IPPROTO_TCP, TCP_KEEPCNT, SECONDS, 1, 1, 1, NULL},
    [RS_V6ONLY] = {IPPROTO_IPV6, IPV6_V6ONLY, SWITCH, 0, 0, 1, NULL},
    [RS_SQSIZE] = {SOL_RDMA, RDMA_SQSIZE, SIZE, 384, 16, 16000, FOLDER "sqsize_default"},
    [RS_RQSIZE] = {SOL_RDMA, RDMA_RQSIZE, SIZE, 384, 16, 16000, FOLDER "rqsize_default"},
    [RS_INLINE] = {SOL_RDMA, RDMA_INLINE, SIZE, 64, 0, 1024, FOLDER "inline_default"},
    [RS_IOMAPSIZE] = {SOL_RDMA, RDMA_IOMAPSIZE, SIZE, 0, 0, (int)RS_MAPPINGS_MAX,
                      FOLDER "iomap_size"},
    /* Longer than rdma-core's 10: the turn of a small message takes more. */
    [RS_POLLING_TIME] = {-1, -1, SIZE, 30, 0, 1000, FOLDER "polling_time"},
};

static int within(const struct option *option, int value)
{
    if (value < option->least)
        return option->least;
    return value > option->most ? option->most : value;
}

static int read_default(const struct option *option)
{
    FILE *file = option->file ? fopen(option->file, "re") : NULL;
    int value = option->usual;

    if (file) {
        if (fscanf(file, "%d", &value) != 1)
            value = option->usual;
        (void)fclose(file);
    }
    return within(option, value);
}

void rs_default_options(int option[RS_OPTIONS])
{
    for (int i = 0; i < RS_OPTIONS; i++)
        option[i] = read_default(&options[i]);
}

static const struct option *find_option(int level, int name)
{
    for (size_t i = 0; i < RS_OPTIONS; i++) {
        if (options[i].level == level && options[i].name == name)
            return &options[i];
    }
    return NULL;
}

static int result(int error)
{
    if (error != 0)
        errno = error;
    return error == 0 ? 0 : -1;
}

/* ---- Setting -------------------------------------------------------------------------------- */

static int set_option(struct rsock *rs, const struct option *option, const void *value,
                      socklen_t length)
{
    int number;

    if (!value || length < (option->kind == LINGER ? sizeof(struct linger) : sizeof(number)))
        return EINVAL;
    memcpy(&number, value, sizeof(number)); /* l_onoff comes first */
    if (option->kind == SECONDS && number < option->least)
        return EINVAL;
    if (option->kind == SIZE && rs->state >= RS_CONNECTING)
        return EINVAL;
    if (option->kind == BUFFER && rs->send_ring)
        return 0; /* too late to have an effect; a kernel socket reports no error either */
    if (option->kind == BUFFER && number > 0 && number <= option->most / 2)
        number *= 2;
    if (option == &options[RS_REUSEADDR] &&
        rdma_set_option(rs->id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &number,
                        sizeof(number)) != 0)
        return errno;
    rs->option[option - options] = within(option, number);
    return 0;
}

int rsetsockopt(int socket, int level, int optname, const void *optval, socklen_t optlen)
{
    struct rsock *rs = rs_find(socket);
    const struct option *option = find_option(level, optname);
    int error;

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM && level != SOL_RDMA)
        return setsockopt(socket, level, optname, optval, optlen);
    if (level == SOL_RDMA && optname == RDMA_ROUTE)
        return 0; /* the address decides the route */
    if (!option)
        return result(ENOTSUP);
    (void)pthread_mutex_lock(&rs->lock);
    error = set_option(rs, option, optval, optlen);
    (void)pthread_mutex_unlock(&rs->lock);
    return result(error);
}

/* ---- Asking --------------------------------------------------------------------------------- */

static int give(void *value, socklen_t *room, const void *from, socklen_t length)
{
    if (!value || !room || *room < length)
        return EINVAL;
    memcpy(value, from, length);
    *room = length;
    return 0;
}

static int get_option(struct rsock *rs, int level, int name, void *value, socklen_t *length)
{
    const struct option *option = find_option(level, name);
    struct linger linger = {.l_onoff = rs->option[RS_LINGER]};
    int error;

    if (level == SOL_SOCKET && name == SO_ERROR) {
        error = give(value, length, &rs->error, sizeof(rs->error));
        rs->error = error == 0 ? 0 : rs->error;
        return error;
    }
    if (!option)
        return ENOTSUP;
    if (option->kind == LINGER)
        return give(value, length, &linger, sizeof(linger));
    return give(value, length, &rs->option[option - options], sizeof(int));
}

int rgetsockopt(int socket, int level, int optname, void *optval, socklen_t *optlen)
{
    struct rsock *rs = rs_find(socket);
    int error;

    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM && level != SOL_RDMA)
        return getsockopt(socket, level, optname, optval, optlen);
    (void)pthread_mutex_lock(&rs->lock);
    error = get_option(rs, level, optname, optval, optlen);
    (void)pthread_mutex_unlock(&rs->lock);
    return result(error);
}

/* ---- Flags ---------------------------------------------------------------------------------- */

int rfcntl(int socket, int cmd, ... /* arg */)
{
    struct rsock *rs = rs_find(socket);
    va_list arguments;
    int flags = 0;

    if (!rs)
        return -1;
    if (cmd != F_GETFL && cmd != F_SETFL)
        return result(ENOTSUP);
    va_start(arguments, cmd);
    if (cmd == F_SETFL)
        flags = va_arg(arguments, int);
    va_end(arguments);
    if (rs->type == SOCK_DGRAM)
        return fcntl(socket, cmd, flags);
    (void)pthread_mutex_lock(&rs->lock);
    if (cmd == F_SETFL)
        rs->flags = flags;
    else
        flags = rs->flags;
    (void)pthread_mutex_unlock(&rs->lock);
    return cmd == F_SETFL ? 0 : flags;
}
