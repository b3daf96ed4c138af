/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/ofa_program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool may_run(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static bool find(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");

    if (strchr(name, '/')) {
        (void)snprintf(path, PATH_MAX, "%s", name);
        return may_run(path);
    }
    if (!folders)
        folders = "/bin:/usr/bin";
    for (;;) {
        int length = (int)strcspn(folders, ":");

        (void)snprintf(path, PATH_MAX, "%.*s%s%s", length, folders, length ? "/" : "./", name);
        if (may_run(path))
            return true;
        if (folders[length] == '\0')
            return false;
        folders += length + 1;
    }
}

/* The system then ignores LD_LIBRARY_PATH. */
static bool is_privileged(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return false;
    return (status.st_mode & S_ISUID && status.st_uid != geteuid()) ||
           (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* Without a dynamic loader nothing reads LD_LIBRARY_PATH. */
static bool is_static(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ElfW(Phdr) part = {.p_type = PT_NULL};
    ElfW(Ehdr) head;
    bool elf;

    if (fd < 0)
        return false;
    elf = read(fd, &head, sizeof(head)) == (ssize_t)sizeof(head) &&
          memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_phentsize == sizeof(part);
    for (unsigned i = 0; elf && i < head.e_phnum && part.p_type != PT_INTERP; i++)
        if (pread(fd, &part, sizeof(part), (off_t)(head.e_phoff + i * sizeof(part))) !=
            (ssize_t)sizeof(part))
            elf = false;
    (void)close(fd);
    return elf && part.p_type != PT_INTERP;
}

const char *ofa_program_is_out_of_reach(const char *name)
{
    char path[PATH_MAX];

    if (!find(name, path))
        return NULL;
    if (is_privileged(path))
        return "gets rights by its file (setuid, setgid or capabilities)";
    return is_static(path) ? "is statically linked" : NULL;
}
