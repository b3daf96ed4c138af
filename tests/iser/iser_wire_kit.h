/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scripted initiator, written from the layouts of RFC 7143 and RFC 7145 alone: octets at offsets,
 * over a TCP stream or over an iWARP peer (support/raw_peer.h). It shares no code with the target.
 * Also a target that runs in a thread.
 */
#ifndef ITAPI_TESTS_ISER_WIRE_KIT_H
#define ITAPI_TESTS_ISER_WIRE_KIT_H

#include "itiser.h"
#include "support/check.h"
#include "support/raw_peer.h"

#include <pthread.h>

#define WIRE_TARGET "iqn.2026-11.example:wire"
#define WIRE_MEMORY (1u << 20)
#define WIRE_STAG   0x00abcd01u
#define WIRE_BASE   UINT64_C(0x12345000)
#define WIRE_BLOCK  512u
/* The first numbers are just below their wrap, which every session passes. */
#define WIRE_CMD_SN  UINT32_C(0xfffffffd)
#define WIRE_STAT_SN UINT32_C(0xfffffffc)

/* ---- a target ---- */

struct wire_bed {
    struct itiser_config config; /* may be changed before wire_open */
    struct itiser_target_config target_config;
    struct itiser_portal_config portal;
    struct itiser *target;
    struct event_base *base;
    struct event *wake;
    pthread_t thread;
    uint16_t port; /* network order */
    unsigned ird;  /* of initiators; 0: 128, as Linux */
    /*
     * Called in the target's thread right before it stops, so that the target cannot notice it
     * earlier.
     */
    void (*before_stop)(void);
    void (*run)(struct wire_bed *bed); /* of wire_run */
    void (*between)(void);             /* of initiators: called after each octet that they send */
    bool stopping;
};

/* Prepares a target on 127.0.0.1 with all ways in. LUN 0: 64 MiB of memory; LUN 1: null. */
void wire_prepare(struct wire_bed *bed);
void wire_open(struct wire_bed *bed);
void wire_close(struct wire_bed *bed);
/* Runs a function in the target's thread. */
void wire_run(struct wire_bed *bed, void (*run)(struct wire_bed *bed));
/* Stops the target's thread, as SIGTERM does: sessions are asked to log out. */
void wire_stop(struct wire_bed *bed, unsigned timeout_ms);

/* ---- an initiator ---- */

enum wire_way {
    WIRE_PLAIN,
    WIRE_DIGESTS, /* plain, with both digests */
    WIRE_RDMA,    /* (B), as Linux does it: without remote invalidation */
    WIRE_RDMA_INVALIDATE,
    WIRE_CONVERT,       /* (A) */
    WIRE_CONVERT_HELLO, /* (A), with Hello */
    WIRE_CONVERT_EARLY, /* (A), the MPA Request follows the last Login Request at once */
    WIRE_WAYS
};

struct wire {
    struct raw_peer raw;
    enum wire_way way;
    bool rdma; /* FPDUs */
    bool digests;
    bool immediate_data, initial_r2t; /* agreed on */
    bool base_is_solicited;           /* write_base points to the solicited data */
    uint32_t cmd_sn, exp_stat_sn, itt;
    uint32_t send_msn, response_msn;
    uint32_t target_max; /* the longest data segment that the target accepts */
    uint32_t burst, first_burst;
    unsigned char *memory; /* WIRE_MEMORY octets with STag WIRE_STAG, from WIRE_BASE on */
    unsigned ird;
    unsigned reads, writes; /* RDMA operations of the target */
    uint32_t last_read_length;
    uint64_t last_read_at;
};

struct wire_pdu {
    unsigned char iser[28];
    unsigned char bhs[48];
    unsigned char data[1 << 18];
    size_t length;
    unsigned send_op; /* RDMAP opcode */
    uint32_t invalidated;
};

uint32_t wire_get(const unsigned char *at, unsigned octets);
void wire_put(unsigned char *at, uint64_t value, unsigned octets);

/* TCP alone. */
void wire_connect(struct wire *wire, const struct wire_bed *bed, enum wire_way way);
void wire_free(struct wire *wire);
/*
 * Does the MPA startup if the way begins with it, then a login with the usual keys and those in
 * `keys`, each with its NUL.
 */
void wire_login(struct wire *wire, const struct wire_bed *bed, enum wire_way way, const char *keys,
                size_t keys_length);
#define WIRE_LOGIN(wire, bed, way, keys) wire_login(wire, bed, way, keys, sizeof(keys))
/* The same in two steps: all requests; then the last response, and the conversion. */
void wire_login_begin(struct wire *wire, const struct wire_bed *bed, enum wire_way way,
                      const char *keys, size_t keys_length);
void wire_login_end(struct wire *wire);
void wire_mpa(struct wire *wire);
/* Connects, up to where the way begins the login. */
void wire_reach(struct wire *wire, const struct wire_bed *bed, enum wire_way way);

/*
 * Begins a header. opcode includes the immediate bit. Sets ITT, CmdSN and ExpStatSN, and advances
 * CmdSN.
 */
void wire_begin(struct wire *wire, unsigned char bhs[48], unsigned opcode, unsigned flags);
void wire_send(struct wire *wire, const unsigned char bhs[48], const void *data, size_t length);
/* Sends the header unchanged, whatever it says, and octets behind it. */
void wire_send_as_is(struct wire *wire, const unsigned char bhs[48], const void *rest,
                     size_t length);
/* Does the same with STags: octet 0 of the iSER header says which. */
void wire_send_tagged(struct wire *wire, unsigned char bhs[48], const void *data, size_t length,
                      bool read, bool write, uint64_t write_base);
/* While held, octets gather in the socket. They leave together when it is released. */
void wire_hold_back(struct wire *wire, bool hold);
/*
 * Receives the next PDU. Serves the target's RDMA Reads and Writes before it. Returns false at the
 * end.
 */
bool wire_receive(struct wire *wire, struct wire_pdu *pdu);
/* Answers an RDMA Read of the target. */
void wire_answer_read(struct wire *wire, const struct raw_segment *segment);
/* Ends the test unless the next PDU has this opcode. */
void wire_expect(struct wire *wire, struct wire_pdu *pdu, unsigned opcode);

/* Runs a command without data. Returns its status. */
unsigned wire_command(struct wire *wire, const unsigned char *cdb, struct wire_pdu *response);
/* Runs READ(10) into .memory. Returns the status. */
unsigned wire_read(struct wire *wire, uint32_t lba, uint32_t length, uint32_t expected,
                   struct wire_pdu *response);
/*
 * Runs WRITE(10) from .memory: so much immediate data, then so much unsolicited, the rest
 * solicited.
 */
unsigned wire_write(struct wire *wire, uint32_t lba, uint32_t length, uint32_t immediate,
                    uint32_t unsolicited, struct wire_pdu *response);
/* Begins such a write and waits for nothing. bhs receives the command. */
void wire_begin_write(struct wire *wire, unsigned char bhs[48], uint32_t lba, uint32_t length,
                      uint32_t immediate, uint32_t unsolicited);
void wire_logout(struct wire *wire);

#endif
