/* SPDX-License-Identifier: BSD-2-Clause */
/* it_ep_modify by member and by state, and the MPA settings. */
#include "unit/fixture_world.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(ual_ep_modify, .init = world_init, .fini = world_fini);

/*
 * One letter for each bit of the mask, lowest first. m: never legal; t: of the other type; n:
 * ignored by an endpoint without an S-RQ; a: changes in U, A2 and C; i: in U and A2; u: in U only.
 */
static const char kinds[] = "mmmmmmmmmmaauuiamtuaauumnnam";

static it_status_t expected(unsigned bit, int state)
{
    bool u = state == IT_EP_STATE_UNCONNECTED;
    bool a2 = state == IT_EP_STATE_ACTIVE2_CONNECTION_PENDING;
    bool c = state == IT_EP_STATE_CONNECTED;

    switch (kinds[bit]) {
    case 'm':
        return IT_ERR_INVALID_MASK;
    case 't':
        return IT_ERR_INVALID_EP_TYPE;
    case 'n':
        return IT_SUCCESS;
    case 'a':
        return u || a2 || c ? IT_SUCCESS : IT_ERR_INVALID_EP_STATE;
    case 'i':
        return u || a2 ? IT_SUCCESS : IT_ERR_INVALID_EP_STATE;
    default:
        return u ? IT_SUCCESS : IT_ERR_INVALID_EP_STATE;
    }
}

Test(ual_ep_modify, every_member_in_every_state)
{
    cr_assert_eq(1u << (sizeof(kinds) - 2), IT_EP_PARAM_PRIV_OPS_ENABLE);
    for (int state = 0; state < 7; state++) {
        for (unsigned bit = 0; bit < sizeof(kinds) - 1; bit++) {
            it_status_t status;

            fake_ep_force(world.ep, (it_ep_state_rc_t)state);
            status = it_ep_modify(world.ep, (it_ep_param_mask_t)(1u << bit), &world.attr);
            cr_assert_eq(status, expected(bit, state), "state %d bit %u: %d", state, bit, status);
        }
    }
}

Test(ual_ep_modify, arguments)
{
    it_ep_param_mask_t ord = IT_EP_PARAM_MAX_ORD;

    cr_assert_eq(it_ep_modify(NULL, ord, &world.attr), IT_ERR_INVALID_EP);
    cr_assert_eq(it_ep_modify(world.ep, ord, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_ep_modify(world.ep, (it_ep_param_mask_t)0x10000000, &world.attr),
                 IT_ERR_INVALID_MASK);
    cr_assert_eq(it_ep_modify(world.ep, (it_ep_param_mask_t)0, &world.attr), IT_SUCCESS);
    cr_assert_eq(fake.calls.ep_modify, 0);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(it_ep_modify(world.ep, ord, &world.attr), IT_ERR_IA_CATASTROPHE);
}

Test(ual_ep_modify, changes_all_or_nothing)
{
    it_ep_param_mask_t mask = (it_ep_param_mask_t)(IT_EP_PARAM_MAX_ORD | IT_EP_PARAM_MAX_RECV_SEG |
                                                   IT_EP_PARAM_RDMA_WR_ENABLE);
    it_ep_attributes_t attr = {.max_recv_segments = 4, .max_recv_dtos = 33};
    it_ep_param_t params;

    attr.srv.rc.rdma_read_ord = 1;
    attr.srv.rc.rdma_write_enable = IT_TRUE;
    fake.answer = IT_ERR_OP_NOT_SUPPORTED;
    cr_assert_eq(it_ep_modify(world.ep, mask, &attr), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.attr.srv.rc.rdma_read_ord, 6);
    cr_assert_eq(params.attr.max_recv_segments, 2);
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_ep_modify(world.ep, mask, &attr), IT_SUCCESS);
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.attr.srv.rc.rdma_read_ord, 1);
    cr_assert_eq(params.attr.srv.rc.rdma_write_enable, IT_TRUE);
    cr_assert_eq(params.attr.max_recv_segments, 4);
    cr_assert_eq(params.attr.max_recv_dtos, 11, "not asked for");
}

#define REFUSED(bit, member, value, status)                                                        \
    do {                                                                                           \
        it_ep_attributes_t attr = world.attr;                                                      \
        attr.member = (value);                                                                     \
        cr_assert_eq(it_ep_modify(world.ep, bit, &attr), (status), #member);                       \
    } while (0)

Test(ual_ep_modify, checks_limits)
{
    REFUSED(IT_EP_PARAM_MAX_PAYLOAD, max_dto_payload_size, (1 << 20) + 1, IT_ERR_PAYLOAD_SIZE);
    REFUSED(IT_EP_PARAM_MAX_REQ_DTO, max_request_dtos, 65, IT_ERR_RESOURCE_REQ_DTO);
    REFUSED(IT_EP_PARAM_MAX_RECV_DTO, max_recv_dtos, 66, IT_ERR_RESOURCE_RECV_DTO);
    REFUSED(IT_EP_PARAM_MAX_SEND_SEG, max_send_segments, 5, IT_ERR_RESOURCE_SSEG);
    REFUSED(IT_EP_PARAM_MAX_RECV_SEG, max_recv_segments, 6, IT_ERR_RESOURCE_RSEG);
    REFUSED(IT_EP_PARAM_MAX_RDMA_READ_SEG, srv.rc.max_rdma_read_segments, 7, IT_ERR_RESOURCE_RRSEG);
    REFUSED(IT_EP_PARAM_MAX_RDMA_WRITE_SEG, srv.rc.max_rdma_write_segments, 8,
            IT_ERR_RESOURCE_RWSEG);
    REFUSED(IT_EP_PARAM_MAX_IRD, srv.rc.rdma_read_ird, 9, IT_ERR_RESOURCE_IRD);
    REFUSED(IT_EP_PARAM_MAX_ORD, srv.rc.rdma_read_ord, 10, IT_ERR_RESOURCE_ORD);
    REFUSED(IT_EP_PARAM_ATOMICS_ENABLE, srv.rc.atomics_enable, IT_TRUE, IT_ERR_INVALID_EP_ATTR);
    REFUSED(IT_EP_PARAM_MAX_ORD, max_request_dtos, 65, IT_SUCCESS); /* ignored */
    cr_assert_eq(fake.calls.ep_modify, 1);
}

Test(ual_ep_modify, the_provider_halts_the_endpoint_and_has_the_last_word)
{
    it_ep_attributes_t attr = world.attr;
    it_ep_param_t params;

    fake.lowers_ord = true;
    attr.srv.rc.rdma_read_ord = 4;
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_MAX_ORD, &attr), IT_SUCCESS);
    cr_assert_eq(fake.halted, 0);
    cr_assert_eq(fake.changed, IT_EP_PARAM_MAX_ORD);
    cr_assert_eq(attr.srv.rc.rdma_read_ord, 4, "the program's own");
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_MAX_ORD, &params), IT_SUCCESS);
    cr_assert_eq(params.attr.srv.rc.rdma_read_ord, 3, "what is in force");
    fake.answer = IT_ERR_OP_NOT_SUPPORTED;
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_MAX_ORD, &attr), IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(fake.halted, 0);
    cr_assert_eq(fake.changed, 0);
    cr_assert_eq(it_ep_query(world.ep, IT_EP_PARAM_MAX_ORD, &params), IT_SUCCESS);
    cr_assert_eq(params.attr.srv.rc.rdma_read_ord, 3);
}

Test(ual_ep_modify, needs_features_of_the_ia)
{
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_MAX_REQ_DTO, &world.attr), IT_SUCCESS);
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_MAX_IRD, &world.attr), IT_SUCCESS);
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_RDMA_RD_ENABLE, &world.attr), IT_SUCCESS);
    fake.attributes.queues_resizable = IT_FALSE;
    fake.attributes.ird_modifiable = IT_FALSE;
    fake.attributes.enables_modifiable = IT_FALSE;
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_MAX_REQ_DTO, &world.attr),
                 IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_MAX_RECV_DTO, &world.attr),
                 IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_MAX_IRD, &world.attr), IT_ERR_OP_NOT_SUPPORTED);
    for (unsigned bit = IT_EP_PARAM_RDMA_RD_ENABLE; bit <= IT_EP_PARAM_RDMA_WR_ENABLE; bit <<= 1)
        cr_assert_eq(it_ep_modify(world.ep, (it_ep_param_mask_t)bit, &world.attr),
                     IT_ERR_OP_NOT_SUPPORTED);
    cr_assert_eq(it_ep_modify(world.ep, IT_EP_PARAM_MAX_SEND_SEG, &world.attr), IT_SUCCESS);
}

TestSuite(ual_ep_mpa, .init = world_init, .fini = world_fini);

static struct itx_mpa_params good(void)
{
    return (struct itx_mpa_params){.size = sizeof(struct itx_mpa_params),
                                   .revision = 2,
                                   .crc = IT_TRUE,
                                   .peer_to_peer = IT_TRUE,
                                   .rtr_types = ITX_RTR_READ};
}

Test(ual_ep_mpa, set_checks_its_arguments)
{
    struct itx_mpa_params params = good();

    cr_assert_eq(itx_ep_set_mpa_params(NULL, &params), IT_ERR_INVALID_EP);
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, NULL), IT_ERR_FAULT);
    params.size = sizeof(params.size);
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, &params), IT_ERR_INVALID_LENGTH);
    params = good();
    params.revision = 0;
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, &params), IT_ERR_INVALID_EP_ATTR);
    params.revision = 3;
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, &params), IT_ERR_INVALID_EP_ATTR);
    params = good();
    params.rtr_types = 8;
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, &params), IT_ERR_INVALID_EP_ATTR);
    params.rtr_types = 0;
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, &params), IT_ERR_INVALID_EP_ATTR);
    params.peer_to_peer = IT_FALSE;
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, &params), IT_SUCCESS);
    params.request_markers = IT_TRUE;
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, &params), IT_ERR_INVALID_EP_ATTR);
    params = good();
    fake_ep_force(world.ep, IT_EP_STATE_CONNECTED);
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, &params), IT_ERR_INVALID_EP_STATE);
}

Test(ual_ep_mpa, get_and_query_respect_the_size_the_caller_knows)
{
    struct {
        struct itx_mpa_params params;
        uint64_t behind;
    } larger = {.behind = 9};
    struct itx_mpa_info info = {.size = sizeof(info)};

    larger.params = good();
    cr_assert_eq(itx_ep_set_mpa_params(world.ep, &larger.params), IT_SUCCESS);
    memset(&larger.params, 0, sizeof(larger.params));
    larger.params.size = sizeof(larger);
    cr_assert_eq(itx_ep_get_mpa_params(NULL, &larger.params), IT_ERR_INVALID_EP);
    cr_assert_eq(itx_ep_get_mpa_params(world.ep, NULL), IT_ERR_FAULT);
    cr_assert_eq(itx_ep_get_mpa_params(world.ep, &larger.params), IT_SUCCESS);
    cr_assert_eq(larger.params.size, sizeof(larger));
    cr_assert_eq(larger.params.rtr_types, ITX_RTR_READ);
    cr_assert_eq(larger.behind, 9);
    larger.params.size = 8;
    cr_assert_eq(itx_ep_get_mpa_params(world.ep, &larger.params), IT_ERR_INVALID_LENGTH);

    cr_assert_eq(itx_ep_query_mpa(NULL, &info), IT_ERR_INVALID_EP);
    cr_assert_eq(itx_ep_query_mpa(world.ep, NULL), IT_ERR_FAULT);
    cr_assert_eq(itx_ep_query_mpa(world.ep, &info), IT_SUCCESS);
    cr_assert_eq(info.revision, 2);
    cr_assert_eq(info.max_ulpdu, 1460);
    fake.answer = IT_ERR_INVALID_EP_STATE;
    cr_assert_eq(itx_ep_query_mpa(world.ep, &info), IT_ERR_INVALID_EP_STATE);
    info.size = 8;
    cr_assert_eq(itx_ep_query_mpa(world.ep, &info), IT_ERR_INVALID_LENGTH);
}
