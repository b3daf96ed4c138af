/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An initiator: one session with one connection, in plain TCP, iSER after a login in plain TCP, or
 * iSER from the first octet. Runs in one thread; calls block. A call that fails returns false, and
 * .error has a line of text.
 */
#ifndef ITAPI_ULP_ISER_INITIATOR_ISER_CLIENT_H
#define ITAPI_ULP_ISER_INITIATOR_ISER_CLIENT_H

#include "auth/iser_chap.h"
#include "pdu/iser_pdu.h"
#include "pdu/iser_text.h"

#include <sys/socket.h>

#define ISER_CLIENT_TASKS 256u /* maximum outstanding; the tag of a task is its index */
/* Data segments of the target's PDUs: over RDMA, and during the login; in plain TCP. */
#define ISER_CLIENT_RECEIVE 8192u
#define ISER_CLIENT_DATA_IN (256u << 10)

struct iser_client_options {
    struct sockaddr_storage address;
    const char *target; /* NULL: a discovery session */
    const char *initiator;
    struct itiser_secret own;   /* the secret that this side proves; length 0: none */
    struct itiser_secret proof; /* the secret that the target must prove; length 0: none */
    const char *interface;      /* Interface of the IA for iSER; NULL: plain TCP */
    bool from_start;            /* iSER from the first octet, not after a login in plain TCP */
    bool digests;               /* CRC32C, plain only */
    bool no_crc;                /* iSER: does not ask for CRC in MPA */
    bool no_immediate, initial_r2t;
    bool tagged_solicited; /* Write Base Offset refers to the first solicited octet */
    unsigned depth;        /* outstanding commands; 1 to ISER_CLIENT_TASKS - 1 */
    size_t memory;         /* octets for the data of all commands */
    unsigned timeout; /* seconds that the target may be silent, or answer nothing; 1 to 86400 */
};

/* The parameters that the login has agreed on. */
struct iser_client_terms {
    bool header_digest, data_digest;
    bool initial_r2t, immediate;
    uint32_t first_burst, max_burst;
    uint32_t send_max; /* data segment that the target accepts */
};

/* A SCSI command. Its data lies in the client's memory. */
struct iser_client_task {
    /* Set by the caller. */
    uint64_t lun;
    uint8_t cdb[16];
    uint8_t *in;
    uint32_t in_length;
    const uint8_t *out;
    uint32_t out_length;
    uint64_t mark; /* for the caller */

    /* Valid when the command has ended. */
    uint8_t status;
    uint8_t sense[96];
    uint32_t sense_length;
    uint32_t received; /* octets of .in, from Data-In PDUs or computed from the residual */

    uint32_t sent; /* octets of .out, in Data-Out PDUs and unsolicited */

    uint32_t itt;
    bool under_way;
};

struct iser_client;

/* How PDUs are transported. */
struct iser_client_link {
    /*
     * Sends a PDU whose header is complete, and pads its data. task: that of a SCSI Command, whose
     * memory iSER advertises; unsolicited: octets of .out that are not solicited.
     */
    bool (*send)(struct iser_client *client, const uint8_t *bhs, const void *data, uint32_t length,
                 const struct iser_client_task *task, uint32_t unsolicited);
    /* Gets the next PDU, valid until the next call. Data of a Data-In is already in place. */
    bool (*receive)(struct iser_client *client, struct iser_pdu *pdu);
    void (*close)(struct iser_client *client);
};

struct iser_client {
    struct iser_client_options options;
    struct iser_client_terms terms;
    const struct iser_client_link *link;
    void *link_state;
    int fd;
    uint8_t *memory;

    uint8_t isid[6];
    uint32_t cmd_sn, exp_stat_sn, max_cmd_sn;
    bool has_stat_sn;  /* exp_stat_sn is known */
    uint64_t waits_ns; /* since when the client waits for an answer; 0: it does not */
    struct iser_client_task *tasks[ISER_CLIENT_TASKS];
    unsigned under_way;
    uint32_t next_itt;
    char error[256];
};

/* ---- iser_client_state.c ---- */

/* Replaces control characters of a text of the target, which would control a terminal. */
void iser_client_clean(char *text);
/* Records the first reason of a failure. Returns false. */
bool iser_client_fail(struct iser_client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The target has been silent for too long. Returns false. */
bool iser_client_silent(struct iser_client *client);
/*
 * Called at each step of a wait. Returns false if none has ended with an answer for too long: the
 * target trickles octets, takes them slowly, or only pings.
 */
bool iser_client_is_patient(struct iser_client *client);
/* The target has answered: a login, a command, a text, a logout. */
void iser_client_answered(struct iser_client *client);
/* Takes the numbers of a PDU of the target. Returns false if its StatSN is not the next. */
bool iser_client_note(struct iser_client *client, const struct iser_pdu *pdu);
/* Returns the task of a PDU; NULL: no such task is outstanding. */
struct iser_client_task *iser_client_find(struct iser_client *client, const uint8_t *bhs);
/* Returns where the data segment of a Data-In belongs; NULL: it is not acceptable. */
uint8_t *iser_client_place(struct iser_client *client, const uint8_t *bhs, uint32_t length);

/* ---- iser_client.c ---- */

/* Connects, logs in, converts. The caller must close the client in any case. */
bool iser_client_open(struct iser_client *client, const struct iser_client_options *options);
/* Logs out, if possible. */
void iser_client_close(struct iser_client *client);

/* ---- iser_client_login.c, the links ---- */

bool iser_client_login(struct iser_client *client);
bool iser_client_plain_open(struct iser_client *client);
/* Connects, for iSER from the first octet. */
bool iser_client_rdma_connect(struct iser_client *client);
/* After the login: turns the connection into iSER. */
bool iser_client_rdma_convert(struct iser_client *client);

/* ---- iser_client_task.c ---- */

/*
 * Begins a command; the caller has checked that there is room in window and depth
 * (iser_client_has_room).
 */
bool iser_client_submit(struct iser_client *client, struct iser_client_task *task);
bool iser_client_has_room(const struct iser_client *client);
/* Waits until there is room, while no command is outstanding. */
bool iser_client_await_room(struct iser_client *client);
/* Waits until a command has ended. */
bool iser_client_wait(struct iser_client *client, struct iser_client_task **task);
/* Submits and waits. Also returns false if the status is not GOOD. */
bool iser_client_run(struct iser_client *client, struct iser_client_task *task);
/* Sends a Text request and gets the whole answer, which the caller frees, also after a failure. */
bool iser_client_text(struct iser_client *client, const struct iser_text *text, char **answer,
                      size_t *answer_length);
bool iser_client_logout(struct iser_client *client);

#endif
