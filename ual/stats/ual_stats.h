/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ITAPI_STATS=PATH in the environment: the counters of this process for whoever may open the Unix
 * socket at PATH. A client connects, gets one snapshot as text and the end of the stream; nothing
 * is read from it. The socket is one of the process, each IA's loop serves it: whichever comes
 * first.
 */
#ifndef ITAPI_UAL_STATS_UAL_STATS_H
#define ITAPI_UAL_STATS_UAL_STATS_H

#include "ual/object/ual.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* The IA is open. Whatever fails is a line in the log. */
void ual_stats_join(struct ual_ia *ia);
/* Before anything of the IA goes away: afterwards nobody looks at it any more. */
void ual_stats_leave(struct ual_ia *ia);

/* ---------------------------------------------------------------- ual_stats_socket.c */

struct ual_stats_socket {
    int fd; /* listens; -1: closed */
    struct sockaddr_un address;
    dev_t device; /* of the file, to know it again */
    ino_t inode;
    pid_t owner; /* a child of the process does not remove it */
};

/* False after a line in the log. */
bool ual_stats_socket_open(struct ual_stats_socket *made, const char *wanted);
/* Removes the file, if it is still ours. */
void ual_stats_socket_close(struct ual_stats_socket *made);

/* ---------------------------------------------------------------- ual_stats_text.c */

/* EPs of one IA in a snapshot; more are told by their number only. */
#define UAL_STATS_EPS 4096u

struct ual_stats_text {
    char *octets;
    size_t length, room;
    bool failed; /* out of memory */
};

void ual_stats_begin(struct ual_stats_text *text);
void ual_stats_add_ia(struct ual_stats_text *text, struct ual_ia *ia);
void ual_stats_end(struct ual_stats_text *text);

#endif
