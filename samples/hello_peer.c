/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello_peer PORT: the peer of hello. It takes one TCP connection, turns it into an RDMA connection
 * and prints the message that comes over it. Port 0 is any free one.
 */
#include <itx_api.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define SECOND UINT64_C(1000000) /* times are microseconds */

static void check(it_status_t status, const char *call)
{
    if (status == IT_SUCCESS)
        return;
    fprintf(stderr, "hello_peer: %s: %s\n", call, itx_status_string(status));
    exit(1);
}

static int accept_by_tcp(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((in_port_t)port),
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        return -1;
    printf("listening on port %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return accept(listener, NULL, NULL);
}

int main(int argc, char **argv)
{
    char text[64] = "";
    it_lmr_triplet_t segment = {.addr.abs = text, .length = sizeof(text) - 1};
    it_ep_attributes_t attributes = {.max_dto_payload_size = sizeof(text),
                                     .max_request_dtos = 1,
                                     .max_recv_dtos = 1,
                                     .max_send_segments = 1,
                                     .max_recv_segments = 1};
    it_ia_handle_t ia;
    it_pz_handle_t pz;
    it_evd_handle_t completions, connection;
    it_ep_handle_t ep;
    it_event_t event;
    int tcp = argc == 2 ? accept_by_tcp(atoi(argv[1])) : -1;

    if (tcp < 0) {
        fprintf(stderr, "hello_peer: no connection; usage: hello_peer PORT\n");
        return 1;
    }
    check(it_ia_create("uiwarp", 2, 1, &ia), "it_ia_create");
    check(it_pz_create(ia, &pz), "it_pz_create");
    check(it_lmr_create(pz, text, NULL, sizeof(text), IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL,
                        IT_LMR_FLAG_NONE, 0, &segment.lmr, NULL),
          "it_lmr_create");
    check(it_evd_create(ia, IT_DTO_EVENT_STREAM, 0, 2, 0, NULL, &completions, NULL),
          "it_evd_create");
    check(it_evd_create(ia, IT_CM_MSG_EVENT_STREAM, 0, 4, 0, NULL, &connection, NULL),
          "it_evd_create");
    check(
        it_ep_rc_create(pz, completions, completions, connection, IT_EP_NO_FLAG, &attributes, &ep),
        "it_ep_rc_create");

    /* Posts the receive before the message can arrive. */
    check(it_post_recv(ep, &segment, 1, 0, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG), "it_post_recv");
    check(it_socket_convert(tcp, ep, ITX_SC_RESPONDER, NULL, 0), "it_socket_convert");
    check(it_evd_wait(connection, 10 * SECOND, &event, NULL), "it_evd_wait");
    if (event.event_number != IT_CM_MSG_CONN_ESTABLISHED_EVENT) {
        fprintf(stderr, "hello_peer: not converted: %s\n", itx_event_string(event.event_number));
        return 1;
    }
    check(it_evd_wait(completions, 10 * SECOND, &event, NULL), "it_evd_wait");
    if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS) {
        fprintf(stderr, "hello_peer: nothing received: %s\n",
                itx_dto_status_string(event.dto_cmpl.dto_status));
        return 1;
    }
    printf("received: %s\n", text);
    check(it_evd_wait(connection, 10 * SECOND, &event, NULL), "it_evd_wait"); /* the end */
    check(it_ia_free(ia), "it_ia_free"); /* with all that was made in it */
    return 0;
}
