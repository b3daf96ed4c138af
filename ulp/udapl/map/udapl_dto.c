/* SPDX-License-Identifier: BSD-2-Clause */
#include "map/udapl_dto.h"

#include <dat2/dat_ib_extensions.h>

const unsigned char udapl_dto_statuses[] = {
    [IT_DTO_SUCCESS] = DAT_DTO_SUCCESS,
    [IT_DTO_ERR_LOCAL_LENGTH] = DAT_DTO_ERR_LOCAL_LENGTH,
    [IT_DTO_ERR_LOCAL_EP] = DAT_DTO_ERR_LOCAL_EP,
    [IT_DTO_ERR_LOCAL_PROTECTION] = DAT_DTO_ERR_LOCAL_PROTECTION,
    [IT_DTO_ERR_FLUSHED] = DAT_DTO_ERR_FLUSHED,
    [IT_RMR_OPERATION_FAILED] = DAT_RMR_OPERATION_FAILED,
    [IT_DTO_ERR_BAD_RESPONSE] = DAT_DTO_ERR_BAD_RESPONSE,
    [IT_DTO_ERR_REMOTE_ACCESS] = DAT_DTO_ERR_REMOTE_ACCESS,
    [IT_DTO_ERR_REMOTE_RESPONDER] = DAT_DTO_ERR_REMOTE_RESPONDER,
    [IT_DTO_ERR_TRANSPORT] = DAT_DTO_ERR_TRANSPORT,
    [IT_DTO_ERR_RECEIVER_NOT_READY] = DAT_DTO_ERR_RECEIVER_NOT_READY,
    [IT_DTO_ERR_PARTIAL_PACKET] = DAT_DTO_ERR_PARTIAL_PACKET,
    [IT_DTO_ERR_LOCAL_MM_OPERATION] = DAT_DTO_ERR_LOCAL_MM_ERROR,
};

const unsigned char udapl_dto_operations[] = {
    [IT_DTO_SEND_CMPL_EVENT] = DAT_DTO_SEND,
    [IT_DTO_RC_RECV_CMPL_EVENT] = DAT_DTO_RECEIVE,
    [IT_DTO_RDMA_WRITE_CMPL_EVENT] = DAT_DTO_RDMA_WRITE,
    [IT_DTO_RDMA_READ_CMPL_EVENT] = DAT_DTO_RDMA_READ,
    [IT_DTO_FETCH_ADD_CMPL_EVENT] = (unsigned char)DAT_IB_DTO_FETCH_ADD,
    [IT_DTO_CMP_SWAP_CMPL_EVENT] = (unsigned char)DAT_IB_DTO_CMP_SWAP,
    [IT_RMR_LINK_CMPL_EVENT] = DAT_DTO_BIND_MW,
    [IT_LMR_LINK_CMPL_EVENT] = DAT_DTO_BIND_MW,
};

static it_mem_priv_t remote_privileges(DAT_MEM_PRIV_FLAGS privileges)
{
    unsigned result = 0;

    if (privileges & DAT_MEM_PRIV_REMOTE_READ_FLAG)
        result |= IT_PRIV_REMOTE_READ;
    if (privileges & DAT_MEM_PRIV_REMOTE_WRITE_FLAG)
        result |= IT_PRIV_REMOTE_WRITE;
    return (it_mem_priv_t)result;
}

it_mem_priv_t udapl_lmr_privileges(DAT_MEM_PRIV_FLAGS privileges)
{
    unsigned result = (unsigned)remote_privileges(privileges) | IT_PRIV_LOCAL_READ;

    if (privileges & DAT_MEM_PRIV_LOCAL_WRITE_FLAG)
        result |= IT_PRIV_LOCAL_WRITE;
    if ((unsigned)privileges & (unsigned)DAT_IB_MEM_PRIV_REMOTE_ATOMIC)
        result |= IT_PRIV_ATOMIC;
    return (it_mem_priv_t)result;
}

it_mem_priv_t udapl_rmr_privileges(DAT_MEM_PRIV_FLAGS privileges)
{
    return remote_privileges(privileges);
}
