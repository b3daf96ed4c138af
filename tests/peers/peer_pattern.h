/* SPDX-License-Identifier: BSD-2-Clause */
/* The pattern that data is filled with and checked against: a function of position and seed. */
#ifndef PEERS_PATTERN_H
#define PEERS_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* first: position of the first octet. */
void peer_pattern_fill(uint8_t *octets, size_t len, uint64_t first, uint64_t seed);

/* How many octets from the start are as they should be; that of the next goes to *want. */
size_t peer_pattern_match(const uint8_t *octets, size_t len, uint64_t first, uint64_t seed,
                          uint8_t *want);

#endif
