/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls for requests, shared receives and queues of events, as memory.c has those for memory. */
#include "calls.h"

#include <stdio.h>

#define EVENTS 16

void requests(it_ep_handle_t ep, it_lmr_triplet_t *piece, uint64_t address, it_rmr_context_t key)
{
    it_rmr_triplet_t window = {.rmr = IT_NULL_HANDLE, .length = 64};
    static const char elsewhere[64];
    size_t copied;

    /* The first octet of a peer's region that is addressed by offsets. */
    check(it_post_rdma_write(ep, piece, 1, 0, 0, it_make_rdma_addr_relative(0), key),
          "it_post_rdma_write");

    /* The data of the Read goes to a window of this side. */
    check(it_post_rdma_read_to_rmr(ep, &window, 1, 0, 0, address, key), "it_post_rdma_read_to_rmr");

    /* A message that also closes the peer's window of this key. */
    check(it_post_send_and_unlink(ep, piece, 1, 0, 0, key), "it_post_send_and_unlink");

    /* The octets are elsewhere; `piece` gets those that the network does not take at once. */
    check(itx_post_send_from(ep, piece, 1, 0, 0, elsewhere, &copied), "itx_post_send_from");
    printf("%zu octets were copied\n", copied);

    /* `piece` gets the 64 bits that were there before. */
    check(itx_post_atomic_swap(ep, 1, piece, 0, 0, address, key), "itx_post_atomic_swap");
}

void immediate(it_ep_handle_t ep, it_lmr_triplet_t *piece, uint64_t address, it_rmr_context_t key,
               const it_event_t *event)
{
    uint64_t value;

    check(itx_ep_enable_immediate(ep, IT_TRUE), "itx_ep_enable_immediate");

    check(itx_post_send_imm(ep, piece, 1, 0, 0, 42), "itx_post_send_imm");

    check(itx_post_rdma_write_imm(ep, piece, 1, 0, 0, address, key, 42), "itx_post_rdma_write_imm");

    /* `event` is the completion of a receive. */
    if (itx_event_immediate(event, &value))
        printf("the peer says %llu\n", (unsigned long long)value);
}

void shared_receives(it_srq_handle_t srq)
{
    it_srq_param_t param = {.low_watermark = 8};

    /* An event on the asynchronous EVD tells when fewer than 8 are left. */
    check(it_srq_modify(srq, IT_SRQ_PARAM_LOW_WATERMARK, &param), "it_srq_modify");

    check(it_srq_query(srq, IT_SRQ_PARAM_MAX_RECV_DTO, &param), "it_srq_query");
    printf("room for %zu receives\n", param.max_recv_dtos);

    /* A peer that stops in a message for 5 seconds loses its connection. */
    check(itx_srq_set_message_timeout(srq, 5000000), "itx_srq_set_message_timeout");

    check(it_srq_free(srq), "it_srq_free"); /* when no endpoint uses it */
}

void queue(it_evd_handle_t evd, it_evd_handle_t software, void *message)
{
    it_evd_param_t param = {.sevd_queue_size = 256};

    check(it_evd_modify(evd, IT_EVD_PARAM_QUEUE_SIZE, &param), "it_evd_modify");

    check(it_evd_query(evd, IT_EVD_PARAM_OVERFLOWED, &param), "it_evd_query");
    printf("events were lost: %s\n", param.evd_overflowed ? "yes" : "no");

    check(it_evd_callback_detach(evd), "it_evd_callback_detach");

    /* An event of the program's own, for whoever waits: `software` has IT_SOFTWARE_EVENT_STREAM. */
    check(it_evd_post_se(software, message), "it_evd_post_se");

    /* Threads that wait return, and later waits fail at once. */
    check(itx_evd_set_waitable(evd, IT_FALSE), "itx_evd_set_waitable");
}

void several(it_evd_handle_t evd, it_evd_handle_t aevd)
{
    it_event_t events[EVENTS];
    size_t count;
    int taken;

    check(itx_evd_dequeue_n(evd, EVENTS, events, &count), "itx_evd_dequeue_n");

    check(it_evd_dequeue_n(evd, EVENTS, events, &taken), "it_evd_dequeue_n");

    check(itx_evd_wait_n(evd, 1000000, EVENTS, events, &count, NULL), "itx_evd_wait_n");

    check(itx_aevd_wait(aevd, 1000000, EVENTS, events, &count), "itx_aevd_wait");
}

void arm(it_evd_handle_t evd)
{
    it_event_t event;

    /* Arms, then takes what has come meanwhile; only then the descriptor may be waited for. */
    check(itx_evd_arm(evd, ITX_EVD_ARM_ANY), "itx_evd_arm");
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
        printf("%s\n", itx_event_string(event.event_number));
}
