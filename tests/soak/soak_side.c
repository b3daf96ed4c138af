/* SPDX-License-Identifier: BSD-2-Clause */
#include "soak/soak.h"

#include "support/threads.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void soak_open(struct soak_side *side, unsigned conns)
{
    unsigned streams = ITX_STREAM_DTO | ITX_STREAM_CM_REQ | ITX_STREAM_CM_MSG;

    memset(side, 0, sizeof(*side));
    fx_node_open(&side->node);
    CHECK_OK(itx_evd_create_mixed(side->node.ia, streams, 0, 4096, IT_THRESHOLD_DISABLE, NULL,
                                  &side->evd, NULL));
    side->conn_count = conns;
    for (unsigned i = 0; i < conns; i++) {
        side->conns[i].in = fx_buf_make(&side->node, SOAK_ROOM);
        side->conns[i].out = fx_buf_make(&side->node, SOAK_ROOM);
    }
}

bool soak_event(const struct soak_side *side, it_event_t *event)
{
    it_status_t status = it_evd_wait(side->evd, 10000, event, NULL);

    if (status == IT_ERR_TIMEOUT_EXPIRED)
        return false;
    CHECK_OK(status);
    return true;
}

struct soak_conn *soak_conn_of(struct soak_side *side, const it_event_t *event)
{
    it_ep_handle_t ep = NULL;

    if ((event->event_number & IT_EVENT_STREAM_MASK) == IT_CM_MSG_EVENT_STREAM)
        ep = event->conn.ep;
    else if (!(event->all_dto_cmpl.flags & ITX_DTO_EP_FREED))
        ep = event->dto_cmpl.ep;
    for (unsigned i = 0; ep && i < side->conn_count; i++) {
        if (side->conns[i].ep == ep)
            return &side->conns[i];
    }
    return NULL;
}

void soak_prepare(struct soak_side *side, struct soak_conn *conn)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_request_dtos = attr.max_recv_dtos = 4;
    if (!conn->ep)
        CHECK_OK(it_ep_rc_create(side->node.pz, side->evd, side->evd, side->evd, IT_EP_REUSEADDR,
                                 &attr, &conn->ep));
    conn->busy = true;
    conn->answers = 0;
    soak_receive(conn);
}

void soak_receive(struct soak_conn *conn)
{
    fx_recv(conn->ep, &conn->in, 0, SOAK_ROOM, 0);
}

static uint32_t length_of(uint32_t number)
{
    return (uint32_t)sizeof(struct soak_header) +
           number * 977u % (SOAK_ROOM - (uint32_t)sizeof(struct soak_header));
}

void soak_send(struct soak_conn *conn, uint32_t number, const struct fx_buf *named)
{
    struct soak_header header = {.number = number,
                                 .length = length_of(number),
                                 .address = (uint64_t)(uintptr_t)named->data,
                                 .key = named->key};

    fx_fill(conn->out.data, header.length, number);
    memcpy(conn->out.data, &header, sizeof(header));
    fx_send(conn->ep, &conn->out, 0, header.length, 0, FX_QUIET);
}

struct soak_header soak_check(const struct soak_conn *conn, uint32_t length)
{
    struct soak_header header;
    unsigned char wanted[SOAK_ROOM];

    memcpy(&header, conn->in.data, sizeof(header));
    CHECK_EQ(length, header.length);
    CHECK_EQ(length_of(header.number), length);
    fx_fill(wanted, length, header.number);
    fx_check_same(wanted + sizeof(header), conn->in.data + sizeof(header), length - sizeof(header));
    return header;
}

enum soak_end soak_end_of(uint32_t number)
{
    return (enum soak_end)(number % SOAK_ENDS);
}

void soak_free(struct soak_side *side, struct soak_conn *conn)
{
    CHECK_OK(it_ep_free(conn->ep));
    conn->ep = NULL;
    conn->busy = false;
    side->ended++;
}

void soak_renew(struct soak_side *side, struct soak_conn *conn)
{
    if (conn->number / SOAK_ENDS % 2) {
        soak_free(side, conn);
        return;
    }
    CHECK_OK(it_ep_reset(conn->ep));
    conn->busy = false;
    side->ended++;
}

void soak_free_all(struct soak_side *side)
{
    for (unsigned i = 0; i < side->conn_count; i++) {
        CHECK(!side->conns[i].busy);
        if (side->conns[i].ep)
            CHECK_OK(it_ep_free(side->conns[i].ep));
        side->conns[i].ep = NULL;
    }
}

struct soak_sample soak_sample(void)
{
    struct soak_sample sample = {
        .heap = mallinfo2().uordblks, .descriptors = fx_fd_count(), .threads = threads_now().count};
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long size = 0, resident = 0;

    CHECK(file && fscanf(file, "%lu %lu", &size, &resident) == 2);
    (void)fclose(file);
    sample.resident = resident * (size_t)sysconf(_SC_PAGESIZE) / 1024;
    return sample;
}
