/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/self/maps lists the mappings in ascending order, one per line: "start-end rwxp ...". The
 * kernel hands it out in pieces, and other threads may map memory at the same time. So a mapping
 * may appear twice, the second time larger, but every mapping that exists throughout appears.
 *
 * From Linux 6.11 on the same file answers questions about one address, in a tenth of the time.
 */
#include "ual/memory/ual_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define UAL_MAPS_BUFFER 4096 /* the kernel gives no more at once */

struct ual_maps {
    int fd;
    bool failed;         /* a read: the rest of the mappings is unknown */
    size_t used, length; /* both of buffer */
    char buffer[UAL_MAPS_BUFFER];
};

struct ual_mapping {
    uintptr_t start, end;
    bool readable, writable;
};

/* Returns the next character, or -1 at the end. */
static int ual_maps_next(struct ual_maps *maps)
{
    ssize_t count;

    if (maps->used == maps->length) {
        do
            count = read(maps->fd, maps->buffer, sizeof(maps->buffer));
        while (count < 0 && errno == EINTR);
        maps->failed = count < 0;
        if (count <= 0)
            return -1;
        maps->used = 0;
        maps->length = (size_t)count;
    }
    return (unsigned char)maps->buffer[maps->used++];
}

/* Reads a hexadecimal number and the character after it, which must be end. */
static bool ual_maps_number(struct ual_maps *maps, char end, uintptr_t *number)
{
    *number = 0;
    for (;;) {
        int c = ual_maps_next(maps);

        if (c >= '0' && c <= '9')
            *number = *number << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *number = *number << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return c == end;
    }
}

static void ual_maps_skip_line(struct ual_maps *maps)
{
    int c;

    do
        c = ual_maps_next(maps);
    while (c != '\n' && c != -1);
}

static bool ual_maps_line(struct ual_maps *maps, struct ual_mapping *mapping)
{
    if (!ual_maps_number(maps, '-', &mapping->start) || !ual_maps_number(maps, ' ', &mapping->end))
        return false;
    mapping->readable = ual_maps_next(maps) == 'r';
    mapping->writable = ual_maps_next(maps) == 'w';
    ual_maps_skip_line(maps);
    return true;
}

/* Walks the mappings until all of [start, last] is found or there is a gap. */
static it_status_t ual_maps_walk(struct ual_maps *maps, uintptr_t start, uintptr_t last, bool reads,
                                 bool writes)
{
    struct ual_mapping mapping;
    bool allowed = true;

    while (ual_maps_line(maps, &mapping)) {
        if (mapping.end <= start)
            continue;
        if (mapping.start > start)
            return IT_ERR_FAULT;
        allowed = allowed && (mapping.readable || !reads) && (mapping.writable || !writes);
        if (last < mapping.end)
            return allowed ? IT_SUCCESS : IT_ERR_ACCESS;
        start = mapping.end; /* the rest to find begins here */
    }
    return maps->failed ? IT_SUCCESS : IT_ERR_FAULT;
}

/* struct procmap_query of linux/fs.h, which many systems do not have yet. */
struct ual_query {
    uint64_t size;
    uint64_t flags;
    uint64_t address;
    uint64_t start;
    uint64_t end;
    uint64_t rights; /* 1: readable; 2: writable */
    uint64_t unused[7];
};

#define UAL_PROCMAP_QUERY _IOWR(0x66, 17, struct ual_query)

/* The same by questions. IT_ERR_OP_NOT_SUPPORTED: the kernel does not know them. */
static it_status_t ual_maps_ask(const struct ual_maps *maps, uintptr_t start, uintptr_t last,
                                bool reads, bool writes)
{
    const uint64_t needed = (reads ? 1u : 0u) | (writes ? 2u : 0u);
    struct ual_query query = {.size = sizeof(query), .address = start};
    bool allowed = true;

    do {
        if (ioctl(maps->fd, UAL_PROCMAP_QUERY, &query) < 0)
            return errno == ENOENT ? IT_ERR_FAULT : IT_ERR_OP_NOT_SUPPORTED;
        allowed = allowed && (query.rights & needed) == needed;
        query.address = query.end;
    } while (query.end <= last);
    return allowed ? IT_SUCCESS : IT_ERR_ACCESS;
}

it_status_t ual_mem_range_check(uintptr_t start, uint64_t length, bool reads, bool writes)
{
    struct ual_maps maps;
    it_status_t status;

    if (length == 0)
        return IT_SUCCESS;
    if (length - 1 > UINTPTR_MAX - start)
        return IT_ERR_FAULT;
    maps.used = maps.length = 0;
    maps.failed = false;
    maps.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps.fd < 0)
        return IT_SUCCESS; /* cannot find out: use of bad memory will fault */
    status = ual_maps_ask(&maps, start, start + (uintptr_t)(length - 1), reads, writes);
    if (status == IT_ERR_OP_NOT_SUPPORTED)
        status = ual_maps_walk(&maps, start, start + (uintptr_t)(length - 1), reads, writes);
    (void)close(maps.fd); /* was only read: no error matters */
    return status;
}
