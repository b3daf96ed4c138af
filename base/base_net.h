/* SPDX-License-Identifier: BSD-2-Clause */
/* IP addresses in the forms of the API, of sockets and of paths. Ports in network byte order. */
#ifndef ITAPI_BASE_BASE_NET_H
#define ITAPI_BASE_BASE_NET_H

#include "it_api.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* ---------------------------------------------------------------- addresses of sockets */

/* Of an IP address. */
static inline socklen_t base_net_length(const void *sockaddr)
{
    const struct sockaddr *address = sockaddr;

    return address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* The port is at the same place in both forms. */
static inline uint16_t base_net_port(const void *sockaddr)
{
    return ((const struct sockaddr_in *)sockaddr)->sin_port;
}

static inline void base_net_set_port(struct sockaddr_storage *sockaddr, uint16_t port)
{
    ((struct sockaddr_in *)(void *)sockaddr)->sin_port = port;
}

void base_net_copy(struct sockaddr_storage *to, const void *sockaddr);

/* Returns the length; 0: not an IP address. */
socklen_t base_net_to_sockaddr(const it_net_addr_t *address, uint16_t port, uint32_t scope,
                               struct sockaddr_storage *sockaddr);
/* An IPv4 address in IPv6 form becomes an IPv4 address. False: not an IP address. */
bool base_net_from_sockaddr(const void *sockaddr, it_net_addr_t *address);

/*
 * The own address from which the kernel would send there. Sends nothing. 0 or errno, which may be a
 * shortage.
 */
int base_net_source(const struct sockaddr_storage *remote, struct sockaddr_storage *local);
/* A lack of descriptors or memory says nothing about an address. */
bool base_net_is_shortage(int error);

/* ---------------------------------------------------------------- addresses of the API */

/* IPv4 in IPv6 form becomes IPv4; others stay. */
void base_net_unmap(it_net_addr_t *address);
/* All zero. */
bool base_net_is_any(const it_net_addr_t *address);
/* An IP address to which a connection can lead. */
bool base_net_is_peer(const it_net_addr_t *address);
/* IP addresses of one version. */
bool base_net_is_same(const it_net_addr_t *a, const it_net_addr_t *b);
/* The IP address in words. */
void base_net_text(const it_net_addr_t *address, char text[INET6_ADDRSTRLEN]);

/* Both ends, of one version of IP, into the iWARP part of a path, and back; false: no IP path. */
void base_net_into_path(const it_net_addr_t *local, const it_net_addr_t *remote, it_path_t *path);
bool base_net_from_path(const it_path_t *path, it_net_addr_t *local, it_net_addr_t *remote);

/* The port that a listen point of the qualifier serves. NULL: a type that has none. */
static inline uint16_t *base_net_listen_port(it_conn_qual_t *qual)
{
    if (qual->type == IT_IANA_PORT)
        return &qual->conn_qual.port;
    return qual->type == IT_IANA_LR_PORT ? &qual->conn_qual.lr_port.local : NULL;
}

#endif
