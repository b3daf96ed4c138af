/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections: event numbers, addresses, connection qualifiers, limits of time. */
#ifndef ITAPI_ULP_UDAPL_MAP_UDAPL_CONNECTION_H
#define ITAPI_ULP_UDAPL_MAP_UDAPL_CONNECTION_H

#include "it_api.h"

#include <dat2/udat.h>

#include <netinet/in.h>
#include <stdbool.h>

/*
 * The number of an event of the CM message stream; 0: the consumer is told nothing. accepting: the
 * EP is on the passive side.
 */
DAT_EVENT_NUMBER udapl_connection_number(it_event_type_t event, it_conn_reject_code_t reason,
                                         bool accepting);

/*
 * The port that a connection qualifier is: its lower 16 bits, as with Debian's provider. Programs
 * that know nothing of ports choose greater ones.
 */
static inline uint16_t udapl_port_of_qual(DAT_CONN_QUAL conn_qual)
{
    return (uint16_t)conn_qual;
}

static inline bool udapl_is_port(DAT_CONN_QUAL conn_qual)
{
    return udapl_port_of_qual(conn_qual) != 0;
}

/* To listen on: a request then tells the peer's port. */
it_conn_qual_t udapl_passive_qual(DAT_CONN_QUAL conn_qual);
it_conn_qual_t udapl_active_qual(DAT_CONN_QUAL conn_qual);
/* Of a listen point, or a request there: its own port, and the peer's. */
DAT_CONN_QUAL udapl_conn_qual_of(const it_conn_qual_t *qual);
DAT_PORT_QUAL udapl_port_qual_of(const it_conn_qual_t *qual);

/* False: neither IPv4 nor IPv6. IPv4 in IPv6 form becomes IPv4. */
bool udapl_address_of(const struct sockaddr *from, it_net_addr_t *to);
/* A zeroed sockaddr; GIDs are IPv6, or IPv4 in that form. */
void udapl_sockaddr_of(const it_net_addr_t *from, DAT_PORT_QUAL port, struct sockaddr_storage *to);
/* 0: neither IPv4 nor IPv6. */
DAT_PORT_QUAL udapl_port_of(const struct sockaddr_storage *address);

/* Microseconds for it_path_t. */
uint64_t udapl_timeout_of(DAT_TIMEOUT timeout);

#endif
