/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One conversion, shared by verbs_convert.c (agreement, ends), verbs_convert_call.c (its beginning)
 * and verbs_convert_device.c (the device).
 */
#ifndef ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_PRIVATE_H
#define ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_PRIVATE_H

#include "tdi/agree/agree.h"
#include "vp/verbs/convert/verbs_convert.h"
#include "vp/verbs/convert/verbs_stream.h"

struct verbs_convert {
    const struct verbs_cm_target *target; /* must be first: the listener's context points to it */
    struct base_link link;                /* in .ia.cm.conversions */
    struct verbs_ia *ia;
    struct verbs_ep *ep; /* NULL: only the stream is left, to be drained */
    struct agree agree;
    struct verbs_stream stream;
    struct vp_timer *timer;
    struct sockaddr_storage local, remote;

    uint8_t *buffer; /* last streaming message, then early octets */
    size_t message_length;
    size_t message_sent;

    struct rdma_cm_id *listener; /* responder: until the right peer has connected */
    struct rdma_cm_id *request;  /* responder: the id of that peer, until it is accepted */
    struct verbs_cm_event requested;
    struct verbs_conn *conn;    /* NULL: none yet, or it has ended */
    bool busy;                  /* inside a call that makes .conn and handles a failure */
    it_conn_reject_code_t code; /* why there is no connection */
};

/* ---------------------------------------------------------------- verbs_convert.c */

/* Returns NULL if memory runs out. */
struct verbs_convert *verbs_convert_new(struct verbs_ep *ep);
/* The stream has been given back or closed, or was never opened. */
void verbs_convert_free(struct verbs_convert *convert);
/* Proceeds until it has to wait. The conversion may be gone afterwards. */
void verbs_convert_run(struct verbs_convert *convert);
void verbs_convert_ready(void *argument); /* called when the stream is ready */

/* ---------------------------------------------------------------- verbs_convert_device.c */

enum agree_kind verbs_convert_kind(const struct verbs_convert *convert);
/* Sets the EP's path, on devices whose paths are not those of a stream. */
void verbs_convert_tell_path(const struct verbs_convert *convert);

/* Returns the port, or 0 on failure. */
uint16_t verbs_convert_listen(struct verbs_convert *convert);
/* Return false on failure. Otherwise verbs_convert_connected or _unconnected follows. */
bool verbs_convert_connect(struct verbs_convert *convert);
bool verbs_convert_accept(struct verbs_convert *convert);
/* Ends listener, request and connection. */
void verbs_convert_drop(struct verbs_convert *convert);

#endif
