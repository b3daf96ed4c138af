/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of a device and its ports; addresses. */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_QUERY_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_QUERY_H

#include "base/base_net.h"
#include "vp/verbs/device/verbs_ep.h"
#include <rdma/rdma_cma.h>

/* Returns true if the id is bound to the IA's device. */
bool verbs_device_is_own(const struct verbs_ia *ia, const struct rdma_cm_id *id);

/* Returns false, with *attr zeroed, if the device does not answer. */
bool verbs_query_port(const struct verbs_ia *ia, size_t port, struct ibv_port_attr *attr);
/* RoCE: the port's GIDs are IP addresses. */
bool verbs_port_is_ethernet(const struct verbs_ia *ia, size_t port);

/* Returns the longest datagram that a port can send; 0 if it sends none. */
size_t verbs_ud_max(const struct verbs_ia *ia, uint8_t port);

it_status_t verbs_ia_query(struct ual_ia *ual, it_ia_info_t **info_out);
bool verbs_has_spigot(const struct ual_ia *ual, size_t spigot_id);
it_status_t verbs_has_address(const struct ual_ia *ual, const it_net_addr_t *address);

/*
 * Returns the port of the device that rdma_cm uses for a local address; 0 with errno if there is
 * none, or if it cannot be found out.
 */
uint8_t verbs_port_of(const struct verbs_ia *ia, const struct sockaddr *address);
bool verbs_address_is_usable(const struct ifaddrs *entry);

/* Returns all GIDs of the device, in memory that the caller frees; NULL if they cannot be read. */
struct ibv_gid_entry *verbs_gid_table(const struct verbs_ia *ia, size_t *count);
void verbs_ep_counters(struct ual_ep *ual, struct itx_ep_counters *counters);

#endif
