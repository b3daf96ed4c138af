/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of ulp/udapl/map: each value has the number that the two headers give it. */
#include "map/udapl_dto.h"
#include "map/udapl_flags.h"
#include "map/udapl_limit.h"
#include "map/udapl_return.h"
#include "support/check.h"

#include "itx_api.h"

static void check_statuses(void)
{
    static const struct {
        it_dto_status_t it;
        int dat;
    } rows[] = {
        {IT_DTO_SUCCESS, 0},
        {IT_DTO_ERR_FLUSHED, 1},
        {IT_DTO_ERR_LOCAL_LENGTH, 2},
        {IT_DTO_ERR_LOCAL_EP, 3},
        {IT_DTO_ERR_LOCAL_PROTECTION, 4},
        {IT_DTO_ERR_BAD_RESPONSE, 5},
        {IT_DTO_ERR_REMOTE_ACCESS, 6},
        {IT_DTO_ERR_REMOTE_RESPONDER, 7},
        {IT_DTO_ERR_TRANSPORT, 8},
        {IT_DTO_ERR_RECEIVER_NOT_READY, 9},
        {IT_DTO_ERR_PARTIAL_PACKET, 10},
        {IT_RMR_OPERATION_FAILED, 11},
        {IT_DTO_ERR_LOCAL_MM_OPERATION, 12},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        EXPECT_EQ(rows[i].dat, udapl_dto_status(rows[i].it));
    EXPECT_EQ(DAT_DTO_ERR_TRANSPORT, udapl_dto_status((it_dto_status_t)99));
}

static void check_operations(void)
{
    EXPECT_EQ(DAT_DTO_SEND, udapl_dto_operation(IT_DTO_SEND_CMPL_EVENT));
    EXPECT_EQ(DAT_DTO_RECEIVE, udapl_dto_operation(IT_DTO_RC_RECV_CMPL_EVENT));
    EXPECT_EQ(DAT_DTO_RDMA_WRITE, udapl_dto_operation(IT_DTO_RDMA_WRITE_CMPL_EVENT));
    EXPECT_EQ(DAT_DTO_RDMA_READ, udapl_dto_operation(IT_DTO_RDMA_READ_CMPL_EVENT));
    EXPECT_EQ(DAT_DTO_BIND_MW, udapl_dto_operation(IT_RMR_LINK_CMPL_EVENT));
}

/* Tries every combination of the six flags. */
static void check_flags(void)
{
    for (unsigned flags = 0; flags < UDAPL_FLAGS_COUNT; flags++) {
        unsigned it = (unsigned)udapl_flags((DAT_COMPLETION_FLAGS)flags);
        bool suppressed = flags & 0x01, unsignalled = flags & 0x04;

        EXPECT_EQ(!suppressed, (it & IT_COMPLETION_FLAG) != 0);
        EXPECT_EQ(!suppressed && !unsignalled, (it & IT_NOTIFY_FLAG) != 0);
        EXPECT_EQ((flags & 0x02) != 0, (it & IT_SOLICITED_WAIT_FLAG) != 0);
        EXPECT_EQ((flags & 0x08) != 0, (it & IT_BARRIER_FENCE_FLAG) != 0);
        EXPECT_EQ((flags & 0x20) != 0, (it & IT_UNLINK_FENCE_FLAG) != 0);
        EXPECT_EQ(0, it & ~0x1fu);
    }
}

static void check_receive_flags(void)
{
    const unsigned wakes = IT_COMPLETION_FLAG | IT_NOTIFY_FLAG;

    EXPECT_EQ(wakes, udapl_flags_recv(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(wakes,
              udapl_flags_recv(DAT_COMPLETION_EVD_THRESHOLD_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(wakes,
              udapl_flags_recv(DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_EQ(IT_COMPLETION_FLAG,
              udapl_flags_recv(DAT_COMPLETION_UNSIGNALLED_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG));
    EXPECT_EQ(IT_COMPLETION_FLAG,
              udapl_flags_recv(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
}

static void check_privileges(void)
{
    EXPECT_EQ(IT_PRIV_LOCAL_READ, udapl_lmr_privileges(DAT_MEM_PRIV_NONE_FLAG));
    EXPECT_EQ(IT_PRIV_LOCAL, udapl_lmr_privileges(DAT_MEM_PRIV_LOCAL_WRITE_FLAG));
    EXPECT_EQ(IT_PRIV_LOCAL | IT_PRIV_REMOTE, udapl_lmr_privileges(DAT_MEM_PRIV_ALL_FLAG));
    EXPECT_EQ(IT_PRIV_REMOTE_READ, udapl_rmr_privileges(DAT_MEM_PRIV_REMOTE_READ_FLAG));
    EXPECT_EQ(IT_PRIV_REMOTE, udapl_rmr_privileges(DAT_MEM_PRIV_ALL_FLAG));
}

/* Each status has a chosen return code. Only an unknown status is internal. */
static void check_returns(void)
{
    EXPECT_EQ(DAT_SUCCESS, udapl_return(IT_SUCCESS));
    for (int status = 1; status <= IT_ERR_WAITER_LIMIT; status++) {
        DAT_RETURN result = udapl_return((it_status_t)status);

        EXPECT_EQ(status == IT_ERR_QUEUE_EMPTY ? 0 : DAT_CLASS_ERROR, result & 0xc0000000u);
        EXPECT((DAT_GET_TYPE(result) == DAT_INTERNAL_ERROR) == (status == IT_ERR_IA_CATASTROPHE));
    }
    EXPECT_EQ(DAT_INTERNAL_ERROR, DAT_GET_TYPE(udapl_return((it_status_t)4711)));
    EXPECT_EQ(0x80050000u + DAT_INVALID_HANDLE_EP, udapl_return(IT_ERR_INVALID_EP));
    EXPECT_EQ(DAT_QUEUE_EMPTY, udapl_return(IT_ERR_QUEUE_EMPTY));
    EXPECT_EQ(DAT_INSUFFICIENT_RESOURCES, DAT_GET_TYPE(udapl_return(IT_ERR_TOO_MANY_POSTS)));
    EXPECT_EQ(DAT_CONN_QUAL_IN_USE, DAT_GET_TYPE(udapl_return(IT_ERR_CONN_QUAL_BUSY)));
    EXPECT_EQ(0x80070000u + DAT_INVALID_STATE_EP_CONNECTED,
              udapl_state_error(DAT_EP_STATE_CONNECTED));
    EXPECT_EQ(0x80070000u, udapl_state_error((DAT_EP_STATE)99));
}

static void check_limits(void)
{
    EXPECT_EQ(INT_MAX, udapl_limit_count((size_t)INT_MAX + 1));
    EXPECT_EQ(7, udapl_limit_count(7));
    EXPECT_EQ(UDAPL_MOST_SEGMENTS, udapl_limit_segments(1000));
    EXPECT_EQ(UINT32_MAX, udapl_limit_length(UINT64_MAX));
    EXPECT_EQ(64, udapl_limit_alignment(64));
    EXPECT_EQ(128, udapl_limit_alignment(65));
    EXPECT_EQ(256, udapl_limit_alignment(4096));
    EXPECT_EQ(1, udapl_limit_alignment(0));
}

int main(void)
{
    check_statuses();
    check_operations();
    check_flags();
    check_receive_flags();
    check_privileges();
    check_returns();
    check_limits();
    check_done();
    return 0;
}
