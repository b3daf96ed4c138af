/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the samples of Extended Sockets have in common: their arguments, and sockets that listen or
 * are connected. A failure ends the program with a message.
 */
#ifndef ITAPI_SAMPLES_COMMON_EXS_SETUP_H
#define ITAPI_SAMPLES_COMMON_EXS_SETUP_H

#include <exs.h>

#include <stdbool.h>
#include <stddef.h>

/* Ends the program with what errno says, unless ok. */
void need(bool ok, const char *what);
/* The same with an error of an event. */
void need_event(const exs_event_t *event, const char *what);

/*
 * PROGRAM server [PORT], or PROGRAM client HOST PORT FILE [NUMBER]. Ends the program with this
 * usage if the arguments are others.
 */
struct arguments {
    bool server;
    const char *host;
    const char *port; /* "0": of the system's choice */
    const char *file;
    int number;
};

struct arguments read_arguments(int argc, char **argv);

/* Prints "listening on port N". */
int listen_on(const char *port);
/* Blocking. */
int connect_to(const char *host, const char *port);

/* The whole file in memory; to be freed. */
char *load_file(const char *path, size_t *length);

#endif
