/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of this host and routes to others, as the kernel reports them. */
#ifndef ITAPI_VP_UIWARP_NET_UIW_NET_H
#define ITAPI_VP_UIWARP_NET_UIW_NET_H

#include "base/base_net.h"

#include <net/if.h>
#include <stddef.h>

/* An address of a network interface that is up. */
struct uiw_net_local {
    char interface[IF_NAMESIZE];
    it_net_addr_t address;
    uint32_t scope;  /* IPv6 link-local: index of the interface; otherwise 0 */
    unsigned prefix; /* leading bits to compare: all, except for IPv4 loopback addresses */
    bool runs;       /* the interface has its link */
};

/*
 * Gets the addresses of one network interface ("": of all). *locals_out is one block for free(),
 * NULL if there are none. Returns false if memory runs out or the kernel does not answer.
 */
bool uiw_net_locals(const char *interface, struct uiw_net_local **locals_out, size_t *count_out);

/* Returns true if one of the addresses is on an interface that has its link. */
bool uiw_net_runs(const struct uiw_net_local *locals, size_t count);

/* The same for a network interface ("": the host). Returns false without resources. */
bool uiw_net_is_online(const char *interface, bool *online);

/*
 * Sets *has if the network interface ("": the host) has this address; that may be out of date by 20
 * ms. IT_ERR_RESOURCES: no memory or descriptors to find out.
 */
it_status_t uiw_net_has(const char *interface, const it_net_addr_t *address, bool *has);

/* An address for the log: "192.0.2.1:4791", "[2001:db8::1]:4791". */
struct uiw_net_text {
    char chars[56];
};

struct uiw_net_text uiw_net_text(const struct sockaddr_storage *address);

/*
 * Gets the scope ID of a link-local address on the named interface. With the name "", finds the
 * interface that has this address. *scope is 0 if none is needed or known. Fails with
 * IT_ERR_RESOURCES.
 */
it_status_t uiw_net_scope(const char *interface, const it_net_addr_t *address, uint32_t *scope);

/*
 * Gets the local address from which the kernel would send to `to`. *found is false if there is no
 * route through the interface. Fails with IT_ERR_RESOURCES.
 */
it_status_t uiw_net_source(const char *interface, const it_net_addr_t *to, it_net_addr_t *from,
                           bool *found);

/*
 * Returns true if a connection between these two ends, both of one IP version, is in time-wait;
 * false also if the kernel does not answer.
 */
bool uiw_net_in_timewait(const struct sockaddr_storage *local,
                         const struct sockaddr_storage *remote);

/* Fills the iWARP part of a path from both ends. Returns false if they are no IP addresses. */
bool uiw_net_path_between(const struct sockaddr_storage *local,
                          const struct sockaddr_storage *remote, it_path_t *path);
bool uiw_net_path_of(int fd, it_path_t *path); /* of a connected socket */

/*
 * Replaces BBR, if it is the system's congestion control, on a connected socket whose peer is on
 * this host. Not for sockets of the consumer.
 */
void uiw_net_unpace_local(int fd, const struct sockaddr_storage *remote);

/*
 * Raises the receive window of a socket, so that it takes all that a local peer sends in one call.
 * TCP sizes the window by the octets read in a round trip. Local round trips are short, so the
 * window may stay at some hundred KB, and the rest of a call waits for acknowledgements. Unlike
 * with SO_RCVBUF the window can still grow.
 */
void uiw_net_widen(int fd);

/*
 * Turns a connected IPv6 socket with an IPv4-mapped peer, as a dual-stack listener accepts it, into
 * an IPv4 socket, whose calls are shorter. Not for sockets of the consumer.
 */
void uiw_net_unmap_socket(int fd, const struct sockaddr_storage *remote);

#endif
