/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chaos.h - what the processes of a run share. Workers (servers and clients) hold connections
 * through links, which the first process runs, and count in this memory.
 */
#ifndef ITAPI_TESTS_CHAOS_CHAOS_H
#define ITAPI_TESTS_CHAOS_CHAOS_H

#include <netinet/in.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHAOS_MAGIC   0x736f616863746974ull
#define CHAOS_WORKERS 64u
#define CHAOS_PAIRS   1024u
#define CHAOS_TEXT    400u
#define CHAOS_LAYERS  6u

/* What a worker is a program of. */
enum chaos_layer {
    LAYER_IT,       /* this library's own API */
    LAYER_SDP,      /* plain sockets under it_sdp; no link, since behind a proxy they stay TCP */
    LAYER_RSOCKETS, /* of librdmacm, under it_run */
    LAYER_EXS,
    LAYER_UDAPL,
    LAYER_ISER
};

enum chaos_count {
    COUNT_CONNECTED,
    COUNT_REFUSED, /* attempts that failed */
    COUNT_ENDED,   /* by the plan of its program */
    COUNT_BROKEN,  /* by a fault */
    COUNT_GIVEN_UP,
    COUNT_FLUSHED,
    COUNT_SENDS,
    COUNT_WRITES,
    COUNT_READS,
    COUNT_ATOMICS,
    COUNT_OCTETS, /* received and checked */
    COUNT_LACKS,  /* calls that failed without descriptors */
    COUNT_GENERATIONS,
    COUNT_CONVERTED, /* processes of SDP that have converted a connection */
    COUNT_NO_RESULT, /* results of Reads and atomic operations that rxe has left out */
    COUNTS
};

/* Where the servers or the clients are. */
struct chaos_place {
    char interface[64];
    char address[64];
};

/* One worker, in memory that all processes share. */
struct chaos_worker {
    int process;
    bool is_server;
    enum chaos_layer layer;
    unsigned server;              /* of a client that is not of LAYER_IT: the index of its server */
    uint32_t first_pair, pairs;   /* the pairs of such a client */
    struct in_addr address;       /* of a server */
    _Atomic uint32_t changes;     /* of that address; odd: it is removed */
    _Atomic uint32_t incarnation; /* changes whenever all its connections end */
    _Atomic uint16_t port;        /* of its listen point, network byte order; or 0 */
    _Atomic uint16_t link_port;   /* of the link that leads there */
    _Atomic bool lacks;           /* has been without descriptors */
    sem_t descriptors;            /* the first process posts it when it gives them back */
};

/* The connections that one endpoint of a client makes, one after the other. */
struct chaos_pair {
    _Atomic uint32_t attempt;
    _Atomic uint32_t harmed;    /* the last attempt that may end; those before it are over */
    _Atomic uint16_t link_port; /* of the pair's own link; 0: that of the server is used */
};

struct chaos {
    uint64_t seed;
    unsigned servers, clients, endpoints;  /* of LAYER_IT */
    struct chaos_place places[2];          /* of clients, of servers */
    bool on_devices;                       /* there are no links */
    bool on_rxe;                           /* which leaves results out */
    unsigned workers_all;                  /* with those of the upper layers, which come last */
    _Atomic uint64_t octets[CHAOS_LAYERS]; /* received and checked */
    int time_factor;
    _Atomic bool stop;
    _Atomic uint64_t clock_us;
    _Atomic uint64_t counts[COUNTS];
    _Atomic unsigned failures;
    char text[CHAOS_TEXT]; /* the first failure */
    struct chaos_worker workers[CHAOS_WORKERS];
    struct chaos_pair pairs[CHAOS_PAIRS];
};

/* Private data of both sides. */
struct chaos_hello {
    uint64_t magic;
    uint64_t address; /* of the memory for this connection */
    uint32_t key;
    uint32_t seed; /* of the memory that can be read */
    uint32_t pair, attempt;
    uint32_t worker, incarnation;
};

extern struct chaos *chaos;

/* Returns the time of the run, by the clock of the first process. */
uint64_t chaos_now_us(void);
/* Returns a number that depends on the seed of the run and these three alone. */
uint64_t chaos_number(uint64_t what, uint64_t pair, uint64_t attempt);
void chaos_count(enum chaos_count count, uint64_t number);
void chaos_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The pair's connection may end from now on. */
void chaos_harm(uint32_t pair, uint32_t attempt);
bool chaos_is_harmed(uint32_t pair, uint32_t attempt);
/*
 * All connections of this worker end. Called before the first one does, so that the others see the
 * reason before the end; without a port nobody takes the next incarnation for this one.
 */
void chaos_leave(struct chaos_worker *leaving);

/* Returns the address of this server, with this port (network byte order). */
struct sockaddr_in chaos_address_of(unsigned server, uint16_t port);

/*
 * For a program that was started as this worker, which is of an upper layer, with the run's memory
 * as this descriptor.
 */
void chaos_attach(int fd, unsigned worker);
/* For such a program: returns its own address, or that of its server, with this port. */
struct sockaddr_in chaos_server_address(uint16_t port);
/* Returns how often that address was removed or given back; odd: it is removed. */
uint32_t chaos_address_changes(void);
/* Whether the system may say of that address that there is none. */
bool chaos_address_may_miss(int error);

/* Runs as this worker until the end of the run. */
void chaos_worker_run(unsigned worker) __attribute__((noreturn));

#endif
