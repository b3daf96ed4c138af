/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receive queues and the endpoints that draw from them, down to the provider. */
#include "unit/fixture_world.h"
#include "evd/deliver/evd_deliver.h"

#include <criterion/criterion.h>
#include <string.h>

#define NO_FLAGS ((it_dto_flags_t)0)

static it_srq_handle_t srq; /* 3 segments and 10 receives; the provider adds one */

static void setup(void)
{
    fake_setup();
    fake.attributes.srq = IT_TRUE;
    fake.attributes.srq_resizable = IT_TRUE;
    fake.attributes.soft_hi_watermark = IT_TRUE;
    fake.attributes.hard_hi_watermark = IT_TRUE;
    fake_world_open(&world);
    cr_assert_eq(it_srq_create(world.pz, 3, 10, &srq), IT_SUCCESS);
}

TestSuite(ual_srq, .init = setup, .fini = world_fini);

static void fail_ia(void)
{
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
}

/* ---------------------------------------------------------------- the queue */

Test(ual_srq, create_checks_its_arguments)
{
    it_srq_handle_t none = NULL;
    unsigned made = fake.calls.srq_create;

    cr_assert_eq(it_srq_create(NULL, 1, 1, &none), IT_ERR_INVALID_PZ);
    cr_assert_eq(it_srq_create((it_pz_handle_t)(void *)srq, 1, 1, &none), IT_ERR_INVALID_PZ);
    cr_assert_eq(it_srq_create(world.pz, 1, 1, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_srq_create(world.pz, 1, 0, &none), IT_ERR_INVALID_SRQ_SIZE);
    cr_assert_eq(it_srq_create(world.pz, 1, 101, &none), IT_ERR_RESOURCE_RECV_DTO);
    cr_assert_eq(it_srq_create(world.pz, 1, SIZE_MAX, &none), IT_ERR_RESOURCE_RECV_DTO);
    cr_assert_eq(it_srq_create(world.pz, 6, 1, &none), IT_ERR_RESOURCE_RSEG);
    fake.attributes.srq = IT_FALSE;
    cr_assert_eq(it_srq_create(world.pz, 1, 1, &none), IT_ERR_SRQ_NOT_SUPPORTED);
    fake.attributes.srq = IT_TRUE;
    cr_assert_eq(fake.calls.srq_create, made);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_srq_create(world.pz, 1, 1, &none), IT_ERR_RESOURCES);
    fake.answer = IT_SUCCESS;
    fail_ia();
    cr_assert_eq(it_srq_create(world.pz, 1, 1, &none), IT_ERR_IA_CATASTROPHE);
    cr_assert_null(none);
}

Test(ual_srq, create_takes_the_limits)
{
    it_srq_handle_t most;

    cr_assert_eq(it_srq_create(world.pz, 5, 100, &most), IT_SUCCESS);
    cr_assert_eq(it_srq_free(most), IT_SUCCESS);
    cr_assert_eq(it_srq_create(world.pz, 0, 1, &most), IT_SUCCESS);
}

Test(ual_srq, query_writes_only_what_is_asked_for)
{
    it_srq_param_t untouched, params;

    memset(&untouched, 0xa5, sizeof(untouched));
    params = untouched;
    cr_assert_eq(it_srq_query(NULL, IT_SRQ_PARAM_ALL, &params), IT_ERR_INVALID_SRQ);
    cr_assert_eq(it_srq_query((it_srq_handle_t)(void *)world.ep, IT_SRQ_PARAM_ALL, &params),
                 IT_ERR_INVALID_SRQ);
    cr_assert_eq(it_srq_query(srq, IT_SRQ_PARAM_ALL, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_srq_query(srq, (it_srq_param_mask_t)0x40, &params), IT_ERR_INVALID_MASK);
    cr_assert_eq(it_srq_query(srq, (it_srq_param_mask_t)0, &params), IT_SUCCESS);
    cr_assert_eq(memcmp(&params, &untouched, sizeof(params)), 0);
    for (unsigned bit = IT_SRQ_PARAM_IA; bit <= IT_SRQ_PARAM_LOW_WATERMARK; bit <<= 1) {
        unsigned changed = 0;

        params = untouched;
        cr_assert_eq(it_srq_query(srq, (it_srq_param_mask_t)bit, &params), IT_SUCCESS);
        changed += params.ia != untouched.ia;
        changed += params.pz != untouched.pz;
        changed += params.max_recv_dtos != untouched.max_recv_dtos;
        changed += params.max_recv_segs != untouched.max_recv_segs;
        changed += params.low_watermark != untouched.low_watermark;
        cr_assert_eq(changed, 1, "bit %x", bit);
    }
    cr_assert_eq(it_srq_query(srq, IT_SRQ_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.ia, world.ia);
    cr_assert_eq(params.pz, world.pz);
    cr_assert_eq(params.max_recv_dtos, 11, "rounded up by the provider");
    cr_assert_eq(params.max_recv_segs, 3);
    cr_assert_eq(params.low_watermark, 0);
}

static it_status_t modify(unsigned mask, size_t depth, size_t low)
{
    it_srq_param_t params = {.max_recv_dtos = depth, .low_watermark = low};

    return it_srq_modify(srq, (it_srq_param_mask_t)mask, &params);
}

Test(ual_srq, modify_checks_its_arguments)
{
    it_srq_param_t params = {.max_recv_dtos = 5};
    unsigned depth = IT_SRQ_PARAM_MAX_RECV_DTO;
    unsigned low = IT_SRQ_PARAM_LOW_WATERMARK;

    cr_assert_eq(it_srq_modify(NULL, IT_SRQ_PARAM_MAX_RECV_DTO, &params), IT_ERR_INVALID_SRQ);
    cr_assert_eq(it_srq_modify(srq, IT_SRQ_PARAM_MAX_RECV_DTO, NULL), IT_ERR_FAULT);
    cr_assert_eq(modify(IT_SRQ_PARAM_ALL, 5, 0), IT_ERR_INVALID_MASK);
    cr_assert_eq(modify(IT_SRQ_PARAM_IA, 5, 0), IT_ERR_INVALID_MASK);
    cr_assert_eq(modify(IT_SRQ_PARAM_PZ, 5, 0), IT_ERR_INVALID_MASK);
    cr_assert_eq(modify(IT_SRQ_PARAM_MAX_RECV_SEG | low, 5, 0), IT_ERR_INVALID_MASK);
    cr_assert_eq(modify(0x40, 5, 0), IT_ERR_INVALID_MASK);
    cr_assert_eq(modify(0, 0, 0), IT_SUCCESS);
    cr_assert_eq(modify(depth, 0, 0), IT_ERR_INVALID_SRQ_SIZE);
    cr_assert_eq(modify(depth, 101, 0), IT_ERR_RESOURCE_RECV_DTO);
    fake.attributes.srq_resizable = IT_FALSE;
    cr_assert_eq(modify(depth | low, 20, 1), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(fake.calls.srq_modify, 0);
    cr_assert_eq(modify(low, 20, 1), IT_SUCCESS);
    cr_assert_eq(fake.calls.srq_modify, 1);
    fake.answer = IT_ERR_SRQ_LOW_WATERMARK; /* only the provider knows */
    cr_assert_eq(modify(low, 20, 1), IT_ERR_SRQ_LOW_WATERMARK);
    fake.answer = IT_SUCCESS;
    fail_ia();
    cr_assert_eq(modify(low, 20, 1), IT_ERR_IA_CATASTROPHE);
}

Test(ual_srq, modify_shows_in_a_query)
{
    it_srq_param_t params;

    cr_assert_eq(modify(IT_SRQ_PARAM_MAX_RECV_DTO, 20, 7), IT_SUCCESS);
    cr_assert_eq(it_srq_query(srq, IT_SRQ_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.max_recv_dtos, 20);
    cr_assert_eq(params.low_watermark, 0, "not asked for");
    cr_assert_eq(modify(IT_SRQ_PARAM_LOW_WATERMARK, 30, 7), IT_SUCCESS);
    cr_assert_eq(it_srq_query(srq, IT_SRQ_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.max_recv_dtos, 20);
    cr_assert_eq(params.low_watermark, 7);
}

/* ---------------------------------------------------------------- receives */

static it_lmr_triplet_t segment(void)
{
    return (it_lmr_triplet_t){.lmr = world.lmr, .addr.abs = world.memory, .length = 1};
}

Test(ual_srq, receives_are_checked_as_those_of_an_endpoint)
{
    it_lmr_triplet_t segments[4] = {segment(), segment(), segment(), segment()};
    struct fake_world other;

    fake_world_open(&other);
    cr_assert_eq(it_post_recv(srq, NULL, 1, 0, NO_FLAGS), IT_ERR_FAULT);
    cr_assert_eq(it_post_recv(srq, segments, 4, 0, NO_FLAGS), IT_ERR_INVALID_NUM_SEGMENTS);
    cr_assert_eq(it_post_recv(srq, segments, 1, 0, IT_BARRIER_FENCE_FLAG),
                 IT_ERR_INVALID_DTO_FLAGS);
    cr_assert_eq(it_post_recv(srq, segments, 1, 0, IT_SOLICITED_WAIT_FLAG),
                 IT_ERR_INVALID_DTO_FLAGS);
    segments[2].lmr = other.lmr;
    cr_assert_eq(it_post_recv(srq, segments, 3, 0, NO_FLAGS), IT_ERR_INVALID_LMR);
    segments[2] = segment();
    cr_assert_eq(fake.calls.post_srq_recv, 0);
    cr_assert_eq(
        it_post_recv(srq, segments, 3, 77,
                     (it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG | IT_COALESCE_WR_FLAG)),
        IT_SUCCESS);
    cr_assert_eq(fake.request.cookie, 77);
    cr_assert_eq(fake.request.segment_count, 3);
    cr_assert_eq(it_post_recv(srq, NULL, 0, 77, NO_FLAGS), IT_SUCCESS, "empty");
    cr_assert_eq(fake.calls.post_srq_recv, 2);
    cr_assert_eq(fake.calls.post_recv, 0);
    fail_ia();
    cr_assert_eq(it_post_recv(srq, NULL, 0, 77, NO_FLAGS), IT_ERR_IA_CATASTROPHE);
    fake_world_close(&other);
}

/* ---------------------------------------------------------------- endpoints */

static it_status_t create_ep(const it_ep_attributes_t *attr, it_ep_handle_t *ep)
{
    return it_ep_rc_create(world.pz, world.dto_evd, world.dto_evd, world.conn_evd, IT_EP_SRQ, attr,
                           ep);
}

static it_ep_attributes_t attributes(void)
{
    it_ep_attributes_t attr = world.attr;

    attr.srv.rc.srq = srq;
    attr.srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    return attr;
}

Test(ual_srq, endpoint_needs_a_queue_of_its_zone)
{
    it_ep_attributes_t attr = attributes();
    struct fake_world other;
    it_pz_handle_t pz;
    it_ep_handle_t ep = NULL;

    fake_world_open(&other);
    cr_assert_eq(it_pz_create(world.ia, &pz), IT_SUCCESS);
    attr.srv.rc.srq = NULL;
    cr_assert_eq(create_ep(&attr, &ep), IT_ERR_INVALID_SRQ);
    attr.srv.rc.srq = (it_srq_handle_t)(void *)world.ep;
    cr_assert_eq(create_ep(&attr, &ep), IT_ERR_INVALID_SRQ);
    cr_assert_eq(it_srq_create(pz, 1, 1, &attr.srv.rc.srq), IT_SUCCESS);
    cr_assert_eq(create_ep(&attr, &ep), IT_ERR_INVALID_SRQ);
    cr_assert_eq(it_srq_free(attr.srv.rc.srq), IT_SUCCESS);
    cr_assert_eq(create_ep(&attr, &ep), IT_ERR_INVALID_SRQ, "a stale handle");
    cr_assert_eq(it_srq_create(other.pz, 1, 1, &attr.srv.rc.srq), IT_SUCCESS);
    cr_assert_eq(create_ep(&attr, &ep), IT_ERR_INVALID_SRQ);
    cr_assert_null(ep);
    fake_world_close(&other);
}

Test(ual_srq, endpoint_has_no_receives_of_its_own)
{
    it_ep_attributes_t attr = attributes();
    it_ep_param_t params;
    it_ep_handle_t ep;

    attr.max_recv_dtos = SIZE_MAX; /* ignored */
    attr.max_recv_segments = SIZE_MAX;
    attr.srv.rc.soft_hi_watermark = 11;
    attr.srv.rc.hard_hi_watermark = 0;
    cr_assert_eq(create_ep(&attr, &ep), IT_SUCCESS);
    cr_assert_eq(it_ep_query(ep, IT_EP_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.attr.srv.rc.srq, srq);
    cr_assert_eq(params.attr.srv.rc.soft_hi_watermark, 11);
    cr_assert_eq(params.attr.srv.rc.hard_hi_watermark, 0);
    cr_assert_eq(params.attr.max_recv_dtos, 0);
    cr_assert_eq(params.attr.max_recv_segments, 0);
    for (int state = 0; state <= IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ; state++) {
        fake_ep_force(ep, (it_ep_state_rc_t)state);
        cr_assert_eq(it_post_recv(ep, NULL, 0, 1, NO_FLAGS), IT_ERR_INVALID_RECV_DTO);
    }
    cr_assert_eq(fake.calls.post_recv, 0);
}

#define REFUSED(member, value, wanted)                                                             \
    do {                                                                                           \
        it_ep_attributes_t attr = attributes();                                                    \
        attr.srv.rc.member = (value);                                                              \
        cr_assert_eq(create_ep(&attr, &ep), (wanted), #member);                                    \
        cr_assert_eq(it_ep_modify(user, IT_EP_PARAM_SOFT_HI_WATERMARK, &attr),                     \
                     strcmp(#member, "soft_hi_watermark") == 0 ? (wanted) : IT_SUCCESS);           \
        cr_assert_eq(it_ep_modify(user, IT_EP_PARAM_HARD_HI_WATERMARK, &attr),                     \
                     strcmp(#member, "hard_hi_watermark") == 0 ? (wanted) : IT_SUCCESS);           \
    } while (0)

Test(ual_srq, watermarks_of_endpoints)
{
    it_ep_attributes_t plain = attributes();
    it_ep_handle_t user, ep;

    cr_assert_eq(create_ep(&plain, &user), IT_SUCCESS);
    REFUSED(soft_hi_watermark, 11, IT_SUCCESS);
    REFUSED(soft_hi_watermark, 12, IT_ERR_INVALID_WATERMARK);
    REFUSED(hard_hi_watermark, 11, IT_SUCCESS);
    REFUSED(hard_hi_watermark, 12, IT_ERR_INVALID_WATERMARK);
    fake.attributes.soft_hi_watermark = IT_FALSE;
    REFUSED(soft_hi_watermark, 0, IT_SUCCESS);
    REFUSED(soft_hi_watermark, 1, IT_ERR_SOFT_HI_WATERMARK);
    fake.attributes.hard_hi_watermark = IT_FALSE;
    REFUSED(hard_hi_watermark, IT_HARD_HI_WATERMARK_DISABLE, IT_SUCCESS);
    REFUSED(hard_hi_watermark, 1, IT_ERR_HARD_HI_WATERMARK);
}

Test(ual_srq, attributes_of_receives_an_endpoint_does_not_have)
{
    it_ep_attributes_t attr = attributes();
    it_ep_param_t params;
    it_ep_handle_t user;

    cr_assert_eq(create_ep(&attr, &user), IT_SUCCESS);
    cr_assert_eq(it_ep_modify(user, IT_EP_PARAM_MAX_RECV_DTO, &attr), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(it_ep_modify(user, IT_EP_PARAM_MAX_RECV_SEG, &attr), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(it_ep_modify(user, IT_EP_PARAM_SRQ, &attr), IT_ERR_INVALID_MASK);
    attr.srv.rc.soft_hi_watermark = 3;
    attr.srv.rc.hard_hi_watermark = 4;
    cr_assert_eq(it_ep_modify(user,
                              (it_ep_param_mask_t)(IT_EP_PARAM_SOFT_HI_WATERMARK |
                                                   IT_EP_PARAM_HARD_HI_WATERMARK),
                              &attr),
                 IT_SUCCESS);
    cr_assert_eq(it_ep_query(user, IT_EP_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.attr.srv.rc.soft_hi_watermark, 3);
    cr_assert_eq(params.attr.srv.rc.hard_hi_watermark, 4);
}

/* They are ignored whatever their values are and whatever the IA supports. */
Test(ual_srq, watermarks_of_an_endpoint_without_are_ignored)
{
    unsigned both =
        (unsigned)IT_EP_PARAM_SOFT_HI_WATERMARK | (unsigned)IT_EP_PARAM_HARD_HI_WATERMARK;
    it_ep_attributes_t attr = attributes();
    it_ep_param_t params;

    attr.srv.rc.soft_hi_watermark = SIZE_MAX - 1;
    attr.srv.rc.hard_hi_watermark = SIZE_MAX - 1;
    attr.srv.rc.rdma_read_ord = 1;
    fake.calls.ep_modify = 0;
    for (int marks = 0; marks < 2; marks++) {
        fake.attributes.soft_hi_watermark = marks ? IT_TRUE : IT_FALSE;
        fake.attributes.hard_hi_watermark = marks ? IT_TRUE : IT_FALSE;
        cr_assert_eq(it_ep_modify(world.ep, (it_ep_param_mask_t)both, &attr), IT_SUCCESS);
    }
    cr_assert_eq(fake.calls.ep_modify, 0, "nothing to change");
    cr_assert_eq(
        it_ep_modify(world.ep, (it_ep_param_mask_t)(both | (unsigned)IT_EP_PARAM_MAX_ORD), &attr),
        IT_SUCCESS);
    cr_assert_eq(fake.changed, IT_EP_PARAM_MAX_ORD);
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.attr.srv.rc.rdma_read_ord, 1);
    cr_assert_eq(params.attr.srv.rc.soft_hi_watermark, 0);
    cr_assert_eq(params.attr.srv.rc.hard_hi_watermark, IT_HARD_HI_WATERMARK_DISABLE);
}

/* ---------------------------------------------------------------- the end */

Test(ual_srq, free_is_refused_while_endpoints_use_it)
{
    it_ep_attributes_t attr = attributes();
    it_ep_handle_t eps[2];

    cr_assert_eq(create_ep(&attr, &eps[0]), IT_SUCCESS);
    cr_assert_eq(create_ep(&attr, &eps[1]), IT_SUCCESS);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(create_ep(&attr, &eps[1]), IT_ERR_RESOURCES, "holds nothing");
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_srq_free(srq), IT_ERR_SRQ_BUSY);
    cr_assert_eq(it_ep_free(eps[0]), IT_SUCCESS);
    cr_assert_eq(it_srq_free(srq), IT_ERR_SRQ_BUSY);
    cr_assert_eq(it_ep_free(eps[1]), IT_SUCCESS);
    cr_assert_eq(fake.calls.srq_destroy, 0);
    cr_assert_eq(it_srq_free(srq), IT_SUCCESS);
    cr_assert_eq(fake.calls.srq_destroy, 1);
    cr_assert_eq(it_srq_free(srq), IT_ERR_INVALID_SRQ, "a stale handle");
    cr_assert_eq(it_post_recv(srq, NULL, 0, 0, NO_FLAGS), IT_ERR_INVALID_HANDLE);
}

Test(ual_srq, a_zone_with_a_queue_is_busy)
{
    cr_assert_eq(it_ep_free(world.ep), IT_SUCCESS);
    cr_assert_eq(it_lmr_free(world.lmr), IT_SUCCESS);
    cr_assert_eq(it_pz_free(world.pz), IT_ERR_PZ_BUSY);
    cr_assert_eq(it_srq_free(srq), IT_SUCCESS);
    cr_assert_eq(it_pz_free(world.pz), IT_SUCCESS);
}

Test(ual_srq, is_closed_with_its_ia_after_the_endpoints)
{
    it_ep_attributes_t attr = attributes();
    it_handle_type_enum_t type;
    struct fake_world other;
    it_ep_handle_t ep;

    cr_assert_eq(it_get_handle_type(srq, &type), IT_SUCCESS);
    cr_assert_eq(type, IT_HANDLE_TYPE_SRQ);
    fake_world_open(&other);
    cr_assert_eq(create_ep(&attr, &ep), IT_SUCCESS);
    fake_world_close(&world);
    cr_assert_str_eq(fake.closing, "eesmpi");
    world = other; /* for the teardown */
}

Test(ual_srq, is_announced)
{
    it_ia_info_t *info;

    fake.attributes.hard_hi_watermark = IT_FALSE;
    cr_assert_eq(it_ia_query(world.ia, &info), IT_SUCCESS);
    cr_assert_eq(info->srq_support, IT_TRUE);
    cr_assert_eq(info->srq_resizable, IT_TRUE);
    cr_assert_eq(info->soft_hi_watermark_support, IT_TRUE);
    cr_assert_eq(info->hard_hi_watermark_support, IT_FALSE);
    it_ia_info_free(info);
}

Test(ual_srq, affiliated_event_names_the_queue)
{
    struct ual_ia *ia = (struct ual_ia *)(void *)world.ia;
    it_evd_handle_t evd;
    it_event_t event;

    evd_raise_affiliated_srq(&ia->evd, IT_ASYNC_AFF_SRQ_LOW_WATERMARK, srq); /* no EVD takes it */
    cr_assert_eq(it_evd_create(world.ia, IT_ASYNC_AFF_EVENT_STREAM, (it_evd_flags_t)0, 4, 0, NULL,
                               &evd, NULL),
                 IT_SUCCESS);
    cr_assert_eq(it_evd_dequeue(evd, &event), IT_ERR_QUEUE_EMPTY);
    evd_raise_affiliated_srq(&ia->evd, IT_ASYNC_AFF_SRQ_LOW_WATERMARK, srq);
    cr_assert_eq(it_evd_dequeue(evd, &event), IT_SUCCESS);
    cr_assert_eq(event.event_number, IT_ASYNC_AFF_SRQ_LOW_WATERMARK);
    cr_assert_eq(event.aff_async.cause.srq, srq);
}
