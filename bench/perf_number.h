/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses numbers of the command line. All functions return false for anything else, without a
 * message.
 */
#ifndef ITAPI_BENCH_PERF_NUMBER_H
#define ITAPI_BENCH_PERF_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number with k, m or g behind it, at most limit. */
bool perf_parse_number(const char *text, uint64_t limit, uint64_t *value);

/* A decimal number from 0 to limit. */
bool perf_parse_decimal(const char *text, double limit, double *value);

/* FROM:TO (doubling), FROM:TO:xFACTOR, or numbers with commas between them; at most room. */
bool perf_parse_steps(const char *text, uint64_t limit, uint64_t *steps, size_t room,
                      size_t *count);

#endif
