/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer that vanishes without a word: the network drops everything. The connection ends within the
 * time that the program has set, whether data is under way (TCP_USER_TIMEOUT) or not
 * (SO_KEEPALIVE). The test has a network of its own, whose only interface it switches off.
 */
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/it_fixture.h"

#define SKIPPED 77

static void loopback_switch(bool on)
{
    struct ifreq request = {.ifr_name = "lo"};
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &request) == 0);
    request.ifr_flags = (short)(on ? request.ifr_flags | IFF_UP : request.ifr_flags & ~IFF_UP);
    CHECK(ioctl(fd, SIOCSIFFLAGS, &request) == 0);
    (void)close(fd);
}

static void set(it_ep_handle_t ep, int level, int option, int value)
{
    CHECK_OK(itx_ep_set_stream_option(ep, level, option, &value, sizeof(value)));
}

/* Returns the number of segments that the peer's kernel has not acknowledged. */
static unsigned under_way(it_ep_handle_t ep)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);

    CHECK_OK(itx_ep_get_stream_option(ep, IPPROTO_TCP, TCP_INFO, &info, &length));
    return info.tcpi_unacked;
}

/* No data is under way, so only the kernel's probes notice. Until then it sends none. */
static void idle(struct fx_pair *pair)
{
    FX_WAIT_WHILE(under_way(pair->a_ep) > 0, "the peer acknowledges all data");
    set(pair->a_ep, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(pair->a_ep, IPPROTO_TCP, TCP_KEEPIDLE, 1);
    set(pair->a_ep, IPPROTO_TCP, TCP_KEEPINTVL, 1);
    set(pair->a_ep, IPPROTO_TCP, TCP_KEEPCNT, 2);
    loopback_switch(false);
}

/* A message is sent and never acknowledged. */
static void sending(struct fx_pair *pair)
{
    set(pair->a_ep, IPPROTO_TCP, TCP_USER_TIMEOUT, 1000);
    loopback_switch(false);
    CHECK_OK(it_post_send(pair->a_ep, NULL, 0, 2, FX_QUIET));
}

static void ends_in_time(void (*vanish)(struct fx_pair *pair))
{
    struct fx_pair pair;

    loopback_switch(true);
    fx_pair_open(&pair);
    CHECK_OK(it_post_recv(pair.a_ep, NULL, 0, 1, FX_SIGNAL));
    vanish(&pair);
    fx_conn(pair.a.conn_evd, pair.a_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    fx_done(pair.a.recv_evd, pair.a_ep, IT_DTO_RC_RECV_CMPL_EVENT, 1, IT_DTO_ERR_FLUSHED);
    CHECK_EQ(IT_EP_STATE_NONOPERATIONAL, fx_ep_state(pair.a_ep));
    /* The other end, which asked for nothing, still counts as connected. It is freed at once. */
    CHECK_EQ(IT_EP_STATE_CONNECTED, fx_ep_state(pair.b_ep));
    fx_pair_close(&pair);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(fd);
}

/* False: the system gives no network of its own to this process. */
static bool has_own_network(void)
{
    char map[32];

    (void)snprintf(map, sizeof(map), "0 %u 1", (unsigned)getuid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
        return false;
    write_file("/proc/self/uid_map", map);
    return true;
}

int main(void)
{
    if (!has_own_network()) {
        (void)puts("the system does not allow a network namespace");
        return SKIPPED;
    }
    ends_in_time(idle);
    ends_in_time(sending);
    check_done();
    return 0;
}
