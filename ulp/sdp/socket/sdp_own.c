/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_own.h"

#include "guard/sdp_guard.h"
#include "socket/sdp_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define ABOVE_MAX  65536 /* numbers above the program's limit */
#define SHARE      32    /* if the limit cannot be raised, one part in SHARE is reserved */
#define PER_SOCKET 2     /* descriptors besides the program's own */
#define AT_FIRST   12    /* descriptors of the IA, which the first connection opens */

static struct rlimit seen; /* the limit that the program sees */
static struct rlimit ours; /* the kernel's limit */
static unsigned own_max;   /* number of descriptors */
static unsigned first;

void sdp_own_start(void)
{
    rlim_t above;

    if (getrlimit(RLIMIT_NOFILE, &seen) < 0)
        return;
    ours = seen;
    above = seen.rlim_max - seen.rlim_cur < ABOVE_MAX ? seen.rlim_max - seen.rlim_cur : ABOVE_MAX;
    if (above >= seen.rlim_cur / SHARE) {
        ours.rlim_cur = seen.rlim_cur + above;
        first = (unsigned)seen.rlim_cur;
        own_max = (unsigned)above;
    } else {
        first = (unsigned)(seen.rlim_cur - seen.rlim_cur / SHARE);
        own_max = (unsigned)(seen.rlim_cur / SHARE);
    }
    sdp_own_limit_raise();
}

void sdp_own_limit_raise(void)
{
    if (ours.rlim_cur != seen.rlim_cur)
        (void)setrlimit(RLIMIT_NOFILE, &ours);
}

void sdp_own_limit_restore(void)
{
    if (ours.rlim_cur != seen.rlim_cur)
        (void)setrlimit(RLIMIT_NOFILE, &seen);
}

int sdp_own_limit(const struct rlimit *set, struct rlimit *got)
{
    struct rlimit was = seen;

    if (set) {
        struct rlimit asked;
        struct rlimit want;

        if (!sdp_guard_copy(&asked, set, sizeof(asked)))
            return -EFAULT;
        if (asked.rlim_cur > asked.rlim_max)
            return -EINVAL;
        want = asked;
        if (want.rlim_cur < ours.rlim_cur)
            want.rlim_cur = ours.rlim_cur < want.rlim_max ? ours.rlim_cur : want.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &want) < 0)
            return -errno;
        ours = want;
        seen = asked;
    }
    return !got || sdp_guard_copy(got, &was, sizeof(was)) ? 0 : -EFAULT;
}

static unsigned count_own(void)
{
    unsigned count = 0;

    for (int fd = sdp_table_next(first, ~0u); fd >= 0; fd = sdp_table_next((unsigned)fd + 1, ~0u))
        count += sdp_table_kind(fd) == SDP_NUMBER_OWN;
    return count;
}

int sdp_own_keep(int fd)
{
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFD);
    int high = -1;

    if (flags < 0)
        return fd;
    if ((unsigned)fd < first)
        high = fcntl(fd, flags & FD_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, (int)first);
    if (high >= 0)
        (void)close(fd);
    else
        high = fd;
    sdp_table_lock();
    (void)sdp_table_set(high, SDP_NUMBER_OWN, NULL);
    sdp_table_unlock();
    return high;
}

bool sdp_own_room(void)
{
    static atomic_bool told;
    unsigned count = count_own();

    if (count + PER_SOCKET + (count < AT_FIRST ? AT_FIRST : 0) <= own_max)
        return true;
    if (!atomic_exchange(&told, true))
        (void)dprintf(STDERR_FILENO,
                      "libitsdp: the limit of open files (%llu) leaves no room for more SDP "
                      "sockets: new ones stay TCP\n",
                      (unsigned long long)seen.rlim_max);
    return false;
}

/* ---- The size of the table ------------------------------------------------------------------ */

#define TABLE_MIN 64 /* the numbers that a new process has room for */

/* Returns the number that a directory of descriptors names, or -1. */
static int number_of(const char *name)
{
    int number = 0;

    for (; *name >= '0' && *name <= '9'; name++)
        number = number * 10 + (*name - '0');
    return *name ? -1 : number;
}

/* Returns the higher one of `highest` and those that the entries name. */
static int highest_of(const char *entries, long octets, int highest)
{
    const struct dirent64 *entry;

    for (long at = 0; at < octets; at += entry->d_reclen) {
        int number;

        entry = (const struct dirent64 *)(const void *)(entries + at);
        number = number_of(entry->d_name);
        if (number > highest && sdp_table_kind(number) != SDP_NUMBER_OWN)
            highest = number;
    }
    return highest;
}

/* Without the heap: a handler of a signal may call select. Keeps what was there once. */
int sdp_own_table_size(void)
{
    static atomic_int once;
    _Alignas(struct dirent64) char entries[4096];
    int highest = sdp_table_highest();
    int folder = sdp_own_keep(open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int size = TABLE_MIN;
    ssize_t got;

    if (folder < 0)
        return INT_MAX;
    while ((got = getdents64(folder, entries, sizeof(entries))) > 0)
        highest = highest_of(entries, got, highest);
    (void)close(folder);
    if (highest < atomic_load(&once))
        highest = atomic_load(&once);
    atomic_store(&once, highest);
    while (size <= highest && size < INT_MAX / 2)
        size *= 2;
    return size;
}
