/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of this folder: what messages mean for the sending and the receiving half. */
#ifndef ITAPI_ULP_SDP_MACHINE_SDP_HALVES_H
#define ITAPI_ULP_SDP_MACHINE_SDP_HALVES_H

#include "machine/sdp_machine.h"

/* Credits that a message must leave: one for other control messages, and one for an update. */
#define SDP_RESERVE_DATA    2u
#define SDP_RESERVE_CONTROL 1u

/* Takes message numbers and receives from a message. Returns false for a protocol violation. */
bool sdp_credit_hear(struct sdp_machine *machine, const struct sdp_message *message);
/*
 * Returns true if the peer may run out of credits, and an update would announce more than one
 * receive.
 */
bool sdp_credit_due(const struct sdp_machine *machine);
/* Numbers the message, and fills in receives and acknowledgement. */
void sdp_machine_stamp(struct sdp_machine *machine, struct sdp_message *message);

void sdp_places_add(struct sdp_places *places, const struct sdp_place *place);
/* Marks octets of the oldest place as done; removes it when none are left. */
void sdp_places_advance(struct sdp_places *places, uint32_t octets);

/* Each returns false for a protocol violation. */
bool sdp_machine_hear_mode(struct sdp_machine *machine, const struct sdp_message *message,
                           struct sdp_heard *heard);
bool sdp_source_read(struct sdp_machine *machine, const struct sdp_message *message,
                     struct sdp_heard *heard);
bool sdp_source_send_sm(struct sdp_machine *machine, const struct sdp_message *message,
                        struct sdp_heard *heard);
bool sdp_source_sink_avail(struct sdp_machine *machine, const struct sdp_message *message,
                           struct sdp_heard *heard);
bool sdp_source_sink_cancel(struct sdp_machine *machine, const struct sdp_message *message,
                            struct sdp_heard *heard);
bool sdp_sink_data(struct sdp_machine *machine, const struct sdp_message *message,
                   struct sdp_heard *heard);
bool sdp_sink_src_avail(struct sdp_machine *machine, const struct sdp_message *message,
                        struct sdp_heard *heard);
bool sdp_sink_src_cancel(struct sdp_machine *machine, const struct sdp_message *message,
                         struct sdp_heard *heard);
bool sdp_sink_written(struct sdp_machine *machine, const struct sdp_message *message,
                      struct sdp_heard *heard);
bool sdp_sink_cancel_ack(struct sdp_machine *machine, const struct sdp_message *message,
                         struct sdp_heard *heard);

#endif /* ITAPI_ULP_SDP_MACHINE_SDP_HALVES_H */
