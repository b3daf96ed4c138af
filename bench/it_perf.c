/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_perf: measures latency, bandwidth and message rate of the API, and of plain TCP beside it.
 */
#include "common/tcp.h"
#include "perf_heap.h"
#include "perf_session.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run_server(const struct perf_options *options)
{
    int listener = tcp_listen(NULL, options->port);
    bool good;

    if (listener < 0)
        return EXIT_FAILED;
    (void)printf("listening on port %u\n", tcp_local_port(listener));
    (void)fflush(stdout);
    good = perf_server(options, listener, options->once);
    (void)close(listener);
    return good ? EXIT_FINE : EXIT_FAILED;
}

static int run_client(const struct perf_options *options, const char *host, const char *port)
{
    static struct perf_results results;

    if (!perf_client(options, host, port, &results))
        return EXIT_FAILED;
    report_print(options, &results);
    if (options->strict_heap && !heap_counts())
        complain("heap calls cannot be counted in this build");
    if (options->strict_heap && results.heap_calls > 0) {
        complain("%llu heap calls in the measured runs", (unsigned long long)results.heap_calls);
        return EXIT_FAILED;
    }
    return EXIT_FINE;
}

/*
 * The server is a process of its own, made before either side uses the library: handles and
 * threads do not survive a fork.
 */
static int run_loopback(const struct perf_options *options)
{
    int listener = tcp_listen("127.0.0.1", options->port);
    int status = 0;
    char port[16];
    int outcome;
    pid_t server;

    if (listener < 0)
        return EXIT_FAILED;
    (void)snprintf(port, sizeof(port), "%u", tcp_local_port(listener));
    server = fork();
    if (server < 0) {
        complain_errno("fork");
        return EXIT_FAILED;
    }
    if (server == 0)
        _exit(perf_server(options, listener, true) ? EXIT_FINE : EXIT_FAILED);
    (void)close(listener);
    outcome = run_client(options, "127.0.0.1", port);
    /* After a failure here, the server may still wait for something. */
    if (outcome != EXIT_FINE)
        (void)kill(server, SIGTERM);
    if (waitpid(server, &status, 0) != server || status != 0)
        outcome = EXIT_FAILED;
    return outcome;
}

int main(int argc, char *argv[])
{
    struct perf_options options;
    int status;

    report_program("it_perf");
    status = perf_parse(argc, argv, &options);
    if (status >= 0)
        return status;
    switch (options.role) {
    case ROLE_SERVER:
        return run_server(&options);
    case ROLE_CLIENT:
        return run_client(&options, options.host, options.port);
    case ROLE_LOOPBACK:
        return run_loopback(&options);
    }
    return EXIT_FAILED;
}
