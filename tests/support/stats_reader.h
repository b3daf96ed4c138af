/* SPDX-License-Identifier: BSD-2-Clause */
/* A client of the socket that ITAPI_STATS names. */
#ifndef ITAPI_TESTS_SUPPORT_STATS_READER_H
#define ITAPI_TESTS_SUPPORT_STATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connects to the socket. Returns -1 with errno on failure. */
int stats_connect(const char *path);
/*
 * Reads up to the end of the stream. Returns text that ends with NUL and that the caller frees, or
 * NULL if nobody listens.
 */
char *stats_read(const char *path);
bool stats_is_whole(const char *text);
/* Returns the value of NAME in the first line from `text` on. Fails the test if it is missing. */
uint64_t stats_value(const char *text, const char *name);
/* Returns the line that begins "KIND id=OBJECT", or NULL. */
const char *stats_line(const char *text, const char *kind, const void *object);
size_t stats_count(const char *text, const char *kind);

#endif
