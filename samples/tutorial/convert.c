/* SPDX-License-Identifier: BSD-2-Clause */
#include "convert.h"

#include "sockets.h"

#include <string.h>

static const char go_ahead[] = "go ahead\n";

bool convert_as_server(int tcp, struct rdma *rdma)
{
    char line[LINE_SIZE];

    while (read_line(tcp, line)) {
        if (strcmp(line, "rdma") != 0) {
            write_line(tcp, line);
            continue;
        }
        /* The call sends the last line over TCP; after it the stream is iWARP. */
        check(it_socket_convert(tcp, rdma->ep, IT_SC_DEFAULT, (const unsigned char *)go_ahead,
                                strlen(go_ahead)),
              "it_socket_convert");
        rdma_wait_connection(rdma, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
        return true;
    }
    return false;
}

void convert_as_client(int tcp, struct rdma *rdma)
{
    char line[LINE_SIZE];

    write_line(tcp, "rdma");
    if (!read_line(tcp, line) || strcmp(line, "go ahead") != 0)
        fail("convert", "the server refuses");
    check(it_socket_convert(tcp, rdma->ep, IT_SC_DEFAULT, NULL, 0), "it_socket_convert");
    rdma_wait_connection(rdma, IT_CM_MSG_CONN_ESTABLISHED_EVENT);
}

void end_as_client(struct rdma *rdma)
{
    check(it_ep_disconnect(rdma->ep, NULL, 0), "it_ep_disconnect");
    rdma_wait_connection(rdma, IT_CM_MSG_CONN_DISCONNECT_EVENT);
}

void end_as_server(struct rdma *rdma)
{
    it_event_t event;

    /* In order or broken: either way this client is served. */
    check(it_evd_wait(rdma->connection, IT_TIMEOUT_INFINITE, &event, NULL), "it_evd_wait");
}
