/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control connection: plain TCP between client and server. With it the client says what to
 * measure, both exchange what a connection needs, and runs begin and end together. It carries
 * numbers of 64 bits in network byte order, and names.
 */
#ifndef ITAPI_BENCH_PERF_CONTROL_H
#define ITAPI_BENCH_PERF_CONTROL_H

#include "perf.h"

/* The client's next order. */
struct command {
    bool end;         /* these parameters are finished */
    uint64_t carrier; /* otherwise: a run over that carrier */
    uint64_t iters;   /* with so many messages */
};

/* The server's result of a run. */
struct outcome {
    bool good;
    uint64_t heap_calls;
    uint64_t cpu_ns; /* processor time, of all threads */
};

/* What a peer needs to reach this side over RDMA. */
struct contact {
    bool good;     /* it can be reached */
    uint64_t port; /* server: where it listens, host byte order */
    uint64_t key;  /* of the memory for RDMA Write and RDMA Read */
    uint64_t address;
};

/* Both sides write to one terminal: if one gives up, its own message is enough. */
void control_share_terminal(void);

/*
 * Comes first on either side: checks that the peer is an it_perf of the same version. Returns false
 * after a message.
 */
bool control_greet_client(int sd);
bool control_greet_server(int sd, const char *host, const char *port);

/* Each pair sends and receives one record. All return false after a message. */
bool control_send_params(int sd, const struct perf_params *params);
bool control_receive_params(int sd, struct perf_params *params);
bool control_send_contact(int sd, const struct contact *contact);
bool control_receive_contact(int sd, struct contact *contact);
bool control_send_command(int sd, const struct command *command);
bool control_receive_command(int sd, struct command *command);
bool control_send_outcome(int sd, const struct outcome *outcome);
bool control_receive_outcome(int sd, struct outcome *outcome);

/* After the end of one set of parameters: says whether another one follows. */
bool control_send_more(int sd, bool more);
bool control_receive_more(int sd, bool *more);

/* Says that the server is ready for the run. */
bool control_send_ready(int sd);
bool control_receive_ready(int sd);

/* Returns whether the peer has closed the connection or its process is dead. */
bool control_is_lost(int sd);
/* Server: accepts the client's next connection to the listener. Returns -1 after a message. */
int control_accept(int sd, int listener);

#endif
