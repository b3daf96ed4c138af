/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_slice.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool slice_set(struct sched_attr *attr)
{
    return syscall(SYS_sched_setattr, 0, attr, 0) == 0;
}

void base_slice_shorten(uint64_t slice_ns, int nice)
{
    struct sched_attr attr = {.size = 0};
    int error = errno;

    if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) == 0 &&
        attr.sched_policy == SCHED_NORMAL) {
        struct sched_attr nicer;

        attr.sched_flags &= SCHED_FLAG_RESET_ON_FORK;
        /* 0: longer than that is the default, which old kernels do not tell. */
        if (attr.sched_runtime == 0 || attr.sched_runtime > slice_ns)
            attr.sched_runtime = slice_ns;
        nicer = attr;
        nicer.sched_nice = nice;
        nicer.sched_flags |= SCHED_FLAG_RESET_ON_FORK;
        if (attr.sched_nice != 0 || !slice_set(&nicer))
            (void)slice_set(&attr);
    }
    errno = error;
}
