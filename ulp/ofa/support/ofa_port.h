/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP ports that are kept before somebody listens on them. */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_PORT_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * Binds a socket to the address, whose port may be 0, and writes the port into it. A listen point
 * can be made on the port while the socket is there; nobody else gets it. "shared": as with
 * SO_REUSEADDR. 0 or errno; the socket is the caller's to close.
 */
int ofa_port_keep(struct sockaddr_storage *address, bool shared, int *fd);

/* All addresses of this host, of both families where there are both. */
void ofa_port_any(struct sockaddr_storage *address, uint16_t port);

uint16_t ofa_port_of(const struct sockaddr *address); /* host byte order; 0: of no family of IP */
void ofa_port_set(struct sockaddr *address, uint16_t port);
socklen_t ofa_address_length(const struct sockaddr *address); /* 0: of no family of IP */

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_PORT_H */
