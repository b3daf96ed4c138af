/* SPDX-License-Identifier: BSD-2-Clause */
/* A peer that lies loses its own connection at once, and nothing else happens. */
#include "sdp_kit.h"

#include "wire/sdp_message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OCTETS    65536u
#define RECEIVES  32u
#define RECV_SIZE 2048u

/* The liar: an endpoint without SDP. */
static struct {
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t evd;
    it_ep_handle_t ep;
    it_lmr_handle_t lmr;
    unsigned char octets[OCTETS + RECEIVES * RECV_SIZE];
} liar;

static struct sdp_connection *victim;
static struct sdp_connection *bystanders[2];
static const struct sdp_settings settings = {.buffers = 8, .receive_size = 4096};

/* ---- The liar ------------------------------------------------------------------------------- */

static void open_liar(void)
{
    CHECK_OK(it_ia_create("uiwarp", 2, 1, &liar.ia));
    CHECK_OK(it_pz_create(liar.ia, &liar.pz));
    CHECK_OK(it_lmr_create(liar.pz, liar.octets, NULL, sizeof(liar.octets), IT_ADDR_MODE_ABSOLUTE,
                           IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &liar.lmr, NULL));
}

static void liar_awaits(it_event_type_t number)
{
    it_event_t event;

    do
        CHECK_OK(it_evd_wait(liar.evd, IT_TIMEOUT_INFINITE, &event, NULL));
    while (event.event_number != number);
}

static void liar_sends(const unsigned char *octets, size_t length)
{
    it_lmr_triplet_t segment = {.lmr = liar.lmr, .addr.abs = liar.octets, .length = length};

    memcpy(liar.octets, octets, length);
    CHECK_OK(it_post_send(liar.ep, &segment, 1, 0, IT_COMPLETION_FLAG));
    liar_awaits(IT_DTO_SEND_CMPL_EVENT);
}

static void liar_receives(unsigned i)
{
    it_lmr_triplet_t segment = {
        .lmr = liar.lmr, .addr.abs = liar.octets + OCTETS + i * RECV_SIZE, .length = RECV_SIZE};

    CHECK_OK(it_post_recv(liar.ep, &segment, 1, i, (it_dto_flags_t)0));
}

/* Connects the liar to the victim, which is the passive side. */
static void liar_connects(void)
{
    struct itx_mpa_params mpa = {.size = sizeof(mpa)};
    it_ep_attributes_t attributes = {.max_dto_payload_size = OCTETS,
                                     .max_request_dtos = 64,
                                     .max_recv_dtos = RECEIVES,
                                     .max_send_segments = 1,
                                     .max_recv_segments = 1};
    int fds[2];

    sdp_kit_tcp(fds);
    CHECK_OK(itx_evd_create_mixed(liar.ia, ITX_STREAM_DTO | ITX_STREAM_CM_MSG, (it_evd_flags_t)0,
                                  256, IT_THRESHOLD_DISABLE, NULL, &liar.evd, NULL));
    CHECK_OK(it_ep_rc_create(liar.pz, liar.evd, liar.evd, liar.evd, IT_EP_NO_FLAG, &attributes,
                             &liar.ep));
    CHECK_OK(itx_ep_get_mpa_params(liar.ep, &mpa));
    mpa.peer_to_peer = IT_FALSE;
    CHECK_OK(itx_ep_set_mpa_params(liar.ep, &mpa));
    for (unsigned i = 0; i < RECEIVES; i++)
        liar_receives(i);
    CHECK(sdp_connection_start(fds[1], SDP_PASSIVE, &settings, NULL, &victim) == 0);
    CHECK_OK(itx_socket_convert(fds[0], liar.ep, ITX_SC_INITIATOR, NULL));
    (void)close(fds[0]);
    liar_awaits(IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

static void liar_greets(uint16_t bufs, uint32_t receive_size)
{
    const struct sdp_hello hello = {.bufs = bufs,
                                    .max_adverts = 4,
                                    .ip_version = 4,
                                    .desired_size = receive_size,
                                    .receive_size = receive_size};
    unsigned char octets[SDP_HELLO_OCTETS];

    sdp_hello_put(octets, &hello);
    liar_sends(octets, sizeof(octets));
}

static void liar_leaves(void)
{
    (void)itx_ep_flush(liar.ep);
    CHECK_OK(it_ep_free(liar.ep));
    CHECK_OK(it_evd_free(liar.evd));
}

/* ---- Lies ----------------------------------------------------------------------------------- */

static void victim_is_reset(void)
{
    char octet;

    CHECK_EQ(-ECONNRESET, sdp_kit_receive(victim, &octet, 1, 0));
    CHECK(sdp_kit_send(victim, &octet, 1, 0) < 0);
    CHECK(sdp_close(victim, NULL) == 0);
    /* Other connections are not affected. */
    sdp_kit_send_stream(bystanders[0], 7, 10000, 10000);
    sdp_kit_check_stream(bystanders[1], 7, 10000, 10000);
}

static void lies_in_messages(void)
{
    static const struct {
        struct sdp_message message;
        int length; /* added to the length in the message */
    } lies[] = {
        {{.mid = SDP_DATA, .bufs = 8, .mseq = 2}, 0},
        {{.mid = SDP_DATA, .bufs = 8, .mseq = 1, .mseq_ack = 9}, 0},
        {{.mid = SDP_DATA, .bufs = 8, .mseq = 1, .mseq_ack = UINT32_MAX}, 0},
        {{.mid = SDP_DATA, .bufs = 8, .mseq = 1, .payload_octets = 10}, 1},
        {{.mid = SDP_DATA, .bufs = 8, .mseq = 1, .payload_octets = 10}, -1},
        {{.mid = SDP_DISCONN, .bufs = 8, .mseq = 1}, -1},
        {{.mid = SDP_RDMA_RD_COMPL, .bufs = 8, .mseq = 1, .value = 1}, 0},
        {{.mid = SDP_RDMA_WR_COMPL, .bufs = 8, .mseq = 1, .value = 1}, 0},
        {{.mid = SDP_SINK_AVAIL, .bufs = 8, .mseq = 1, .place = {0, 1, 1}}, 0},
        {{.mid = SDP_SUSP_COMM, .bufs = 8, .mseq = 1}, 0},
        {{.mid = SDP_CH_RCV_BUF_ACK, .bufs = 8, .mseq = 1, .value = 1 << 30}, 0},
        {{.mid = SDP_MODE_CHANGE, .bufs = 8, .mseq = 1, .mode = SDP_COMBINED}, 0},
        {{.mid = SDP_ABORT_CONN, .bufs = 8, .mseq = 1}, 0},
    };
    unsigned char octets[64];

    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        size_t length = sdp_message_put(octets, &lies[i].message) + lies[i].message.payload_octets;

        liar_connects();
        liar_greets(8, 4096);
        liar_sends(octets, (size_t)((int)length + lies[i].length));
        victim_is_reset();
        liar_leaves();
    }
}

static void bad_greetings(void)
{
    static const unsigned char zeros[200];

    for (size_t length = 1; length <= 200; length += 45) {
        liar_connects();
        liar_sends(zeros, length);
        victim_is_reset();
        liar_leaves();
    }
    liar_connects();
    liar_greets(0, 4096);
    victim_is_reset();
    liar_leaves();
    liar_connects();
    liar_greets(8, SDP_HEAD_OCTETS);
    victim_is_reset();
    liar_leaves();
}

/* The liar promises receives that it does not have: its own transport ends the connection. */
static void promises_too_many_receives(void)
{
    static char octets[OCTETS];
    ssize_t result;

    liar_connects();
    CHECK(sdp_set_option(victim, SDP_ZCOPY_FROM, 0) == 0); /* else the liar must answer */
    liar_greets(UINT16_MAX, 17);                           /* one octet in each message */
    while ((result = sdp_kit_send(victim, octets, sizeof(octets), 0)) > 0)
        continue;
    CHECK(result == -ECONNRESET || result == -EPIPE);
    CHECK(sdp_close(victim, NULL) == 0);
    liar_leaves();
}

/* The liar sends more messages than it was told of receives. */
static void overruns_receives(void)
{
    struct sdp_message message = {.mid = SDP_DATA, .bufs = 8, .payload_octets = 1};
    unsigned char octets[64];
    char in[64];
    ssize_t got = 0;
    ssize_t result;

    liar_connects();
    liar_greets(8, 4096);
    for (message.mseq = 1; message.mseq <= 16; message.mseq++) {
        it_lmr_triplet_t segment = {.lmr = liar.lmr, .addr.abs = liar.octets, .length = 17};

        (void)sdp_message_put(octets, &message);
        octets[SDP_HEAD_OCTETS] = 'x';
        segment.addr.abs = liar.octets + message.mseq * 64;
        memcpy(segment.addr.abs, octets, 17);
        (void)it_post_send(liar.ep, &segment, 1, 0, IT_COMPLETION_FLAG);
    }
    /* Octets that had a receive may be read before the end. */
    sdp_kit_await(victim, POLLHUP);
    while ((result = sdp_kit_receive(victim, in, sizeof(in), 0)) > 0)
        got += result;
    CHECK(got <= 8);
    CHECK(result == 0 || result == -ECONNRESET);
    CHECK(sdp_close(victim, NULL) == 0);
    liar_leaves();
}

int main(void)
{
    open_liar();
    sdp_kit_pair(bystanders, NULL);
    lies_in_messages();
    bad_greetings();
    promises_too_many_receives();
    overruns_receives();
    CHECK(sdp_close(bystanders[0], NULL) == 0 && sdp_close(bystanders[1], NULL) == 0);
    return 0;
}
