/* SPDX-License-Identifier: BSD-2-Clause */
/* Processes, signals, threads, numbers. */
#include "hooks/sdp_hooks_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char buffer[1 << 16];

/* ---- Processes ------------------------------------------------------------------------------ */

static void say_child(const char *what, pid_t child)
{
    int status;

    (void)waitpid(child, &status, 0);
    sdp_hooks_note("%s: %#x", what, (unsigned)status);
}

/* As in a server that forks for each connection. */
static void forked_server(void)
{
    struct sdp_hooks_pair pair;
    pid_t child;

    sdp_hooks_open(&pair);
    child = fork();
    if (child == 0) {
        ssize_t got;

        (void)close(pair.client);
        (void)close(pair.listener);
        while ((got = read(pair.server, buffer, 100)) > 0)
            (void)!write(pair.server, buffer, (size_t)got);
        exit(3);
    }
    SAY(close(pair.server));
    SAY(write(pair.client, "hello", 5));
    SAY(recv(pair.client, buffer, 5, MSG_WAITALL));
    SAY(shutdown(pair.client, SHUT_WR));
    SAY(recv(pair.client, buffer, 5, 0));
    say_child("child", child);
    SAY(close(pair.client));
    SAY(close(pair.listener));
}

/* The new program has the socket as input and output: cat sends back what it reads. */
static void run_cat(int fd)
{
    (void)dup2(fd, STDIN_FILENO);
    (void)dup2(fd, STDOUT_FILENO);
    closefrom(3);
    (void)execlp("cat", "cat", (char *)NULL);
    _exit(127);
}

static void inetd(void)
{
    struct sdp_hooks_pair pair;
    pid_t child;

    sdp_hooks_open(&pair);
    child = fork();
    if (child == 0)
        run_cat(pair.server);
    SAY(close(pair.server));
    SAY(write(pair.client, "hello", 5));
    SAY(recv(pair.client, buffer, 5, MSG_WAITALL));
    SAY(shutdown(pair.client, SHUT_WR));
    SAY(recv(pair.client, buffer, 5, 0));
    say_child("cat", child);
    SAY(close(pair.client));
    SAY(close(pair.listener));
}

static void vforked(void)
{
    struct sdp_hooks_pair pair;
    pid_t child;

    sdp_hooks_open(&pair);
    SAY(write(pair.client, "a", 1));
    SAY(read(pair.server, buffer, 1));
    child = vfork();
    if (child == 0) {
        (void)close(pair.server);
        (void)close(pair.client);
        (void)execlp("true", "true", (char *)NULL);
        _exit(127);
    }
    say_child("true", child);
    SAY(write(pair.client, "b", 1));
    SAY(read(pair.server, buffer, 1));
    sdp_hooks_close(&pair);
}

static void spawned(void)
{
    struct sdp_hooks_pair pair;
    char *arguments[] = {"sh", "-c", "test $(ulimit -n) = $LIMIT", NULL};
    char *environment[2] = {NULL, NULL};
    struct rlimit limit;
    char text[64];
    pid_t child;

    sdp_hooks_open(&pair);
    SAY(write(pair.client, "a", 1));
    SAY(read(pair.server, buffer, 1));
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    (void)snprintf(text, sizeof(text), "LIMIT=%llu", (unsigned long long)limit.rlim_cur);
    environment[0] = text;
    SAY(posix_spawnp(&child, "sh", NULL, NULL, arguments, environment));
    say_child("sh", child);
    SAY(write(pair.client, "b", 1));
    SAY(read(pair.server, buffer, 1));
    sdp_hooks_close(&pair);
}

/* ---- Signals -------------------------------------------------------------------------------- */

static struct sdp_hooks_pair in_handler;
static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
    int error = errno;
    struct pollfd polls = {.fd = in_handler.client, .events = POLLOUT};

    (void)signal;
    handled++;
    (void)poll(&polls, 1, 0);
    if (handled == 2)
        (void)!write(in_handler.client, "x", 1);
    errno = error;
}

static void ring_every(long microseconds)
{
    struct itimerval limit = {{0, microseconds}, {0, microseconds}};

    (void)setitimer(ITIMER_REAL, &limit, NULL);
}

static void interrupted(int flags)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = flags};
    struct timeval limit = {10, 0};

    sdp_hooks_open(&in_handler);
    SAY(write(in_handler.client, "a", 1));
    SAY(read(in_handler.server, buffer, 1));
    (void)sigaction(SIGALRM, &action, NULL);
    handled = 0;
    ring_every(20000);
    SAY(read(in_handler.server, buffer, 1));
    ring_every(0);
    handled = 10;
    ring_every(20000);
    SAY(poll(NULL, 0, 5000));
    SAY(setsockopt(in_handler.server, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
    while (recv(in_handler.server, buffer, 1, MSG_DONTWAIT) > 0)
        ;
    SAY(read(in_handler.server, buffer, 1));
    ring_every(0);
    sdp_hooks_close(&in_handler);
}

static void interrupts(void)
{
    interrupted(0);
}

static void restarts(void)
{
    interrupted(SA_RESTART);
}

/*
 * Signal handlers write while the thread writes: no octet is lost, and no handler waits for a lock.
 */
static volatile sig_atomic_t written;

static void on_storm(int signal)
{
    int error = errno;

    (void)signal;
    if (send(in_handler.client, "h", 1, MSG_DONTWAIT) == 1)
        written++;
    errno = error;
}

static void *count_octets(void *argument)
{
    static char into[4096];
    long *count = argument;
    ssize_t got;

    while ((got = read(in_handler.server, into, sizeof(into))) > 0)
        *count += got;
    return NULL;
}

static void storm(void)
{
    struct sigaction action = {.sa_handler = on_storm, .sa_flags = SA_RESTART};
    sigset_t alarms;
    pthread_t thread;
    long received = 0;
    long sent = 0;

    sdp_hooks_open(&in_handler);
    (void)sigemptyset(&alarms);
    (void)sigaddset(&alarms, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    (void)pthread_create(&thread, NULL, count_octets, &received);
    (void)pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    (void)sigaction(SIGALRM, &action, NULL);
    ring_every(100);
    for (int i = 0; i < 20000 || written < 20; i++) {
        ssize_t done = write(in_handler.client, "12345678", 8);

        sent += done > 0 ? done : 0;
    }
    ring_every(0);
    SAY(close(in_handler.client));
    (void)pthread_join(thread, NULL);
    sdp_hooks_note("%d", received == sent + written);
    SAY(close(in_handler.server));
    SAY(close(in_handler.listener));
}

static void old_actions(void)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART | SA_NODEFER};
    struct sigaction old;

    SAY(sigaction(SIGUSR1, &action, NULL));
    SAY(sigaction(SIGUSR1, NULL, &old));
    sdp_hooks_note("%d %#x", old.sa_handler == on_alarm, (unsigned)old.sa_flags);
    sdp_hooks_note("%d", signal(SIGUSR1, SIG_IGN) == on_alarm);
    sdp_hooks_note("%d", signal(SIGUSR1, on_storm) == SIG_IGN);
    sdp_hooks_note("%d", signal(SIGUSR1, SIG_DFL) == on_storm);
    SAY(sigaction(SIGKILL, &action, NULL));
    SAY(sigaction(1000, &action, NULL));
}

/* ---- Threads -------------------------------------------------------------------------------- */

static atomic_int reading;

static void *read_one(void *argument)
{
    long *result = argument;

    atomic_store(&reading, 1);
    *result = read(in_handler.server, buffer, 1);
    return NULL;
}

/* The thread's call continues on the socket. The number is free at once. */
static void closed_meanwhile(void)
{
    pthread_t thread;
    long result = -2;

    sdp_hooks_open(&in_handler);
    SAY(write(in_handler.client, "a", 1));
    SAY(read(in_handler.server, buffer, 1));
    (void)pthread_create(&thread, NULL, read_one, &result);
    while (!atomic_load(&reading))
        (void)usleep(1000);
    (void)usleep(50000);
    SAY(close(in_handler.server));
    SAY(fcntl(in_handler.server, F_GETFD));
    SAY(write(in_handler.client, "b", 1));
    (void)pthread_join(thread, NULL);
    sdp_hooks_note("%ld", result);
    SAY(recv(in_handler.client, buffer, 1, 0));
    SAY(close(in_handler.client));
    SAY(close(in_handler.listener));
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static void ranges(void)
{
    struct sdp_hooks_pair pair;
    struct rlimit limit;
    int low;

    sdp_hooks_open(&pair);
    SAY(write(pair.client, "a", 1));
    SAY(read(pair.server, buffer, 1));
    low = dup(STDOUT_FILENO);
    sdp_hooks_note("%d", low);
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    sdp_hooks_note("%d %d", sysconf(_SC_OPEN_MAX) == (long)limit.rlim_cur,
                   getdtablesize() == (int)limit.rlim_cur);
    SAY(close_range((unsigned)low, ~0u, 0));
    SAY(write(pair.client, "b", 1));
    SAY(read(pair.server, buffer, 1));
    for (int fd = low; fd < 20000; fd++)
        (void)close(fd);
    SAY(write(pair.client, "c", 1));
    SAY(read(pair.server, buffer, 1));
    SAY(close_range(3, ~0u, 0));
    SAY(write(pair.client, "d", 1));
    SAY(socket(AF_INET, SOCK_STREAM, 0));
}

static void over_number(void)
{
    struct sdp_hooks_pair pair;
    struct sdp_hooks_pair second;

    sdp_hooks_open(&pair);
    sdp_hooks_open(&second);
    SAY(write(pair.client, "a", 1));
    SAY(write(second.client, "b", 1));
    SAY(dup2(second.server, pair.server));
    SAY(read(pair.server, buffer, 1));
    sdp_hooks_note("%c", buffer[0]);
    /* What the last number of a socket leaves unread ends in a reset, which may follow an end. */
    sdp_hooks_await("gone", pair.client, POLLIN | POLLRDHUP, POLLERR);
    SAY(dup3(pair.server, pair.server, 0));
    SAY(dup2(pair.server, pair.server));
    SAY(dup2(900, pair.server));
    sdp_hooks_close(&second);
    sdp_hooks_close(&pair);
}

/* Opens as many sockets as the limit allows, so that nothing else gets a descriptor. */
static void crowd(void)
{
    struct sdp_hooks_pair pairs[60];
    int good = 0;

    for (int i = 0; i < 60; i++) {
        sdp_hooks_open(&pairs[i]);
        good += write(pairs[i].client, "x", 1) == 1 && read(pairs[i].server, buffer, 1) == 1;
    }
    sdp_hooks_note("%d", good);
    for (int i = 0; i < 60; i++)
        sdp_hooks_close(&pairs[i]);
}

static void limited(void)
{
    struct rlimit limit = {200, 200};
    pid_t child = fork();

    if (child == 0) {
        (void)setrlimit(RLIMIT_NOFILE, &limit);
        (void)setenv("SDP_HOOKS_TCP_TOO", "1", 1);
        (void)execl("/proc/self/exe", "sdp_hooks", "--scene", "crowd", (char *)NULL);
        _exit(127);
    }
    say_child("crowd", child);
}

/* By sendmsg, or by sendmmsg behind a message without a descriptor. */
static ssize_t pass_on(int fd, bool several)
{
    union {
        struct cmsghdr align;
        char octets[CMSG_SPACE(sizeof(int))];
    } control = {.align = {.cmsg_len = CMSG_LEN(sizeof(int)),
                           .cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS}};
    struct iovec part = {buffer, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.octets,
                             .msg_controllen = sizeof(control.octets)};
    struct mmsghdr messages[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
    int ends[2];
    ssize_t result;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return 0;
    memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
    messages[0].msg_hdr.msg_controllen = 0;
    result = several ? sendmmsg(ends[0], messages, 2, 0) : sendmsg(ends[0], &message, 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return result;
}

/* SDP refuses what it does not have by a documented error; TCP does it. */
static bool refuses(ssize_t result, ssize_t plain)
{
    return getenv("LD_PRELOAD") ? result == -1 && errno == EOPNOTSUPP : result == plain;
}

static void unsupported(void)
{
    struct sdp_hooks_pair pair;
    int fresh = socket(AF_INET, SOCK_STREAM, 0);
    int on = 1;

    sdp_hooks_open(&pair);
    sdp_hooks_note("SO_ZEROCOPY, new: %d",
                   refuses(setsockopt(fresh, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)), 0));
    sdp_hooks_note("SO_ZEROCOPY: %d",
                   refuses(setsockopt(pair.client, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)), 0));
    sdp_hooks_note("SCM_RIGHTS: %d", refuses(pass_on(pair.client, false), 1));
    sdp_hooks_note("SCM_RIGHTS, the second of two: %d",
                   pass_on(pair.client, true) == (getenv("LD_PRELOAD") ? 1 : 2));
    /* Without the option the flag means nothing. */
    sdp_hooks_say("MSG_ZEROCOPY", send(pair.client, buffer, 100, MSG_ZEROCOPY));
    sdp_hooks_say("its octets", recv(pair.server, buffer, 100, MSG_WAITALL));
    (void)close(fresh);
    sdp_hooks_close(&pair);
}

const struct sdp_hooks_named sdp_hooks_undecided[] = {
    {"forked_server", forked_server}, {"inetd", inetd}, {NULL, NULL}};

const struct sdp_hooks_named sdp_hooks_others[] = {{"vforked", vforked},
                                                   {"spawned", spawned},
                                                   {"interrupts", interrupts},
                                                   {"restarts", restarts},
                                                   {"storm", storm},
                                                   {"old_actions", old_actions},
                                                   {"closed_meanwhile", closed_meanwhile},
                                                   {"ranges", ranges},
                                                   {"over_number", over_number},
                                                   {"crowd", crowd},
                                                   {"limited", limited},
                                                   {"unsupported", unsupported},
                                                   {NULL, NULL}};
