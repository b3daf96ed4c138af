/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A peer that has been stopped answers nothing. Calls that are cancelled or reach their time limit
 * end nevertheless: at last the connection is broken off.
 */
#include "exs_kit.h"

#include "support/time_limit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE  ((size_t)2 << 20)
#define SILENT 4

/* Connects, keeps a large receive posted, and stops once it has been told so. */
static int peer(const char *port, const char *type)
{
    struct sockaddr_in address = exs_kit_address(atoi(port));
    char *memory = malloc(LARGE);
    exs_qhandle_t queue;
    char octet;
    int fd;

    CHECK(memory != NULL);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    queue = exs_qcreate(4);
    fd = exs_socket(PF_INET, atoi(type), 0);
    CHECK_STARTS(exs_blocking_connect(fd, (struct sockaddr *)&address, sizeof(address)));
    CHECK_STARTS(exs_recv(fd, &octet, 1, 0, queue, NULL, EXS_MHANDLE_UNREGISTERED));
    CHECK_STARTS(exs_recv(fd, memory, LARGE, 0, queue, NULL, EXS_MHANDLE_UNREGISTERED));
    (void)exs_kit_expect(queue, EXS_EVT_RECV, 0);
    CHECK_STARTS(raise(SIGSTOP));
    return 0;
}

static pid_t start_peer(int port, int type)
{
    char texts[2][20];
    pid_t child = fork();

    CHECK(child >= 0);
    if (child > 0)
        return child;
    (void)snprintf(texts[0], sizeof(texts[0]), "%d", port);
    (void)snprintf(texts[1], sizeof(texts[1]), "%d", type);
    (void)execl("/proc/self/exe", "peer", texts[0], texts[1], NULL);
    _exit(127);
}

static int accept_and_stop(int type, pid_t *child)
{
    int port;
    int listener = exs_kit_listen(type, &port);
    int status;
    int fd;

    *child = start_peer(port, type);
    fd = exs_blocking_accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    CHECK_STARTS(exs_blocking_close(listener));
    CHECK_RESULT(1, exs_write(fd, "x", 1));
    CHECK_EQ(*child, waitpid(*child, &status, WUNTRACED));
    CHECK(WIFSTOPPED(status));
    return fd;
}

/* All connections wait at the same time. */
int main(int argc, char **argv)
{
    const struct timeval limit = {0, 1000};
    char *memory = calloc(SILENT, LARGE);
    exs_qhandle_t queues[SILENT];
    pid_t children[SILENT];
    int fds[SILENT];

    if (argc == 3)
        return peer(argv[1], argv[2]);
    CHECK(memory != NULL);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    for (int i = 0; i < SILENT; i++) {
        fds[i] = accept_and_stop(i % 2 ? SOCK_SEQPACKET : SOCK_STREAM, &children[i]);
        queues[i] = exs_qcreate(2);
        if (i >= 2)
            CHECK_STARTS(
                exs_setsockopt(fds[i], SOL_SOCKET, SO_ASYNC_RECV_TIMEOUT, &limit, sizeof(limit)));
        CHECK_STARTS(exs_recv(fds[i], memory + (size_t)i * LARGE, LARGE, 0, queues[i], NULL,
                              EXS_MHANDLE_UNREGISTERED));
        if (i < 2)
            CHECK_RESULT(1, exs_cancel(fds[i], EXS_CAF_FILDES, NULL));
    }
    for (int i = 0; i < SILENT; i++) {
        (void)exs_kit_expect(queues[i], i < 2 ? EXS_EVT_RECV : EXS_EVT_RECVTIMEOUT,
                             i < 2 ? ECANCELED : ETIMEDOUT);
        CHECK_ERRNO(ECONNRESET, exs_write(fds[i], "x", 1));
        CHECK_STARTS(exs_blocking_close(fds[i]));
        CHECK_STARTS(exs_qdelete(queues[i]));
        CHECK_STARTS(kill(children[i], SIGKILL));
        CHECK_EQ(children[i], waitpid(children[i], NULL, 0));
    }
    free(memory);
    return 0;
}
