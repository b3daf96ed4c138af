/* SPDX-License-Identifier: BSD-2-Clause */
/* The server: accepts, answers each message, ends what it has to end. */
#include "soak/soak.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct soak_side side;
static struct fx_buf bulk;

static void take_request(const it_conn_request_event_t *event)
{
    for (unsigned i = 0; i < side.conn_count; i++) {
        struct soak_conn *conn = &side.conns[i];

        if (conn->busy)
            continue;
        soak_prepare(&side, conn);
        CHECK_OK(it_ep_accept(conn->ep, event->cn_est_id, NULL, 0));
        return;
    }
    CHECK_FAIL("more connections than clients may have");
}

/* The first message is answered, the second one says that this side ends the connection. */
static void take_message(struct soak_conn *conn, uint32_t length)
{
    struct soak_header header = soak_check(conn, length);

    if (conn->answers++ == 0) {
        conn->number = header.number;
        soak_receive(conn);
        soak_send(conn, header.number, header.number == SOAK_BULK_NUMBER ? &bulk : &conn->out);
        return;
    }
    CHECK_EQ(conn->number, header.number);
    if (soak_end_of(conn->number) == SOAK_SERVER_FREES)
        soak_free(&side, conn);
    else
        CHECK_OK(it_ep_disconnect(conn->ep, NULL, 0));
}

static void take_event(const it_event_t *event)
{
    struct soak_conn *conn;

    if (event->event_number == IT_CM_REQ_CONN_REQUEST_EVENT) {
        take_request(&event->conn_req);
        return;
    }
    conn = soak_conn_of(&side, event);
    if (!conn || event->event_number == IT_CM_MSG_CONN_ESTABLISHED_EVENT)
        return;
    if (event->event_number == IT_DTO_RC_RECV_CMPL_EVENT) {
        if (event->dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED)
            return;
        CHECK_EQ(IT_DTO_SUCCESS, event->dto_cmpl.dto_status);
        take_message(conn, event->dto_cmpl.transferred_length);
    } else {
        CHECK_EQ(IT_CM_MSG_CONN_DISCONNECT_EVENT, event->event_number);
        soak_renew(&side, conn);
    }
}

static bool is_idle(void)
{
    for (unsigned i = 0; i < side.conn_count; i++) {
        if (side.conns[i].busy)
            return false;
    }
    return true;
}

/* Answers with a sample once all connections are over. Returns false at the end. */
static bool look_at_control(int control, size_t descriptors)
{
    struct soak_sample sample;
    char octet;
    ssize_t got = recv(control, &octet, 1, MSG_DONTWAIT);

    if (got == 0)
        return false;
    if (got < 0)
        return true;
    while (!is_idle()) {
        it_event_t event;

        if (soak_event(&side, &event))
            take_event(&event);
    }
    soak_free_all(&side);
    fx_fd_settle(descriptors);
    sample = soak_sample();
    CHECK_EQ((ssize_t)sizeof(sample), write(control, &sample, sizeof(sample)));
    return true;
}

void soak_serve(int control)
{
    it_conn_qual_t qual = {.type = IT_IANA_PORT};
    it_listen_handle_t listener;
    size_t descriptors;
    it_event_t event;

    soak_open(&side, SOAK_SLOTS * 2);
    bulk = fx_buf_make(&side.node, 2 * SOAK_BULK);
    CHECK_OK(it_listen_create(side.node.ia, side.node.spigot, side.evd, IT_LISTEN_NO_FLAG, &qual,
                              &listener));
    descriptors = fx_fd_count();
    CHECK_EQ(2, write(control, &qual.conn_qual.port, 2));
    for (unsigned i = 0; i % 64 || look_at_control(control, descriptors); i++) {
        if (soak_event(&side, &event))
            take_event(&event);
        else
            i |= 63; /* idle: looks at once */
    }
    CHECK_OK(it_ia_free(side.node.ia));
}
