/* SPDX-License-Identifier: BSD-2-Clause */
#include "chaos/chaos_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_ADDRESS 0x0a4f0001u /* 10.79.0.1 */

struct address {
    bool removed;
    uint64_t until_us;
};

unsigned address_removals, mtu_changes;

static struct address addresses[CHAOS_WORKERS]; /* by the index of the server */
static unsigned servers[CHAOS_WORKERS], server_count;
static bool has_network;

/* ---- The network of the run ------------------------------------------------------------------ */

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        (void)close(fd);
    return written;
}

/* Changes lo by one of the old calls. */
static bool set_lo(unsigned long call, struct ifreq request)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done;

    (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "lo");
    done = fd >= 0 && ioctl(fd, call, &request) == 0;
    if (fd >= 0)
        (void)close(fd);
    return done;
}

/* Any user may have a network where the kernel allows user namespaces. */
static bool network_enter(void)
{
    char users[32], groups[32];

    (void)snprintf(users, sizeof(users), "%u %u 1", geteuid(), geteuid());
    (void)snprintf(groups, sizeof(groups), "%u %u 1", getegid(), getegid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
           write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", groups) &&
           write_file("/proc/self/uid_map", users) &&
           set_lo(SIOCSIFFLAGS, (struct ifreq){.ifr_flags = IFF_UP});
}

/* Some systems let any user enter one, and change nothing there: another process tries first. */
static bool network_exists(void)
{
    int status = -1;
    pid_t process = fork();

    if (process == 0)
        _exit(network_enter() ? 0 : 1);
    return process > 0 && waitpid(process, &status, 0) == process && status == 0;
}

/* ---- One address ----------------------------------------------------------------------------- */

struct question {
    struct nlmsghdr header;
    struct ifaddrmsg message;
    struct rtattr attribute;
    struct in_addr address;
};

struct answer {
    struct nlmsghdr header;
    struct nlmsgerr error;
};

/* Adds the address to lo, or removes it. */
static void address_change(unsigned server, uint16_t type)
{
    struct question question = {
        .header = {.nlmsg_len = sizeof(question),
                   .nlmsg_type = type,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK |
                                  (type == RTM_NEWADDR ? NLM_F_CREATE | NLM_F_EXCL : 0)},
        .message = {.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = if_nametoindex("lo")},
        .attribute = {.rta_len = RTA_LENGTH(sizeof(struct in_addr)), .rta_type = IFA_LOCAL},
        .address = chaos->workers[server].address};
    struct answer answer = {.error.error = -EIO};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

    if (fd < 0 || send(fd, &question, sizeof(question), 0) < 0 ||
        recv(fd, &answer, sizeof(answer), 0) < 0 || answer.error.error != 0) {
        fprintf(stderr, "chaos_run: an address of lo: %s\n", strerror(-answer.error.error));
        exit(2);
    }
    (void)close(fd);
}

static void address_remove(unsigned server, uint64_t until_us)
{
    addresses[server] = (struct address){true, until_us};
    address_removals++;
    (void)atomic_fetch_add(&chaos->workers[server].changes, 1);
    address_change(server, RTM_DELADDR);
}

static void address_restore(unsigned server)
{
    addresses[server].removed = false;
    address_change(server, RTM_NEWADDR);
    (void)atomic_fetch_add(&chaos->workers[server].changes, 1);
}

/* ---- All ------------------------------------------------------------------------------------- */

void addresses_open(void)
{
    has_network = !chaos->on_devices && network_exists() && network_enter();
    if (!has_network && !chaos->on_devices)
        printf("no address is removed: there is no network namespace for this user\n");
    for (unsigned i = 0; i < chaos->workers_all; i++) {
        struct chaos_worker *worker = &chaos->workers[i];

        worker->address.s_addr =
            has_network ? htonl(FIRST_ADDRESS + i) : inet_addr(chaos->places[true].address);
        if (!worker->is_server)
            continue;
        servers[server_count++] = i;
        if (has_network)
            address_change(i, RTM_NEWADDR);
    }
}

static void restore(uint64_t now)
{
    for (unsigned i = 0; i < chaos->workers_all; i++) {
        if (addresses[i].removed && now >= addresses[i].until_us)
            address_restore(i);
    }
}

static void change_mtu(uint64_t number)
{
    static const int mtus[] = {1280, 1500, 4096, 9000, 65536};

    mtu_changes += set_lo(SIOCSIFMTU, (struct ifreq){.ifr_mtu = mtus[number % 5]});
}

void addresses_run(uint64_t now)
{
    static uint64_t next_us, turn;

    if (!has_network)
        return;
    restore(now);
    if (now < next_us)
        return;
    if (next_us != 0) {
        uint64_t number = chaos_number(11, turn++, 0);
        unsigned i = servers[(number >> 8) % server_count];

        change_mtu(number);
        if (!addresses[i].removed)
            address_remove(i, now + 50000 + (number >> 24) % 3000000);
    }
    next_us = now + 300000 + chaos_number(12, turn, 0) % 3000000;
}

void addresses_close(void)
{
    restore(UINT64_MAX);
}
