/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Sockets Direct Protocol: plain sockets, with libitsdp.so loaded before. A socket that a fault
 * hits before the conversion may stay TCP: that, too, is right.
 */
#include "faults/faults_scenario.h"
#include "faults/faults_sockets.h"
#include "support/adapter.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

const enum fault_call scenario_unreached[] = {FAULT_SHUTDOWN, FAULT_FILE, FAULT_DATAGRAM,
                                              FAULT_CALLS};
const bool scenario_pools = true;
const bool scenario_repeats = false; /* both ends stay TCP, or the connection ends */

const char *scenario_stage(void)
{
    return sockets_get_stage();
}

static int set_waiting(int fd, bool waits)
{
    return fcntl(fd, F_SETFL, waits ? 0 : O_NONBLOCK);
}

static int open_socket(int domain, int type, int protocol)
{
    return socket(domain, type | SOCK_CLOEXEC, protocol);
}

static int accept_one(int fd, struct sockaddr *address, socklen_t *length)
{
    return accept4(fd, address, length, SOCK_CLOEXEC);
}

static const struct socket_calls calls = {
    .socket = open_socket,
    .bind = bind,
    .listen = listen,
    .accept = accept_one,
    .connect = connect,
    .name = getsockname,
    .send = send,
    .receive = recv,
    .poll = poll,
    .get_option = getsockopt,
    .set_option = setsockopt,
    .shutdown = shutdown,
    .close = close,
    .set_waiting = set_waiting,
};

static void run_pair(bool strict)
{
    struct socket_pair pair;

    sockets_stage("stream");
    if (sockets_open(&pair))
        sockets_traffic(&pair);
    if (strict && !adapter_is_open())
        find_say("nothing was converted");
    sockets_close(&pair);
}

void scenario_run(enum fault_mode mode, const struct fault_plan *plan, bool strict,
                  struct fault_findings *findings)
{
    struct socket_pair bystander = {-1, -1, -1};

    find_begin(findings);
    sockets_begin(&calls, strict);
    sockets_stage("open");
    if (mode == FAULT_BESIDE && !sockets_open(&bystander))
        find_say("no bystander");
    if (mode == FAULT_BESIDE)
        sockets_ping(&bystander, true);
    faults_arm(plan);
    run_pair(strict);
    if (mode == FAULT_BESIDE)
        sockets_ping(&bystander, false);
    sockets_stage("refused");
    sockets_refused();
    faults_disarm();
    sockets_stage("close");
    if (mode == FAULT_BESIDE)
        sockets_ping(&bystander, true);
    sockets_close(&bystander);
}

/* Numbers stay below what faults_calls protects. The library has its own above the soft limit. */
__attribute__((constructor)) static void limit_descriptors(void)
{
    const struct rlimit limit = {256, 1024};

    if (!getenv("LD_PRELOAD") || !strstr(getenv("LD_PRELOAD"), "libitsdp"))
        abort();
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}
