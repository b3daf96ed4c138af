/* SPDX-License-Identifier: BSD-2-Clause */
/* recv and send and their variants; flags, options, names, errors. */
#include "hooks/sdp_hooks_kit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static char buffer[1 << 16];

static void variants(void)
{
    struct sdp_hooks_pair pair;
    struct iovec parts[2] = {{buffer, 3}, {buffer + 3, 100}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    struct mmsghdr messages[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
    struct sockaddr_in from;
    socklen_t length = sizeof(from);

    sdp_hooks_open(&pair);
    SAY(write(pair.client, "abcdefghij", 10));
    SAY(read(pair.server, buffer, 4));
    SAY(recv(pair.server, buffer, 100, 0));
    SAY(send(pair.client, "abcdefghij", 10, MSG_MORE));
    SAY(send(pair.client, "k", 1, 0));
    SAY(recv(pair.server, buffer, 11, MSG_WAITALL));
    sdp_hooks_note("%.11s", buffer);
    SAY(writev(pair.server, parts, 2));
    SAY(readv(pair.client, parts, 2));
    SAY(sendmsg(pair.server, &message, 0));
    SAY(recvmsg(pair.client, &message, 0));
    sdp_hooks_note("%u %zu %#x", message.msg_namelen, message.msg_controllen,
                   (unsigned)message.msg_flags);
    SAY(sendmmsg(pair.server, messages, 2, 0));
    SAY(recv(pair.client, buffer, 206, MSG_WAITALL));
    SAY(send(pair.server, buffer, 206, 0));
    SAY(recvmmsg(pair.client, messages, 2, MSG_WAITFORONE, NULL));
    SAY(sendto(pair.server, "xyz", 3, 0, (struct sockaddr *)&from, sizeof(from)));
    SAY(recvfrom(pair.client, buffer, 3, MSG_WAITALL, (struct sockaddr *)&from, &length));
    sdp_hooks_note("%u", length);
    SAY(dprintf(pair.client, "%d and %s", 17, "more"));
    SAY(recv(pair.server, buffer, 11, MSG_WAITALL));
    sdp_hooks_note("%.11s", buffer);
    SAY(syscall(SYS_write, pair.client, "raw", 3));
    SAY(syscall(SYS_read, pair.server, buffer, 100));
    sdp_hooks_close(&pair);
}

/* The calls with an offset take -1 for sockets: those behave as readv and writev, with flags. */
static void without_offset(void)
{
    struct sdp_hooks_pair pair;
    struct iovec parts[2] = {{buffer, 3}, {buffer + 3, 100}};

    sdp_hooks_open(&pair);
    SAY(preadv2(pair.server, parts, 2, -1, RWF_NOWAIT));
    SAY(pwritev2(pair.client, parts, 2, -1, 0));
    SAY(preadv2(pair.server, parts, 2, -1, 0));
    SAY(pwritev2(pair.client, parts, 2, -1, RWF_NOWAIT));
    SAY(preadv64v2(pair.server, parts, 2, -1, RWF_HIPRI));
    SAY(syscall(SYS_pwritev2, pair.client, parts, 1L, -1L, -1L, 0L));
    SAY(syscall(SYS_preadv2, pair.server, parts, 2L, -1L, -1L, 0L));
    SAY(preadv2(pair.server, parts, 2, 0, 0));
    SAY(pwritev2(pair.client, parts, 2, 5, 0));
    SAY(preadv(pair.server, parts, 2, 0));
    SAY(pwritev(pair.client, parts, 2, 0));
    SAY(pwrite(pair.client, buffer, 2, 0));
    SAY(pread(pair.server, buffer, 2, 0));
    SAY(pwritev2(pair.client, parts, 1, -1, 0x40000000));
    SAY(preadv2(pair.server, parts, 1, -1, 0x40000000));
    SAY(preadv2(pair.server, parts, 1, -1, RWF_NOWAIT));
    sdp_hooks_close(&pair);
}

static void flags(void)
{
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    SAY(recv(pair.server, buffer, 1, MSG_DONTWAIT));
    SAY(send(pair.client, "abcdef", 6, 0));
    SAY(recv(pair.server, buffer, 3, MSG_PEEK));
    SAY(recv(pair.server, buffer, 6, MSG_PEEK | MSG_WAITALL));
    SAY(recv(pair.server, buffer, 2, 0));
    sdp_hooks_note("%.2s", buffer);
    SAY(recv(pair.server, buffer, 4, MSG_TRUNC));
    SAY(recv(pair.server, buffer, 4, MSG_ERRQUEUE));
    SAY(fcntl(pair.server, F_SETFL, O_NONBLOCK));
    SAY(fcntl(pair.server, F_GETFL));
    SAY(recv(pair.server, buffer, 4, 0));
    SAY(recv(pair.server, buffer, 0, 0));
    SAY(send(pair.server, buffer, 0, 0));
    sdp_hooks_close(&pair);
}

static void urgent(void)
{
    struct sdp_hooks_pair pair;
    int mark = -1;

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abc", 3, 0));
    SAY(send(pair.client, "!", 1, MSG_OOB));
    sdp_hooks_await("urgent", pair.server, POLLIN | POLLPRI, POLLPRI);
    SAY(recv(pair.server, buffer, 10, 0));
    SAY(ioctl(pair.server, SIOCATMARK, &mark));
    sdp_hooks_note("%d", mark);
    SAY(recv(pair.server, buffer, 10, MSG_OOB));
    sdp_hooks_note("%c", buffer[0]);
    SAY(recv(pair.server, buffer, 10, MSG_OOB));
    SAY(recv(pair.server, buffer, 10, MSG_DONTWAIT));
    sdp_hooks_close(&pair);
}

static void get_int(const char *what, int fd, int level, int name)
{
    int value = -1;
    socklen_t length = sizeof(value);
    int result = getsockopt(fd, level, name, &value, &length);

    sdp_hooks_note("%s: %d %d %u", what, result, value, length);
}

#define GET(level, name) get_int(#name, pair.client, level, name)
#define SET(level, name)                                                                           \
    SAY(setsockopt(pair.client, level, name, &one, sizeof(one)));                                  \
    GET(level, name)

static void options(void)
{
    struct sdp_hooks_pair pair;
    struct timeval limit = {0, 20000};
    struct linger linger = {1, 3};
    struct tcp_info info;
    socklen_t length;
    int one = 1;

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "a", 1, 0));
    GET(SOL_SOCKET, SO_TYPE);
    GET(SOL_SOCKET, SO_DOMAIN);
    GET(SOL_SOCKET, SO_PROTOCOL);
    GET(SOL_SOCKET, SO_ERROR);
    GET(SOL_SOCKET, SO_ACCEPTCONN);
    SET(SOL_SOCKET, SO_KEEPALIVE);
    SET(SOL_SOCKET, SO_REUSEADDR);
    SET(SOL_SOCKET, SO_REUSEPORT);
    SET(SOL_SOCKET, SO_OOBINLINE);
    SET(SOL_SOCKET, SO_RCVLOWAT);
    SET(IPPROTO_TCP, TCP_NODELAY);
    SET(IPPROTO_TCP, TCP_CORK);
    SET(IPPROTO_TCP, TCP_KEEPIDLE);
    SET(IPPROTO_TCP, TCP_KEEPCNT);
    SET(IPPROTO_TCP, TCP_KEEPINTVL);
    SET(IPPROTO_TCP, TCP_USER_TIMEOUT);
    SET(IPPROTO_TCP, TCP_DEFER_ACCEPT);
    SET(IPPROTO_TCP, 9999);
    length = sizeof(info);
    SAY(getsockopt(pair.client, IPPROTO_TCP, TCP_INFO, &info, &length));
    sdp_hooks_note("%d", info.tcpi_state);
    SAY(setsockopt(pair.client, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
    length = sizeof(limit);
    SAY(getsockopt(pair.client, SOL_SOCKET, SO_RCVTIMEO, &limit, &length));
    sdp_hooks_note("%ld %ld", (long)limit.tv_sec, (long)limit.tv_usec / 10000);
    SAY(recv(pair.client, buffer, 1, 0));
    SAY(setsockopt(pair.client, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
    length = sizeof(linger);
    SAY(getsockopt(pair.client, SOL_SOCKET, SO_LINGER, &linger, &length));
    sdp_hooks_note("%d %d", linger.l_onoff, linger.l_linger);
    sdp_hooks_close(&pair);
}

static void names(void)
{
    struct sdp_hooks_pair pair;
    struct sockaddr_in a = {0};
    struct sockaddr_in b = {0};
    socklen_t length = sizeof(a);

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "a", 1, 0));
    SAY(recv(pair.server, buffer, 1, 0));
    SAY(getsockname(pair.client, (struct sockaddr *)&a, &length));
    SAY(getpeername(pair.server, (struct sockaddr *)&b, &length));
    sdp_hooks_note("%d %u", memcmp(&a, &b, sizeof(a)), length);
    length = 4;
    SAY(getpeername(pair.client, (struct sockaddr *)&b, &length));
    sdp_hooks_note("%u", length);
    SAY(connect(pair.client, (struct sockaddr *)&a, sizeof(a)));
    SAY(listen(pair.client, 1));
    SAY(accept(pair.client, NULL, NULL));
    sdp_hooks_close(&pair);
}

static void ioctls(void)
{
    struct sdp_hooks_pair pair;
    int value = -1;
    int on = 1;

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abc", 3, 0));
    sdp_hooks_await("readable", pair.server, POLLIN, POLLIN);
    SAY(ioctl(pair.server, FIONREAD, &value));
    sdp_hooks_note("%d", value);
    SAY(ioctl(pair.server, FIONBIO, &on));
    SAY(fcntl(pair.server, F_GETFL));
    SAY(recv(pair.server, buffer, 10, 0));
    SAY(recv(pair.server, buffer, 10, 0));
    on = 0;
    SAY(ioctl(pair.server, FIONBIO, &on));
    SAY(fcntl(pair.server, F_GETFL));
    sdp_hooks_close(&pair);
}

static void half_close(void)
{
    struct sdp_hooks_pair pair;

    (void)signal(SIGPIPE, SIG_IGN);
    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abc", 3, 0));
    SAY(shutdown(pair.client, SHUT_WR));
    SAY(send(pair.client, "abc", 3, 0));
    SAY(recv(pair.server, buffer, 10, MSG_WAITALL));
    SAY(recv(pair.server, buffer, 10, 0));
    sdp_hooks_await("end of file", pair.server, POLLIN | POLLOUT | POLLRDHUP, POLLRDHUP);
    SAY(send(pair.server, "back", 4, 0));
    SAY(recv(pair.client, buffer, 4, MSG_WAITALL));
    SAY(shutdown(pair.server, SHUT_WR));
    SAY(recv(pair.client, buffer, 4, 0));
    sdp_hooks_await("both", pair.server, POLLIN | POLLOUT | POLLRDHUP, POLLHUP);
    SAY(shutdown(pair.client, SHUT_RDWR));
    sdp_hooks_close(&pair);
}

static void shut_for_reading(void)
{
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abc", 3, 0));
    SAY(recv(pair.server, buffer, 3, MSG_WAITALL));
    SAY(shutdown(pair.server, SHUT_RD));
    SAY(recv(pair.server, buffer, 3, 0));
    SAY(shutdown(pair.server, 7));
    SAY(send(pair.server, "abc", 3, 0));
    SAY(recv(pair.client, buffer, 3, MSG_WAITALL));
    sdp_hooks_close(&pair);
}

static volatile sig_atomic_t pipes;

static void on_pipe(int signal)
{
    (void)signal;
    pipes++;
}

static void resets(void)
{
    struct sdp_hooks_pair pair;
    struct linger now = {1, 0};

    (void)signal(SIGPIPE, on_pipe);
    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abc", 3, 0));
    SAY(recv(pair.server, buffer, 3, MSG_WAITALL));
    SAY(setsockopt(pair.server, SOL_SOCKET, SO_LINGER, &now, sizeof(now)));
    SAY(close(pair.server));
    sdp_hooks_await("reset", pair.client, POLLIN | POLLOUT | POLLRDHUP, POLLERR | POLLHUP);
    get_int("SO_ERROR", pair.client, SOL_SOCKET, SO_ERROR);
    get_int("SO_ERROR", pair.client, SOL_SOCKET, SO_ERROR);
    sdp_hooks_await("read", pair.client, POLLIN | POLLOUT | POLLRDHUP, POLLHUP);
    SAY(recv(pair.client, buffer, 3, 0));
    SAY(send(pair.client, buffer, 3, 0));
    SAY(send(pair.client, buffer, 3, MSG_NOSIGNAL));
    sdp_hooks_note("%d", pipes);
    SAY(close(pair.client));
    SAY(close(pair.listener));
}

/* The peer has closed, and what is sent to it resets: EPIPE, which one call tells as the error. */
static void pipes_that_break(void)
{
    static const int asks[] = {0, 1};

    (void)signal(SIGPIPE, on_pipe);
    for (unsigned i = 0; i < 2; i++) {
        struct sdp_hooks_pair pair;

        sdp_hooks_open(&pair);
        SAY(close(pair.server));
        sdp_hooks_await("end of file", pair.client, POLLIN | POLLOUT | POLLRDHUP, POLLRDHUP);
        SAY(recv(pair.client, buffer, 3, 0));
        SAY(send(pair.client, "abc", 3, 0));
        sdp_hooks_await("reset", pair.client, POLLIN | POLLOUT | POLLRDHUP, POLLERR | POLLHUP);
        if (asks[i])
            get_int("SO_ERROR", pair.client, SOL_SOCKET, SO_ERROR);
        SAY(send(pair.client, "abc", 3, 0));
        get_int("SO_ERROR", pair.client, SOL_SOCKET, SO_ERROR);
        SAY(recv(pair.client, buffer, 3, 0));
        SAY(send(pair.client, "abc", 3, MSG_NOSIGNAL));
        SAY(shutdown(pair.client, SHUT_WR));
        sdp_hooks_await("after", pair.client, POLLIN | POLLOUT | POLLRDHUP, POLLHUP);
        sdp_hooks_note("%d", pipes);
        SAY(close(pair.client));
        SAY(close(pair.listener));
    }
}

static void unread(void)
{
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    SAY(send(pair.server, "abc", 3, 0));
    SAY(send(pair.client, "abc", 3, 0));
    sdp_hooks_await("unread", pair.server, POLLIN, POLLIN);
    SAY(close(pair.server));
    sdp_hooks_await("reset", pair.client, POLLIN | POLLOUT | POLLRDHUP, POLLERR | POLLHUP);
    SAY(recv(pair.client, buffer, 3, 0));
    SAY(recv(pair.client, buffer, 3, 0));
    SAY(close(pair.client));
    SAY(close(pair.listener));
}

static void refused(void)
{
    struct sdp_hooks_pair pair;
    struct sockaddr_in address;
    socklen_t length = sizeof(address);
    int fd;

    sdp_hooks_open(&pair);
    SAY(getsockname(pair.listener, (struct sockaddr *)&address, &length));
    sdp_hooks_close(&pair);
    fd = socket(AF_INET, SOCK_STREAM, 0);
    SAY(connect(fd, (struct sockaddr *)&address, length));
    SAY(connect(fd, (struct sockaddr *)&address, length));
    SAY(recv(fd, buffer, 1, 0));
    SAY(getpeername(fd, (struct sockaddr *)&address, &length));
    SAY(close(fd));
    fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    SAY(recv(fd, buffer, 1, 0));
    SAY(connect(fd, (struct sockaddr *)&address, length));
    sdp_hooks_await("refused", fd, POLLIN | POLLOUT | POLLRDHUP, POLLERR);
    get_int("SO_ERROR", fd, SOL_SOCKET, SO_ERROR);
    SAY(close(fd));
}

static void full(void)
{
    struct sdp_hooks_pair pair;
    struct timeval limit = {0, 20000};
    struct pollfd polls = {.events = POLLOUT};
    ssize_t sent;
    int error;

    sdp_hooks_open(&pair);
    polls.fd = pair.client;
    SAY(fcntl(pair.client, F_SETFL, O_NONBLOCK));
    /* The other end may still have room for what has left. */
    do {
        while ((sent = write(pair.client, buffer, sizeof(buffer))) > 0)
            ;
        error = errno;
    } while (poll(&polls, 1, 50) > 0);
    errno = error;
    sdp_hooks_say("full", sent);
    sdp_hooks_await("full", pair.client, POLLIN | POLLOUT, 0);
    SAY(fcntl(pair.client, F_SETFL, 0));
    SAY(setsockopt(pair.client, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)));
    while ((sent = write(pair.client, buffer, sizeof(buffer))) > 0)
        ;
    sdp_hooks_say("time limit", sent);
    while (poll(&polls, 1, 0) == 0)
        (void)!recv(pair.server, buffer, sizeof(buffer), MSG_DONTWAIT);
    sdp_hooks_close(&pair);
}

static void files(void)
{
    struct sdp_hooks_pair pair;
    char name[] = "/tmp/sdp_hooks_XXXXXX";
    int file = mkstemp(name);
    off_t offset = 2;
    int channel[2];

    (void)unlink(name);
    sdp_hooks_open(&pair);
    SAY(write(file, "0123456789", 10));
    SAY(sendfile(pair.client, file, &offset, 5));
    sdp_hooks_note("%ld", (long)offset);
    SAY(lseek(file, 0, SEEK_SET));
    SAY(sendfile(pair.client, file, NULL, 100));
    SAY(lseek(file, 0, SEEK_CUR));
    SAY(recv(pair.server, buffer, 15, MSG_WAITALL));
    sdp_hooks_note("%.15s", buffer);
    SAY(pipe2(channel, 0));
    SAY(write(channel[1], "through", 7));
    SAY(splice(channel[0], NULL, pair.client, NULL, 100, 0));
    sdp_hooks_await("spliced", pair.server, POLLIN, POLLIN);
    SAY(splice(pair.server, NULL, channel[1], NULL, 100, 0));
    SAY(read(channel[0], buffer, 100));
    sdp_hooks_note("%.7s", buffer);
    SAY(lseek(pair.client, 0, SEEK_CUR));
    SAY(pread(pair.client, buffer, 1, 0));
    sdp_hooks_close(&pair);
}

static void streams(void)
{
    struct sdp_hooks_pair pair;
    FILE *in;
    FILE *out;
    char line[100];

    sdp_hooks_open(&pair);
    in = fdopen(pair.server, "r");
    out = fdopen(pair.client, "w");
    sdp_hooks_note("%d %d", fileno(in) == pair.server, fileno(out) == pair.client);
    SAY(fprintf(out, "line %d\nsecond\nrest", 1));
    SAY(fflush(out));
    sdp_hooks_note("%s", fgets(line, sizeof(line), in));
    sdp_hooks_note("%s", fgets(line, sizeof(line), in));
    SAY(fclose(out));
    sdp_hooks_note("%s", fgets(line, sizeof(line), in));
    sdp_hooks_note("%d %d", fgetc(in), feof(in));
    SAY(fclose(in));
    SAY(fcntl(pair.client, F_GETFD));
    SAY(fcntl(pair.server, F_GETFD));
    SAY(close(pair.listener));
}

/* As in a server that makes the connection its input and output after the first octets. */
static void standard_streams(void)
{
    struct sdp_hooks_pair pair;
    int in = dup(STDIN_FILENO);
    int out = dup(STDOUT_FILENO);
    char line[100];

    sdp_hooks_open(&pair);
    SAY(write(pair.client, "a", 1));
    SAY(read(pair.server, buffer, 1));
    SAY(dup2(pair.server, STDIN_FILENO));
    (void)dup2(pair.server, STDOUT_FILENO);
    (void)printf("to %s\n", "the client");
    (void)fflush(stdout);
    (void)dup2(out, STDOUT_FILENO);
    SAY(recv(pair.client, buffer, 14, MSG_WAITALL));
    sdp_hooks_note("%.13s", buffer);
    SAY(write(pair.client, "a line\n", 7));
    sdp_hooks_note("%s", fgets(line, sizeof(line), stdin));
    SAY(dup2(in, STDIN_FILENO));
    SAY(close(pair.server));
    SAY(recv(pair.client, buffer, 1, 0));
    SAY(close(pair.client));
    SAY(close(pair.listener));
}

const struct sdp_hooks_named sdp_hooks_data[] = {{"variants", variants},
                                                 {"without_offset", without_offset},
                                                 {"flags", flags},
                                                 {"urgent", urgent},
                                                 {"options", options},
                                                 {"names", names},
                                                 {"ioctls", ioctls},
                                                 {"half_close", half_close},
                                                 {"shut_for_reading", shut_for_reading},
                                                 {"resets", resets},
                                                 {"pipes_that_break", pipes_that_break},
                                                 {"unread", unread},
                                                 {"refused", refused},
                                                 {"full", full},
                                                 {"files", files},
                                                 {"streams", streams},
                                                 {"standard_streams", standard_streams},
                                                 {NULL, NULL}};
