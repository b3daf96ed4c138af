/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets on the loopback address for tests, and an account of events: every started call and every
 * element of an accept owes exactly one.
 */
#ifndef ITAPI_TESTS_EXS_EXS_KIT_H
#define ITAPI_TESTS_EXS_EXS_KIT_H

#include "support/check.h"

#include <exs.h>

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

/* A call that has to fail at once: -1 with this errno. */
#define CHECK_ERRNO(error, call) exs_kit_errno(__FILE__, __LINE__, #call, (error), (long)(call))
/* A call that has to start, or to be done: 0. */
#define CHECK_STARTS(call) exs_kit_result(__FILE__, __LINE__, #call, 0, (long)(call))
/* A call with a result. */
#define CHECK_RESULT(want, call) exs_kit_result(__FILE__, __LINE__, #call, (want), (long)(call))

void exs_kit_errno(const char *file, int line, const char *call, int error, long result);
void exs_kit_result(const char *file, int line, const char *call, long want, long result);

/* 127.0.0.1. */
struct sockaddr_in exs_kit_address(int port);
/* On a device of an emulated machine: a small form of the test is enough. */
bool exs_kit_slow(void);
/* A listening socket on a port of the system's choice. */
int exs_kit_listen(int type, int *port);

/* A connected pair, made by blocking calls. */
struct exs_pair {
    int listener;
    int client;
    int server;
};

void exs_pair_open(struct exs_pair *pair, int type);
/* The same with settings: set is called with each socket before it connects or listens. */
void exs_pair_open_with(struct exs_pair *pair, int type, void (*set)(int fd));
void exs_pair_close(struct exs_pair *pair);

/* The next event, within a time limit. */
exs_event_t exs_kit_event(exs_qhandle_t queue);
/* The next event is of this type and has this errno. */
exs_event_t exs_kit_expect(exs_qhandle_t queue, int type, int error);
/* The queue is empty. */
void exs_kit_empty(exs_qhandle_t queue);

/* Octets that depend on their place in the stream. */
void exs_kit_fill(void *memory, size_t length, size_t place);
void exs_kit_compare(const void *memory, size_t length, size_t place);

#endif /* ITAPI_TESTS_EXS_EXS_KIT_H */
