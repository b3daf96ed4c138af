/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One conversion, between verbs_convert.c (agreement, ends), verbs_convert_call.c (its beginning)
 * and verbs_convert_device.c (the device).
 */
#ifndef ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_PRIVATE_H
#define ITAPI_VP_VERBS_CONVERT_VERBS_CONVERT_PRIVATE_H

#include "tdi/agree/agree.h"
#include "vp/verbs/convert/verbs_convert.h"
#include "vp/verbs/convert/verbs_stream.h"

struct verbs_convert {
    const struct verbs_cm_target *target; /* first: the listener's context is the conversion */
    struct base_link link;                /* of .ia.cm.conversions */
    struct verbs_ia *ia;
    struct verbs_ep *ep; /* NULL: only the stream is left, to be retired */
    struct agree agree;
    struct verbs_stream stream;
    struct vp_timer *timer;
    struct sockaddr_storage local, remote;

    uint8_t *buffer; /* last streaming message, then early octets */
    size_t message_length;
    size_t message_sent;

    struct rdma_cm_id *listener; /* responder, until the right one has come */
    struct rdma_cm_id *request;  /* responder: that one, until it is accepted */
    struct verbs_cm_event requested;
    struct verbs_conn *conn;    /* NULL: none yet, or it is over */
    bool busy;                  /* a call that makes it: its failure is told by that call */
    it_conn_reject_code_t code; /* why there is none */
};

/* ---------------------------------------------------------------- verbs_convert.c */

/* NULL without memory. */
struct verbs_convert *verbs_convert_new(struct verbs_ep *ep);
/* The stream has been let go of, or was never opened. */
void verbs_convert_free(struct verbs_convert *convert);
/* Goes on until it has to wait. The conversion may be gone afterwards. */
void verbs_convert_run(struct verbs_convert *convert);
void verbs_convert_ready(void *argument); /* of the stream */

/* ---------------------------------------------------------------- verbs_convert_device.c */

enum agree_kind verbs_convert_kind(const struct verbs_convert *convert);
/* The EP's path, where events show another one than that of a stream. */
void verbs_convert_tell_path(const struct verbs_convert *convert);

/* The port, or 0. */
uint16_t verbs_convert_listen(struct verbs_convert *convert);
/* False: it cannot be made. Else verbs_convert_connected or _unconnected will be called. */
bool verbs_convert_connect(struct verbs_convert *convert);
bool verbs_convert_accept(struct verbs_convert *convert);
/* Listener, request and connection go away. */
void verbs_convert_drop(struct verbs_convert *convert);

#endif
