/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of sockets, and their forms in IT-API. */
#ifndef ITAPI_ULP_EXS_SOCKET_EXS_ADDRESS_H
#define ITAPI_ULP_EXS_SOCKET_EXS_ADDRESS_H

#include <it_api.h>
#include <stdbool.h>
#include <sys/socket.h>

/* Returns 0 for an address of the domain; otherwise EAFNOSUPPORT or EINVAL. */
int exs_address_check(int domain, const struct sockaddr *address, socklen_t length);

/* Network byte order. */
uint16_t exs_address_port(const struct sockaddr_storage *address);
void exs_address_set_port(struct sockaddr_storage *address, uint16_t port);

/* Makes the path between two addresses; the local one may have family 0. */
void exs_address_path(const struct sockaddr_storage *local, const struct sockaddr_storage *peer,
                      it_path_t *path);

/* Converts to an address of the domain: an IPv4 address becomes a mapped one in IPv6. */
void exs_address_convert(int domain, struct sockaddr_storage *address);

/* Returns true if the wanted address is this one, or any: family 0, or all zeros. Ignores ports. */
bool exs_address_covers(const struct sockaddr_storage *wanted,
                        const struct sockaddr_storage *address);

/* Copies as much as fits; *length becomes the full length. */
void exs_address_give(const struct sockaddr_storage *address, struct sockaddr *to,
                      socklen_t *length);

#endif /* ITAPI_ULP_EXS_SOCKET_EXS_ADDRESS_H */
