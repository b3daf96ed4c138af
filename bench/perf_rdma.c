/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_rdma.h"

#include "perf_control.h"

#include <itx_api.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads that both sides may have open. The library holds back others. */
#define READ_DEPTH 16

/* Requests besides the depth: the message at the end of a run, and credits. */
#define REQUESTS_SPARE 8

#define RECEIVES_MIN 16
/* The time between two checks whether a client that has not connected yet is alive. */
#define LOOK_US 100000

/* ---- Making ------------------------------------------------------------------------------- */

static bool make_buffer(struct perf_rdma *rdma, struct perf_buffer *buffer, size_t size,
                        it_mem_priv_t privileges)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    buffer->size = size > PERF_BUFFER_MIN ? size : PERF_BUFFER_MIN;
    /*
     * The buffer has whole pages, as devices and their users do: a copy that touches one more page
     * is made in more pieces.
     */
    buffer->bytes = aligned_alloc(page, (buffer->size + page - 1) / page * page);
    if (buffer->bytes == NULL) {
        complain("out of memory");
        return false;
    }
    memset(buffer->bytes, 0, buffer->size);
    return succeeded(it_lmr_create(rdma->pz, buffer->bytes, NULL, buffer->size,
                                   IT_ADDR_MODE_ABSOLUTE, privileges, IT_LMR_FLAG_NONE, 0,
                                   &buffer->lmr, &buffer->key),
                     "it_lmr_create");
}

static bool make_evd(struct perf_rdma *rdma, it_event_type_t stream, size_t room,
                     it_evd_handle_t *evd)
{
    return succeeded(it_evd_create(rdma->ia, stream, IT_EVD_OVERFLOW_DEFAULT, room,
                                   IT_THRESHOLD_DISABLE, NULL, evd, NULL),
                     "it_evd_create");
}

/* Sets CRC if the Interface does MPA itself. A device or the kernel has settings for it. */
static bool set_crc(struct perf_rdma *rdma)
{
    struct itx_mpa_params mpa = {.size = sizeof(mpa)};
    it_status_t status = itx_ep_get_mpa_params(rdma->ep, &mpa);

    rdma->sets_crc = status != IT_ERR_OP_NOT_SUPPORTED;
    if (!rdma->sets_crc)
        return true;
    if (!succeeded(status, "itx_ep_get_mpa_params"))
        return false;
    mpa.crc = rdma->params->crc ? IT_TRUE : IT_FALSE;
    return succeeded(itx_ep_set_mpa_params(rdma->ep, &mpa), "itx_ep_set_mpa_params");
}

static bool make_endpoint(struct perf_rdma *rdma)
{
    size_t size = (size_t)rdma->params->size;
    it_ep_attributes_t attributes;

    memset(&attributes, 0, sizeof(attributes));
    attributes.max_dto_payload_size = size > PERF_BUFFER_MIN ? size : PERF_BUFFER_MIN;
    attributes.max_request_dtos = (size_t)rdma->params->depth + REQUESTS_SPARE;
    attributes.max_recv_dtos = (size_t)rdma->receives_posted;
    attributes.max_send_segments = 1;
    attributes.max_recv_segments = 1;
    attributes.srv.rc.rdma_read_enable = IT_TRUE;
    attributes.srv.rc.rdma_write_enable = IT_TRUE;
    attributes.srv.rc.max_rdma_read_segments = 1;
    attributes.srv.rc.max_rdma_write_segments = 1;
    attributes.srv.rc.rdma_read_ird = READ_DEPTH;
    attributes.srv.rc.rdma_read_ord = READ_DEPTH;
    attributes.srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    return succeeded(it_ep_rc_create(rdma->pz, rdma->requests, rdma->receives, rdma->connection,
                                     IT_EP_NO_FLAG, &attributes, &rdma->ep),
                     "it_ep_rc_create");
}

/* Only the buffers that the operation uses have the size of a message. */
static bool make_buffers(struct perf_rdma *rdma)
{
    size_t size = (size_t)rdma->params->size;
    bool send = rdma->params->op == PERF_SEND;

    /* For the target of own Reads some adapters also need the remote write right. */
    return make_buffer(rdma, &rdma->source, size, IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ) &&
           make_buffer(rdma, &rdma->inbox, send ? size : 0, IT_PRIV_LOCAL) &&
           make_buffer(rdma, &rdma->target, send ? 0 : size, IT_PRIV_LOCAL | IT_PRIV_REMOTE_WRITE);
}

static bool make_objects(struct perf_rdma *rdma)
{
    size_t requests = (size_t)rdma->params->depth + REQUESTS_SPARE;

    return perf_adapter_ask(&rdma->adapter, rdma->ia) &&
           succeeded(it_pz_create(rdma->ia, &rdma->pz), "it_pz_create") && make_buffers(rdma) &&
           make_evd(rdma, IT_DTO_EVENT_STREAM, requests, &rdma->requests) &&
           make_evd(rdma, IT_DTO_EVENT_STREAM, (size_t)rdma->receives_posted, &rdma->receives) &&
           make_evd(rdma, IT_CM_MSG_EVENT_STREAM, 4, &rdma->connection) && make_endpoint(rdma) &&
           set_crc(rdma);
}

/*
 * Makes every byte of a message differ from its neighbours, so that bytes that are not overwritten
 * show.
 */
static void fill_source(struct perf_rdma *rdma)
{
    for (uint64_t i = 0; i < rdma->params->size; i++)
        rdma->source.bytes[i] = (unsigned char)(i * 7 + i / 256 + 3);
}

static bool post_receives(struct perf_rdma *rdma)
{
    for (uint64_t i = 0; i < rdma->receives_posted; i++)
        if (!perf_rdma_post_receive(rdma))
            return false;
    return true;
}

static bool listen_anywhere(struct perf_rdma *rdma, struct contact *contact)
{
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};

    if (!make_evd(rdma, IT_CM_REQ_EVENT_STREAM, 4, &rdma->arrivals) ||
        !succeeded(it_listen_create(rdma->ia, rdma->adapter.spigot, rdma->arrivals,
                                    IT_LISTEN_NO_FLAG, &qualifier, &rdma->listener),
                   "it_listen_create"))
        return false;
    contact->port = ntohs(qualifier.conn_qual.port);
    return true;
}

static bool make_everything(struct perf_rdma *rdma, bool server, struct contact *contact)
{
    if (!succeeded(itx_ia_set_spin(rdma->ia, rdma->params->spin_us), "itx_ia_set_spin") ||
        !make_objects(rdma) || !post_receives(rdma) || (server && !listen_anywhere(rdma, contact)))
        return false;
    fill_source(rdma);
    /* A client writes to the server's target and reads from its source. */
    if (rdma->params->op == PERF_READ) {
        contact->key = rdma->source.key;
        contact->address = it_make_rdma_addr_absolute(rdma->source.bytes);
    } else {
        contact->key = rdma->target.key;
        contact->address = it_make_rdma_addr_absolute(rdma->target.bytes);
    }
    return true;
}

bool perf_rdma_open(struct perf_rdma *rdma, const char *ia, const struct perf_params *params,
                    bool server, struct contact *contact)
{
    it_status_t status;

    memset(rdma, 0, sizeof(*rdma));
    rdma->params = params;
    rdma->polls = params->mode == PERF_POLL || (params->mode == PERF_CLIENT_POLLS && !server);
    rdma->report_every = params->depth >= 8 ? params->depth / 4 : 1;
    rdma->receives_posted = params->depth * 4 > RECEIVES_MIN ? params->depth * 4 : RECEIVES_MIN;
    rdma->credit_batch = rdma->receives_posted / 4;
    /* One receive is kept for the message that ends a run. */
    rdma->credit = rdma->receives_posted - 1;
    memset(contact, 0, sizeof(*contact));
    status = it_ia_create(ia, 2, 1, &rdma->ia);
    if (status != IT_SUCCESS) {
        complain("it_ia_create of \"%s\": %s (it_info tells what there is)", ia,
                 itx_status_string(status));
        return false;
    }
    if (make_everything(rdma, server, contact))
        return true;
    perf_rdma_close(rdma);
    return false;
}

void perf_rdma_close(struct perf_rdma *rdma)
{
    /* This destroys everything that was made under the adapter. */
    if (rdma->ia != NULL)
        (void)succeeded(it_ia_free(rdma->ia), "it_ia_free");
    free(rdma->source.bytes);
    free(rdma->inbox.bytes);
    free(rdma->target.bytes);
    memset(rdma, 0, sizeof(*rdma));
}

/* ---- Connecting --------------------------------------------------------------------------- */

static bool is_wanted(it_status_t status, it_event_type_t wanted, const it_event_t *event)
{
    if (!succeeded(status, "it_evd_wait"))
        return false;
    if (event->event_number == wanted)
        return true;
    complain("%s came in place of %s", itx_event_string(event->event_number),
             itx_event_string(wanted));
    return false;
}

static bool wait_for(it_evd_handle_t evd, it_event_type_t wanted, it_event_t *event)
{
    it_status_t status;

    do {
        status = it_evd_wait(evd, IT_TIMEOUT_INFINITE, event, NULL);
    } while (status == IT_ERR_INTERRUPT);
    return is_wanted(status, wanted, event);
}

/* Before its request, only the control connection shows that the client is alive. */
static bool wait_for_client(struct perf_rdma *rdma, int control, it_event_t *event)
{
    it_status_t status;

    do {
        status = it_evd_wait(rdma->arrivals, LOOK_US, event, NULL);
        if (status == IT_ERR_TIMEOUT_EXPIRED && control_is_lost(control)) {
            complain("the client left before it connected");
            return false;
        }
    } while (status == IT_ERR_INTERRUPT || status == IT_ERR_TIMEOUT_EXPIRED);
    return is_wanted(status, IT_CM_REQ_CONN_REQUEST_EVENT, event);
}

/* Checks, after the connection is up, that it has CRCs as wanted. */
static bool check_crc(struct perf_rdma *rdma)
{
    struct itx_mpa_info info = {.size = sizeof(info)};

    if (!rdma->sets_crc)
        return true;
    if (!succeeded(itx_ep_query_mpa(rdma->ep, &info), "itx_ep_query_mpa"))
        return false;
    if ((info.crc != IT_FALSE) == rdma->params->crc)
        return true;
    complain("the negotiated CRC setting is not the requested one");
    return false;
}

bool perf_rdma_find_server(struct perf_rdma *rdma, const struct sockaddr_storage *address)
{
    return perf_adapter_find_path(&rdma->adapter, rdma->ia, address, &rdma->path);
}

bool perf_rdma_connect(struct perf_rdma *rdma, const struct contact *server)
{
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};
    it_event_t event;

    qualifier.conn_qual.port = htons((uint16_t)server->port);
    rdma->remote_key = server->key;
    rdma->remote_address = server->address;
    return succeeded(it_ep_connect(rdma->ep, &rdma->path, NULL, &qualifier, IT_CONNECT_FLAG_TWO_WAY,
                                   NULL, 0),
                     "it_ep_connect") &&
           wait_for(rdma->connection, IT_CM_MSG_CONN_ESTABLISHED_EVENT, &event) && check_crc(rdma);
}

bool perf_rdma_accept(struct perf_rdma *rdma, const struct contact *client, int control)
{
    it_event_t event;

    rdma->remote_key = client->key;
    rdma->remote_address = client->address;
    return wait_for_client(rdma, control, &event) &&
           succeeded(it_ep_accept(rdma->ep, event.conn_req.cn_est_id, NULL, 0), "it_ep_accept") &&
           wait_for(rdma->connection, IT_CM_MSG_CONN_ESTABLISHED_EVENT, &event) && check_crc(rdma);
}

/* ---- Looking at what arrived -------------------------------------------------------------- */

/* Returns where the messages of a stream are stored on this side, or NULL. */
static unsigned char *destination(struct perf_rdma *rdma, bool server)
{
    if (rdma->params->op == PERF_READ)
        return server ? NULL : rdma->target.bytes;
    if (!server)
        return NULL;
    return rdma->params->op == PERF_SEND ? rdma->inbox.bytes : rdma->target.bytes;
}

void perf_rdma_spoil(struct perf_rdma *rdma, bool server)
{
    unsigned char *bytes = destination(rdma, server);

    /* In ping-pongs of RDMA Writes the last byte of each message is checked. */
    if (rdma->params->op == PERF_WRITE && rdma->params->measure == PERF_LAT)
        return;
    if (bytes != NULL)
        memset(bytes, 0xee, (size_t)rdma->params->size);
}

bool perf_rdma_intact(struct perf_rdma *rdma, bool server)
{
    const unsigned char *bytes = destination(rdma, server);
    size_t size = (size_t)rdma->params->size;

    /* Both sides have the same sources. The last byte of a ping-pong is a stamp. */
    if (rdma->params->measure == PERF_LAT && rdma->params->op != PERF_READ)
        size = size > 0 ? size - 1 : 0;
    if (bytes == NULL || memcmp(bytes, rdma->source.bytes, size) == 0)
        return true;
    complain("the data did not arrive as it was sent");
    return false;
}
