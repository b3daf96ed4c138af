/* SPDX-License-Identifier: BSD-2-Clause */
/* soak.h - the two processes of a soak: what they say to each other, and what each side does. */
#ifndef ITAPI_TESTS_SOAK_SOAK_H
#define ITAPI_TESTS_SOAK_SOAK_H

#include "support/it_fixture.h"

#define SOAK_SLOTS 16u /* connections at a time */
#define SOAK_ROOM  4096u
#define SOAK_BULK  ((size_t)1 << 20)

/* The connection over which all octets are moved. */
#define SOAK_BULK_NUMBER (UINT32_MAX / 4 * 4 + SOAK_CLIENT_FREES)

/* Who ends a connection, and how. The number of the connection decides. */
enum soak_end {
    SOAK_CLIENT_DISCONNECTS,
    SOAK_SERVER_DISCONNECTS,
    SOAK_CLIENT_FREES,
    SOAK_SERVER_FREES,
    SOAK_ENDS
};

/* The first octets of each message. */
struct soak_header {
    uint32_t number; /* of the connection */
    uint32_t length;
    uint64_t address; /* of the sender's memory, and its key */
    uint64_t key;
};

/* What a process has when no connection is left. */
struct soak_sample {
    size_t heap;
    size_t resident; /* KiB */
    size_t descriptors;
    size_t threads;
};

/* One end of a connection. */
struct soak_conn {
    it_ep_handle_t ep; /* NULL: to be made */
    struct fx_buf in, out;
    bool busy;
    uint32_t number;
    unsigned answers; /* received */
    struct soak_header peer;
};

struct soak_side {
    struct fx_node node;
    it_evd_handle_t evd; /* all events of the side */
    struct soak_conn conns[SOAK_SLOTS * 2];
    unsigned conn_count;
    uint64_t ended;
};

void soak_open(struct soak_side *side, unsigned conns);
/* Waits for the next event, 10 ms at most. Returns false if there is none. */
bool soak_event(const struct soak_side *side, it_event_t *event);
/* The connection of an event; NULL if its endpoint was freed meanwhile. */
struct soak_conn *soak_conn_of(struct soak_side *side, const it_event_t *event);
/* Makes the connection ready to connect or accept, with its receive posted. */
void soak_prepare(struct soak_side *side, struct soak_conn *conn);
void soak_receive(struct soak_conn *conn);
/* Sends the message of connection `number`, which names memory of this side. */
void soak_send(struct soak_conn *conn, uint32_t number, const struct fx_buf *named);
/* Fails unless the message received is that of connection `number`. */
struct soak_header soak_check(const struct soak_conn *conn, uint32_t length);
enum soak_end soak_end_of(uint32_t number);
/* Ends the connection. The endpoint is freed, or serves the next one. */
void soak_free(struct soak_side *side, struct soak_conn *conn);
void soak_renew(struct soak_side *side, struct soak_conn *conn);
/* Frees the endpoints of connections that are over. */
void soak_free_all(struct soak_side *side);
struct soak_sample soak_sample(void);

/* A server: answers until `control` is closed; each octet there asks for a sample. */
void soak_serve(int control);

#endif
