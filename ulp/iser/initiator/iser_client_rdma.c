/* SPDX-License-Identifier: BSD-2-Clause */
/* PDUs as Sends with an iSER header; the target moves the data by RDMA. */
#include "initiator/iser_client.h"

#include "itx_api.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOT     (ISER_HEADER + ISER_BHS + ISER_CLIENT_RECEIVE)
#define SENDS    64u                      /* outstanding messages */
#define TELLING  16u                      /* one in this number of Sends is signaled */
#define RECEIVES (ISER_CLIENT_TASKS + 16) /* a response for each task, and unexpected PDUs */
#define READS    32u                      /* concurrent RDMA Reads of the target */
#define EVENTS   16u                      /* taken at once */
#define SPIN_US  200u                     /* a wait polls where waits are shorter than that */

struct rdma {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t sent, received, connection;
    it_ep_handle_t ep;
    it_lmr_handle_t slots_lmr, memory_lmr;
    it_rmr_context_t stag; /* of the client's memory */
    uint8_t *slots;        /* SENDS, then RECEIVES, of SLOT octets each */
    uint64_t posted, done; /* Sends */
    uint8_t *handed;       /* the slot of the PDU returned last */

    /* The last Send waits for a further one, or until there is nothing to receive. */
    it_lmr_triplet_t held[2];
    unsigned held_segments; /* 0: there is none */

    it_event_t events[EVENTS];
    size_t event_at, event_count;
};

/* ---- Objects ----------------------------------------------- */

static uint64_t limit_us(const struct iser_client *client)
{
    return (uint64_t)client->options.timeout * 1000000;
}

static bool good(struct iser_client *client, it_status_t status, const char *what)
{
    if (status == IT_ERR_TIMEOUT_EXPIRED)
        return iser_client_silent(client);
    return status == IT_SUCCESS ||
           iser_client_fail(client, "%s: %s", what, itx_status_string(status));
}

static bool make_evd(struct iser_client *client, it_event_type_t stream, size_t room,
                     it_evd_handle_t *evd)
{
    struct rdma *rdma = client->link_state;

    return good(client,
                it_evd_create(rdma->ia, stream, IT_EVD_OVERFLOW_DEFAULT, room, IT_THRESHOLD_DISABLE,
                              NULL, evd, NULL),
                "it_evd_create");
}

static bool make_endpoint(struct iser_client *client, struct rdma *rdma)
{
    it_ep_attributes_t attributes = {
        .max_dto_payload_size = SLOT,
        .max_request_dtos = SENDS,
        .max_recv_dtos = RECEIVES,
        .max_send_segments = 2,
        .max_recv_segments = 1,
        .srv.rc = {.rdma_read_enable = IT_TRUE,
                   .rdma_write_enable = IT_TRUE,
                   .max_rdma_read_segments = 1,
                   .max_rdma_write_segments = 1,
                   .rdma_read_ird = READS,
                   .rdma_read_ord = 1,
                   .hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE},
    };

    return make_evd(client, IT_DTO_EVENT_STREAM, SENDS, &rdma->sent) &&
           make_evd(client, IT_DTO_EVENT_STREAM, RECEIVES, &rdma->received) &&
           make_evd(client, IT_CM_MSG_EVENT_STREAM, 4, &rdma->connection) &&
           good(client,
                it_ep_rc_create(rdma->pz, rdma->sent, rdma->received, rdma->connection,
                                IT_EP_NO_FLAG, &attributes, &rdma->ep),
                "it_ep_rc_create");
}

/*
 * Targets on verbs, as tgt, expect the completion of their answer before the next request, as
 * devices have it. Acknowledgements give a target under it_run this order.
 */
static bool set_mpa(struct iser_client *client, struct rdma *rdma)
{
    const struct iser_client_options *options = &client->options;
    struct itx_mpa_params mpa = {.size = sizeof(mpa)};
    it_status_t status = itx_ep_get_mpa_params(rdma->ep, &mpa);

    if (!options->no_crc && (!options->from_start || status != IT_SUCCESS)) /* a device has none */
        return true;
    if (!good(client, status, "itx_ep_get_mpa_params"))
        return false;
    if (options->no_crc)
        mpa.crc = IT_FALSE;
    if (options->from_start)
        mpa.own_peer = ITX_OWN_PEER_ACKS;
    return good(client, itx_ep_set_mpa_params(rdma->ep, &mpa), "itx_ep_set_mpa_params");
}

/* No command's data changes before its response. */
static bool register_octets(struct iser_client *client, void *octets, size_t size,
                            it_mem_priv_t rights, it_lmr_handle_t *lmr, it_rmr_context_t *stag)
{
    struct rdma *rdma = client->link_state;

    return size == 0 || good(client,
                             it_lmr_create(rdma->pz, octets, NULL, size, IT_ADDR_MODE_ABSOLUTE,
                                           rights, ITX_LMR_STEADY, 0, lmr, stag),
                             "it_lmr_create");
}

static bool post_receive(struct iser_client *client, uint8_t *slot)
{
    struct rdma *rdma = client->link_state;
    it_lmr_triplet_t segment = {.lmr = rdma->slots_lmr, .addr.abs = slot, .length = SLOT};

    return good(
        client,
        it_post_recv(rdma->ep, &segment, 1, (uintptr_t)slot, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG),
        "it_post_recv");
}

static bool make_all(struct iser_client *client, struct rdma *rdma)
{
    rdma->slots = calloc(SENDS + RECEIVES, SLOT);
    if (!rdma->slots)
        return iser_client_fail(client, "out of memory");
    if (!good(client, it_ia_create(client->options.interface, 2, 1, &rdma->ia), "it_ia_create") ||
        !good(client, itx_ia_set_spin(rdma->ia, SPIN_US), "itx_ia_set_spin") ||
        !good(client, it_pz_create(rdma->ia, &rdma->pz), "it_pz_create") ||
        !make_endpoint(client, rdma) || !set_mpa(client, rdma) ||
        !register_octets(client, rdma->slots, (size_t)(SENDS + RECEIVES) * SLOT, IT_PRIV_LOCAL,
                         &rdma->slots_lmr, NULL) ||
        !register_octets(client, client->memory, client->options.memory,
                         IT_PRIV_LOCAL | IT_PRIV_REMOTE, &rdma->memory_lmr, &rdma->stag))
        return false;
    for (unsigned i = 0; i < RECEIVES; i++)
        if (!post_receive(client, rdma->slots + (size_t)(SENDS + i) * SLOT))
            return false;
    return true;
}

static void rdma_close(struct iser_client *client)
{
    struct rdma *rdma = client->link_state;

    if (rdma->ia)
        (void)it_ia_free(rdma->ia);
    free(rdma->slots);
    free(rdma);
    client->link_state = NULL;
}

/* ---- Out ----------------------------------------------- */

/* more: another Send follows at once. */
static bool post_held(struct iser_client *client, struct rdma *rdma, bool more)
{
    unsigned segments = rdma->held_segments, flags = more ? IT_COALESCE_WR_FLAG : 0;

    if (segments == 0)
        return true;
    rdma->held_segments = 0;
    if (++rdma->posted % TELLING == 0)
        flags |= (unsigned)IT_COMPLETION_FLAG | (unsigned)IT_NOTIFY_FLAG;
    return good(client, it_post_send(rdma->ep, rdma->held, segments, 0, (it_dto_flags_t)flags),
                "it_post_send");
}

/* Waits until the oldest Send has completed. */
static bool reap_send(struct iser_client *client, struct rdma *rdma)
{
    it_event_t event;
    it_status_t status;

    if (!iser_client_is_patient(client) || !post_held(client, rdma, false))
        return false;
    do
        status = it_evd_wait(rdma->sent, limit_us(client), &event, NULL);
    while (status == IT_ERR_INTERRUPT);
    if (!good(client, status, "a Send"))
        return false;
    rdma->done += TELLING;
    return event.dto_cmpl.dto_status == IT_DTO_SUCCESS ||
           iser_client_fail(client, "a Send: %s", itx_dto_status_string(event.dto_cmpl.dto_status));
}

static void put_header(const struct iser_client *client, const struct iser_client_task *task,
                       uint32_t unsolicited, uint8_t *at)
{
    const struct rdma *rdma = client->link_state;
    struct iser_header header = {.kind = ISER_CONTROL};

    if (task && task->in_length > 0) {
        header.has_read = true;
        header.read_stag = (uint32_t)rdma->stag;
        header.read_base = (uintptr_t)task->in;
    }
    if (task && task->out_length > unsolicited) {
        header.has_write = true;
        header.write_stag = (uint32_t)rdma->stag;
        header.write_base =
            (uintptr_t)task->out + (client->options.tagged_solicited ? unsolicited : 0);
    }
    iser_header_encode(&header, at);
}

static bool is_registered(const struct iser_client *client, const void *data)
{
    const uint8_t *at = data;

    return client->memory && at >= client->memory && at < client->memory + client->options.memory;
}

static bool rdma_send(struct iser_client *client, const uint8_t *bhs, const void *data,
                      uint32_t length, const struct iser_client_task *task, uint32_t unsolicited)
{
    struct rdma *rdma = client->link_state;
    bool straight = length > 0 && is_registered(client, data);
    uint8_t *slot;

    if (!post_held(client, rdma, true))
        return false;
    while (rdma->posted - rdma->done >= SENDS)
        if (!reap_send(client, rdma))
            return false;
    slot = rdma->slots + rdma->posted % SENDS * SLOT;
    put_header(client, task, unsolicited, slot);
    memcpy(slot + ISER_HEADER, bhs, ISER_BHS);
    if (length > 0 && !straight)
        memcpy(slot + ISER_HEADER + ISER_BHS, data, length);
    rdma->held[0] = (it_lmr_triplet_t){.lmr = rdma->slots_lmr,
                                       .addr.abs = slot,
                                       .length = ISER_HEADER + ISER_BHS + (straight ? 0 : length)};
    rdma->held[1] = (it_lmr_triplet_t){
        .lmr = rdma->memory_lmr, .addr.abs = (void *)(uintptr_t)data, .length = length};
    rdma->held_segments = straight ? 2 : 1;
    return true;
}

/* ---- In ----------------------------------------------- */

static bool take_message(struct iser_client *client, const uint8_t *octets, size_t length,
                         struct iser_pdu *pdu)
{
    struct iser_header header;

    if (!iser_header_decode(octets, length, &header) || header.kind != ISER_CONTROL ||
        !iser_pdu_decode(octets + ISER_HEADER, length - ISER_HEADER, pdu))
        return iser_client_fail(client, "a message of the target is no PDU");
    if (iser_opcode_of(pdu->bhs) == ISER_DATA_IN || iser_opcode_of(pdu->bhs) == ISER_R2T)
        return iser_client_fail(client, "PDU %02x is none of iSER", pdu->bhs[0]);
    return true;
}

/* Sends what is held, then waits. */
static bool await_events(struct iser_client *client, struct rdma *rdma)
{
    it_status_t status;

    if (!post_held(client, rdma, false))
        return false;
    rdma->event_at = rdma->event_count = 0;
    do
        status = itx_evd_wait_n(rdma->received, limit_us(client), EVENTS, rdma->events,
                                &rdma->event_count, NULL);
    while (status == IT_ERR_INTERRUPT);
    return good(client, status, "a message");
}

static bool rdma_receive(struct iser_client *client, struct iser_pdu *pdu)
{
    struct rdma *rdma = client->link_state;
    const it_dto_cmpl_event_t *event;

    if (rdma->handed && !post_receive(client, rdma->handed))
        return false;
    rdma->handed = NULL;
    if (rdma->event_at == rdma->event_count && !await_events(client, rdma))
        return false;
    event = &rdma->events[rdma->event_at++].dto_cmpl;
    if (event->dto_status != IT_DTO_SUCCESS)
        return iser_client_fail(client, "the connection has ended: %s",
                                itx_dto_status_string(event->dto_status));
    rdma->handed = (uint8_t *)(uintptr_t)event->cookie;
    return take_message(client, rdma->handed, event->transferred_length, pdu);
}

/* ---- The beginning ----------------------------------------------- */

static const struct iser_client_link rdma_link = {
    .send = rdma_send, .receive = rdma_receive, .close = rdma_close};

/* complaint: about a target that answers, but not as it should. */
static bool await_connection(struct iser_client *client, struct rdma *rdma, const char *complaint)
{
    it_event_t event;

    if (!good(client, it_evd_wait(rdma->connection, limit_us(client), &event, NULL), "it_evd_wait"))
        return false;
    return event.event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT ||
           iser_client_fail(client, "%s: %s", complaint, itx_event_string(event.event_number));
}

static bool convert(struct iser_client *client, struct rdma *rdma)
{
    if (!good(client, itx_socket_convert(client->fd, rdma->ep, ITX_SC_INITIATOR, NULL),
              "itx_socket_convert") ||
        !await_connection(client, rdma, "the target does not convert"))
        return false;
    (void)close(client->fd);
    client->fd = -1;
    return true;
}

/* Returns the port; fills the address. */
static uint16_t split_address(const struct sockaddr_storage *from, it_net_addr_t *to)
{
    const struct sockaddr_in *four = (const void *)from;
    const struct sockaddr_in6 *six = (const void *)from;

    memset(to, 0, sizeof(*to));
    if (from->ss_family == AF_INET) {
        to->addr_type = IT_IPV4;
        to->addr.ipv4 = four->sin_addr;
        return four->sin_port;
    }
    to->addr_type = IT_IPV6;
    to->addr.ipv6 = six->sin6_addr;
    return six->sin6_port;
}

static bool connect_endpoint(struct iser_client *client, struct rdma *rdma)
{
    it_conn_qual_t port = {.type = IT_IANA_PORT};
    it_net_addr_t address;
    it_path_t path;
    size_t room = 1, total = 0;

    port.conn_qual.port = split_address(&client->options.address, &address);
    if (!good(client, it_get_pathinfo(rdma->ia, 0, &address, &room, &total, &path),
              "it_get_pathinfo"))
        return false;
    if (total == 0)
        return iser_client_fail(client, "no path for RDMA leads to the target");
    return good(client,
                it_ep_connect(rdma->ep, &path, NULL, &port, IT_CONNECT_FLAG_TWO_WAY, NULL, 0),
                "it_ep_connect") &&
           await_connection(client, rdma, "connect");
}

static bool make_link(struct iser_client *client)
{
    struct rdma *rdma = calloc(1, sizeof(*rdma));

    if (!rdma)
        return iser_client_fail(client, "out of memory");
    client->link_state = rdma;
    client->link = &rdma_link;
    return make_all(client, rdma);
}

bool iser_client_rdma_connect(struct iser_client *client)
{
    return make_link(client) && connect_endpoint(client, client->link_state);
}

/* The target sends only after a request, and the receives are posted before the first one. */
bool iser_client_rdma_convert(struct iser_client *client)
{
    client->link->close(client);
    return make_link(client) && convert(client, client->link_state);
}
