/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of flooding peers to the others of an adapter: a third process has many connections to
 * the server and writes empty RDMA Writes to all of them as fast as possible, while the client
 * measures its round trips of 64 bytes. The flooding peers are plain sockets, since no library is
 * as fast.
 */
#include "scenario.h"

#include "common/tcp.h"
#include "scale.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLOOD_MOST 200u
/* A row ends after so many seconds, however many rounds it has. */
#define FLOOD_SECONDS 5.0
#define FLOOD_WARM_UP 3u
#define FLOOD_FPDUS   3276u /* as many as fit into 64 KiB */

/* RFC 5044: key, flags (CRC), revision, no private data. */
static const unsigned char flood_request[20] = "MPA ID Req Frame\x40\x01";
/* An RDMA Write without payload to STag 1: length, DDP and RDMAP control, STag, offset, CRC32c. */
static const unsigned char flood_fpdu[20] = {0, 14, 0xc1, 0x40, 0, 0, 0,    1,    0,    0,
                                             0, 0,  0,    0,    0, 0, 0xeb, 0xd3, 0x4c, 0x5f};

struct flood {
    struct scenario *scenario;
    struct scale_side side;
    struct figures rounds;
};

/* ---- The process that floods ----------------------------------------------------------------- */

static unsigned char flood_octets[sizeof(flood_fpdu) * FLOOD_FPDUS];
static struct pollfd flood_peers[FLOOD_MOST];
static size_t flood_sent[FLOOD_MOST]; /* octets sent in this turn */

static int flood_connect(const char *port)
{
    unsigned char reply[sizeof(flood_request)];
    int sd = tcp_connect("127.0.0.1", port);

    if (sd < 0 || !tcp_send(sd, flood_request, sizeof(flood_request)) ||
        !tcp_receive(sd, reply, sizeof(reply)) || fcntl(sd, F_SETFL, O_NONBLOCK) != 0)
        return -1;
    return sd;
}

/* Returns false when the server has ended the connection. */
static bool flood_write(size_t i)
{
    ssize_t sent = send(flood_peers[i].fd, flood_octets + flood_sent[i],
                        sizeof(flood_octets) - flood_sent[i], MSG_NOSIGNAL);

    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    flood_sent[i] = (flood_sent[i] + (size_t)sent) % sizeof(flood_octets);
    return true;
}

/*
 * Runs until it is killed. One octet says that all are connected; closing the pipe says that it has
 * failed.
 */
static void flood_run(size_t count, uint16_t port, int ready)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%u", (unsigned)ntohs(port));
    for (size_t i = 0; i < FLOOD_FPDUS; i++)
        memcpy(flood_octets + i * sizeof(flood_fpdu), flood_fpdu, sizeof(flood_fpdu));
    for (size_t i = 0; i < count; i++) {
        flood_peers[i] = (struct pollfd){.fd = flood_connect(text), .events = POLLOUT};
        if (flood_peers[i].fd < 0)
            _exit(EXIT_FAILED);
    }
    if (write(ready, "", 1) != 1)
        _exit(EXIT_FAILED);
    while (poll(flood_peers, count, -1) >= 0)
        for (size_t i = 0; i < count; i++)
            if (flood_peers[i].revents != 0 && !flood_write(i))
                _exit(EXIT_FAILED);
}

static void flood_stop(pid_t process)
{
    (void)kill(process, SIGKILL);
    (void)waitpid(process, NULL, 0);
}

/* Starts the process and waits until it is connected. Returns -1 after a message. */
static pid_t flood_start(size_t count, uint16_t port)
{
    int ready[2];
    char octet;
    pid_t process;

    if (pipe(ready) != 0 || (process = fork()) < 0) {
        complain_errno("a process that floods");
        return -1;
    }
    if (process == 0) {
        (void)close(ready[0]);
        flood_run(count, port, ready[1]);
        _exit(EXIT_FAILED);
    }
    (void)close(ready[1]);
    if (read(ready[0], &octet, 1) != 1) {
        complain("the connections that flood could not be made");
        flood_stop(process);
        process = -1;
    }
    (void)close(ready[0]);
    return process;
}

/* ---- Both sides ------------------------------------------------------------------------------ */

static bool flood_open(struct flood *flood, size_t count)
{
    bool server = flood->scenario->server;
    uint64_t port;

    if (!scale_side_open(&flood->side, server, server ? count + 1 : 1) ||
        !scale_create(&flood->side, 0, flood->side.count))
        return false;
    port = flood->side.port;
    if (!(server ? scale_tell(flood->scenario->channel, port)
                 : scale_hear(flood->scenario->channel, &port)))
        return false;
    flood->side.port = (uint16_t)port;
    return (server ? scale_accept(&flood->side, 0, 1) : scale_connect(&flood->side, 0, 1, 1)) &&
           scale_prepare(&flood->side) && scale_meet(flood->scenario->channel);
}

/* The first octet of the client's message says whether it is the last one. */
static bool flood_serve(struct flood *flood, size_t count)
{
    if (!scale_accept(&flood->side, 1, count))
        return false;
    do {
        if (!scale_ping(&flood->side, true, 1))
            return false;
    } while (flood->side.first_octet == 0);
    return true;
}

static bool flood_measure(struct flood *flood)
{
    double begin = scale_clock();
    size_t most = flood->scenario->rounds + FLOOD_WARM_UP;

    for (size_t i = 0; i < most && flood->side.memory[0] == 0; i++) {
        double start = scale_clock();

        flood->side.memory[0] = i + 1 == most || start - begin > FLOOD_SECONDS;
        if (!scale_ping(&flood->side, true, 1))
            return false;
        if (i >= FLOOD_WARM_UP)
            figures_add(&flood->rounds, (scale_clock() - start) * 1e3);
    }
    return true;
}

static void flood_report(struct flood *flood, size_t count, double average, double most)
{
    char name[64];
    struct scenario_row row = {
        .scenario = "flood", .name = name, .unit = "ms", .sign = "<=", .limit = average};
    double sum = 0;

    for (size_t i = 0; i < flood->rounds.count; i++)
        sum += flood->rounds.values[i];
    (void)snprintf(name, sizeof(name), "round trip beside %zu that flood, average", count);
    row.value = flood->rounds.count > 0 ? sum / (double)flood->rounds.count : 0;
    scenario_report(flood->scenario, &row);
    (void)snprintf(name, sizeof(name), "... 99 %%");
    row.value = figures_quantile(&flood->rounds, 0.99);
    row.sign = most > 0 ? "<=" : NULL;
    row.limit = most;
    scenario_report(flood->scenario, &row);
}

/* Limits are in ms; 0: none. */
static bool flood_row(struct flood *flood, size_t count, double average, double most)
{
    double seconds;
    bool good;

    if (!flood_open(flood, count))
        return false;
    if (flood->scenario->server) {
        good = flood_serve(flood, count);
    } else {
        pid_t process = flood_start(count, flood->side.port);

        good = process > 0 && figures_open(&flood->rounds, flood->scenario->rounds) &&
               flood_measure(flood);
        if (process > 0)
            flood_stop(process);
        if (good)
            flood_report(flood, count, average, most);
        figures_close(&flood->rounds);
    }
    return scale_side_close(&flood->side, &seconds) && good && scale_meet(flood->scenario->channel);
}

bool scenario_flood(struct scenario *scenario)
{
    static struct flood flood;

    flood.scenario = scenario;
    return flood_row(&flood, 16, 5, 20) && flood_row(&flood, FLOOD_MOST, 40, 0);
}
