/* SPDX-License-Identifier: BSD-2-Clause */
/* The inner half of iw_rx: from the decoded header to the calls. Only iw_rx includes it. */
#ifndef ITAPI_TDI_IWARP_IW_RX_MESSAGE_H
#define ITAPI_TDI_IWARP_IW_RX_MESSAGE_H

#include "tdi/iwarp/iw_rx.h"

/* Returns true for a short message whose payload is not placed, but passed on in one call. */
static inline bool iw_rx_is_control(const struct iw_segment *segment)
{
    return segment->opcode == IW_OP_READ_REQUEST || segment->opcode >= IW_OP_TERMINATE;
}

/* Decides by the header whether rx->segment is acceptable. Changes nothing. */
enum iw_error iw_rx_admit(const struct iw_rx *rx);

/* The same without the provider's check; *ask says whether that check is needed. */
enum iw_error iw_rx_admit_alone(const struct iw_rx *rx, bool *ask);

/*
 * Reports rx->segment: it was admitted, its CRC is good and its payload is placed. For a control
 * message, payload points to the octets behind its DDP header.
 */
enum iw_error iw_rx_report(struct iw_rx *rx, const uint8_t *payload);

#endif
