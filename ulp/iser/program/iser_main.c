/* SPDX-License-Identifier: BSD-2-Clause */
/* it_iser_target: an iSCSI target. docs/iser.md describes its use. */
#include "program/iser_settings.h"
#include "program/iser_status.h"

#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define STATUS_SOCKET "/run/it_iser_target.sock"
#define LEAVE_MS      5000u /* time that sessions have to log out */

static const char help[] =
    "it_iser_target [OPTIONS]: an iSCSI target over TCP and iSER\n"
    "\n"
    "  -c, --config FILE        settings; its lines can stand behind -o, too\n"
    "  -p, --portal ADDRESS     listens on ADDRESS[:PORT] or [IPV6]:PORT\n"
    "  -t, --target NAME        a target; what follows belongs to it\n"
    "  -l, --lun 'N=KIND ...'   a unit of it: memory size=1G, file PATH, null size=1T\n"
    "  -o, --set KEY=VALUE      any other key of the portal or target before it, or an option\n"
    "  -s, --status             asks the target that runs how it is\n"
    "  -S, --status-socket PATH where it is asked (" STATUS_SOCKET ")\n"
    "  -h, --help\n"
    "\n"
    "SIGHUP reads the names, networks and secrets of the file again; SIGTERM ends in order.\n"
    "Example: it_iser_target -p 127.0.0.1:3260 -t iqn.2026-01.org.example:disk -l '0=memory "
    "size=1G'\n";

struct program {
    int argc;
    char **argv;
    struct iser_settings *settings;
    struct event_base *base;
    struct itiser *target;
    struct iser_status *status;
    bool leaving;
};

/* ---- Settings ----------------------------------------------- */

static const struct option options[] = {
    {"config", required_argument, NULL, 'c'},
    {"portal", required_argument, NULL, 'p'},
    {"target", required_argument, NULL, 't'},
    {"lun", required_argument, NULL, 'l'},
    {"set", required_argument, NULL, 'o'},
    {"status", no_argument, NULL, 's'},
    {"status-socket", required_argument, NULL, 'S'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* Composes a configuration line from an option. */
static bool compose(struct iser_settings *settings, const char *format, const char *value,
                    char error[256])
{
    char line[4096];

    (void)snprintf(line, sizeof(line), format, value);
    return iser_settings_line(settings, line, error);
}

static bool take_option(struct iser_settings *settings, int option, const char *value,
                        char error[256])
{
    switch (option) {
    case 'c':
        return iser_settings_read(settings, value, error);
    case 'p':
        return iser_settings_line(settings, "[portal]", error) &&
               compose(settings, "address=%s", value, error);
    case 't':
        return compose(settings, "[target %s]", value, error);
    case 'l':
        return compose(settings, "lun %s", value, error);
    case 'o':
        if (strncmp(value, "chap", 4) == 0 || strncmp(value, "discovery-chap", 14) == 0) {
            (void)snprintf(error, 256, "secrets stand in the file: others see options");
            return false;
        }
        return iser_settings_line(settings, value, error);
    case 'S':
        settings->status_socket = value;
        return true;
    default:
        return true;
    }
}

/* Reads options and file; returns NULL with a line of text in error. */
static struct iser_settings *read_settings(const struct program *program, char error[256])
{
    struct iser_settings *settings = iser_settings_new();
    int option;

    if (!settings) {
        (void)snprintf(error, 256, "out of memory");
        return NULL;
    }
    optind = 1;
    while ((option = getopt_long(program->argc, program->argv, "c:p:t:l:o:sS:h", options, NULL)) !=
           -1) {
        if (take_option(settings, option, optarg, error))
            continue;
        iser_settings_free(settings);
        return NULL;
    }
    if (!settings->status_socket)
        settings->status_socket = STATUS_SOCKET;
    return settings;
}

/* ---- Signals ----------------------------------------------- */

static void say(const char *what, const char *why)
{
    (void)fprintf(stderr, "it_iser_target: %s%s%s\n", what, why ? ": " : "", why ? why : "");
}

static void stopped(void *argument)
{
    struct program *program = argument;

    (void)event_base_loopbreak(program->base);
}

/* The second signal does not wait. */
static void on_end(evutil_socket_t number, short what, void *argument)
{
    struct program *program = argument;

    (void)number;
    (void)what;
    if (program->leaving)
        stopped(program);
    else
        itiser_stop(program->target, LEAVE_MS, stopped, program);
    program->leaving = true;
}

static void on_reload(evutil_socket_t number, short what, void *argument)
{
    struct program *program = argument;
    struct iser_settings *fresh;
    char error[256];

    (void)number;
    (void)what;
    fresh = read_settings(program, error);
    if (fresh && iser_settings_finish(fresh, error) &&
        itiser_reconfigure(program->target, &fresh->config, error))
        say("settings are read again", NULL);
    else
        say("settings stay as they were", error);
    if (fresh)
        iser_settings_free(fresh);
}

/* ---- Running ----------------------------------------------- */

/* Each connection needs a descriptor: raises the limit to the maximum. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void print_portals(const struct program *program)
{
    for (size_t i = 0; i < program->settings->config.portal_count; i++) {
        struct sockaddr_storage address;
        char text[64];

        if (!itiser_portal_address(program->target, i, &address))
            continue;
        iser_value_print_address(&address, text);
        (void)printf("listening on %s\n", text);
    }
    (void)fflush(stdout);
}

static bool start(struct program *program, char error[256])
{
    program->base = event_base_new();
    if (!program->base) {
        (void)snprintf(error, 256, "out of memory");
        return false;
    }
    if (!iser_settings_finish(program->settings, error) ||
        !iser_settings_open_units(program->settings, error))
        return false;
    program->target = itiser_start(program->base, &program->settings->config, error);
    if (!program->target)
        return false;
    program->status =
        iser_status_open(program->base, program->settings->status_socket, program->target, error);
    if (!program->status)
        say("--status will not work", error);
    return true;
}

/* Until the loop handles SIGHUP it waits: it would end the program. */
static void hold_reload(bool hold)
{
    sigset_t reload;

    (void)sigemptyset(&reload);
    (void)sigaddset(&reload, SIGHUP);
    (void)pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &reload, NULL);
}

static int serve(struct program *program)
{
    static const struct {
        int number;
        event_callback_fn call;
    } signals[] = {{SIGTERM, on_end}, {SIGINT, on_end}, {SIGHUP, on_reload}};
    struct event *events[3] = {NULL};
    bool good = true;

    for (size_t i = 0; i < 3; i++) {
        events[i] = evsignal_new(program->base, signals[i].number, signals[i].call, program);
        good = good && events[i] && event_add(events[i], NULL) == 0;
    }
    hold_reload(false);
    print_portals(program);
    if (good)
        (void)event_base_dispatch(program->base);
    for (size_t i = 0; i < 3; i++)
        if (events[i])
            event_free(events[i]);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(struct program *program)
{
    char error[256] = "";
    int result = EXIT_FAILURE;

    if (start(program, error))
        result = serve(program);
    else
        say(error, NULL);
    if (program->status)
        iser_status_close(program->status);
    if (program->target)
        itiser_free(program->target);
    if (program->base)
        event_base_free(program->base);
    iser_settings_free(program->settings);
    return result;
}

int main(int argc, char **argv)
{
    struct program program = {.argc = argc, .argv = argv};
    bool status = false;
    char error[256];
    int option;

    while ((option = getopt_long(argc, argv, "c:p:t:l:o:sS:h", options, NULL)) != -1) {
        if (option == 'h') {
            (void)fputs(help, stdout);
            return EXIT_SUCCESS;
        }
        if (option == '?') {
            (void)fprintf(stderr, "it_iser_target --help tells the options\n");
            return 2;
        }
        status = status || option == 's';
    }
    if (optind < argc) {
        say("not an option", argv[optind]);
        return 2;
    }
    hold_reload(!status);
    program.settings = read_settings(&program, error);
    if (!program.settings) {
        say(error, NULL);
        return 2;
    }
    if (status) {
        int result = iser_status_show(program.settings->status_socket);

        iser_settings_free(program.settings);
        return result;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    raise_limit();
    return run(&program);
}
