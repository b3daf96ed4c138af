/* SPDX-License-Identifier: BSD-2-Clause */
#include "interop/link.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"

#define USUAL_MTU 1500
#define FAR       "/run/netns/far"

/* A socket always belongs to the namespace in which it was made, so one for each end suffices. */
static struct end {
    const char *device;
    const char *net_namespace; /* NULL: this process's */
    int socket;
} ends[] = {{"near0", NULL, -1}, {"far0", FAR, -1}};

#define ENDS (sizeof(ends) / sizeof(ends[0]))

static void enter(const char *net_namespace)
{
    int fd = open(net_namespace, O_RDONLY | O_CLOEXEC);

    if (fd == -1)
        CHECK_FAIL("no namespace %s: %s", net_namespace, strerror(errno));
    CHECK_EQ(0, setns(fd, CLONE_NEWNET));
    (void)close(fd);
}

static int socket_in(const char *net_namespace)
{
    int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    int fd;

    CHECK(home != -1);
    enter(net_namespace);
    fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK_EQ(0, setns(home, CLONE_NEWNET));
    (void)close(home);
    return fd;
}

static bool apply(const struct end *end, unsigned long request, struct ifreq *ifreq)
{
    (void)strncpy(ifreq->ifr_name, end->device, sizeof(ifreq->ifr_name) - 1);
    return ioctl(end->socket, request, ifreq) == 0;
}

static bool set_mtu(const struct end *end, int mtu)
{
    struct ifreq ifreq = {.ifr_mtu = mtu};

    return apply(end, SIOCSIFMTU, &ifreq);
}

static bool set_offload(const struct end *end, bool on)
{
    static const uint32_t commands[] = {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO};
    bool done = true;

    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        struct ethtool_value value = {.cmd = commands[i], .data = on};
        struct ifreq ifreq = {.ifr_data = (void *)&value};

        done = apply(end, SIOCETHTOOL, &ifreq) && done;
    }
    return done;
}

/* Runs "tc qdisc VERB dev DEVICE root WHAT" at both ends. Returns true if both have worked. */
static bool traffic_control(const char *verb, const char *what)
{
    bool done = true;

    for (size_t i = 0; i < ENDS; i++) {
        char command[192];

        (void)snprintf(command, sizeof(command), "%s tc qdisc %s dev %s root %s 2>/dev/null",
                       ends[i].net_namespace != NULL ? "ip netns exec far" : "", verb,
                       ends[i].device, what);
        done = system(command) == 0 && done;
    }
    return done;
}

/* Runs at the end of a test, where nothing can be done about a failure. */
static void put_back(void)
{
    (void)traffic_control("del", "");
    for (size_t i = 0; i < ENDS; i++) {
        (void)set_mtu(&ends[i], USUAL_MTU);
        (void)set_offload(&ends[i], true);
    }
}

static void begin(void)
{
    if (ends[0].socket != -1)
        return;
    for (size_t i = 0; i < ENDS; i++) {
        ends[i].socket = ends[i].net_namespace != NULL
                             ? socket_in(ends[i].net_namespace)
                             : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        CHECK(ends[i].socket != -1);
    }
    check_at_end(put_back);
}

void link_set_mtu(int mtu)
{
    begin();
    for (size_t i = 0; i < ENDS; i++) {
        if (!set_mtu(&ends[i], mtu))
            CHECK_FAIL("no MTU of %d on %s: %s", mtu, ends[i].device, strerror(errno));
    }
}

void link_set_offload(bool on)
{
    begin();
    for (size_t i = 0; i < ENDS; i++) {
        if (!set_offload(&ends[i], on))
            CHECK_FAIL("offloads of %s cannot be set: %s", ends[i].device, strerror(errno));
    }
}

bool link_impair(unsigned delay_ms, unsigned loss_percent)
{
    char what[64];

    begin();
    (void)snprintf(what, sizeof(what), "netem delay %ums loss %u%%", delay_ms, loss_percent);
    return traffic_control("replace", what);
}

bool link_slow(unsigned megabits)
{
    char what[64];

    begin();
    (void)snprintf(what, sizeof(what), "netem rate %umbit limit 10000", megabits);
    return traffic_control("replace", what);
}

void link_go_far(void)
{
    enter(FAR);
}
