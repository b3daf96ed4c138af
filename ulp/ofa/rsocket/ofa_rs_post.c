/* SPDX-License-Identifier: BSD-2-Clause */
/* Posting work requests of streams. */
#include "rsocket/ofa_rsocket.h"

#include <errno.h>

int rs_post_receive(struct rsock *rs, uint32_t index)
{
    struct ibv_sge segment = {(uintptr_t)&rs->messages[index], sizeof(uint32_t), rs->own_mr->lkey};
    struct ibv_recv_wr request = {.wr_id = index, .sg_list = &segment, .num_sge = 1};
    struct ibv_recv_wr *bad;

    return ibv_post_recv(rs->id->qp, &request, &bad);
}

/* A message is always signaled: its completion frees the resources of it and its Write. */
static void fill_message(struct ibv_send_wr *request, struct ibv_sge *segment,
                         const uint32_t *message, uint32_t tag)
{
    *segment = (struct ibv_sge){.addr = (uintptr_t)message, .length = sizeof(*message)};
    *request = (struct ibv_send_wr){
        .wr_id = tag,
        .sg_list = segment,
        .num_sge = 1,
        .opcode = IBV_WR_SEND,
        .send_flags = (unsigned)IBV_SEND_INLINE | (unsigned)IBV_SEND_SIGNALED,
    };
}

static int post(struct rsock *rs, struct ibv_send_wr *request)
{
    struct ibv_send_wr *bad;
    int error = ibv_post_send(rs->id->qp, request, &bad);

    if (error != 0)
        rs_fail(rs, ECONNRESET);
    return error == 0 ? 0 : ECONNRESET;
}

static int take_control(struct rsock *rs, uint32_t tag)
{
    uint32_t kind = tag >> RS_KIND_SHIFT;

    if (kind == RS_CREDITS || kind == RS_CONTROL) {
        if (rs->controls_left == 0)
            return EAGAIN;
        rs->controls_left--;
    }
    return 0;
}

int rs_post_message(struct rsock *rs, uint32_t message)
{
    struct ibv_send_wr request;
    struct ibv_sge segment;
    int error = take_control(rs, message);

    if (error != 0)
        return error;
    fill_message(&request, &segment, &message, message);
    return post(rs, &request);
}

int rs_post_write(struct rsock *rs, const struct rs_write *write)
{
    struct ibv_sge segments[2];
    struct ibv_send_wr message;
    struct ibv_send_wr request;
    int error = take_control(rs, write->tag);

    if (error != 0)
        return error;
    fill_message(&message, &segments[1], &write->tag, write->tag);
    segments[0] = (struct ibv_sge){(uintptr_t)write->from, write->length, rs->own_mr->lkey};
    request = (struct ibv_send_wr){
        .wr_id = write->tag,
        .next = write->silent ? NULL : &message,
        .sg_list = &segments[0],
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = (write->is_inline ? (unsigned)IBV_SEND_INLINE : 0) |
                      (write->silent ? (unsigned)IBV_SEND_SIGNALED : 0),
        .wr.rdma = {.remote_addr = write->to, .rkey = write->key},
    };
    return post(rs, &request);
}
