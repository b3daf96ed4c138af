/* SPDX-License-Identifier: BSD-2-Clause */
#include "connection/sdp_connection.h"
#include "socket/sdp_behind.h"
#include "socket/sdp_calls.h"
#include "socket/sdp_decide.h"
#include "socket/sdp_forked.h"
#include "socket/sdp_interest.h"
#include "socket/sdp_own.h"
#include "socket/sdp_region.h"
#include "socket/sdp_socket.h"
#include "socket/sdp_table.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Time for sending the remaining data before the process becomes another program. */
#define DRAIN_US 1000000
/* Then a process of its own sends it, for so long. */
#define SEND_ON_US 120000000

void sdp_process_before_fork(void)
{
    sdp_interests_settle();
    sdp_behind_before_fork();
    sdp_agree_before_fork();
    sdp_before_fork();
    sdp_table_lock();
}

void sdp_process_after_fork(bool child)
{
    if (!child) {
        sdp_table_unlock();
        sdp_after_fork_parent();
        sdp_agree_after_fork_parent();
        sdp_behind_after_fork(false);
        sdp_forked(false);
        return;
    }
    sdp_socket_after_fork();
    sdp_kick_after_fork();
    sdp_behind_after_fork(true);
    sdp_interests_after_fork();
    sdp_after_fork_child();
    sdp_agree_after_fork_child();
    sdp_forked(true);
}

/* ---- Octets that are left ------------------------------------------------------------------ */

/*
 * The process that sends them holds nothing else of the program: no file, no terminal, no folder.
 * No parent has to wait for it.
 */
static void send_on(void)
{
    struct timespec deadline;

    if (sdp_bequeath() && fork() == 0) {
        sdp_inherit();
        (void)sdp_number_close_range(0, INT_MAX, 0);
        (void)setsid();
        (void)!chdir("/");
        (void)sdp_drain(sdp_deadline(&deadline, SEND_ON_US));
    }
    (void)syscall(SYS_exit_group, 0);
}

/* Sends what the program has written, as the kernel does for TCP after the program's end. */
static void send_all(void)
{
    struct timespec deadline;
    pid_t child;

    if (sdp_drain(sdp_deadline(&deadline, DRAIN_US)) || !sdp_bequeath())
        return;
    child = fork();
    if (child == 0)
        send_on();
    if (child > 0)
        (void)waitpid(child, NULL, 0);
}

/* ---- exit ----------------------------------------------------------------------------------- */

void sdp_process_exits(void)
{
    for (int number = sdp_table_next(0, INT_MAX);
         number >= 0 && sdp_socket_count(SDP_CONVERTED) > 0;
         number = sdp_table_next((unsigned)number + 1, INT_MAX))
        if (sdp_table_kind(number) == SDP_NUMBER_SOCKET)
            (void)sdp_number_close(number);
    send_all(); /* also of sockets that have been closed */
}

/* ---- exec ----------------------------------------------------------------------------------- */

/* The former files of the numbers, for the case that exec fails. */
static struct {
    int number;
    int face;
} replaced[64];
static unsigned replaced_count;

/* Opens a socket that reads end of file and cannot be written. */
static int open_dead(void)
{
    struct sdp_face face;
    int fd;

    if (sdp_face_open(&face, &fd) < 0)
        return -1;
    (void)shutdown(fd, SHUT_RDWR);
    sdp_face_close(&face);
    return fd;
}

static void replace(struct sdp_socket *socket, int number, void *context)
{
    int flags = fcntl(number, F_GETFD);
    const int *dead = context;

    if (flags < 0 || flags & FD_CLOEXEC || atomic_load(&socket->state) != SDP_CONVERTED)
        return;
    (void)dprintf(STDERR_FILENO,
                  "libitsdp: descriptor %d is an SDP connection, which cannot go on over exec: the "
                  "new program finds it shut\n",
                  number);
    if (replaced_count < sizeof(replaced) / sizeof(replaced[0])) {
        replaced[replaced_count].number = number;
        replaced[replaced_count++].face = fcntl(number, F_DUPFD_CLOEXEC, 3);
    }
    (void)dup2(*dead, number);
}

/* An undecided socket that the next program inherits becomes TCP, if that is still possible. */
static void leave_to_kernel(int number)
{
    struct sdp_socket *socket = sdp_socket_hold(number);
    int flags = fcntl(number, F_GETFD);

    if (!socket)
        return;
    if (flags >= 0 && !(flags & FD_CLOEXEC) && atomic_load(&socket->state) == SDP_UNDECIDED)
        (void)sdp_decide_tcp(socket);
    sdp_socket_release(socket);
}

void sdp_process_before_spawn(void)
{
    sdp_interests_settle();
    for (int number = -1; sdp_socket_count(SDP_UNDECIDED) > 0;) {
        number = sdp_table_next((unsigned)number + 1, INT_MAX);
        if (number < 0)
            break;
        leave_to_kernel(number);
    }
    sdp_own_limit_restore();
}

void sdp_process_before_exec(void)
{
    int dead;

    sdp_process_before_spawn();
    send_all();
    if (sdp_socket_count(SDP_CONVERTED) > 0) {
        dead = open_dead();
        replaced_count = 0;
        sdp_table_lock();
        sdp_socket_each(replace, &dead);
        sdp_table_unlock();
        if (dead >= 0)
            (void)close(dead);
    }
}

void sdp_process_exec_failed(void)
{
    sdp_own_limit_raise();
    for (; replaced_count > 0; replaced_count--) {
        int face = replaced[replaced_count - 1].face;

        (void)dup2(face, replaced[replaced_count - 1].number);
        (void)close(face);
    }
}
