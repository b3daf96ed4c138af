/* SPDX-License-Identifier: BSD-2-Clause */
/* What every process of a run needs: the plan, the counts, the failures. */
#include "chaos/chaos.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct chaos *chaos;

static unsigned server; /* of this program, or this program itself */

void chaos_attach(int fd, unsigned worker)
{
    chaos = mmap(NULL, sizeof(*chaos), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (chaos == MAP_FAILED) {
        perror("the memory of the run");
        exit(2);
    }
    (void)close(fd);
    server = chaos->workers[worker].is_server ? worker : chaos->workers[worker].server;
}

struct sockaddr_in chaos_address_of(unsigned of, uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port, .sin_addr = chaos->workers[of].address};
}

struct sockaddr_in chaos_server_address(uint16_t port)
{
    return chaos_address_of(server, port);
}

uint32_t chaos_address_changes(void)
{
    return atomic_load(&chaos->workers[server].changes);
}

bool chaos_address_may_miss(int error)
{
    return (error == EADDRNOTAVAIL || error == ENODEV) && chaos_address_changes() > 0;
}

uint64_t chaos_now_us(void)
{
    return atomic_load_explicit(&chaos->clock_us, memory_order_relaxed);
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t chaos_number(uint64_t what, uint64_t pair, uint64_t attempt)
{
    return mixed(mixed(mixed(chaos->seed + what) + pair) + attempt);
}

void chaos_count(enum chaos_count count, uint64_t number)
{
    (void)atomic_fetch_add_explicit(&chaos->counts[count], number, memory_order_relaxed);
}

void chaos_fail(const char *format, ...)
{
    char text[CHAOS_TEXT];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(text, sizeof(text), format, list);
    va_end(list);
    if (atomic_fetch_add(&chaos->failures, 1) < 60)
        fprintf(stderr, "chaos: %s\n", text);
}

void chaos_harm(uint32_t pair, uint32_t attempt)
{
    uint32_t last = atomic_load(&chaos->pairs[pair].harmed);

    while (last < attempt &&
           !atomic_compare_exchange_weak(&chaos->pairs[pair].harmed, &last, attempt))
        ;
}

void chaos_leave(struct chaos_worker *leaving)
{
    atomic_store(&leaving->port, 0);
    atomic_fetch_add(&leaving->incarnation, 1);
}

bool chaos_is_harmed(uint32_t pair, uint32_t attempt)
{
    return atomic_load(&chaos->pairs[pair].harmed) >= attempt;
}
