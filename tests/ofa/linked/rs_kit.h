/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs of rsockets within one process. */
#ifndef ITAPI_TESTS_OFA_LINKED_RS_KIT_H
#define ITAPI_TESTS_OFA_LINKED_RS_KIT_H

#include "support/check.h"

#include <netinet/in.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a listening rsocket on 127.0.0.1. Stores its address. "options" may be NULL. */
int rs_kit_listen(struct sockaddr_in *address, void (*options)(int rs));

/* Connects two blocking rsockets: ends[0] by rconnect, ends[1] by raccept. */
void rs_kit_pair(int ends[2], void (*options)(int rs));
void rs_kit_close(const int ends[2]);

void rs_kit_set(int rs, int level, int name, int value);
int rs_kit_get(int rs, int level, int name);

/* Returns the events that rpoll finds within 10 s. */
short rs_kit_poll(int rs, short events);

/* Fills with bytes whose values depend on their place in the stream; verifies them. */
void rs_kit_fill(unsigned char *bytes, size_t length, uint64_t place);
void rs_kit_verify(const unsigned char *bytes, size_t length, uint64_t place);

#endif /* ITAPI_TESTS_OFA_LINKED_RS_KIT_H */
