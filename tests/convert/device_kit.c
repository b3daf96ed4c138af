/* SPDX-License-Identifier: BSD-2-Clause */
#include "convert/device_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STREAM 200000u /* octets of the plain dialogue, each way */

const char *kit_device;
struct sockaddr_in kit_address;
uint8_t kit_kind;

/* ---- Ends ----------------------------------------------------------------------------------- */

void kit_open_node(struct fx_node *node)
{
    memset(node, 0, sizeof(*node));
    CHECK_OK(it_ia_create(kit_device, 2, 1, &node->ia));
    CHECK_OK(it_pz_create(node->ia, &node->pz));
    node->request_evd = fx_evd(node, IT_DTO_EVENT_STREAM, 512, IT_THRESHOLD_DISABLE);
    node->recv_evd = fx_evd(node, IT_DTO_EVENT_STREAM, 512, IT_THRESHOLD_DISABLE);
    node->conn_evd = fx_evd(node, IT_CM_MSG_EVENT_STREAM, 64, IT_THRESHOLD_DISABLE);
}

it_ep_handle_t kit_open_ep(const struct fx_node *node)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_send_segments = attr.max_recv_segments = 1;
    attr.srv.rc.max_rdma_read_segments = attr.srv.rc.max_rdma_write_segments = 1;
    attr.srv.rc.rdma_read_ird = attr.srv.rc.rdma_read_ord = 4;
    attr.max_request_dtos = attr.max_recv_dtos = KIT_MESSAGES + 2;
    return fx_ep(node, &attr);
}

void kit_open_end(struct kit_end *end)
{
    kit_open_node(&end->node);
    end->ep = kit_open_ep(&end->node);
    end->out = fx_buf_make(&end->node, (size_t)KIT_MESSAGES * KIT_MESSAGE);
    end->in = fx_buf_make(&end->node, (size_t)KIT_MESSAGES * KIT_MESSAGE);
    end->area = fx_buf_make(&end->node, KIT_AREA);
}

void kit_close_end(struct kit_end *end)
{
    fx_empty(end->node.conn_evd);
    CHECK_OK(it_ep_free(end->ep));
    fx_buf_free(&end->out);
    fx_buf_free(&end->in);
    fx_buf_free(&end->area);
    fx_node_close(&end->node);
    (void)close(end->sd);
}

void kit_tcp_pair(int *a, int *b)
{
    struct sockaddr_in at = kit_address;
    socklen_t length = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    at.sin_port = 0;
    CHECK(bind(listener, (struct sockaddr *)&at, length) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&at, &length) == 0);
    *a = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(*a, (struct sockaddr *)&at, length) == 0);
    *b = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(*b >= 0);
    (void)close(listener);
}

/* ---- Plain octets --------------------------------------------------------------------------- */

static size_t moved(ssize_t result)
{
    if (result > 0)
        return (size_t)result;
    CHECK(result == -1 && (errno == EAGAIN || errno == EINTR));
    return 0;
}

/* Sends the plain dialogue from one to the other and checks that no more arrives. */
static void talk_one_way(int from, int to, uint32_t seed)
{
    static unsigned char said[STREAM];
    static unsigned char heard[STREAM];
    struct fx_patience patience = fx_patience_start("the plain stream");
    size_t sent = 0;
    size_t received = 0;

    fx_fill(said, STREAM, seed);
    while (received < STREAM) {
        if (sent < STREAM)
            sent += moved(send(from, said + sent, STREAM - sent, MSG_DONTWAIT | MSG_NOSIGNAL));
        received += moved(recv(to, heard + received, STREAM - received, MSG_DONTWAIT));
        fx_patience_check(&patience);
    }
    fx_check_same(said, heard, STREAM);
}

void kit_talk(int a, int b, uint32_t seed)
{
    talk_one_way(a, b, seed);
    talk_one_way(b, a, seed + 1);
}

void kit_hear(int sd, const char *text)
{
    char got[64];
    size_t length = strlen(text);

    CHECK_EQ(length, recv(sd, got, length, MSG_WAITALL));
    CHECK(memcmp(got, text, length) == 0);
}

void kit_hears_end(int sd)
{
    struct timeval limit = {.tv_sec = FX_PATIENCE_MS / 1000};
    char octet;

    CHECK(setsockopt(sd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0);
    CHECK_EQ(0, recv(sd, &octet, 1, 0));
}

/* ---- Frames --------------------------------------------------------------------------------- */

void kit_say(int sd, const void *octets, size_t length)
{
    CHECK_EQ(length, send(sd, octets, length, MSG_NOSIGNAL));
}

struct agree_terms kit_terms(uint16_t port)
{
    struct agree_terms terms = {
        .kind = kit_kind, .family = 4, .port = ntohs(port), .token = "a token of tests"};

    memcpy(terms.address, &kit_address.sin_addr, sizeof(kit_address.sin_addr));
    return terms;
}

void kit_say_terms(int sd, enum agree_type type, const struct agree_terms *terms)
{
    uint8_t octets[AGREE_OWN_MAX];

    kit_say(sd, octets, agree_frame_encode_terms(type, terms, octets));
}

void kit_say_end(int sd, enum agree_type type, enum agree_reason reason)
{
    uint8_t octets[AGREE_OWN_MAX];

    kit_say(sd, octets, agree_frame_encode_end(type, reason, octets));
}

struct agree_frame kit_hear_frame(int sd, enum agree_type type)
{
    uint8_t octets[AGREE_FRAME_MAX];
    struct agree_frame frame;
    size_t wanted = AGREE_HEADER;

    CHECK_EQ(AGREE_HEADER, recv(sd, octets, AGREE_HEADER, MSG_WAITALL));
    if (agree_frame_find(octets, AGREE_HEADER, &frame, &wanted) == AGREE_MORE) {
        CHECK_EQ(wanted - AGREE_HEADER,
                 recv(sd, octets + AGREE_HEADER, wanted - AGREE_HEADER, MSG_WAITALL));
        CHECK_EQ(AGREE_WHOLE, agree_frame_find(octets, wanted, &frame, &wanted));
    }
    CHECK_EQ(type, frame.type);
    return frame;
}

void kit_hear_last(int sd, enum agree_type type, enum agree_reason reason)
{
    CHECK_EQ(reason, kit_hear_frame(sd, type).reason);
}

/* ---- RDMA ----------------------------------------------------------------------------------- */

void kit_post_receives(const struct kit_end *end)
{
    for (unsigned i = 0; i < KIT_MESSAGES; i++)
        fx_recv(end->ep, &end->in, (size_t)i * KIT_MESSAGE, KIT_MESSAGE, i);
}

void kit_send_messages(const struct kit_end *from, const struct kit_end *to, uint32_t seed)
{
    fx_fill(from->out.data, from->out.size, seed);
    for (unsigned i = 0; i < KIT_MESSAGES; i++)
        fx_send(from->ep, &from->out, (size_t)i * KIT_MESSAGE, KIT_MESSAGE, 100 + i, FX_SIGNAL);
    for (unsigned i = 0; i < KIT_MESSAGES; i++)
        fx_done_len(from->node.request_evd, from->ep, IT_DTO_SEND_CMPL_EVENT, 100 + i, KIT_MESSAGE);
    for (unsigned i = 0; i < KIT_MESSAGES; i++)
        fx_done_len(to->node.recv_evd, to->ep, IT_DTO_RC_RECV_CMPL_EVENT, i, KIT_MESSAGE);
    fx_check_same(from->out.data, to->in.data, from->out.size);
}

void kit_write_and_read(const struct kit_end *near, const struct kit_end *far)
{
    it_lmr_triplet_t segment = fx_seg(&near->area, 0, KIT_AREA);

    fx_fill(near->area.data, KIT_AREA, 77);
    CHECK_OK(it_post_rdma_write(near->ep, &segment, 1, 200, FX_SIGNAL, fx_addr(&far->area, 0),
                                far->area.key));
    fx_done_len(near->node.request_evd, near->ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 200, KIT_AREA);
    memset(near->area.data, 0, KIT_AREA);
    CHECK_OK(it_post_rdma_read(near->ep, &segment, 1, 201, FX_SIGNAL, fx_addr(&far->area, 0),
                               far->area.key));
    fx_done_len(near->node.request_evd, near->ep, IT_DTO_RDMA_READ_CMPL_EVENT, 201, KIT_AREA);
    CHECK(fx_is_filled(near->area.data, KIT_AREA, 77));
}
