/* SPDX-License-Identifier: BSD-2-Clause */
/* Inner half of iw_rx: from the decoded header to the calls. Nobody else includes this. */
#ifndef ITAPI_TDI_IWARP_IW_RX_MESSAGE_H
#define ITAPI_TDI_IWARP_IW_RX_MESSAGE_H

#include "tdi/iwarp/iw_rx.h"

/* Its payload is not placed: short, and handed on in one call. */
static inline bool iw_rx_is_control(const struct iw_segment *segment)
{
    return segment->opcode == IW_OP_READ_REQUEST || segment->opcode >= IW_OP_TERMINATE;
}

/* May rx->segment go on? Looks at the header alone and changes nothing. */
enum iw_error iw_rx_admit(const struct iw_rx *rx);

/* The same but for what the provider has to be asked: *ask says that it has. */
enum iw_error iw_rx_admit_alone(const struct iw_rx *rx, bool *ask);

/*
 * rx->segment was admitted, its CRC is good and its payload is placed. payload: where the RDMAP
 * header of a control message is.
 */
enum iw_error iw_rx_report(struct iw_rx *rx, const uint8_t *payload);

#endif
