/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that the peer can write to at an offset: riomap, riounmap, riowrite. */
#include "rsocket/ofa_rsocket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ONLY_HERE UINT32_MAX

struct rs_map {
    struct rs_map *next;
    struct ibv_mr *mr;
    uint64_t offset;
    uint32_t index; /* of its place at the peer; or ONLY_HERE */
    bool told;
};

static int fail(int error)
{
    errno = error;
    return -1;
}

/* ---- Mapping -------------------------------------------------------------------------------- */

static uint32_t free_index(const struct rsock *rs)
{
    for (uint32_t i = 0; i < rs->peer_mappings; i++) {
        const struct rs_map *map = rs->maps;

        while (map && map->index != i)
            map = map->next;
        if (!map)
            return i;
    }
    return ONLY_HERE;
}

/* Returns 0 or errno. */
static int add_map(struct rsock *rs, const struct rs_map *wanted, void *buf, size_t len, bool write)
{
    struct rs_map *map = malloc(sizeof(*map));

    if (!map)
        return ENOMEM;
    *map = *wanted;
    map->mr = ibv_reg_mr(rs->id->pd, buf, len,
                         (int)IBV_ACCESS_LOCAL_WRITE | (write ? (int)IBV_ACCESS_REMOTE_WRITE : 0));
    if (!map->mr) {
        free(map);
        return errno;
    }
    map->next = rs->maps;
    rs->maps = map;
    rs->maps_pending = rs->maps_pending || write;
    return 0;
}

off_t riomap(int socket, void *buf, size_t len, int prot, int flags, off_t offset)
{
    struct rsock *rs = rs_find(socket);
    bool write = prot & PROT_WRITE;
    struct rs_map map = {.index = ONLY_HERE, .told = !write};
    int error = 0;

    (void)flags;
    if (!rs)
        return -1;
    if (rs->type == SOCK_DGRAM || (prot & ~PROT_WRITE) || len > UINT32_MAX)
        return fail(EINVAL);
    map.offset = offset == -1 ? (uintptr_t)buf : (uint64_t)offset;
    (void)pthread_mutex_lock(&rs->lock);
    rs_progress(rs); /* may find that the connection is established */
    if (write)
        map.index = free_index(rs);
    if (rs->state != RS_ACCEPTING && rs->state != RS_CONNECTED)
        error = EINVAL;
    else if (write && map.index == ONLY_HERE)
        error = ENOMEM;
    else
        error = add_map(rs, &map, buf, len, write);
    (void)pthread_mutex_unlock(&rs->lock);
    return error == 0 ? (off_t)map.offset : fail(error);
}

int riounmap(int socket, void *buf, size_t len)
{
    struct rsock *rs = rs_find(socket);
    struct rs_map **link;
    struct rs_map *map;

    if (!rs)
        return -1;
    (void)pthread_mutex_lock(&rs->lock);
    link = &rs->maps;
    while (*link && ((*link)->mr->addr != buf || (*link)->mr->length != len))
        link = &(*link)->next;
    map = *link;
    if (map)
        *link = map->next;
    (void)pthread_mutex_unlock(&rs->lock);
    if (!map)
        return fail(EINVAL);
    (void)ibv_dereg_mr(map->mr);
    free(map);
    return 0;
}

void rs_release_maps(struct rsock *rs)
{
    while (rs->maps) {
        struct rs_map *map = rs->maps;

        rs->maps = map->next;
        (void)ibv_dereg_mr(map->mr);
        free(map);
    }
}

/* ---- Telling the peer ----------------------------------------------------------------------- */

static int send_map(struct rsock *rs, struct rs_map *map)
{
    const struct rs_mapping mapping = {
        map->offset, {(uintptr_t)map->mr->addr, map->mr->rkey, (uint32_t)map->mr->length}};
    const struct rs_write write = {
        .from = &mapping,
        .length = sizeof(mapping),
        .is_inline = true,
        .to = rs->peer_target + rs->peer_spans * sizeof(struct rs_span) +
              map->index * sizeof(mapping),
        .key = rs->peer_target_key,
        .tag = rs_message(RS_MAPPING, map->index),
    };

    rs->requests_left -= 2;
    rs->sent++;
    map->told = true;
    return rs_post_write(rs, &write);
}

int rs_send_maps(struct rsock *rs, bool nonblocking)
{
    int error = 0;

    for (struct rs_map *map = rs->maps; map && error == 0; map = map->next) {
        if (map->told)
            continue;
        error = rs_await_room(rs, nonblocking);
        if (error == 0)
            error = send_map(rs, map);
    }
    rs->maps_pending = error != 0;
    return error;
}

/* ---- Writing -------------------------------------------------------------------------------- */

/*
 * Finds the peer's mapping of an offset; the peer may change it at any time. Returns false if there
 * is none.
 */
static bool find_mapping(const struct rsock *rs, uint64_t offset, struct rs_mapping *found)
{
    for (int i = 0; i < rs->option[RS_IOMAPSIZE]; i++) {
        const struct rs_mapping *mapping = &rs->target->mappings[i];
        uint32_t length = __atomic_load_n(&mapping->span.length, __ATOMIC_ACQUIRE);

        *found = *mapping;
        found->span.length = length;
        if (offset >= found->offset && offset - found->offset < length)
            return true;
    }
    return false;
}

/* Writes one part from the ring. Returns 0 or errno. */
static int write_part(struct rsock *rs, const void *from, uint64_t left, uint64_t offset,
                      uint32_t *done)
{
    struct rs_mapping mapping;
    struct rs_write write = {.silent = true};
    uint64_t room;

    if (!find_mapping(rs, offset, &mapping))
        return EINVAL;
    room = mapping.span.length - (offset - mapping.offset);
    write.from = rs_take_ring(rs, &write.length, left < room ? left : room);
    memcpy((void *)(uintptr_t)write.from, from, write.length);
    write.is_inline = write.length <= (uint32_t)rs->option[RS_INLINE];
    write.to = mapping.span.address + (offset - mapping.offset);
    write.key = mapping.span.key;
    write.tag = rs_message(RS_WRITTEN, write.length);
    rs->requests_left--;
    *done = write.length;
    return rs_post_write(rs, &write);
}

size_t riowrite(int socket, const void *buf, size_t count, off_t offset, int flags)
{
    struct rsock *rs = rs_find(socket);
    size_t done = 0;
    int error = 0;

    if (!rs)
        return (size_t)-1;
    if (rs->type == SOCK_DGRAM)
        return (size_t)fail(EOPNOTSUPP);
    (void)pthread_mutex_lock(&rs->lock);
    if (rs->maps_pending)
        error = rs_send_maps(rs, rs_nonblocking(rs, flags));
    while (error == 0 && done < count) {
        uint32_t part = 0;

        error = rs_await_room(rs, rs_nonblocking(rs, flags));
        if (error == 0)
            error = write_part(rs, (const unsigned char *)buf + done, count - done,
                               (uint64_t)offset + done, &part);
        done += part;
    }
    (void)pthread_mutex_unlock(&rs->lock);
    return error != 0 && done == 0 ? (size_t)fail(error) : done;
}
