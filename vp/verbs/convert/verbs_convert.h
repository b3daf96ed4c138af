/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of a TCP stream: the interface to connection management (docs/conversion.md describes
 * the rest). A conversion has at most one connection, which reports to the conversion instead of
 * the EP until both sides have agreed. Everything runs on the IA's thread.
 */
#ifndef ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_H
#define ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_H

#include "vp/verbs/cm/verbs_cm_private.h"
#include "vp/verbs/device/verbs.h"

/* Gives up all conversions of this IA: they cannot succeed any more. */
void verbs_convert_give_up(struct verbs_ia *ia);
/* Called when data may flow on the connection; the conversion decides what follows. */
void verbs_convert_connected(struct verbs_convert *convert, const void *private_data,
                             size_t length);
/* Called when the connection could not be made or has ended; it is gone. */
void verbs_convert_unconnected(struct verbs_convert *convert, it_conn_reject_code_t code);

/* For it_ep_disconnect. */
it_status_t verbs_convert_disconnect(struct verbs_convert *convert);
/* Called when the EP goes away. */
void verbs_convert_abandon(struct verbs_convert *convert);
/* Called when the IA closes: ends the streams that are being drained. */
void verbs_convert_close(struct verbs_ia *ia);

/* ---------------------------------------------------------------- verbs_convert_call.c */

it_status_t verbs_convert(struct ual_ep *ual, const struct vp_convert *convert);

#endif
