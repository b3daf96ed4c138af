/* SPDX-License-Identifier: BSD-2-Clause */
/* An established connection: its start, work, modification and end. */
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
 * Loop thread. Called after the startup (the responder's Reply is in the socket). Makes fd the
 * stream of the EP, which steps to CONNECTED and reports IT_CM_MSG_CONN_ESTABLISHED_EVENT with
 * `news` (number and depths are filled in here). early: octets that were read behind the startup
 * frame. Sends the RTR if result->rtr asks an Initiator for one. A responder holds its FPDUs until
 * the peer's first, or, unless the socket was converted, until the peer has been silent
 * (uiw_silence.c). Returns false if the EP has left its pending state, or if memory runs out:
 * nothing has changed, and fd is still the caller's.
 */
bool uiw_start_stream(struct ual_ep *ual, int fd, bool initiator, bool converted,
                      const struct iw_mpa_result *result, const uint8_t *early, size_t early_length,
                      struct ual_conn_news *news);

/* ---------------------------------------------------------------- uiw_post.c */

it_status_t uiw_post_request(struct ual_ep *ual, const struct vp_request *request);
it_status_t uiw_post_lent(struct ual_ep *ual, const struct vp_request *request);

/* ---- uiw_drive.c: turns of a stream ---- */

/* With the reader token. Acts on the result of a read: raises events, or ends the connection. */
void uiw_drive_act(struct ual_ep *ual, const struct uiw_read *read, bool shared);

/* Any thread, no lock held. Sends what can be sent. reader: the caller holds the reader token. */
void uiw_drive_send(struct ual_ep *ual, bool reader);

/*
 * The same for the leader. writable: epoll reported that the socket takes octets again; shared:
 * other streams wait for their turn.
 */
void uiw_drive_turn(struct ual_ep *ual, bool reader, bool writable, bool shared);

/* Any thread, no lock held. Sends this FPDU, unless other octets wait to be sent. */
void uiw_drive_nudge(struct ual_ep *ual, const uint8_t *fpdu, size_t length);

/*
 * Reads for one turn, for the leader. shared: other streams wait, so the turn is shorter. Returns
 * the octets read into `staging` and memory; 0: none.
 */
size_t uiw_drive_receive(struct ual_ep *ual, uint8_t *staging, bool shared);

/*
 * For the leader, when epoll reports EPOLLERR. Removes notes of the kernel from the error queue of
 * the socket. The owner of a socket may have asked for them before its conversion: time stamps, or
 * ends of MSG_ZEROCOPY. epoll reports the socket until its error queue is empty.
 */
void uiw_drive_clear_notes(struct ual_ep *ual);

/* ---- uiw_silence.c: peers that stay silent at the start ---- */

void uiw_silence_watch(struct ual_ia *ia, struct ual_ep *ual); /* loop thread, when connected */

void uiw_silence_forget(struct ual_ia *ia,
                        struct ual_ep *ual); /* not the loop; before the EP is freed */

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
/* Copies an address; an IPv4-mapped one becomes IPv4. */
void uiw_tell_address(const void *end, struct sockaddr_storage *address);
bool uiw_ep_addresses_locked(struct ual_ep *ual, struct itx_ep_addresses *addresses);
it_status_t uiw_ep_stream_option_halted(struct ual_ep *ual, bool set, int level, int option,
                                        void *value, socklen_t *length);

/* Fills in this side's startup frame from the EP's attributes and itx settings. */
void uiw_ep_mpa_config(struct ual_ep *ual, bool suppress_depths, struct iw_mpa_config *config);

/* Returns itx_mpa_params.patience_us in nanoseconds. */
uint64_t uiw_ep_patience_ns(struct ual_ep *ual);

/* ---- uiw_verdict.c: ends a connection for a reason; with the reader token ---- */

/* The peer broke the protocol. */
void uiw_verdict_refused(struct ual_ep *ual, enum iw_error error);

/* The peer has sent a Terminate, which is in ep->rx.terminate. */
void uiw_verdict_terminated(struct ual_ep *ual);

/* The peer has closed the connection, or it is lost (UIW_READ_LOST) with this errno. */
void uiw_verdict_closed(struct ual_ep *ual, enum uiw_read_state state, int lost);

/*
 * The sender has stopped because of a request (rule P6), because the source of a peer's Read is
 * gone, or for another reason (no memory, a lost event). reader: the caller holds the reader token.
 * It does not hold the send token.
 */
void uiw_verdict_unsendable(struct ual_ep *ual, const struct uiw_failure *failure, bool reader);

/* ---------------------------------------------------------------- uiw_end.c */

struct uiw_end {
    uint32_t generation;                  /* of the connection to end; 0: the current one */
    enum ual_ep_step step;                /* DISCONNECT, CLOSED, BROKEN */
    it_event_type_t async;                /* affiliated event; 0: none */
    const struct iw_terminate *terminate; /* to be sent; NULL: none */
    bool has_failed_request;
    uint32_t failed_index; /* SQ index and status of the failed request */
    it_dto_status_t failed_status;
    it_dto_status_t recv_status; /* of the failed receive, or IT_DTO_ERR_FLUSHED */
    bool silent;                 /* raises no connection event */
    bool discard;                /* drops the posted work instead of flushing it */
    bool by_peer;                /* the peer has closed the stream in order */
};

/*
 * Ends an established connection: steps the state, sends the Terminate, flushes, raises the events.
 * Returns false if it has ended already. reader: the caller holds the reader token, and keeps it.
 * It must not hold the send token.
 */
bool uiw_ep_end(struct ual_ep *ual, const struct uiw_end *end, bool reader);

/* Takes both tokens and drops the stream without any event: the EP is being destroyed. */
void uiw_ep_cut(struct ual_ep *ual);

/*
 * Any thread, no lock held. Ends an attempt: steps the EP (ATTEMPT_FAILED or DISCONNECT), flushes
 * its posted receives, reports news. Returns false if the EP has left its pending state.
 */
bool uiw_ep_end_attempt(struct ual_ep *ual, enum ual_ep_step step,
                        const struct ual_conn_news *news);

/* The same with UAL_EP_FLUSH for an EP that is not connected; reports nothing. */
bool uiw_ep_end_unconnected(struct ual_ep *ual, bool discard);

/* ---- uiw_log.c: why a connection has failed or ended ---- */

/* Reader, while the EP still has its stream. An FPDU of the peer is refused. */
void uiw_log_refused(struct ual_ep *ual, enum iw_error error);
/* The peer has ended the connection by a Terminate. */
void uiw_log_terminated(struct ual_ep *ual, const struct iw_terminate *terminate);
/* Any thread. The source of a peer's Read has gone before it was answered. */
void uiw_log_gone(struct ual_ep *ual, enum iw_error error);
/* The connection is lost. error: errno; 0: it was closed in the middle of an FPDU. */
void uiw_log_lost(struct ual_ep *ual, int error);

/* Gets the peer's address as text. Returns false if the socket has no peer any more. */
bool uiw_log_peer_of(int fd, struct uiw_net_text *text);

#endif
