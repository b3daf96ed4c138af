/* SPDX-License-Identifier: BSD-2-Clause */
/* Examining a descriptor that is to be converted. */
#ifndef ITAPI_TDI_TDI_SOCKET_H
#define ITAPI_TDI_TDI_SOCKET_H

#include "it_api.h"

#include <stdbool.h>

struct tdi_socket {
    it_net_addr_t local; /* IPv4 for an IPv4-mapped address */
    it_path_t path;      /* both addresses; Spigot and timeout are 0 */
};

/* Returns true when sd is an established TCP stream, open in both directions. Changes nothing. */
bool tdi_socket_examine(int sd, struct tdi_socket *stream);

#endif
