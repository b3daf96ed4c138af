/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Requests that are on their way to another service point. IT-API announces them with the qualifier
 * that the peer has called, so the new one is kept here until then; the peer's address and port
 * tell which request it is.
 */
#ifndef ITAPI_ULP_UDAPL_DELIVER_UDAPL_HANDOFF_H
#define ITAPI_ULP_UDAPL_DELIVER_UDAPL_HANDOFF_H

#include "object/udapl_cr.h"
#include "object/udapl_ia.h"

/* Before the request is handed off, to this qualifier. False without memory. */
bool udapl_handoff_note(struct udapl_ia *ia, const struct udapl_cr *cr, DAT_CONN_QUAL to);

/* The qualifier that a request from there has been handed off to; otherwise the one it came to. */
DAT_CONN_QUAL udapl_handoff_take(struct udapl_ia *ia, const struct sockaddr_storage *remote,
                                 DAT_CONN_QUAL came_to);

/* For ia_close: those that nobody has taken. */
void udapl_handoff_clear(struct udapl_ia *ia);

#endif
