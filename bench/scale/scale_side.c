/* SPDX-License-Identifier: BSD-2-Clause */
#include "scale.h"

#include <stdlib.h>
#include <string.h>

#define SIDE_SIGNAL   ((it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG))
#define SIDE_MESSAGE  64u
#define SIDE_RECEIVES 8u /* posted at a time on the busy endpoint */

static it_ep_attributes_t side_attributes(void)
{
    it_ep_attributes_t attr;

    memset(&attr, 0, sizeof(attr));
    attr.max_dto_payload_size = 1u << 20;
    attr.max_request_dtos = SCALE_REQUESTS;
    attr.max_recv_dtos = SCALE_RECEIVES;
    attr.max_send_segments = SCALE_SEGMENTS;
    attr.max_recv_segments = SCALE_SEGMENTS;
    attr.srv.rc.rdma_read_enable = IT_TRUE;
    attr.srv.rc.rdma_write_enable = IT_TRUE;
    attr.srv.rc.max_rdma_read_segments = SCALE_SEGMENTS;
    attr.srv.rc.max_rdma_write_segments = SCALE_SEGMENTS;
    attr.srv.rc.rdma_read_ird = SCALE_DEPTH;
    attr.srv.rc.rdma_read_ord = SCALE_DEPTH;
    return attr;
}

/* ---- Opening and closing -------------------------------------------------------------------- */

static bool side_evd(struct scale_side *side, it_event_type_t stream, size_t size,
                     it_evd_handle_t *evd)
{
    return succeeded(it_evd_create(side->ia, stream, (it_evd_flags_t)0, size, 1, NULL, evd, NULL),
                     "it_evd_create");
}

static bool side_listen(struct scale_side *side)
{
    it_conn_qual_t qual;

    memset(&qual, 0, sizeof(qual));
    if (!succeeded(it_listen_create(side->ia, side->spigot, side->arrivals, IT_LISTEN_NO_FLAG,
                                    &qual, &side->listener),
                   "it_listen_create"))
        return false;
    side->port = qual.conn_qual.port;
    return true;
}

static bool side_spigot(struct scale_side *side)
{
    it_ia_info_t *info;

    if (!succeeded(it_ia_query(side->ia, &info), "it_ia_query"))
        return false;
    side->spigot = info->spigot_info[0].spigot_id;
    it_ia_info_free(info);
    return true;
}

bool scale_side_open(struct scale_side *side, bool server, size_t count)
{
    memset(side, 0, sizeof(*side));
    side->server = server;
    side->count = count;
    side->eps = calloc(count, sizeof(it_ep_handle_t));
    if (side->eps == NULL) {
        complain("no memory");
        return false;
    }
    return succeeded(it_ia_create("uiwarp", 2, 1, &side->ia), "it_ia_create") &&
           succeeded(it_pz_create(side->ia, &side->pz), "it_pz_create") &&
           succeeded(it_lmr_create21(side->pz, side->memory, NULL, sizeof(side->memory),
                                     IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0,
                                     &side->lmr, NULL),
                     "it_lmr_create21") &&
           side_evd(side, IT_DTO_EVENT_STREAM, 256, &side->requests) &&
           side_evd(side, IT_DTO_EVENT_STREAM, 256, &side->receives) &&
           side_evd(side, IT_CM_MSG_EVENT_STREAM, count, &side->connection) && side_spigot(side) &&
           (!server ||
            (side_evd(side, IT_CM_REQ_EVENT_STREAM, 4096, &side->arrivals) && side_listen(side)));
}

bool scale_side_close(struct scale_side *side, double *seconds)
{
    double start = scale_clock();
    bool good = succeeded(it_ia_free(side->ia), "it_ia_free");

    *seconds = scale_clock() - start;
    free(side->eps);
    return good;
}

/* ---- Connections ---------------------------------------------------------------------------- */

bool scale_create(struct scale_side *side, size_t first, size_t count)
{
    it_ep_attributes_t attr = side_attributes();

    for (size_t i = first; i < first + count; i++)
        if (!succeeded(it_ep_rc_create(side->pz, side->requests, side->receives, side->connection,
                                       IT_EP_NO_FLAG, &attr, &side->eps[i]),
                       "it_ep_rc_create"))
            return false;
    return true;
}

static bool side_begin(struct scale_side *side, size_t i)
{
    it_conn_qual_t qual;
    it_path_t path;

    memset(&qual, 0, sizeof(qual));
    memset(&path, 0, sizeof(path));
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = side->port;
    path.spigot_id = side->spigot;
    path.remote.iwarp.ip_vers = IT_IP_VERS_IPV4;
    path.remote.iwarp.raddr.ipv4 = scale_address(i);
    return succeeded(
        it_ep_connect(side->eps[i], &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0),
        "it_ep_connect");
}

/* Takes the next connection event, which must be a success. */
static bool side_established(struct scale_side *side)
{
    it_event_t event;

    if (!succeeded(it_evd_wait(side->connection, IT_TIMEOUT_INFINITE, &event, NULL), "it_evd_wait"))
        return false;
    if (event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT)
        return true;
    complain("%s instead of a connection", itx_event_string(event.event_number));
    return false;
}

bool scale_connect(struct scale_side *side, size_t first, size_t count, size_t window)
{
    size_t begun = 0;

    for (size_t done = 0; done < count; done++) {
        for (; begun < count && begun - done < window; begun++)
            if (!side_begin(side, first + begun))
                return false;
        if (!side_established(side))
            return false;
    }
    return true;
}

bool scale_accept(struct scale_side *side, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        it_event_t event;

        if (!succeeded(it_evd_wait(side->arrivals, IT_TIMEOUT_INFINITE, &event, NULL),
                       "it_evd_wait") ||
            !succeeded(it_ep_accept(side->eps[first + i], event.conn_req.cn_est_id, NULL, 0),
                       "it_ep_accept"))
            return false;
    }
    for (size_t i = 0; i < count; i++)
        if (!side_established(side))
            return false;
    return true;
}

/* ---- The busy one --------------------------------------------------------------------------- */

static it_lmr_triplet_t side_segment(struct scale_side *side, size_t offset)
{
    it_lmr_triplet_t segment = {
        .lmr = side->lmr, .addr.abs = side->memory + offset, .length = SIDE_MESSAGE};

    return segment;
}

static bool side_receive(struct scale_side *side)
{
    it_lmr_triplet_t segment = side_segment(side, SIDE_MESSAGE);

    return succeeded(it_post_recv(side->eps[0], &segment, 1, 0, SIDE_SIGNAL), "it_post_recv");
}

static bool side_send(struct scale_side *side)
{
    it_lmr_triplet_t segment = side_segment(side, 0);

    return succeeded(it_post_send(side->eps[0], &segment, 1, 0, (it_dto_flags_t)0), "it_post_send");
}

static bool side_take(struct scale_side *side, bool wait)
{
    it_event_t event;
    it_status_t status;

    if (wait)
        status = it_evd_wait(side->receives, IT_TIMEOUT_INFINITE, &event, NULL);
    else
        do
            status = it_evd_dequeue(side->receives, &event);
        while (status == IT_ERR_QUEUE_EMPTY);
    if (!succeeded(status, "taking an event"))
        return false;
    if (event.dto_cmpl.dto_status == IT_DTO_SUCCESS)
        return true;
    complain("a message: %s", itx_dto_status_string(event.dto_cmpl.dto_status));
    return false;
}

bool scale_prepare(struct scale_side *side)
{
    for (unsigned i = 0; i < SIDE_RECEIVES; i++)
        if (!side_receive(side))
            return false;
    return true;
}

bool scale_ping(struct scale_side *side, bool wait, size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        if (!side->server && !side_send(side))
            return false;
        if (!side_take(side, wait))
            return false;
        /* When the receive is posted again, the next message may overwrite this one. */
        side->first_octet = side->memory[sizeof(side->memory) / 2];
        if (!side_receive(side))
            return false;
        if (side->server && !side_send(side))
            return false;
    }
    return true;
}
