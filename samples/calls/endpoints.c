/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls for endpoints, connections and adapters, as memory.c has those for memory. */
#include "calls.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

void endpoint(it_ep_handle_t ep)
{
    it_ep_param_t now;
    it_ep_attributes_t wanted = {.max_recv_dtos = 64};
    it_handle_type_enum_t type;
    it_context_t context = {.index = 7};

    check(it_ep_query(ep, IT_EP_PARAM_STATE, &now), "it_ep_query");
    printf("state: %s\n", itx_ep_state_string(now.ep_state.rc));

    check(it_ep_modify(ep, IT_EP_PARAM_MAX_RECV_DTO, &wanted), "it_ep_modify");

    /* Behind the end of a connection: the endpoint may connect again. */
    check(it_ep_reset(ep), "it_ep_reset");

    check(it_get_handle_type((it_handle_t)ep, &type), "it_get_handle_type");
    printf("an endpoint: %s\n", type == IT_HANDLE_TYPE_EP ? "yes" : "no");

    /* A number or pointer of the program's own for each object. */
    check(it_set_consumer_context((it_handle_t)ep, context), "it_set_consumer_context");
    check(it_get_consumer_context((it_handle_t)ep, &context), "it_get_consumer_context");
}

void endpoint_extensions(it_ep_handle_t ep)
{
    struct itx_mpa_params params = {.size = sizeof(params)};
    struct itx_mpa_info info = {.size = sizeof(info)};
    struct itx_ep_addresses addresses = {.size = sizeof(addresses)};
    struct itx_ep_counters counters = {.size = sizeof(counters)};
    int off = 0;
    socklen_t length = sizeof(off);
    static char memory[65536];
    struct itx_aim aim = {
        .size = sizeof(aim), .octets = memory, .length = sizeof(memory), .skip = 16, .least = 8192};
    it_length_t used;

    /* Before the connection: no CRC, if the peer agrees. */
    check(itx_ep_get_mpa_params(ep, &params), "itx_ep_get_mpa_params");
    params.crc = IT_FALSE;
    check(itx_ep_set_mpa_params(ep, &params), "itx_ep_set_mpa_params");

    check(itx_ep_query_mpa(ep, &info), "itx_ep_query_mpa");
    printf("MPA revision %u, CRC %s\n", info.revision, info.crc ? "on" : "off");

    check(itx_ep_query_addresses(ep, &addresses), "itx_ep_query_addresses");
    printf("the peer is %s\n", addresses.remote.ss_family == AF_INET6 ? "IPv6" : "IPv4");

    check(itx_ep_stats(ep, &counters), "itx_ep_stats");
    printf("%llu octets sent\n", (unsigned long long)counters.bytes_sent);

    check(itx_ep_set_stream_option(ep, SOL_SOCKET, SO_KEEPALIVE, &off, length),
          "itx_ep_set_stream_option");

    check(itx_ep_get_stream_option(ep, SOL_SOCKET, SO_KEEPALIVE, &off, &length),
          "itx_ep_get_stream_option");

    /* Ends the connection; what is posted completes as flushed before the call returns. */
    check(itx_ep_flush(ep), "itx_ep_flush");

    /* This side's Sends are tried 3 times; a try of the peer's takes a second. */
    check(itx_ep_limit_hold(ep, 3, 1000000), "itx_ep_limit_hold");

    /* ITX_ASYNC_AFF_EP_LAST_RECV tells that it takes no more receives of its S-RQ. */
    check(itx_ep_tell_last_recv(ep, IT_TRUE), "itx_ep_tell_last_recv");

    /* Sends of 8,192 octets or more arrive in `memory`, but for their first 16 octets. */
    check(itx_ep_aim(ep, &aim, NULL), "itx_ep_aim");

    /* From now on they arrive in their receives again; `used` octets are in `memory`. */
    check(itx_ep_aim(ep, NULL, &used), "itx_ep_aim");

    /* Behind fork and itx_ia_thaw: this process goes on with the connection. */
    check(itx_ep_claim(ep), "itx_ep_claim");

    /* The endpoint is as new; what is posted is dropped, without completions. */
    check(itx_ep_clear(ep), "itx_ep_clear");
}

void listening(it_ia_handle_t ia, it_evd_handle_t requests, const it_event_t *request)
{
    struct itx_ep_addresses addresses = {.size = sizeof(addresses)};
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    it_conn_qual_t port = {.type = IT_IANA_PORT, .conn_qual.port = 0};
    it_listen_handle_t listener;
    it_listen_param_t param;
    int tcp = socket(AF_INET, SOCK_STREAM, 0);

    /* At one address; `port` gets the port that the system has chosen. */
    check(itx_listen_create_at(ia, requests, IT_LISTEN_NO_FLAG, (struct sockaddr *)&own, &port,
                               &listener),
          "itx_listen_create_at");

    check(it_listen_query(listener, IT_LISTEN_PARAM_CONN_QUAL, &param), "it_listen_query");
    printf("port %u\n", ntohs(param.connect_qual.conn_qual.port));

    /* Which of this machine's addresses the peer has called. */
    check(itx_request_query_addresses(request->conn_req.cn_est_id, &addresses),
          "itx_request_query_addresses");

    /* Another listen point of the adapter, on `port`, gets the request. */
    check(it_handoff(&port, request->conn_req.spigot_id, request->conn_req.cn_est_id),
          "it_handoff");

    /* A connection that the program has accepted, and of which it has read nothing. */
    check(itx_socket_request(tcp, listener), "itx_socket_request");
    close(tcp);
}

void conversion(int tcp, it_ep_handle_t ep, const unsigned char *early, size_t early_length)
{
    /* The program has read too far: those octets belong to RDMA. */
    struct itx_convert_params params = {
        .size = sizeof(params), .early_data = early, .early_len = early_length};
    check(itx_socket_convert(tcp, ep, IT_SC_DEFAULT, &params), "itx_socket_convert");
}

void rejected(const it_event_t *event)
{
    if (event->event_number == IT_CM_MSG_CONN_NONPEER_REJECT_EVENT)
        printf("not connected: %s\n", itx_reject_string(event->conn.reject_reason_code));
}

/* Writes a line into the snapshots of it_trace. */
static size_t own_line(void *context, char *text, size_t room)
{
    return (size_t)snprintf(text, room, "clients %u\n", *(const unsigned *)context);
}

void adapter(it_ia_handle_t ia, unsigned *clients)
{
    struct itx_features features = {.size = sizeof(features)};
    struct itx_counters counters = {.size = sizeof(counters)};
    struct pollfd watched = {.events = POLLIN};

    check(itx_ia_query_features(ia, &features), "itx_ia_query_features");
    printf("immediate data: %u bits\n", features.immediate_bits);

    check(itx_ia_stats(ia, &counters), "itx_ia_stats");
    printf("%llu streams were refused\n", (unsigned long long)counters.half_open_refused);

    check(itx_ia_set_spin(ia, 20), "itx_ia_set_spin"); /* microseconds, before a wait sleeps */

    check(itx_ia_set_niceness(ia, -10), "itx_ia_set_niceness"); /* its thread is favoured */

    /* Of one source, 16 streams may wait without having sent their MPA Request. */
    check(itx_ia_set_half_open_share(ia, 16), "itx_ia_set_half_open_share");

    check(itx_ia_set_stats_source(ia, own_line, clients), "itx_ia_set_stats_source");

    /* While it sleeps, this thread works for the adapter. */
    check(itx_ia_lead_begin(ia, &watched.fd), "itx_ia_lead_begin");
    (void)poll(&watched, 1, -1);
    check(itx_ia_lead_end(ia, watched.revents != 0), "itx_ia_lead_end");

    /* Over a fork, the adapter stands still; one of the processes goes on with it. */
    check(itx_ia_freeze(ia), "itx_ia_freeze");
    if (fork() == 0)
        _exit(0);
    check(itx_ia_thaw(ia), "itx_ia_thaw");
}

void lists(void)
{
    it_interface_t found[16];
    size_t count = sizeof(found) / sizeof(found[0]), all;
    struct itx_provider_info provider = {.size = sizeof(provider)};

    it_interface_list(found, &count, &all);
    for (size_t i = 0; i < count; i++)
        puts(found[i].name);

    for (size_t i = 0; itx_provider_query(i, &provider) == IT_SUCCESS; i++)
        printf("provider %s: %s\n", provider.name, provider.detail);

    printf("itapi %s\n", itx_version());
}
