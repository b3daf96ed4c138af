/* SPDX-License-Identifier: BSD-2-Clause */
/* The pattern with which data is filled and checked: a function of position and seed. */
#ifndef PEERS_PATTERN_H
#define PEERS_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* first is the position of the first octet. */
void peer_pattern_fill(uint8_t *octets, size_t len, uint64_t first, uint64_t seed);

/* Returns how many octets from the start are right. *want is the expected value of the next one. */
size_t peer_pattern_match(const uint8_t *octets, size_t len, uint64_t first, uint64_t seed,
                          uint8_t *want);

#endif
