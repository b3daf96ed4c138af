/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls the functions that the other tests which "run" measures leave out. Datagrams, which
 * uiwarp does not have, are refused.
 */
#include "support/it_fixture.h"

#include <netinet/in.h>
#include <string.h>

#define SECOND_US UINT64_C(1000000)

static struct fx_pair pair;

static size_t tell_nothing(void *context, char *text, size_t room)
{
    (void)context, (void)text, (void)room;
    return 0;
}

static void settings(void)
{
    it_srq_handle_t srq = fx_srq(&pair.a, 1, 4);

    CHECK_OK(itx_srq_set_message_timeout(srq, 5 * SECOND_US));
    CHECK_OK(it_srq_free(srq));
    CHECK_OK(itx_ia_set_half_open_share(pair.a.ia, 100));
    CHECK_OK(itx_ia_set_stats_source(pair.a.ia, tell_nothing, NULL));
    CHECK_OK(itx_ia_set_stats_source(pair.a.ia, NULL, NULL));
}

static void provider(void)
{
    struct itx_provider_info info = {.size = sizeof(info)};

    CHECK_OK(itx_provider_query(0, &info));
    CHECK(strcmp(info.name, "uiwarp") == 0);
    CHECK_STATUS(IT_ERR_RANGE, itx_provider_query(1000, &info));
}

static void addresses(void)
{
    it_net_addr_t loopback = fx_address_from("127.0.0.1"), mapped;

    CHECK_OK(it_convert_net_addr(&loopback, IT_IPV6, &mapped));
    CHECK(IN6_IS_ADDR_V4MAPPED(&mapped.addr.ipv6));
}

/* Events of completions are dequeued, waited for and armed. */
static void events(void)
{
    struct fx_buf from = fx_node_buf(&pair.a, 64), to = fx_node_buf(&pair.b, 64);
    it_evd_handle_t evd = pair.a.request_evd;
    it_event_t event[2];
    int count = 0;

    CHECK_OK(itx_evd_set_waitable(evd, IT_FALSE));
    CHECK_STATUS(IT_ERR_INVALID_EVD_STATE, it_evd_wait(evd, 0, event, NULL));
    CHECK_OK(itx_evd_set_waitable(evd, IT_TRUE));
    CHECK_OK(itx_evd_arm(evd, ITX_EVD_ARM_ANY));
    fx_write(pair.a_ep, &from, 0, 8, &to, 0, 7, FX_SIGNAL);
    FX_WAIT_WHILE(it_evd_dequeue_n(evd, 2, event, &count) == IT_SUCCESS && count == 0,
                  "a completion");
    CHECK_EQ(1, count);
    CHECK_EQ(7, event[0].dto_cmpl.cookie);
}

static void datagram_endpoints(void)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_path_t path = fx_path(&pair.a);
    it_addr_handle_t handle;
    it_ep_handle_t ep;

    CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED,
                 it_ep_ud_create(pair.a.pz, pair.a.request_evd, pair.a.recv_evd, &attr, 1, &ep));
    CHECK_STATUS(IT_ERR_INVALID_EP_TYPE, it_post_sendto(pair.a_ep, NULL, 0, 1, FX_SIGNAL, NULL));
    CHECK_STATUS(IT_ERR_INVALID_EP_TYPE, it_post_recvfrom(pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED,
                 it_address_handle_create(pair.a.pz, &path, IT_AH_PATH_COMPLETE, &handle));
    CHECK_STATUS(IT_ERR_INVALID_AH, it_address_handle_query(NULL, IT_ADDR_PARAM_ALL, NULL));
    CHECK_STATUS(IT_ERR_INVALID_AH, it_address_handle_modify(NULL, IT_ADDR_PARAM_PATH, NULL));
    CHECK_STATUS(IT_ERR_INVALID_AH, it_address_handle_free(NULL));
}

static void datagram_services(void)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = htons(9)};
    it_path_t path = fx_path(&pair.a);
    it_remote_ep_info_t info;
    it_ud_svc_req_handle_t handle;

    memset(&info, 0, sizeof(info));
    CHECK_STATUS(IT_ERR_OP_NOT_SUPPORTED, it_ud_service_request_handle_create(
                                              &qual, pair.a.conn_evd, &path, NULL, 0, &handle));
    CHECK_STATUS(IT_ERR_INVALID_UD_SVC, it_ud_service_request(NULL));
    CHECK_STATUS(IT_ERR_INVALID_UD_SVC,
                 it_ud_service_request_handle_query(NULL, IT_UD_PARAM_ALL, NULL));
    CHECK_STATUS(IT_ERR_INVALID_UD_SVC, it_ud_service_request_handle_free(NULL));
    CHECK_STATUS(IT_ERR_INVALID_UD_SVC_REQ_ID,
                 it_ud_service_reply(0, IT_UD_SVC_EP_INFO_VALID, info, NULL, 0));
}

int main(void)
{
    fx_pair_open(&pair);
    settings();
    provider();
    addresses();
    events();
    datagram_endpoints();
    datagram_services();
    fx_pair_close(&pair);
    return 0;
}
