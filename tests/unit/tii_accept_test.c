/* SPDX-License-Identifier: BSD-2-Clause */
/* The answers to a connection request: it_ep_accept, it_reject, it_handoff. */
#include "unit/fixture_world.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>

static struct ual_request request;
static it_conn_qual_t qual;
static const unsigned char data[64];

static void setup(void)
{
    fake_setup();
    fake_world_open(&world);
    fake_request_arrives(&request, &world);
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = htons(7);
}

TestSuite(tii_accept, .init = setup, .fini = world_fini);

static bool waits(void)
{
    return ual_request_ia(request.id, false) == (struct ual_ia *)(void *)world.ia;
}

Test(tii_accept, accept_arguments)
{
    struct fake_world other;

    fake_world_open(&other);
    cr_assert_eq(it_ep_accept(NULL, request.id, NULL, 0), IT_ERR_INVALID_EP);
    cr_assert_eq(it_ep_accept(world.ep, 0, NULL, 0), IT_ERR_INVALID_CN_EST_ID);
    cr_assert_eq(it_ep_accept(world.ep, request.id + 1, NULL, 0), IT_ERR_INVALID_CN_EST_ID);
    cr_assert_eq(it_ep_accept(other.ep, request.id, NULL, 0), IT_ERR_INVALID_CN_EST_ID);
    cr_assert_eq(it_ep_accept(world.ep, request.id, NULL, 1), IT_ERR_FAULT);
    cr_assert_eq(it_ep_accept(world.ep, request.id, data, 18), IT_ERR_INVALID_PDATA_LENGTH);
    cr_assert(waits());
    cr_assert_eq(it_ep_accept(world.ep, request.id, data, 17), IT_SUCCESS);
    cr_assert_eq(fake.private_length, 17);
    cr_assert_not(waits());
    cr_assert_eq(it_ep_accept(world.ep, request.id, NULL, 0), IT_ERR_INVALID_CN_EST_ID, "used up");
    fake_world_close(&other);
}

Test(tii_accept, accept_states)
{
    for (int state = 0; state < 7; state++) {
        bool legal =
            state == IT_EP_STATE_UNCONNECTED || state == IT_EP_STATE_ACTIVE2_CONNECTION_PENDING;

        fake_ep_force(world.ep, (it_ep_state_rc_t)state);
        cr_assert_eq(it_ep_accept(world.ep, request.id, NULL, 0),
                     legal ? IT_SUCCESS : IT_ERR_INVALID_EP_STATE, "state %d", state);
        if (legal)
            fake_request_arrives(&request, &world);
        cr_assert(waits());
    }
}

Test(tii_accept, a_failed_accept_leaves_the_request)
{
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_ep_accept(world.ep, request.id, NULL, 0), IT_ERR_RESOURCES);
    cr_assert(waits());
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(it_ep_accept(world.ep, request.id, NULL, 0), IT_ERR_IA_CATASTROPHE);
    cr_assert(waits());
    cr_assert(ual_request_withdraw(&request));
}

Test(tii_accept, reject)
{
    cr_assert_eq(it_reject(0, NULL, 0), IT_ERR_INVALID_CN_EST_ID);
    cr_assert_eq(it_reject(request.id, NULL, 1), IT_ERR_FAULT);
    cr_assert_eq(it_reject(request.id, data, 19), IT_ERR_INVALID_PDATA_LENGTH);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_reject(request.id, data, 18), IT_ERR_RESOURCES);
    cr_assert(waits());
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_reject(request.id, data, 18), IT_SUCCESS);
    cr_assert_eq(fake.private_length, 18);
    cr_assert_eq(it_reject(request.id, data, 18), IT_ERR_INVALID_CN_EST_ID, "used up");
}

Test(tii_accept, no_private_data_at_all)
{
    fake.attributes.connect_pdata = fake.attributes.accept_pdata = fake.attributes.reject_pdata = 0;
    cr_assert_eq(it_ep_accept(world.ep, request.id, data, 1), IT_ERR_PDATA_NOT_SUPPORTED);
    cr_assert_eq(it_reject(request.id, data, 1), IT_ERR_PDATA_NOT_SUPPORTED);
    cr_assert_eq(it_reject(request.id, data, 0), IT_SUCCESS);
}

Test(tii_accept, reject_on_a_failed_ia)
{
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(it_reject(request.id, NULL, 0), IT_ERR_IA_CATASTROPHE);
    cr_assert_eq(it_handoff(&qual, FAKE_SPIGOT, request.id), IT_ERR_IA_CATASTROPHE);
    cr_assert(waits());
}

Test(tii_accept, handoff)
{
    it_cn_est_identifier_t id = request.id;

    cr_assert_eq(it_handoff(&qual, FAKE_SPIGOT, 0), IT_ERR_INVALID_CN_EST_ID);
    cr_assert_eq(it_handoff(NULL, FAKE_SPIGOT, id), IT_ERR_FAULT);
    cr_assert_eq(it_handoff(&qual, FAKE_SPIGOT + 1, id), IT_ERR_INVALID_SPIGOT);
    qual.type = IT_IB_SERVICEID;
    cr_assert_eq(it_handoff(&qual, FAKE_SPIGOT, id), IT_ERR_INVALID_CONN_QUAL);
    qual.type = IT_IANA_PORT;
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(it_handoff(&qual, FAKE_SPIGOT, id), IT_ERR_RESOURCES);
    cr_assert_eq(request.id, id, "the old one lives on");
    cr_assert(waits());
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_handoff(&qual, FAKE_SPIGOT, id), IT_SUCCESS);
    cr_assert_neq(request.id, id);
    cr_assert(waits());
    cr_assert_eq(it_reject(id, NULL, 0), IT_ERR_INVALID_CN_EST_ID, "used up");
}
