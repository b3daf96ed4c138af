/* SPDX-License-Identifier: BSD-2-Clause */
/* TCP streams, as both ends want them. */
#ifndef ITAPI_ULP_ISER_PDU_ISER_STREAM_H
#define ITAPI_ULP_ISER_PDU_ISER_STREAM_H

/*
 * BBR sends by a timer, which from one process to its neighbour takes longer than the copy: a
 * connected stream that stays on this host takes Reno instead. In vain: it is as good as before.
 */
void iser_stream_unpace(int fd);

#endif
