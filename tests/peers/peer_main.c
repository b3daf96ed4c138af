/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_peer: carries out the commands of its standard input with verbs and rdma_cm. See README.md.
 */
#include "peer_answer.h"
#include "peer_command.h"
#include "peer_connection.h"
#include "peer_device.h"
#include "peer_event.h"
#include "peer_listener.h"
#include "peer_memory.h"
#include "peer_tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Each connection has its own descriptor. */
static void raise_limits(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static void run_commands(void)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    bool more = true;

    while (more && (len = getline(&line, &room, stdin)) >= 0) {
        if (len > 0 && line[len - 1] == '\n')
            line[len - 1] = '\0';
        more = peer_command_run(line);
    }
    free(line);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc != 1) {
        (void)fputs("usage: verbs_peer\nReads commands from standard input, a line each.\n",
                    stderr);
        return 2;
    }
    peer_answer_open();
    raise_limits();
    run_commands();
    peer_connection_destroy_all();
    peer_listener_destroy_all();
    peer_memory_destroy_all();
    peer_device_close_all();
    peer_event_close();
    return peer_tally_empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
