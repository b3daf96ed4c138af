/* SPDX-License-Identifier: BSD-2-Clause */
/* The steps from an address or a request to an established connection. */
#ifndef PEERS_ESTABLISH_H
#define PEERS_ESTABLISH_H

#include "peer_args.h"

void peer_establish_resolve_command(struct peer_args *args);
void peer_establish_connect_command(struct peer_args *args);
void peer_establish_accept_command(struct peer_args *args);
void peer_establish_reject_command(struct peer_args *args);

#endif
