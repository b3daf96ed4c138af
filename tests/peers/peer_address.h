/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts numeric addresses of commands to socket addresses. */
#ifndef PEERS_ADDRESS_H
#define PEERS_ADDRESS_H

#include "peer_args.h"

#include <sys/socket.h>

/* Parses IPv4 or IPv6 (with %INTERFACE if needed) and a port. */
void peer_address_parse(struct peer_args *args, const char *text, uint64_t port,
                        struct sockaddr_storage *address);

#endif
