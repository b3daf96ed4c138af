/* SPDX-License-Identifier: BSD-2-Clause */
/* One undecided socket, and the lock of this floor. */
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
    SDP_SERVER_SPOKEN, /* TCP, but a preface may still come */
    SDP_DECIDED_TCP,
    SDP_DECIDED_CONVERT
};

struct sdp_agreement {
    enum sdp_agree_state state;
    bool active;
    bool within_host;
    int fd;      /* the program's */
    int channel; /* to the other end: a client's from connect on, a server's while open */
    struct sdp_tuple tuple;
    int64_t round_trip_us;
    int64_t first_call_us;
    struct sdp_agreement *next, *before; /* in the list of all in this process */
    int share;                           /* process counter; SDP_SHARE_NONE: this one alone */

    /* Client */
    uint8_t peer[16]; /* the address and port asked */
    uint16_t peer_port;
    uint8_t nonce[SDP_NONCE_OCTETS];
    uint8_t server_nonce[SDP_NONCE_OCTETS];
    bool perhaps; /* step 1 found a process with this library */
    bool corked;
    int64_t connect_us;
    int64_t deadline_us;
    int64_t ask_us; /* time of the next question */
    int64_t ask_gap_us;
    int64_t begun_us;

    /* Server */
    void *context;
    int place;  /* index among the open ones; -1: none */
    bool quiet; /* the program has sent nothing, so a preface can be answered */
    int promises;
    uint8_t promised_to[SDP_PROMISES_MAX][SDP_NONCE_OCTETS];
    uint8_t own_nonce[SDP_NONCE_OCTETS];
    int64_t promised_us;
};

/* Guards all data of this floor. Not held while `decided` is called. */
extern pthread_mutex_t sdp_agree_lock;
extern struct sdp_agree_host sdp_agree_host;
extern struct sdp_agree_settings sdp_agree_settings;

bool sdp_agree_read_key(const char *path);
const uint8_t *sdp_agree_key(void); /* NULL: no key */
int64_t sdp_agree_now_us(void);
int sdp_agree_keep(int fd);
void sdp_agree_drop(int *fd); /* sets *fd to -1 */

/*
 * Returns the longest time from *yes* to the client's preface, or from the preface to the answer.
 */
int64_t sdp_agree_reply_us(const struct sdp_agreement *agreement);

/* Returns true if this is the only process that has the socket. */
bool sdp_agree_alone(const struct sdp_agreement *agreement);

bool sdp_agree_may_convert(const uint8_t own[16]);
uint8_t sdp_agree_kind(void);

void sdp_agree_cork(int fd, int on);

/*
 * Sends a preface even if the socket is corked. Returns false if it could not, and nothing has been
 * sent.
 */
bool sdp_agree_say(struct sdp_agreement *agreement, const uint8_t *first, const uint8_t *second);

/*
 * Peeks. Returns 1 if there are as many octets as a preface has; 0 if there is nothing; -1
 * otherwise.
 */
int sdp_agree_peek(const struct sdp_agreement *agreement, uint8_t octets[SDP_PREFACE_OCTETS]);
void sdp_agree_take(const struct sdp_agreement *agreement);

#endif /* ITAPI_ULP_SDP_AGREE_SDP_AGREE_OBJECT_H */
