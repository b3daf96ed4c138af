/* SPDX-License-Identifier: BSD-2-Clause */
/* Examines a descriptor that is to be converted, and changes nothing. */
#ifndef ITAPI_TDI_TDI_SOCKET_H
#define ITAPI_TDI_TDI_SOCKET_H

#include "it_api.h"

#include <stdbool.h>

struct tdi_socket {
    it_net_addr_t local; /* an IPv4-mapped address counts as IPv4 */
    it_path_t path;      /* both addresses; Spigot and timeout are left 0 */
};

/* False unless sd is an established TCP stream whose both directions are open. */
bool tdi_socket_examine(int sd, struct tdi_socket *stream);

#endif
