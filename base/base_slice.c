/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/base_slice.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

void base_slice_shorten(uint64_t slice_ns)
{
    struct sched_attr attr = {.size = 0};
    int error = errno;

    if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) == 0 &&
        attr.sched_policy == SCHED_NORMAL) {
        attr.sched_flags &= SCHED_FLAG_RESET_ON_FORK;
        /* 0 on old kernels, which do not tell it: their default is longer. */
        if (attr.sched_runtime == 0 || attr.sched_runtime > slice_ns)
            attr.sched_runtime = slice_ns;
        (void)syscall(SYS_sched_setattr, 0, &attr, 0); /* old kernels have no settable slices */
    }
    errno = error;
}
