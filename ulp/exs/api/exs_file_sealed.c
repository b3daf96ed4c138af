/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/exs_file_sealed.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_WRITE)
#define BLOCK 512u /* octets that st_blocks counts */

/*
 * F_SEAL_SHRINK: no access beyond the end. F_SEAL_WRITE: no CRC of octets that change before they
 * are sent, and no new holes. A hole needs memory when it is read, and a signal tells that there is
 * none. Huge pages are left out: a mapping of them ends with a whole one. The size is read behind
 * the seals: before them the file may have been cut.
 */
static bool is_sealed(int fd, uint64_t end)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct statfs system;
    struct stat file;

    return seals >= 0 && (seals & SEALS) == SEALS && fstatfs(fd, &system) == 0 &&
           system.f_type == TMPFS_MAGIC && fstat(fd, &file) == 0 && (uint64_t)file.st_size >= end &&
           (uint64_t)file.st_blocks * BLOCK >= (uint64_t)file.st_size;
}

/* A private mapping: before Linux 6.7 a file with F_SEAL_WRITE has no shared ones. */
void exs_file_sealed_map(struct exs_file_sealed *sealed, int fd, uint64_t offset, uint64_t length)
{
    uint64_t lead = offset % (uint64_t)sysconf(_SC_PAGESIZE);
    void *mapped;

    *sealed = (struct exs_file_sealed){0};
    if (length == 0 || length > SIZE_MAX - lead || !is_sealed(fd, offset + length))
        return;
    mapped =
        mmap(NULL, (size_t)(lead + length), PROT_READ, MAP_PRIVATE, fd, (off_t)(offset - lead));
    if (mapped == MAP_FAILED)
        return;
    *sealed = (struct exs_file_sealed){
        .mapped = mapped, .size = (size_t)(lead + length), .octets = (char *)mapped + lead};
}

void exs_file_sealed_unmap(struct exs_file_sealed *sealed)
{
    if (sealed->mapped)
        (void)munmap(sealed->mapped, sealed->size);
    sealed->mapped = NULL;
}
