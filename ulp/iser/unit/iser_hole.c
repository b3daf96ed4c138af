/* SPDX-License-Identifier: BSD-2-Clause */
/* Holes of files. */
#include "unit/iser_unit.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int iser_hole_punch(int fd, uint64_t offset, uint64_t length)
{
    if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)length) ==
        0)
        return 0;
    return errno;
}

int iser_hole_extent(int fd, uint64_t offset, uint64_t *length, bool *mapped)
{
    off_t data = lseek(fd, (off_t)offset, SEEK_DATA), end = data;

    if (data < 0)
        return errno == ENXIO ? (*mapped = false, 0) : errno;
    *mapped = data == (off_t)offset;
    if (*mapped)
        end = lseek(fd, (off_t)offset, SEEK_HOLE);
    if (end < 0)
        return errno;
    if (*length > (uint64_t)end - offset)
        *length = (uint64_t)end - offset;
    return 0;
}
