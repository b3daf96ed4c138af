/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pattern.h - the pattern of tests/peers/README.md, which differs at every place and for every
 * seed.
 */
#ifndef ITAPI_TESTS_INTEROP_PATTERN_H
#define ITAPI_TESTS_INTEROP_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/*
 * memory[0] gets the octet of position from. The peer counts positions from the start of a memory
 * or of a message.
 */
void pattern_fill(void *memory, size_t length, uint64_t from, uint64_t seed);
/* Ends the test at the first octet that differs. */
#define pattern_check(memory, length, from, seed)                                                  \
    pattern_check_at(__FILE__, __LINE__, (memory), (length), (from), (seed))
void pattern_check_at(const char *file, int line, const void *memory, size_t length, uint64_t from,
                      uint64_t seed);

#endif /* ITAPI_TESTS_INTEROP_PATTERN_H */
