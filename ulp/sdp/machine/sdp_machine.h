/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol of one connection: the meaning of the peer's messages, which messages are due, and
 * what may be sent now. Without sockets, threads, clock and heap; the caller holds a lock.
 */
#ifndef ITAPI_ULP_SDP_MACHINE_SDP_MACHINE_H
#define ITAPI_ULP_SDP_MACHINE_SDP_MACHINE_H

#include "wire/sdp_message.h"

/* SrcAvails, and SinkAvails, of the peer that are held at a time. */
#define SDP_ADVERTS_MAX 4u

/* Messages to send, in this order. */
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

/* An advertisement of this side: at most one SrcAvail and one SinkAvail at a time. */
enum sdp_offer_state {
    SDP_OFFER_NONE,
    SDP_OFFER_OUT,
    SDP_OFFER_CANCELLING,
    SDP_OFFER_STATES
};

struct sdp_offer {
    enum sdp_offer_state state;
    uint32_t size; /* octets that the peer may move, without inline octets */
    uint32_t done; /* octets that the peer has reported as moved; stays after the offer has ended */
};

struct sdp_places {
    struct sdp_place place[SDP_ADVERTS_MAX]; /* oldest first; addr and size of the rest */
    uint32_t count;
};

struct sdp_machine {
    bool active;
    bool greeted; /* the peer's Hello or HelloAck has arrived */
    bool open;    /* both have been exchanged */
    bool failed;
    unsigned due; /* enum sdp_due */

    /* Messages and credits; mod 2^32. */
    uint32_t tx_last;      /* mseq of the last message */
    uint32_t tx_limit;     /* highest mseq for which the peer has a receive */
    uint32_t tx_acked;     /* last mseq that the peer has processed */
    uint32_t rx_last;      /* mseq of the last message of the peer */
    uint32_t rx_told;      /* highest mseq that the peer may send, as announced */
    uint32_t rx_posted;    /* receives, without those of messages that have been heard */
    bool ack_held;         /* between SrcAvailCancel and SendSm */
    uint32_t ack_held_at;  /* mseq_ack during that time */
    uint32_t send_max;     /* maximum size of this side's Sends */
    uint32_t send_size;    /* the size that the peer's receives allow */
    uint32_t receive_size; /* size of this side's receives, as the peer knows it */

    /* Larger receives, here and at the peer: */
    uint32_t receive_max;
    uint32_t resize_to;   /* size with which receives are posted; 0: no ChRcvBuf to answer */
    uint32_t resize_left; /* smaller receives that are still posted */
    uint32_t size_asked;  /* 0: no ChRcvBufAck is expected */

    /* The sending half: */
    enum sdp_mode tx_mode;
    enum sdp_mode mode_wanted; /* with SDP_DUE_MODE */
    uint16_t peer_adverts;
    bool peer_wants_pipe;    /* REQ_PIPE */
    struct sdp_offer source; /* SrcAvail */
    uint32_t source_mseq;
    struct sdp_places sinks; /* SinkAvails of the peer */
    uint32_t data_sent;      /* Data messages with payload */
    unsigned urgent_left;    /* urgent octets that have not been sent */
    bool sent_disconn;

    /* The receiving half: */
    enum sdp_mode rx_mode;
    struct sdp_offer sink;     /* SinkAvail */
    struct sdp_places sources; /* SrcAvails of the peer */
    uint32_t reading;          /* octets of the first source that RDMA Reads are moving */
    uint32_t read_done;        /* octets to report by RdmaRdCompl */
    bool cancelled;            /* SrcAvailCancel waits until Reads have ended */
    bool refused;              /* SendSm has been sent since the last SrcAvail */
    bool behind_source; /* Data arrived after an open SrcAvail, so the source cannot be refused */
    uint32_t data_received;
    bool got_pend;
    bool got_disconn;
    bool want_pipe; /* send REQ_PIPE */
};

/* The contents of a message, besides the state in the machine. */
struct sdp_heard {
    const unsigned char *payload;
    uint32_t octets; /* of the stream */
    bool urgent;     /* the last octet is urgent */
    bool pend;       /* an urgent octet was announced for the first time */
    bool source;     /* a SrcAvail follows the octets: the last of .sources */
    bool opened;
    bool reset; /* AbortConn */
};

/*
 * own: the values sent in the Hello or HelloAck. own->bufs receives of own->receive_size are
 * posted; own->desired_size is that of this side's Sends. receive_max: the size that receives may
 * grow to.
 */
void sdp_machine_start(struct sdp_machine *machine, bool active, const struct sdp_hello *own,
                       uint32_t receive_max);

/* Writes the Hello, or the HelloAck once the Hello has arrived. Returns its length. */
size_t sdp_machine_greet(struct sdp_machine *machine, const struct sdp_hello *own,
                         unsigned char out[SDP_HELLO_OCTETS]);

/*
 * Handles an arriving message. Returns false for a protocol violation or no message: the connection
 * must be aborted.
 */
bool sdp_machine_hear(struct sdp_machine *machine, const unsigned char *octets, size_t length,
                      struct sdp_heard *heard);

/* A receive has been posted again, with sdp_machine_post_size octets. */
void sdp_machine_posted(struct sdp_machine *machine);
uint32_t sdp_machine_post_size(const struct sdp_machine *machine);

/* Takes the next control message that is due and has a credit. Returns false if there is none. */
bool sdp_machine_next(struct sdp_machine *machine, struct sdp_message *message);

/* Returns the number of messages that the peer would accept now, including the reserve. */
uint32_t sdp_machine_credits(const struct sdp_machine *machine);

/* Returns the octets that a Data message may have now; 0: none may be sent. */
uint32_t sdp_machine_room(const struct sdp_machine *machine);
void sdp_machine_data(struct sdp_machine *machine, uint32_t octets, bool urgent,
                      struct sdp_message *message);

/* An urgent octet waits to be sent: announces it at once. */
void sdp_machine_urgent(struct sdp_machine *machine);

/* All data has been sent: DisConn becomes due. */
void sdp_machine_finish(struct sdp_machine *machine);
void sdp_machine_abort(struct sdp_machine *machine);

/* Returns true if AbortConn waits for the peer's greeting, without which nothing may be sent. */
bool sdp_machine_awaits_greeting(const struct sdp_machine *machine);

/*
 * ---- ZCopy: data of this side ------------------------------------------------------------------
 */

/* Changes the mode of the sending half if the transition is legal now: ModeChange becomes due. */
bool sdp_machine_change_mode(struct sdp_machine *machine, enum sdp_mode mode);

/*
 * In combined mode a SrcAvail carries at least one octet inline and leaves one; in pipelined mode
 * it carries none.
 */
bool sdp_machine_may_offer_source(const struct sdp_machine *machine);
/* place: the whole buffer, whose first inline_octets go in the message. */
void sdp_machine_offer_source(struct sdp_machine *machine, const struct sdp_place *place,
                              uint32_t inline_octets, struct sdp_message *message);
void sdp_machine_cancel_source(struct sdp_machine *machine);

/* Returns the peer's oldest SinkAvail; NULL: there is no valid one. */
const struct sdp_place *sdp_machine_sink(const struct sdp_machine *machine);
/*
 * octets have been written into it. The message reports that and needs a credit (sdp_machine_room).
 */
void sdp_machine_written(struct sdp_machine *machine, uint32_t octets, struct sdp_message *message);

/* ---- ZCopy: data of the peer ---------------------------------------------------------------- */

/* Returns the peer's oldest SrcAvail, or NULL. */
const struct sdp_place *sdp_machine_source(const struct sdp_machine *machine);
/* Called when an RDMA Read of the source's next octets begins, and when it ends; one at a time. */
void sdp_machine_read_begins(struct sdp_machine *machine, uint32_t octets);
void sdp_machine_read_ends(struct sdp_machine *machine);
/* Makes SendSm due if it is legal. Returns false if the SrcAvail must be read. */
bool sdp_machine_refuse(struct sdp_machine *machine);

bool sdp_machine_may_offer_sink(const struct sdp_machine *machine);
void sdp_machine_offer_sink(struct sdp_machine *machine, const struct sdp_place *place,
                            struct sdp_message *message);
void sdp_machine_cancel_sink(struct sdp_machine *machine);

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* Asks the peer for larger receives. */
void sdp_machine_ask_size(struct sdp_machine *machine, uint32_t size);

#endif /* ITAPI_ULP_SDP_MACHINE_SDP_MACHINE_H */
