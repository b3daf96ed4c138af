/* SPDX-License-Identifier: BSD-2-Clause */
/* The sockets of the tutorial: everything that step 1 needs, and the basis of the later steps. */
#ifndef ITAPI_SAMPLES_TUTORIAL_SOCKETS_H
#define ITAPI_SAMPLES_TUTORIAL_SOCKETS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LINE_SIZE 256 /* octets of a line, its end included */

/* Prints what went wrong and ends the program. */
__attribute__((noreturn)) void fail(const char *what, const char *why);

/* Returns a listening socket; prints its port, since "0" is any free one. */
int listen_on(const char *port);

int connect_to(const char *host, const char *port);

/*
 * Reads one line, without its end, and no octet beyond it, since what follows may not be text.
 * Returns false at the end of the stream.
 */
bool read_line(int tcp, char line[LINE_SIZE]);
void write_line(int tcp, const char *line);

/*
 * stepN server [PORT]              serves one client after the other
 * stepN client HOST PORT TEXT...   asks for an echo of each text
 */
int run(int argc, char **argv, void (*serve)(int tcp), void (*ask)(int tcp, char **texts));

#ifdef __cplusplus
}
#endif

#endif
