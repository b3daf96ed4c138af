/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_command.h"

#include "peer_answer.h"
#include "peer_args.h"
#include "peer_clock.h"
#include "peer_complete.h"
#include "peer_connection.h"
#include "peer_device.h"
#include "peer_establish.h"
#include "peer_listener.h"
#include "peer_memory.h"
#include "peer_post.h"
#include "peer_stream.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

static void peer_command_spin(struct peer_args *args)
{
    uint64_t duration_ms = peer_args_number(args, 0, 0, PEER_TIMEOUT_MAX_MS);
    int64_t deadline = peer_clock_deadline(duration_ms);

    if (peer_args_refused(args))
        return;
    peer_clock_sleep(INT64_MAX, deadline);
    peer_answer("ok");
}

static void peer_command_quit(struct peer_args *args)
{
    (void)args;
    peer_answer("ok");
}

static void peer_command_pause(struct peer_args *args)
{
    (void)args;
    (void)raise(SIGSTOP);
}

static void peer_command_abort(struct peer_args *args)
{
    (void)args;
    (void)raise(SIGKILL);
}

struct peer_command {
    const char *name;
    void (*run)(struct peer_args *args);
    unsigned min; /* required number of positional words */
    unsigned max;
    const char *options; /* in the form of peer_args_parse() */
};

static const struct peer_command peer_commands[] = {
    {"device", peer_device_command, 0, 0, "conn= dev="},
    {"listen", peer_listener_listen_command, 2, 2, "backlog="},
    {"request", peer_listener_request_command, 1, 1, "timeout=!"},
    {"accept", peer_establish_accept_command, 1, 1, "ird= ord= pd= timeout="},
    {"reject", peer_establish_reject_command, 1, 1, "pd="},
    {"resolve", peer_establish_resolve_command, 2, 2, "from= timeout="},
    {"setup", peer_connection_setup_command, 1, 1, "sq= rq= sge= inline="},
    {"connect", peer_establish_connect_command, 1, 1, "ird= ord= pd= timeout="},
    {"wait", peer_connection_wait_command, 2, 2, "timeout=!"},
    {"disconnect", peer_connection_disconnect_command, 1, 1, ""},
    {"destroy", peer_listener_destroy_command, 1, 2, ""},
    {"state", peer_connection_state_command, 1, 1, ""},
    {"mem", peer_memory_mem_command, 1, 1, "rights= conn= dev="},
    {"free", peer_memory_free_command, 1, 1, ""},
    {"fill", peer_memory_fill_command, 4, 4, ""},
    {"check", peer_memory_check_command, 4, 4, ""},
    {"zero", peer_memory_zero_command, 3, 3, ""},
    {"recv", peer_post_recv_command, 2, 2, "id=!"},
    {"send", peer_post_send_command, 2, 2, "id=! solicited fence silent inline invalidate="},
    {"write", peer_post_write_command, 2, 2, "to=! rkey=! id=! fence silent inline"},
    {"read", peer_post_read_command, 2, 2, "from=! rkey=! id=! fence"},
    {"done", peer_complete_done_command, 2, 2, "timeout=!"},
    {"burst", peer_stream_burst_command, 4, 4, "step=! id=! depth=! timeout=! to= from= rkey="},
    {"prepare", peer_stream_prepare_command, 5, 5, ""},
    {"echo", peer_stream_echo_command, 4, 4, "timeout=!"},
    {"sink", peer_stream_sink_command, 4, 4, "timeout=! seed="},
    {"poll_memory", peer_memory_poll_command, 3, 3, "timeout=!"},
    {"spin", peer_command_spin, 1, 1, ""},
    {"async", peer_device_async_command, 0, 0, "timeout=! conn= dev="},
    {"pause", peer_command_pause, 0, 0, ""},
    {"abort", peer_command_abort, 0, 0, ""},
    {"quit", peer_command_quit, 0, 0, ""},
};

static const struct peer_command *peer_command_find(const char *name)
{
    for (size_t i = 0; i < sizeof(peer_commands) / sizeof(peer_commands[0]); i++) {
        if (strcmp(peer_commands[i].name, name) == 0)
            return &peer_commands[i];
    }
    return NULL;
}

bool peer_command_run(char *line)
{
    const struct peer_command *command;
    struct peer_args args;
    char *rest = line;
    const char *name = strtok_r(rest, " \t\r\n", &rest);

    command = name != NULL ? peer_command_find(name) : NULL;
    if (command == NULL) {
        peer_answer("error usage no command %.40s", name != NULL ? name : "");
        return peer_answer_end();
    }
    peer_args_parse(&args, rest, command->options);
    if (args.positions < command->min || args.positions > command->max)
        peer_args_refuse(&args, "%s: %u words are not what it takes", name, args.positions);
    if (!peer_args_refused(&args))
        command->run(&args);
    /* After a pause the next command runs. */
    if (command->run == peer_command_pause && !peer_args_refused(&args))
        return true;
    return peer_answer_end() && (command->run != peer_command_quit || peer_args_refused(&args));
}
