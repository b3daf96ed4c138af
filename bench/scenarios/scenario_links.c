/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario_links.h"

#include "scale.h"

#include <stdlib.h>
#include <string.h>

#define LINKS_RECEIVES 16u

static bool links_evd(struct links *links, it_event_type_t stream, size_t room,
                      it_evd_handle_t *evd)
{
    return succeeded(it_evd_create(links->ia, stream, IT_EVD_OVERFLOW_DEFAULT, room,
                                   IT_THRESHOLD_DISABLE, NULL, evd, NULL),
                     "it_evd_create");
}

static bool links_find_spigot(struct links *links)
{
    it_ia_info_t *info;

    if (!succeeded(it_ia_query(links->ia, &info), "it_ia_query"))
        return false;
    links->spigot = info->spigot_info[0].spigot_id;
    it_ia_info_free(info);
    return true;
}

static bool links_make_adapter(struct links *links)
{
    bool good = succeeded(it_ia_create("uiwarp", 2, 1, &links->ia), "it_ia_create") &&
                succeeded(it_pz_create(links->ia, &links->pz), "it_pz_create") &&
                links_find_spigot(links) &&
                links_evd(links, IT_DTO_EVENT_STREAM, (size_t)LINKS_MAX * LINKS_RECEIVES,
                          &links->receives) &&
                links_evd(links, IT_CM_MSG_EVENT_STREAM, LINKS_MAX, &links->connection);

    for (unsigned i = 0; good && i < LINKS_THREADS; i++)
        good = links_evd(links, IT_DTO_EVENT_STREAM, (size_t)LINKS_MAX * LINKS_DEPTH,
                         &links->requests[i]);
    return good;
}

static bool links_make_memory(struct links *links, struct link *link)
{
    size_t size = 2 * links->size;

    link->bytes = calloc(1, size);
    if (link->bytes == NULL) {
        complain("no memory");
        return false;
    }
    return succeeded(it_lmr_create(links->pz, link->bytes, NULL, size, IT_ADDR_MODE_ABSOLUTE,
                                   IT_PRIV_LOCAL | IT_PRIV_REMOTE, IT_LMR_FLAG_NONE, 0, &link->lmr,
                                   &link->key),
                     "it_lmr_create");
}

static bool links_make_endpoint(struct links *links, size_t i)
{
    struct link *link = &links->links[i];
    it_ep_attributes_t attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.max_dto_payload_size = links->size;
    attributes.max_request_dtos = LINKS_DEPTH;
    attributes.max_recv_dtos = LINKS_RECEIVES;
    attributes.max_send_segments = 1;
    attributes.max_recv_segments = 1;
    attributes.srv.rc.rdma_read_enable = IT_TRUE;
    attributes.srv.rc.rdma_write_enable = IT_TRUE;
    attributes.srv.rc.max_rdma_read_segments = 1;
    attributes.srv.rc.max_rdma_write_segments = 1;
    attributes.srv.rc.rdma_read_ird = LINKS_READS;
    attributes.srv.rc.rdma_read_ord = LINKS_READS;
    attributes.srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    return links_make_memory(links, link) &&
           succeeded(it_ep_rc_create(links->pz, links->requests[i % LINKS_THREADS], links->receives,
                                     links->connection, IT_EP_NO_FLAG, &attributes, &link->ep),
                     "it_ep_rc_create");
}

/* ---- Connecting ------------------------------------------------------------------------------ */

static bool links_wait(it_evd_handle_t evd, it_event_type_t wanted, it_event_t *event)
{
    if (!succeeded(it_evd_wait(evd, IT_TIMEOUT_INFINITE, event, NULL), "it_evd_wait"))
        return false;
    if (event->event_number == wanted)
        return true;
    complain("%s came in place of %s", itx_event_string(event->event_number),
             itx_event_string(wanted));
    return false;
}

static bool links_listen(struct links *links, int channel)
{
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};

    return links_evd(links, IT_CM_REQ_EVENT_STREAM, LINKS_MAX, &links->arrivals) &&
           succeeded(it_listen_create(links->ia, links->spigot, links->arrivals, IT_LISTEN_NO_FLAG,
                                      &qualifier, &links->listener),
                     "it_listen_create") &&
           scale_tell(channel, qualifier.conn_qual.port);
}

static bool links_connect(struct links *links, size_t i, uint64_t port)
{
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};
    it_event_t event;
    it_path_t path;

    memset(&path, 0, sizeof(path));
    qualifier.conn_qual.port = (uint16_t)port;
    path.spigot_id = links->spigot;
    path.remote.iwarp.ip_vers = IT_IP_VERS_IPV4;
    path.remote.iwarp.raddr.ipv4 = scale_address(0);
    return succeeded(it_ep_connect(links->links[i].ep, &path, NULL, &qualifier,
                                   IT_CONNECT_FLAG_TWO_WAY, NULL, 0),
                     "it_ep_connect") &&
           links_wait(links->connection, IT_CM_MSG_CONN_ESTABLISHED_EVENT, &event);
}

static bool links_accept(struct links *links, size_t i)
{
    it_event_t event;

    return links_wait(links->arrivals, IT_CM_REQ_CONN_REQUEST_EVENT, &event) &&
           succeeded(it_ep_accept(links->links[i].ep, event.conn_req.cn_est_id, NULL, 0),
                     "it_ep_accept") &&
           links_wait(links->connection, IT_CM_MSG_CONN_ESTABLISHED_EVENT, &event);
}

static bool links_join(struct links *links, const struct scenario *scenario, size_t i,
                       uint64_t port)
{
    struct link *link = &links->links[i];

    return links_make_endpoint(links, i) && scale_tell(scenario->channel, link->key) &&
           scale_tell(scenario->channel, (uintptr_t)link->bytes) &&
           scale_hear(scenario->channel, &link->remote_key) &&
           scale_hear(scenario->channel, &link->remote_address) &&
           (scenario->server ? links_accept(links, i) : links_connect(links, i, port));
}

bool links_open(struct links *links, const struct scenario *scenario, size_t count, size_t size)
{
    uint64_t port = 0;

    memset(links, 0, sizeof(*links));
    links->count = count;
    links->size = size;
    if (!links_make_adapter(links) || !(scenario->server ? links_listen(links, scenario->channel)
                                                         : scale_hear(scenario->channel, &port)))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!links_join(links, scenario, i, port))
            return false;
    return true;
}

bool links_close(struct links *links)
{
    bool good = links->ia == NULL || succeeded(it_ia_free(links->ia), "it_ia_free");

    for (size_t i = 0; i < links->count; i++)
        free(links->links[i].bytes);
    return good;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static it_lmr_triplet_t links_part(const struct links *links, size_t i, size_t offset,
                                   size_t length)
{
    it_lmr_triplet_t segment = {
        .lmr = links->links[i].lmr, .addr.abs = links->links[i].bytes + offset, .length = length};

    return segment;
}

it_lmr_triplet_t links_source(const struct links *links, size_t i, size_t length)
{
    return links_part(links, i, 0, length);
}

it_lmr_triplet_t links_target(const struct links *links, size_t i, size_t length)
{
    return links_part(links, i, links->size, length);
}

bool links_take(it_evd_handle_t evd, bool wait, it_event_t *event)
{
    it_status_t status;

    if (wait)
        status = it_evd_wait(evd, IT_TIMEOUT_INFINITE, event, NULL);
    else
        do
            status = it_evd_dequeue(evd, event);
        while (status == IT_ERR_QUEUE_EMPTY);
    if (!succeeded(status, "taking a completion"))
        return false;
    if (event->dto_cmpl.dto_status == IT_DTO_SUCCESS)
        return true;
    complain("%s: %s", itx_event_string(event->event_number),
             itx_dto_status_string(event->dto_cmpl.dto_status));
    return false;
}
