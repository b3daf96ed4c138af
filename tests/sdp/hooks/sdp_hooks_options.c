/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets and reads each option with good and bad lengths, before the first octet and after it. */
#include "hooks/sdp_hooks_kit.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#define OPTION(level, name, value)                                                                 \
    {                                                                                              \
#name, level, name, value                                                                  \
    }

static const struct {
    const char *name;
    int level;
    int option;
    int value;
} options[] = {
    OPTION(SOL_SOCKET, SO_KEEPALIVE, 1),
    OPTION(SOL_SOCKET, SO_REUSEADDR, 1),
    OPTION(SOL_SOCKET, SO_REUSEPORT, 1),
    OPTION(SOL_SOCKET, SO_DONTROUTE, 1),
    OPTION(SOL_SOCKET, SO_BROADCAST, 1),
    OPTION(SOL_SOCKET, SO_OOBINLINE, 1),
    OPTION(SOL_SOCKET, SO_PRIORITY, 3),
    OPTION(SOL_SOCKET, SO_RCVLOWAT, 2),
    OPTION(SOL_SOCKET, SO_SNDLOWAT, 2),
    OPTION(SOL_SOCKET, SO_SNDBUF, 70000),
    OPTION(SOL_SOCKET, SO_RCVBUF, 70000),
    OPTION(SOL_SOCKET, SO_TYPE, 1),
    OPTION(SOL_SOCKET, SO_DOMAIN, 1),
    OPTION(SOL_SOCKET, SO_PROTOCOL, 1),
    OPTION(SOL_SOCKET, SO_ERROR, 1),
    OPTION(SOL_SOCKET, SO_ACCEPTCONN, 1),
    OPTION(IPPROTO_TCP, TCP_NODELAY, 1),
    OPTION(IPPROTO_TCP, TCP_CORK, 1),
    OPTION(IPPROTO_TCP, TCP_CORK, 0),
    OPTION(IPPROTO_TCP, TCP_KEEPIDLE, 77),
    OPTION(IPPROTO_TCP, TCP_KEEPIDLE, 0),
    OPTION(IPPROTO_TCP, TCP_KEEPINTVL, 7),
    OPTION(IPPROTO_TCP, TCP_KEEPCNT, 4),
    OPTION(IPPROTO_TCP, TCP_KEEPCNT, 400),
    OPTION(IPPROTO_TCP, TCP_SYNCNT, 4),
    OPTION(IPPROTO_TCP, TCP_LINGER2, 9),
    OPTION(IPPROTO_TCP, TCP_DEFER_ACCEPT, 4),
    OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT, 30000),
    OPTION(IPPROTO_TCP, TCP_USER_TIMEOUT, -1),
    OPTION(IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1),
    OPTION(IPPROTO_IP, IP_TOS, 8),
    OPTION(IPPROTO_IP, IP_TTL, 33),
    OPTION(IPPROTO_IP, IP_TTL, 999),
};

static void get(int fd, unsigned i, socklen_t length)
{
    int value = -1;

    errno = 0;
    (void)sdp_hooks_say(options[i].name,
                        getsockopt(fd, options[i].level, options[i].option, &value, &length));
    sdp_hooks_note("  get %#x %u", (unsigned)value, length);
}

static void set(int fd, unsigned i, socklen_t length)
{
    errno = 0;
    (void)sdp_hooks_say(options[i].name, setsockopt(fd, options[i].level, options[i].option,
                                                    &options[i].value, length));
}

static void each(int fd)
{
    for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        set(fd, i, sizeof(int));
        get(fd, i, sizeof(int));
        set(fd, i, 2);
        get(fd, i, 1);
        get(fd, i, 0);
    }
}

static void others(int fd)
{
    struct timeval limits[] = {{2, 500000}, {-3, 0}, {1, 1000000}, {0, 0}};
    struct linger lingers[] = {{1, 5}, {0, 5}};
    struct tcp_info info;
    char text[32] = "reno";
    socklen_t length;

    for (unsigned i = 0; i < 4; i++) {
        SAY(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limits[i], sizeof(limits[i])));
        SAY(setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limits[i], 8));
        length = sizeof(limits[i]);
        SAY(getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limits[i], &length));
        sdp_hooks_note("%ld %ld", (long)limits[i].tv_sec, (long)limits[i].tv_usec / 10000);
    }
    for (unsigned i = 0; i < 2; i++) {
        SAY(setsockopt(fd, SOL_SOCKET, SO_LINGER, &lingers[i], sizeof(lingers[i])));
        length = sizeof(lingers[i]);
        SAY(getsockopt(fd, SOL_SOCKET, SO_LINGER, &lingers[i], &length));
        sdp_hooks_note("%d %d", lingers[i].l_onoff, lingers[i].l_linger);
    }
    lingers[0].l_onoff = 0;
    SAY(setsockopt(fd, SOL_SOCKET, SO_LINGER, &lingers[0], sizeof(lingers[0])));
    SAY(setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, text, 4));
    length = sizeof(text);
    SAY(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, text, &length));
    sdp_hooks_note("%s %u", text, length);
    length = offsetof(struct tcp_info, tcpi_rto);
    SAY(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length));
    sdp_hooks_note("%d %d %u", info.tcpi_state, info.tcpi_ca_state, length);
}

static void no_memory(int fd)
{
    socklen_t length = sizeof(int);
    int value;

    SAY(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, NULL, sizeof(int)));
    SAY(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, NULL, sizeof(int)));
    SAY(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, NULL, &length));
    SAY(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, NULL));
    length = (socklen_t)-1;
    SAY(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &length));
}

/* The options as the kernel has them on the side that has sent first and waits for no answer. */
static void before(void)
{
    struct sdp_hooks_pair pair;

    sdp_hooks_open(&pair);
    each(pair.client);
    others(pair.client);
    sdp_hooks_close(&pair);
}

static void after(void)
{
    struct sdp_hooks_pair pair;
    char octets[4];

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abc", 3, 0));
    SAY(recv(pair.server, octets, 3, MSG_WAITALL));
    each(pair.server);
    others(pair.server);
    no_memory(pair.server);
    SAY(send(pair.client, "abc", 3, 0));
    SAY(recv(pair.server, octets, 3, MSG_WAITALL));
    sdp_hooks_close(&pair);
}

/* Options set before the first octet hold after it. */
static void carried(void)
{
    struct sdp_hooks_pair pair;
    char octets[4];

    sdp_hooks_open(&pair);
    for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        set(pair.client, i, sizeof(int));
    SAY(send(pair.client, "abc", 3, 0));
    SAY(recv(pair.server, octets, 3, MSG_WAITALL));
    for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        get(pair.client, i, sizeof(int));
    sdp_hooks_close(&pair);
}

static void requests(void)
{
    static const unsigned long numbers[] = {FIONREAD,   TIOCOUTQ, SIOCOUTQNSD,       SIOCATMARK,
                                            TIOCGWINSZ, TCGETS,   SIOCGIFCONF + 4000};
    struct sdp_hooks_pair pair;
    char octets[4];
    int value[16];

    sdp_hooks_open(&pair);
    SAY(send(pair.client, "abc", 3, 0));
    SAY(recv(pair.server, octets, 3, MSG_WAITALL));
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        value[0] = -1;
        SAY(ioctl(pair.server, numbers[i], value));
        sdp_hooks_note("%lx: %d", numbers[i], value[0]);
    }
    SAY(sockatmark(pair.server));
    SAY(sockatmark(-1));
    sdp_hooks_close(&pair);
}

const struct sdp_hooks_named sdp_hooks_options[] = {{"options_before", before},
                                                    {"options_after", after},
                                                    {"options_carried", carried},
                                                    {"requests", requests},
                                                    {NULL, NULL}};
