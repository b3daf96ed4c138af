/* SPDX-License-Identifier: BSD-2-Clause */
/* Registered memories. */
#ifndef PEERS_MEMORY_H
#define PEERS_MEMORY_H

#include "peer_args.h"
#include "peer_device.h"

#include <stddef.h>
#include <stdint.h>

struct peer_memory {
    unsigned number;
    uint64_t serial; /* unlike the number, never used again */
    uint8_t *octets;
    size_t size;
    struct peer_device *device;
    struct ibv_mr *mr;
};

/* Returns the memory with this name, or NULL after a refusal. */
struct peer_memory *peer_memory_named(struct peer_args *args, const char *name);

/* Refuses memory of another device, which no queue pair of this device can use. */
void peer_memory_check_device(struct peer_args *args, const struct peer_memory *memory,
                              const struct peer_device *device);

void peer_memory_destroy_all(void);

void peer_memory_mem_command(struct peer_args *args);
void peer_memory_free_command(struct peer_args *args);
void peer_memory_fill_command(struct peer_args *args);
void peer_memory_check_command(struct peer_args *args);
void peer_memory_zero_command(struct peer_args *args);
void peer_memory_poll_command(struct peer_args *args);

#endif
