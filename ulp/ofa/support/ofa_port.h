/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports: TCP ports, reserved before a listener uses them, and UDP ports. */
#ifndef ITAPI_ULP_OFA_SUPPORT_OFA_PORT_H
#define ITAPI_ULP_OFA_SUPPORT_OFA_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * Binds a socket of this type (SOCK_STREAM, SOCK_DGRAM) to the address, whose port may be 0, and
 * writes the port into it. While the socket is open, nobody else gets the port. shared: as
 * SO_REUSEADDR, for TCP. only: the wildcard address of IPv6 does not include IPv4. Returns 0 or
 * errno; the caller closes the socket.
 */
int ofa_port_keep(struct sockaddr_storage *address, int type, bool shared, bool only, int *fd);

/* Lets a listen point have the TCP port of such a socket; otherwise it gets EADDRINUSE. */
void ofa_port_share(int fd);

/* Sets the wildcard address, of both families if the host has both. */
void ofa_port_any(struct sockaddr_storage *address, uint16_t port);

uint16_t ofa_port_of(const struct sockaddr *address); /* host byte order; 0: no IP address */
void ofa_port_set(struct sockaddr *address, uint16_t port);
socklen_t ofa_address_length(const struct sockaddr *address); /* 0: NULL, or no IP address */

#endif /* ITAPI_ULP_OFA_SUPPORT_OFA_PORT_H */
