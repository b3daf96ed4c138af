/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An initiator: one session of one connection, in plain TCP, or iSER behind a login in plain TCP.
 * One thread; calls wait. Each returns false when it fails, and .error has a line for people.
 */
#ifndef ITAPI_ULP_ISER_INITIATOR_ISER_CLIENT_H
#define ITAPI_ULP_ISER_INITIATOR_ISER_CLIENT_H

#include "auth/iser_chap.h"
#include "pdu/iser_pdu.h"
#include "pdu/iser_text.h"

#include <sys/socket.h>

#define ISER_CLIENT_TASKS 256u /* at most under way; the tag of a task is its place */
#define ISER_CLIENT_RECEIVE                                                                        \
    8192u /* octets of a data segment that PDUs to us may have, but Data-In */
#define ISER_CLIENT_DATA_IN (256u << 10)

struct iser_client_options {
    struct sockaddr_storage address;
    const char *target; /* NULL: a discovery session */
    const char *initiator;
    struct itiser_secret own;   /* what we prove; length 0: nothing */
    struct itiser_secret proof; /* what the target has to prove; length 0: nothing */
    const char *interface;      /* of the IA: iSER; NULL: plain TCP */
    bool digests;               /* CRC32C, plain only */
    bool no_crc;                /* iSER: none of MPA is asked for */
    bool no_immediate, initial_r2t;
    bool tagged_solicited; /* Write Base Offset is that of the first solicited octet */
    unsigned depth;        /* commands under way; 1 to ISER_CLIENT_TASKS - 1 */
    size_t memory;         /* octets for data of all commands */
};

/* What the login has agreed on. */
struct iser_client_terms {
    bool header_digest, data_digest;
    bool initial_r2t, immediate;
    uint32_t first_burst, max_burst;
    uint32_t send_max; /* data segment that the target takes */
};

/* A SCSI command. Data lie in the memory of the client. */
struct iser_client_task {
    /* From the caller. */
    uint64_t lun;
    uint8_t cdb[16];
    uint8_t *in;
    uint32_t in_length;
    const uint8_t *out;
    uint32_t out_length;
    uint64_t mark; /* the caller's own */

    /* When it is over. */
    uint8_t status;
    uint8_t sense[96];
    uint32_t sense_length;
    uint32_t received; /* octets of .in, by Data-In PDUs or as the residual tells */

    uint32_t itt;
    bool under_way;
};

struct iser_client;

/* How PDUs travel. */
struct iser_client_link {
    /*
     * A PDU whose header is complete; data are padded on the way. task: of a SCSI Command, whose
     * memory iSER advertises; unsolicited: octets of .out that are not solicited.
     */
    bool (*send)(struct iser_client *client, const uint8_t *bhs, const void *data, uint32_t length,
                 const struct iser_client_task *task, uint32_t unsolicited);
    /* The next PDU, good until the next call. Data of Data-In are in place already. */
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
    struct iser_client_task *tasks[ISER_CLIENT_TASKS];
    unsigned under_way;
    uint32_t next_itt;
    char error[256];
};

/* ---- iser_client_state.c ---- */

/* The first reason counts. False. */
bool iser_client_fail(struct iser_client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Of any PDU of the target: the numbers. */
void iser_client_note(struct iser_client *client, const struct iser_pdu *pdu);
/* The task that a PDU is about; NULL: it is not under way. */
struct iser_client_task *iser_client_find(struct iser_client *client, const uint8_t *bhs);
/* Where the data segment of a Data-In belongs; NULL: not to be had. */
uint8_t *iser_client_place(struct iser_client *client, const uint8_t *bhs, uint32_t length);

/* ---- iser_client.c ---- */

/* Connects, logs in, converts. To be closed in any case. */
bool iser_client_open(struct iser_client *client, const struct iser_client_options *options);
/* Logs out, if it can. */
void iser_client_close(struct iser_client *client);

/* ---- iser_client_login.c, the links ---- */

bool iser_client_login(struct iser_client *client);
bool iser_client_plain_open(struct iser_client *client);
/* Behind the login: the same connection, as iSER. */
bool iser_client_rdma_convert(struct iser_client *client);

/* ---- iser_client_task.c ---- */

/* Begins a command; there is room in the window and in the depth (iser_client_has_room). */
bool iser_client_submit(struct iser_client *client, struct iser_client_task *task);
bool iser_client_has_room(const struct iser_client *client);
/* Waits until one is over. */
bool iser_client_wait(struct iser_client *client, struct iser_client_task **task);
/* Both. False also if the status is not GOOD. */
bool iser_client_run(struct iser_client *client, struct iser_client_task *task);
/* Text: sends, and hands back what comes. */
bool iser_client_text(struct iser_client *client, const struct iser_text *text,
                      struct iser_text *answer);
bool iser_client_logout(struct iser_client *client);

#endif
