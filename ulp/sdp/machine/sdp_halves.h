/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of this folder: what messages mean to the sending and the receiving half. */
#ifndef ITAPI_ULP_SDP_MACHINE_SDP_HALVES_H
#define ITAPI_ULP_SDP_MACHINE_SDP_HALVES_H

#include "machine/sdp_machine.h"

/* Credits that a message leaves unused: one for the others, and one for an update. */
#define SDP_RESERVE_DATA    2u
#define SDP_RESERVE_CONTROL 1u

/* What a message says of numbers and receives. false: a lie. */
bool sdp_credit_hear(struct sdp_machine *machine, const struct sdp_message *message);
/* The peer may be about to starve, and would learn of more than one receive. */
bool sdp_credit_due(const struct sdp_machine *machine);
/* Numbers the message, and tells receives and what has come. */
void sdp_machine_stamp(struct sdp_machine *machine, struct sdp_message *message);

void sdp_places_add(struct sdp_places *places, const struct sdp_place *place);
/* octets of the oldest are done; it goes when none are left. */
void sdp_places_advance(struct sdp_places *places, uint32_t octets);

/* Each is false for a lie. */
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
