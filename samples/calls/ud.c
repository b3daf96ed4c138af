/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams (devices of InfiniBand and RoCE), as memory.c has the calls for memory. */
#include "calls.h"

#include <stdio.h>

void receiver(it_pz_handle_t pz, it_evd_handle_t completions, it_lmr_triplet_t *piece,
              const it_event_t *request)
{
    it_ep_attributes_t attributes = {.max_dto_payload_size = 1024,
                                     .max_request_dtos = 4,
                                     .max_recv_dtos = 4,
                                     .max_send_segments = 1,
                                     .max_recv_segments = 1};
    it_ep_handle_t ep;
    it_ep_param_t param;

    check(it_ep_ud_create(pz, completions, completions, &attributes, 1, &ep), "it_ep_ud_create");

    /* The first 40 octets of the memory are for the header. */
    check(it_post_recvfrom(ep, piece, 1, 0, IT_COMPLETION_FLAG), "it_post_recvfrom");

    /* Answers IT_CM_REQ_UD_SERVICE_REQUEST_EVENT of a listen point with the endpoint's identity. */
    check(it_ep_query(ep, IT_EP_PARAM_EP_ID | IT_EP_PARAM_EP_KEY, &param), "it_ep_query");
    check(it_ud_service_reply(request->ud_svc_request.ud_svc_req_id, IT_UD_SVC_EP_INFO_VALID,
                              param.attr.srv.ud.ep_info, NULL, 0),
          "it_ud_service_reply");
}

void lookup(it_evd_handle_t replies, const it_path_t *path, const it_conn_qual_t *service)
{
    it_ud_svc_req_handle_t request;
    it_ud_svc_req_param_t param;

    /* Asks for the endpoint behind `service`; the answer is an event of `replies`. */
    check(it_ud_service_request_handle_create(service, replies, path, NULL, 0, &request),
          "it_ud_service_request_handle_create");

    check(it_ud_service_request(request), "it_ud_service_request");

    check(it_ud_service_request_handle_query(request, IT_UD_PARAM_REQ_ID, &param),
          "it_ud_service_request_handle_query");
    printf("request %u\n", param.request_id);

    check(it_ud_service_request_handle_free(request), "it_ud_service_request_handle_free");
}

void sender(it_pz_handle_t pz, it_ep_handle_t ep, it_lmr_triplet_t *piece, const it_event_t *reply)
{
    it_dg_remote_ep_addr_t to = {.type = IT_DG_TYPE_IB_UD};
    it_addr_param_t param;
    it_addr_handle_t address;

    /* `reply` is the answer to a request (IT_CM_MSG_UD_SERVICE_REPLY_EVENT). */
    check(it_address_handle_create(pz, &reply->ud_svc_reply.dst_path, 0, &address),
          "it_address_handle_create");

    to.addr.ud.addr = address;
    to.addr.ud.ep_info = reply->ud_svc_reply.ep_info;
    check(it_post_sendto(ep, piece, 1, 0, IT_COMPLETION_FLAG, &to), "it_post_sendto");

    check(it_address_handle_query(address, IT_ADDR_PARAM_PATH, &param), "it_address_handle_query");

    check(it_address_handle_modify(address, IT_ADDR_PARAM_PATH, &param),
          "it_address_handle_modify");

    check(it_address_handle_free(address), "it_address_handle_free");
}

void convert(const it_net_addr_t *ipv4)
{
    it_net_addr_t ipv6;

    check(it_convert_net_addr(ipv4, IT_IPV6, &ipv6), "it_convert_net_addr");
}
