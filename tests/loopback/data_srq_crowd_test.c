/* SPDX-License-Identifier: BSD-2-Clause */
/* A thousand endpoints draw from one shared receive queue. */
#include <string.h>
#include <sys/resource.h>

#include "support/it_fixture.h"

#define CROWD  1000u
#define DEPTH  64u
#define SLOT   16u
#define ROUNDS 3u

struct crowd {
    struct fx_node a;
    struct fx_node b;
    it_srq_handle_t srq;
    struct fx_buf out;
    struct fx_buf in;
    it_ep_handle_t senders[CROWD];
    it_ep_handle_t users[CROWD];
    unsigned heard[CROWD]; /* number of messages that the user has received */
};

/* Each pair needs two sockets, and some descriptors must be left. */
static bool has_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= 2 * CROWD + 100;
}

static it_ep_attributes_t small(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_request_dtos = 4;
    attr.max_recv_dtos = 1;
    attr.max_send_segments = 1;
    attr.max_recv_segments = 1;
    attr.srv.rc.max_rdma_read_segments = 1;
    attr.srv.rc.max_rdma_write_segments = 1;
    attr.srv.rc.rdma_read_ird = 1;
    attr.srv.rc.rdma_read_ord = 1;
    return attr;
}

static void gather(struct crowd *crowd)
{
    it_ep_attributes_t attr = small();

    for (unsigned i = 0; i < CROWD; i++) {
        it_context_t context = {.index = i};

        crowd->senders[i] = fx_ep(&crowd->a, &attr);
        crowd->users[i] = fx_srq_ep(&crowd->b, crowd->srq, &attr);
        CHECK_OK(it_set_consumer_context(crowd->users[i], context));
        fx_join(&crowd->a, crowd->senders[i], &crowd->b, crowd->users[i]);
    }
}

/* Takes a message, which names its sender, and posts the receive again. */
static void take(struct crowd *crowd)
{
    it_event_t event = fx_next(crowd->b.recv_evd);
    it_context_t context;
    uint64_t from;

    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK_EQ(sizeof(from), event.dto_cmpl.transferred_length);
    CHECK_OK(it_get_consumer_context(event.dto_cmpl.ep, &context));
    memcpy(&from, crowd->in.data + event.dto_cmpl.cookie * SLOT, sizeof(from));
    CHECK_EQ(context.index, from);
    crowd->heard[from]++;
    fx_srq_recv(crowd->srq, &crowd->in, event.dto_cmpl.cookie * SLOT, SLOT, event.dto_cmpl.cookie);
}

/* Every endpoint sends once, but never more messages than there are receives. */
static void talk(struct crowd *crowd)
{
    unsigned taken = 0;

    for (unsigned i = 0; i < CROWD; i++) {
        if (i - taken == DEPTH) {
            take(crowd);
            taken++;
        }
        fx_send(crowd->senders[i], &crowd->out, (size_t)i * 8, 8, i, FX_QUIET);
    }
    for (; taken < CROWD; taken++)
        take(crowd);
}

int main(void)
{
    static struct crowd crowd;

    if (!has_descriptors())
        return 77;
    fx_node_open(&crowd.a);
    fx_node_open(&crowd.b);
    crowd.srq = fx_srq(&crowd.b, 1, DEPTH);
    crowd.out = fx_node_buf(&crowd.a, CROWD * sizeof(uint64_t));
    crowd.in = fx_node_buf(&crowd.b, (size_t)DEPTH * SLOT);
    for (uint64_t i = 0; i < CROWD; i++)
        memcpy(crowd.out.data + i * 8, &i, 8);
    for (unsigned i = 0; i < DEPTH; i++)
        fx_srq_recv(crowd.srq, &crowd.in, (size_t)i * SLOT, SLOT, i);
    gather(&crowd);
    for (unsigned i = 0; i < ROUNDS; i++)
        talk(&crowd);
    for (unsigned i = 0; i < CROWD; i++)
        CHECK_EQ(ROUNDS, crowd.heard[i]);
    CHECK_STATUS(IT_ERR_SRQ_BUSY, it_srq_free(crowd.srq));
    for (unsigned i = 0; i < CROWD; i++)
        CHECK_OK(it_ep_free(crowd.users[i]));
    CHECK_OK(it_srq_free(crowd.srq));
    fx_empty(crowd.b.recv_evd);
    fx_empty(crowd.b.aff_evd);
    fx_node_close(&crowd.a);
    fx_node_close(&crowd.b);
    check_done();
    return 0;
}
