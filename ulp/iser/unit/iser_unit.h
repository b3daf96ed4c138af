/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of units that the library provides. */
#ifndef ITAPI_ULP_ISER_UNIT_ISER_UNIT_H
#define ITAPI_ULP_ISER_UNIT_ISER_UNIT_H

#include "itiser.h"

/*
 * Each fills in ops, context, memory and flags of a unit whose block size is set, and .blocks if
 * the size is that of a file. Returns false with a line of text in error.
 */
bool iser_memory_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                      char error[256]);
bool iser_file_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                    char error[256]);
bool iser_null_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                    char error[256]);

/*
 * Frees the blocks of a range of the descriptor's file; they then read as zeros. Returns 0 or an
 * errno.
 */
int iser_hole_punch(int fd, uint64_t offset, uint64_t length);
/*
 * Gets the number of octets, at most "length", from offset on that are all data or all a hole.
 * Returns 0 or an errno.
 */
int iser_hole_extent(int fd, uint64_t offset, uint64_t *length, bool *mapped);

#endif
