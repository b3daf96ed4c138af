/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions and answers between clients, mappers and holders. With the lock. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_RELAY_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_RELAY_H

#include "agree/sdp_agree_object.h"

/* Both are inherited by children, who share them: there is no state behind. */
extern struct sdp_relay {
    int udp;     /* all mappers of a user share the port; -1: this process is none */
    int answers; /* UNIX: what holders say to the mapper */
} sdp_relay;

bool sdp_relay_open(void);       /* `answers`; false: no means */
bool sdp_relay_try_mapper(void); /* true: `udp` is there since this call */

/* A datagram socket of UNIX that is bound to the name; -1. */
int sdp_relay_bind(const struct sockaddr *name, socklen_t length);

/* What waits at `udp` and at `answers`, one each. False: there is nothing more. */
bool sdp_relay_client(void);
bool sdp_relay_holder(void);

/* A question that has come to an open one's channel. */
struct sdp_question {
    struct sdp_note note;
    bool within_host; /* else a mapper has handed it on, and the tag is right */
    uint32_t user;    /* within_host */
    struct sockaddr_un from;
    socklen_t from_length;
    uint8_t way_back[64]; /* for the mapper */
};

/* The next one that is in order; false: there is none. */
bool sdp_relay_receive(int channel, struct sdp_question *question);
/* With the accepted socket, if the one who asks may have it. */
void sdp_relay_answer(int channel, const struct sdp_question *question, int accepted);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_RELAY_H */
