/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread whose peer writes to its victim's memory until it is cut off. */
#ifndef ITAPI_TESTS_HOSTILE_HOSTILE_WRITER_H
#define ITAPI_TESTS_HOSTILE_HOSTILE_WRITER_H

#include <pthread.h>
#include <stdatomic.h>

#include "hostile/hostile_kit.h"

#define WRITER_REGION (1u << 20)
#define WRITER_CHUNK  60000u

struct writer {
    pthread_t thread;
    struct raw_peer *peer;
    uint32_t stag;
    uint64_t to;
    atomic_uint rounds;
};

/* Writes WRITER_REGION octets, with another value in each round. */
void writer_start(struct writer *writer, struct raw_peer *peer, uint32_t stag, uint64_t to);
void writer_await(const struct writer *writer, unsigned rounds);

/* Compares WRITER_REGION octets for a while. The memory must not change. */
void stays(const unsigned char *memory, const unsigned char *now, uint64_t microseconds);

#endif
