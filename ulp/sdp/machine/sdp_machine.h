/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol of one connection: what a message of the peer means, which messages are due, and
 * what may be sent now. No socket, thread, clock or heap; the caller has a lock.
 */
#ifndef ITAPI_ULP_SDP_MACHINE_SDP_MACHINE_H
#define ITAPI_ULP_SDP_MACHINE_SDP_MACHINE_H

#include "wire/sdp_message.h"

/* SrcAvails of the peer, and SinkAvails of the peer, that are held at a time. */
#define SDP_ADVERTS_MAX 4u

/* What is to be sent; in this order. */
enum sdp_due {
    SDP_DUE_ABORT = 0x1,
    SDP_DUE_RD_COMPL = 0x2,
    SDP_DUE_SEND_SM = 0x4,
    SDP_DUE_SINK_CANCEL_ACK = 0x8,
    SDP_DUE_SRC_CANCEL = 0x10,
    SDP_DUE_SINK_CANCEL = 0x20,
    SDP_DUE_MODE = 0x40,
    SDP_DUE_SIZE_ACK = 0x80,
    SDP_DUE_SIZE = 0x100,
    SDP_DUE_DISCONN = 0x200,
    SDP_DUE_UPDATE = 0x400 /* an empty Data: credits, or OOB_PEND */
};

/* An advertisement of our own: one SrcAvail, and one SinkAvail, at a time. */
enum sdp_offer_state {
    SDP_OFFER_NONE,
    SDP_OFFER_OUT,
    SDP_OFFER_CANCELLING,
    SDP_OFFER_STATES
};

struct sdp_offer {
    enum sdp_offer_state state;
    uint32_t size; /* octets that the peer may move; without inline octets */
    uint32_t done; /* that it has told to have moved; stays when the offer is over */
};

struct sdp_places {
    struct sdp_place place[SDP_ADVERTS_MAX]; /* oldest first; addr and size of what is left */
    uint32_t count;
};

struct sdp_machine {
    bool active;
    bool greeted; /* the peer's Hello or HelloAck has come */
    bool open;    /* both have passed */
    bool failed;
    unsigned due; /* enum sdp_due */

    /* Messages and credits; mod 2^32. */
    uint32_t tx_last;      /* mseq of the last message */
    uint32_t tx_limit;     /* highest mseq for which the peer has a receive */
    uint32_t tx_acked;     /* last mseq that the peer has processed */
    uint32_t rx_last;      /* mseq of the last message of the peer */
    uint32_t rx_told;      /* highest mseq that the peer may send, as it knows */
    uint32_t rx_posted;    /* receives, without those of messages that were heard */
    bool ack_held;         /* between SrcAvailCancel and SendSm */
    uint32_t ack_held_at;  /* mseq_ack meanwhile */
    uint32_t send_max;     /* of our Sends */
    uint32_t send_size;    /* of them, as the peer's receives allow */
    uint32_t receive_size; /* of ours, as the peer knows it */

    /* Larger receives: at our side, and at the peer's. */
    uint32_t receive_max;
    uint32_t resize_to;   /* 0: no ChRcvBuf to answer; receives are posted with this size */
    uint32_t resize_left; /* smaller ones that are still posted */
    uint32_t size_asked;  /* 0: no ChRcvBufAck to come */

    /* Our sending half. */
    enum sdp_mode tx_mode;
    enum sdp_mode mode_wanted; /* with SDP_DUE_MODE */
    uint16_t peer_adverts;
    bool peer_wants_pipe;    /* REQ_PIPE */
    struct sdp_offer source; /* SrcAvail */
    uint32_t source_mseq;
    struct sdp_places sinks; /* SinkAvails of the peer */
    uint32_t data_sent;      /* Data messages with payload */
    unsigned urgent_left;    /* urgent octets that have not left */
    bool sent_disconn;

    /* Our receiving half. */
    enum sdp_mode rx_mode;
    struct sdp_offer sink;     /* SinkAvail */
    struct sdp_places sources; /* SrcAvails of the peer */
    uint32_t reading;          /* octets of the first that RDMA Reads are moving */
    uint32_t read_done;        /* to be told by RdmaRdCompl */
    bool cancelled;            /* SrcAvailCancel waits for the end of Reads */
    bool refused;              /* SendSm has gone out since the last SrcAvail */
    bool behind_source;        /* Data stands behind an open SrcAvail: it must be read */
    uint32_t data_received;
    bool got_pend;
    bool got_disconn;
    bool want_pipe; /* say REQ_PIPE */
};

/* What a message brought, beside what the machine shows. */
struct sdp_heard {
    const unsigned char *payload;
    uint32_t octets; /* of the stream */
    bool urgent;     /* the last one is */
    bool pend;       /* an urgent one was announced, for the first time */
    bool source;     /* a SrcAvail stands behind the octets, the last of .sources */
    bool opened;
    bool reset; /* AbortConn */
};

/*
 * own: as it goes out in the Hello or HelloAck. own->bufs receives of own->receive_size are posted;
 * own->desired_size: of our Sends. receive_max: what receives may grow to.
 */
void sdp_machine_start(struct sdp_machine *machine, bool active, const struct sdp_hello *own,
                       uint32_t receive_max);

/* Writes the Hello, or the HelloAck once the Hello has come. Returns its octets. */
size_t sdp_machine_greet(struct sdp_machine *machine, const struct sdp_hello *own,
                         unsigned char out[SDP_HELLO_OCTETS]);

/* A message has come. false: a lie, or none; the connection is to be aborted. */
bool sdp_machine_hear(struct sdp_machine *machine, const unsigned char *octets, size_t length,
                      struct sdp_heard *heard);

/* A receive was posted again, with sdp_machine_post_size octets. */
void sdp_machine_posted(struct sdp_machine *machine);
uint32_t sdp_machine_post_size(const struct sdp_machine *machine);

/* Takes the next control message that is due and has a credit; false: none. */
bool sdp_machine_next(struct sdp_machine *machine, struct sdp_message *message);

/* Messages that the peer would take now, the reserve included. */
uint32_t sdp_machine_credits(const struct sdp_machine *machine);

/* Octets that a Data message may have now; 0: none may go. */
uint32_t sdp_machine_room(const struct sdp_machine *machine);
void sdp_machine_data(struct sdp_machine *machine, uint32_t octets, bool urgent,
                      struct sdp_message *message);

/* An urgent octet waits to leave: announced at once. */
void sdp_machine_urgent(struct sdp_machine *machine);

/* All is sent: DisConn. */
void sdp_machine_finish(struct sdp_machine *machine);
void sdp_machine_abort(struct sdp_machine *machine);

/* ---- ZCopy: our data ------------------------------------------------------------------------ */

/* A mode for our sending half, if the transition is legal now. ModeChange becomes due. */
bool sdp_machine_change_mode(struct sdp_machine *machine, enum sdp_mode mode);

/* In combined mode it carries at least one octet inline and leaves one, in pipelined none. */
bool sdp_machine_may_offer_source(const struct sdp_machine *machine);
/* place: of the whole buffer, whose first inline_octets follow in the message. */
void sdp_machine_offer_source(struct sdp_machine *machine, const struct sdp_place *place,
                              uint32_t inline_octets, struct sdp_message *message);
void sdp_machine_cancel_source(struct sdp_machine *machine);

/* The peer's oldest SinkAvail; NULL: none that is valid. */
const struct sdp_place *sdp_machine_sink(const struct sdp_machine *machine);
/* octets were written into it; the message tells so and needs a credit (sdp_machine_room). */
void sdp_machine_written(struct sdp_machine *machine, uint32_t octets, struct sdp_message *message);

/* ---- ZCopy: data of the peer ---------------------------------------------------------------- */

/* The peer's oldest SrcAvail; NULL: none. */
const struct sdp_place *sdp_machine_source(const struct sdp_machine *machine);
/* An RDMA Read of its next octets begins, and ends; one at a time. */
void sdp_machine_read_begins(struct sdp_machine *machine, uint32_t octets);
void sdp_machine_read_ends(struct sdp_machine *machine);
/* SendSm, where it is legal; false: it has to be read. */
bool sdp_machine_refuse(struct sdp_machine *machine);

bool sdp_machine_may_offer_sink(const struct sdp_machine *machine);
void sdp_machine_offer_sink(struct sdp_machine *machine, const struct sdp_place *place,
                            struct sdp_message *message);
void sdp_machine_cancel_sink(struct sdp_machine *machine);

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* Asks the peer for larger receives. */
void sdp_machine_ask_size(struct sdp_machine *machine, uint32_t size);

#endif /* ITAPI_ULP_SDP_MACHINE_SDP_MACHINE_H */
