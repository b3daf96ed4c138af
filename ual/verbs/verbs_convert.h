/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conversion of a TCP stream: what of it connection management knows (docs/conversion.md has all the rest).
 * A conversion has at most one connection, which reports to it and not to the EP until both sides have agreed. All
 * on the IA's thread.
 */
#ifndef ITAPI_UAL_VERBS_VERBS_CONVERT_H
#define ITAPI_UAL_VERBS_VERBS_CONVERT_H

#include "ual/verbs/verbs_cm_private.h"

/* ---------------------------------------------------------------- for connection management */

/* An incoming connection on the conversion's listener; takes the id. */
void vrb_convert_requested(struct vrb_convert *convert, struct rdma_cm_id *id,
                           const struct vrb_cm_event *event);
/* The device of the listener goes away. */
void vrb_convert_lost(struct vrb_convert *convert);
/* Nothing can be made of the conversions of this IA any more. */
void vrb_convert_give_up(struct vrb_ia *ia);
/* Data may flow on the connection, and the conversion decides what comes of it. */
void vrb_convert_connected(struct vrb_convert *convert, const void *private_data, size_t length);
/* The connection could not be made, or is over; it is gone. */
void vrb_convert_unconnected(struct vrb_convert *convert, it_conn_reject_code_t code);

/* it_ep_disconnect. */
it_status_t vrb_convert_disconnect(struct vrb_convert *convert);
/* The EP goes away. */
void vrb_convert_abandon(struct vrb_convert *convert);
/* The IA closes: streams that are being retired. */
void vrb_convert_close(struct vrb_ia *ia);

#endif
