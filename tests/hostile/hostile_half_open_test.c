/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Floods of streams that are accepted and never finish their MPA Request. Each sends its first
 * octet, so that the kernel hands it over at once. What is checked are numbers: how many went for
 * how many that came.
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

#define DESCRIPTORS   1024 /* the usual limit, and what it makes of the library's own */
#define HALF_OPEN_MAX (DESCRIPTORS / 2)
#define SHARE         (HALF_OPEN_MAX / 2)
#define CROWD         (HALF_OPEN_MAX / 4)
#define FLOOD_OPEN    2048 /* streams that a flood keeps open */

/* ---- Floods --------------------------------------------------------------------------------- */

/*
 * A process of its own, so that the descriptors of its ends are not those of the library's process.
 */
struct flood {
    pid_t pid;
    int orders;
    int answers;
};

struct flood_order {
    uint16_t port;
    unsigned count;
    unsigned sources; /* 127.1.0.1 and the following */
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
    (void)send(fd, "M", 1, MSG_NOSIGNAL); /* it may have been reset already */
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

/* Returns when all have connected; the library may not have accepted all of them yet. */
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

/* All that went for want of room or, on a slow machine, of time. */
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

/* A slow one: what it sends at first. Accepted when it returns, if it is the only one. */
static void begin(struct raw_peer *peer)
{
    RAW_BYTES(out);

    request(&out);
    raw_connect(peer, s.port);
    CHECK(raw_send_part(peer, out.data, 5));
}

/* The rest of it, and the answer. */
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

/*
 * Each that comes is let in, and for each one goes: those who mean it find their place at any time.
 */
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
    /* With one on its way, and answered ones that are still being closed. */
    CHECK(fx_fd_count() <= s.descriptors + HALF_OPEN_MAX + 1 + floods);
}

/* A slow one keeps its place until as many have come behind it as there are places. */
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
    /* It has spoken already: its octets are no reason to wait for more of them. */
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

/* Two IAs would do with the same rules: the share is each IA's own. */
Test(hostile_half_open, the_share_can_be_set, .init = open_service, .fini = close_service)
{
    struct raw_peer slow;

    CHECK_OK(itx_ia_set_half_open_share(s.node.ia, 3));
    begin(&slow);
    wait_accepted(2);
    flood(&s.flood, s.port, 100, 10); /* ten times ten: seven of each go */
    wait_gone(70);
    CHECK_EQ(70, gone());
    CHECK_OK(itx_ia_set_half_open_share(s.node.ia, 0));
    flood(&s.flood, s.port, 100, 10);
    wait_accepted(2 + 30 + 100);
    CHECK_EQ(70, gone());
    finish(&slow);
}

/* ---- The kernel's part ---------------------------------------------------------------------- */

/* What listeners were told last; -1: nothing. */
static _Atomic int deferring = -1;

/* In front of the C library's. */
int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    if (level == IPPROTO_TCP && option == TCP_DEFER_ACCEPT)
        deferring = *(const int *)value;
    return (int)syscall(SYS_setsockopt, fd, level, option, value, length);
}

/* It keeps silent streams for a while, but only when there are many. */
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
    begin(&peer);
    finish(&peer);
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

/* The program has many open itself: a quarter of all is left to it, however many come. */
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
        /* One is accepted before it is closed, so the count may be above for a moment. */
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
     * Of two places in the code, five a second, and each time at most one line about those left
     * out.
     */
    CHECK(lines <= 20 * (2 + (fx_now_us() - start) / 1000000));
}
