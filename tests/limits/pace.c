/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pace [SLOWNESS]: prints the factor of all time limits of the tests, an integer. The factor grows
 * with the time that this machine needs now, beside its other work, for a fixed amount of work: two
 * threads for each processor compute and wake each other. SLOWNESS says how many times slower the
 * tests are because of how they are built; it is 1 by default.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 64u
#define ROUNDS    2000u
#define MEMORY    4096u
/* The time on a quiet machine with processors of 2020. */
#define USUAL_US 150000u
/* Limits are so many times longer than measured, since the load may grow while the tests run. */
#define GENEROUS 3u

static uint64_t now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
}

/* Each octet depends on the previous one. */
static void compute(unsigned char *memory)
{
    for (unsigned turn = 0; turn < 8; turn++)
        for (unsigned i = 1; i < MEMORY; i++)
            memory[i] = (unsigned char)(memory[i] * 5u + memory[i - 1]);
}

/* One end of a pair: it computes, wakes the other end, and waits to be woken. */
static void *work(void *argument)
{
    int fd = *(int *)argument;
    unsigned char memory[MEMORY];

    memset(memory, fd, sizeof(memory));
    for (unsigned i = 0; i < ROUNDS; i++) {
        compute(memory);
        if (send(fd, memory, 1, 0) != 1 || recv(fd, memory, 1, 0) != 1)
            abort();
    }
    (void)close(fd);
    return NULL;
}

static unsigned processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

    return (unsigned)count < PAIRS_MAX ? (unsigned)count : PAIRS_MAX;
}

int main(int argc, char **argv)
{
    pthread_t threads[PAIRS_MAX][2];
    int fds[PAIRS_MAX][2];
    unsigned pairs = processors();
    unsigned long slowness = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    uint64_t start_us = now_us();

    for (unsigned i = 0; i < pairs; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds[i]) != 0)
            abort();
        for (unsigned end = 0; end < 2; end++)
            if (pthread_create(&threads[i][end], NULL, work, &fds[i][end]) != 0)
                abort();
    }
    for (unsigned i = 0; i < pairs; i++)
        for (unsigned end = 0; end < 2; end++)
            (void)pthread_join(threads[i][end], NULL);
    printf("%lu\n", slowness * (1 + (now_us() - start_us) * GENEROUS / USUAL_US));
    return 0;
}
