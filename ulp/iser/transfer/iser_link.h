/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link of one connection: the transport of PDUs and of commands' data. There are two kinds with
 * one table of functions: octets of a TCP stream (iser_plain.c), Sends and RDMA of an endpoint
 * (iser_rdma.c). Runs in the loop.
 */
#ifndef ITAPI_ULP_ISER_TRANSFER_ISER_LINK_H
#define ITAPI_ULP_ISER_TRANSFER_ISER_LINK_H

#include "pdu/iser_pdu.h"
#include "transfer/iser_buffer.h"

#include <sys/socket.h>

struct event_base;
struct iser_link;
struct iser_stay;

/* Numbers that each PDU to the initiator carries; session/ maintains them. */
struct iser_numbers {
    uint32_t stat_sn;
    uint32_t exp_cmd_sn;
    uint32_t max_cmd_sn;
};

#define ISER_LINK_RECEIVES 1024u /* RDMA: limit of those posted after the login */

/* The negotiated values that links use. */
struct iser_limits {
    bool header_digest, data_digest;
    uint32_t send_max;    /* data segment that the initiator accepts */
    uint32_t receive_max; /* data segment that this side accepts */
    uint32_t max_burst;
    uint32_t window;           /* commands that may be open */
    uint32_t receives;         /* RDMA: PDUs that the peer may have outstanding */
    bool hello;                /* RDMA: the first message has to be a Hello */
    bool write_base_solicited; /* RDMA: Write Base Offset refers to the first solicited octet */
};

/* An element of the queue to send. */
struct iser_out {
    struct iser_out *next;
    bool is_transfer; /* it is the first member of a struct iser_transfer */
};

/* The data of one command. */
struct iser_transfer {
    struct iser_out out;
    uint32_t itt;
    uint8_t lun[8];
    struct iser_buffer *buffer; /* NULL: no data, or memory of the unit */
    uint8_t *data;              /* in the buffer, or in the unit */
    it_lmr_handle_t lmr;        /* RDMA: of .data */
    uint32_t out_length;        /* octets to receive */
    uint32_t out_have;          /* octets received, from the beginning */
    uint32_t in_length;         /* octets to send */

    /* Plain: the outstanding R2T. */
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

/* The session above the link. None of these is called after iser_link_close. */
struct iser_link_user {
    /*
     * Called for a header whose data segment can be read directly into the memory returned; NULL:
     * it is read into the link's memory, and pdu gets it.
     */
    uint8_t *(*place)(void *user, const uint8_t *bhs, uint32_t length);
    void (*pdu)(void *user, const struct iser_pdu *pdu);
    /* Plain: the header is good, but its data segment's digest is wrong. */
    void (*damaged)(void *user, const struct iser_pdu *pdu);
    /* All data requested by solicit has arrived. */
    void (*solicited)(void *user, struct iser_transfer *transfer);
    /* Data and response have been sent: the buffer belongs to the session again. */
    void (*responded)(void *user, struct iser_transfer *transfer);
    /* Everything passed to the link has been sent. Called once, after iser_link_drain. */
    void (*drained)(void *user);
    /* The connection is gone or unusable. Called once. */
    void (*lost)(void *user, const char *why);
};

struct iser_link_ops {
    bool rdma;
    /* Sends any PDU except a command's status; copies header and data, and fills in the numbers. */
    void (*send)(struct iser_link *link, const uint8_t *bhs, const void *data, uint32_t length);
    /* Solicits the octets of the transfer after out_have; solicited follows. */
    void (*solicit)(struct iser_link *link, struct iser_transfer *transfer);
    /* Sends the data, then .response with .sense; responded follows. */
    void (*respond)(struct iser_link *link, struct iser_transfer *transfer);
    /*
     * The final Login Response has been passed to send: the negotiated values apply from the next
     * octet on.
     */
    bool (*full_feature)(struct iser_link *link);
    void (*drain)(struct iser_link *link);
    /* Handles what has happened without a notice. NULL: nothing does. */
    void (*poll)(struct iser_link *link);
    /* Called when the link is closed: from now on it accesses nothing of the session. */
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
    /* The iSER header of the PDU that is being passed up; RDMA only. */
    struct iser_header header;
    struct sockaddr_storage local, remote;
    bool closed;
    bool lost;
    bool draining;
    unsigned depth; /* nested calls: the memory stays */
    uint64_t octets_in, octets_out;
};

/* Sets the limits of a login. */
void iser_link_init(struct iser_link *link, const struct iser_link_ops *ops,
                    struct event_base *base);

/* Fills in the present numbers. A PDU with a status takes a StatSN. */
void iser_link_stamp(struct iser_link *link, uint8_t *bhs);

/* Enclose everything that may call the session: the link lives until the last leave. */
void iser_link_enter(struct iser_link *link);
void iser_link_leave(struct iser_link *link);

/* Reports the loss to the session, unless it has closed the link or got the report. */
void iser_link_lost(struct iser_link *link, const char *why);

/* May be called anywhere, also in functions of iser_link_user: the memory is freed later. */
void iser_link_close(struct iser_link *link);

/*
 * Creates a link for iSCSI on a TCP stream and takes fd. Returns NULL if memory runs out: the
 * caller keeps fd.
 */
struct iser_link *iser_plain_new(struct event_base *base, struct iser_stay *stay, int fd);
/*
 * Stops reading and gives up the descriptor. early: octets that have been read but not passed up;
 * they live as long as the link. Nothing waits to be sent.
 */
int iser_plain_release(struct iser_link *link, const uint8_t **early, size_t *early_length);

#endif
