/* SPDX-License-Identifier: BSD-2-Clause */
/* it_perf: measures latency, bandwidth and message rate of the API and of plain TCP. */
#include "common/output.h"
#include "common/tcp.h"
#include "perf_compare.h"
#include "perf_control.h"
#include "perf_heap.h"
#include "perf_interrupt.h"
#include "perf_json.h"
#include "perf_matrix.h"
#include "perf_session.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
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

/* Prints one object, unless the options can produce several. */
static bool print_json(const struct perf_options *options, const struct perf_records *records)
{
    if (options->matrix || options->all || options->size_count > 1)
        return perf_json_write_all(stdout, records);
    return perf_json_write(stdout, &records->records[0]) && putchar('\n') != EOF;
}

static bool heap_is_left_alone(const struct perf_records *records)
{
    double calls = 0;

    if (!heap_counts())
        complain("heap calls cannot be counted in this build");
    for (size_t i = 0; i < records->count; i++)
        if (records->records[i].heap_calls > 0)
            calls += records->records[i].heap_calls;
    if (calls == 0)
        return true;
    complain("%.0f heap calls in the measured runs", calls);
    return false;
}

static bool report(const struct perf_options *options, const struct perf_records *records)
{
    if (options->json && !print_json(options, records)) {
        complain("the results could not be written");
        return false;
    }
    return !options->strict_heap || heap_is_left_alone(records);
}

struct measured {
    const struct perf_options *options;
    const struct perf_records *records;
};

/* Writes the JSON file. Tables have been printed before. */
static void write_interrupted(void *context)
{
    const struct measured *measured = context;

    if (measured->options->json && measured->records->count > 0)
        (void)print_json(measured->options, measured->records);
    complain("interrupted, with %zu results", measured->records->count);
}

static int run_client(const struct perf_options *options, const char *host, const char *port)
{
    static struct perf_records records;
    static struct measured measured;
    bool good;

    measured = (struct measured){.options = options, .records = &records};
    good = perf_interrupt_watch(write_interrupted, &measured) &&
           perf_matrix_run(options, host, port, &records);
    perf_interrupt_hold();
    good = good && report(options, &records);
    perf_records_free(&records);
    return good ? EXIT_FINE : EXIT_FAILED;
}

/*
 * The server is another process, forked before either side uses the library, since handles and
 * threads do not survive a fork.
 */
static int run_loopback(const struct perf_options *options)
{
    int listener = tcp_listen("127.0.0.1", options->port);
    int status = 0;
    pid_t client = getpid();
    char port[16];
    int outcome;
    pid_t server;

    if (listener < 0)
        return EXIT_FAILED;
    (void)snprintf(port, sizeof(port), "%u", tcp_local_port(listener));
    control_share_terminal();
    server = fork();
    if (server < 0) {
        complain_errno("fork");
        return EXIT_FAILED;
    }
    if (server == 0) {
        /* The server ends with the client, since nobody else could end it. */
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        /* The whole group gets SIGINT. Only the client handles it. */
        (void)signal(SIGINT, SIG_IGN);
        if (getppid() != client)
            _exit(EXIT_FAILED);
        _exit(perf_server(options, listener, true) ? EXIT_FINE : EXIT_FAILED);
    }
    (void)close(listener);
    outcome = run_client(options, "127.0.0.1", port);
    /* After a failure here the server may still wait. */
    if (outcome != EXIT_FINE)
        (void)kill(server, SIGTERM);
    if (waitpid(server, &status, 0) != server || status != 0) {
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM)
            complain("the server's process was killed by signal %d", WTERMSIG(status));
        outcome = EXIT_FAILED;
    }
    return outcome;
}

static int run_comparison(const struct perf_options *options)
{
    switch (perf_compare(options->files[0], options->files[1], options->tolerance)) {
    case PERF_NO_WORSE:
        return EXIT_FINE;
    case PERF_WORSE:
        return EXIT_FAILED;
    case PERF_INCOMPARABLE:
        break;
    }
    return EXIT_USAGE;
}

static int act(const struct perf_options *options)
{
    switch (options->role) {
    case ROLE_SERVER:
        return run_server(options);
    case ROLE_CLIENT:
        return run_client(options, options->host, options->port);
    case ROLE_LOOPBACK:
        return run_loopback(options);
    case ROLE_COMPARE:
        return run_comparison(options);
    }
    return EXIT_FAILED;
}

int main(int argc, char *argv[])
{
    struct perf_options options;
    int status;

    output_begin();
    report_program("it_perf");
    status = perf_parse(argc, argv, &options);
    if (status < 0)
        status = act(&options);
    return output_end(status);
}
