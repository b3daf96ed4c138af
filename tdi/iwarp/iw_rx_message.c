/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_rx_message.h"

#include "tdi/iwarp/iw_wire.h"

#define TERMINATE_MIN 4u /* layer, type, code, flags */

static bool iw_rx_invalidates(const struct iw_segment *segment)
{
    return segment->opcode == IW_OP_SEND_INV || segment->opcode == IW_OP_SEND_SE_INV;
}

/* TCP delivers in order, so the MSN must be the expected one. */
static enum iw_error iw_rx_check_order(const struct iw_rx *rx, uint32_t mo)
{
    const struct iw_segment *segment = &rx->segment;

    if (segment->msn != rx->next_msn[segment->qn])
        return IW_ERR_DDP_MSN_RANGE;
    if (segment->mo != mo || segment->length > UINT32_MAX - mo)
        return IW_ERR_DDP_INVALID_MO;
    return IW_OK;
}

static enum iw_error iw_rx_admit_send(const struct iw_rx *rx)
{
    const struct iw_segment *segment = &rx->segment;
    enum iw_error error = iw_rx_check_order(rx, rx->send_mo);

    if (error != IW_OK || !rx->send_open)
        return error;
    if (segment->opcode != rx->send_opcode)
        return IW_ERR_RDMAP_OPCODE;
    if (iw_rx_invalidates(segment) && segment->stag != rx->send_stag)
        return IW_ERR_RDMAP_OPCODE;
    return IW_OK;
}

/*
 * Checks a message of a fixed length, which fits in any segment (RFC 5044 A.4: at least 128
 * octets). No RFC has a code for another length, so it counts as a wrong ULPDU_Length.
 */
static enum iw_error iw_rx_admit_header(const struct iw_rx *rx, uint32_t length)
{
    if (rx->segment.length != length)
        return IW_ERR_MPA_LENGTH;
    if (!rx->segment.last)
        return IW_ERR_RDMAP_UNSPECIFIED;
    return iw_rx_check_order(rx, 0);
}

static enum iw_error iw_rx_admit_terminate(const struct iw_rx *rx)
{
    if (rx->segment.length < TERMINATE_MIN || rx->segment.length > IW_TERMINATE_MAX)
        return IW_ERR_MPA_LENGTH;
    return iw_rx_check_order(rx, 0);
}

/* Immediate data use the Send queue, but may not come between the segments of a Send. */
static enum iw_error iw_rx_admit_immediate(const struct iw_rx *rx)
{
    enum iw_error error;

    if (rx->segment.length != IW_IMMEDIATE_DATA || !rx->segment.last)
        return IW_ERR_RDMAP_UNSPECIFIED;
    error = iw_rx_check_order(rx, 0);
    return error == IW_OK && rx->send_open ? IW_ERR_RDMAP_OPCODE : error;
}

enum iw_error iw_rx_admit_alone(const struct iw_rx *rx, bool *ask)
{
    const struct iw_segment *segment = &rx->segment;

    *ask = false;
    switch (segment->opcode) {
    case IW_OP_WRITE:
        /* STag and TO of an empty Write are not checked (RFC 5041 5.1). */
        *ask = segment->length > 0;
        return IW_OK;
    case IW_OP_READ_RESPONSE:
        *ask = true;
        return IW_OK;
    case IW_OP_SEND:
    case IW_OP_SEND_INV:
    case IW_OP_SEND_SE:
    case IW_OP_SEND_SE_INV:
        *ask = true;
        return iw_rx_admit_send(rx);
    case IW_OP_READ_REQUEST:
        return iw_rx_admit_header(rx, IW_READ_REQUEST_HEADER);
    case IW_OP_ATOMIC_REQUEST:
        return iw_rx_admit_header(rx, IW_ATOMIC_REQUEST_HEADER);
    case IW_OP_ATOMIC_RESPONSE:
        return iw_rx_admit_header(rx, IW_ATOMIC_RESPONSE_HEADER);
    case IW_OP_TERMINATE:
        return iw_rx_admit_terminate(rx);
    case IW_OP_IMMEDIATE:
    case IW_OP_IMMEDIATE_SE:
        return iw_rx_admit_immediate(rx);
    case IW_OP_NONE:
        break;
    }
    return IW_ERR_RDMAP_OPCODE;
}

enum iw_error iw_rx_admit(const struct iw_rx *rx)
{
    bool ask;
    enum iw_error error = iw_rx_admit_alone(rx, &ask);

    return error == IW_OK && ask ? rx->ops->check(rx->context, &rx->segment) : error;
}

static void iw_rx_advance_send(struct iw_rx *rx)
{
    const struct iw_segment *segment = &rx->segment;

    rx->send_open = !segment->last;
    if (segment->last) {
        rx->send_mo = 0;
        rx->next_msn[IW_QN_SEND]++;
        return;
    }
    rx->send_mo += segment->length;
    rx->send_opcode = segment->opcode;
    rx->send_stag = segment->stag;
}

static enum iw_error iw_rx_report_data(struct iw_rx *rx)
{
    enum iw_error error = rx->ops->done(rx->context, &rx->segment);

    if (error != IW_OK)
        return error;
    if (!rx->segment.tagged)
        iw_rx_advance_send(rx);
    rx->fpdus++;
    return IW_OK;
}

static enum iw_error iw_rx_call_read_request(struct iw_rx *rx, const uint8_t *payload)
{
    struct iw_read_request request;

    iw_decode_read_request(payload, &request);
    return rx->ops->read_request(rx->context, &request);
}

static enum iw_error iw_rx_call_atomic_request(struct iw_rx *rx, const uint8_t *payload)
{
    struct iw_atomic_request request;

    iw_decode_atomic_request(payload, &request);
    return rx->ops->atomic_request(rx->context, &request);
}

static enum iw_error iw_rx_call_atomic_response(struct iw_rx *rx, const uint8_t *payload)
{
    struct iw_atomic_response response;

    iw_decode_atomic_response(payload, &response);
    return rx->ops->atomic_response(rx->context, &response);
}

static enum iw_error iw_rx_call_immediate(struct iw_rx *rx, const uint8_t *payload)
{
    return rx->ops->immediate(rx->context, iw_decode_immediate(payload),
                              rx->segment.opcode == IW_OP_IMMEDIATE_SE);
}

static enum iw_error iw_rx_report_terminate(struct iw_rx *rx, const uint8_t *payload)
{
    struct iw_terminate terminate;
    enum iw_error error;

    error = iw_decode_terminate(payload, rx->segment.length, rx->fpdus == 0, &terminate);
    if (error != IW_OK)
        return error;
    rx->state = IW_RX_DEAD;
    rx->ops->terminate(rx->context, &terminate);
    return IW_OK;
}

enum iw_error iw_rx_report(struct iw_rx *rx, const uint8_t *payload)
{
    enum iw_error error;

    if (!iw_rx_is_control(&rx->segment))
        return iw_rx_report_data(rx);
    if (rx->segment.opcode == IW_OP_TERMINATE)
        return iw_rx_report_terminate(rx, payload);
    if (rx->segment.opcode == IW_OP_READ_REQUEST)
        error = iw_rx_call_read_request(rx, payload);
    else if (rx->segment.opcode == IW_OP_ATOMIC_REQUEST)
        error = iw_rx_call_atomic_request(rx, payload);
    else if (rx->segment.opcode == IW_OP_ATOMIC_RESPONSE)
        error = iw_rx_call_atomic_response(rx, payload);
    else
        error = iw_rx_call_immediate(rx, payload);
    if (error != IW_OK)
        return error;
    rx->next_msn[rx->segment.qn]++;
    rx->fpdus++;
    return IW_OK;
}
