/* SPDX-License-Identifier: BSD-2-Clause */
/* Established connections: how connection startup hands them to the engine, and how they end. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_START_H
#define ITAPI_VP_UIWARP_STREAM_UIW_START_H

#include "tdi/iwarp/iw_mpa.h"
#include "ual/object/ual_ep_state.h"

struct uiw_ia;

/*
 * Loop thread. The startup is over (the responder's Reply is in the socket): fd becomes the stream
 * of the EP, which steps to CONNECTED and reports IT_CM_MSG_CONN_ESTABLISHED_EVENT with `news`
 * (number and depths are filled in here). early: octets that were read behind the startup frame.
 * Sends the RTR if result->rtr asks an initiator for one. A responder holds its FPDUs until the
 * peer's first, or, unless the socket was converted, until the peer has been silent
 * (uiw_silence.c). Returns false if the EP has left its pending state, or without memory: nothing
 * was done, and fd is still the caller's.
 */
bool uiw_start_stream(struct ual_ep *ual, int fd, bool initiator, bool converted,
                      const struct iw_mpa_result *result, const uint8_t *early, size_t early_length,
                      struct ual_conn_news *news);

#endif
