/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * two_hosts DELAY_US COMMAND...: runs a command in a network of its own that has a link to another
 * one. Each packet takes DELAY_US on the link. The command's network has 192.0.2.1 and fe80::1, the
 * other one 192.0.2.2 and fe80::2. $FAR in front of a command runs it in the other one. Kernels
 * without netem and hosts without root suffice: both ends of the link are TUN devices of this
 * process. SIGUSR1 cuts the link: from then on it loses all packets, until SIGUSR2. The status is
 * 77 if no networks can be made.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PACKET_MAX 2048
#define UNDER_WAY  4096u /* packets in transit; further ones are lost */
#define SKIPPED    77

struct packet {
    uint64_t due_ns;
    ssize_t length;
    unsigned char octets[PACKET_MAX];
};

/* One direction. Packets leave in order. */
struct direction {
    int from;
    int to;
    struct packet *packets; /* a ring of UNDER_WAY */
    unsigned first;
    unsigned count;
};

static uint64_t delay_ns;
static volatile sig_atomic_t is_cut;

static void require(int good, const char *what)
{
    if (good)
        return;
    printf("%s: %s\n", what, strerror(errno));
    exit(SKIPPED);
}

/* ---- Networks ------------------------------------------------------------------------------- */

static void run(const char *command)
{
    require(system(command) == 0, command);
}

/* Opens a TUN device in the network of this process. */
static int open_end(int host)
{
    struct ifreq request = {.ifr_name = "link0", .ifr_flags = IFF_TUN | IFF_NO_PI};
    char command[160];
    int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

    require(fd >= 0, "/dev/net/tun");
    require(ioctl(fd, TUNSETIFF, &request) == 0, "a TUN device");
    (void)snprintf(command, sizeof(command),
                   "ip link set lo up && ip address add 192.0.2.%d/24 dev link0 && "
                   "ip link set link0 up && ip address add fe80::%d/64 dev link0 nodad",
                   host, host);
    run(command);
    return fd;
}

static int network(void)
{
    return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
}

static void open_both(struct direction out[2])
{
    char far[64];
    int here;
    int there;

    require(unshare(CLONE_NEWNET) == 0, "a network of its own");
    here = network();
    out[0].from = out[1].to = open_end(1);
    require(unshare(CLONE_NEWNET) == 0, "another network");
    there = network();
    out[0].to = out[1].from = open_end(2);
    require(setns(here, CLONE_NEWNET) == 0, "back");
    (void)snprintf(far, sizeof(far), "nsenter --net=/proc/%d/fd/%d", (int)getpid(), there);
    require(setenv("FAR", far, 1) == 0, "FAR");
}

/* ---- The link ------------------------------------------------------------------------------- */

static void cut(int number)
{
    is_cut = number == SIGUSR1;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void take(struct direction *way)
{
    for (;;) {
        struct packet lost;
        struct packet *packet = way->count < UNDER_WAY && !is_cut
                                    ? &way->packets[(way->first + way->count) % UNDER_WAY]
                                    : &lost;

        packet->length = read(way->from, packet->octets, PACKET_MAX);
        if (packet->length <= 0)
            return;
        packet->due_ns = now_ns() + delay_ns;
        way->count += packet != &lost;
    }
}

/* Forwards packets that are due. Returns the nanoseconds until the next one is due. */
static uint64_t deliver(struct direction *way)
{
    while (way->count > 0) {
        const struct packet *packet = &way->packets[way->first];
        uint64_t now = now_ns();

        if (packet->due_ns > now)
            return packet->due_ns - now;
        (void)!write(way->to, packet->octets, (size_t)packet->length);
        way->first = (way->first + 1) % UNDER_WAY;
        way->count--;
    }
    return UINT64_MAX;
}

static void carry(struct direction ways[2], pid_t command)
{
    const uint64_t look_ns = 20000000; /* checks for the end of the command */
    int status = 0;

    while (waitpid(command, &status, WNOHANG) == 0) {
        struct pollfd fds[] = {{.fd = ways[0].from, .events = POLLIN},
                               {.fd = ways[1].from, .events = POLLIN}};
        uint64_t first = deliver(&ways[0]);
        uint64_t second = deliver(&ways[1]);
        uint64_t wait_ns = first < second ? first : second;
        struct timespec timeout = {0};

        timeout.tv_nsec = (long)(wait_ns < look_ns ? wait_ns : look_ns);
        (void)ppoll(fds, 2, &timeout, NULL);
        take(&ways[0]);
        take(&ways[1]);
    }
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
    static struct packet packets[2][UNDER_WAY];
    struct direction ways[2] = {{.packets = packets[0]}, {.packets = packets[1]}};
    pid_t command;

    if (argc < 3)
        return 2;
    delay_ns = strtoull(argv[1], NULL, 10) * 1000;
    open_both(ways);
    (void)signal(SIGUSR1, cut);
    (void)signal(SIGUSR2, cut);
    command = fork();
    if (command == 0) {
        (void)execvp(argv[2], &argv[2]);
        _exit(1);
    }
    require(command > 0, "fork");
    carry(ways, command);
}
