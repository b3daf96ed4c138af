/* SPDX-License-Identifier: BSD-2-Clause */
/* Listeners: ids that wait for connection requests. */
#ifndef PEERS_LISTENER_H
#define PEERS_LISTENER_H

#include "peer_args.h"

void peer_listener_listen_command(struct peer_args *args);
void peer_listener_request_command(struct peer_args *args);

/* Also handles "destroy C": the first word tells which. */
void peer_listener_destroy_command(struct peer_args *args);

void peer_listener_destroy_all(void);

#endif
