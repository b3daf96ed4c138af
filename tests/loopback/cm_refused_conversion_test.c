/* SPDX-License-Identifier: BSD-2-Clause */
/* A socket whose conversion is refused is unchanged. */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/fixture_node.h"
#include "support/raw_peer.h"

static it_status_t convert(int fd, it_ep_handle_t ep, unsigned flags)
{
    return it_socket_convert(fd, ep, (it_sc_flags_t)flags, NULL, 0);
}

Test(cm_refused_conversion, leaves_the_stream_alone, .init = node_init, .fini = node_fini)
{
    struct raw_peer peer;
    struct itx_convert_params params;
    it_ep_handle_t ep;
    unsigned char octet = 0;
    int pipes[2];
    int unix_pair[2];
    int fd = -1;
    int other;
    uint16_t port = 0;

    ep = fx_ep(&node, NULL);
    raw_socket_pair(&peer, &fd);
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, convert(fd, ep, 0x2));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, convert(fd, ep, 0x400));
    EXPECT_STATUS(IT_ERR_INVALID_FLAGS, convert(fd, ep, ITX_SC_INITIATOR | ITX_SC_RESPONDER));
    EXPECT_STATUS(IT_ERR_FAULT, it_socket_convert(fd, ep, IT_SC_DEFAULT, NULL, 4));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH,
                  it_socket_convert(fd, ep, IT_SC_DEFAULT, &octet, SIZE_MAX));
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(-1, ep, 0));
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(999999, ep, 0));
    CHECK(pipe(pipes) == 0);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(pipes[0], ep, 0));
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, unix_pair) == 0);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(unix_pair[0], ep, 0));
    other = raw_listen(&port);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(other, ep, 0));
    (void)close(other);
    other = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(other, ep, 0));
    (void)close(other);
    other = socket(AF_INET, SOCK_DGRAM, 0);
    EXPECT_STATUS(IT_ERR_INVALID_CONVERSION, convert(other, ep, 0));
    (void)close(other);
    memset(&params, 0, sizeof(params));
    EXPECT_STATUS(IT_ERR_INVALID_LENGTH, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.size = sizeof(params);
    params.msg_len = 1;
    EXPECT_STATUS(IT_ERR_FAULT, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.msg_len = 0;
    params.early_len = 1;
    EXPECT_STATUS(IT_ERR_FAULT, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.early_len = 0;
    params.private_data_length = 1;
    EXPECT_STATUS(IT_ERR_FAULT, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.private_data = &octet;
    params.private_data_length = 10000;
    EXPECT_STATUS(IT_ERR_INVALID_PDATA_LENGTH, itx_socket_convert(fd, ep, IT_SC_DEFAULT, &params));
    params.private_data_length = 1;
    EXPECT_STATUS(IT_ERR_INVALID_PDATA_LENGTH,
                  itx_socket_convert(fd, ep, IT_SC_NO_REQ_REP, &params));
    EXPECT_EQ(IT_EP_STATE_UNCONNECTED, fx_ep_state(ep));
    /* The stream is unchanged: octets flow both ways, and nothing else was sent. */
    CHECK(raw_send_part(&peer, "ab", 2));
    CHECK(send(fd, "cd", 2, 0) == 2);
    {
        char text[3] = "";

        CHECK(recv(fd, text, 3, 0) == 2 && memcmp(text, "ab", 2) == 0);
        CHECK_EQ(RAW_OK, raw_receive(&peer, text, 2, NULL));
        CHECK(memcmp(text, "cd", 2) == 0);
    }
    for (int i = 0; i < 2; i++) {
        (void)close(pipes[i]);
        (void)close(unix_pair[i]);
    }
    (void)close(fd);
    raw_close(&peer);
}
