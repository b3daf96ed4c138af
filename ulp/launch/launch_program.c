/* SPDX-License-Identifier: BSD-2-Clause */
#include "ulp/launch/launch_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define INTERPRETERS_MAX 5

static bool may_run(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

int launch_find(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    int error = ENOENT;

    if (strchr(name, '/')) {
        (void)snprintf(path, PATH_MAX, "%s", name);
        return may_run(path) ? 0 : access(path, F_OK) == 0 ? EACCES : ENOENT;
    }
    if (!folders)
        folders = "/bin:/usr/bin";
    for (;;) {
        int length = (int)strcspn(folders, ":");

        (void)snprintf(path, PATH_MAX, "%.*s%s%s", length, folders, length ? "/" : "./", name);
        if (may_run(path))
            return 0;
        if (access(path, F_OK) == 0)
            error = EACCES;
        if (folders[length] == '\0')
            return error;
        folders += length + 1;
    }
}

static bool is_privileged(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0)
        return false;
    return (status.st_mode & S_ISUID && status.st_uid != geteuid()) ||
           (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getegid()) ||
           (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
}

/* Without a dynamic loader nothing reads LD_PRELOAD or LD_LIBRARY_PATH. */
static enum launch_kind elf_kind(int fd, const ElfW(Ehdr) * head)
{
    static const unsigned char own[] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
                                        sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32};
    ElfW(Phdr) part;

    if (memcmp(head->e_ident, own, sizeof(own)) != 0)
        return LAUNCH_FOREIGN;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        off_t at = (off_t)(head->e_phoff + (uint64_t)i * head->e_phentsize);

        if (pread(fd, &part, sizeof(part), at) == (ssize_t)sizeof(part) && part.p_type == PT_INTERP)
            return LAUNCH_FITS;
    }
    return LAUNCH_STATIC;
}

/* For a script, e.g. "#! /usr/bin/env python3": returns true and the path of its interpreter. */
static bool interpreter(char *line, char path[PATH_MAX])
{
    char *rest = NULL;
    char *name;

    line[strcspn(line, "\n")] = '\0';
    name = strtok_r(line + 2, " \t", &rest);
    if (!name)
        return false;
    if (strlen(name) >= 4 && strcmp(name + strlen(name) - 4, "/env") == 0) {
        name = strtok_r(NULL, " \t", &rest);
        if (!name)
            return false;
    }
    return launch_find(name, path) == 0;
}

enum launch_kind launch_kind_of(const char *path)
{
    char here[PATH_MAX];

    (void)snprintf(here, sizeof(here), "%s", path);
    for (int i = 0; i < INTERPRETERS_MAX; i++) {
        union {
            ElfW(Ehdr) elf;
            char text[256];
        } head = {.text = ""};
        enum launch_kind kind = LAUNCH_FITS;
        int fd = open(here, O_RDONLY | O_CLOEXEC);
        bool script;

        if (is_privileged(here))
            kind = LAUNCH_PRIVILEGED;
        if (fd < 0)
            return kind;
        script = read(fd, &head, sizeof(head) - 1) >= (ssize_t)sizeof(head.elf) / 4 &&
                 memcmp(head.text, "#!", 2) == 0;
        if (!script && kind == LAUNCH_FITS && memcmp(head.text, ELFMAG, SELFMAG) == 0)
            kind = elf_kind(fd, &head.elf);
        (void)close(fd);
        if (!script || kind != LAUNCH_FITS || !interpreter(head.text, here))
            return kind;
    }
    return LAUNCH_FITS;
}
