/* SPDX-License-Identifier: BSD-2-Clause */
/* The standard streams of a program whose output matters. */
#ifndef ITAPI_SAMPLES_COMMON_OUTPUT_H
#define ITAPI_SAMPLES_COMMON_OUTPUT_H

#include <stdbool.h>

/*
 * To be called first: otherwise a socket may get the number of a standard stream that the caller
 * has closed.
 */
void output_begin(void);

/* Returns false if output printed so far is lost; prints no message. */
bool output_is_good(void);

/*
 * To be called last. Returns the exit status: 1 in place of 0, after a message, if output is lost.
 */
int output_end(int status);

#endif
