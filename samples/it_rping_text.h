/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text of a ping: "rdma-ping-N: ", then the characters from A to z repeatedly, beginning one
 * further with each ping, and a NUL at the end.
 */
#ifndef ITAPI_SAMPLES_IT_RPING_TEXT_H
#define ITAPI_SAMPLES_IT_RPING_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The sizes that rping accepts, in bytes, by what it does rather than by its texts: 64 is its
 * default, while its manual page says 100; it refuses 65536, though its message includes that in
 * the range. The smallest has room for the largest N and the NUL.
 */
#define RPING_SIZE_MIN     ((size_t)23)
#define RPING_SIZE_MAX     ((size_t)65535)
#define RPING_SIZE_DEFAULT ((size_t)64)

/* N starts again after this. */
#define RPING_NUMBER_END (UINT32_C(1) << 31)

/* Fills memory with the text of the ping with this number. */
void rping_text_fill(unsigned char *memory, size_t length, uint32_t number);

/* Returns the offset of the first difference from that text; length if there is none. */
size_t rping_text_compare(const unsigned char *memory, size_t length, uint32_t number);

/* Prints a line, whatever the memory contains. */
void rping_text_show(const char *title, const unsigned char *memory, size_t length);

#endif
