/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control connection: plain TCP between client and server, by which the client says what to
 * measure, both tell each other what a connection needs, and runs begin and end together. All that
 * travels is numbers of 64 bits in network byte order, and names.
 */
#ifndef ITAPI_BENCH_PERF_CONTROL_H
#define ITAPI_BENCH_PERF_CONTROL_H

#include "perf.h"

/* What the client wants next. */
struct command {
    bool end;         /* nothing any more with these parameters */
    uint64_t carrier; /* else: a run over that one, */
    uint64_t iters;   /* of so many messages */
};

/* How a run went on the server. */
struct outcome {
    bool good;
    uint64_t heap_calls;
    uint64_t cpu_ns; /* processor time, of all threads */
};

/* How a peer reaches this side over RDMA. */
struct contact {
    bool good;     /* it can be reached */
    uint64_t port; /* server: where it listens, host byte order */
    uint64_t key;  /* of the memory for RDMA Write and RDMA Read */
    uint64_t address;
};

/* Both sides write to one terminal: where one gives up, its own message is enough. */
void control_share_terminal(void);

/*
 * The first thing on either side: the peer is an it_perf of the same version. False after a
 * message.
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

/* After the end of one set of parameters: whether there is another one. */
bool control_send_more(int sd, bool more);
bool control_receive_more(int sd, bool *more);

/* The server is ready for the run it was told of. */
bool control_send_ready(int sd);
bool control_receive_ready(int sd);

/* The peer has closed the connection, or its process is dead. */
bool control_is_lost(int sd);
/* Server: the next connection that the client makes to the listener, or -1 after a message. */
int control_accept(int sd, int listener);

#endif
