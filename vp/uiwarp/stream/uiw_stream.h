/* SPDX-License-Identifier: BSD-2-Clause */
/* Established connections: how connection startup hands them to the engine, and how they end. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_STREAM_H
#define ITAPI_VP_UIWARP_STREAM_UIW_STREAM_H

#include "tdi/iwarp/iw_mpa.h"
#include "ual/object/ual_ep_state.h"

struct uiw_ia;

/*
 * Loop thread. The startup is over (the responder's Reply is in the socket): fd becomes the stream
 * of the EP, which steps to CONNECTED and reports IT_CM_MSG_CONN_ESTABLISHED_EVENT with `news`
 * (number and depths are filled in here). early: octets that were read behind the startup frame.
 * Sends the RTR when result->rtr asks an initiator for one; a responder holds its FPDUs until the
 * peer's first, or, unless the socket was converted, until the peer has been silent (uiw_silence.c). False when the EP has left its pending state meanwhile, or without memory: then
 * nothing was done and fd is still the caller's.
 */
bool uiw_stream_start(struct ual_ep *ual, int fd, bool initiator, bool converted,
                      const struct iw_mpa_result *result, const uint8_t *early, size_t early_length,
                      struct ual_conn_news *news);

/*
 * Any thread, no lock held. Ends an attempt: steps the EP (ATTEMPT_FAILED or DISCONNECT), flushes
 * its posted receives, reports news. False when the EP was not in a pending state any more.
 */
bool uiw_ep_end_attempt(struct ual_ep *ual, enum ual_ep_step step,
                        const struct ual_conn_news *news);

/*
 * Any thread. Takes over the descriptor of a stream that has ended: sends tail (copied), then FIN;
 * reads and drops what still comes until the peer's FIN or a time limit, then closes. Ends the
 * stream with shutdown(2), so that another copy of the descriptor does not keep it alive.
 */
void uiw_linger(struct uiw_ia *ia, int fd, const void *tail, size_t tail_length);

/* Resets the connection (RST), also when other copies of the descriptor exist, and closes fd. */
void uiw_reset_fd(int fd);

/* What our startup frames say for this EP (uiw_ep.c): config from its attributes and itx settings. */
void uiw_ep_mpa_config(struct ual_ep *ual, bool suppress_depths, struct iw_mpa_config *config);

/*
 * The connection attempt of an EP, NULL when there is none: set with ep->lock held together with
 * the step out of UNCONNECTED, cleared with it held on the loop thread when the attempt object
 * lets go of the EP.
 */
struct uiw_conn **uiw_ep_conn_slot(struct ual_ep *ual);

#endif
