/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The standard streams of a program whose output counts.
 */
#ifndef ITAPI_SAMPLES_COMMON_OUTPUT_H
#define ITAPI_SAMPLES_COMMON_OUTPUT_H

#include <stdbool.h>

/*
 * To be called first: without it a socket may get the number of a standard stream that the caller
 * has closed.
 */
void output_begin(void);

/* False if something that was printed so far is lost; no message. */
bool output_is_good(void);

/*
 * To be called last: the status to exit with, 1 in place of 0, after a message, if output is lost.
 */
int output_end(int status);

#endif
