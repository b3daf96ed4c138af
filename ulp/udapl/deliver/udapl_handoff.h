/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that are being handed off to another service point. IT-API announces them with the
 * qualifier to which the peer has connected. So the new qualifier is kept here until then, by the
 * peer's address and port.
 */
#ifndef ITAPI_ULP_UDAPL_DELIVER_UDAPL_HANDOFF_H
#define ITAPI_ULP_UDAPL_DELIVER_UDAPL_HANDOFF_H

#include "object/udapl_cr.h"
#include "object/udapl_ia.h"

/* Called before the request is handed off to this qualifier. Returns false if memory runs out. */
bool udapl_handoff_note(struct udapl_ia *ia, const struct udapl_cr *cr, DAT_CONN_QUAL to);

/* Returns the qualifier to which this peer's request was handed off; otherwise came_to. */
DAT_CONN_QUAL udapl_handoff_take(struct udapl_ia *ia, const struct sockaddr_storage *remote,
                                 DAT_CONN_QUAL came_to);

/* For dat_ia_close: drops those that were not taken. */
void udapl_handoff_clear(struct udapl_ia *ia);

#endif
