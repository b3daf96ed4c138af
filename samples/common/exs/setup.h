/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the samples of Extended Sockets share: their arguments, and sockets that listen or are
 * connected. A failure ends the program with a message.
 */
#ifndef ITAPI_SAMPLES_COMMON_EXS_SETUP_H
#define ITAPI_SAMPLES_COMMON_EXS_SETUP_H

#include <exs.h>

#include <stdbool.h>
#include <stddef.h>

/* Unless ok, ends the program with the message of errno. */
void need(bool ok, const char *what);
/* The same with the error of an event. */
void need_event(const exs_event_t *event, const char *what);

/*
 * PROGRAM server [PORT], or PROGRAM client HOST PORT FILE [NUMBER]. Other arguments end the program
 * with this usage.
 */
struct arguments {
    bool server;
    const char *host;
    const char *port; /* "0": chosen by the system */
    const char *file;
    int number;
};

struct arguments read_arguments(int argc, char **argv);

/* Prints "listening on port N". */
int listen_on(const char *port);
/* Blocks until the connection exists. */
int connect_to(const char *host, const char *port);

/* Returns the whole file in memory, which the caller frees. */
char *load_file(const char *path, size_t *length);

#endif
