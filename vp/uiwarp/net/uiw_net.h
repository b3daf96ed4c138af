/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of this host and the way to others, as the kernel has them. */
#ifndef ITAPI_VP_UIWARP_NET_UIW_NET_H
#define ITAPI_VP_UIWARP_NET_UIW_NET_H

#include "base/base_net.h"

#include <net/if.h>
#include <stddef.h>

/* An address of a network interface that is up. */
struct uiw_net_local {
    char interface[IF_NAMESIZE];
    it_net_addr_t address;
    uint32_t scope;  /* IPv6 link-local: index of the interface, else 0 */
    unsigned prefix; /* loopback, IPv4: leading bits that all its addresses share; else all bits */
    bool runs;       /* the interface has its link */
};

/*
 * The addresses of one network interface ("": of all). *locals_out is one block for free(), NULL
 * when there are none. False without memory or answer of the kernel.
 */
bool uiw_net_locals(const char *interface, struct uiw_net_local **locals_out, size_t *count_out);

/* One of them is on an interface that has its link. */
bool uiw_net_runs(const struct uiw_net_local *locals, size_t count);

/* The same for a network interface ("": the host). False: unknown, without resources. */
bool uiw_net_is_online(const char *interface, bool *online);

/*
 * Does the network interface ("": the host) have this address? A yes may be out of date by 20 ms.
 * IT_ERR_RESOURCES: without memory or descriptors nobody knows.
 */
it_status_t uiw_net_has(const char *interface, const it_net_addr_t *address, bool *has);

/* "192.0.2.1:4791", "[2001:db8::1]:4791": for a line of the log. */
struct uiw_net_text {
    char chars[56];
};

struct uiw_net_text uiw_net_text(const struct sockaddr_storage *address);

/*
 * Scope to reach a link-local address through an interface ("": if the address is one of the
 * host's); 0 where none is needed or known. Fails with IT_ERR_RESOURCES.
 */
it_status_t uiw_net_scope(const char *interface, const it_net_addr_t *address, uint32_t *scope);

/*
 * The own address from which the kernel would send there. Not *found: no way through the interface.
 * Fails with IT_ERR_RESOURCES.
 */
it_status_t uiw_net_source(const char *interface, const it_net_addr_t *to, it_net_addr_t *from,
                           bool *found);

/*
 * A connection between these two ends, both of one IP version, is in time-wait. False also where
 * the kernel does not tell.
 */
bool uiw_net_in_timewait(const struct sockaddr_storage *local,
                         const struct sockaddr_storage *remote);

/* Both ends of a connection into the iWARP part of a path. False: not IP addresses. */
bool uiw_net_path_between(const struct sockaddr_storage *local,
                          const struct sockaddr_storage *remote, it_path_t *path);
bool uiw_net_path_of(int fd, it_path_t *path); /* of a connected socket */

/*
 * Takes pacing off a connected socket whose other end is on this host, too, where the system's
 * congestion control has brought it. Not for sockets of the consumer's.
 */
void uiw_net_unpace_local(int fd, const struct sockaddr_storage *remote);

/*
 * Opens the receive window of a socket for all that a local peer puts into one call. TCP sizes the
 * window by the octets read in a round trip. Local round trips are short, so the window may stay at
 * some hundred KB, and the rest of a call waits for acknowledgements. Unlike with SO_RCVBUF the
 * window can still grow.
 */
void uiw_net_widen(int fd);

/*
 * Turns a connected socket of IPv4 in IPv6 form, as a listener of both accepts it, into a socket of
 * IPv4: each call then takes a shorter way. Not for sockets of the consumer's.
 */
void uiw_net_unmap_socket(int fd, const struct sockaddr_storage *remote);

#endif
