/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket that ITAPI_STATS asks for, and its file. */
#include "ual/stats/ual_stats.h"

#include "base/base_log.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SOCKET_BACKLOG 8

static void socket_warn(const char *path, const char *why)
{
    base_log(BASE_LOG_WARN, "ITAPI_STATS=%s: %s; no counters there", path, why);
}

/*
 * Makes the name absolute, since the program may change its working directory. A directory gets one
 * socket per process.
 */
static bool socket_name(struct sockaddr_un *address, const char *wanted)
{
    char folder[PATH_MAX] = "";
    char path[PATH_MAX];
    struct stat file;
    size_t end = strlen(wanted);
    int length;

    if (wanted[0] != '/' && (!getcwd(folder, sizeof(folder) - 1) || folder[0] != '/')) {
        socket_warn(wanted, "the current folder has no name");
        return false;
    }
    if (wanted[end - 1] == '/' || (stat(wanted, &file) == 0 && S_ISDIR(file.st_mode)))
        length = snprintf(path, sizeof(path), "%s%s%s%sitapi.%ld", folder, *folder ? "/" : "",
                          wanted, wanted[end - 1] == '/' ? "" : "/", (long)getpid());
    else
        length = snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", wanted);
    if (length < 0 || (size_t)length >= sizeof(address->sun_path)) {
        socket_warn(wanted, "too long for the name of a socket");
        return false;
    }
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, path, (size_t)length);
    return true;
}

/* Returns true if no process listens on the socket. */
static bool socket_is_dead(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool dead;

    if (fd < 0)
        return false;
    dead = connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
           errno == ECONNREFUSED;
    (void)close(fd);
    return dead;
}

/* Removes the socket of a process that was killed, and nothing else. */
static bool socket_remove_dead(const struct sockaddr_un *address)
{
    struct stat file;

    if (lstat(address->sun_path, &file) != 0)
        return errno == ENOENT;
    if (!S_ISSOCK(file.st_mode)) {
        socket_warn(address->sun_path, "there is something that is no socket");
        return false;
    }
    if (file.st_uid != geteuid()) {
        socket_warn(address->sun_path, "there is a socket of another user");
        return false;
    }
    if (!socket_is_dead(address)) {
        socket_warn(address->sun_path, "another process listens there");
        return false;
    }
    if (unlink(address->sun_path) != 0) {
        socket_warn(address->sun_path, strerror(errno));
        return false;
    }
    return true;
}

/* Creates the socket; its mode becomes that of the file. */
static int socket_make(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && fchmod(fd, S_IRUSR | S_IWUSR) != 0) {
        (void)close(fd);
        return -1;
    }
    return fd;
}

bool ual_stats_socket_open(struct ual_stats_socket *made, const char *wanted)
{
    struct sockaddr_un address;
    struct stat file;
    int fd;

    made->fd = -1;
    if (!socket_name(&address, wanted) || !socket_remove_dead(&address))
        return false;
    fd = socket_make();
    if (fd < 0) {
        socket_warn(wanted, strerror(errno));
        return false;
    }
    if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        socket_warn(wanted, strerror(errno));
        goto err_close;
    }
    if (lstat(address.sun_path, &file) != 0 || listen(fd, SOCKET_BACKLOG) != 0) {
        socket_warn(wanted, strerror(errno));
        goto err_unlink;
    }
    *made = (struct ual_stats_socket){.fd = fd,
                                      .address = address,
                                      .device = file.st_dev,
                                      .inode = file.st_ino,
                                      .owner = getpid()};
    base_log(BASE_LOG_INFO, "counters at %s", address.sun_path);
    return true;

err_unlink:
    (void)unlink(address.sun_path);
err_close:
    (void)close(fd);
    return false;
}

void ual_stats_socket_close(struct ual_stats_socket *made)
{
    struct stat file;

    if (made->fd < 0)
        return;
    (void)close(made->fd);
    made->fd = -1;
    if (made->owner == getpid() && lstat(made->address.sun_path, &file) == 0 &&
        file.st_dev == made->device && file.st_ino == made->inode)
        (void)unlink(made->address.sun_path); /* a failure does not matter */
}
