/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of units that the library brings along. */
#ifndef ITAPI_ULP_ISER_UNIT_ISER_UNIT_H
#define ITAPI_ULP_ISER_UNIT_ISER_UNIT_H

#include "itiser.h"

/*
 * Each fills ops, context, memory and flags of a unit whose block size is set; .blocks too, where
 * the size is that of a file. False: error has a line for people.
 */
bool iser_memory_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                      char error[256]);
bool iser_file_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                    char error[256]);
bool iser_null_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                    char error[256]);

/* Of a descriptor: the blocks of the range are given back and read as zeros. 0 or an errno. */
int iser_hole_punch(int fd, uint64_t offset, uint64_t length);
/* Octets of "length" from offset on that are all data or all a hole. 0 or an errno. */
int iser_hole_extent(int fd, uint64_t offset, uint64_t *length, bool *mapped);

#endif
