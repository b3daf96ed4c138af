/* SPDX-License-Identifier: BSD-2-Clause */
/* it_listen_create, it_listen_query, it_listen_free. */
#include "unit/fixture_world.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <string.h>

static it_conn_qual_t qual;

static void setup(void)
{
    fake_setup();
    fake_world_open(&world);
    qual.type = IT_IANA_PORT;
    qual.conn_qual.port = htons(7);
}

TestSuite(tii_listen, .init = setup, .fini = world_fini);

static it_status_t listen_on(it_evd_handle_t evd, unsigned flags)
{
    it_listen_handle_t listen;

    return it_listen_create(world.ia, FAKE_SPIGOT, evd, (it_listen_flags_t)flags, &qual, &listen);
}

Test(tii_listen, handles_and_pointers)
{
    it_listen_handle_t listen;
    struct fake_world other;

    fake_world_open(&other);
    cr_assert_eq(
        it_listen_create(NULL, FAKE_SPIGOT, world.req_evd, IT_LISTEN_NO_FLAG, &qual, &listen),
        IT_ERR_INVALID_IA);
    cr_assert_eq(listen_on(NULL, 0), IT_ERR_INVALID_CONN_EVD);
    cr_assert_eq(listen_on(world.conn_evd, 0), IT_ERR_INVALID_CONN_EVD, "another stream");
    cr_assert_eq(listen_on(other.req_evd, 0), IT_ERR_INVALID_CONN_EVD, "another IA");
    cr_assert_eq(listen_on(world.aevd, 0), IT_ERR_AEVD_NOT_ALLOWED);
    cr_assert_eq(
        it_listen_create(world.ia, FAKE_SPIGOT, world.req_evd, IT_LISTEN_NO_FLAG, NULL, &listen),
        IT_ERR_FAULT);
    cr_assert_eq(
        it_listen_create(world.ia, FAKE_SPIGOT, world.req_evd, IT_LISTEN_NO_FLAG, &qual, NULL),
        IT_ERR_FAULT);
    cr_assert_eq(fake.calls.listen_start, 0);
    fake_world_close(&other);
}

Test(tii_listen, values)
{
    it_listen_handle_t listen;

    cr_assert_eq(listen_on(world.req_evd, 4), IT_ERR_INVALID_FLAGS);
    cr_assert_eq(listen_on(world.req_evd, IT_LISTEN_SUPPRESS_IRD_ORD), IT_ERR_INVALID_FLAGS);
    fake.attributes.suppress_depths = IT_TRUE;
    cr_assert_eq(listen_on(world.req_evd, IT_LISTEN_SUPPRESS_IRD_ORD), IT_SUCCESS);
    cr_assert_eq(it_listen_create(world.ia, 2, world.req_evd, IT_LISTEN_NO_FLAG, &qual, &listen),
                 IT_ERR_INVALID_SPIGOT);
    qual.type = IT_IB_SERVICEID;
    cr_assert_eq(listen_on(world.req_evd, IT_LISTEN_CONN_QUAL_INPUT), IT_ERR_INVALID_CONN_QUAL);
    cr_assert_eq(listen_on(world.req_evd, 0), IT_SUCCESS, "output only");
    cr_assert_eq(qual.type, IT_IANA_PORT);
    qual.conn_qual.port = 0;
    cr_assert_eq(listen_on(world.req_evd, IT_LISTEN_CONN_QUAL_INPUT), IT_ERR_INVALID_CONN_QUAL);
    qual.type = IT_IANA_LR_PORT;
    qual.conn_qual.lr_port.local = 0;
    qual.conn_qual.lr_port.remote = htons(1);
    cr_assert_eq(listen_on(world.req_evd, IT_LISTEN_CONN_QUAL_INPUT), IT_ERR_INVALID_CONN_QUAL);
    qual.conn_qual.lr_port.local = htons(1);
    qual.conn_qual.lr_port.remote = 0;
    cr_assert_eq(listen_on(world.req_evd, IT_LISTEN_CONN_QUAL_INPUT), IT_SUCCESS);
    fake.answer = IT_ERR_CONN_QUAL_BUSY;
    cr_assert_eq(listen_on(world.req_evd, IT_LISTEN_CONN_QUAL_INPUT), IT_ERR_CONN_QUAL_BUSY);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(listen_on(world.req_evd, IT_LISTEN_CONN_QUAL_INPUT), IT_ERR_IA_CATASTROPHE);
}

Test(tii_listen, the_port_is_input_or_output)
{
    it_listen_param_t params;
    it_listen_handle_t listen;

    cr_assert_eq(
        it_listen_create(world.ia, FAKE_SPIGOT, world.req_evd, IT_LISTEN_NO_FLAG, &qual, &listen),
        IT_SUCCESS);
    cr_assert_eq(qual.conn_qual.port, htons(4711), "what the provider chose");
    cr_assert_eq(it_listen_query(listen, IT_LISTEN_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.connect_qual.conn_qual.port, htons(4711));
    qual.conn_qual.port = htons(8);
    cr_assert_eq(it_listen_create(world.ia, FAKE_SPIGOT, world.req_evd, IT_LISTEN_CONN_QUAL_INPUT,
                                  &qual, &listen),
                 IT_SUCCESS);
    cr_assert_eq(it_listen_query(listen, IT_LISTEN_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.connect_qual.conn_qual.port, htons(8));
}

Test(tii_listen, query)
{
    it_listen_param_t untouched, params;
    it_listen_handle_t listen;

    cr_assert_eq(
        it_listen_create(world.ia, FAKE_SPIGOT, world.req_evd, IT_LISTEN_NO_FLAG, &qual, &listen),
        IT_SUCCESS);
    memset(&untouched, 0xa5, sizeof(untouched));
    params = untouched;
    cr_assert_eq(it_listen_query(NULL, IT_LISTEN_PARAM_ALL, &params), IT_ERR_INVALID_LISTEN);
    cr_assert_eq(it_listen_query(listen, IT_LISTEN_PARAM_ALL, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_listen_query(listen, (it_listen_param_mask_t)0x20, &params),
                 IT_ERR_INVALID_MASK);
    cr_assert_eq(it_listen_query(listen, (it_listen_param_mask_t)0, &params), IT_SUCCESS);
    cr_assert_eq(memcmp(&params, &untouched, sizeof(params)), 0);
    for (unsigned bit = 2; bit <= IT_LISTEN_PARAM_CONN_QUAL; bit <<= 1) {
        params = untouched;
        cr_assert_eq(it_listen_query(listen, (it_listen_param_mask_t)bit, &params), IT_SUCCESS);
        cr_assert_neq(memcmp(&params, &untouched, sizeof(params)), 0, "bit %x", bit);
    }
    cr_assert_eq(it_listen_query(listen, IT_LISTEN_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.ia_handle, world.ia);
    cr_assert_eq(params.spigot_id, FAKE_SPIGOT);
    cr_assert_eq(params.connect_evd, world.req_evd);
}

Test(tii_listen, free_lets_the_evd_go)
{
    it_listen_handle_t listen;

    cr_assert_eq(
        it_listen_create(world.ia, FAKE_SPIGOT, world.req_evd, IT_LISTEN_NO_FLAG, &qual, &listen),
        IT_SUCCESS);
    cr_assert_eq(it_evd_free(world.req_evd), IT_ERR_EVD_BUSY);
    cr_assert_eq(it_listen_free(NULL), IT_ERR_INVALID_LISTEN);
    cr_assert_eq(it_listen_free(listen), IT_SUCCESS);
    cr_assert_eq(it_listen_free(listen), IT_ERR_INVALID_LISTEN, "a stale handle");
    cr_assert_eq(it_evd_free(world.req_evd), IT_SUCCESS);
    cr_assert_eq(fake.calls.listen_stop, 1);
}

Test(tii_listen, a_failed_create_lets_the_evd_go)
{
    fake.answer = IT_ERR_NO_PERMISSION;
    cr_assert_eq(listen_on(world.req_evd, 0), IT_ERR_NO_PERMISSION);
    fake.answer = IT_SUCCESS;
    cr_assert_eq(it_evd_free(world.req_evd), IT_SUCCESS);
}
