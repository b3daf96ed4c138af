/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: event numbers, addresses, connection qualifiers, timeouts. */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_CONNECTION_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_CONNECTION_H

#include "it_api.h"

#include <dat2/udat.h>

#include <netinet/in.h>
#include <stdbool.h>

/*
 * Converts an event of the CM message stream; 0: the consumer gets no event. accepting: the EP is
 * on the passive side.
 */
DAT_EVENT_NUMBER udapl_connection_number(it_event_type_t event, it_conn_reject_code_t reason,
                                         bool accepting);

/*
 * Returns the port of a connection qualifier: its lower 16 bits, as with Debian's provider.
 * Programs that do not know ports use larger qualifiers.
 */
static inline uint16_t udapl_port_of_qual(DAT_CONN_QUAL conn_qual)
{
    return (uint16_t)conn_qual;
}

static inline bool udapl_is_port(DAT_CONN_QUAL conn_qual)
{
    return udapl_port_of_qual(conn_qual) != 0;
}

/* Returns a qualifier to listen on, of the type whose requests have the peer's port. */
it_conn_qual_t udapl_passive_qual(DAT_CONN_QUAL conn_qual);
it_conn_qual_t udapl_active_qual(DAT_CONN_QUAL conn_qual);
/* Return the local port, and the peer's port, of a listen point or a request. */
DAT_CONN_QUAL udapl_conn_qual_of(const it_conn_qual_t *qual);
DAT_PORT_QUAL udapl_port_qual_of(const it_conn_qual_t *qual);

/* Returns false if the address is neither IPv4 nor IPv6. IPv4-mapped addresses become IPv4. */
bool udapl_address_of(const struct sockaddr *from, it_net_addr_t *to);
/* Fills a zeroed sockaddr. GIDs are IPv6 or IPv4-mapped addresses. */
void udapl_sockaddr_of(const it_net_addr_t *from, DAT_PORT_QUAL port, struct sockaddr_storage *to);
/* Returns 0 if the address is neither IPv4 nor IPv6. */
DAT_PORT_QUAL udapl_port_of(const struct sockaddr_storage *address);

/* Converts a timeout to the microseconds of it_path_t. */
uint64_t udapl_timeout_of(DAT_TIMEOUT timeout);

#endif
