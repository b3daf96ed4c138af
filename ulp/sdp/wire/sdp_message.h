/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The octets of messages: the header (BSDH), what follows it, and Hello and HelloAck. Big endian.
 */
#ifndef ITAPI_ULP_SDP_WIRE_SDP_MESSAGE_H
#define ITAPI_ULP_SDP_WIRE_SDP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SDP_HEAD_OCTETS      16u
#define SDP_EXTENSION_OCTETS 20u /* the longest part after the head, except in Hellos */
#define SDP_HELLO_OCTETS     92u
#define SDP_HELLO_ACK_OCTETS 24u /* as we send it */
#define SDP_HELLO_ACK_MAX    196u

enum sdp_mid {
    SDP_HELLO = 0x00,
    SDP_HELLO_ACK = 0x01,
    SDP_DISCONN = 0x02,
    SDP_ABORT_CONN = 0x03,
    SDP_SEND_SM = 0x04,
    SDP_RDMA_WR_COMPL = 0x05,
    SDP_RDMA_RD_COMPL = 0x06,
    SDP_MODE_CHANGE = 0x07,
    SDP_SRC_AVAIL_CANCEL = 0x08,
    SDP_SINK_AVAIL_CANCEL = 0x09,
    SDP_SINK_CANCEL_ACK = 0x0a,
    SDP_CH_RCV_BUF = 0x0b,
    SDP_CH_RCV_BUF_ACK = 0x0c,
    SDP_SUSP_COMM = 0x0d,
    SDP_SUSP_COMM_ACK = 0x0e,
    SDP_SINK_AVAIL = 0xfd,
    SDP_SRC_AVAIL = 0xfe,
    SDP_DATA = 0xff
};

#define SDP_FLAG_OOB_PRES 0x01u /* Data: the last octet is urgent */
#define SDP_FLAG_OOB_PEND 0x02u /* an urgent octet is on its way */
#define SDP_FLAG_REQ_PIPE 0x04u /* the sink would like pipelined mode */
#define SDP_FLAGS         0x07u

enum sdp_mode {
    SDP_BUFFERED,
    SDP_COMBINED,
    SDP_PIPELINED,
    SDP_MODES
};

/* Memory of the peer. */
struct sdp_place {
    uint64_t addr;
    uint32_t size;
    uint32_t key;
};

struct sdp_message {
    uint8_t mid;
    uint8_t flags;
    uint16_t bufs;
    uint32_t mseq;
    uint32_t mseq_ack;
    struct sdp_place place;       /* SrcAvail, SinkAvail */
    uint32_t value;               /* octets of RdmaRdCompl and RdmaWrCompl; size of ChRcvBuf and
                                     its Ack; non_discards of SinkAvail */
    uint64_t service;             /* SuspComm */
    uint8_t mode;                 /* ModeChange: enum sdp_mode */
    bool sending_half;            /* ModeChange: the receiver's sending half */
    const unsigned char *payload; /* as received */
    uint32_t payload_octets;
};

/* Writes head and extension for a payload of message->payload_octets. Returns their length. */
size_t sdp_message_put(unsigned char *out, const struct sdp_message *message);

/* Returns the length of head and extension. */
size_t sdp_message_head(uint8_t mid);

/*
 * Returns false for no message, a Hello, or a wrong length. Payload points into the octets. The
 * values are not checked here.
 */
bool sdp_message_get(const unsigned char *octets, size_t length, struct sdp_message *message);

struct sdp_hello {
    uint16_t bufs;
    uint16_t max_adverts;
    bool invalidates;      /* accepts Send with Invalidate */
    uint8_t ip_version;    /* 4 or 6 */
    uint32_t desired_size; /* size wanted for the peer's receives; not in a HelloAck */
    uint32_t receive_size; /* size of this side's receives */
    uint16_t port;
    unsigned char source[16];
    unsigned char destination[16];
};

/* Both are mseq 0 and carry no mseq_ack. */
void sdp_hello_put(unsigned char out[SDP_HELLO_OCTETS], const struct sdp_hello *hello);
bool sdp_hello_get(const unsigned char *octets, size_t length, struct sdp_hello *hello);
void sdp_hello_ack_put(unsigned char out[SDP_HELLO_ACK_OCTETS], const struct sdp_hello *hello);
bool sdp_hello_ack_get(const unsigned char *octets, size_t length, struct sdp_hello *hello);

#endif /* ITAPI_ULP_SDP_WIRE_SDP_MESSAGE_H */
