/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The library of it_run --class-dir, which is loaded before all others. It redirects paths below
 * /sys/class/infiniband and /dev/infiniband, which programs open themselves, to a folder.
 */
#undef _FORTIFY_SOURCE

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const prefixes[] = {"/sys/class/infiniband", "/dev/infiniband"};

/*
 * Returns the path below the folder: "/class/infiniband" or "/dev/infiniband"; NULL: not
 * redirected.
 */
static const char *below_root(const char *path)
{
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        size_t length = strlen(prefixes[i]);

        if (strncmp(path, prefixes[i], length) == 0 &&
            (path[length] == '/' || path[length] == '\0'))
            return i == 0 ? path + sizeof("/sys") - 1 : path;
    }
    return NULL;
}

static const char *redirected(const char *path, char buffer[PATH_MAX])
{
    const char *folder = getenv("ITAPI_OFA_CLASS_DIR");
    const char *rest = path && folder ? below_root(path) : NULL;
    int length = rest ? snprintf(buffer, PATH_MAX, "%s%s", folder, rest) : -1;

    return length > 0 && length < PATH_MAX ? buffer : path;
}

/* Replaces a function of libc. PATH is its redirected argument in the call of the real one. */
#define REDIRECT(type, name, parameters, arguments)                                                \
    type name parameters;                                                                          \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*next) parameters;                                                             \
        char buffer[PATH_MAX];                                                                     \
                                                                                                   \
        if (!next)                                                                                 \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                             \
        return next arguments;                                                                     \
    }
#define PATH redirected(path, buffer)

/* The same for functions with an optional mode. */
#define REDIRECT_OPEN(name, parameters, arguments)                                                 \
    int name parameters;                                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        static int(*next) parameters;                                                              \
        char buffer[PATH_MAX];                                                                     \
        mode_t mode = 0;                                                                           \
                                                                                                   \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                       \
            va_list list;                                                                          \
                                                                                                   \
            va_start(list, flags);                                                                 \
            mode = va_arg(list, mode_t);                                                           \
            va_end(list);                                                                          \
        }                                                                                          \
        if (!next)                                                                                 \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                             \
        return next arguments;                                                                     \
    }

REDIRECT_OPEN(open, (const char *path, int flags, ...), (PATH, flags, mode))
REDIRECT_OPEN(open64, (const char *path, int flags, ...), (PATH, flags, mode))
REDIRECT_OPEN(openat, (int fd, const char *path, int flags, ...), (fd, PATH, flags, mode))
REDIRECT_OPEN(openat64, (int fd, const char *path, int flags, ...), (fd, PATH, flags, mode))
REDIRECT(int, __open_2, (const char *path, int flags), (PATH, flags))
REDIRECT(int, __open64_2, (const char *path, int flags), (PATH, flags))
REDIRECT(FILE *, fopen, (const char *path, const char *mode), (PATH, mode))
REDIRECT(FILE *, fopen64, (const char *path, const char *mode), (PATH, mode))
REDIRECT(DIR *, opendir, (const char *path), (PATH))
REDIRECT(int, scandir,
         (const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
          int (*compare)(const struct dirent **, const struct dirent **)),
         (PATH, list, filter, compare))
REDIRECT(int, stat, (const char *path, struct stat *status), (PATH, status))
REDIRECT(int, stat64, (const char *path, struct stat64 *status), (PATH, status))
REDIRECT(int, lstat, (const char *path, struct stat *status), (PATH, status))
REDIRECT(int, lstat64, (const char *path, struct stat64 *status), (PATH, status))
REDIRECT(int, fstatat, (int fd, const char *path, struct stat *status, int flags),
         (fd, PATH, status, flags))
REDIRECT(int, fstatat64, (int fd, const char *path, struct stat64 *status, int flags),
         (fd, PATH, status, flags))
REDIRECT(int, statx, (int fd, const char *path, int flags, unsigned int mask, struct statx *status),
         (fd, PATH, flags, mask, status))
REDIRECT(int, chdir, (const char *path), (PATH))
REDIRECT(int, access, (const char *path, int mode), (PATH, mode))
REDIRECT(int, euidaccess, (const char *path, int mode), (PATH, mode))
REDIRECT(int, faccessat, (int fd, const char *path, int mode, int flags), (fd, PATH, mode, flags))
REDIRECT(ssize_t, readlink, (const char *path, char *target, size_t size), (PATH, target, size))
REDIRECT(ssize_t, readlinkat, (int fd, const char *path, char *target, size_t size),
         (fd, PATH, target, size))
REDIRECT(ssize_t, __readlink_chk, (const char *path, char *target, size_t size, size_t room),
         (PATH, target, size, room))
REDIRECT(ssize_t, getxattr, (const char *path, const char *name, void *value, size_t size),
         (PATH, name, value, size))
REDIRECT(ssize_t, lgetxattr, (const char *path, const char *name, void *value, size_t size),
         (PATH, name, value, size))
REDIRECT(char *, realpath, (const char *path, char *result), (PATH, result))
REDIRECT(char *, __realpath_chk, (const char *path, char *result, size_t room),
         (PATH, result, room))
