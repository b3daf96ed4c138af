/* SPDX-License-Identifier: BSD-2-Clause */
#include "counted/counted_schedule.h"

#include "counted/counted_calls.h"
#include "support/it_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FDS_MAX 1024
/*
 * The number of checks, with naps between them, after which TCP is considered to hold the octets
 * back.
 */
#define STUCK 4u
/* The time between two reads of the clock. */
#define STEP_NS 20
/* Many times longer than the gap within a burst (uiw_sq.c), in ticks and in nanoseconds. */
#define PAUSE 20000

/* ---------------------------------------------------------------- threads */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned idle; /* number of threads in epoll_wait without a timeout */
static atomic_bool held;

static bool is_held(void)
{
    return atomic_load_explicit(&held, memory_order_acquire);
}

/* libevent waits here. The data path does not: it enters epoll_pwait(2) through syscall(2). */
int epoll_wait(int fd, struct epoll_event *events, int count, int timeout_ms)
{
    int result;
    int error;

    (void)pthread_mutex_lock(&lock);
    idle += timeout_ms < 0;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
    result = epoll_pwait(fd, events, count, timeout_ms, NULL);
    error = errno;
    (void)pthread_mutex_lock(&lock);
    while (is_held())
        (void)pthread_cond_wait(&changed, &lock);
    idle -= timeout_ms < 0;
    (void)pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

/* ---------------------------------------------------------------- the clock */

static uint64_t clock_ns; /* clock of the test's thread */

static uint64_t real_ns(void)
{
    struct timespec now;

    (void)counted_enter(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (clock != CLOCK_MONOTONIC || !is_held())
        return (int)counted_enter(SYS_clock_gettime, clock, (long)now, 0);
    clock_ns += STEP_NS;
    now->tv_sec = (time_t)(clock_ns / 1000000000u);
    now->tv_nsec = (long)(clock_ns % 1000000000u);
    return 0;
}

/*
 * The library reads the processor's counter to see whether posts are close, so this waits in real
 * time.
 */
void counted_pause(void)
{
#if defined(__x86_64__)
    uint64_t start = __builtin_ia32_rdtsc();

    while (__builtin_ia32_rdtsc() - start < PAUSE)
        continue;
#endif
    clock_ns += PAUSE;
}

/* ---------------------------------------------------------------- sockets */

/* The two ends of the connection. */
static struct end {
    int fd;
    int under_way; /* octets sent to it and not read yet */
} ends[2];

static void nap(void)
{
    struct timespec time = {0, 50000};

    (void)counted_enter(SYS_nanosleep, (long)&time, 0, 0);
}

static bool name_of(int fd, struct sockaddr_in *own, struct sockaddr_in *peer)
{
    socklen_t own_size = sizeof(*own);
    socklen_t peer_size = sizeof(*peer);

    return getsockname(fd, (struct sockaddr *)own, &own_size) == 0 &&
           getpeername(fd, (struct sockaddr *)peer, &peer_size) == 0 && own->sin_family == AF_INET;
}

static unsigned connected_sockets(void)
{
    struct sockaddr_in own, peer;
    unsigned count = 0;

    for (int fd = 0; fd < FDS_MAX; fd++)
        if (name_of(fd, &own, &peer))
            ends[count++ % 2].fd = fd;
    return count;
}

/* The previous connection may still be closing. */
static void find_ends(void)
{
    FX_WAIT_WHILE(connected_sockets() != 2, "one connection, and no other");
}

static int octets(int fd, unsigned long which)
{
    int count = 0;

    CHECK_EQ(0, counted_enter(SYS_ioctl, fd, (long)which, (long)&count));
    return count;
}

/* Waits until all earlier octets are in the socket of the other end. */
static void start_ends(void)
{
    for (unsigned i = 0; i < 2; i++) {
        while (octets(ends[!i].fd, SIOCOUTQ) > 0)
            nap();
        ends[i].under_way = octets(ends[i].fd, SIOCINQ);
    }
}

/*
 * Waits until all sent octets are in the socket. If the window is full, the sender's TCP keeps some
 * back until the receiver reads: then this returns.
 */
static void await(const struct end *end, const struct end *sender)
{
    unsigned stuck = 0;
    int before = -1;

    for (;;) {
        int here = octets(end->fd, SIOCINQ);

        if (here >= end->under_way || stuck == STUCK)
            return;
        stuck = here == before && here + octets(sender->fd, SIOCOUTQNSD) >= end->under_way
                    ? stuck + 1
                    : 0;
        before = here;
        nap();
    }
}

void counted_call_begins(long number, int fd)
{
    if (!is_held())
        return;
    for (unsigned i = 0; i < 2; i++)
        if (counted_is_poll(number) || (counted_is_receive(number) && ends[i].fd == fd))
            await(&ends[i], &ends[!i]);
}

void counted_call_ends(long number, int fd, long result)
{
    if (!is_held() || result <= 0)
        return;
    for (unsigned i = 0; i < 2; i++) {
        if (counted_is_receive(number) && ends[i].fd == fd)
            ends[i].under_way -= (int)result;
        else if (counted_is_send(number) && ends[!i].fd == fd)
            ends[i].under_way += (int)result;
    }
}

/* ---------------------------------------------------------------- the schedule */

void counted_hold(unsigned threads)
{
    find_ends();
    clock_ns = real_ns();
    (void)pthread_mutex_lock(&lock);
    while (idle < threads)
        (void)pthread_cond_wait(&changed, &lock);
    atomic_store_explicit(&held, true, memory_order_release);
    (void)pthread_mutex_unlock(&lock);
    start_ends();
}

void counted_release(void)
{
    (void)pthread_mutex_lock(&lock);
    atomic_store_explicit(&held, false, memory_order_release);
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}
