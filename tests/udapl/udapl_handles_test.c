/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes every call with every invalid handle: NULL, freed, of another kind, of another IA, of a
 * closed IA, and memory that never was an object. The result is DAT_INVALID_HANDLE, and all objects
 * still work.
 */
#include "udapl_kit.h"

#include <stdio.h>
#include <stdlib.h>

#define KINDS DAT_HANDLE_TYPE_EXTENSION_BASE

/* One object of each kind, except an IA and a CSP. */
struct objects {
    struct kit_side side;
    DAT_HANDLE of[KINDS];
    DAT_EP_HANDLE reserved, caller;
};

static struct objects world;
static DAT_HANDLE other[KINDS], freed[KINDS], closed[KINDS];
static DAT_LMR_TRIPLET segment;
static DAT_RMR_TRIPLET target;
static char memory[1024];

/* ---------------------------------------------------------------- calls on a handle */

struct call {
    const char *name;
    DAT_HANDLE_TYPE kind;
    DAT_RETURN (*call)(DAT_HANDLE handle);
    bool null_is_none; /* NULL is allowed for this argument, which is not the first one */
};

static union {
    DAT_CNO_PARAM cno;
    DAT_CR_PARAM cr;
    DAT_EVD_PARAM evd;
    DAT_EP_PARAM ep;
    DAT_LMR_PARAM lmr;
    DAT_RMR_PARAM rmr;
    DAT_PSP_PARAM psp;
    DAT_RSP_PARAM rsp;
    DAT_PZ_PARAM pz;
    DAT_SRQ_PARAM srq;
} param;
static DAT_EVENT event;
static DAT_COUNT counts[2];
static DAT_EP_STATE state;
static DAT_BOOLEAN idle[2];
static DAT_EVD_HANDLE woken;
static DAT_HANDLE made;
static DAT_RMR_CONTEXT key;

#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG
#define COOKIE  kit_cookie(1)
#define AGENT   DAT_OS_WAIT_PROXY_AGENT_NULL
#define ADDRESS ((DAT_IA_ADDRESS_PTR)(void *)memory)

/* CALL(name, expression in handle): defines a call on the handle. */
#define CALL(name, expression)                                                                     \
    static DAT_RETURN name(DAT_HANDLE handle)                                                      \
    {                                                                                              \
        return expression;                                                                         \
    }

CALL(cno_query, dat_cno_query(handle, DAT_CNO_FIELD_ALL, &param.cno))
CALL(cno_modify_agent, dat_cno_modify_agent(handle, AGENT))
CALL(cno_wait, dat_cno_wait(handle, 0, &woken))
CALL(cno_free, dat_cno_free(handle))
CALL(cr_query, dat_cr_query(handle, DAT_CR_FIELD_ALL, &param.cr))
CALL(cr_accept, dat_cr_accept(handle, world.side.ep, 0, NULL))
CALL(cr_reject, dat_cr_reject(handle, 0, NULL))
CALL(cr_handoff, dat_cr_handoff(handle, 7))
CALL(evd_query, dat_evd_query(handle, DAT_EVD_FIELD_ALL, &param.evd))
CALL(evd_modify_cno, dat_evd_modify_cno(handle, DAT_HANDLE_NULL))
CALL(evd_enable, dat_evd_enable(handle))
CALL(evd_disable, dat_evd_disable(handle))
CALL(evd_wait, dat_evd_wait(handle, 0, 1, &event, counts))
CALL(evd_resize, dat_evd_resize(handle, 20))
CALL(evd_post_se, dat_evd_post_se(handle, &event))
CALL(evd_dequeue, dat_evd_dequeue(handle, &event))
CALL(evd_set_unwaitable, dat_evd_set_unwaitable(handle))
CALL(evd_clear_unwaitable, dat_evd_clear_unwaitable(handle))
CALL(evd_free, dat_evd_free(handle))
CALL(ep_query, dat_ep_query(handle, DAT_EP_FIELD_ALL, &param.ep))
CALL(ep_modify,
     dat_ep_modify(handle, DAT_EP_FIELD_PZ_HANDLE, &(DAT_EP_PARAM){.pz_handle = world.side.pz}))
CALL(ep_connect,
     dat_ep_connect(handle, ADDRESS, 7, 1, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG))
CALL(ep_dup_connect, dat_ep_dup_connect(handle, world.side.ep, 1, 0, NULL, DAT_QOS_BEST_EFFORT))
CALL(ep_disconnect, dat_ep_disconnect(handle, DAT_CLOSE_ABRUPT_FLAG))
CALL(ep_post_send, dat_ep_post_send(handle, 1, &segment, COOKIE, DEFAULT))
CALL(ep_post_recv, dat_ep_post_recv(handle, 1, &segment, COOKIE, DEFAULT))
CALL(ep_post_read, dat_ep_post_rdma_read(handle, 1, &segment, COOKIE, &target, DEFAULT))
CALL(ep_post_write, dat_ep_post_rdma_write(handle, 1, &segment, COOKIE, &target, DEFAULT))
CALL(ep_get_status, dat_ep_get_status(handle, &state, &idle[0], &idle[1]))
CALL(ep_reset, dat_ep_reset(handle))
CALL(ep_recv_query, dat_ep_recv_query(handle, &counts[0], &counts[1]))
CALL(ep_set_watermark, dat_ep_set_watermark(handle, 1, 1))
CALL(ep_free, dat_ep_free(handle))
CALL(lmr_query, dat_lmr_query(handle, DAT_LMR_FIELD_ALL, &param.lmr))
CALL(lmr_free, dat_lmr_free(handle))
CALL(rmr_create, dat_rmr_create(handle, &made))
CALL(rmr_query, dat_rmr_query(handle, DAT_RMR_FIELD_ALL, &param.rmr))
CALL(rmr_bind, dat_rmr_bind(handle, world.side.lmr, &segment, DAT_MEM_PRIV_REMOTE_READ_FLAG,
                            DAT_VA_TYPE_VA, world.side.ep, COOKIE, DEFAULT, &key))
CALL(rmr_free, dat_rmr_free(handle))
CALL(psp_query, dat_psp_query(handle, DAT_PSP_FIELD_ALL, &param.psp))
CALL(psp_free, dat_psp_free(handle))
CALL(rsp_query, dat_rsp_query(handle, DAT_RSP_FIELD_ALL, &param.rsp))
CALL(rsp_free, dat_rsp_free(handle))
CALL(pz_query, dat_pz_query(handle, DAT_PZ_FIELD_ALL, &param.pz))
CALL(pz_free, dat_pz_free(handle))
CALL(srq_query, dat_srq_query(handle, DAT_SRQ_FIELD_ALL, &param.srq))
CALL(srq_post_recv, dat_srq_post_recv(handle, 1, &segment, COOKIE))
CALL(srq_resize, dat_srq_resize(handle, 20))
CALL(srq_set_lw, dat_srq_set_lw(handle, 1))
CALL(srq_free, dat_srq_free(handle))

#define ROW(kind, name)                                                                            \
    {                                                                                              \
#name, DAT_HANDLE_TYPE_##kind, name, false                                                 \
    }

static const struct call calls[] = {
    ROW(CNO, cno_query),
    ROW(CNO, cno_modify_agent),
    ROW(CNO, cno_wait),
    ROW(CNO, cno_free),
    ROW(CR, cr_query),
    ROW(CR, cr_accept),
    ROW(CR, cr_reject),
    ROW(CR, cr_handoff),
    ROW(EVD, evd_query),
    ROW(EVD, evd_modify_cno),
    ROW(EVD, evd_enable),
    ROW(EVD, evd_disable),
    ROW(EVD, evd_wait),
    ROW(EVD, evd_resize),
    ROW(EVD, evd_post_se),
    ROW(EVD, evd_dequeue),
    ROW(EVD, evd_set_unwaitable),
    ROW(EVD, evd_clear_unwaitable),
    ROW(EVD, evd_free),
    ROW(EP, ep_query),
    ROW(EP, ep_modify),
    ROW(EP, ep_connect),
    ROW(EP, ep_dup_connect),
    ROW(EP, ep_disconnect),
    ROW(EP, ep_post_send),
    ROW(EP, ep_post_recv),
    ROW(EP, ep_post_read),
    ROW(EP, ep_post_write),
    ROW(EP, ep_get_status),
    ROW(EP, ep_reset),
    ROW(EP, ep_recv_query),
    ROW(EP, ep_set_watermark),
    ROW(EP, ep_free),
    ROW(LMR, lmr_query),
    ROW(LMR, lmr_free),
    ROW(PZ, rmr_create),
    ROW(RMR, rmr_query),
    ROW(RMR, rmr_bind),
    ROW(RMR, rmr_free),
    ROW(PSP, psp_query),
    ROW(PSP, psp_free),
    ROW(RSP, rsp_query),
    ROW(RSP, rsp_free),
    ROW(PZ, pz_query),
    ROW(PZ, pz_free),
    ROW(SRQ, srq_query),
    ROW(SRQ, srq_post_recv),
    ROW(SRQ, srq_resize),
    ROW(SRQ, srq_set_lw),
    ROW(SRQ, srq_free),
};

/* ---------------------------------------------------------------- a handle among the others */

#define SIDE world.side
CALL(evd_create_cno, dat_evd_create(SIDE.ia, 4, handle, DAT_EVD_DTO_FLAG, &made))
CALL(evd_modify_to, dat_evd_modify_cno(SIDE.recv, handle))
CALL(cr_accept_with, dat_cr_accept(world.of[DAT_HANDLE_TYPE_CR], handle, 0, NULL))
CALL(ep_create_pz,
     dat_ep_create(SIDE.ia, handle, SIDE.recv, SIDE.request, SIDE.connect, NULL, &made))
CALL(ep_create_recv,
     dat_ep_create(SIDE.ia, SIDE.pz, handle, SIDE.request, SIDE.connect, NULL, &made))
CALL(ep_create_request,
     dat_ep_create(SIDE.ia, SIDE.pz, SIDE.recv, handle, SIDE.connect, NULL, &made))
CALL(ep_create_connect,
     dat_ep_create(SIDE.ia, SIDE.pz, SIDE.recv, SIDE.request, handle, NULL, &made))
CALL(ep_create_srq, dat_ep_create_with_srq(SIDE.ia, SIDE.pz, SIDE.recv, SIDE.request, SIDE.connect,
                                           handle, NULL, &made))
CALL(ep_modify_pz,
     dat_ep_modify(SIDE.ep, DAT_EP_FIELD_PZ_HANDLE, &(DAT_EP_PARAM){.pz_handle = handle}))
CALL(ep_modify_recv, dat_ep_modify(SIDE.ep, DAT_EP_FIELD_RECV_EVD_HANDLE,
                                   &(DAT_EP_PARAM){.recv_evd_handle = handle}))
CALL(ep_modify_request, dat_ep_modify(SIDE.ep, DAT_EP_FIELD_REQUEST_EVD_HANDLE,
                                      &(DAT_EP_PARAM){.request_evd_handle = handle}))
CALL(ep_modify_connect, dat_ep_modify(SIDE.ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE,
                                      &(DAT_EP_PARAM){.connect_evd_handle = handle}))
CALL(ep_dup_of, dat_ep_dup_connect(SIDE.ep, handle, 1, 0, NULL, DAT_QOS_BEST_EFFORT))
CALL(lmr_create_pz,
     dat_lmr_create(SIDE.ia, DAT_MEM_TYPE_VIRTUAL, (DAT_REGION_DESCRIPTION){.for_va = memory},
                    sizeof(memory), handle, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &made, NULL,
                    NULL, NULL, NULL))
CALL(lmr_create_of,
     dat_lmr_create(SIDE.ia, DAT_MEM_TYPE_LMR, (DAT_REGION_DESCRIPTION){.for_lmr_handle = handle},
                    16, SIDE.pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &made, NULL, NULL, NULL,
                    NULL))
CALL(rmr_bind_lmr,
     dat_rmr_bind(world.of[DAT_HANDLE_TYPE_RMR], handle, &segment, DAT_MEM_PRIV_REMOTE_READ_FLAG,
                  DAT_VA_TYPE_VA, SIDE.ep, COOKIE, DEFAULT, &key))
CALL(rmr_bind_ep,
     dat_rmr_bind(world.of[DAT_HANDLE_TYPE_RMR], SIDE.lmr, &segment, DAT_MEM_PRIV_REMOTE_READ_FLAG,
                  DAT_VA_TYPE_VA, handle, COOKIE, DEFAULT, &key))
CALL(psp_create_evd, dat_psp_create(SIDE.ia, 45249, handle, DAT_PSP_CONSUMER_FLAG, &made))
CALL(psp_create_any_evd,
     dat_psp_create_any(SIDE.ia, &(DAT_CONN_QUAL){0}, handle, DAT_PSP_CONSUMER_FLAG, &made))
CALL(rsp_create_ep, dat_rsp_create(SIDE.ia, 45249, handle, SIDE.cr, &made))
CALL(rsp_create_evd, dat_rsp_create(SIDE.ia, 45249, world.caller, handle, &made))
CALL(srq_create_pz,
     dat_srq_create(SIDE.ia, handle, &(DAT_SRQ_ATTR){.max_recv_dtos = 4, .max_recv_iov = 1}, &made))

#define ARGUMENT(kind, name)                                                                       \
    {                                                                                              \
#name, DAT_HANDLE_TYPE_##kind, name, false                                                 \
    }
#define OPTIONAL(kind, name)                                                                       \
    {                                                                                              \
#name, DAT_HANDLE_TYPE_##kind, name, true                                                  \
    }

static const struct call arguments[] = {
    OPTIONAL(CNO, evd_create_cno),     OPTIONAL(CNO, evd_modify_to),
    ARGUMENT(EP, cr_accept_with),      OPTIONAL(PZ, ep_create_pz),
    OPTIONAL(EVD, ep_create_recv),     OPTIONAL(EVD, ep_create_request),
    OPTIONAL(EVD, ep_create_connect),  ARGUMENT(SRQ, ep_create_srq),
    OPTIONAL(PZ, ep_modify_pz),        OPTIONAL(EVD, ep_modify_recv),
    OPTIONAL(EVD, ep_modify_request),  OPTIONAL(EVD, ep_modify_connect),
    ARGUMENT(EP, ep_dup_of),           ARGUMENT(PZ, lmr_create_pz),
    ARGUMENT(LMR, lmr_create_of),      ARGUMENT(LMR, rmr_bind_lmr),
    ARGUMENT(EP, rmr_bind_ep),         ARGUMENT(EVD, psp_create_evd),
    ARGUMENT(EVD, psp_create_any_evd), OPTIONAL(EP, rsp_create_ep),
    ARGUMENT(EVD, rsp_create_evd),     ARGUMENT(PZ, srq_create_pz),
};

/* ---------------------------------------------------------------- the IA */

static DAT_CONTEXT context;
static DAT_HANDLE_TYPE kind_told;
static DAT_IA_ATTR ia_attr;

CALL(ia_query, dat_ia_query(handle, NULL, DAT_IA_FIELD_ALL, &ia_attr, 0, NULL))
CALL(ia_close, dat_ia_close(handle, DAT_CLOSE_ABRUPT_FLAG))
CALL(ia_cno_create, dat_cno_create(handle, AGENT, &made))
CALL(ia_evd_create, dat_evd_create(handle, 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &made))
CALL(ia_ep_create,
     dat_ep_create(handle, SIDE.pz, SIDE.recv, SIDE.request, SIDE.connect, NULL, &made))
CALL(ia_lmr_create,
     dat_lmr_create(handle, DAT_MEM_TYPE_VIRTUAL, (DAT_REGION_DESCRIPTION){.for_va = memory}, 16,
                    SIDE.pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &made, NULL, NULL, NULL, NULL))
CALL(ia_psp_create, dat_psp_create(handle, 45249, SIDE.cr, DAT_PSP_CONSUMER_FLAG, &made))
CALL(ia_rsp_create, dat_rsp_create(handle, 45249, world.caller, SIDE.cr, &made))
CALL(ia_pz_create, dat_pz_create(handle, &made))
CALL(ia_srq_create,
     dat_srq_create(handle, SIDE.pz, &(DAT_SRQ_ATTR){.max_recv_dtos = 4, .max_recv_iov = 1}, &made))
CALL(ia_sync_read, dat_lmr_sync_rdma_read(handle, &segment, 1))
CALL(ia_sync_write, dat_lmr_sync_rdma_write(handle, &segment, 1))

static const struct call ia_calls[] = {
    ROW(IA, ia_query),     ROW(IA, ia_close),      ROW(IA, ia_cno_create), ROW(IA, ia_evd_create),
    ROW(IA, ia_ep_create), ROW(IA, ia_lmr_create), ROW(IA, ia_psp_create), ROW(IA, ia_rsp_create),
    ROW(IA, ia_pz_create), ROW(IA, ia_srq_create), ROW(IA, ia_sync_read),  ROW(IA, ia_sync_write),
};

/* ---------------------------------------------------------------- objects */

static void make_objects(struct objects *objects)
{
    struct kit_side *side = &objects->side;
    DAT_SRQ_ATTR srq = {.max_recv_dtos = 8, .max_recv_iov = 1};
    DAT_CONN_QUAL qual;

    kit_side_open(side);
    objects->reserved = kit_ep(side);
    objects->caller = kit_ep(side);
    objects->of[DAT_HANDLE_TYPE_PZ] = side->pz;
    objects->of[DAT_HANDLE_TYPE_EVD] = side->recv;
    objects->of[DAT_HANDLE_TYPE_EP] = side->ep;
    objects->of[DAT_HANDLE_TYPE_LMR] = side->lmr;
    CHECK_DAT(dat_cno_create(side->ia, AGENT, &objects->of[DAT_HANDLE_TYPE_CNO]));
    CHECK_DAT(dat_rmr_create(side->pz, &objects->of[DAT_HANDLE_TYPE_RMR]));
    CHECK_DAT(dat_srq_create(side->ia, side->pz, &srq, &objects->of[DAT_HANDLE_TYPE_SRQ]));
    objects->of[DAT_HANDLE_TYPE_PSP] = kit_listen(side, DAT_PSP_CONSUMER_FLAG, &qual);
    kit_connect(side, objects->caller, qual);
    objects->of[DAT_HANDLE_TYPE_CR] = kit_request(side);
    /* The RSP gets the qualifier that a PSP has found free. */
    CHECK_DAT(dat_psp_free(kit_listen(side, DAT_PSP_CONSUMER_FLAG, &qual)));
    CHECK_DAT(dat_rsp_create(side->ia, qual, objects->reserved, side->cr,
                             &objects->of[DAT_HANDLE_TYPE_RSP]));
}

/* Frees each object. If a wrong call had changed one, this would fail. */
static void free_objects(struct objects *objects)
{
    struct kit_side *side = &objects->side;

    CHECK_DAT(dat_rsp_free(objects->of[DAT_HANDLE_TYPE_RSP]));
    CHECK_DAT(dat_cr_reject(objects->of[DAT_HANDLE_TYPE_CR], 0, NULL));
    (void)kit_next(side->connect, DAT_CONNECTION_EVENT_PEER_REJECTED);
    CHECK_DAT(dat_psp_free(objects->of[DAT_HANDLE_TYPE_PSP]));
    CHECK_DAT(dat_srq_free(objects->of[DAT_HANDLE_TYPE_SRQ]));
    CHECK_DAT(dat_rmr_free(objects->of[DAT_HANDLE_TYPE_RMR]));
    CHECK_DAT(dat_cno_free(objects->of[DAT_HANDLE_TYPE_CNO]));
    CHECK_DAT(dat_ep_free(objects->reserved));
    CHECK_DAT(dat_ep_free(objects->caller));
    kit_side_close(side);
}

static void keep(DAT_HANDLE *handles, const struct objects *objects)
{
    for (int kind = 0; kind < KINDS; kind++)
        handles[kind] = objects->of[kind];
}

/* ---------------------------------------------------------------- the tables */

static void refused(const struct call *call, const char *what, DAT_HANDLE handle)
{
    DAT_RETURN got = call->call(handle);

    if (DAT_GET_TYPE(got) != DAT_INVALID_HANDLE)
        check_note(__FILE__, __LINE__, "%s of %s is %x, not DAT_INVALID_HANDLE", call->name, what,
                   (unsigned)got);
}

static void refused_kinds(const struct call *call)
{
    char what[64];

    for (int kind = 0; kind < KINDS; kind++) {
        snprintf(what, sizeof(what), "another kind (%d)", kind);
        if (kind != (int)call->kind && world.of[kind])
            refused(call, what, world.of[kind]);
    }
    refused(call, "a freed handle", freed[call->kind]);
    refused(call, "a handle of a closed IA", closed[call->kind]);
}

static void check_first(void)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        refused(&calls[i], "NULL", DAT_HANDLE_NULL);
        refused_kinds(&calls[i]);
    }
}

static void check_others(void)
{
    for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++) {
        const struct call *call = &arguments[i];

        if (!call->null_is_none)
            refused(call, "NULL", DAT_HANDLE_NULL);
        refused_kinds(call);
        refused(call, "another IA's", other[call->kind]);
        refused(call, "1", (DAT_HANDLE)1);
        refused(call, "memory", memory);
        refused(call, "the middle of an object", (char *)world.of[call->kind] + 8);
    }
}

/*
 * Calls that take a handle of any kind. There is no row for a wrong IA, since libdat2 itself
 * dereferences it.
 */
static void check_any(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        if (!freed[kind])
            continue;
        EXPECT_TYPE(DAT_INVALID_HANDLE, dat_set_consumer_context(freed[kind], context));
        EXPECT_TYPE(DAT_INVALID_HANDLE, dat_get_consumer_context(freed[kind], &context));
        EXPECT_TYPE(DAT_INVALID_HANDLE, dat_get_handle_type(freed[kind], &kind_told));
        EXPECT_TYPE(DAT_SUCCESS, dat_get_handle_type(world.of[kind], &kind_told));
        EXPECT_EQ(kind, kind_told);
    }
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_set_consumer_context(DAT_HANDLE_NULL, context));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_get_consumer_context(DAT_HANDLE_NULL, &context));
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_get_handle_type(DAT_HANDLE_NULL, &kind_told));
}

static void check_ia(DAT_IA_HANDLE closed_ia)
{
    for (size_t i = 0; i < sizeof(ia_calls) / sizeof(*ia_calls); i++) {
        refused(&ia_calls[i], "NULL", DAT_HANDLE_NULL);
        refused(&ia_calls[i], "a closed IA", closed_ia);
        refused(&ia_calls[i], "no IA", (DAT_HANDLE)(uintptr_t)900);
    }
}

int main(void)
{
    static struct objects second;
    DAT_IA_HANDLE closed_ia;

    make_objects(&world);
    segment = kit_local(&world.side, 0, 16);
    target = kit_remote(&world.side, 16, 16);

    make_objects(&second);
    keep(freed, &second);
    free_objects(&second);
    make_objects(&second);
    keep(closed, &second);
    closed_ia = second.side.ia;
    CHECK_DAT(dat_ia_close(second.side.ia, DAT_CLOSE_ABRUPT_FLAG));
    free(second.side.buffer);
    /* New objects may get the memory of freed ones; such a handle is not tested as a freed one. */
    check_first();
    check_any();
    check_ia(closed_ia);

    make_objects(&second);
    keep(other, &second);
    for (int kind = 0; kind < KINDS; kind++) {
        freed[kind] = freed[kind] == other[kind] ? world.of[DAT_HANDLE_TYPE_CNO] : freed[kind];
        closed[kind] = closed[kind] == other[kind] ? world.of[DAT_HANDLE_TYPE_CNO] : closed[kind];
    }
    freed[DAT_HANDLE_TYPE_CNO] = closed[DAT_HANDLE_TYPE_CNO] = world.side.pz;
    check_others();

    free_objects(&second);
    free_objects(&world);
    check_done();
    return 0;
}
