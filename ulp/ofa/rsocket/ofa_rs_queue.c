/* SPDX-License-Identifier: BSD-2-Clause */
/* The queue pair and the memory of a stream. */
#include "cm/ofa_cm.h"
#include "rsocket/ofa_rsocket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A Write and its Send. Some control messages write, too. */
#define REQUESTS_PER_MESSAGE 2u
/*
 * Control messages of the peer need a receive but no credit; few can be on the way: give_credits.
 */
#define SPARE_RECEIVES (RS_CONTROLS * 2)

static uint32_t receives_of(const struct rsock *rs)
{
    return (uint32_t)rs->option[RS_RQSIZE] + SPARE_RECEIVES;
}

static uint32_t requests_of(const struct rsock *rs)
{
    return (uint32_t)rs->option[RS_SQSIZE] + RS_CONTROLS * REQUESTS_PER_MESSAGE;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static void *allocate(size_t bytes)
{
    void *memory = NULL;
    long page = sysconf(_SC_PAGESIZE);

    bytes = (bytes + (size_t)page - 1) & ~((size_t)page - 1);
    if (posix_memalign(&memory, (size_t)page, bytes) != 0)
        return NULL;
    memset(memory, 0, bytes);
    return memory;
}

/* Allocates memory. What the peer may write to is separate from the memory of this end. */
static int create_memory(struct rsock *rs)
{
    size_t send = (size_t)rs->option[RS_SNDBUF];
    size_t receive = (size_t)rs->option[RS_RCVBUF];
    size_t messages = receives_of(rs) * sizeof(uint32_t);
    size_t target =
        sizeof(struct rs_target) + (size_t)rs->option[RS_IOMAPSIZE] * sizeof(struct rs_mapping);

    rs->send_ring = allocate(send + messages);
    rs->receive_ring = allocate(receive + target);
    if (!rs->send_ring || !rs->receive_ring)
        return ENOMEM;
    rs->messages = (uint32_t *)(void *)(rs->send_ring + send);
    rs->target = (struct rs_target *)(void *)(rs->receive_ring + receive);
    rs->own_mr = cm_door()->register_still(rs->id->pd, rs->send_ring, send + messages,
                                           (int)IBV_ACCESS_LOCAL_WRITE);
    if (!rs->own_mr)
        return errno;
    rs->target_mr = ibv_reg_mr(rs->id->pd, rs->receive_ring, receive + target,
                               (int)IBV_ACCESS_LOCAL_WRITE | (int)IBV_ACCESS_REMOTE_WRITE);
    return rs->target_mr ? 0 : errno;
}

static void reset_counts(struct rsock *rs)
{
    uint32_t half = (uint32_t)rs->option[RS_RCVBUF] / 2;

    rs->send_room = (uint32_t)rs->option[RS_SNDBUF];
    rs->requests_left = (uint32_t)rs->option[RS_SQSIZE];
    rs->controls_left = RS_CONTROLS;
    rs->span_expected = 1;
    rs->granted = half;
    rs->freed = half;
    rs->grant_offset = half;
    rs->peer_span = 1;
    rs->readable = true;
    rs->writable = true;
}

/* ---- Queue pair ----------------------------------------------------------------------------- */

/* Arms it, too: the first time takes memory, so it fails here, where it can be told. */
static int create_cq(struct rsock *rs, struct rs_queue *queue, uint32_t room)
{
    int error;

    queue->cq = ibv_create_cq(rs->id->verbs, (int)room, rs, rs->events, 0);
    if (!queue->cq)
        return errno;
    error = ibv_req_notify_cq(queue->cq, 0);
    queue->armed = error == 0;
    return error;
}

static int create_qp(struct rsock *rs)
{
    struct ibv_qp_init_attr attr = {
        .qp_context = rs,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = requests_of(rs),
                .max_recv_wr = receives_of(rs),
                .max_send_sge = 1,
                .max_recv_sge = 1},
    };
    uint32_t least = sizeof(struct rs_mapping);
    uint32_t asked = (uint32_t)rs->option[RS_INLINE];
    int error;

    rs->events = ibv_create_comp_channel(rs->id->verbs);
    if (!rs->events || fcntl(rs->events->fd, F_SETFL, O_NONBLOCK) != 0)
        return errno;
    error = create_cq(rs, &rs->receives, attr.cap.max_recv_wr);
    if (error == 0)
        error = create_cq(rs, &rs->requests, attr.cap.max_send_wr);
    if (error != 0)
        return error;
    attr.send_cq = rs->requests.cq;
    attr.recv_cq = rs->receives.cq;
    attr.cap.max_inline_data = asked > least ? asked : least; /* controls are always inline */
    return rdma_create_qp(rs->id, NULL, &attr) == 0 ? 0 : errno;
}

int rs_create_queue(struct rsock *rs)
{
    int error = create_memory(rs);

    if (error == 0)
        error = create_qp(rs);
    if (error != 0)
        return error;
    reset_counts(rs);
    for (uint32_t i = 0; i < receives_of(rs) && error == 0; i++)
        error = rs_post_receive(rs, i);
    return error;
}

void rs_destroy_queue(struct rsock *rs)
{
    rs_release_maps(rs);
    if (rs->id && rs->id->qp)
        rdma_destroy_qp(rs->id);
    if (rs->receives.cq)
        (void)ibv_destroy_cq(rs->receives.cq);
    if (rs->requests.cq)
        (void)ibv_destroy_cq(rs->requests.cq);
    if (rs->events)
        (void)ibv_destroy_comp_channel(rs->events);
    if (rs->own_mr)
        (void)ibv_dereg_mr(rs->own_mr);
    if (rs->target_mr)
        (void)ibv_dereg_mr(rs->target_mr);
    free(rs->send_ring);
    free(rs->receive_ring);
}

/* ---- Private data --------------------------------------------------------------------------- */

void rs_describe(const struct rsock *rs, unsigned char data[RS_HELLO_BYTES])
{
    const struct rs_hello hello = {
        .credits = (uint16_t)rs->option[RS_RQSIZE],
        .mappings = (uint32_t)rs->option[RS_IOMAPSIZE],
        .target = {(uint64_t)(uintptr_t)rs->target, rs->target_mr->rkey, RS_SPANS},
        .data = {(uint64_t)(uintptr_t)rs->receive_ring, rs->target_mr->rkey,
                 (uint32_t)rs->option[RS_RCVBUF] / 2},
    };

    rs_hello_encode(&hello, data);
}

int rs_learn(struct rsock *rs, const void *data, size_t length)
{
    struct rs_hello hello;

    if (!rs_hello_decode(data, length, &hello))
        return EPROTO;
    rs->sent_limit = hello.credits;
    rs->span[0] = hello.data;
    rs->peer_target = hello.target.address;
    rs->peer_target_key = hello.target.key;
    rs->peer_spans = hello.target.length;
    rs->peer_mappings = hello.mappings;
    return 0;
}
