/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives of an S-RQ, its low watermark, and the event that an endpoint has left it. */
#include "udapl_kit.h"

static struct kit_side sides[2];
#define A (&sides[0])
#define B (&sides[1])

static DAT_SRQ_HANDLE srq;

static void post_recv(size_t offset, DAT_UINT64 value)
{
    DAT_LMR_TRIPLET segment = kit_local(B, offset, 100);

    CHECK_DAT(dat_srq_post_recv(srq, 1, &segment, kit_cookie(value)));
}

static void send_one(size_t length)
{
    DAT_LMR_TRIPLET segment = kit_local(A, 0, length);

    CHECK_DAT(dat_ep_post_send(A->ep, 1, &segment, kit_cookie(1), DAT_COMPLETION_SUPPRESS_FLAG));
}

static void use_srq(void)
{
    DAT_SRQ_ATTR attr = {.max_recv_dtos = 8, .max_recv_iov = 2};

    CHECK_DAT(dat_srq_create(B->ia, B->pz, &attr, &srq));
    CHECK_DAT(dat_ep_free(B->ep));
    CHECK_DAT(
        dat_ep_create_with_srq(B->ia, B->pz, B->recv, B->request, B->connect, srq, NULL, &B->ep));
}

/* Receives are drawn in the order of posting. The completion names the endpoint that has drawn. */
static void check_receives(void)
{
    for (DAT_UINT64 i = 0; i < 4; i++)
        post_recv(i * 100, i);
    CHECK_DAT(dat_srq_set_lw(srq, 3));
    for (DAT_UINT64 i = 0; i < 2; i++) {
        DAT_DTO_COMPLETION_EVENT_DATA done;

        kit_fill(A, 0, 100, (unsigned)i);
        send_one(50 + i);
        done = kit_completion(B->recv, DAT_DTO_RECEIVE, DAT_DTO_SUCCESS, i);
        CHECK(done.ep_handle == B->ep);
        CHECK_EQ(50 + i, done.transfered_length);
        CHECK(kit_is_filled(B, i * 100, 50 + i, (unsigned)i));
    }
}

static void check_low_watermark(void)
{
    DAT_EVENT event = kit_any(B->async);
    const DAT_ASYNCH_ERROR_EVENT_DATA *data = &event.event_data.asynch_error_event_data;

    CHECK(data->dat_handle == srq);
    CHECK_EQ(DAT_SRQ_LOW_WATERMARK_EVENT, data->reason);
}

static void check_leave(void)
{
    DAT_EVENT event;

    kit_part(A, B);
    event = kit_next(B->async, DAT_ASYNC_ERROR_EP_BROKEN);
    CHECK(event.event_data.asynch_error_event_data.dat_handle == B->ep);
    kit_is_empty(B->async);
    kit_is_empty(A->async); /* that endpoint has no S-RQ */
}

/* An endpoint that is freed before raises no event. */
static void check_leave_freed(void)
{
    CHECK_DAT(dat_ep_reset(A->ep));
    CHECK_DAT(dat_ep_reset(B->ep));
    kit_join(A, B);
    kit_part(A, B);
    EXPECT_TYPE(DAT_INVALID_STATE, dat_srq_free(srq));
    CHECK_DAT(dat_ep_free(B->ep));
    kit_is_empty(B->async);
    CHECK_DAT(dat_srq_free(srq));
    B->ep = kit_ep(B);
}

int main(void)
{
    kit_side_open(A);
    kit_side_open(B);
    use_srq();
    kit_join(A, B);
    check_receives();
    check_low_watermark();
    check_leave();
    check_leave_freed();
    kit_side_close(A);
    kit_side_close(B);
    check_done();
    return 0;
}
