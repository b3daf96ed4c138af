/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sockets on the loopback address for tests, and checks of events: every started call and every
 * element of an accept has exactly one.
 */
#ifndef ITAPI_TESTS_EXS_EXS_KIT_H
#define ITAPI_TESTS_EXS_EXS_KIT_H

#include "support/check.h"

#include <exs.h>

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

/* Checks that the call fails at once: -1 with this errno. */
#define CHECK_ERRNO(error, call) exs_kit_errno(__FILE__, __LINE__, #call, (error), (long)(call))
/* Checks that the call starts or succeeds: 0. */
#define CHECK_STARTS(call) exs_kit_result(__FILE__, __LINE__, #call, 0, (long)(call))
/* Checks the call's result. */
#define CHECK_RESULT(want, call) exs_kit_result(__FILE__, __LINE__, #call, (want), (long)(call))

void exs_kit_errno(const char *file, int line, const char *call, int error, long result);
void exs_kit_result(const char *file, int line, const char *call, long want, long result);

/* 127.0.0.1. */
struct sockaddr_in exs_kit_address(int port);
/* Returns true on a device of an emulated machine, where a shorter test suffices. */
bool exs_kit_slow(void);
/* Makes a listening socket on a port that the system chooses. */
int exs_kit_listen(int type, int *port);

/* A pair connected by blocking calls. */
struct exs_pair {
    int listener;
    int client;
    int server;
};

void exs_pair_open(struct exs_pair *pair, int type);
/* Does the same, and calls set with each socket before it connects or listens. */
void exs_pair_open_with(struct exs_pair *pair, int type, void (*set)(int fd));
void exs_pair_close(struct exs_pair *pair);

/* Takes the next event, within a time limit. */
exs_event_t exs_kit_event(exs_qhandle_t queue);
/* Takes the next event, which must have this type and this errno. */
exs_event_t exs_kit_expect(exs_qhandle_t queue, int type, int error);
/* Checks that the queue is empty. */
void exs_kit_empty(exs_qhandle_t queue);

/* Fills memory with octets that depend on their place in the stream; compares them. */
void exs_kit_fill(void *memory, size_t length, size_t place);
void exs_kit_compare(const void *memory, size_t length, size_t place);

#endif /* ITAPI_TESTS_EXS_EXS_KIT_H */
