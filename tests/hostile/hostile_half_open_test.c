/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Floods of streams that are accepted and never complete their MPA Request. Each sends its first
 * octet, so that the kernel delivers it at once. The test checks numbers: how many streams are
 * closed for how many that come.
 */
#include <criterion/criterion.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

#define DESCRIPTORS   1024 /* the usual limit, which the library's own limits depend on */
#define HALF_OPEN_MAX (DESCRIPTORS / 2)
#define SHARE         (HALF_OPEN_MAX / 2)
#define CROWD         (HALF_OPEN_MAX / 4)
#define FLOOD_OPEN    2048 /* number of streams that a flood keeps open */

/* ---- Floods --------------------------------------------------------------------------------- */

/*
 * A process that owns the flood's ends, so that their descriptors are not in the library's process.
 */
struct flood {
    pid_t pid;
    int orders;
    int answers;
};

struct flood_order {
    uint16_t port;
    unsigned count;
    unsigned sources; /* number of source addresses from 127.1.0.1 on */
};

static int flood_connect(const struct flood_order *order, unsigned number)
{
    struct sockaddr_in from = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(0x7f010001u + number % order->sources),
    };
    struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = order->port,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0 ||
        connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        _exit(1);
    (void)send(fd, "M", 1, MSG_NOSIGNAL); /* the stream may have been reset already */
    return fd;
}

static void flood_run(int orders, int answers)
{
    static int open[FLOOD_OPEN];
    struct rlimit limit = {.rlim_cur = FLOOD_OPEN + 64, .rlim_max = FLOOD_OPEN + 64};
    struct flood_order order;
    unsigned next = 0;

    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        _exit(1);
    while (read(orders, &order, sizeof(order)) == (ssize_t)sizeof(order)) {
        for (unsigned i = 0; i < order.count; i++, next = (next + 1) % FLOOD_OPEN) {
            if (open[next] > 0)
                (void)close(open[next]);
            open[next] = flood_connect(&order, i);
        }
        if (write(answers, "", 1) != 1)
            _exit(1);
    }
    _exit(0);
}

static struct flood flood_start(void)
{
    struct flood flood;
    int orders[2];
    int answers[2];

    CHECK(pipe2(orders, O_CLOEXEC) == 0 && pipe2(answers, O_CLOEXEC) == 0);
    flood.pid = fork();
    CHECK(flood.pid >= 0);
    if (flood.pid == 0) {
        (void)close(orders[1]);
        (void)close(answers[0]);
        flood_run(orders[0], answers[1]);
    }
    (void)close(orders[0]);
    (void)close(answers[1]);
    flood.orders = orders[1];
    flood.answers = answers[0];
    return flood;
}

/* Returns when all have connected. The library may not have accepted all of them yet. */
static void flood(const struct flood *flood, uint16_t port, unsigned count, unsigned sources)
{
    struct flood_order order = {.port = port, .count = count, .sources = sources};
    char answer;

    CHECK_EQ(sizeof(order), write(flood->orders, &order, sizeof(order)));
    CHECK_EQ(1, read(flood->answers, &answer, 1));
}

static void flood_end(const struct flood *flood)
{
    int status = -1;

    (void)close(flood->orders);
    (void)close(flood->answers);
    CHECK_EQ(flood->pid, waitpid(flood->pid, &status, 0));
    CHECK_EQ(0, status);
}

/* ---- The service under attack --------------------------------------------------------------- */

static struct {
    struct flood flood;
    struct fx_node node;
    it_listen_handle_t listener;
    uint16_t port;
    size_t descriptors;
} s;

static void set_descriptor_limit(rlim_t wanted)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < FLOOD_OPEN + 64)
        cr_skip_test("too few descriptors allowed");
    limit.rlim_cur = wanted;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void open_service(void)
{
    set_descriptor_limit(DESCRIPTORS);
    s.flood = flood_start(); /* before there are threads */
    fx_node_open(&s.node);
    s.listener = fx_listen(&s.node, &s.port);
    s.descriptors = fx_fd_count();
}

static void close_service(void)
{
    flood_end(&s.flood);
    fx_fd_settle(s.descriptors - 2); /* without the pipes */
    fx_empty(s.node.conn_evd);
    CHECK_OK(it_listen_free(s.listener));
    fx_node_close(&s.node);
}

/* Returns the number of streams closed for lack of room or, on a slow machine, of time. */
static uint64_t gone(void)
{
    struct itx_counters all = {.size = sizeof(all)};

    CHECK_OK(itx_ia_stats(s.node.ia, &all));
    return all.half_open_refused + all.half_open_timeouts;
}

static void wait_gone(uint64_t count)
{
    FX_WAIT_WHILE(gone() < count, "room that is made");
}

/* ---- Peers that mean it --------------------------------------------------------------------- */

static void request(struct raw_bytes *out)
{
    raw_mpa2(out, false, RAW_MPA_C | RAW_MPA_S, RAW_ENH_A | RAW_ENH_C | RAW_ENH_D | 8u << 16 | 8u);
}

/*
 * Connects a slow peer and sends its first octets. If it is the only one, it is accepted when this
 * returns.
 */
static void begin(struct raw_peer *peer)
{
    RAW_BYTES(out);

    request(&out);
    raw_connect(peer, s.port);
    CHECK(raw_send_part(peer, out.data, 5));
}

/* Sends the rest and receives the answer. */
static void finish(struct raw_peer *peer)
{
    RAW_BYTES(out);
    struct raw_mpa_frame reply;

    request(&out);
    CHECK(raw_send_part(peer, out.data + 5, out.len - 5));
    CHECK_OK(it_reject(fx_request(&s.node, NULL), NULL, 0));
    CHECK_EQ(RAW_OK, raw_receive_mpa(peer, &reply));
    raw_close(peer);
}

static void wait_accepted(size_t more)
{
    FX_WAIT_WHILE(fx_fd_count() < s.descriptors + more, "streams that are accepted");
}

/* ---- Many sources --------------------------------------------------------------------------- */

/* Each new stream is accepted and an old one is closed, so an honest peer is served at any time. */
Test(hostile_half_open, newcomers_are_served, .init = open_service, .fini = close_service)
{
    const unsigned floods = 8;
    struct raw_peer peer;

    for (unsigned i = 1; i <= floods; i++) {
        flood(&s.flood, s.port, HALF_OPEN_MAX, 10000);
        begin(&peer);
        finish(&peer);
    }
    wait_gone((floods - 1) * HALF_OPEN_MAX);
    CHECK(gone() <= (uint64_t)floods * HALF_OPEN_MAX);
    /* One more may be on its way, and answered ones may still be closing. */
    CHECK(fx_fd_count() <= s.descriptors + HALF_OPEN_MAX + 1 + floods);
}

/* A slow peer keeps its place until as many peers have come after it as there are places. */
Test(hostile_half_open, as_many_may_come_as_there_are_places, .init = open_service,
     .fini = close_service)
{
    struct raw_peer slow;
    struct raw_peer late;

    begin(&slow);
    wait_accepted(2);
    flood(&s.flood, s.port, HALF_OPEN_MAX - 1, 10000);
    wait_accepted(1 + HALF_OPEN_MAX);
    CHECK_EQ(0, gone());
    finish(&slow);
    begin(&late);
    wait_accepted(1 + HALF_OPEN_MAX);
    flood(&s.flood, s.port, 2 * HALF_OPEN_MAX, 10000);
    /* It has sent octets before, so they do not extend its time. */
    CHECK_EQ(RAW_RESET, raw_drain(&late));
    raw_close(&late);
}

/* ---- One source ----------------------------------------------------------------------------- */

Test(hostile_half_open, a_source_has_its_share, .init = open_service, .fini = close_service)
{
    struct raw_peer slow;

    begin(&slow);
    wait_accepted(2);
    flood(&s.flood, s.port, 4 * HALF_OPEN_MAX, 1);
    wait_gone(4 * HALF_OPEN_MAX - SHARE);
    CHECK(fx_fd_count() <= s.descriptors + 2 + SHARE + 1);
    finish(&slow);
}

/* The rules are the same with two IAs: each has its own share. */
Test(hostile_half_open, the_share_can_be_set, .init = open_service, .fini = close_service)
{
    struct raw_peer slow;

    CHECK_OK(itx_ia_set_half_open_share(s.node.ia, 3));
    begin(&slow);
    wait_accepted(2);
    flood(&s.flood, s.port, 100, 10); /* ten times ten: seven of each are closed */
    wait_gone(70);
    CHECK_EQ(70, gone());
    CHECK_OK(itx_ia_set_half_open_share(s.node.ia, 0));
    flood(&s.flood, s.port, 100, 10);
    wait_accepted(2 + 30 + 100);
    CHECK_EQ(70, gone());
    finish(&slow);
}

/* ---- The kernel's part ---------------------------------------------------------------------- */

/* the last value that listeners set; -1: none */
static _Atomic int deferring = -1;

/* Replaces setsockopt of the C library. */
int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    if (level == IPPROTO_TCP && option == TCP_DEFER_ACCEPT)
        deferring = *(const int *)value;
    return (int)syscall(SYS_setsockopt, fd, level, option, value, length);
}

/* The kernel holds silent streams back for a while, but only if there are many. */
Test(hostile_half_open, the_kernel_keeps_streams_of_a_crowd)
{
    struct raw_peer peer;

    open_service();
    flood(&s.flood, s.port, CROWD - 1, 10000);
    wait_accepted(CROWD - 1);
    begin(&peer);
    finish(&peer);
    CHECK_EQ(-1, deferring);
    flood(&s.flood, s.port, 1, 1);
    wait_accepted(CROWD);
    /* The turn that accepts the crowd's last stream may also accept the first of these two. */
    for (int i = 0; i < 2; i++) {
        begin(&peer);
        finish(&peer);
    }
    CHECK_EQ(1, deferring);
    flood_end(&s.flood);
    fx_fd_settle(s.descriptors - 2);
    begin(&peer);
    finish(&peer);
    CHECK_EQ(0, deferring);
    fx_empty(s.node.conn_evd);
    CHECK_OK(it_listen_free(s.listener));
    fx_node_close(&s.node);
}

/* ---- Descriptors ---------------------------------------------------------------------------- */

/*
 * The program has many open descriptors itself. A quarter of all is left to it, however many
 * streams come.
 */
Test(hostile_half_open, descriptors_are_left, .init = open_service, .fini = close_service)
{
    const unsigned own = DESCRIPTORS / 2;
    const unsigned batch = 32;
    int files[DESCRIPTORS / 2];

    for (unsigned i = 0; i < own; i++)
        CHECK((files[i] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0);
    for (unsigned came = batch; came <= 2 * HALF_OPEN_MAX; came += batch) {
        flood(&s.flood, s.port, batch, 10000);
        FX_WAIT_WHILE(fx_fd_count() + gone() < s.descriptors + own + came, "all that have come");
        /* A stream is accepted before one is closed, so the count may be higher for a moment. */
        FX_WAIT_WHILE(fx_fd_count() > 3 * DESCRIPTORS / 4 + 2, "all that have come");
    }
    for (unsigned i = 0; i < own; i++)
        (void)close(files[i]);
}

/* ---- What the log tells --------------------------------------------------------------------- */

static void log_to(const char *path)
{
    CHECK(freopen(path, "w", stderr) != NULL);
    CHECK_EQ(0, setenv("ITAPI_LOG", "warn", 1));
}

Test(hostile_half_open, the_log_names_peers_at_a_bounded_rate)
{
    char path[] = "/tmp/hostile_half_open.XXXXXX";
    uint64_t start = fx_now_us();
    uint64_t named = 0;
    uint64_t lines = 0;
    char line[256];
    FILE *log;

    CHECK(mkstemp(path) >= 0);
    log_to(path);
    open_service();
    flood(&s.flood, s.port, 4 * HALF_OPEN_MAX, 10000);
    wait_gone(3 * HALF_OPEN_MAX);
    close_service();
    (void)fflush(stderr);
    log = fopen(path, "r");
    CHECK(log != NULL);
    for (; fgets(line, sizeof(line), log) != NULL; lines++)
        named += strncmp(line, "itapi warn: 127.1.", 18) == 0;
    (void)fclose(log);
    (void)remove(path);
    CHECK(named >= 5);
    /*
     * Two places in the code log five lines a second each, and each time at most one about
     * suppressed lines.
     */
    CHECK(lines <= 20 * (2 + (fx_now_us() - start) / 1000000));
}
