/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other end is a process that is killed or stopped, at each step of a transfer. This end sees
 * it at once, and by the same error. Other than TCP, nobody knows whether the process has left
 * octets unread, and those that it was sending are lost.
 */
#include "hooks/sdp_hooks_kit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char buffer[1 << 20];

/* What the other end does until it is killed. */
enum step {
    NOTHING,      /* its first call has not been made */
    WAITS,        /* it sleeps in a receive */
    HAS_SENT,     /* three octets */
    HAS_FINISHED, /* sent three octets, and the end of its stream */
    READS_NOTHING /* it sleeps otherwise, and this end has filled its buffers */
};

struct other {
    pid_t process;
    int fd;
    int told[2]; /* it has come to its step */
};

static void tell(const struct other *other)
{
    (void)!write(other->told[1], "x", 1);
}

static void be_the_other(const struct other *other, int fd, enum step step)
{
    char octets[8];

    if (step == NOTHING)
        tell(other);
    else if (recv(fd, octets, 2, MSG_WAITALL) == 2 && send(fd, "ok", 2, 0) == 2)
        switch (step) {
        case HAS_SENT:
        case HAS_FINISHED:
            (void)!send(fd, "abc", 3, 0);
            if (step == HAS_FINISHED)
                (void)shutdown(fd, SHUT_WR);
            break;
        default:
            break;
        }
    tell(other);
    if (step == WAITS) {
        while (recv(fd, octets, 1, 0) > 0)
            continue;
        tell(other);
    }
    for (;;)
        (void)pause();
}

static void start(struct other *other, enum step step)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char octets[2];

    (void)bind(listener, (struct sockaddr *)&address, length);
    (void)listen(listener, 5);
    (void)getsockname(listener, (struct sockaddr *)&address, &length);
    (void)!pipe(other->told);
    other->process = fork();
    if (other->process == 0) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

        (void)close(listener);
        be_the_other(other, fd, step);
    }
    other->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    SAY(connect(other->fd, (struct sockaddr *)&address, sizeof(address)));
    (void)close(listener);
    if (step != NOTHING) {
        SAY(send(other->fd, "hi", 2, 0));
        SAY(recv(other->fd, octets, 2, MSG_WAITALL));
    }
    SAY(read(other->told[0], octets, 1));
}

static void end(struct other *other)
{
    SAY(kill(other->process, SIGKILL));
    SAY(waitpid(other->process, NULL, 0) == other->process);
}

/* Sends until that fails. */
static void send_on(int fd)
{
    ssize_t sent;

    for (int i = 0; i < 5000 && (sent = send(fd, "x", 1, MSG_NOSIGNAL)) == 1; i++)
        (void)poll(NULL, 0, 1);
    sdp_hooks_note("sent: %zd %s", sent, sent < 0 ? strerrorname_np(errno) : "");
}

static void killed(enum step step)
{
    struct other other;

    sdp_hooks_note("step %d", (int)step);
    start(&other, step);
    end(&other);
    while (SAY(recv(other.fd, buffer, 2, 0)) > 0)
        continue;
    sdp_hooks_await("over", other.fd, POLLIN | POLLRDHUP, POLLIN);
    send_on(other.fd);
    send_on(other.fd);
    SAY(recv(other.fd, buffer, 2, 0));
    sdp_hooks_await("over", other.fd, POLLIN | POLLOUT | POLLRDHUP, POLLIN);
    (void)close(other.fd);
}

static void killed_at_rest(void)
{
    killed(WAITS);
}

static void killed_after_sending(void)
{
    killed(HAS_SENT);
}

static void killed_after_finishing(void)
{
    killed(HAS_FINISHED);
}

static void killed_early(void)
{
    killed(NOTHING);
}

/* This end sleeps in a send to one that does not read. */
static void killed_while_sending(void)
{
    struct other other;
    pid_t killer;
    ssize_t sent;
    int flags;

    start(&other, READS_NOTHING);
    flags = fcntl(other.fd, F_GETFL);
    (void)fcntl(other.fd, F_SETFL, flags | O_NONBLOCK);
    while ((sent = send(other.fd, buffer, sizeof(buffer), MSG_NOSIGNAL)) > 0)
        continue;
    sdp_hooks_note("full: %zd %s", sent, strerrorname_np(errno));
    (void)fcntl(other.fd, F_SETFL, flags);
    killer = fork();
    if (killer == 0) {
        (void)poll(NULL, 0, 300);
        (void)kill(other.process, SIGKILL);
        _exit(0);
    }
    while ((sent = send(other.fd, buffer, sizeof(buffer), MSG_NOSIGNAL)) > 0)
        continue;
    sdp_hooks_note("then: %zd %s", sent, sent < 0 ? strerrorname_np(errno) : "");
    (void)waitpid(killer, NULL, 0);
    (void)waitpid(other.process, NULL, 0);
    SAY(recv(other.fd, buffer, 2, 0));
    (void)close(other.fd);
}

/* Nothing is lost, and calls wait as long as they are told. */
static void stopped(void)
{
    const struct timeval limit = {0, 200000};
    struct other other;

    start(&other, WAITS);
    SAY(kill(other.process, SIGSTOP));
    SAY(setsockopt(other.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
    SAY(setsockopt(other.fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)));
    SAY(recv(other.fd, buffer, 1, 0));
    SAY(send(other.fd, "a", 1, 0));
    SAY(shutdown(other.fd, SHUT_WR));
    SAY(recv(other.fd, buffer, 1, 0));
    SAY(kill(other.process, SIGCONT));
    SAY(read(other.told[0], buffer, 1)); /* it has read all */
    end(&other);
    SAY(recv(other.fd, buffer, 1, 0));
    (void)close(other.fd);
}

const struct sdp_hooks_named sdp_hooks_deaths[] = {
    {"killed_early", killed_early},
    {"killed_at_rest", killed_at_rest},
    {"killed_after_sending", killed_after_sending},
    {"killed_after_finishing", killed_after_finishing},
    {"killed_while_sending", killed_while_sending},
    {"stopped", stopped},
    {NULL, NULL}};
