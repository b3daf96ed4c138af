/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions and answers between clients, mappers and holders. Called with the lock. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_RELAY_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_RELAY_H

#include "agree/sdp_agree_object.h"

/* Children inherit and share both sockets: they have no state. */
extern struct sdp_relay {
    int udp;     /* all mappers of a user share the port; -1: this process is no mapper */
    int answers; /* UNIX: answers of holders to the mapper */
} sdp_relay;

bool sdp_relay_open(void);       /* opens `answers`; false: no resources */
bool sdp_relay_try_mapper(void); /* returns true if this call has opened `udp` */

/* Returns a UNIX datagram socket bound to the name, or -1. */
int sdp_relay_bind(const struct sockaddr *name, socklen_t length);

/* Handle one datagram at `udp` or at `answers`. Return false if there was none. */
bool sdp_relay_client(void);
bool sdp_relay_holder(void);

/* A question received on the channel of an open socket. */
struct sdp_question {
    struct sdp_note note;
    bool within_host; /* false: a mapper has passed it on, and the tag is right */
    uint32_t user;    /* valid if within_host */
    struct sockaddr_un from;
    socklen_t from_length;
    uint8_t way_back[64]; /* for the mapper */
};

/* Gets the next valid question. Returns false if there is none. */
bool sdp_relay_receive(int channel, struct sdp_question *question);
/* Sends the answer, with the accepted socket if the client may have it. */
void sdp_relay_answer(int channel, const struct sdp_question *question, int accepted);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_RELAY_H */
