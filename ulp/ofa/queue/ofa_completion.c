/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts events of IT-API to work completions. */
#include "queue/ofa_completion.h"

#include "queue/ofa_event.h"
#include "queue/ofa_immediate.h"
#include "queue/ofa_park.h"

#include <arpa/inet.h>

static enum ibv_wc_status status_of(it_dto_status_t status)
{
    switch (status) {
    case IT_DTO_SUCCESS:
        return IBV_WC_SUCCESS;
    case IT_DTO_ERR_LOCAL_LENGTH:
        return IBV_WC_LOC_LEN_ERR;
    case IT_DTO_ERR_LOCAL_EP:
        return IBV_WC_LOC_QP_OP_ERR;
    case IT_DTO_ERR_LOCAL_PROTECTION:
        return IBV_WC_LOC_PROT_ERR;
    case IT_DTO_ERR_FLUSHED:
        return IBV_WC_WR_FLUSH_ERR;
    case IT_RMR_OPERATION_FAILED:
    case IT_DTO_ERR_LOCAL_MM_OPERATION:
        return IBV_WC_MW_BIND_ERR;
    case IT_DTO_ERR_BAD_RESPONSE:
        return IBV_WC_BAD_RESP_ERR;
    case IT_DTO_ERR_REMOTE_ACCESS:
        return IBV_WC_REM_ACCESS_ERR;
    case IT_DTO_ERR_REMOTE_RESPONDER:
        return IBV_WC_REM_OP_ERR;
    case IT_DTO_ERR_TRANSPORT:
        return IBV_WC_RETRY_EXC_ERR;
    case IT_DTO_ERR_RECEIVER_NOT_READY:
        return IBV_WC_RNR_RETRY_EXC_ERR;
    case IT_DTO_ERR_PARTIAL_PACKET:
        return IBV_WC_FATAL_ERR;
    default:
        return IBV_WC_GENERAL_ERR;
    }
}

/* Indexed by the low bits of the event's number. */
const uint8_t ofa_completion_opcodes[16] = {
    [IT_DTO_SEND_CMPL_EVENT & 15] = IBV_WC_SEND,
    [IT_DTO_RC_RECV_CMPL_EVENT & 15] = IBV_WC_RECV,
    [IT_DTO_UD_RECV_CMPL_EVENT & 15] = IBV_WC_RECV,
    [IT_DTO_RDMA_WRITE_CMPL_EVENT & 15] = IBV_WC_RDMA_WRITE,
    [IT_DTO_RDMA_READ_CMPL_EVENT & 15] = IBV_WC_RDMA_READ,
    [IT_RMR_LINK_CMPL_EVENT & 15] = IBV_WC_BIND_MW,
    [IT_DTO_FETCH_ADD_CMPL_EVENT & 15] = IBV_WC_FETCH_ADD,
    [IT_DTO_CMP_SWAP_CMPL_EVENT & 15] = IBV_WC_COMP_SWAP,
};

static void add_immediate(uint64_t value, struct ibv_wc *wc)
{
    wc->wc_flags |= IBV_WC_WITH_IMM;
    wc->imm_data = htonl((uint32_t)value);
    if (ofa_immediate_is_write(value)) {
        wc->opcode = IBV_WC_RECV_RDMA_WITH_IMM;
        wc->byte_len = ofa_immediate_length(value);
    }
}

/*
 * Adds the key that the peer has invalidated. The program may be freeing the region or window, of
 * which only the handle is read.
 */
static void add_invalidated(it_handle_t handle, struct ibv_wc *wc)
{
    it_context_t key;

    if (it_get_consumer_context(handle, &key) != IT_SUCCESS)
        return;
    wc->wc_flags |= IBV_WC_WITH_INV;
    wc->invalidated_rkey = (uint32_t)key.index;
}

#define TERMINATE_TOO_LONG 0x11205 /* DDP, untagged: the message does not fit the receive */

/* Refines the status by the peer's Terminate. */
static void refine(it_ep_handle_t ep, struct ibv_wc *wc)
{
    struct itx_mpa_info info = {.size = sizeof(info)};

    if (itx_ep_query_mpa(ep, &info) != IT_SUCCESS || info.terminate == 0)
        return;
    wc->vendor_err = info.terminate;
    if (wc->status == IBV_WC_REM_OP_ERR && info.terminate == TERMINATE_TOO_LONG)
        wc->status = IBV_WC_REM_INV_REQ_ERR;
}

/* Adds a failure to wc, which is filled for a success. */
static void add_failure(const it_dto_cmpl_event_t *dto, struct ibv_wc *wc, struct ofa_qp *qp)
{
    bool request = wc->opcode != IBV_WC_RECV;

    wc->status = status_of(dto->dto_status);
    wc->byte_len = 0;
    wc->vendor_err = (uint32_t)dto->dto_status;
    if (wc->status == IBV_WC_REM_OP_ERR || wc->status == IBV_WC_REM_ACCESS_ERR)
        refine(dto->ep, wc);
    if (ofa_park_wants(wc, qp)) {
        /* An unreliable queue pair does not notice that its peer is gone. */
        if (request && qp->base.qp_type == IBV_QPT_UC)
            wc->status = IBV_WC_SUCCESS;
    } else if (request || wc->status != IBV_WC_WR_FLUSH_ERR) {
        ofa_event_enter_error(qp);
        ofa_park_end(qp);
    }
}

void ofa_completion_special(const it_event_t *event, struct ibv_wc *wc, struct ofa_qp *qp)
{
    const it_dto_cmpl_event_t *dto = &event->dto_cmpl;
    uint64_t value;

    if (wc->opcode == IBV_WC_BIND_MW && ofa_kinds_pop(&qp->kinds, wc->wr_id))
        wc->opcode = IBV_WC_LOCAL_INV;
    if (dto->dto_status != IT_DTO_SUCCESS) {
        add_failure(dto, wc, qp);
    } else if (wc->opcode == IBV_WC_RECV) {
        if (itx_event_immediate(event, &value))
            add_immediate(value, wc);
        if (dto->unlinked_mr_handle)
            add_invalidated(dto->unlinked_mr_handle, wc);
    }
}
