/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol by which two sides of a TCP connection agree to go on over an RDMA device, or not to
 * (docs/conversion.md has the frames and both state tables). Its input is the peer's octets and the
 * fate of the RDMA connection; its output is octets and orders. It knows no socket, no clock and no
 * heap. One thread at a time uses a struct.
 *
 * After each input the caller writes the octets of agree_output, then carries out the orders.
 */
#ifndef ITAPI_TDI_AGREE_AGREE_H
#define ITAPI_TDI_AGREE_AGREE_H

#include "tdi/agree/agree_frame.h"

enum agree_state {
    AGREE_WAIT_OFFER,  /* responder: neither side has sent a frame */
    AGREE_PREPARE,     /* responder: has the offer; is to listen */
    AGREE_WAIT_READY,  /* responder: has answered; waits for the RDMA connection and for ready */
    AGREE_CONFIRM,     /* responder: sends commit, and cannot go back */
    AGREE_WAIT_ANSWER, /* initiator: has sent its offer */
    AGREE_CONNECT,     /* initiator: has the answer; is to connect */
    AGREE_WAIT_COMMIT, /* initiator: has sent ready; the responder decides */
    AGREE_DOUBT,       /* initiator: has sent ready, then abort; the responder decides */
    AGREE_WITHDRAW,    /* the agreement has failed; the last frames are exchanged */
    AGREE_OVER
};

enum agree_outcome {
    AGREE_PENDING,
    AGREE_CONVERTED, /* the RDMA connection takes over; the stream is to be closed */
    AGREE_PLAIN,     /* the stream goes on as before, at an octet that both sides agree on */
    AGREE_LOST       /* the sides may disagree about the stream: it is to be closed */
};

enum agree_order {
    AGREE_DO_NOTHING,
    AGREE_DO_LISTEN,  /* listen for one connection; then agree_listening, or agree_give_up */
    AGREE_DO_ACCEPT,  /* accept the request, which has the right key; private data: agree_key */
    AGREE_DO_CONNECT, /* to .peer, with agree_key; then agree_connected or agree_unconnected */
    AGREE_DO_DROP,    /* end the RDMA connection, or the attempt */
    AGREE_DO_HURRY,   /* start the time limit anew, with a short time */
    AGREE_DO_FINISH   /* look at .outcome */
};

struct agree {
    bool initiator;
    enum agree_state state;
    enum agree_outcome outcome;
    enum agree_reason reason; /* why the agreement failed */
    bool by_peer;             /* .reason came from the peer */
    bool refused;             /* initiator: the peer refused the offer */
    struct agree_terms own;
    uint8_t peer_family; /* the stream's remote address */
    uint8_t peer_address[AGREE_ADDRESS];
    struct agree_terms peer; /* valid once its offer or answer has come */
    bool key_used;           /* responder: a request had the right key, which is good once */
    bool connected;          /* responder: the RDMA connection is up */
    bool ready;              /* responder: the initiator's ready has come */
    bool peer_spoke;         /* a frame of the peer has come */
    bool peer_ended;         /* its last frame has come */
    unsigned orders;
    size_t wanted;
    uint8_t output[AGREE_FRAME_MAX]; /* more than all frames that can wait here */
    size_t output_length;
    size_t output_sent; /* back to 0 when all is sent */
    bool spoke;         /* the stream has taken an octet of ours */
};

/*
 * Begins. own.token must be unpredictable. peer_*: the stream's remote address, which the peer's
 * device must have too. An initiator has output at once.
 */
void agree_init(struct agree *agree, bool initiator, const struct agree_terms *own,
                uint8_t peer_family, const uint8_t peer_address[AGREE_ADDRESS]);

/* ---- Octets of the peer. */

/* Returns how many octets agree_feed needs to learn more; 0: it must not be called. */
size_t agree_wanted(const struct agree *agree);
/*
 * Takes the octets at the head of the stream, at least one. Returns how many to remove from the
 * stream: those of one frame, or none; the next call gets the rest again.
 */
size_t agree_feed(struct agree *agree, const uint8_t *octets, size_t length);
/* The peer has closed its direction, or the stream has failed. */
void agree_stream_ended(struct agree *agree);

/* ---- Octets for the peer. */

const uint8_t *agree_output(const struct agree *agree, size_t *length);
void agree_sent(struct agree *agree, size_t length);

/* ---- What the caller must do, in this order, each once. */

enum agree_order agree_next_order(struct agree *agree);

/* ---- The RDMA connection. */

/* Writes the private data of a connection to dst, of AGREE_KEY_FRAME octets; returns its length. */
size_t agree_key(const struct agree *agree, uint8_t *dst);
/*
 * Responder: takes the private data of a connection request, and ignores octets behind the key.
 * Returns false when the request must be refused; the responder then goes on waiting.
 */
bool agree_requested(struct agree *agree, const uint8_t *private_data, size_t length);
/* Responder: this side listens on the port. */
void agree_listening(struct agree *agree, uint16_t port);
/* The connection is up. Initiator: with the reply's private data, whose key must be right. */
void agree_connected(struct agree *agree, const uint8_t *private_data, size_t length);
/* The connection could not be made, or has ended. */
void agree_unconnected(struct agree *agree);

/* ---- Other ends. */

/* This side cannot go on, for that reason. */
void agree_give_up(struct agree *agree, enum agree_reason reason);
/*
 * The time limit has passed. The first time this is agree_give_up; the second time it ends the
 * agreement at once.
 */
void agree_expired(struct agree *agree);

#endif
