/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Forbidden access to memory. The request fails or the connection ends, both sides are told of a
 * break or a disconnect, and no octet is read or written. Afterwards the endpoints can be used
 * again.
 */
#include "suite/suite.h"

#include <string.h>
#include <sys/mman.h>

#define SIZE 512

/* The near side's request and the far side's memory. */
struct refusal {
    const char *name;
    bool write;
    it_mem_priv_t privs; /* of the far side's memory */
    size_t offset;
    size_t length;
    uint32_t key_change; /* xored into the key */
    bool stale;          /* the memory was deregistered */
    bool other_pz;       /* it is in another zone than the endpoint */
    bool disabled;       /* the endpoint does not give this right */
};

#define ALL      ((it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE))
#define NO_READ  ((it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_WRITE))
#define NO_WRITE ((it_mem_priv_t)(IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ))

static void reset(struct suite_side *side, it_ep_handle_t ep)
{
    suite_meet(side, "broken");
    fx_drain(side->node.aff_evd);
    fx_empty(side->node.recv_evd);
    fx_empty(side->node.request_evd);
    CHECK_OK(it_ep_reset(ep));
}

/* Resets and joins both endpoints. */
static void mend(struct suite_side *side, it_ep_handle_t ep)
{
    if (fx_ep_state(ep) != IT_EP_STATE_UNCONNECTED)
        reset(side, ep);
    suite_join(side, ep);
    suite_ping(side, ep);
}

/* ---- Remote ---------------------------------------------------------------------------------- */

static void refused_near(struct suite_side *side, const struct refusal *refusal, it_ep_handle_t ep)
{
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct suite_region region = suite_hear_region(side);
    it_event_t event;

    memset(buf.data, 0x44, SIZE);
    region.key ^= refusal->key_change;
    CHECK_OK(it_post_recv(ep, NULL, 0, 1, FX_SIGNAL));
    if (refusal->write)
        suite_write(ep, &buf, 0, refusal->length, &region, refusal->offset, 2, FX_SIGNAL);
    else
        suite_read(ep, &buf, 0, refusal->length, &region, refusal->offset, 2, FX_SIGNAL);
    event = fx_next(side->node.request_evd);
    /* A Write may have completed before the peer has checked it. */
    if (!refusal->write || event.dto_cmpl.dto_status != IT_DTO_SUCCESS)
        suite_failed(&event, 2, IT_DTO_ERR_REMOTE_ACCESS);
    fx_done(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    suite_ended(side, ep);
    CHECK(fx_is_byte(buf.data, SIZE, 0x44));
    mend(side, ep);
    fx_buf_free(&buf);
}

static void set_right(it_ep_handle_t ep, const struct refusal *refusal, it_boolean_t right)
{
    it_ep_attributes_t attr = suite_attr();

    if (refusal->write)
        attr.srv.rc.rdma_write_enable = right;
    else
        attr.srv.rc.rdma_read_enable = right;
    CHECK_OK(it_ep_modify(
        ep, refusal->write ? IT_EP_PARAM_RDMA_WR_ENABLE : IT_EP_PARAM_RDMA_RD_ENABLE, &attr));
}

static void refused_far(struct suite_side *side, const struct refusal *refusal, it_ep_handle_t ep)
{
    it_pz_handle_t pz = side->node.pz;
    struct fx_buf buf;
    struct fx_buf told;

    if (refusal->other_pz)
        CHECK_OK(it_pz_create(side->node.ia, &pz));
    buf = fx_buf_make_as(pz, SIZE, refusal->privs, IT_ADDR_MODE_ABSOLUTE);
    told = buf;
    memset(buf.data, 0x33, SIZE);
    if (refusal->stale) {
        CHECK_OK(it_lmr_free(buf.lmr));
        buf.lmr = NULL;
    }
    if (refusal->disabled)
        set_right(ep, refusal, IT_FALSE);
    CHECK_OK(it_post_recv(ep, NULL, 0, 3, FX_SIGNAL));
    suite_tell_region(side, &told);
    fx_done(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 3, IT_DTO_ERR_FLUSHED);
    suite_ended(side, ep);
    CHECK(fx_is_byte(buf.data, SIZE, 0x33));
    if (refusal->disabled) {
        reset(side, ep);
        set_right(ep, refusal, IT_TRUE);
    }
    mend(side, ep);
    fx_buf_free(&buf);
    if (refusal->other_pz)
        CHECK_OK(it_pz_free(pz));
}

static void refusals(struct suite_side *side, const struct refusal *refusal, size_t count)
{
    it_ep_handle_t ep = suite_joined(side);

    for (; count > 0; count--, refusal++) {
        check_context(refusal->name);
        (side->near ? refused_near : refused_far)(side, refusal, ep);
    }
    suite_part(side, ep);
}

static void remote(struct suite_side *side)
{
    static const struct refusal rows[] = {
        {.name = "Write, no right", .privs = NO_WRITE, .length = 64, .write = true},
        {.name = "Read over the end", .privs = ALL, .offset = SIZE - 63, .length = 64},
        {.name = "Write over the end",
         .privs = ALL,
         .offset = SIZE - 63,
         .length = 64,
         .write = true},
        {.name = "Read before the start", .privs = ALL, .offset = (size_t)-1, .length = 64},
        {.name = "Write with an unknown key",
         .privs = ALL,
         .length = 64,
         .write = true,
         .key_change = 0x5a5a00},
        {.name = "Read with a stale key", .privs = ALL, .length = 64, .stale = true},
        {.name = "Write into another zone",
         .privs = ALL,
         .length = 64,
         .write = true,
         .other_pz = true},
    };

    refusals(side, rows, sizeof(rows) / sizeof(rows[0]));
}

static void read_right(struct suite_side *side)
{
    static const struct refusal rows[] = {
        {.name = "Read, no right", .privs = NO_READ, .length = 64},
    };

    refusals(side, rows, 1);
}

static void read_endpoint(struct suite_side *side)
{
    static const struct refusal rows[] = {
        {.name = "Read, endpoint without", .privs = ALL, .length = 64, .disabled = true},
    };

    refusals(side, rows, 1);
}

static void endpoint(struct suite_side *side)
{
    static const struct refusal rows[] = {
        {.name = "Write, endpoint without",
         .privs = ALL,
         .length = 64,
         .write = true,
         .disabled = true},
    };

    refusals(side, rows, sizeof(rows) / sizeof(rows[0]));
}

/* ---- Local ----------------------------------------------------------------------------------- */

static void near_fails(struct suite_side *side, it_ep_handle_t ep)
{
    if (side->near) {
        it_event_t event = fx_next(side->node.request_evd);

        suite_failed(&event, 2, IT_DTO_ERR_LOCAL_PROTECTION);
        fx_conn(side->node.conn_evd, ep, IT_CM_MSG_CONN_BROKEN_EVENT);
        fx_empty(side->node.conn_evd);
    } else {
        fx_done(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 3, IT_DTO_ERR_FLUSHED);
        suite_ended(side, ep);
    }
    mend(side, ep);
}

/* The requester's own memory is wrong. */
static void local(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct fx_buf read_only =
        fx_buf_make_as(side->node.pz, SIZE, IT_PRIV_LOCAL_READ, IT_ADDR_MODE_ABSOLUTE);
    struct suite_region region;

    suite_tell_region(side, &buf);
    region = suite_hear_region(side);
    if (!side->near)
        CHECK_OK(it_post_recv(ep, NULL, 0, 3, FX_SIGNAL));
    suite_meet(side, "posted");
    if (side->near)
        fx_send(ep, &buf, SIZE - 10, 20, 2, FX_SIGNAL);
    near_fails(side, ep);

    if (!side->near)
        CHECK_OK(it_post_recv(ep, NULL, 0, 3, FX_SIGNAL));
    suite_meet(side, "posted");
    if (side->near)
        suite_read(ep, &read_only, 0, 20, &region, 0, 2, FX_SIGNAL);
    near_fails(side, ep);
    CHECK(fx_is_byte(read_only.data, SIZE, 0));
    suite_part(side, ep);
}

/* The receive's memory is too small or not writable. */
static void receive(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = fx_buf_make(&side->node, SIZE);
    struct fx_buf read_only =
        fx_buf_make_as(side->node.pz, SIZE, IT_PRIV_LOCAL_READ, IT_ADDR_MODE_ABSOLUTE);

    for (int round = 0; round < 2; round++) {
        it_event_t event;

        if (side->near) {
            suite_meet(side, "posted");
            fx_send(ep, &buf, 0, 100, 2, FX_SIGNAL);
            suite_ended(side, ep);
            /* The Send may have completed before the peer has checked it. */
            event = fx_next(side->node.request_evd);
            CHECK_EQ(2, event.dto_cmpl.cookie);
        } else {
            fx_recv(ep, round ? &read_only : &buf, 0, round ? 200 : 99, 3);
            suite_meet(side, "posted");
            event = fx_next(side->node.recv_evd);
            /* For a receive that is not writable a device may report this status, too. */
            if (round == 0 || event.dto_cmpl.dto_status != IT_DTO_ERR_LOCAL_LENGTH)
                suite_failed(&event, 3,
                             round ? IT_DTO_ERR_LOCAL_PROTECTION : IT_DTO_ERR_LOCAL_LENGTH);
            CHECK(round != 0 || event.dto_cmpl.dto_status == IT_DTO_ERR_LOCAL_LENGTH);
            suite_ended(side, ep);
            CHECK(fx_is_byte(buf.data + 99, SIZE - 99, 0));
            CHECK(fx_is_byte(read_only.data, SIZE, 0));
        }
        mend(side, ep);
    }
    suite_part(side, ep);
}

/* ---- Memory that nobody can write to -------------------------------------------------------- */

/* Memory mapped from a read-only file can be sent, and peers can read it. */
static void constant_near(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = {.size = SIZE};
    void *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(pages != MAP_FAILED);
    fx_fill(pages, SIZE, 5);
    CHECK(mprotect(pages, SIZE, PROT_READ) == 0);
    buf.data = pages;
    CHECK_STATUS(IT_ERR_ACCESS,
                 it_lmr_create21(side->node.pz, pages, NULL, SIZE, IT_ADDR_MODE_ABSOLUTE,
                                 IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &buf.lmr, &buf.key));
    CHECK_OK(it_lmr_create21(side->node.pz, pages, NULL, SIZE, IT_ADDR_MODE_ABSOLUTE,
                             (it_mem_priv_t)(IT_PRIV_LOCAL_READ | IT_PRIV_REMOTE_READ),
                             IT_LMR_FLAG_NONE, 0, &buf.lmr, &buf.key));
    suite_meet(side, "posted");
    fx_send(ep, &buf, 0, SIZE, 2, FX_SIGNAL);
    fx_done_len(side->node.request_evd, ep, IT_DTO_SEND_CMPL_EVENT, 2, SIZE);
    suite_tell_region(side, &buf);
    suite_part(side, ep);
    CHECK_OK(it_lmr_free(buf.lmr));
    CHECK(munmap(pages, SIZE) == 0);
}

static void constant_far(struct suite_side *side)
{
    it_ep_handle_t ep = suite_joined(side);
    struct fx_buf buf = fx_buf_make(&side->node, 2 * SIZE);
    struct suite_region region;

    fx_recv(ep, &buf, 0, SIZE, 3);
    suite_meet(side, "posted");
    fx_done_len(side->node.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, 3, SIZE);
    CHECK(fx_is_filled(buf.data, SIZE, 5));
    region = suite_hear_region(side);
    suite_read(ep, &buf, SIZE, SIZE, &region, 0, 4, FX_SIGNAL);
    fx_done_len(side->node.request_evd, ep, IT_DTO_RDMA_READ_CMPL_EVENT, 4, SIZE);
    CHECK(fx_is_filled(buf.data + SIZE, SIZE, 5));
    suite_part(side, ep);
    fx_buf_free(&buf);
}

const struct suite_case suite_access_cases[] = {
    {.name = "access_remote", .near = remote, .far = remote},
    {.name = "access_read_right",
     .near = read_right,
     .far = read_right,
     .far_needs = SUITE_READ_RIGHT},
    {.name = "access_endpoint_read",
     .near = read_endpoint,
     .far = read_endpoint,
     .needs = SUITE_ENABLES,
     .far_needs = SUITE_READ_RIGHT},
    {.name = "access_endpoint", .near = endpoint, .far = endpoint, .needs = SUITE_ENABLES},
    {.name = "access_local", .near = local, .far = local},
    {.name = "access_receive", .near = receive, .far = receive},
    {.name = "access_constant", .near = constant_near, .far = constant_far},
    {0},
};
