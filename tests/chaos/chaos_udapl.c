/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uDAPL: a stream of messages. Every second one announces octets that an RDMA Write has put into
 * the peer's memory before it. Requests and answers alternate, so the receives suffice.
 */
#include "chaos/chaos_stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/udat.h>

#define NAME       "itapi-chaos"
#define CHUNK      16384u
#define SLOTS      32u /* more than a hello and a request need */
#define QUEUE      64
#define CONNECT_US 30000000u
#define WAIT_US    ((DAT_TIMEOUT)STREAM_WAIT_MS * 1000)

struct message {
    uint32_t length;
    uint32_t written; /* the octets are in the slot of this message */
    unsigned char octets[CHUNK];
};

/*
 * Where the peer's octets go. InfiniBand does not tell how long private data is, so that zeros at
 * the end are not told apart from padding: the last octet is none.
 */
struct invitation {
    uint64_t address;
    uint64_t key;
    uint64_t end; /* END */
};

#define END UINT64_MAX

struct state {
    DAT_EVD_HANDLE sent, received, connection;
    DAT_EP_HANDLE ep;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT local;
    DAT_RMR_CONTEXT key;
    struct invitation peer;
    unsigned sends, receives; /* messages */
    unsigned due;             /* completions of the send that is under way */
    uint32_t under_way;       /* its octets */
    uint32_t taken;           /* octets of the oldest message */
    struct message *current;  /* the oldest message that has come */
    uint32_t current_length;
    struct message out, in[SLOTS];
    unsigned char target[SLOTS][CHUNK];
    unsigned char source[CHUNK];
};

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_EVD_HANDLE requests;

/* Sets errno. */
static bool good(DAT_RETURN status)
{
    errno = DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES ? EMFILE : ECONNRESET;
    return status == DAT_SUCCESS;
}

static bool start(bool is_server)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    char name[] = NAME;

    (void)is_server; /* dat.conf says where the name is */
    return good(dat_ia_open(name, QUEUE, &async, &ia)) && good(dat_pz_create(ia, &pz)) &&
           good(dat_evd_create(ia, QUEUE, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
}

static int open_listener(uint16_t *port)
{
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;

    if (!good(dat_psp_create_any(ia, &qual, requests, DAT_PSP_CONSUMER_FLAG, &psp)))
        return -1;
    *port = htons((uint16_t)qual);
    return 0;
}

/* ---- One end --------------------------------------------------------------------------------- */

static DAT_LMR_TRIPLET segment(const struct state *state, const void *from, size_t length)
{
    return (DAT_LMR_TRIPLET){.virtual_address = (DAT_VADDR)(uintptr_t)from,
                             .segment_length = (DAT_SEG_LENGTH)length,
                             .lmr_context = state->local};
}

static bool post_receive(struct state *state, unsigned slot)
{
    DAT_LMR_TRIPLET to = segment(state, &state->in[slot], sizeof(state->in[slot]));

    return good(dat_ep_post_recv(state->ep, 1, &to, (DAT_DTO_COOKIE){.as_64 = slot},
                                 DAT_COMPLETION_DEFAULT_FLAG));
}

static bool state_equip(struct state *state)
{
    DAT_EP_ATTR attr = {.max_recv_dtos = SLOTS,
                        .max_request_dtos = 8,
                        .max_recv_iov = 1,
                        .max_request_iov = 1,
                        .max_rdma_read_in = 4,
                        .max_rdma_read_out = 4};
    DAT_REGION_DESCRIPTION region = {.for_va = state};

    if (!good(dat_evd_create(ia, QUEUE, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &state->sent)) ||
        !good(dat_evd_create(ia, QUEUE, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &state->received)) ||
        !good(dat_evd_create(ia, QUEUE, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG,
                             &state->connection)) ||
        !good(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(*state), pz,
                             DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &state->lmr, &state->local,
                             &state->key, NULL, NULL)) ||
        !good(dat_ep_create(ia, pz, state->received, state->sent, state->connection, &attr,
                            &state->ep)))
        return false;
    for (unsigned slot = 0; slot < SLOTS; slot++) {
        if (!post_receive(state, slot))
            return false;
    }
    return true;
}

static bool evd_free(DAT_EVD_HANDLE evd)
{
    return evd == DAT_HANDLE_NULL || dat_evd_free(evd) == DAT_SUCCESS;
}

static bool close_one(struct stream *stream)
{
    struct state *state = stream->state;
    bool closed = state->ep == DAT_HANDLE_NULL || dat_ep_free(state->ep) == DAT_SUCCESS;

    closed = closed && (state->lmr == DAT_HANDLE_NULL || dat_lmr_free(state->lmr) == DAT_SUCCESS) &&
             evd_free(state->sent) && evd_free(state->received) && evd_free(state->connection);
    free(state);
    return closed;
}

static bool state_open(struct stream *stream)
{
    stream->fd = 0;
    stream->state = aligned_alloc(64, (sizeof(struct state) + 63) / 64 * 64);
    memset(stream->state, 0, sizeof(struct state));
    return state_equip(stream->state);
}

static struct invitation invitation_of(const struct state *state)
{
    return (struct invitation){(uintptr_t)state->target, state->key, END};
}

/* Waits for the first connection event. */
static bool is_established(struct state *state, bool is_client)
{
    DAT_EVENT event;
    DAT_COUNT more;

    if (!good(dat_evd_wait(state->connection, CONNECT_US, 1, &event, &more)))
        return false;
    errno = ECONNRESET;
    if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
        return false;
    if (is_client) {
        const DAT_CONNECTION_EVENT_DATA *data = &event.event_data.connect_event_data;

        if (data->private_data_size < (DAT_COUNT)sizeof(state->peer))
            return false;
        memcpy(&state->peer, data->private_data, sizeof(state->peer));
    }
    return true;
}

static bool or_close(struct stream *stream, bool opened)
{
    int error = errno;

    if (!opened)
        (void)close_one(stream);
    errno = error;
    return opened;
}

static bool connect_to(uint16_t port, struct stream *stream)
{
    struct sockaddr_in address = chaos_server_address(0);
    struct invitation own;
    bool opened = state_open(stream);
    struct state *state = stream->state;

    own = invitation_of(state);
    return or_close(stream,
                    opened &&
                        good(dat_ep_connect(state->ep, (DAT_IA_ADDRESS_PTR)(void *)&address,
                                            ntohs(port), CONNECT_US, sizeof(own), &own,
                                            DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG)) &&
                        is_established(state, true));
}

static bool take_request(DAT_CR_HANDLE cr, struct state *state)
{
    struct invitation own = invitation_of(state);
    DAT_CR_PARAM param;

    if (!good(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param)))
        return false;
    errno = ECONNRESET;
    if (param.private_data_size < (DAT_COUNT)sizeof(state->peer))
        return false;
    memcpy(&state->peer, param.private_data, sizeof(state->peer));
    return good(dat_cr_accept(cr, state->ep, sizeof(own), &own)) && is_established(state, false);
}

static bool accept_one(int listener, struct stream *stream)
{
    DAT_CR_HANDLE cr;
    DAT_EVENT event;
    DAT_COUNT more;

    (void)listener;
    if (dat_evd_wait(requests, WAIT_US, 1, &event, &more) != DAT_SUCCESS) {
        errno = EAGAIN;
        return false;
    }
    cr = event.event_data.cr_arrival_event_data.cr_handle;
    if (!state_open(stream)) {
        (void)dat_cr_reject(cr, 0, NULL);
        return or_close(stream, false);
    }
    return or_close(stream, take_request(cr, stream->state));
}

/* ---- Octets ---------------------------------------------------------------------------------- */

static bool post_write(struct state *state, const void *data, uint32_t length)
{
    DAT_LMR_TRIPLET from = segment(state, state->source, length);
    DAT_RMR_TRIPLET to = {.virtual_address =
                              state->peer.address + (uint64_t)(state->sends % SLOTS) * CHUNK,
                          .segment_length = length,
                          .rmr_context = (DAT_RMR_CONTEXT)state->peer.key};

    memcpy(state->source, data, length);
    if (!good(dat_ep_post_rdma_write(state->ep, 1, &from, (DAT_DTO_COOKIE){.as_64 = 1}, &to,
                                     DAT_COMPLETION_DEFAULT_FLAG)))
        return false;
    state->due++;
    return true;
}

static bool post_send(struct state *state, const void *data, uint32_t length)
{
    bool writes = state->sends % 2;
    DAT_LMR_TRIPLET from =
        segment(state, &state->out, offsetof(struct message, octets) + (writes ? 0 : length));

    if (writes && !post_write(state, data, length))
        return false;
    state->out.length = length;
    state->out.written = writes;
    if (!writes)
        memcpy(state->out.octets, data, length);
    if (!good(dat_ep_post_send(state->ep, 1, &from, (DAT_DTO_COOKIE){.as_64 = 2},
                               DAT_COMPLETION_DEFAULT_FLAG)))
        return false;
    state->due++;
    state->sends++;
    state->under_way = length;
    return true;
}

/* Returns 1 for a success, 0 if there is none yet, -1 with errno. */
static int take(DAT_EVD_HANDLE evd, DAT_DTO_COMPLETION_EVENT_DATA *data)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_RETURN status = dat_evd_wait(evd, WAIT_US, 1, &event, &more);

    if (DAT_GET_TYPE(status) == DAT_TIMEOUT_EXPIRED || DAT_GET_TYPE(status) == DAT_INTERRUPTED_CALL)
        return 0;
    if (!good(status))
        return -1;
    *data = event.event_data.dto_completion_event_data;
    errno = ECONNRESET;
    return data->status == DAT_DTO_SUCCESS ? 1 : -1;
}

static ssize_t send_some(struct stream *stream, const void *data, size_t length)
{
    struct state *state = stream->state;
    DAT_DTO_COMPLETION_EVENT_DATA done;
    int taken;

    if (state->due == 0 && !post_send(state, data, length < CHUNK ? (uint32_t)length : CHUNK))
        return -1;
    taken = take(state->sent, &done);
    if (taken <= 0)
        return taken;
    return --state->due == 0 ? (ssize_t)state->under_way : 0;
}

/* Gets the next message. */
static int next_message(struct state *state)
{
    DAT_DTO_COMPLETION_EVENT_DATA done;
    int taken = take(state->received, &done);
    struct message *message;

    if (taken <= 0)
        return taken;
    message = &state->in[done.user_cookie.as_64 % SLOTS];
    errno = EBADMSG;
    if (done.transfered_length < offsetof(struct message, octets) || message->length > CHUNK ||
        message->length == 0 ||
        (!message->written &&
         done.transfered_length != offsetof(struct message, octets) + message->length))
        return -1;
    state->current = message;
    state->current_length = message->length;
    state->taken = 0;
    return 1;
}

static ssize_t receive_some(struct stream *stream, void *data, size_t length)
{
    struct state *state = stream->state;
    int taken = state->current ? 1 : next_message(state);
    unsigned slot = state->receives % SLOTS;
    uint32_t left;

    if (taken <= 0)
        return taken;
    left = state->current_length - state->taken;
    if (length > left)
        length = left;
    memcpy(data,
           (state->current->written ? state->target[slot] : state->current->octets) + state->taken,
           length);
    state->taken += (uint32_t)length;
    if (state->taken == state->current_length) {
        unsigned number = (unsigned)(state->current - state->in);

        state->current = NULL;
        state->receives++;
        if (!post_receive(state, number))
            return -1;
    }
    return (ssize_t)length;
}

const struct stream_calls stream_calls = {
    start, open_listener, accept_one, connect_to, send_some, receive_some, close_one,
};
