/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The iWARP extension: a TCP connection that was used before becomes the connection of two
 * endpoints.
 */
#include "udapl_kit.h"

#include <arpa/inet.h>
#include <dat2/dat_iw_extensions.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GO_AHEAD "go ahead"

static struct kit_side active, passive;
static int sockets[2];

static void open_sides(const char *name)
{
    kit_side_open_on(&active, name);
    kit_side_open_on(&passive, name);
}

static void close_sides(void)
{
    kit_side_close(&active);
    kit_side_close(&passive);
}

static void open_sockets(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t length = sizeof(address);

    CHECK(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &length) == 0);
    sockets[0] = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(sockets[0], (struct sockaddr *)&address, length) == 0);
    sockets[1] = accept(listener, NULL, NULL);
    CHECK(sockets[1] >= 0);
    close(listener);
}

static void close_sockets(void)
{
    close(sockets[0]);
    close(sockets[1]);
}

static void talk(void)
{
    char text[16];

    CHECK_EQ(5, send(sockets[0], "hello", 5, 0));
    CHECK_EQ(5, recv(sockets[1], text, 5, MSG_WAITALL));
    CHECK_EQ(2, send(sockets[1], "ok", 2, 0));
    CHECK_EQ(2, recv(sockets[0], text, 2, MSG_WAITALL));
}

static void take_last_message(void)
{
    char text[sizeof(GO_AHEAD)];

    CHECK_EQ(sizeof(text), (size_t)recv(sockets[0], text, sizeof(text), MSG_WAITALL));
    CHECK_EQ(0, strcmp(GO_AHEAD, text));
}

static DAT_IW_SSP_PARAM ask(DAT_IW_SSP_HANDLE ssp)
{
    DAT_IW_SSP_PARAM param;

    CHECK_DAT(dat_iw_ssp_query(ssp, DAT_IW_SSP_FIELD_ALL, &param));
    return param;
}

static void send_a_message(void)
{
    DAT_LMR_TRIPLET segment = kit_local(&passive, 0, 100);

    memset(active.buffer, 'x', 100);
    CHECK_DAT(
        dat_ep_post_recv(passive.ep, 1, &segment, kit_cookie(1), DAT_COMPLETION_DEFAULT_FLAG));
    segment = kit_local(&active, 0, 100);
    CHECK_DAT(dat_ep_post_send(active.ep, 1, &segment, kit_cookie(2), DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(100, kit_done(active.request, kit_cookie(2)));
    EXPECT_EQ(100, kit_done(passive.recv, kit_cookie(1)));
    EXPECT_EQ(0, memcmp(active.buffer, passive.buffer, 100));
}

static void sockets_become_endpoints(void)
{
    const DAT_CONNECTION_EVENT_DATA *established;
    DAT_IW_SSP_HANDLE ssp;
    DAT_IW_SSP_PARAM param;
    DAT_HANDLE_TYPE type;
    DAT_EP_PARAM ep;
    DAT_EVENT event;

    open_sides("itapi-iw");
    open_sockets();
    talk();
    CHECK_DAT(dat_iw_ssp_create(passive.ia, sockets[1], passive.ep, passive.cr, GO_AHEAD,
                                sizeof(GO_AHEAD), &ssp));
    CHECK_DAT(dat_get_handle_type(ssp, &type));
    EXPECT_EQ((int)DAT_IW_HANDLE_TYPE_SSP, (int)type);
    EXPECT_EQ(DAT_EP_STATE_COMPLETION_PENDING, kit_state(passive.ep));
    param = ask(ssp);
    CHECK(param.ia_handle == passive.ia && param.ep_handle == passive.ep &&
          param.evd_handle == passive.cr);
    EXPECT_EQ(sockets[1], param.socket_id);
    EXPECT_EQ(DAT_IW_SSP_STATE_OPERATIONAL, param.ssp_state);
    take_last_message();
    CHECK_DAT(dat_iw_socket_connect(active.ep, sockets[0], DAT_TIMEOUT_INFINITE, 4, "data"));
    close_sockets();
    (void)kit_next(active.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    event = kit_next(passive.connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    established = &event.event_data.connect_event_data;
    EXPECT_EQ(4, established->private_data_size);
    EXPECT_EQ(0, memcmp("data", established->private_data, 4));
    EXPECT_EQ(DAT_IW_SSP_STATE_NON_OPERATIONAL, ask(ssp).ssp_state);
    CHECK_DAT(dat_ep_query(active.ep, DAT_EP_FIELD_ALL, &ep));
    EXPECT_EQ(AF_INET, ep.remote_ia_address_ptr->sa_family);
    CHECK(ep.local_port_qual != 0 && ep.remote_port_qual != 0);
    send_a_message();
    CHECK_DAT(dat_iw_ssp_free(ssp));
    EXPECT_EQ(DAT_EP_STATE_CONNECTED, kit_state(passive.ep));
    kit_is_empty(passive.cr);
    kit_part(&active, &passive);
    close_sides();
}

/* After a refusal the stream and the endpoints are unchanged. */
static void refused(void)
{
    int pair[2];
    DAT_IW_SSP_HANDLE ssp;

    open_sides("itapi-iw");
    open_sockets();
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
#define CREATE(socket, ep, evd, size)                                                              \
    dat_iw_ssp_create(passive.ia, socket, ep, evd, "x", size, &ssp)
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CREATE(pair[0], passive.ep, passive.cr, 1));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CREATE(-1, passive.ep, passive.cr, 1));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, CREATE(sockets[1], passive.ep, passive.cr, -1));
    EXPECT_TYPE(DAT_INVALID_HANDLE, CREATE(sockets[1], active.ep, passive.cr, 1));
    EXPECT_TYPE(DAT_INVALID_HANDLE, CREATE(sockets[1], passive.ep, passive.recv, 1));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_iw_ssp_free(passive.ep));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_iw_socket_connect(active.ep, sockets[0], 0, 0, NULL));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, dat_iw_socket_connect(active.ep, sockets[0], 1, 9999, "x"));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_iw_socket_connect(active.pz, sockets[0], 1, 0, NULL));
    EXPECT_TYPE(DAT_NOT_IMPLEMENTED, dat_extension_op(active.ep, 77));
    EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(active.ep));
    EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(passive.ep));
    talk();
    close(pair[0]);
    close(pair[1]);
    close_sockets();
    close_sides();
}

/* The service point is freed while it waits, or its endpoint is freed before it. */
static void given_up(void)
{
    DAT_IW_SSP_HANDLE ssp;

    open_sides("itapi-iw");
    open_sockets();
    CHECK_DAT(
        dat_iw_ssp_create(passive.ia, sockets[1], passive.ep, DAT_HANDLE_NULL, NULL, 0, &ssp));
    CHECK_DAT(dat_iw_ssp_free(ssp));
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    close_sockets();
    CHECK_DAT(dat_ep_reset(passive.ep));

    open_sockets();
    CHECK_DAT(
        dat_iw_ssp_create(passive.ia, sockets[1], passive.ep, DAT_HANDLE_NULL, NULL, 0, &ssp));
    CHECK_DAT(dat_ep_free(passive.ep));
    CHECK(ask(ssp).ep_handle == DAT_HANDLE_NULL);
    EXPECT_EQ(DAT_IW_SSP_STATE_NON_OPERATIONAL, ask(ssp).ssp_state);
    passive.ep = kit_ep(&passive);
    CHECK_DAT(dat_iw_ssp_free(ssp));
    close_sockets();
    close_sides();
}

/* The peer closes before it has sent a Request. */
static void peer_is_gone(void)
{
    DAT_IW_SSP_HANDLE ssp;

    open_sides("itapi-iw");
    open_sockets();
    CHECK_DAT(dat_iw_ssp_create(passive.ia, sockets[1], passive.ep, passive.cr, NULL, 0, &ssp));
    close(sockets[0]);
    (void)kit_next(passive.connect, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
    EXPECT_EQ(DAT_EP_STATE_DISCONNECTED, kit_state(passive.ep));
    CHECK_DAT(dat_iw_ssp_free(ssp));
    close(sockets[1]);
    close_sides();
}

static void announced_where_asked_for(void)
{
    DAT_IA_ATTR attr;

    open_sides(KIT_IA);
    CHECK_DAT(dat_ia_query(active.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    EXPECT_EQ(DAT_EXTENSION_NONE, attr.extension_supported);
    EXPECT_TYPE(DAT_NOT_IMPLEMENTED, dat_iw_socket_connect(active.ep, 0, 1, 0, NULL));
    close_sides();
    open_sides("itapi-iw");
    CHECK_DAT(dat_ia_query(active.ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    EXPECT_EQ(DAT_EXTENSION_IW, attr.extension_supported);
    EXPECT_EQ(DAT_IW_EXTENSION_VERSION, attr.extension_version);
    close_sides();
}

int main(void)
{
    announced_where_asked_for();
    sockets_become_endpoints();
    refused();
    given_up();
    peer_is_gone();
    check_done();
    return 0;
}
