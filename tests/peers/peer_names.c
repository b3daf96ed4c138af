/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_names.h"

#include <stddef.h>
#include <string.h>

#define NAME_OF(names, value)                                                                      \
    ((size_t)(value) < sizeof(names) / sizeof((names)[0]) && (names)[value] != NULL                \
         ? (names)[value]                                                                          \
         : "unknown")

const char *peer_name_transport(enum ibv_transport_type transport)
{
    static const char *const names[] = {
        [IBV_TRANSPORT_IB] = "ib",
        [IBV_TRANSPORT_IWARP] = "iwarp",
    };

    return transport < 0 ? "unknown" : NAME_OF(names, transport);
}

static const char *const peer_events[] = {
    [RDMA_CM_EVENT_ADDR_RESOLVED] = "addr_resolved",
    [RDMA_CM_EVENT_ADDR_ERROR] = "addr_error",
    [RDMA_CM_EVENT_ROUTE_RESOLVED] = "route_resolved",
    [RDMA_CM_EVENT_ROUTE_ERROR] = "route_error",
    [RDMA_CM_EVENT_CONNECT_REQUEST] = "connect_request",
    [RDMA_CM_EVENT_CONNECT_RESPONSE] = "connect_response",
    [RDMA_CM_EVENT_CONNECT_ERROR] = "connect_error",
    [RDMA_CM_EVENT_UNREACHABLE] = "unreachable",
    [RDMA_CM_EVENT_REJECTED] = "rejected",
    [RDMA_CM_EVENT_ESTABLISHED] = "established",
    [RDMA_CM_EVENT_DISCONNECTED] = "disconnected",
    [RDMA_CM_EVENT_DEVICE_REMOVAL] = "device_removal",
    [RDMA_CM_EVENT_MULTICAST_JOIN] = "multicast_join",
    [RDMA_CM_EVENT_MULTICAST_ERROR] = "multicast_error",
    [RDMA_CM_EVENT_ADDR_CHANGE] = "addr_change",
    [RDMA_CM_EVENT_TIMEWAIT_EXIT] = "timewait_exit",
};

const char *peer_name_event(enum rdma_cm_event_type event)
{
    return NAME_OF(peer_events, event);
}

bool peer_name_is_event(const char *name, enum rdma_cm_event_type *event)
{
    for (size_t i = 0; i < sizeof(peer_events) / sizeof(peer_events[0]); i++) {
        if (strcmp(peer_events[i], name) == 0) {
            *event = (enum rdma_cm_event_type)i;
            return true;
        }
    }
    return false;
}

const char *peer_name_async(enum ibv_event_type event)
{
    static const char *const names[] = {
        [IBV_EVENT_CQ_ERR] = "CQ_ERR",
        [IBV_EVENT_QP_FATAL] = "QP_FATAL",
        [IBV_EVENT_QP_REQ_ERR] = "QP_REQ_ERR",
        [IBV_EVENT_QP_ACCESS_ERR] = "QP_ACCESS_ERR",
        [IBV_EVENT_COMM_EST] = "COMM_EST",
        [IBV_EVENT_SQ_DRAINED] = "SQ_DRAINED",
        [IBV_EVENT_PATH_MIG] = "PATH_MIG",
        [IBV_EVENT_PATH_MIG_ERR] = "PATH_MIG_ERR",
        [IBV_EVENT_DEVICE_FATAL] = "DEVICE_FATAL",
        [IBV_EVENT_PORT_ACTIVE] = "PORT_ACTIVE",
        [IBV_EVENT_PORT_ERR] = "PORT_ERR",
        [IBV_EVENT_LID_CHANGE] = "LID_CHANGE",
        [IBV_EVENT_PKEY_CHANGE] = "PKEY_CHANGE",
        [IBV_EVENT_SM_CHANGE] = "SM_CHANGE",
        [IBV_EVENT_SRQ_ERR] = "SRQ_ERR",
        [IBV_EVENT_SRQ_LIMIT_REACHED] = "SRQ_LIMIT_REACHED",
        [IBV_EVENT_QP_LAST_WQE_REACHED] = "QP_LAST_WQE_REACHED",
        [IBV_EVENT_CLIENT_REREGISTER] = "CLIENT_REREGISTER",
        [IBV_EVENT_GID_CHANGE] = "GID_CHANGE",
        [IBV_EVENT_WQ_FATAL] = "WQ_FATAL",
    };

    return NAME_OF(names, event);
}

const char *peer_name_state(enum ibv_qp_state state)
{
    static const char *const names[] = {
        [IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT", [IBV_QPS_RTR] = "RTR",
        [IBV_QPS_RTS] = "RTS",     [IBV_QPS_SQD] = "SQD",   [IBV_QPS_SQE] = "SQE",
        [IBV_QPS_ERR] = "ERR",
    };

    return NAME_OF(names, state);
}

const char *peer_name_status(enum ibv_wc_status status)
{
    static const char *const names[] = {
        [IBV_WC_SUCCESS] = "SUCCESS",
        [IBV_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
        [IBV_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
        [IBV_WC_LOC_EEC_OP_ERR] = "LOC_EEC_OP_ERR",
        [IBV_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
        [IBV_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
        [IBV_WC_MW_BIND_ERR] = "MW_BIND_ERR",
        [IBV_WC_BAD_RESP_ERR] = "BAD_RESP_ERR",
        [IBV_WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
        [IBV_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
        [IBV_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
        [IBV_WC_REM_OP_ERR] = "REM_OP_ERR",
        [IBV_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
        [IBV_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
        [IBV_WC_LOC_RDD_VIOL_ERR] = "LOC_RDD_VIOL_ERR",
        [IBV_WC_REM_INV_RD_REQ_ERR] = "REM_INV_RD_REQ_ERR",
        [IBV_WC_REM_ABORT_ERR] = "REM_ABORT_ERR",
        [IBV_WC_INV_EECN_ERR] = "INV_EECN_ERR",
        [IBV_WC_INV_EEC_STATE_ERR] = "INV_EEC_STATE_ERR",
        [IBV_WC_FATAL_ERR] = "FATAL_ERR",
        [IBV_WC_RESP_TIMEOUT_ERR] = "RESP_TIMEOUT_ERR",
        [IBV_WC_GENERAL_ERR] = "GENERAL_ERR",
        [IBV_WC_TM_ERR] = "TM_ERR",
        [IBV_WC_TM_RNDV_INCOMPLETE] = "TM_RNDV_INCOMPLETE",
    };

    return NAME_OF(names, status);
}

const char *peer_name_opcode(const struct ibv_wc *completion)
{
    static const char *const names[] = {
        [IBV_WC_SEND] = "send",
        [IBV_WC_RDMA_WRITE] = "write",
        [IBV_WC_RDMA_READ] = "read",
        [IBV_WC_COMP_SWAP] = "comp_swap",
        [IBV_WC_FETCH_ADD] = "fetch_add",
        [IBV_WC_BIND_MW] = "bind",
        [IBV_WC_LOCAL_INV] = "local_inv",
        [IBV_WC_RECV] = "recv",
        [IBV_WC_RECV_RDMA_WITH_IMM] = "recv_write_imm",
    };

    if (completion->opcode == IBV_WC_RECV && (completion->wc_flags & IBV_WC_WITH_INV) != 0)
        return "recv_inv";
    if (completion->opcode == IBV_WC_RECV && (completion->wc_flags & IBV_WC_WITH_IMM) != 0)
        return "recv_imm";
    return NAME_OF(names, completion->opcode);
}
