/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ITAPI_STATS=PATH in the environment shows the counters of this process to every user who may open
 * the Unix socket at PATH. A client connects, gets one snapshot as text and then the end of the
 * stream; nothing is read from it. The process has one socket. The loops of all IAs accept on it,
 * and one of them serves each client.
 */
#ifndef ITAPI_UAL_STATS_UAL_STATS_H
#define ITAPI_UAL_STATS_UAL_STATS_H

#include "itx_api.h"
#include "ual/object/ual.h"

#include <sys/types.h>
#include <sys/un.h>

/* Called when the IA is open. Failures are only logged. */
void ual_stats_join(struct ual_ia *ia);
/* Called before any part of the IA goes away: afterwards no snapshot reads it. */
void ual_stats_leave(struct ual_ia *ia);

/* In the child of fork(2), where no thread of the parent holds the lock. */
void ual_stats_renew(void);

/* ---------------------------------------------------------------- ual_stats_socket.c */

struct ual_stats_socket {
    int fd; /* listens; -1: closed */
    struct sockaddr_un address;
    dev_t device; /* identify the file */
    ino_t inode;
    pid_t owner; /* only this process removes the file; a child does not */
};

/* Returns false after a log line. */
bool ual_stats_socket_open(struct ual_stats_socket *made, const char *wanted);
/* Removes the file if it is still the one that this process made. */
void ual_stats_socket_close(struct ual_stats_socket *made);

/* ---------------------------------------------------------------- ual_stats_text.c */

/* EPs of one IA that a snapshot lists; it only counts the others. */
#define UAL_STATS_EPS 4096u

struct ual_stats_text {
    char *octets;
    size_t length, room;
    bool failed; /* out of memory */
};

void ual_stats_begin(struct ual_stats_text *text);
void ual_stats_add_ia(struct ual_stats_text *text, struct ual_ia *ia);
void ual_stats_add_source(struct ual_stats_text *text, itx_stats_source_t source, void *context);
void ual_stats_end(struct ual_stats_text *text);

#endif
