/* SPDX-License-Identifier: BSD-2-Clause */
#include "tdi/iwarp/iw_rx_message.h"

#include "tdi/iwarp/iw_wire.h"

#define TERMINATE_MIN 4u /* layer, type, code, flags */

static bool iw_rx_invalidates(const struct iw_segment *segment)
{
    return segment->opcode == IW_OP_SEND_INV || segment->opcode == IW_OP_SEND_SE_INV;
}

/* TCP delivers in order: the MSN is the expected one, neither a gap nor a repetition. */
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

    if (error != IW_OK || rx->send_mo == 0)
        return error;
    if (segment->opcode != rx->send_opcode)
        return IW_ERR_RDMAP_OPCODE;
    if (iw_rx_invalidates(segment) && segment->stag != rx->send_stag)
        return IW_ERR_RDMAP_OPCODE;
    return IW_OK;
}

/* No RFC names a code for a control message of a wrong length: taken as a wrong ULPDU_Length. */
static enum iw_error iw_rx_admit_control(const struct iw_rx *rx)
{
    const struct iw_segment *segment = &rx->segment;
    bool request = segment->opcode == IW_OP_READ_REQUEST;

    if (segment->length < (request ? IW_READ_REQUEST_HEADER : TERMINATE_MIN) ||
        segment->length > (request ? IW_READ_REQUEST_HEADER : IW_TERMINATE_MAX))
        return IW_ERR_MPA_LENGTH;
    if (request && !segment->last) /* it fits in any segment (RFC 5044 A.4: at least 128) */
        return IW_ERR_RDMAP_UNSPECIFIED;
    return iw_rx_check_order(rx, 0);
}

enum iw_error iw_rx_admit(struct iw_rx *rx)
{
    const struct iw_segment *segment = &rx->segment;
    enum iw_error error;

    switch (segment->opcode) {
    case IW_OP_WRITE:
        /* STag and TO of nothing are not looked at (RFC 5041 5.1). */
        if (segment->length == 0)
            return IW_OK;
        break;
    case IW_OP_READ_RESPONSE:
        break;
    case IW_OP_SEND:
    case IW_OP_SEND_INV:
    case IW_OP_SEND_SE:
    case IW_OP_SEND_SE_INV:
        error = iw_rx_admit_send(rx);
        if (error != IW_OK)
            return error;
        break;
    case IW_OP_READ_REQUEST:
    case IW_OP_TERMINATE:
        return iw_rx_admit_control(rx);
    case IW_OP_IMMEDIATE:
    case IW_OP_IMMEDIATE_SE:
    case IW_OP_ATOMIC_REQUEST:
    case IW_OP_ATOMIC_RESPONSE:
    case IW_OP_NONE:
        return IW_ERR_RDMAP_OPCODE; /* RFC 7306 is not spoken */
    }
    return rx->ops->check(rx->context, segment);
}

static void iw_rx_advance_send(struct iw_rx *rx)
{
    const struct iw_segment *segment = &rx->segment;

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

static enum iw_error iw_rx_report_read_request(struct iw_rx *rx, const uint8_t *payload)
{
    struct iw_read_request request;
    enum iw_error error;

    iw_decode_read_request(payload, &request);
    error = rx->ops->read_request(rx->context, &request);
    if (error != IW_OK)
        return error;
    rx->next_msn[IW_QN_READ_REQUEST]++;
    rx->fpdus++;
    return IW_OK;
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
    if (!iw_rx_is_control(&rx->segment))
        return iw_rx_report_data(rx);
    if (rx->segment.opcode == IW_OP_READ_REQUEST)
        return iw_rx_report_read_request(rx, payload);
    return iw_rx_report_terminate(rx, payload);
}
