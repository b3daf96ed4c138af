/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One established stream at work. Sender and reader return what has happened; the connection is
 * settled, deferred or ended here.
 */
#ifndef ITAPI_VP_UIWARP_STREAM_UIW_DRIVE_H
#define ITAPI_VP_UIWARP_STREAM_UIW_DRIVE_H

#include "vp/uiwarp/receive/uiw_reader.h"

/* With the reader token. Acts on what was read. */
void uiw_drive_act(struct ual_ep *ual, const struct uiw_read *read, bool shared);

/* Any thread, no lock held: sends what can be sent. reader: the caller holds the reader token. */
void uiw_drive_send(struct ual_ep *ual, bool reader);

/*
 * The same by the leader. writable: the socket was seen to take octets again; shared: other streams
 * wait for their turn.
 */
void uiw_drive_turn(struct ual_ep *ual, bool reader, bool writable, bool shared);

/* Any thread, no lock held: sends this FPDU, unless something else is being sent. */
void uiw_drive_nudge(struct ual_ep *ual, const uint8_t *fpdu, size_t length);

/*
 * The leader reads for one turn, a shorter one if it is shared with other streams;
 * returns the octets read into `staging` and memory, 0: none.
 */
size_t uiw_drive_receive(struct ual_ep *ual, uint8_t *staging, bool shared);

#endif
