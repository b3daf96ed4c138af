/* SPDX-License-Identifier: BSD-2-Clause */
#include "vp/verbs/device/verbs_descriptor.h"

#include <fcntl.h>
#include <unistd.h>

void verbs_descriptor_renumber(int *fd)
{
    int other = fcntl(*fd, F_DUPFD_CLOEXEC, 0);

    if (other < 0)
        return;
    (void)close(*fd);
    *fd = other;
}
