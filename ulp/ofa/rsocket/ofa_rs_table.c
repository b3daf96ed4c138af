/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of rsockets, by descriptor. */
#include "rsocket/ofa_rsocket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    struct rsock **sockets; /* by descriptor */
    size_t size;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct rsock *rs_find(int fd)
{
    struct rsock *rs = NULL;

    (void)pthread_mutex_lock(&table.lock);
    if (fd >= 0 && (size_t)fd < table.size)
        rs = table.sockets[fd];
    (void)pthread_mutex_unlock(&table.lock);
    if (!rs)
        errno = EBADF;
    return rs;
}

static int grow_locked(size_t least)
{
    struct rsock **larger = realloc(table.sockets, least * 2 * sizeof(struct rsock *));

    if (!larger)
        return ENOMEM;
    memset(larger + table.size, 0, (least * 2 - table.size) * sizeof(struct rsock *));
    table.sockets = larger;
    table.size = least * 2;
    return 0;
}

int rs_enter(struct rsock *rs)
{
    int error = 0;

    (void)pthread_mutex_lock(&table.lock);
    if ((size_t)rs->fd >= table.size)
        error = grow_locked((size_t)rs->fd + 1);
    if (error == 0)
        table.sockets[rs->fd] = rs;
    (void)pthread_mutex_unlock(&table.lock);
    return error;
}

struct rsock *rs_new(int type, const int option[RS_OPTIONS])
{
    struct rsock *rs = calloc(1, sizeof(*rs));

    if (!rs)
        return NULL;
    rs->fd = -1;
    rs->type = type;
    memcpy(rs->option, option, sizeof(rs->option));
    (void)pthread_mutex_init(&rs->lock, NULL);
    (void)pthread_cond_init(&rs->changed, NULL);
    return rs;
}

static void leave_table(const struct rsock *rs)
{
    (void)pthread_mutex_lock(&table.lock);
    if (rs->fd >= 0 && (size_t)rs->fd < table.size && table.sockets[rs->fd] == rs)
        table.sockets[rs->fd] = NULL;
    (void)pthread_mutex_unlock(&table.lock);
}

void rs_delete(struct rsock *rs)
{
    leave_table(rs);
    rs_destroy_queue(rs);
    if (rs->id)
        (void)rdma_destroy_id(rs->id);
    if (rs->channel)
        rdma_destroy_event_channel(rs->channel);
    if (rs->type == SOCK_DGRAM && rs->fd >= 0)
        (void)close(rs->fd);
    (void)pthread_cond_destroy(&rs->changed);
    (void)pthread_mutex_destroy(&rs->lock);
    free(rs);
}
