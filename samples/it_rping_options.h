/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of rping, and the interface. */
#ifndef ITAPI_SAMPLES_IT_RPING_OPTIONS_H
#define ITAPI_SAMPLES_IT_RPING_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct options {
    bool server;
    bool persistent;     /* a server that serves any number of clients */
    bool show;           /* print the text of each ping */
    bool validate;       /* compare the data received with the data expected */
    bool debug;          /* print each step */
    const char *ia;      /* the Interface Adapter */
    const char *address; /* client: the server's; server: one of the adapter's, or NULL */
    const char *source;  /* client: its own, or NULL */
    uint16_t port;       /* host byte order; server: 0 = any */
    uint32_t count;      /* pings over a connection; 0 = until the client is stopped */
    size_t size;         /* client: bytes of a ping; server: the most it accepts */
};

/* Fills in the options. Returns -1 to continue, or the exit status. */
int options_parse(int argc, char *argv[], struct options *options);

#endif
