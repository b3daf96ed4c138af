/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link of one connection: how PDUs and the data of commands travel. Two kinds, behind one
 * table: octets of a TCP stream (iser_plain.c), Sends and RDMA of an endpoint (iser_rdma.c). All in
 * the loop.
 */
#ifndef ITAPI_ULP_ISER_TRANSFER_ISER_LINK_H
#define ITAPI_ULP_ISER_TRANSFER_ISER_LINK_H

#include "pdu/iser_pdu.h"
#include "transfer/iser_buffer.h"

#include <sys/socket.h>

struct event_base;
struct iser_link;

/* What each PDU to the initiator tells; session/ keeps it. */
struct iser_numbers {
    uint32_t stat_sn;
    uint32_t exp_cmd_sn;
    uint32_t max_cmd_sn;
};

#define ISER_LINK_RECEIVES 1024u /* RDMA: that a link posts behind its login, at most */

/* What the login has agreed on, as far as links care. */
struct iser_limits {
    bool header_digest, data_digest;
    uint32_t send_max;    /* data segment that the initiator takes */
    uint32_t receive_max; /* that we take */
    uint32_t max_burst;
    uint32_t window;           /* commands that may be open */
    uint32_t receives;         /* RDMA: PDUs that may be on their way to us */
    bool write_base_solicited; /* RDMA: the first solicited octet lies at Write Base Offset */
};

/* Waits to be sent. */
struct iser_out {
    struct iser_out *next;
    bool is_transfer; /* the first member of a struct iser_transfer */
};

/* The data of one command. */
struct iser_transfer {
    struct iser_out out;
    uint32_t itt;
    uint8_t lun[8];
    struct iser_buffer *buffer; /* NULL: no data, or the unit holds it */
    uint8_t *data;              /* in the buffer, or in the unit */
    it_lmr_handle_t lmr;        /* RDMA: of .data */
    uint32_t out_length;        /* octets to come */
    uint32_t out_have;          /* of them, those that are there: the first */
    uint32_t in_length;         /* octets to go */

    /* Plain: of the R2T that is under way. */
    uint32_t ttt;
    uint32_t r2t_sn;
    uint32_t burst_end;

    /* RDMA: what the initiator has advertised. */
    struct iser_header tags;

    /* The response waits for the data, or for room. */
    uint8_t response[ISER_BHS];
    const void *sense;
    uint32_t sense_length;
    uint32_t in_sent;
    uint32_t data_sn;
};

/* The session above. After iser_link_close none of them is called. */
struct iser_link_user {
    /*
     * A header has come whose data segment goes to the memory that is returned, at once; NULL: to
     * the link's, and pdu gets it.
     */
    uint8_t *(*place)(void *user, const uint8_t *bhs, uint32_t length);
    void (*pdu)(void *user, const struct iser_pdu *pdu);
    /* More of the data is there; all: of what solicit has asked for. */
    void (*solicited)(void *user, struct iser_transfer *transfer);
    /* Data and response have left: the buffer is the session's again. */
    void (*responded)(void *user, struct iser_transfer *transfer);
    /* All that was given to it has left. Once, after iser_link_drain. */
    void (*drained)(void *user);
    /* The connection is gone or useless. Once. */
    void (*lost)(void *user, const char *why);
};

struct iser_link_ops {
    bool rdma;
    /* Any PDU but a command's status; header and data are copied, the numbers filled in. */
    void (*send)(struct iser_link *link, const uint8_t *bhs, const void *data, uint32_t length);
    /* Asks for octets of the transfer behind out_have; solicited follows. */
    void (*solicit)(struct iser_link *link, struct iser_transfer *transfer);
    /* Data, then .response with .sense; responded follows. */
    void (*respond)(struct iser_link *link, struct iser_transfer *transfer);
    /*
     * The final Login Response has been given to send: what is agreed holds from the next octet on.
     */
    bool (*full_feature)(struct iser_link *link);
    void (*drain)(struct iser_link *link);
    /* The link is closed: nothing of the session's is touched any more. */
    void (*discard)(struct iser_link *link);
    void (*free)(struct iser_link *link);
};

struct iser_link {
    const struct iser_link_ops *ops;
    const struct iser_link_user *user_ops;
    void *user;
    struct event_base *base;
    struct iser_numbers *numbers;
    struct iser_limits limits;
    /* The PDU that is being handed up, RDMA only: its iSER header. */
    struct iser_header header;
    struct sockaddr_storage local, remote;
    bool closed;
    bool lost;
    bool draining;
    unsigned depth; /* calls under way: the memory stays */
    uint64_t octets_in, octets_out;
};

/* Limits of a login. */
void iser_link_init(struct iser_link *link, const struct iser_link_ops *ops,
                    struct event_base *base);

/* The numbers as they are now. A PDU with a status takes a StatSN. */
void iser_link_stamp(struct iser_link *link, uint8_t *bhs);

/* Around everything that may call the session: the link lives until the last leave. */
void iser_link_enter(struct iser_link *link);
void iser_link_leave(struct iser_link *link);

/* Tells the session, unless it has closed the link or been told. */
void iser_link_lost(struct iser_link *link, const char *why);

/* From any call, those of iser_link_user included: the memory goes later. */
void iser_link_close(struct iser_link *link);

/* A stream that iSCSI is spoken on; takes fd. NULL without memory: fd is still the caller's. */
struct iser_link *iser_plain_new(struct event_base *base, int fd);
/*
 * Reads nothing more and gives up its descriptor; early: octets that it has read and not handed up,
 * which live as long as the link. Nothing waits to be sent.
 */
int iser_plain_release(struct iser_link *link, const uint8_t **early, size_t *early_length);

#endif
