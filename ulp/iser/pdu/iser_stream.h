/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of TCP streams for both ends. */
#ifndef ITAPI_ULP_ISER_PDU_ISER_STREAM_H
#define ITAPI_ULP_ISER_PDU_ISER_STREAM_H

/*
 * BBR paces by a timer, which between two processes on one host takes longer than the copy. So a
 * connected stream that stays on this host switches to Reno. A failure changes nothing.
 */
void iser_stream_unpace(int fd);

#endif
