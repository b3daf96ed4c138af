/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_memory.h"

#include "peer_answer.h"
#include "peer_clock.h"
#include "peer_connection.h"
#include "peer_pattern.h"
#include "peer_table.h"
#include "peer_tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE_LARGEST (UINT64_C(1) << 40)
#define POLL_NS      INT64_C(500000)

static struct peer_table peer_memories;
static uint64_t peer_memory_serial;

struct peer_memory *peer_memory_named(struct peer_args *args, const char *name)
{
    struct peer_memory *memory = NULL;
    uint64_t number;

    if (peer_args_to_number(name, 1, UINT32_MAX, &number))
        memory = peer_table_find(&peer_memories, number);
    if (memory == NULL)
        peer_args_refuse(args, "no memory %.40s", name);
    return memory;
}

void peer_memory_check_device(struct peer_args *args, const struct peer_memory *memory,
                              const struct peer_device *device)
{
    if (memory->device != device)
        peer_args_refuse(args, "memory %u is of %s, the connection of %s", memory->number,
                         peer_device_name(memory->device), peer_device_name(device));
}

static int peer_memory_destroy(struct peer_memory *memory)
{
    int error = peer_tally_gone(PEER_MR, "ibv_dereg_mr", ibv_dereg_mr(memory->mr));

    if (error != 0)
        return error;
    (void)munmap(memory->octets, memory->size);
    peer_table_remove(&peer_memories, memory->number);
    free(memory);
    return 0;
}

void peer_memory_destroy_all(void)
{
    for (unsigned number = 1; number <= peer_memories.room; number++) {
        struct peer_memory *memory = peer_table_find(&peer_memories, number);

        if (memory != NULL)
            (void)peer_memory_destroy(memory);
    }
    peer_table_free(&peer_memories);
}

/* ---- mem, free ------------------------------------------------------------------------------ */

static unsigned peer_memory_rights(struct peer_args *args)
{
    const char *rights = peer_args_text(args, "rights");
    unsigned access = 0;

    if (rights == NULL)
        rights = "lwr";
    if (strcmp(rights, "-") == 0)
        return 0;
    for (; *rights != '\0'; rights++) {
        switch (*rights) {
        case 'l':
            access |= IBV_ACCESS_LOCAL_WRITE;
            break;
        case 'w':
            access |= IBV_ACCESS_REMOTE_WRITE;
            break;
        case 'r':
            access |= IBV_ACCESS_REMOTE_READ;
            break;
        case 'a':
            access |= IBV_ACCESS_REMOTE_ATOMIC;
            break;
        default:
            peer_args_refuse(args, "no right %c", *rights);
            break;
        }
    }
    return access;
}

static struct ibv_mr *peer_memory_register(struct peer_device *device, uint8_t *octets, size_t size,
                                           unsigned access)
{
    struct ibv_pd *pd = peer_device_pd(device);
    struct ibv_mr *mr;

    if (pd == NULL)
        return NULL;
    mr = ibv_reg_mr(pd, octets, size, access);
    if (mr == NULL)
        peer_answer_errno("ibv_reg_mr", errno);
    else
        peer_tally_made(PEER_MR);
    return mr;
}

/* mem SIZE [rights=lwra] [conn=C] [dev=NAME] */
void peer_memory_mem_command(struct peer_args *args)
{
    size_t size = peer_args_number(args, 0, 1, SIZE_LARGEST);
    struct peer_device *device = peer_connection_pick_device(args);
    unsigned access = peer_memory_rights(args);
    struct peer_memory *memory;
    struct ibv_mr *mr;
    void *octets;

    if (peer_args_refused(args))
        return;
    octets = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (octets == MAP_FAILED) {
        peer_answer_errno("mmap", errno);
        return;
    }
    mr = peer_memory_register(device, octets, size, access);
    if (mr == NULL) {
        (void)munmap(octets, size);
        return;
    }
    memory = calloc(1, sizeof(*memory));
    if (memory == NULL)
        peer_die("no memory");
    memory->octets = octets;
    memory->size = size;
    memory->device = device;
    memory->mr = mr;
    memory->serial = ++peer_memory_serial;
    memory->number = peer_table_add(&peer_memories, memory);
    peer_answer("ok mem=%u address=0x%" PRIxPTR " rkey=0x%" PRIx32, memory->number,
                (uintptr_t)octets, mr->rkey);
}

/* free M */
void peer_memory_free_command(struct peer_args *args)
{
    struct peer_memory *memory = peer_memory_named(args, args->position[0]);
    int error;

    if (peer_args_refused(args))
        return;
    error = peer_memory_destroy(memory);
    if (error != 0)
        peer_answer_errno("ibv_dereg_mr", error);
    else
        peer_answer("ok");
}

/* ---- What is in it -------------------------------------------------------------------------- */

/* The words M OFFSET LENGTH, which name a part of a memory. */
struct peer_memory_part {
    struct peer_memory *memory;
    size_t offset;
    size_t length;
};

static struct peer_memory_part peer_memory_part(struct peer_args *args)
{
    struct peer_memory_part part;

    part.memory = peer_memory_named(args, args->position[0]);
    part.offset = peer_args_number(args, 1, 0, SIZE_LARGEST);
    part.length = peer_args_number(args, 2, 0, SIZE_LARGEST);
    if (part.memory != NULL &&
        (part.offset > part.memory->size || part.length > part.memory->size - part.offset))
        peer_args_refuse(args, "memory %u has %zu octets", part.memory->number, part.memory->size);
    return part;
}

/* fill M OFFSET LENGTH SEED */
void peer_memory_fill_command(struct peer_args *args)
{
    struct peer_memory_part part = peer_memory_part(args);
    uint64_t seed = peer_args_number(args, 3, 0, UINT64_MAX);

    if (peer_args_refused(args))
        return;
    peer_pattern_fill(part.memory->octets + part.offset, part.length, part.offset, seed);
    peer_answer("ok");
}

/* check M OFFSET LENGTH SEED */
void peer_memory_check_command(struct peer_args *args)
{
    struct peer_memory_part part = peer_memory_part(args);
    uint64_t seed = peer_args_number(args, 3, 0, UINT64_MAX);
    const uint8_t *octets;
    uint8_t want = 0;
    size_t right;

    if (peer_args_refused(args))
        return;
    octets = part.memory->octets + part.offset;
    right = peer_pattern_match(octets, part.length, part.offset, seed, &want);
    if (right == part.length)
        peer_answer("ok");
    else
        peer_answer("error differs at=%zu want=0x%02x got=0x%02x", part.offset + right, want,
                    octets[right]);
}

/* zero M OFFSET LENGTH */
void peer_memory_zero_command(struct peer_args *args)
{
    struct peer_memory_part part = peer_memory_part(args);

    if (peer_args_refused(args))
        return;
    memset(part.memory->octets + part.offset, 0, part.length);
    peer_answer("ok");
}

/*
 * poll_memory M OFFSET VALUE timeout=MS: a remote write is not notified, so this polls and sleeps.
 */
void peer_memory_poll_command(struct peer_args *args)
{
    struct peer_memory *memory = peer_memory_named(args, args->position[0]);
    size_t offset = peer_args_number(args, 1, 0, SIZE_LARGEST);
    uint8_t value = (uint8_t)peer_args_number(args, 2, 0, UINT8_MAX);
    int64_t deadline = peer_args_deadline(args);
    const uint8_t *octet;

    if (memory != NULL && offset >= memory->size)
        peer_args_refuse(args, "memory %u has %zu octets", memory->number, memory->size);
    if (peer_args_refused(args))
        return;
    octet = memory->octets + offset;
    while (__atomic_load_n(octet, __ATOMIC_ACQUIRE) != value) {
        if (peer_clock_over(deadline)) {
            peer_answer("error timeout");
            return;
        }
        peer_clock_sleep(POLL_NS, deadline);
    }
    peer_answer("ok");
}
