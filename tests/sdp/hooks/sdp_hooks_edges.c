/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls at the edges of what the kernel takes: counts, time limits, parts of vectors. */
#include "hooks/sdp_hooks_kit.h"

#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 18];
static void *volatile missing = (void *)8; /* the compiler refuses such arguments */

/* ---- Vectors of which a part is missing ----------------------------------------------------- */

static void drain(int fd)
{
    long all = 0;
    ssize_t got;

    while ((got = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT)) > 0)
        all += got;
    sdp_hooks_note("left: %ld, %s", all, strerrorname_np(errno));
}

static void send_parts(struct sdp_hooks_pair *pair, size_t good, size_t bad)
{
    struct iovec parts[3] = {{buffer, good}, {missing, bad}, {buffer, 5}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    ssize_t sent;

    sdp_hooks_note("good %zu, bad %zu", good, bad);
    sent = SAY(writev(pair->client, parts, 3));
    if (sent > 0)
        (void)SAY(recv(pair->server, buffer, (size_t)sent, MSG_WAITALL));
    sent = SAY(sendmsg(pair->client, &message, MSG_DONTWAIT));
    if (sent > 0)
        (void)SAY(recv(pair->server, buffer, (size_t)sent, MSG_WAITALL));
    SAY(send(pair->client, "abc", 3, 0));
    SAY(recv(pair->server, buffer, 3, MSG_WAITALL));
    drain(pair->server);
}

/* Of more than 32 KiB, how many leave depends on where the kernel's pages end. */
static void sent_parts(void)
{
    static const size_t sizes[] = {1, 100, 5000, 20000};
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        send_parts(&pair, sizes[i], 10);
        send_parts(&pair, sizes[i], 100000);
    }
    sdp_hooks_close(&pair);
}

static void received_parts(void)
{
    struct sdp_hooks_pair pair;
    struct iovec parts[3] = {{buffer, 3}, {missing, 3}, {buffer + 3, 3}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abcdefghi", 9, 0));
    sdp_hooks_await("in", pair.server, POLLIN, POLLIN);
    SAY(recvmsg(pair.server, &message, MSG_PEEK));
    SAY(readv(pair.server, parts, 3));
    drain(pair.server);
    SAY(send(pair.client, "ab", 2, 0));
    sdp_hooks_await("in", pair.server, POLLIN, POLLIN);
    SAY(readv(pair.server, parts, 3));
    drain(pair.server);
    sdp_hooks_close(&pair);
}

/* ---- sendfile ------------------------------------------------------------------------------- */

static void send_from(const char *what, int to, int from)
{
    off_t offset = 0;

    sdp_hooks_note("%s", what);
    SAY(sendfile(to, from, NULL, 10));
    SAY(sendfile(to, from, &offset, 10));
    SAY(sendfile(to, from, NULL, 0));
    sdp_hooks_note("%ld", (long)offset);
}

static int written_file(int flags)
{
    char path[] = "/tmp/sdp_hooks.XXXXXX";
    int made = mkstemp(path);
    int fd = open(path, flags | O_CLOEXEC);

    (void)!write(made, "abcdefgh", 8);
    (void)unlink(path);
    (void)close(made);
    return fd;
}

static void no_files(void)
{
    struct sdp_hooks_pair pair;
    int ends[2] = {-1, -1};
    int sockets[2] = {-1, -1};
    off_t negative = -5;
    int file = written_file(O_RDONLY);

    sdp_hooks_open(&pair);
    SAY(pipe(ends));
    SAY(write(ends[1], "abc", 3));
    SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
    send_from("folder", pair.server, open("/tmp", O_RDONLY | O_CLOEXEC));
    send_from("path", pair.server, open("/tmp", O_PATH | O_CLOEXEC));
    send_from("pipe", pair.server, ends[0]);
    send_from("wrong end", pair.server, ends[1]);
    send_from("socket", pair.server, sockets[0]);
    send_from("itself", pair.server, pair.server);
    send_from("its peer", pair.server, pair.client);
    send_from("written only", pair.server, written_file(O_WRONLY));
    send_from("closed", pair.server, 99);
    send_from("set", pair.server, epoll_create1(EPOLL_CLOEXEC));
    send_from("file", pair.server, file);
    SAY(sendfile(pair.server, file, &negative, 3));
    SAY(sendfile(pair.server, file, NULL, (size_t)-1));
    SAY(recv(pair.client, buffer, 16, MSG_WAITALL));
    drain(pair.client);
    SAY(sendfile(file, pair.client, NULL, 3));
    sdp_hooks_close(&pair);
}

/* ---- Counts --------------------------------------------------------------------------------- */

#define MANY 1030

static void many_messages(void)
{
    static struct mmsghdr messages[MANY];
    struct iovec part = {buffer, 1};
    struct sdp_hooks_pair pair;

    for (int i = 0; i < MANY; i++)
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &part, .msg_iovlen = 1};
    sdp_hooks_open(&pair);
    SAY(sendmmsg(pair.client, messages, MANY, 0));
    SAY(recv(pair.server, buffer, 1024, MSG_WAITALL));
    drain(pair.server);
    SAY(send(pair.client, buffer, MANY, 0));
    SAY(recv(pair.server, buffer, MANY, MSG_WAITALL | MSG_PEEK));
    SAY(recvmmsg(pair.server, messages, MANY, 0, NULL));
    drain(pair.server);
    SAY(sendmmsg(pair.client, messages, 0, 0));
    SAY(recvmmsg(pair.server, messages, 0, 0, NULL));
    SAY(sendmmsg(pair.client, missing, 0, 0));
    SAY(recvmmsg(pair.server, missing, 0, 0, NULL));
    sdp_hooks_close(&pair);
}

static void many_events(void)
{
    struct epoll_event events[2] = {{.events = EPOLLIN}, {.events = EPOLLIN}};
    struct timespec now = {0, 0};
    struct timespec never = {0, -1};
    volatile int most = INT_MAX / (int)sizeof(events[0]); /* the compiler refuses more */
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, pair.server, &events[0]));
    SAY(epoll_wait(set, events, most + 1, -1));
    SAY(send(pair.client, "abc", 3, 0));
    sdp_hooks_await("in", pair.server, POLLIN, POLLIN);
    SAY(epoll_wait(set, events, most + 1, 0));
    SAY(epoll_wait(set, events, 2 * most, 0));
    SAY(epoll_pwait(set, events, most + 1, 0, NULL));
    SAY(epoll_pwait2(set, events, most + 1, &now, NULL));
    SAY(epoll_wait(set, events, 0, 0));
    SAY(epoll_wait(set, events, -most, 0));
    SAY(epoll_wait(set, events, 2, 5000));
    SAY(epoll_pwait2(set, events, 2, &never, NULL));
    SAY(epoll_pwait2(set, events, 2, missing, NULL));
    SAY(epoll_pwait(set, events, 2, 0, missing));
    SAY(close(set));
    sdp_hooks_close(&pair);
}

/* ---- Time limits ---------------------------------------------------------------------------- */

static void bad_limits(void)
{
    struct iovec part = {buffer, 1};
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}},
                                  {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}}};
    struct timespec limits[] = {{0, -1}, {0, 1000000000}, {-1, 0}, {0, 0}, {5, 0}};
    struct timeval times[] = {{0, -1}, {-1, 0}, {0, 0}, {0, 2000000}};
    struct timespec left = {100, 0};
    struct sdp_hooks_pair pair;
    struct pollfd polls;
    fd_set set;

    sdp_hooks_open(&pair);
    polls = (struct pollfd){.fd = pair.server, .events = POLLIN};
    FD_ZERO(&set);
    SAY(send(pair.client, "abcdefghijkl", 12, 0));
    sdp_hooks_await("in", pair.server, POLLIN, POLLIN);
    SAY(recvmmsg(pair.server, messages, 2, 0, missing));
    for (unsigned i = 0; i < 5; i++) {
        sdp_hooks_note("limit %ld %ld", (long)limits[i].tv_sec, limits[i].tv_nsec);
        SAY(recvmmsg(pair.server, messages, 2, 0, &limits[i]));
        SAY(ppoll(&polls, 1, &limits[i], NULL));
        FD_SET(pair.server, &set);
        SAY(pselect(pair.server + 1, &set, NULL, NULL, &limits[i], NULL));
    }
    SAY(recvmmsg(pair.server, messages, 2, 0, &left));
    sdp_hooks_note("less than before: %d", left.tv_sec == 99);
    drain(pair.server);
    SAY(send(pair.client, "abcdefghijkl", 12, 0));
    sdp_hooks_await("in", pair.server, POLLIN, POLLIN);
    for (unsigned i = 0; i < 4; i++) {
        FD_SET(pair.server, &set);
        SAY(select(pair.server + 1, &set, NULL, NULL, &times[i]));
    }
    SAY(ppoll(&polls, 1, NULL, missing)); /* libc itself reads a limit */
    SAY(pselect(pair.server + 1, &set, NULL, NULL, NULL, missing));
    sdp_hooks_close(&pair);
}

/* ---- Numbers of descriptors ----------------------------------------------------------------- */

static void say_select(int count, int fd, int other)
{
    struct timeval now = {0, 0};
    fd_set in;

    FD_ZERO(&in);
    FD_SET(fd, &in);
    FD_SET(other, &in);
    sdp_hooks_note("count %d, number %d", count == fd + 1 ? 0 : count, other);
    SAY(select(count, &in, NULL, NULL, &now));
    sdp_hooks_note("%d %d", FD_ISSET(fd, &in) != 0, FD_ISSET(other, &in) != 0);
}

static void closed_numbers(void)
{
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abc", 3, 0));
    sdp_hooks_await("in", pair.server, POLLIN, POLLIN);
    say_select(FD_SETSIZE, pair.server, 50);
    say_select(FD_SETSIZE, pair.server, 300);
    say_select(FD_SETSIZE, pair.server, 1000);
    say_select(301, pair.server, 300);
    say_select(pair.server + 1, pair.server, 300);
    say_select(pair.server + 1, pair.server, 60);
    SAY(fcntl(pair.server, F_DUPFD, 600) > 0);
    say_select(FD_SETSIZE, pair.server, 1000);
    say_select(FD_SETSIZE, pair.server, 700);
    say_select(FD_SETSIZE, pair.server, 200);
    sdp_hooks_close(&pair);
}

/* A count far beyond the set, as getdtablesize tells it: the kernel's table is shorter. */
static void short_set(void)
{
    struct {
        fd_set in;
        unsigned char behind[1024];
    } of_program;
    struct timeval now = {0, 0};
    struct rlimit limit;
    struct sdp_hooks_pair pair;
    unsigned changed = 0;

    SAY(getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
    SAY(setrlimit(RLIMIT_NOFILE, &limit));
    sdp_hooks_open(&pair);
    memset(&of_program, 0xff, sizeof(of_program));
    FD_ZERO(&of_program.in);
    FD_SET(pair.client, &of_program.in);
    SAY(select(8192, &of_program.in, NULL, NULL, &now));
    SAY(send(pair.server, "abc", 3, 0));
    sdp_hooks_await("in", pair.client, POLLIN, POLLIN);
    FD_SET(pair.client, &of_program.in);
    SAY(select(8192, &of_program.in, NULL, NULL, &now));
    for (unsigned i = 0; i < sizeof(of_program.behind); i++)
        changed += of_program.behind[i] != 0xff;
    sdp_hooks_note("changed: %u", changed);
    sdp_hooks_close(&pair);
}

/* More numbers than an ordinary set has. */
static void long_set(void)
{
    static fd_mask words[4096 / NFDBITS];
    fd_set *set = (fd_set *)(void *)words;
    struct rlimit limit;
    struct sdp_hooks_pair pair;
    struct timeval now = {5, 0};
    int high;

    SAY(getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = limit.rlim_max < 4096 ? limit.rlim_max : 4096;
    SAY(setrlimit(RLIMIT_NOFILE, &limit));
    sdp_hooks_open(&pair);
    high = fcntl(pair.server, F_DUPFD_CLOEXEC, 3000);
    SAY(high);
    SAY(send(pair.client, "abc", 3, 0));
    words[high / NFDBITS] = 1l << high % NFDBITS;
    SAY(select(high + 1, set, NULL, NULL, &now));
    sdp_hooks_note("%d", words[high / NFDBITS] == 1l << high % NFDBITS);
    SAY(recv(high, buffer, 3, 0));
    now = (struct timeval){0, 0};
    SAY(select(high + 1, set, NULL, NULL, &now));
    sdp_hooks_note("%d", words[high / NFDBITS] == 0);
    SAY(close(high));
    sdp_hooks_close(&pair);
}

/* ---- Without a connection ------------------------------------------------------------------- */

static void before_connections(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);
    struct epoll_event event = {.events = EPOLLIN};
    struct timeval now = {0, 0};
    int set = epoll_create1(EPOLL_CLOEXEC);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    SAY(bind(listener, missing, length));
    SAY(bind(listener, (struct sockaddr *)&address, length));
    SAY(listen(listener, 5));
    SAY(getsockname(listener, (struct sockaddr *)&address, missing));
    SAY(getsockname(listener, missing, &length));
    SAY(getsockname(listener, (struct sockaddr *)&address, &length));
    SAY(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, missing, sizeof(int)));
    SAY(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, missing, &length));
    SAY(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, buffer, missing));
    SAY(ioctl(fd, FIONBIO, missing));
    SAY(connect(fd, missing, sizeof(address)));
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, fd, missing));
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, listener, &event));
    SAY(epoll_wait(set, missing, 1, 0));
    SAY(poll(missing, 1, 0));
    SAY(select(fd + 1, missing, NULL, NULL, &now));
    SAY(send(fd, missing, 1, MSG_NOSIGNAL));
    SAY(sendto(fd, "a", 1, MSG_NOSIGNAL, missing, sizeof(address)));
    SAY(writev(fd, missing, 1));
    SAY(sendmsg(fd, missing, 0));
    SAY(sendmmsg(fd, missing, 1, 0));
    SAY(recv(fd, missing, 1, 0));
    SAY(readv(fd, missing, 1));
    SAY(recvmsg(fd, missing, 0));
    SAY(recvmmsg(fd, missing, 1, 0, NULL));
    SAY(recvmmsg(fd, missing, 1, 0, missing));
    SAY(recvfrom(fd, buffer, 1, 0, (struct sockaddr *)buffer, missing));
    SAY(fcntl(listener, F_SETFL, O_NONBLOCK));
    SAY(accept(listener, missing, &length));
    SAY(connect(fd, (struct sockaddr *)&address, sizeof(address)));
    SAY(accept(listener, missing, &length));
    SAY(close(set));
}

/* Nothing has been moved, so both ends may still become SDP. */
static void before_octets(void)
{
    struct timeval now = {0, 0};
    int set = epoll_create1(EPOLL_CLOEXEC);
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    SAY(epoll_ctl(set, EPOLL_CTL_ADD, pair.server, missing));
    SAY(poll(missing, 1, 0));
    SAY(select(pair.server + 1, missing, NULL, NULL, &now));
    SAY(epoll_wait(set, missing, 1, 0));
    SAY(getsockname(pair.server, missing, missing));
    SAY(getsockopt(pair.server, SOL_SOCKET, SO_KEEPALIVE, missing, missing));
    SAY(writev(pair.client, missing, 1));
    SAY(readv(pair.client, missing, 1));
    SAY(sendmsg(pair.client, missing, 0));
    SAY(recvmsg(pair.client, missing, 0));
    SAY(sendmmsg(pair.client, missing, 1, 0));
    SAY(recvmmsg(pair.client, missing, 1, 0, NULL));
    SAY(sendfile(pair.client, 0, missing, 1));
    SAY(close(set));
    sdp_hooks_close(&pair);
}

/* Of other descriptors, and of the process. */
static void not_of_sockets(void)
{
    int pair[2] = {-1, -1};

    SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    SAY(sendmsg(pair[0], missing, 0));
    SAY(sendmmsg(pair[0], missing, 1, 0));
    SAY(recvmsg(pair[0], missing, 0));
    SAY(getrlimit(RLIMIT_NOFILE, missing));
    SAY(setrlimit(RLIMIT_NOFILE, missing));
    SAY(prlimit(0, RLIMIT_NOFILE, missing, NULL));
    SAY(prlimit(0, RLIMIT_NOFILE, NULL, missing));
}

/* ---- After the end -------------------------------------------------------------------------- */

static void say_option(int fd, const char *what, int level, int name)
{
    char value[512];
    socklen_t length = sizeof(value);

    errno = 0;
    (void)sdp_hooks_say(what, getsockopt(fd, level, name, value, &length));
    sdp_hooks_note("%u", length > 16);
}

static void say_options(int fd)
{
    int on = 1;

    say_option(fd, "TCP_INFO", IPPROTO_TCP, TCP_INFO);
    say_option(fd, "TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY);
    say_option(fd, "TCP_MAXSEG", IPPROTO_TCP, TCP_MAXSEG);
    say_option(fd, "TCP_CONGESTION", IPPROTO_TCP, TCP_CONGESTION);
    say_option(fd, "TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT);
    say_option(fd, "SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE);
    say_option(fd, "SO_SNDBUF", SOL_SOCKET, SO_SNDBUF);
    say_option(fd, "SO_ERROR", SOL_SOCKET, SO_ERROR);
    say_option(fd, "SO_PEERCRED", SOL_SOCKET, SO_PEERCRED);

    say_option(fd, "SO_COOKIE", SOL_SOCKET, SO_COOKIE);
    say_option(fd, "SO_INCOMING_CPU", SOL_SOCKET, SO_INCOMING_CPU);
    say_option(fd, "SO_MEMINFO", SOL_SOCKET, SO_MEMINFO);
    say_option(fd, "SO_BINDTODEVICE", SOL_SOCKET, SO_BINDTODEVICE);
    say_option(fd, "IP_TOS", IPPROTO_IP, IP_TOS);
    say_option(fd, "unknown", IPPROTO_TCP, 250);
    SAY(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)));
    SAY(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)));
    SAY(setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on)));
    SAY(setsockopt(fd, IPPROTO_TCP, 250, &on, sizeof(on)));
    SAY(setsockopt(fd, IPPROTO_IP, IP_TOS, &on, sizeof(on)));
    SAY(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &on, sizeof(on)));
}

static void options_of_ended(void)
{
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    say_options(pair.server);
    SAY(shutdown(pair.client, SHUT_WR));
    SAY(recv(pair.server, buffer, 1, 0));
    say_options(pair.server);
    SAY(shutdown(pair.server, SHUT_WR));
    sdp_hooks_await_over(&pair);
    say_options(pair.server);
    say_options(pair.client);
    sdp_hooks_close(&pair);
}

static void options_of_reset(void)
{
    struct linger none = {1, 0};
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    SAY(setsockopt(pair.client, SOL_SOCKET, SO_LINGER, &none, sizeof(none)));
    SAY(close(pair.client));
    sdp_hooks_await("reset", pair.server, POLLIN, POLLERR);
    say_options(pair.server);
    pair.client = -1;
    sdp_hooks_close(&pair);
}

const struct sdp_hooks_named sdp_hooks_early[] = {{"before_connections", before_connections},
                                                  {"before_octets", before_octets},
                                                  {"not_of_sockets", not_of_sockets},
                                                  {NULL, NULL}};

const struct sdp_hooks_named sdp_hooks_edges[] = {{"sent_parts", sent_parts},
                                                  {"received_parts", received_parts},
                                                  {"no_files", no_files},
                                                  {"many_messages", many_messages},
                                                  {"many_events", many_events},
                                                  {"bad_limits", bad_limits},
                                                  {"closed_numbers", closed_numbers},
                                                  {"short_set", short_set},
                                                  {"long_set", long_set},
                                                  {"options_of_ended", options_of_ended},
                                                  {"options_of_reset", options_of_reset},
                                                  {NULL, NULL}};
