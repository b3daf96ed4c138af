/* SPDX-License-Identifier: BSD-2-Clause */
/* One socket that is not decided, and the lock of this floor. */
#ifndef ITAPI_ULP_SDP_AGREE_SDP_AGREE_OBJECT_H
#define ITAPI_ULP_SDP_AGREE_SDP_AGREE_OBJECT_H

#include "agree/sdp_agree.h"
#include "agree/sdp_agree_message.h"

#include <pthread.h>

#define SDP_PROMISES_MAX 4

enum sdp_agree_state {
    SDP_CLIENT_NEW,
    SDP_CLIENT_ASKING,
    SDP_CLIENT_BEGUN,
    SDP_SERVER_FRESH,
    SDP_SERVER_OPEN,
    SDP_SERVER_PROMISED,
    SDP_SERVER_SPOKEN, /* TCP, but a preface may come yet */
    SDP_DECIDED_TCP,
    SDP_DECIDED_CONVERT
};

struct sdp_agreement {
    enum sdp_agree_state state;
    bool active;
    bool within_host;
    int fd;      /* the program's */
    int channel; /* beside the stream: of a client since connect, of a server while it is open */
    struct sdp_tuple tuple;
    int64_t round_trip_us;
    int64_t first_call_us;
    struct sdp_agreement *next, *before; /* of all in this process */
    int share;                           /* counter of processes; -1: this one alone */

    /* Client */
    uint8_t peer[16]; /* address and port that were asked */
    uint16_t peer_port;
    uint8_t nonce[SDP_NONCE_OCTETS];
    uint8_t server_nonce[SDP_NONCE_OCTETS];
    bool perhaps; /* somebody of ours listens */
    bool corked;
    int64_t connect_us;
    int64_t deadline_us;
    int64_t ask_us; /* next time */
    int64_t ask_gap_us;
    int64_t begun_us;

    /* Server */
    void *context;
    int place;  /* among the open ones; -1: none */
    bool quiet; /* no octet of the program has left: a preface can be answered */
    int promises;
    uint8_t promised_to[SDP_PROMISES_MAX][SDP_NONCE_OCTETS];
    uint8_t own_nonce[SDP_NONCE_OCTETS];
    int64_t promised_us;
};

/* Guards all of the floor. `decided` is called without. */
extern pthread_mutex_t sdp_agree_lock;
extern struct sdp_agree_host sdp_agree_host;
extern struct sdp_agree_settings sdp_agree_settings;

bool sdp_agree_read_key(const char *path);
const uint8_t *sdp_agree_key(void); /* NULL: none */
int64_t sdp_agree_now_us(void);
int sdp_agree_keep(int fd);
void sdp_agree_drop(int *fd); /* -1 afterwards */

/* How long the other end takes at most from *yes* to its preface, or to its answer. */
int64_t sdp_agree_reply_us(const struct sdp_agreement *agreement);

/* Is this the only process that has it? */
bool sdp_agree_alone(const struct sdp_agreement *agreement);

bool sdp_agree_may_convert(const uint8_t own[16]);
uint8_t sdp_agree_kind(void);

void sdp_agree_cork(int fd, int on);

/* Sends a preface, past a cork. False: it could not, and nothing has left. */
bool sdp_agree_say(struct sdp_agreement *agreement, const uint8_t *first, const uint8_t *second);

/* 1: a preface's length of octets, which are looked at only; 0: nothing yet; -1: anything else. */
int sdp_agree_peek(const struct sdp_agreement *agreement, uint8_t octets[SDP_PREFACE_OCTETS]);
void sdp_agree_take(const struct sdp_agreement *agreement);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_OBJECT_H */
