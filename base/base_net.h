/* SPDX-License-Identifier: BSD-2-Clause */
/* IP addresses in the forms of the API, sockets and paths. Ports are in network byte order. */
#ifndef ITAPI_BASE_BASE_NET_H
#define ITAPI_BASE_BASE_NET_H

#include "it_api.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* ---------------------------------------------------------------- addresses of sockets */

/* Returns the length of an IPv4 or IPv6 socket address. */
static inline socklen_t base_net_length(const void *sockaddr)
{
    const struct sockaddr *address = sockaddr;

    return address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

/* Both address families have the port at the same offset. */
static inline uint16_t base_net_port(const void *sockaddr)
{
    return ((const struct sockaddr_in *)sockaddr)->sin_port;
}

static inline void base_net_set_port(struct sockaddr_storage *sockaddr, uint16_t port)
{
    ((struct sockaddr_in *)(void *)sockaddr)->sin_port = port;
}

void base_net_copy(struct sockaddr_storage *to, const void *sockaddr);

/* Returns the length of *sockaddr, or 0 when address is no IP address. */
socklen_t base_net_to_sockaddr(const it_net_addr_t *address, uint16_t port, uint32_t scope,
                               struct sockaddr_storage *sockaddr);
/* Makes an IPv4-mapped address an IPv4 address. Returns false when it is no IP address. */
bool base_net_from_sockaddr(const void *sockaddr, it_net_addr_t *address);

/*
 * Finds the address from which the kernel would send to remote. Sends nothing. Returns 0 or an
 * errno, which may be a shortage.
 */
int base_net_source(const struct sockaddr_storage *remote, struct sockaddr_storage *local);
/*
 * Returns true for errors by a lack of descriptors or memory, which say nothing about the address.
 */
bool base_net_is_shortage(int error);

/* Gets the local end of a socket. Returns false, and no family, when there is none. */
bool base_net_local(int fd, struct sockaddr_storage *local);
/* Gets both ends of a socket. Returns false when it is not connected. */
bool base_net_ends(int fd, struct sockaddr_storage *local, struct sockaddr_storage *remote);

/* ---------------------------------------------------------------- errors of sockets and ids */

/* Of listening. 0: IT_SUCCESS. */
it_status_t base_net_listen_status(int error);
/* Of binding the local end of a connection. 0: IT_SUCCESS. */
it_status_t base_net_bind_status(int error);
/* Of connecting. */
it_conn_reject_code_t base_net_reject_code(int error);

/* ---------------------------------------------------------------- options of a TCP socket */

/* Those that a conversion changes and that the socket's owner may have set. */
struct base_net_options {
    int nodelay, cork, lowat;
    struct linger linger;
};

void base_net_get_options(int fd, struct base_net_options *options);
/* If this fails, the stream is only slower. */
void base_net_set_option(int fd, int level, int option, int value);
/* close(2) of the last descriptor, which may be this copy, will neither wait nor reset. */
void base_net_drop_linger(int fd);

/* ---------------------------------------------------------------- addresses of the API */

/* Makes an IPv4-mapped address an IPv4 address; leaves others. */
void base_net_unmap(it_net_addr_t *address);
/* Returns true when the address is all zero. */
bool base_net_is_any(const it_net_addr_t *address);
/* Returns true for an IP address that a connection can lead to. */
bool base_net_is_peer(const it_net_addr_t *address);
/* Returns true for equal IP addresses of one version. */
bool base_net_is_same(const it_net_addr_t *a, const it_net_addr_t *b);
/* Writes the IP address as text. */
void base_net_text(const it_net_addr_t *address, char text[INET6_ADDRSTRLEN]);

/*
 * Copy both ends into the iWARP part of a path, and back. The second returns false if the path is
 * no IP path.
 */
void base_net_into_path(const it_net_addr_t *local, const it_net_addr_t *remote, it_path_t *path);
bool base_net_from_path(const it_path_t *path, it_net_addr_t *local, it_net_addr_t *remote);

/* Returns the port that a listen point of this qualifier serves, or NULL if it has none. */
static inline uint16_t *base_net_listen_port(it_conn_qual_t *qual)
{
    if (qual->type == IT_IANA_PORT)
        return &qual->conn_qual.port;
    return qual->type == IT_IANA_LR_PORT ? &qual->conn_qual.lr_port.local : NULL;
}

#endif
