/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_text.h"

/* Each error has one line. */
/* NOLINTNEXTLINE(readability-function-size) */
const char *iw_error_text(enum iw_error error)
{
    switch (error) {
    case IW_OK:
        return "no error";
    case IW_ERR_RDMAP_LOCAL:
    case IW_ERR_DDP_LOCAL:
    case IW_ERR_MPA_LOCAL:
        return "a failure of its own";
    case IW_ERR_RDMAP_INVALID_STAG:
    case IW_ERR_DDP_INVALID_STAG:
        return "no such key";
    case IW_ERR_RDMAP_BOUNDS:
    case IW_ERR_DDP_BOUNDS:
        return "octets outside of the memory of the key";
    case IW_ERR_RDMAP_ACCESS:
        return "a right that the key or the endpoint has not";
    case IW_ERR_RDMAP_STAG_STREAM:
    case IW_ERR_DDP_STAG_STREAM:
        return "a key of another PZ or connection";
    case IW_ERR_RDMAP_TO_WRAP:
    case IW_ERR_DDP_TO_WRAP:
        return "an address that wraps";
    case IW_ERR_RDMAP_CANNOT_INVALIDATE:
        return "a key that may not be invalidated";
    case IW_ERR_RDMAP_VERSION:
    case IW_ERR_DDP_TAGGED_VERSION:
    case IW_ERR_DDP_UNTAGGED_VERSION:
        return "a wrong version";
    case IW_ERR_RDMAP_OPCODE:
        return "an unexpected opcode";
    case IW_ERR_RDMAP_STREAM:
        return "a failed stream";
    case IW_ERR_RDMAP_GLOBAL:
        return "a failed adapter";
    case IW_ERR_RDMAP_UNSPECIFIED:
        return "an unspecified error";
    case IW_ERR_DDP_INVALID_QN:
        return "a wrong queue number";
    case IW_ERR_DDP_NO_BUFFER:
        return "no receive posted, or more Reads at once than the IRD";
    case IW_ERR_DDP_MSN_RANGE:
        return "a message out of turn";
    case IW_ERR_DDP_INVALID_MO:
        return "a segment out of turn";
    case IW_ERR_DDP_TOO_LONG:
        return "a receive too small";
    case IW_ERR_MPA_CLOSED:
        return "a closed connection";
    case IW_ERR_MPA_CRC:
        return "a wrong CRC";
    case IW_ERR_MPA_LENGTH:
        return "a wrong marker or length";
    case IW_ERR_MPA_STARTUP:
        return "a wrong startup frame";
    case IW_ERR_MPA_IRD:
        return "read depths that do not suffice";
    case IW_ERR_MPA_RTR:
        return "no ready-to-receive message in common";
    }
    return "an unknown error";
}

const char *iw_opcode_text(enum iw_opcode opcode)
{
    switch (opcode) {
    case IW_OP_WRITE:
        return "RDMA Write";
    case IW_OP_READ_REQUEST:
        return "RDMA Read Request";
    case IW_OP_READ_RESPONSE:
        return "RDMA Read Response";
    case IW_OP_SEND:
        return "Send";
    case IW_OP_SEND_INV:
        return "Send with Invalidate";
    case IW_OP_SEND_SE:
        return "Send with Solicited Event";
    case IW_OP_SEND_SE_INV:
        return "Send with Solicited Event and Invalidate";
    case IW_OP_TERMINATE:
        return "Terminate";
    case IW_OP_IMMEDIATE:
    case IW_OP_IMMEDIATE_SE:
        return "Immediate Data";
    case IW_OP_ATOMIC_REQUEST:
        return "Atomic Request";
    case IW_OP_ATOMIC_RESPONSE:
        return "Atomic Response";
    case IW_OP_NONE:
        break;
    }
    return "message of an unknown kind";
}
