/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every call that depends on the state of an endpoint, in every state: what it answers, where the
 * endpoint is then, and which events there are. One row a call, one column a state.
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

static it_status_t call_accept(struct machine *m)
{
    return it_ep_accept(m->ep, m->id, NULL, 0);
}

static it_status_t call_reject(struct machine *m)
{
    return it_reject(m->id, NULL, 0);
}

static it_status_t call_handoff(struct machine *m)
{
    it_status_t status = it_handoff(&m->elsewhere, m->node.spigot, m->id);

    if (status == IT_SUCCESS)
        (void)fx_request(&m->node, NULL);
    return status;
}

static it_status_t call_convert_initiator(struct machine *m)
{
    return it_socket_convert(m->spare, m->ep, IT_SC_DEFAULT, NULL, 0);
}

static it_status_t call_convert_responder(struct machine *m)
{
    return it_socket_convert(m->spare, m->ep, IT_SC_DEFAULT, (const unsigned char *)"go", 2);
}

static it_status_t call_convert_at_once(struct machine *m)
{
    return it_socket_convert(m->spare, m->ep, IT_SC_NO_REQ_REP, NULL, 0);
}

static it_status_t call_convert_at_once_responder(struct machine *m)
{
    return it_socket_convert(m->spare, m->ep, IT_SC_NO_REQ_REP, (const unsigned char *)"go", 2);
}

/* Nothing to convert: refused for that where the state is right. */
static it_status_t call_convert_nothing(struct machine *m)
{
    return it_socket_convert(-1, m->ep, IT_SC_DEFAULT, NULL, 0);
}

static it_status_t call_disconnect(struct machine *m)
{
    return it_ep_disconnect(m->ep, NULL, 0);
}

static it_status_t call_reset(struct machine *m)
{
    return it_ep_reset(m->ep);
}

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

static it_status_t call_free(struct machine *m)
{
    return it_ep_free(m->ep);
}

static it_status_t call_post_recv(struct machine *m)
{
    return it_post_recv(m->ep, NULL, 0, 7, FX_SIGNAL);
}

static it_status_t call_post_send(struct machine *m)
{
    return it_post_send(m->ep, NULL, 0, 7, FX_SIGNAL);
}

static it_status_t call_post_write(struct machine *m)
{
    return it_post_rdma_write(m->ep, NULL, 0, 7, FX_SIGNAL, 0, 0);
}

static it_status_t call_post_read(struct machine *m)
{
    return it_post_rdma_read(m->ep, NULL, 0, 7, FX_SIGNAL, 0, 0);
}

/* ---- The table ------------------------------------------------------------------------------ */

/* Columns: MACHINE_LETTERS. */
static const struct row {
    const char *name;
    it_status_t (*call)(struct machine *m);
    /* o accepted, f accepted and flushed, s refused for the state, v refused for a value */
    const char *answers;
    const char *after;     /* the state then; = the same, - none, the endpoint is gone */
    it_event_type_t event; /* on the connect EVD when it was accepted and the state has changed */
    it_event_type_t complete; /* a post: its completion */
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
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static it_evd_handle_t completion_evd(const struct machine *m, const struct row *row)
{
    return row->complete == IT_DTO_RC_RECV_CMPL_EVENT ? m->node.recv_evd : m->node.request_evd;
}

/* What has been posted: a receive waits, a request in C is executed, in N each is flushed. */
static void check_post(struct machine *m, const struct row *row, char state)
{
    if (row->complete == 0)
        return;
    if (state == 'N')
        fx_done(completion_evd(m, row), m->ep, row->complete, 7, IT_DTO_ERR_FLUSHED);
    else if (row->complete != IT_DTO_RC_RECV_CMPL_EVENT)
        fx_done(completion_evd(m, row), m->ep, row->complete, 7, IT_DTO_SUCCESS);
}

/* Number 1 was posted before the call: kept, but flushed on the way into NONOPERATIONAL. */
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
    /* Nobody has to wait for the state, or sees an older one with the event. */
    if (after != 'C' || before == 'C')
        EXPECT_EQ(after, machine_state(m->ep));
    if (row->event && after != before)
        fx_conn(m->node.conn_evd, m->ep, row->event);
    EXPECT_EQ(after, machine_state(m->ep));
    check_post(m, row, before);
    check_receive(m, before, after);
    machine_is_silent(m);
}

/* Refused: nothing is different, and the request can still be answered. */
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

Test(machine_calls, every_cell, .timeout = 60)
{
    for (size_t i = 0; i < ROWS; i++) {
        CHECK_EQ(MACHINE_STATES, strlen(rows[i].answers));
        CHECK_EQ(MACHINE_STATES, strlen(rows[i].after));
        for (unsigned column = 0; column < MACHINE_STATES; column++)
            walk_cell(&rows[i], column);
    }
    check_done();
}
