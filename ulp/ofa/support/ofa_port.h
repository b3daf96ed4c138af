/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports: of TCP, kept before somebody listens on them, and of UDP. */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_PORT_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * Binds a socket of this type (SOCK_STREAM, SOCK_DGRAM) to the address, whose port may be 0, and
 * writes the port into it. Nobody else gets it; a listen point can be made on a port of TCP while
 * the socket is there. "shared": as with SO_REUSEADDR, for TCP. "only": the wildcard address of
 * IPv6 does not mean IPv4, too. 0 or errno; the socket is the caller's to close.
 */
int ofa_port_keep(struct sockaddr_storage *address, int type, bool shared, bool only, int *fd);

/* All addresses of this host, of both families where there are both. */
void ofa_port_any(struct sockaddr_storage *address, uint16_t port);

uint16_t ofa_port_of(const struct sockaddr *address); /* host byte order; 0: of no family of IP */
void ofa_port_set(struct sockaddr *address, uint16_t port);
socklen_t ofa_address_length(const struct sockaddr *address); /* 0: of no family of IP */

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_PORT_H */
