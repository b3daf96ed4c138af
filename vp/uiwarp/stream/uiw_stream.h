/* SPDX-License-Identifier: BSD-2-Clause */
/* An established connection: it starts, works, is modified, and ends. */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_STREAM_H
#define ITAPI_VP_UIWARP_STREAM_UIW_STREAM_H

#include "tdi/iwarp/iw_mpa.h"
#include "ual/object/ual_ep_state.h"
#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/queue/uiw_ep.h"
#include "vp/uiwarp/queue/uiw_sq.h"
#include "vp/uiwarp/receive/uiw_receive.h"
#include "vp/uiwarp/send/uiw_send.h"

/* ---------------------------------------------------------------- uiw_start.c */

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

/* ---------------------------------------------------------------- uiw_post.c */

it_status_t uiw_post_request(struct ual_ep *ual, const struct vp_request *request);

/* ---- uiw_drive.c: the stream at work; settles, defers or ends ---- */

/* With the reader token. Acts on what was read. */
void uiw_drive_act(struct ual_ep *ual, const struct uiw_read *read, bool shared);

/* Any thread, no lock held: sends what can be sent. reader: the caller holds the reader token. */
void uiw_drive_send(struct ual_ep *ual, bool reader);

/*
 * The same by the leader. writable: the socket was seen to take octets again; shared: other streams
 * wait for their turn.
 */
void uiw_drive_turn(struct ual_ep *ual, bool reader, bool writable, bool shared);

/* Any thread, no lock held: sends this FPDU, unless something else is being sent. */
void uiw_drive_nudge(struct ual_ep *ual, const uint8_t *fpdu, size_t length);

/*
 * The leader reads for one turn, a shorter one if it is shared with other streams;
 * returns the octets read into `staging` and memory, 0: none.
 */
size_t uiw_drive_receive(struct ual_ep *ual, uint8_t *staging, bool shared);

/* ---- uiw_silence.c: peers that stay silent at the start ---- */

void uiw_silence_watch(struct ual_ia *ia,
                       struct ual_ep *ual); /* loop thread: it is connected now */

void uiw_silence_forget(struct ual_ia *ia,
                        struct ual_ep *ual); /* not the loop; before it is freed */

void uiw_silence_stop(struct ual_ia *ia); /* loop thread */

/* ---------------------------------------------------------------- uiw_modify.c, uiw_ep_mpa.c */

#define UIW_EP_ALL (~0u) /* a mask of it_ep_param_mask_t bits */

void uiw_ep_halt(struct ual_ep *ual);
void uiw_ep_proceed(struct ual_ep *ual, it_ep_param_mask_t changed);
it_status_t uiw_ep_modify_locked(struct ual_ep *ual, it_ep_param_mask_t mask,
                                 it_ep_attributes_t *attr);
void uiw_ep_set_enables(struct uiw_ep *ep, unsigned mask, const it_rc_only_attributes_t *rc);
void uiw_ep_set_watermarks(struct uiw_ep *ep, unsigned mask, const it_rc_only_attributes_t *rc);
it_status_t uiw_ep_set_mpa(struct ual_ep *ual, const struct itx_mpa_params *params);
it_status_t uiw_ep_get_mpa(struct ual_ep *ual, struct itx_mpa_params *params);
it_status_t uiw_ep_query_mpa(struct ual_ep *ual, struct itx_mpa_info *info);
bool uiw_ep_addresses_locked(struct ual_ep *ual, struct itx_ep_addresses *addresses);
it_status_t uiw_ep_stream_option_halted(struct ual_ep *ual, bool set, int level, int option,
                                        void *value, socklen_t *length);

/* The contents of our startup frames, by the EP's attributes and itx settings. */
void uiw_ep_mpa_config(struct ual_ep *ual, bool suppress_depths, struct iw_mpa_config *config);

/* itx_mpa_params.patience_us. */
uint64_t uiw_ep_patience_ns(struct ual_ep *ual);

/* ---- uiw_verdict.c: why a stream ends; with the reader token ---- */

/* The peer broke the protocol. */
void uiw_verdict_refused(struct ual_ep *ual, enum iw_error error);

/* The peer has sent a Terminate: ep->rx.terminate. */
void uiw_verdict_terminated(struct ual_ep *ual);

/* The peer has closed the connection, or it is lost (UIW_READ_LOST) with this errno. */
void uiw_verdict_closed(struct ual_ep *ual, enum uiw_read_state state, int lost);

/*
 * The sender has stopped: for a request (rule P6), for a Read of the peer whose source is gone, or
 * for neither (no memory, an event that was lost). reader: the caller holds the reader token. It
 * does not hold the send token.
 */
void uiw_verdict_unsendable(struct ual_ep *ual, const struct uiw_failure *failure, bool reader);

/* ---------------------------------------------------------------- uiw_end.c */

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
    bool by_peer;                /* it has closed the stream in order */
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

/* ---- uiw_log.c: why a connection has failed or ended ---- */

/* Reader, while the stream is still there. An FPDU of the peer is refused. */
void uiw_log_refused(struct ual_ep *ual, enum iw_error error);
/* The peer has refused an FPDU of ours by a Terminate. */
void uiw_log_terminated(struct ual_ep *ual, const struct iw_terminate *terminate);
/* A Read of the peer whose memory has gone while it was answered. Any thread. */
void uiw_log_gone(struct ual_ep *ual, enum iw_error error);
/* The connection has gone. error: errno, 0: closed in the middle of an FPDU. */
void uiw_log_lost(struct ual_ep *ual, int error);

/* The address of the peer. Returns false if the stream does not know it. */
bool uiw_log_peer_of(int fd, struct uiw_net_text *text);

#endif
