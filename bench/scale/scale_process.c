/* SPDX-License-Identifier: BSD-2-Clause */
#include "scale.h"

#include "common/tcp.h"

#include <dirent.h>
#include <malloc.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double scale_clock(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

bool scale_raise_limit(size_t descriptors)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        complain_errno("getrlimit");
        return false;
    }
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < descriptors) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) {
            complain_errno("setrlimit");
            return false;
        }
    }
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < descriptors) {
        complain("a process may open %llu files, this takes %zu: raise the hard limit (ulimit -Hn) "
                 "or ask for fewer --endpoints",
                 (unsigned long long)limit.rlim_cur, descriptors);
        return false;
    }
    return true;
}

size_t scale_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;

    if (folder == NULL)
        return 0;
    while (readdir(folder) != NULL)
        count++;
    (void)closedir(folder);
    return count;
}

size_t scale_heap(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

bool scale_tell(int channel, uint64_t number)
{
    if (tcp_send(channel, &number, sizeof(number)))
        return true;
    complain_errno("the other process");
    return false;
}

bool scale_hear(int channel, uint64_t *number)
{
    if (tcp_receive(channel, number, sizeof(*number)))
        return true;
    complain_errno("the other process");
    return false;
}

bool scale_meet(int channel)
{
    uint64_t other;

    return scale_tell(channel, 0) && scale_hear(channel, &other);
}

struct in_addr scale_address(size_t i)
{
    struct in_addr address = {htonl(INADDR_LOOPBACK + (uint32_t)(i % SCALE_ADDRESSES))};

    return address;
}
