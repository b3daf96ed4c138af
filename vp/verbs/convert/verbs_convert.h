/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of a TCP stream: what of it connection management knows (docs/conversion.md has all
 * the rest). A conversion has at most one connection, which reports to it and not to the EP until
 * both sides have agreed. All on the IA's thread.
 */
#ifndef ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_H
#define ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_H

#include "vp/verbs/cm/verbs_cm_private.h"
#include "vp/verbs/device/verbs.h"

/* Nothing can be made of the conversions of this IA any more. */
void verbs_convert_give_up(struct verbs_ia *ia);
/* Data may flow on the connection, and the conversion decides what comes of it. */
void verbs_convert_connected(struct verbs_convert *convert, const void *private_data,
                             size_t length);
/* The connection could not be made, or is over; it is gone. */
void verbs_convert_unconnected(struct verbs_convert *convert, it_conn_reject_code_t code);

/* it_ep_disconnect. */
it_status_t verbs_convert_disconnect(struct verbs_convert *convert);
/* The EP goes away. */
void verbs_convert_abandon(struct verbs_convert *convert);
/* The IA closes: streams that are being retired. */
void verbs_convert_close(struct verbs_ia *ia);

/* ---------------------------------------------------------------- verbs_convert_call.c */

it_status_t verbs_convert(struct ual_ep *ual, const struct vp_convert *convert);

#endif
