/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes every call that depends on the state of an endpoint in every state. Checks the result, the
 * endpoint's state afterwards, and the events. Each call has a row, each state a column.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_kit.h"

/* ---- The calls ------------------------------------------------------------------------------ */

static it_status_t call_connect(struct machine *m)
{
    it_path_t path = fx_path(&m->node);
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = m->idle_port};

    return it_ep_connect(m->ep, &path, NULL, &qual, IT_CONNECT_FLAG_TWO_WAY, NULL, 0);
}

static it_status_t call_connect_three_way(struct machine *m)
{
    it_path_t path = fx_path(&m->node);
    it_conn_qual_t qual = {.type = IT_IANA_PORT, .conn_qual.port = m->idle_port};

    return it_ep_connect(m->ep, &path, NULL, &qual, IT_CONNECT_FLAG_THREE_WAY, NULL, 0);
}

/* Defines a step that is a single call. */
#define CALL(name, call)                                                                           \
    static it_status_t name(struct machine *m)                                                     \
    {                                                                                              \
        return call;                                                                               \
    }

CALL(call_accept, it_ep_accept(m->ep, m->id, NULL, 0));
CALL(call_reject, it_reject(m->id, NULL, 0));

static it_status_t call_handoff(struct machine *m)
{
    it_status_t status = it_handoff(&m->elsewhere, m->node.spigot, m->id);

    if (status == IT_SUCCESS)
        (void)fx_request(&m->node, NULL);
    return status;
}

CALL(call_convert_initiator, it_socket_convert(m->spare, m->ep, IT_SC_DEFAULT, NULL, 0));
CALL(call_convert_responder,
     it_socket_convert(m->spare, m->ep, IT_SC_DEFAULT, (const unsigned char *)"go", 2));
CALL(call_convert_at_once, it_socket_convert(m->spare, m->ep, IT_SC_NO_REQ_REP, NULL, 0));
CALL(call_convert_at_once_responder,
     it_socket_convert(m->spare, m->ep, IT_SC_NO_REQ_REP, (const unsigned char *)"go", 2));

/* There is nothing to convert. The call is refused for that reason where the state is right. */
CALL(call_convert_nothing, it_socket_convert(-1, m->ep, IT_SC_DEFAULT, NULL, 0));
CALL(call_disconnect, it_ep_disconnect(m->ep, NULL, 0));
CALL(call_reset, it_ep_reset(m->ep));

static it_status_t call_query(struct machine *m)
{
    it_ep_param_t params;

    return it_ep_query(m->ep, IT_EP_PARAM_ALL, &params);
}

static it_status_t call_set_mpa(struct machine *m)
{
    struct itx_mpa_params params = fx_mpa(m->ep);

    return itx_ep_set_mpa_params(m->ep, &params);
}

CALL(call_free, it_ep_free(m->ep));
CALL(call_post_recv, it_post_recv(m->ep, NULL, 0, 7, FX_SIGNAL));
CALL(call_post_send, it_post_send(m->ep, NULL, 0, 7, FX_SIGNAL));
CALL(call_post_write, it_post_rdma_write(m->ep, NULL, 0, 7, FX_SIGNAL, 0, 0));
CALL(call_post_read, it_post_rdma_read(m->ep, NULL, 0, 7, FX_SIGNAL, 0, 0));

/* ---- Posts that name memory ----------------------------------------------------------------- */

static _Alignas(8) unsigned char words[2][8]; /* of this side, of the other side */

static it_lmr_handle_t region(const struct fx_node *node, unsigned char *at, it_rmr_context_t *key)
{
    const it_mem_priv_t privs = (it_mem_priv_t)(FX_PRIVS_ALL | IT_PRIV_ATOMIC);
    it_lmr_handle_t lmr = NULL;

    CHECK_OK(it_lmr_create21(node->pz, at, NULL, sizeof(words[0]), IT_ADDR_MODE_ABSOLUTE, privs,
                             IT_LMR_FLAG_NONE, 0, &lmr, key));
    return lmr;
}

/* Returns a key that the other side serves, if there is one. */
static it_rmr_context_t other_key(struct machine *m)
{
    it_rmr_context_t key = 0;

    if (machine_state(m->ep) == 'C')
        (void)region(&m->other, words[1], &key);
    return key;
}

static it_lmr_triplet_t result(struct machine *m)
{
    it_rmr_context_t key;

    return (it_lmr_triplet_t){
        .lmr = region(&m->node, words[0], &key), .addr.abs = words[0], .length = sizeof(words[0])};
}

static void allow_atomics(struct machine *m)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.srv.rc.atomics_enable = IT_TRUE;
    if (machine_state(m->ep) == 'C')
        CHECK_OK(it_ep_modify(m->other_ep, IT_EP_PARAM_ATOMICS_ENABLE, &attr));
}

static it_status_t call_post_atomic(struct machine *m, it_atomic_op_t op)
{
    it_lmr_triplet_t segment = result(m);

    allow_atomics(m);
    return it_post_atomic(m->ep, op, 1, 0, &segment, 7, FX_SIGNAL, (uintptr_t)words[1],
                          other_key(m));
}

CALL(call_post_fetch_add, call_post_atomic(m, IT_FETCH_AND_ADD));
CALL(call_post_cmp_swap, call_post_atomic(m, IT_COMPARE_AND_SWAP));

static it_status_t call_post_swap(struct machine *m)
{
    it_lmr_triplet_t segment = result(m);

    allow_atomics(m);
    return itx_post_atomic_swap(m->ep, 1, &segment, 7, FX_SIGNAL, (uintptr_t)words[1],
                                other_key(m));
}

static void agree_on_immediate(struct machine *m)
{
    CHECK_OK(itx_ep_enable_immediate(m->ep, IT_TRUE));
    if (machine_state(m->ep) == 'C')
        CHECK_OK(itx_ep_enable_immediate(m->other_ep, IT_TRUE));
}

static it_status_t call_post_send_imm(struct machine *m)
{
    agree_on_immediate(m);
    return itx_post_send_imm(m->ep, NULL, 0, 7, FX_SIGNAL, 5);
}

static it_status_t call_post_write_imm(struct machine *m)
{
    agree_on_immediate(m);
    return itx_post_rdma_write_imm(m->ep, NULL, 0, 7, FX_SIGNAL, 0, 0, 5);
}

CALL(call_post_send_and_unlink,
     it_post_send_and_unlink(m->ep, NULL, 0, 7, FX_SIGNAL, other_key(m)));
CALL(call_post_read_to_rmr, it_post_rdma_read_to_rmr(m->ep, NULL, 0, 7, FX_SIGNAL, 0, 0));

static it_rmr_handle_t window(struct machine *m)
{
    it_rmr_handle_t rmr = NULL;

    CHECK_OK(it_rmr_create20(m->node.pz, IT_RMR_TYPE_WIDE, &rmr));
    return rmr;
}

static it_status_t link_window(struct machine *m, it_rmr_handle_t rmr, it_dto_flags_t flags)
{
    it_rmr_context_t key;
    it_lmr_handle_t lmr = region(&m->node, words[0], &key);

    return it_rmr_link(rmr, lmr, words[0], sizeof(words[0]), IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE,
                       m->ep, 7, flags, &key);
}

CALL(call_rmr_link, link_window(m, window(m), FX_SIGNAL));

static it_status_t call_rmr_bind10(struct machine *m)
{
    it_rmr_context_t key;
    it_lmr_handle_t lmr = region(&m->node, words[0], &key);

    return it_rmr_bind10(window(m), lmr, words[0], sizeof(words[0]), IT_PRIV_REMOTE, m->ep, 7,
                         FX_SIGNAL, &key);
}

static it_status_t call_rmr_unlink(struct machine *m)
{
    it_rmr_handle_t rmr = window(m);

    if (machine_state(m->ep) == 'C')
        CHECK_OK(link_window(m, rmr, FX_QUIET));
    return it_rmr_unlink(rmr, m->ep, 7, FX_SIGNAL);
}

/* This call does not depend on the state. */
CALL(call_post_recv_srq, it_post_recv(fx_srq(&m->node, 1, 4), NULL, 0, 7, FX_SIGNAL));

/* ---- The table ------------------------------------------------------------------------------ */

/* Columns: MACHINE_LETTERS. */
static const struct row {
    const char *name;
    it_status_t (*call)(struct machine *m);
    /* o accepted, f accepted and flushed, s refused for the state, v refused for a value */
    const char *answers;
    const char *after;     /* the state afterwards; =: the same, -: none, the endpoint is freed */
    it_event_type_t event; /* on the connect EVD, if it was accepted and the state has changed */
    it_event_type_t complete; /* completion of a post */
} rows[] = {
    {"it_ep_connect", call_connect, "ossssss", "1======", 0, 0},
    {"it_ep_connect, three-way", call_connect_three_way, "vvvvvvv", "=======", 0, 0},
    {"it_ep_accept", call_accept, "ossssss", "C======", IT_CM_MSG_CONN_ESTABLISHED_EVENT, 0},
    {"it_reject", call_reject, "ooooooo", "=======", 0, 0},
    {"it_handoff", call_handoff, "ooooooo", "=======", 0, 0},
    {"it_socket_convert, Initiator", call_convert_initiator, "ossssss", "1======", 0, 0},
    {"it_socket_convert, Responder", call_convert_responder, "ossssss", "W======", 0, 0},
    {"it_socket_convert, no exchange, Initiator", call_convert_at_once, "ossssss",
     "C======", IT_CM_MSG_CONN_ESTABLISHED_EVENT, 0},
    {"it_socket_convert, no exchange, Responder", call_convert_at_once_responder, "ossssss",
     "C======", IT_CM_MSG_CONN_ESTABLISHED_EVENT, 0},
    {"it_socket_convert of nothing", call_convert_nothing, "vvvvvvv", "=======", 0, 0},
    {"it_ep_disconnect", call_disconnect, "sooooos", "=NNNNN=", IT_CM_MSG_CONN_DISCONNECT_EVENT, 0},
    {"it_ep_reset", call_reset, "ossssso", "======U", 0, 0},
    {"it_ep_query", call_query, "ooooooo", "=======", 0, 0},
    {"itx_ep_set_mpa_params", call_set_mpa, "ossssss", "=======", 0, 0},
    {"it_ep_free", call_free, "ooooooo", "-------", 0, 0},
    {"it_post_recv", call_post_recv, "oooooof", "=======", 0, IT_DTO_RC_RECV_CMPL_EVENT},
    {"it_post_send", call_post_send, "sssssof", "=======", 0, IT_DTO_SEND_CMPL_EVENT},
    {"it_post_rdma_write", call_post_write, "sssssof", "=======", 0, IT_DTO_RDMA_WRITE_CMPL_EVENT},
    {"it_post_rdma_read", call_post_read, "sssssof", "=======", 0, IT_DTO_RDMA_READ_CMPL_EVENT},
    {"it_post_atomic, add", call_post_fetch_add, "sssssof", "=======", 0,
     IT_DTO_FETCH_ADD_CMPL_EVENT},
    {"it_post_atomic, swap", call_post_cmp_swap, "sssssof", "=======", 0,
     IT_DTO_CMP_SWAP_CMPL_EVENT},
    {"itx_post_atomic_swap", call_post_swap, "sssssof", "=======", 0, IT_DTO_CMP_SWAP_CMPL_EVENT},
    {"itx_post_send_imm", call_post_send_imm, "sssssof", "=======", 0, IT_DTO_SEND_CMPL_EVENT},
    {"itx_post_rdma_write_imm", call_post_write_imm, "sssssof", "=======", 0,
     IT_DTO_RDMA_WRITE_CMPL_EVENT},
    {"it_post_send_and_unlink", call_post_send_and_unlink, "sssssof", "=======", 0,
     IT_DTO_SEND_CMPL_EVENT},
    {"it_post_rdma_read_to_rmr", call_post_read_to_rmr, "sssssof", "=======", 0,
     IT_DTO_RDMA_READ_CMPL_EVENT},
    {"it_rmr_link", call_rmr_link, "sssssof", "=======", 0, IT_RMR_LINK_CMPL_EVENT},
    {"it_rmr_bind10", call_rmr_bind10, "sssssof", "=======", 0, IT_RMR_BIND_CMPL_EVENT},
    {"it_rmr_unlink", call_rmr_unlink, "sssssof", "=======", 0, IT_RMR_LINK_CMPL_EVENT},
    {"it_post_recv on an S-RQ", call_post_recv_srq, "ooooooo", "=======", 0, 0},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static it_evd_handle_t completion_evd(const struct machine *m, const struct row *row)
{
    return row->complete == IT_DTO_RC_RECV_CMPL_EVENT ? m->node.recv_evd : m->node.request_evd;
}

/* Checks the posted request: a receive waits, a request completes in C and is flushed in N. */
static void check_post(struct machine *m, const struct row *row, char state)
{
    if (row->complete == 0)
        return;
    if (state == 'N')
        fx_done(completion_evd(m, row), m->ep, row->complete, 7, IT_DTO_ERR_FLUSHED);
    else if (row->complete != IT_DTO_RC_RECV_CMPL_EVENT)
        fx_done(completion_evd(m, row), m->ep, row->complete, 7, IT_DTO_SUCCESS);
}

/* Receive 1 was posted before the call. It stays, but is flushed on the way to NONOPERATIONAL. */
static void check_receive(struct machine *m, char before, char after)
{
    if (before != 'N' && after == 'N')
        fx_done(m->node.recv_evd, m->ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
}

static void check_accepted(struct machine *m, const struct row *row, unsigned column)
{
    char before = MACHINE_LETTERS[column];
    char after = row->after[column];

    if (after == '-') {
        it_handle_type_enum_t type;

        EXPECT_STATUS(IT_ERR_INVALID_HANDLE, it_get_handle_type(m->ep, &type));
        machine_is_silent(m);
        return;
    }
    if (after == '=')
        after = before;
    /* The state has changed when the call returns and when its event is read. */
    if (after != 'C' || before == 'C')
        EXPECT_EQ(after, machine_state(m->ep));
    if (row->event && after != before)
        fx_conn(m->node.conn_evd, m->ep, row->event);
    EXPECT_EQ(after, machine_state(m->ep));
    check_post(m, row, before);
    check_receive(m, before, after);
    machine_is_silent(m);
}

/* A refused call changes nothing, and the request can still be answered. */
static void check_refused(struct machine *m, unsigned column)
{
    EXPECT_EQ(MACHINE_LETTERS[column], machine_state(m->ep));
    machine_is_silent(m);
    EXPECT_OK(it_reject(m->id, NULL, 0));
}

static void walk_cell(const struct row *row, unsigned column)
{
    char answer = row->answers[column];
    char state = MACHINE_LETTERS[column];
    struct machine m;
    it_status_t status;
    char context[128];

    (void)snprintf(context, sizeof(context), "%s in %c", row->name, state);
    check_context(context);
    machine_open(&m, state, false);
    machine_equip(&m);
    if (state != 'N')
        CHECK_OK(it_post_recv(m.ep, NULL, 0, 1, FX_SIGNAL));
    if (state == 'C')
        CHECK_OK(it_post_recv(m.other_ep, NULL, 0, 1, FX_SIGNAL));
    status = row->call(&m);
    if (answer == 'o' || answer == 'f') {
        EXPECT_STATUS(IT_SUCCESS, status);
        check_accepted(&m, row, column);
    } else if (answer == 's') {
        EXPECT_STATUS(IT_ERR_INVALID_EP_STATE, status);
        check_refused(&m, column);
    } else {
        EXPECT(status == IT_ERR_INVALID_CN_EST_FLAGS || status == IT_ERR_INVALID_CONVERSION);
        check_refused(&m, column);
    }
    machine_close(&m);
    check_context(NULL);
}

Test(machine_calls, every_cell)
{
    for (size_t i = 0; i < ROWS; i++) {
        CHECK_EQ(MACHINE_STATES, strlen(rows[i].answers));
        CHECK_EQ(MACHINE_STATES, strlen(rows[i].after));
        for (unsigned column = 0; column < MACHINE_STATES; column++)
            walk_cell(&rows[i], column);
    }
    check_done();
}
