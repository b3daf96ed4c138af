/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one port of a device: its table of GIDs, which are the addresses of its network interfaces,
 * and whether there is a link.
 */
#ifndef ITAPI_ULP_OFA_PORT_OFA_GID_H
#define ITAPI_ULP_OFA_PORT_OFA_GID_H

#include "object/ofa_object.h"

/*
 * Fills the table as it is now and returns its entries: the address of the default route first,
 * then other IPv4 addresses, then global IPv6 ones, those of the loopback interface last.
 * Link-local addresses are left out, since a GID has no room for their interface.
 */
int ofa_gid_table(const struct ofa_device *device, struct ofa_gid table[OFA_MAX_GIDS]);

/* Whether one of the device's interfaces is up. */
bool ofa_port_is_up(const struct ofa_device *device);

/* The low 16 bits of the first GID, if that is an IPv4 address; else of a hash. Never 0. */
uint16_t ofa_port_lid(const struct ofa_device *device);

/* The address, with this port, that a peer's address vector leads to. False: to none. */
bool ofa_gid_address(const struct ofa_device *device, const struct ibv_ah_attr *vector,
                     uint16_t port, struct sockaddr_in6 *address);

#endif /* ITAPI_ULP_OFA_PORT_OFA_GID_H */
