/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The only port of a device: its GID table, which has the addresses of its network interfaces, and
 * the state of its link.
 */
#ifndef ITAPI_ULP_OFA_PORT_OFA_GID_H
#define ITAPI_ULP_OFA_PORT_OFA_GID_H

#include "object/ofa_object.h"

/*
 * Fills the table with the current addresses and returns the number of entries: the address of the
 * default route first, then other IPv4 addresses, then global IPv6 ones, those of the loopback
 * interface last. Link-local addresses are left out, since a GID has no room for their interface.
 */
int ofa_gid_table(const struct ofa_device *device, struct ofa_gid table[OFA_MAX_GIDS]);

/* Returns true if one of the device's interfaces is up and has its link. */
bool ofa_port_is_up(const struct ofa_device *device);

/* Returns the low 16 bits of the first GID; 1 instead of 0. */
uint16_t ofa_port_lid(const struct ofa_device *device);

/* Gets the address of a peer's address vector, with this port. Returns false if it has none. */
bool ofa_gid_address(const struct ofa_device *device, const struct ibv_ah_attr *vector,
                     uint16_t port, struct sockaddr_in6 *address);

#endif /* ITAPI_ULP_OFA_PORT_OFA_GID_H */
