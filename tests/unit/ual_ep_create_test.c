/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_rc_create, it_ep_query, it_ep_free. */
#include "unit/fixture_world.h"
#include "evd/deliver/evd_deliver.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(ual_ep_create, .init = world_init, .fini = world_fini);

static it_status_t create(it_evd_handle_t request, it_evd_handle_t recv, it_evd_handle_t connect)
{
    it_ep_handle_t ep;

    return it_ep_rc_create(world.pz, request, recv, connect, IT_EP_NO_FLAG, &world.attr, &ep);
}

static it_status_t create_with(const it_ep_attributes_t *attr)
{
    it_ep_handle_t ep;

    return it_ep_rc_create(world.pz, world.dto_evd, world.dto_evd, world.conn_evd, IT_EP_NO_FLAG,
                           attr, &ep);
}

Test(ual_ep_create, checks_evds)
{
    it_evd_handle_t dto = world.dto_evd, conn = world.conn_evd, wrong = world.req_evd;
    struct fake_world other;

    fake_world_open(&other);
    cr_assert_eq(create(NULL, dto, conn), IT_ERR_INVALID_REQ_EVD);
    cr_assert_eq(create(dto, NULL, conn), IT_ERR_INVALID_RECV_EVD);
    cr_assert_eq(create(dto, dto, NULL), IT_ERR_INVALID_CONN_EVD);
    cr_assert_eq(create(wrong, dto, conn), IT_ERR_INVALID_REQ_EVD);
    cr_assert_eq(create(dto, wrong, conn), IT_ERR_INVALID_RECV_EVD);
    cr_assert_eq(create(dto, dto, wrong), IT_ERR_INVALID_CONN_EVD);
    cr_assert_eq(create(dto, dto, dto), IT_ERR_INVALID_CONN_EVD);
    cr_assert_eq(create(world.aevd, dto, conn), IT_ERR_AEVD_NOT_ALLOWED);
    cr_assert_eq(create(dto, world.aevd, conn), IT_ERR_AEVD_NOT_ALLOWED);
    cr_assert_eq(create(dto, dto, world.aevd), IT_ERR_AEVD_NOT_ALLOWED);
    cr_assert_eq(create(other.dto_evd, dto, conn), IT_ERR_INVALID_REQ_EVD);
    cr_assert_eq(create(dto, other.dto_evd, conn), IT_ERR_INVALID_RECV_EVD);
    cr_assert_eq(create(dto, dto, other.conn_evd), IT_ERR_INVALID_CONN_EVD);
    cr_assert_eq(create(dto, dto, conn), IT_SUCCESS);
    fake_world_close(&other);
}

Test(ual_ep_create, checks_other_arguments)
{
    it_evd_handle_t dto = world.dto_evd, conn = world.conn_evd;
    it_ep_handle_t ep = NULL;

    cr_assert_eq(it_ep_rc_create(NULL, dto, dto, conn, IT_EP_NO_FLAG, &world.attr, &ep),
                 IT_ERR_INVALID_PZ);
    cr_assert_eq(it_ep_rc_create(world.pz, dto, dto, conn, IT_EP_NO_FLAG, NULL, &ep), IT_ERR_FAULT);
    cr_assert_eq(it_ep_rc_create(world.pz, dto, dto, conn, IT_EP_NO_FLAG, &world.attr, NULL),
                 IT_ERR_FAULT);
    cr_assert_eq(
        it_ep_rc_create(world.pz, dto, dto, conn, (it_ep_rc_creation_flags_t)4, &world.attr, &ep),
        IT_ERR_INVALID_FLAGS);
    cr_assert_eq(it_ep_rc_create(world.pz, dto, dto, conn, IT_EP_SRQ, &world.attr, &ep),
                 IT_ERR_SRQ_NOT_SUPPORTED);
    fake.attributes.srq = IT_TRUE;
    cr_assert_eq(it_ep_rc_create(world.pz, dto, dto, conn, IT_EP_SRQ, &world.attr, &ep),
                 IT_ERR_INVALID_SRQ);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(create(dto, dto, conn), IT_ERR_RESOURCES);
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_ep_rc_create(world.pz, dto, dto, conn, IT_EP_REUSEADDR, &world.attr, &ep),
                 IT_SUCCESS);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(create(dto, dto, conn), IT_ERR_IA_CATASTROPHE);
}

#define REFUSED(member, value, status)                                                             \
    do {                                                                                           \
        it_ep_attributes_t attr = world.attr;                                                      \
        attr.member = (value);                                                                     \
        cr_assert_eq(create_with(&attr), (status), #member);                                       \
    } while (0)

Test(ual_ep_create, checks_limits)
{
    REFUSED(max_dto_payload_size, (1 << 20) + 1, IT_ERR_PAYLOAD_SIZE);
    REFUSED(max_request_dtos, 65, IT_ERR_RESOURCE_REQ_DTO);
    REFUSED(max_recv_dtos, 66, IT_ERR_RESOURCE_RECV_DTO);
    REFUSED(max_send_segments, 5, IT_ERR_RESOURCE_SSEG);
    REFUSED(max_recv_segments, 6, IT_ERR_RESOURCE_RSEG);
    REFUSED(srv.rc.max_rdma_read_segments, 7, IT_ERR_RESOURCE_RRSEG);
    REFUSED(srv.rc.max_rdma_write_segments, 8, IT_ERR_RESOURCE_RWSEG);
    REFUSED(srv.rc.rdma_read_ird, 9, IT_ERR_RESOURCE_IRD);
    REFUSED(srv.rc.rdma_read_ord, 10, IT_ERR_RESOURCE_ORD);
    REFUSED(srv.rc.atomics_enable, IT_TRUE, IT_ERR_INVALID_EP_ATTR);
    REFUSED(priv_ops_enable, IT_TRUE, IT_ERR_PRIV_OPS_UNAVAILABLE);
    REFUSED(max_dto_payload_size, 1 << 20, IT_SUCCESS);
    REFUSED(max_request_dtos, 64, IT_SUCCESS);
    REFUSED(max_recv_dtos, 65, IT_SUCCESS);
    REFUSED(max_send_segments, 4, IT_SUCCESS);
    REFUSED(max_recv_segments, 5, IT_SUCCESS);
    REFUSED(srv.rc.max_rdma_read_segments, 6, IT_SUCCESS);
    REFUSED(srv.rc.max_rdma_write_segments, 7, IT_SUCCESS);
    REFUSED(srv.rc.rdma_read_ird, 8, IT_SUCCESS);
    REFUSED(srv.rc.rdma_read_ord, 9, IT_SUCCESS);
    REFUSED(srv.rc.soft_hi_watermark, 99, IT_SUCCESS); /* ignored without an S-RQ */
    REFUSED(srv.rc.srq, (it_srq_handle_t)(void *)&world, IT_SUCCESS);
}

static void overflow(it_evd_handle_t handle)
{
    struct evd *evd = evd_from_handle(handle);
    struct evd_dto dto = {.event_number = IT_DTO_SEND_CMPL_EVENT, .ep = world.ep};

    while (evd_push_dto(evd, &dto) != EVD_LOST)
        continue;
    evd_wake(evd);
    cr_assert(evd_is_overflowed(evd));
}

Test(ual_ep_create, refuses_overflowed_evds)
{
    it_evd_handle_t fresh;

    cr_assert_eq(
        it_evd_create(world.ia, IT_DTO_EVENT_STREAM, (it_evd_flags_t)0, 4, 0, NULL, &fresh, NULL),
        IT_SUCCESS);
    overflow(world.dto_evd);
    cr_assert_eq(create(world.dto_evd, fresh, world.conn_evd), IT_ERR_INVALID_REQ_EVD_STATE);
    cr_assert_eq(create(fresh, world.dto_evd, world.conn_evd), IT_ERR_INVALID_RECV_EVD_STATE);
    cr_assert_eq(create(fresh, fresh, world.conn_evd), IT_SUCCESS);
}

Test(ual_ep_create, failures_hold_nothing)
{
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(create(world.dto_evd, world.dto_evd, world.conn_evd), IT_ERR_RESOURCES);
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_evd_free(world.dto_evd), IT_ERR_EVD_BUSY);
    cr_assert_eq(it_ep_free(world.ep), IT_SUCCESS);
    cr_assert_eq(it_lmr_free(world.lmr), IT_SUCCESS);
    cr_assert_eq(it_evd_free(world.dto_evd), IT_SUCCESS);
    cr_assert_eq(it_evd_free(world.conn_evd), IT_SUCCESS);
    cr_assert_eq(it_pz_free(world.pz), IT_SUCCESS);
}

Test(ual_ep_create, free_in_every_state)
{
    for (int state = 0; state <= IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ; state++) {
        it_ep_handle_t ep;

        cr_assert_eq(it_ep_rc_create(world.pz, world.dto_evd, world.dto_evd, world.conn_evd,
                                     IT_EP_NO_FLAG, &world.attr, &ep),
                     IT_SUCCESS);
        fake_ep_force(ep, (it_ep_state_rc_t)state);
        cr_assert_eq(it_ep_free(ep), IT_SUCCESS);
        cr_assert_eq(it_ep_free(ep), IT_ERR_INVALID_EP, "a stale handle");
    }
    cr_assert_eq(it_ep_free(NULL), IT_ERR_INVALID_EP);
    cr_assert(base_object_hold((struct base_object *)(void *)world.ep));
    cr_assert_eq(it_ep_free(world.ep), IT_ERR_EP_BUSY);
    base_object_release((struct base_object *)(void *)world.ep);
}

Test(ual_ep_create, events_outlive_the_endpoint)
{
    struct evd_dto dto = {.event_number = IT_DTO_SEND_CMPL_EVENT, .ep = world.ep, .cookie = 3};
    struct ual_conn_news news = {.number = IT_CM_MSG_CONN_BROKEN_EVENT};
    it_event_t event;

    /* Points to a slot counter of the EP, which is set when the event is dequeued. */
    dto.retire = (_Atomic uint32_t *)(void *)((struct ual_ep *)(void *)world.ep)->area;
    dto.retire_value = 7;
    cr_assert_neq(evd_push_dto(evd_from_handle(world.dto_evd), &dto), EVD_LOST);
    ual_ep_report((struct ual_ep *)(void *)world.ep, &news);
    cr_assert_eq(it_ep_free(world.ep), IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(world.dto_evd, &event), IT_SUCCESS);
    cr_assert_eq(event.dto_cmpl.ep, world.ep);
    cr_assert_eq(event.dto_cmpl.cookie, 3);
    cr_assert_eq(atomic_load(dto.retire), 0);
    cr_assert_eq(it_evd_dequeue(world.conn_evd, &event), IT_SUCCESS);
    cr_assert_eq(event.conn.ep, world.ep);
}

Test(ual_ep_create, query_tells_what_is_in_force)
{
    it_ep_param_t params;

    memset(&params, 0xa5, sizeof(params));
    ((struct ual_ep *)(void *)world.ep)->dst_path.spigot_id = FAKE_SPIGOT;
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.ia, world.ia);
    cr_assert_eq(params.spigot_id, FAKE_SPIGOT);
    cr_assert_eq(params.ep_state.rc, IT_EP_STATE_UNCONNECTED);
    cr_assert_eq(params.service_type, IT_RC_SERVICE);
    cr_assert_eq(params.dst_path.spigot_id, FAKE_SPIGOT);
    cr_assert_eq(params.pz, world.pz);
    cr_assert_eq(params.request_sevd, world.dto_evd);
    cr_assert_eq(params.recv_sevd, world.dto_evd);
    cr_assert_eq(params.connect_sevd, world.conn_evd);
    cr_assert_eq(params.attr.max_dto_payload_size, 1000);
    cr_assert_eq(params.attr.max_request_dtos, 11, "rounded up by the provider");
    cr_assert_eq(params.attr.max_recv_dtos, 11);
    cr_assert_eq(params.attr.max_send_segments, 1);
    cr_assert_eq(params.attr.max_recv_segments, 2);
    cr_assert_eq(params.attr.priv_ops_enable, IT_FALSE);
    cr_assert_eq(params.attr.srv.rc.rdma_read_enable, IT_TRUE);
    cr_assert_eq(params.attr.srv.rc.rdma_write_enable, IT_FALSE);
    cr_assert_eq(params.attr.srv.rc.max_rdma_read_segments, 3);
    cr_assert_eq(params.attr.srv.rc.max_rdma_write_segments, 4);
    cr_assert_eq(params.attr.srv.rc.rdma_read_ird, 5);
    cr_assert_eq(params.attr.srv.rc.rdma_read_ord, 6);
    cr_assert_null(params.attr.srv.rc.srq);
    cr_assert_eq(params.attr.srv.rc.hard_hi_watermark, IT_HARD_HI_WATERMARK_DISABLE);
}

Test(ual_ep_create, query_writes_only_what_is_asked_for)
{
    it_ep_param_t untouched, params;

    memset(&untouched, 0xa5, sizeof(untouched));
    params = untouched;
    cr_assert_eq(it_ep_query(NULL, IT_EP_PARAM_ALL, &params), IT_ERR_INVALID_EP);
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_ALL, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_ep_query(world.ep, (it_ep_param_mask_t)0x10000000, &params),
                 IT_ERR_INVALID_MASK);
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_EP_ID, &params), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_EP_KEY, &params), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_ep_query(world.ep, (it_ep_param_mask_t)0, &params), IT_SUCCESS);
    cr_assert_eq(memcmp(&params, &untouched, sizeof(params)), 0);
    for (unsigned bit = IT_EP_PARAM_IA; bit <= IT_EP_PARAM_PRIV_OPS_ENABLE; bit <<= 1) {
        if (bit == IT_EP_PARAM_EP_ID || bit == IT_EP_PARAM_EP_KEY)
            continue;
        params = untouched;
        cr_assert_eq(it_ep_query(world.ep, (it_ep_param_mask_t)bit, &params), IT_SUCCESS);
        cr_assert_neq(memcmp(&params, &untouched, sizeof(params)), 0, "bit %x", bit);
    }
}
