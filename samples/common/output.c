/* SPDX-License-Identifier: BSD-2-Clause */
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void output_begin(void)
{
    int fd;

    /* Read-only, so that a write to a closed stream fails. */
    do {
        fd = open("/dev/null", O_RDONLY);
    } while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
    if (fd >= 0)
        (void)close(fd);
}

bool output_is_good(void)
{
    return fflush(stdout) == 0 && !ferror(stdout);
}

int output_end(int status)
{
    errno = 0;
    if (output_is_good())
        return status;
    (void)fprintf(stderr, "%s: the output is lost%s%s\n", program_invocation_short_name,
                  errno != 0 ? ": " : "", errno != 0 ? strerror(errno) : "");
    return status != 0 ? status : 1;
}
