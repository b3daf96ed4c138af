/* SPDX-License-Identifier: BSD-2-Clause */
/* A unit for its user: its properties and its octets. */
#include "initiator/iser_bench.h"

#include <string.h>

#define PIECE     (256u << 10)
#define BLOCK_MIN 512u
#define BLOCK_MAX 65536u

/* ---- Commands ----------------------------------------------- */

static bool command(struct iser_disk *disk, const uint8_t cdb[16], uint32_t in_length,
                    struct iser_client_task *task)
{
    *task = (struct iser_client_task){
        .lun = disk->lun, .in = disk->client->memory, .in_length = in_length};
    memcpy(task->cdb, cdb, 16);
    return iser_client_run(disk->client, task);
}

static bool complain(struct iser_disk *disk, const char *what, const struct iser_client_task *task)
{
    if (task->sense_length >= 14)
        return iser_client_fail(disk->client, "%s: status %02x, sense %02x/%02x/%02x", what,
                                task->status, task->sense[2] & 15, task->sense[12],
                                task->sense[13]);
    return iser_client_fail(disk->client, "%s: status %02x", what, task->status);
}

/* A few unit attentions are normal: retries. */
static bool await_ready(struct iser_disk *disk)
{
    static const uint8_t test_unit_ready[16] = {0};
    struct iser_client_task task;

    for (int attempt = 0; attempt < 8; attempt++) {
        if (command(disk, test_unit_ready, 0, &task))
            return true;
        if (disk->client->error[0])
            return false;
        if (task.sense_length < 14 || (task.sense[2] & 15) != 6)
            break;
    }
    return complain(disk, "TEST UNIT READY", &task);
}

/* The memory for the data holds a block of the largest size. */
static bool check_capacity(const struct iser_disk *disk)
{
    uint32_t size = disk->block_size;

    if (size < BLOCK_MIN || size > BLOCK_MAX || (size & (size - 1)) != 0)
        return iser_client_fail(disk->client, "blocks of %u octets", size);
    return (disk->blocks > 0 && disk->blocks <= UINT64_MAX / size) ||
           iser_client_fail(disk->client, "more than 2^64 octets");
}

bool iser_disk_open(struct iser_disk *disk, struct iser_client *client, uint64_t lun)
{
    static const uint8_t inquiry[16] = {0x12, 0, 0, 0, 96};
    static const uint8_t serial[16] = {0x12, 1, 0x80, 0, 96};
    static const uint8_t capacity[16] = {[0] = 0x9e, [1] = 0x10, [13] = 32};
    struct iser_client_task task;

    *disk = (struct iser_disk){.client = client, .lun = lun << 48};
    if (!await_ready(disk))
        return false;
    if (!command(disk, inquiry, 96, &task) || task.received < 36)
        return complain(disk, "INQUIRY", &task);
    memcpy(disk->vendor, task.in + 8, 8);
    memcpy(disk->product, task.in + 16, 16);
    iser_client_clean(disk->vendor);
    iser_client_clean(disk->product);
    if (command(disk, serial, 96, &task) && task.received > 4)
        memcpy(disk->serial, task.in + 4, task.received - 4 < 63 ? task.received - 4 : 63);
    iser_client_clean(disk->serial);
    if (!command(disk, capacity, 32, &task) || task.received < 12)
        return complain(disk, "READ CAPACITY", &task);
    disk->blocks = iser_get64(task.in) + 1;
    disk->block_size = iser_get32(task.in + 8);
    return check_capacity(disk);
}

/* READ(16) or WRITE(16) with the data at the start of the memory. */
static bool transfer(struct iser_disk *disk, bool writes, uint64_t offset, uint32_t length)
{
    struct iser_client_task task = {.lun = disk->lun};

    task.cdb[0] = writes ? 0x8a : 0x88;
    iser_put64(task.cdb + 2, offset / disk->block_size);
    iser_put32(task.cdb + 10, length / disk->block_size);
    if (writes) {
        task.out = disk->client->memory;
        task.out_length = length;
    } else {
        task.in = disk->client->memory;
        task.in_length = length;
    }
    if (!iser_client_run(disk->client, &task))
        return complain(disk, writes ? "WRITE" : "READ", &task);
    return writes || task.received == length ||
           iser_client_fail(disk->client, "READ: %u octets instead of %u", task.received, length);
}

static bool check_range(struct iser_disk *disk, uint64_t offset, uint64_t length)
{
    uint64_t size = disk->blocks * disk->block_size;

    if (offset % disk->block_size || length % disk->block_size)
        return iser_client_fail(disk->client, "offset and length are multiples of %u",
                                disk->block_size);
    return (offset <= size && length <= size - offset) ||
           iser_client_fail(disk->client, "the unit has %llu octets", (unsigned long long)size);
}

/* ---- Octets ----------------------------------------------- */

bool iser_disk_read(struct iser_disk *disk, uint64_t offset, uint64_t length, FILE *to)
{
    if (!check_range(disk, offset, length))
        return false;
    while (length > 0) {
        uint32_t part = length < PIECE ? (uint32_t)length : PIECE;

        if (!transfer(disk, false, offset, part))
            return false;
        if (fwrite(disk->client->memory, 1, part, to) != part)
            return iser_client_fail(disk->client, "cannot write to the output");
        offset += part;
        length -= part;
    }
    return fflush(to) == 0 || iser_client_fail(disk->client, "cannot write to the output");
}

static bool synchronize(struct iser_disk *disk)
{
    static const uint8_t synchronize_cache[16] = {0x35};
    struct iser_client_task task;

    return command(disk, synchronize_cache, 0, &task) || complain(disk, "SYNCHRONIZE CACHE", &task);
}

bool iser_disk_write(struct iser_disk *disk, uint64_t offset, FILE *from)
{
    size_t got;

    while ((got = fread(disk->client->memory, 1, PIECE, from)) > 0) {
        if (!check_range(disk, offset, got) || !transfer(disk, true, offset, (uint32_t)got))
            return false;
        offset += got;
    }
    return synchronize(disk);
}

/* ---- Verifying ----------------------------------------------- */

/* Fills each eight octets with a value that depends on their offset. */
static void fill(uint8_t *memory, uint64_t offset, uint32_t length)
{
    for (uint32_t i = 0; i < length; i += 8)
        iser_put64(memory + i, (offset + i) * 0x9e3779b97f4a7c15u + 1);
}

static bool check(struct iser_disk *disk, uint64_t offset, uint32_t length)
{
    for (uint32_t i = 0; i < length; i += 8)
        if (iser_get64(disk->client->memory + i) != (offset + i) * 0x9e3779b97f4a7c15u + 1)
            return iser_client_fail(disk->client, "octet %llu is not what was written",
                                    (unsigned long long)(offset + i));
    return true;
}

/* The pieces have 1, 2, 3 ... blocks, up to the largest, then 1 again. */
static bool pass(struct iser_disk *disk, bool writes, uint64_t offset, uint64_t length,
                 uint32_t piece)
{
    uint32_t blocks = 1;

    while (length > 0) {
        uint32_t part = blocks * disk->block_size;

        part = part < length ? part : (uint32_t)length;
        if (writes)
            fill(disk->client->memory, offset, part);
        if (!transfer(disk, writes, offset, part) || (!writes && !check(disk, offset, part)))
            return false;
        offset += part;
        length -= part;
        blocks = (blocks + 1) * disk->block_size > piece ? 1 : blocks + 1;
    }
    return true;
}

bool iser_disk_verify(struct iser_disk *disk, uint64_t offset, uint64_t length, uint32_t piece)
{
    /* The read uses other sizes, so that mistakes at the borders show. */
    return check_range(disk, offset, length) && pass(disk, true, offset, length, piece) &&
           synchronize(disk) && pass(disk, false, offset, length, piece / 2 + disk->block_size);
}
