/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The text that travels: "rdma-ping-N: ", then the characters from A to z over and over, beginning
 * one further with each ping, and a NUL at the end.
 */
#ifndef ITAPI_SAMPLES_IT_RPING_TEXT_H
#define ITAPI_SAMPLES_IT_RPING_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The sizes that rping takes, in bytes: what it does, not what it says (64 is its default, its
 * manual page tells of 100; 65536 it refuses as out of a range that ends there). The smallest has
 * room for the largest N and the NUL.
 */
#define RPING_SIZE_MIN     ((size_t)23)
#define RPING_SIZE_MAX     ((size_t)65535)
#define RPING_SIZE_DEFAULT ((size_t)64)

/* N begins anew here. */
#define RPING_NUMBER_END (UINT32_C(1) << 31)

/* Fills memory with the text of the ping with this number. */
void rping_text_fill(unsigned char *memory, size_t length, uint32_t number);

/* Where the memory differs first from that text; length if it does not. */
size_t rping_text_compare(const unsigned char *memory, size_t length, uint32_t number);

/* Prints a line, whatever the memory holds. */
void rping_text_show(const char *title, const unsigned char *memory, size_t length);

#endif
