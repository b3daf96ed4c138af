/* SPDX-License-Identifier: BSD-2-Clause */
/* A client of the socket that ITAPI_STATS names. */
#ifndef ITAPI_TESTS_SUPPORT_STATS_READER_H
#define ITAPI_TESTS_SUPPORT_STATS_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Connected, or -1 with errno. */
int stats_connect(const char *path);
/*
 * All up to the end of the stream, NUL-terminated and the caller's to free; NULL: nobody listens.
 */
char *stats_read(const char *path);
bool stats_is_whole(const char *text);
/* The value of NAME in the first line from `text` on; fails the test if it is not there. */
uint64_t stats_value(const char *text, const char *name);
/* The line that begins "KIND id=OBJECT", or NULL. */
const char *stats_line(const char *text, const char *kind, const void *object);
size_t stats_count(const char *text, const char *kind);

#endif
