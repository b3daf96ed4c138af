/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections and attempts end. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_END_H
#define ITAPI_VP_UIWARP_STREAM_UIW_END_H

#include "ual/object/ual_ep_state.h"
#include "vp/uiwarp/queue/uiw_ep.h"

struct uiw_end {
    uint32_t generation;                  /* of the connection that is meant; 0: the one there is */
    enum ual_ep_step step;                /* DISCONNECT, CLOSED, BROKEN */
    it_event_type_t async;                /* affiliated event, 0: none */
    const struct iw_terminate *terminate; /* to be sent, NULL: none */
    bool has_failed_request;
    uint32_t failed_index; /* SQ index and status of the request that failed */
    it_dto_status_t failed_status;
    it_dto_status_t recv_status; /* of the receive that failed, else IT_DTO_ERR_FLUSHED */
    bool silent;                 /* no event of the connection */
    bool discard;                /* what is posted vanishes instead of being flushed */
};

/*
 * Ends an established connection, once: state, Terminate, flush, events; false when it has ended
 * already. reader: the caller holds the reader token (it stays held). The send token must not be.
 */
bool uiw_ep_end(struct ual_ep *ual, const struct uiw_end *end, bool reader);

/* Takes both tokens and drops the stream without a word to the consumer: the EP is going away. */
void uiw_ep_cut(struct ual_ep *ual);

/*
 * Any thread, no lock held. Ends an attempt: steps the EP (ATTEMPT_FAILED or DISCONNECT), flushes
 * its posted receives, reports news. False when the EP was not in a pending state any more.
 */
bool uiw_ep_end_attempt(struct ual_ep *ual, enum ual_ep_step step,
                        const struct ual_conn_news *news);

/* The same of an EP that is not connected, by UAL_EP_FLUSH, of which nothing is reported. */
bool uiw_ep_end_unconnected(struct ual_ep *ual, bool discard);

#endif
