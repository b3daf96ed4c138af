/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends, Writes and Reads with all completion flags, several segments and short lengths. */
#include "udapl_kit.h"

#include <string.h>

static struct kit_side sides[2];
#define A (&sides[0])
#define B (&sides[1])

static void post_recv(size_t offset, size_t length, DAT_UINT64 value)
{
    DAT_LMR_TRIPLET segment = kit_local(B, offset, length);

    CHECK_DAT(dat_ep_post_recv(B->ep, 1, &segment, kit_cookie(value), DAT_COMPLETION_DEFAULT_FLAG));
}

static DAT_RETURN post_send(size_t offset, size_t length, DAT_UINT64 value, unsigned flags)
{
    DAT_LMR_TRIPLET segment = kit_local(A, offset, length);

    return dat_ep_post_send(A->ep, 1, &segment, kit_cookie(value), (DAT_COMPLETION_FLAGS)flags);
}

/* Three segments at the sender, two at the receiver, and an empty one in each list. */
static void check_segments(void)
{
    DAT_LMR_TRIPLET from[4] = {
        kit_local(A, 0, 10), {.lmr_context = 1}, kit_local(A, 10, 1), kit_local(A, 11, 89)};
    DAT_LMR_TRIPLET to[3] = {kit_local(B, 0, 50), {.lmr_context = 1}, kit_local(B, 50, 100)};
    DAT_DTO_COMPLETION_EVENT_DATA done;

    kit_fill(A, 0, 100, 1);
    CHECK_DAT(dat_ep_post_recv(B->ep, 3, to, kit_cookie(0xfedcba9876543210),
                               DAT_COMPLETION_DEFAULT_FLAG));
    CHECK_DAT(
        dat_ep_post_send(A->ep, 4, from, kit_cookie(UINT64_MAX), DAT_COMPLETION_DEFAULT_FLAG));
    done = kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, 0xfedcba9876543210);
    CHECK(done.ep_handle == B->ep);
    CHECK_EQ(100, done.transfered_length);
    CHECK(kit_is_filled(B, 0, 100, 1));
    done = kit_completion(A->request, DAT_DTO_SEND, DAT_DTO_SUCCESS, UINT64_MAX);
    CHECK(done.ep_handle == A->ep);
    CHECK_EQ(100, done.transfered_length);
}

/*
 * A suppressed Send has no event when it succeeds, but the next Send has. The event of an
 * unsignalled one can be dequeued.
 */
static void check_flags(void)
{
    DAT_EVENT event;

    for (DAT_UINT64 i = 0; i < 3; i++)
        post_recv(0, 8, i);
    CHECK_DAT(post_send(0, 8, 10, DAT_COMPLETION_SUPPRESS_FLAG));
    CHECK_DAT(post_send(0, 8, 11, DAT_COMPLETION_DEFAULT_FLAG));
    kit_completion(A->request, DAT_DTO_SEND, DAT_DTO_SUCCESS, 11);
    CHECK_DAT(post_send(0, 8, 12,
                        DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG |
                            DAT_COMPLETION_SOLICITED_WAIT_FLAG));
    for (DAT_UINT64 i = 0; i < 3; i++)
        kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, i);
    while (dat_evd_dequeue(A->request, &event) != DAT_SUCCESS)
        ;
    CHECK_EQ(12, event.event_data.dto_completion_event_data.user_cookie.as_64);
    EXPECT_TYPE(DAT_QUEUE_EMPTY, dat_evd_dequeue(A->request, &event));
    EXPECT_TYPE(DAT_INVALID_PARAMETER,
                post_send(0, 8, 13, DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG));
    EXPECT_TYPE(DAT_INVALID_PARAMETER, post_send(0, 8, 13, 0x100));
}

static void check_write(void)
{
    DAT_LMR_TRIPLET from[2] = {kit_local(A, 0, 1000), kit_local(A, 1000, 24)};
    DAT_RMR_TRIPLET to = kit_remote(B, 2000, 4000);
    DAT_DTO_COMPLETION_EVENT_DATA done;

    kit_fill(A, 0, 1024, 2);
    CHECK_DAT(
        dat_ep_post_rdma_write(A->ep, 2, from, kit_cookie(20), &to, DAT_COMPLETION_DEFAULT_FLAG));
    done = kit_completion(A->request, DAT_DTO_RDMA_WRITE, DAT_DTO_SUCCESS, 20);
    CHECK_EQ(1024, done.transfered_length);
    post_recv(0, 8, 21); /* the Send behind it shows that it has arrived */
    CHECK_DAT(post_send(0, 8, 21, DAT_COMPLETION_SUPPRESS_FLAG));
    kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, 21);
    CHECK(kit_is_filled(B, 2000, 1024, 2));
}

/* Reads into several segments. A shorter remote segment limits the length. */
static void check_read(void)
{
    DAT_LMR_TRIPLET into[3] = {kit_local(A, 0, 100), kit_local(A, 100, 200), kit_local(A, 300, 10)};
    DAT_RMR_TRIPLET from = kit_remote(B, 5000, 310);
    DAT_DTO_COMPLETION_EVENT_DATA done;

    kit_fill(B, 5000, 310, 3);
    memset(A->buffer, 0, 400);
    CHECK_DAT(
        dat_ep_post_rdma_read(A->ep, 3, into, kit_cookie(30), &from, DAT_COMPLETION_DEFAULT_FLAG));
    done = kit_completion(A->request, DAT_DTO_RDMA_READ, DAT_DTO_SUCCESS, 30);
    CHECK_EQ(310, done.transfered_length);
    CHECK(kit_is_filled(A, 0, 310, 3));
    memset(A->buffer, 0, 400);
    from.segment_length = 150;
    CHECK_DAT(
        dat_ep_post_rdma_read(A->ep, 3, into, kit_cookie(31), &from, DAT_COMPLETION_DEFAULT_FLAG));
    done = kit_completion(A->request, DAT_DTO_RDMA_READ, DAT_DTO_SUCCESS, 31);
    CHECK_EQ(150, done.transfered_length);
    CHECK(kit_is_filled(A, 0, 150, 3));
    CHECK_EQ(0, A->buffer[150]);
}

/* dat_ep_get_status: the queues are idle, and the state is CONNECTED. */
static void check_status_now(void)
{
    DAT_BOOLEAN recv_idle, request_idle;
    DAT_EP_PARAM param;
    DAT_EP_STATE state;

    CHECK_DAT(dat_ep_get_status(B->ep, &state, &recv_idle, &request_idle));
    CHECK_EQ(DAT_EP_STATE_CONNECTED, state);
    CHECK(recv_idle && request_idle);
    CHECK_DAT(dat_ep_query(A->ep, DAT_EP_FIELD_ALL, &param));
    CHECK_EQ(AF_INET, param.remote_ia_address_ptr->sa_family);
    CHECK(param.remote_port_qual != 0);
    EXPECT_EQ(0x80070000u + DAT_INVALID_STATE_EP_CONNECTED,
              dat_ep_modify(A->ep, DAT_EP_FIELD_PZ_HANDLE, &param));
}

/* A Write beyond the peer's region ends the connection. Waiting requests are flushed. */
static void check_failure(void)
{
    DAT_LMR_TRIPLET from = kit_local(A, 0, 100);
    DAT_RMR_TRIPLET to = kit_remote(B, KIT_BUFFER - 10, 100);
    DAT_EVENT event;

    post_recv(0, 8, 40);
    post_recv(0, 8, 41);
    CHECK_DAT(
        dat_ep_post_rdma_write(A->ep, 1, &from, kit_cookie(42), &to, DAT_COMPLETION_DEFAULT_FLAG));
    kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_ERR_FLUSHED, 40);
    kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_ERR_FLUSHED, 41);
    event = kit_any(B->connect);
    CHECK(event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
          event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED);
    event = kit_any(A->connect);
    CHECK(event.event_number == DAT_CONNECTION_EVENT_BROKEN ||
          event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED);
    event = kit_any(A->request); /* the Write has succeeded before the refusal, or failed */
    CHECK_EQ(42, event.event_data.dto_completion_event_data.user_cookie.as_64);
    CHECK_DAT(post_send(0, 8, 43, DAT_COMPLETION_SUPPRESS_FLAG));
    kit_completion(A->request, DAT_DTO_SEND, DAT_DTO_ERR_FLUSHED, 43);
}

/* Two endpoints use the same EVDs in turn. A freed one has no more events. */
static void check_two_endpoints(void)
{
    DAT_EP_HANDLE first[2] = {A->ep, B->ep}, second[2];

    for (int side = 0; side < 2; side++)
        second[side] = sides[side].ep = kit_ep(&sides[side]);
    kit_join(A, B);
    for (DAT_UINT64 i = 0; i < 4; i++) {
        A->ep = i % 2 ? second[0] : first[0];
        B->ep = i % 2 ? second[1] : first[1];
        post_recv(0, 8, i);
        CHECK_DAT(post_send(0, 8, i, DAT_COMPLETION_DEFAULT_FLAG));
        CHECK(kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, i).ep_handle == B->ep);
        if (i < 2)
            CHECK(kit_completion(A->request, DAT_DTO_SEND, DAT_DTO_SUCCESS, i).ep_handle == A->ep);
    }
    kit_part(A, B);
    CHECK_DAT(dat_ep_free(second[0]));
    CHECK_DAT(dat_ep_free(second[1]));
    CHECK(kit_completion(A->request, DAT_DTO_SEND, DAT_DTO_SUCCESS, 2).ep_handle == first[0]);
    kit_is_empty(A->request);
    A->ep = first[0];
    B->ep = first[1];
}

/* The provider below gives the handle of a freed EP to a new one while a completion is queued. */
static void check_reused_handle(void)
{
    enum {
        MANY = 200
    };
    DAT_EP_HANDLE eps[MANY];

    kit_join(A, B);
    post_recv(0, 8, 1);
    CHECK_DAT(post_send(0, 8, 2, DAT_COMPLETION_DEFAULT_FLAG));
    kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, 1);
    kit_part(A, B);
    CHECK_DAT(dat_ep_free(A->ep));
    for (size_t i = 0; i < MANY; i++)
        eps[i] = kit_ep(A);
    kit_is_empty(A->request);
    for (size_t i = 0; i < MANY; i++)
        CHECK_DAT(dat_ep_free(eps[i]));
    A->ep = kit_ep(A);
}

int main(void)
{
    kit_side_open(A);
    kit_side_open(B);
    kit_ep_anew(A, NULL); /* now with four segments */
    kit_ep_anew(B, NULL);
    kit_join(A, B);
    check_segments();
    check_flags();
    check_write();
    check_read();
    check_status_now();
    check_two_endpoints();
    check_failure();
    kit_ep_anew(A, NULL);
    kit_ep_anew(B, NULL);
    check_reused_handle();
    kit_side_close(A);
    kit_side_close(B);
    check_done();
    return 0;
}
