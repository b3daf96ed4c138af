/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two sides of a TCP connection agree to go on over an RDMA device, or not to (docs/conversion.md
 * has the frames and both state tables). Octets and what becomes of the RDMA connection go in,
 * octets and orders come out. No socket, no clock, no heap; one thread at a time per struct.
 *
 * After each input the caller writes what is in agree_output, then carries out the orders.
 */
#ifndef ITAPI_TDI_AGREE_AGREE_H
#define ITAPI_TDI_AGREE_AGREE_H

#include "tdi/agree/agree_frame.h"

enum agree_state {
    AGREE_WAIT_OFFER,  /* responder: neither side has said anything */
    AGREE_PREPARE,     /* responder: has the offer, and is to listen */
    AGREE_WAIT_READY,  /* responder: has answered; waits for the RDMA connection and for ready */
    AGREE_CONFIRM,     /* responder: commit is on its way out. No way back */
    AGREE_WAIT_ANSWER, /* initiator: has offered */
    AGREE_CONNECT,     /* initiator: has the answer, and is to connect */
    AGREE_WAIT_COMMIT, /* initiator: has said ready; the responder decides */
    AGREE_DOUBT,       /* initiator: has said ready, then abort; the responder has decided */
    AGREE_WITHDRAW,    /* it has failed; the last frames are exchanged */
    AGREE_OVER
};

enum agree_outcome {
    AGREE_PENDING,
    AGREE_CONVERTED, /* the RDMA connection is the one; the stream is to be closed */
    AGREE_PLAIN,     /* the stream is what it was before, at an octet both sides agree on */
    AGREE_LOST       /* nobody knows what is in the stream: it is to be closed */
};

enum agree_order {
    AGREE_DO_NOTHING,
    AGREE_DO_LISTEN,  /* for one RDMA connection; then agree_listening, or agree_give_up */
    AGREE_DO_ACCEPT,  /* one with the right key has come: accept with agree_key */
    AGREE_DO_CONNECT, /* to .peer, with agree_key; then agree_connected or agree_unconnected */
    AGREE_DO_DROP,    /* no RDMA connection is wanted any more */
    AGREE_DO_HURRY,   /* the time limit starts anew, with a short one */
    AGREE_DO_FINISH   /* look at .outcome */
};

struct agree {
    bool initiator;
    enum agree_state state;
    enum agree_outcome outcome;
    enum agree_reason reason; /* why not, once it has failed */
    bool by_peer;             /* .reason is what the peer said */
    bool refused;             /* initiator: the peer's answer was no */
    struct agree_terms own;
    uint8_t peer_family; /* where the stream leads to */
    uint8_t peer_address[AGREE_ADDRESS];
    struct agree_terms peer; /* from its offer or answer on */
    bool key_used;           /* responder: the right one has come; it is good once */
    bool connected;          /* responder: the RDMA connection is there */
    bool ready;              /* responder: the initiator has said so */
    bool peer_spoke;         /* in frames */
    bool peer_ended;         /* no frame of it will come any more */
    unsigned orders;
    size_t wanted;
    uint8_t output[AGREE_FRAME_MAX]; /* of frames this side can have said: far more than enough */
    size_t output_length;
    size_t output_sent; /* 0 also when all of it has been */
    bool spoke;         /* an octet of ours is in the stream */
};

/*
 * own.token must be unpredictable. peer_*: the remote address of the stream, which the peer's
 * device has to have. An initiator has output at once.
 */
void agree_init(struct agree *agree, bool initiator, const struct agree_terms *own,
                uint8_t peer_family, const uint8_t peer_address[AGREE_ADDRESS]);

/* ---- Octets of the peer. */

/* How many have to be there for agree_feed to see more than it has; 0: none are to be looked at. */
size_t agree_wanted(const struct agree *agree);
/*
 * All that are there, at least one, as they stand in the stream: what was not taken is shown again.
 * Returns how many are to be taken out: a whole frame, or none.
 */
size_t agree_feed(struct agree *agree, const uint8_t *octets, size_t length);
/* No octet will come any more, or the stream has failed. */
void agree_stream_ended(struct agree *agree);

/* ---- Octets for the peer. */

const uint8_t *agree_output(const struct agree *agree, size_t *length);
void agree_sent(struct agree *agree, size_t length);

/* ---- What is to be done, in this order; each once. */

enum agree_order agree_next_order(struct agree *agree);

/* ---- The RDMA connection. */

/* Private data of a connection: length octets in dst, which has AGREE_KEY_FRAME. */
size_t agree_key(const struct agree *agree, uint8_t *dst);
/*
 * Responder: private data of an incoming connection, of which octets behind the key are not looked
 * at. False: refuse it, and go on waiting.
 */
bool agree_requested(struct agree *agree, const uint8_t *private_data, size_t length);
/* Responder: it listens on this port. */
void agree_listening(struct agree *agree, uint16_t port);
/* Data may flow. Initiator: with the private data of the answer; the wrong ones make it fail. */
void agree_connected(struct agree *agree, const uint8_t *private_data, size_t length);
/* It cannot be made, or has ended already. */
void agree_unconnected(struct agree *agree);

/* ---- Other ends. */

/* This side cannot go on. */
void agree_give_up(struct agree *agree, enum agree_reason reason);
/*
 * The time limit is over: the first time as agree_give_up, the second time nothing is waited for.
 */
void agree_expired(struct agree *agree);

#endif
