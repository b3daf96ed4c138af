/* SPDX-License-Identifier: BSD-2-Clause */
/* Keeps as many commands outstanding as the depth allows, for a given time. */
#include "initiator/iser_bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double cpu(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* The same sequence in each run. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

struct run {
    struct iser_disk *disk;
    struct iser_bench *bench;
    uint64_t random, next, places;
};

static bool submit(struct run *run, struct iser_client_task *task)
{
    struct iser_disk *disk = run->disk;
    uint64_t place = run->bench->sequential ? run->next++ : next_random(&run->random);
    uint32_t blocks = run->bench->size / disk->block_size;

    iser_put64(task->cdb + 2, place % run->places * blocks);
    return iser_client_submit(disk->client, task);
}

static void prepare(const struct run *run, struct iser_client_task *tasks, unsigned depth)
{
    const struct iser_bench *bench = run->bench;

    for (unsigned i = 0; i < depth; i++) {
        uint8_t *memory = run->disk->client->memory + (size_t)i * bench->size;

        tasks[i].lun = run->disk->lun;
        tasks[i].cdb[0] = bench->writes ? 0x8a : 0x88;
        iser_put32(tasks[i].cdb + 10, bench->size / run->disk->block_size);
        tasks[i].out = bench->writes ? memory : NULL;
        tasks[i].out_length = bench->writes ? bench->size : 0;
        tasks[i].in = bench->writes ? NULL : memory;
        tasks[i].in_length = bench->writes ? 0 : bench->size;
    }
}

static bool go(struct run *run, struct iser_client_task *tasks, unsigned depth)
{
    struct iser_client *client = run->disk->client;
    struct iser_client_task *idle[ISER_CLIENT_TASKS], *over;
    double end = now() + run->bench->seconds;
    unsigned count = 0;

    while (count < depth) {
        idle[count] = &tasks[count];
        count++;
    }
    for (;;) {
        while (count > 0 && iser_client_has_room(client) && now() < end)
            if (!submit(run, idle[--count]))
                return false;
        if (client->under_way == 0 && now() >= end)
            return true;
        if (client->under_way == 0) { /* the target's window is closed */
            if (!iser_client_await_room(client))
                return false;
            continue;
        }
        if (!iser_client_wait(client, &over))
            return false;
        if (over->status != 0)
            return iser_client_fail(client, "a command ends with status %02x", over->status);
        run->bench->commands++;
        idle[count++] = over;
    }
}

bool iser_bench(struct iser_disk *disk, struct iser_bench *bench)
{
    unsigned depth = disk->client->options.depth;
    struct run run = {.disk = disk, .bench = bench, .random = 88172645463325252u};
    struct iser_client_task *tasks;
    double begin, cpu_begin;
    bool good;

    if (bench->size % disk->block_size || bench->size == 0 ||
        bench->size > disk->blocks * disk->block_size)
        return iser_client_fail(disk->client, "the size is a multiple of %u within the unit",
                                disk->block_size);
    run.places = disk->blocks * disk->block_size / bench->size;
    tasks = calloc(depth, sizeof(*tasks));
    if (!tasks)
        return iser_client_fail(disk->client, "out of memory");
    prepare(&run, tasks, depth);
    bench->commands = 0;
    begin = now();
    cpu_begin = cpu();
    good = go(&run, tasks, depth);
    bench->elapsed = now() - begin;
    bench->cpu = cpu() - cpu_begin;
    free(tasks);
    return good;
}
