/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * socket_perf: an ordinary program of TCP sockets, to be run by itself and under it_sdp. Its two
 * processes exchange requests and answers, move a stream, or keep idle connections, and it prints
 * what that costs.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define IDLE_MAX 10000u

struct plan {
    char work; /* the first letter of its name */
    bool epoll;
    unsigned count;         /* exchanges, writes or connections */
    size_t size;            /* octets of a request and of its answer, or of a write */
    struct in_addr address; /* where to listen */
    int port[2];            /* a pipe, from the end that listens */
};

static void die(const char *what)
{
    perror(what);
    _exit(1);
}

static double now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* ---- Sockets -------------------------------------------------------------------------------- */

static void prepare(int fd)
{
    int on = 1;

    if (fd < 0)
        die("a socket");
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", 4);
}

static int listen_at(struct in_addr at, struct sockaddr_in *address)
{
    socklen_t length = sizeof(*address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = at};
    if (bind(fd, (struct sockaddr *)address, length) != 0 || listen(fd, 128) != 0 ||
        getsockname(fd, (struct sockaddr *)address, &length) != 0)
        die("listen");
    return fd;
}

static int connect_to(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    prepare(fd);
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0)
        die("connect");
    return fd;
}

static void put(int fd, const char *octets, size_t count)
{
    while (count > 0) {
        ssize_t done = send(fd, octets, count, MSG_NOSIGNAL);

        if (done <= 0)
            die("send");
        octets += done;
        count -= (size_t)done;
    }
}

/* Receives a message; set: an epoll set to wait for before each call, or -1. */
static void get(int fd, int set, char *octets, size_t count)
{
    struct epoll_event event;

    while (count > 0) {
        ssize_t got;

        if (set >= 0 && epoll_wait(set, &event, 1, -1) != 1)
            die("epoll_wait");
        got = recv(fd, octets, count, 0);
        if (got <= 0)
            die("recv");
        octets += got;
        count -= (size_t)got;
    }
}

static int make_set(int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0);

    if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) != 0)
        die("epoll");
    return set;
}

/* ---- Requests and answers ------------------------------------------------------------------- */

static void exchange(const struct plan *plan, int fd, bool first, unsigned count)
{
    int set = plan->epoll ? make_set(fd) : -1;
    char *octets = calloc(1, plan->size);

    if (!octets)
        die("calloc");
    for (unsigned i = 0; i < count; i++) {
        if (!first)
            get(fd, set, octets, plan->size);
        put(fd, octets, plan->size);
        if (first)
            get(fd, set, octets, plan->size);
    }
    free(octets);
    if (set >= 0)
        (void)close(set);
}

/* A tenth of the exchanges comes before the measured ones. */
static void ping(const struct plan *plan, int fd, bool first)
{
    double begin;

    exchange(plan, fd, first, plan->count / 10 + 1);
    begin = now_us();
    exchange(plan, fd, first, plan->count);
    if (first)
        (void)printf("%.3f us\n", (now_us() - begin) / plan->count);
}

/* ---- A stream ------------------------------------------------------------------------------- */

/* The end that reads answers the last write with an octet. */
static void move(const struct plan *plan, int fd, bool first, unsigned count)
{
    char *octets = calloc(1, plan->size);
    char answer = 0;

    if (!octets)
        die("calloc");
    for (unsigned i = 0; i < count; i++) {
        if (first)
            put(fd, octets, plan->size);
        else
            get(fd, -1, octets, plan->size);
    }
    if (first)
        get(fd, -1, &answer, 1);
    else
        put(fd, &answer, 1);
    free(octets);
}

/* A tenth of the writes comes before the measured ones. */
static void stream(const struct plan *plan, int fd, bool first)
{
    double begin;

    move(plan, fd, first, plan->count / 10 + 1);
    begin = now_us();
    move(plan, fd, first, plan->count);
    if (first)
        (void)printf("%.1f MB/s\n", (double)plan->count * (double)plan->size / (now_us() - begin));
}

/* ---- Idle connections ----------------------------------------------------------------------- */

/* What the process and the kernel use. */
struct use {
    long user_kib;
    long kernel_kib; /* of the whole machine */
    long descriptors;
};

/* Returns the sum of the lines of a file in /proc that begin with one of these words. */
static long sum_of(const char *name, const char *const words[], unsigned count)
{
    char line[256];
    long sum = 0;
    FILE *file = fopen(name, "r");

    if (!file)
        die(name);
    while (fgets(line, sizeof(line), file))
        for (unsigned i = 0; i < count; i++)
            if (strncmp(line, words[i], strlen(words[i])) == 0)
                sum += strtol(line + strlen(words[i]), NULL, 10);
    (void)fclose(file);
    return sum;
}

static struct use use_now(void)
{
    static const char *const user[] = {"Private_Clean:", "Private_Dirty:"};
    static const char *const kernel[] = {"Slab:", "KernelStack:", "PageTables:"};
    struct use use = {.user_kib = sum_of("/proc/self/smaps_rollup", user, 2),
                      .kernel_kib = sum_of("/proc/meminfo", kernel, 3)};
    DIR *folder = opendir("/proc/self/fd");

    if (!folder)
        die("/proc/self/fd");
    while (readdir(folder))
        use.descriptors++;
    (void)closedir(folder);
    return use;
}

/* One octet each way: whatever a connection needs is there. */
static void greet(int fd, bool first)
{
    char octet = 'x';

    if (first)
        put(fd, &octet, 1);
    get(fd, -1, &octet, 1);
    if (!first)
        put(fd, &octet, 1);
}

static void print_use(const struct use *before, const struct use *after, double connections)
{
    (void)printf("%.1f KiB %.1f KiB %.2f descriptors\n",
                 (double)(after->user_kib - before->user_kib) / connections,
                 (double)(after->kernel_kib - before->kernel_kib) / connections / 2,
                 (double)(after->descriptors - before->descriptors) / connections);
}

/* fd: the first connection, which is not counted. Prints what one end of another one costs. */
static void keep_idle(const struct plan *plan, int fd, bool first, int listener,
                      const struct sockaddr_in *address)
{
    struct use before;
    struct use after;

    greet(fd, first);
    before = use_now();
    greet(fd, first); /* the peer has looked, too */
    for (unsigned i = 0; i < plan->count; i++) {
        int next = first ? connect_to(address) : accept(listener, NULL, NULL);

        prepare(next);
        greet(next, first);
    }
    after = use_now();
    greet(fd, first);
    if (first)
        print_use(&before, &after, plan->count);
    greet(fd, first); /* its connections stay until the other end has printed */
}

/* ---- Both processes ------------------------------------------------------------------------- */

static void run_end(const struct plan *plan, bool first)
{
    struct sockaddr_in address;
    int listener = -1;
    int fd;

    (void)close(plan->port[first ? 1 : 0]);
    if (first) {
        if (read(plan->port[0], &address, sizeof(address)) != sizeof(address))
            die("the port");
        fd = connect_to(&address);
    } else {
        listener = listen_at(plan->address, &address);
        if (write(plan->port[1], &address, sizeof(address)) != sizeof(address))
            die("the port");
        fd = accept(listener, NULL, NULL);
        prepare(fd);
    }
    if (plan->work == 'i')
        keep_idle(plan, fd, first, listener, &address);
    else if (plan->work == 's')
        stream(plan, fd, first);
    else
        ping(plan, fd, first);
}

/* Room for the connections; what an upper layer adds has numbers above. */
static void raise_limit(const struct plan *plan)
{
    struct rlimit limit;

    if (plan->work != 'i' || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur >= plan->count + 32)
        return;
    limit.rlim_cur = plan->count + 32;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        die("setrlimit");
}

static int usage(void)
{
    (void)fprintf(stderr, "usage: socket_perf ping [-e] [-s SIZE] [-n EXCHANGES] [-a ADDRESS]\n"
                          "       socket_perf stream [-s SIZE] [-n WRITES] [-a ADDRESS]\n"
                          "       socket_perf idle [-n CONNECTIONS] [-a ADDRESS]\n"
                          "ping: -e waits by epoll. idle: memory of the process and of the kernel, "
                          "and descriptors, of one end. ADDRESS: of this machine; 127.0.0.1\n");
    return 2;
}

static bool read_plan(struct plan *plan, int argc, char **argv)
{
    static const char *const works[] = {"ping", "stream", "idle"};
    static const unsigned counts[] = {20000, 8000, 1000};
    int option;

    for (unsigned i = 0; argc > 1 && i < 3; i++)
        if (strcmp(argv[1], works[i]) == 0) {
            plan->work = works[i][0];
            plan->count = counts[i];
            plan->size = plan->work == 's' ? 131072 : 64;
        }
    if (plan->work == 0)
        return false;
    while ((option = getopt(argc - 1, argv + 1, "es:n:a:")) != -1)
        switch (option) {
        case 'e':
            plan->epoll = true;
            break;
        case 's':
            plan->size = strtoul(optarg, NULL, 0);
            break;
        case 'n':
            plan->count = (unsigned)strtoul(optarg, NULL, 0);
            break;
        case 'a':
            if (inet_pton(AF_INET, optarg, &plan->address) != 1)
                return false;
            break;
        default:
            return false;
        }
    return plan->size > 0 && plan->count > 0 && (plan->work != 'i' || plan->count <= IDLE_MAX);
}

int main(int argc, char **argv)
{
    struct plan plan = {.address.s_addr = htonl(INADDR_LOOPBACK)};
    int failed = 0;
    int status;

    if (!read_plan(&plan, argc, argv))
        return usage();
    raise_limit(&plan);
    if (pipe(plan.port) != 0)
        die("pipe");
    for (unsigned i = 0; i < 2; i++)
        if (fork() == 0) {
            run_end(&plan, i == 0);
            (void)fflush(stdout);
            _exit(0);
        }
    (void)close(plan.port[0]);
    (void)close(plan.port[1]);
    while (wait(&status) > 0)
        failed |= status;
    return failed != 0;
}
