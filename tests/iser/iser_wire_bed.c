/* SPDX-License-Identifier: BSD-2-Clause */
#include "iser_wire_kit.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

static int doorbell[2];
static sem_t started;
static unsigned stop_ms;

static void bed_stopped(void *argument)
{
    struct wire_bed *bed = argument;

    (void)event_base_loopbreak(bed->base);
}

static void bed_woken(evutil_socket_t fd, short what, void *argument)
{
    struct wire_bed *bed = argument;
    char order;

    (void)what;
    CHECK(read(fd, &order, 1) == 1);
    if (order == 'r') {
        bed->run(bed);
        CHECK(sem_post(&started) == 0);
        return;
    }
    if (bed->before_stop)
        bed->before_stop();
    itiser_stop(bed->target, stop_ms, bed_stopped, bed);
}

/* The thread that runs the base makes all calls of the target. */
static void *bed_run(void *argument)
{
    struct wire_bed *bed = argument;
    char error[256] = "";

    bed->target = itiser_start(bed->base, &bed->config, error);
    if (!bed->target)
        CHECK_FAIL("no target: %s", error);
    CHECK(sem_post(&started) == 0);
    (void)event_base_dispatch(bed->base);
    itiser_free(bed->target);
    return NULL;
}

void wire_prepare(struct wire_bed *bed)
{
    struct sockaddr_in *address = (void *)&bed->portal.address;
    static const struct itiser_unit_config memory = {
        .kind = ITISER_MEMORY_UNIT, .size = 64u << 20, .serial = "memory"};
    static const struct itiser_unit_config null = {
        .kind = ITISER_NULL_UNIT, .size = 1u << 30, .serial = "null"};

    memset(bed, 0, sizeof(*bed));
    bed->target_config.name = WIRE_TARGET;
    bed->target_config.units[0] = itiser_unit_open(&memory, NULL);
    bed->target_config.units[1] = itiser_unit_open(&null, NULL);
    CHECK(bed->target_config.units[0] && bed->target_config.units[1]);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bed->portal.kinds = ITISER_PLAIN | ITISER_RDMA | ITISER_CONVERT;
    bed->portal.tag = 1;
    bed->config = (struct itiser_config){.size = sizeof(bed->config),
                                         .targets = &bed->target_config,
                                         .target_count = 1,
                                         .portals = &bed->portal,
                                         .portal_count = 1,
                                         .first_burst = 65536};
}

void wire_open(struct wire_bed *bed)
{
    struct sockaddr_storage address;

    CHECK(pipe(doorbell) == 0 && sem_init(&started, 0, 0) == 0);
    bed->base = event_base_new();
    CHECK(bed->base);
    bed->wake = event_new(bed->base, doorbell[0], EV_READ | EV_PERSIST, bed_woken, bed);
    CHECK(bed->wake && event_add(bed->wake, NULL) == 0);
    CHECK(pthread_create(&bed->thread, NULL, bed_run, bed) == 0);
    CHECK(sem_wait(&started) == 0);
    CHECK(itiser_portal_address(bed->target, 0, &address));
    bed->port = ((const struct sockaddr_in *)(const void *)&address)->sin_port;
}

void wire_run(struct wire_bed *bed, void (*run)(struct wire_bed *bed))
{
    bed->run = run;
    CHECK(write(doorbell[1], "r", 1) == 1);
    CHECK(sem_wait(&started) == 0);
}

void wire_stop(struct wire_bed *bed, unsigned timeout_ms)
{
    bed->stopping = true;
    stop_ms = timeout_ms;
    CHECK(write(doorbell[1], "x", 1) == 1);
}

void wire_close(struct wire_bed *bed)
{
    if (bed->thread) {
        if (!bed->stopping)
            wire_stop(bed, 0);
        CHECK(pthread_join(bed->thread, NULL) == 0);
    }
    event_free(bed->wake);
    event_base_free(bed->base);
    itiser_unit_close(bed->target_config.units[0]);
    itiser_unit_close(bed->target_config.units[1]);
    CHECK(close(doorbell[0]) == 0 && close(doorbell[1]) == 0);
}
