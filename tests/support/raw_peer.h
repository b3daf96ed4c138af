/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raw_peer.h - an iWARP peer on a plain TCP socket. It does nothing by itself: the test chooses
 * every octet that it sends. Code that shares nothing with the library parses and checks what it
 * receives: MPA startup frames, FPDUs with CRC32c and markers, DDP and RDMAP headers, Terminate.
 *
 * Calls whose failure no test is interested in end the test. Receiving returns what happened.
 */
#ifndef ITAPI_TESTS_SUPPORT_RAW_PEER_H
#define ITAPI_TESTS_SUPPORT_RAW_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Byte strings --------------------------------------------------------------------------- */

struct raw_bytes {
    unsigned char *data;
    size_t len;
    size_t room;
};

/* Declares an empty byte string, which is freed at the end of its block. */
#define RAW_BYTES(name) struct raw_bytes name __attribute__((cleanup(raw_free))) = {0}

void raw_add(struct raw_bytes *bytes, const void *data, size_t len);
void raw_add_byte(struct raw_bytes *bytes, unsigned value);
void raw_add_be16(struct raw_bytes *bytes, unsigned value);
void raw_add_be32(struct raw_bytes *bytes, uint32_t value);
void raw_add_be64(struct raw_bytes *bytes, uint64_t value);
void raw_add_fill(struct raw_bytes *bytes, unsigned char value, size_t len);
/* Appends hexadecimal digits; blanks are skipped. */
void raw_add_hex(struct raw_bytes *bytes, const char *hex);
void raw_reset(struct raw_bytes *bytes);
void raw_free(struct raw_bytes *bytes);

uint16_t raw_be16(const unsigned char *data);
uint32_t raw_be32(const unsigned char *data);
uint64_t raw_be64(const unsigned char *data);

uint32_t raw_crc32c(uint32_t crc, const void *data, size_t len);

/* ---- Frames --------------------------------------------------------------------------------- */

enum raw_op {
    RAW_WRITE = 0,
    RAW_READ_REQUEST = 1,
    RAW_READ_RESPONSE = 2,
    RAW_SEND = 3,
    RAW_SEND_INV = 4,
    RAW_SEND_SE = 5,
    RAW_SEND_SE_INV = 6,
    RAW_TERMINATE = 7,
    RAW_IMMEDIATE = 8,
    RAW_IMMEDIATE_SE = 9,
    RAW_ATOMIC_REQUEST = 10,
    RAW_ATOMIC_RESPONSE = 11
};

/* Flags of an MPA Request or Reply (octet 16). */
#define RAW_MPA_M 0x80u /* markers wanted */
#define RAW_MPA_C 0x40u /* CRC wanted */
#define RAW_MPA_R 0x20u /* rejected */
#define RAW_MPA_S 0x10u /* enhanced word present */

/* Bits of the enhanced word. */
#define RAW_ENH_A 0x80000000u
#define RAW_ENH_B 0x40000000u /* RTR: zero-length Send */
#define RAW_ENH_C 0x00008000u /* RTR: zero-length Write */
#define RAW_ENH_D 0x00004000u /* RTR: zero-length Read */

/* Writes a startup frame. pd is all of the private data, including the enhanced word. */
void raw_mpa(struct raw_bytes *out, bool reply, unsigned flags, unsigned revision, const void *pd,
             size_t pd_len);
/*
 * Write the usual frame without private data: of revision 1, or of revision 2 with S and this
 * enhanced word.
 */
void raw_mpa1(struct raw_bytes *out, bool reply, unsigned flags);
void raw_mpa2(struct raw_bytes *out, bool reply, unsigned flags, uint32_t word);

/* Writes one FPDU around a ULPDU: length, padding, CRC (zero if crc is false). */
void raw_fpdu(struct raw_bytes *out, const struct raw_bytes *ulpdu, bool crc);
/* Writes the FPDU as a sender with markers does. *position is the position in the stream. */
void raw_fpdu_marked(struct raw_bytes *out, const struct raw_bytes *ulpdu, uint64_t *position);

/* Write ULPDUs to an empty string. */
void raw_untagged(struct raw_bytes *out, enum raw_op op, uint32_t qn, uint32_t msn, uint32_t mo,
                  const void *payload, size_t len, bool last, uint32_t inv_stag);
void raw_tagged(struct raw_bytes *out, enum raw_op op, uint32_t stag, uint64_t to,
                const void *payload, size_t len, bool last);
void raw_read_request(struct raw_bytes *out, uint32_t msn, uint32_t sink_stag, uint64_t sink_to,
                      uint32_t size, uint32_t source_stag, uint64_t source_to);
/* Writes a Terminate. If ddp is NULL it has no segment length and no copies of headers. */
void raw_terminate(struct raw_bytes *out, unsigned layer, unsigned type, unsigned code,
                   unsigned segment_len, const void *ddp, size_t ddp_len, const void *rdma,
                   size_t rdma_len);

/* ---- The peer ------------------------------------------------------------------------------- */

enum raw_result {
    RAW_OK,
    RAW_EOF,     /* FIN at a frame boundary */
    RAW_CUT,     /* FIN inside a frame */
    RAW_RESET,   /* RST */
    RAW_TIMEOUT, /* not all octets came within the time */
    RAW_BAD      /* malformed: peer->error says what */
};

struct raw_peer {
    int fd;
    bool crc;          /* CRCs are in use; the test sets this after the startup */
    bool markers;      /* the other side must send markers */
    uint64_t received; /* octets of the FPDU stream, markers included */
    uint64_t markers_seen;
    void (*between)(void); /* not NULL: octets leave one by one, and each is followed by a call */
    char error[160];
};

struct raw_mpa_frame {
    bool reply;
    unsigned flags;
    unsigned revision;
    unsigned char pd[512];
    size_t pd_len;
    uint32_t word; /* the enhanced word if S is set */
};

struct raw_segment {
    unsigned char ulpdu[65536];
    size_t ulpdu_len;
    bool tagged;
    bool last;
    unsigned ddp_version;
    unsigned rdmap_version;
    unsigned op;
    uint32_t stag; /* tagged: STag; untagged: the STag to invalidate */
    uint64_t to;
    uint32_t qn;
    uint32_t msn;
    uint32_t mo;
    const unsigned char *payload;
    size_t len;
    uint32_t crc; /* the CRC field as received */
};

/* Makes a listening socket on 127.0.0.1. *port is in network byte order. */
int raw_listen(uint16_t *port);
/*
 * Reserves a port on which nobody listens. The kernel assigns it to no other socket until the
 * descriptor is closed. Sockets that ask for this port with SO_REUSEADDR get it: listen points, and
 * endpoints with IT_EP_REUSEADDR.
 */
int raw_keep_port(uint16_t *port);
void raw_accept(struct raw_peer *peer, int listener);
/* Accepts within a time. Returns false if nobody has connected. */
bool raw_accept_within(struct raw_peer *peer, int listener, int timeout_ms);
void raw_connect(struct raw_peer *peer, uint16_t port);
/* Makes two connected TCP sockets: one for the peer, the other one as *fd. */
void raw_socket_pair(struct raw_peer *peer, int *fd);
void raw_close(struct raw_peer *peer);
void raw_close_with_reset(struct raw_peer *peer);
/* Sends FIN. The peer can still receive. */
void raw_finish(struct raw_peer *peer);

/* Sends all octets. Returns false if the connection is gone (no signal is raised). */
bool raw_send(struct raw_peer *peer, const struct raw_bytes *bytes);
bool raw_send_part(struct raw_peer *peer, const void *data, size_t len);
/* Wraps the ULPDU into an FPDU, with a CRC if the peer uses CRCs, and sends it. */
bool raw_send_ulpdu(struct raw_peer *peer, const struct raw_bytes *ulpdu);

/* Receives exactly len octets and reads no further. *got is the number that came. */
enum raw_result raw_receive(struct raw_peer *peer, void *data, size_t len, size_t *got);
enum raw_result raw_receive_mpa(struct raw_peer *peer, struct raw_mpa_frame *frame);
/*
 * Receives one FPDU. Checks marker positions and pointers, CRC and padding, and parses the headers.
 */
enum raw_result raw_receive_fpdu(struct raw_peer *peer, struct raw_segment *segment);
/* Reads and drops everything up to the end of the stream. */
enum raw_result raw_drain(struct raw_peer *peer);

const char *raw_result_name(enum raw_result result);

#endif /* ITAPI_TESTS_SUPPORT_RAW_PEER_H */
