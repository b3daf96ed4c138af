/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The test replaces system calls. One push sends everything in one call. Waits on a socket with
 * EXS_FD_BUSYPOLL do not sleep; others poll for a while before they sleep.
 */
#include "exs_kit.h"

#include "counted/counted_calls.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define LENGTH     ((size_t)512 << 10)
#define SPIN_LOOKS 8u /* a wait that does not spin looks once or twice */

static _Thread_local size_t most_sent; /* that one call was to send */
static _Thread_local bool slept;
static _Thread_local unsigned looks; /* for received octets */

#if COUNTED_CALLS
static void look(const struct msghdr *message)
{
    size_t octets = 0;

    for (size_t i = 0; i < message->msg_iovlen; i++)
        octets += message->msg_iov[i].iov_len;
    most_sent = octets > most_sent ? octets : most_sent;
}

long syscall(long number, ...)
{
    static long (*real)(long, long, long, long, long, long, long);
    long a[6];
    va_list list;

    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_sendmsg)
        look((const void *)a[1]);
    looks += number == SYS_recvfrom || number == SYS_recvmsg;
    if ((number == SYS_epoll_pwait && a[3] != 0) || number == SYS_epoll_pwait2)
        slept = true;
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif

static char *memory;
static exs_mhandle_t mhandle;
static exs_qhandle_t queue;

/* Returns whether all octets of a send have left in one call of this thread. */
static bool push_is_one_call(const struct exs_pair *pair)
{
    most_sent = 0;
    CHECK_STARTS(exs_send(pair->client, memory, LENGTH, 0, queue, NULL, mhandle));
    (void)exs_kit_expect(queue, EXS_EVT_SEND, 0);
    CHECK_RESULT(LENGTH, exs_recv(pair->server, memory + LENGTH, LENGTH, EXS_BLOCK | MSG_WAITALL,
                                  NULL, NULL, mhandle));
    exs_kit_compare(memory + LENGTH, LENGTH, 0);
    return most_sent >= LENGTH;
}

static void set_busy_poll(int fd)
{
    CHECK_STARTS(exs_fcntl(fd, EXS_F_SETFD, EXS_FD_BUSYPOLL));
}

/* Returns whether this thread sleeps in a blocking exs_poll of 5 ms. */
static bool poll_sleeps(const struct exs_pair *pair)
{
    exs_pollfd_t set = {.exs_fd = pair->server, .exs_events = EXS_POLLIN};
    const struct timeval limit = {.tv_usec = 5000};

    slept = false;
    CHECK_STARTS(exs_poll(&set, 1, EXS_BLOCK, &limit, EXS_QHANDLE_INVALID, NULL));
    return slept;
}

/* Returns whether a wait in vain has polled for a while before it slept. */
static bool poll_spins(const struct exs_pair *pair)
{
    looks = 0;
    return poll_sleeps(pair) && looks >= SPIN_LOOKS;
}

int main(void)
{
    struct exs_pair pair;

    if (!COUNTED_CALLS) {
        (void)puts("skipped: a sanitizer stands between this build and the C library");
        return 77;
    }
    CHECK(setenv("ITAPI_EXS_CRC", "off", 1) == 0);
    memory = malloc(2 * LENGTH);
    CHECK(memory != NULL);
    exs_kit_fill(memory, LENGTH, 0);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    mhandle = exs_mregister(memory, 2 * LENGTH, 0);
    queue = exs_qcreate(32);
    exs_pair_open(&pair, SOCK_STREAM);
    while (!push_is_one_call(&pair)) { /* another thread was at work on the stream */
    }
    while (!poll_sleeps(&pair)) { /* the library's thread still had the lead */
    }
    while (!poll_spins(&pair)) { /* it omitted that, or another thread had the lead */
    }
    exs_pair_close(&pair);
    exs_pair_open_with(&pair, SOCK_STREAM, set_busy_poll);
    for (int i = 0; i < 4; i++)
        CHECK(!poll_sleeps(&pair));
    exs_pair_close(&pair);
    CHECK_STARTS(exs_mderegister(mhandle, 0));
    CHECK_STARTS(exs_qdelete(queue));
    free(memory);
    return 0;
}
