/* SPDX-License-Identifier: BSD-2-Clause */
#include "program/iser_status.h"

#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct iser_status {
    int fd;
    struct event *event;
    const struct itiser *target;
    struct sockaddr_un address;
};

static bool fill_address(struct sockaddr_un *address, const char *path)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof(address->sun_path))
        return false;
    (void)snprintf(address->sun_path, sizeof(address->sun_path), "%s", path);
    return true;
}

/* A client that does not read gets what fits into the socket: the loop does not wait for it. */
static void answer(evutil_socket_t fd, short what, void *argument)
{
    struct iser_status *status = argument;
    int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    char *text = NULL;
    size_t length = 0;
    FILE *to;

    (void)what;
    if (peer < 0)
        return;
    to = open_memstream(&text, &length);
    if (to) {
        itiser_status(status->target, to);
        (void)fclose(to);
        (void)send(peer, text, length, MSG_NOSIGNAL);
    }
    free(text);
    (void)close(peer);
}

/* Removes the socket of a target that has died, and nothing else. */
static bool remove_socket(const char *path)
{
    struct stat found;

    if (lstat(path, &found) != 0)
        return errno == ENOENT;
    if (!S_ISSOCK(found.st_mode)) {
        errno = EEXIST;
        return false;
    }
    return unlink(path) == 0;
}

/* Reuses a path left by a target that has died, but not one on which a target answers. */
static bool bind_path(struct iser_status *status)
{
    const struct sockaddr *address = (const struct sockaddr *)&status->address;
    int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t mask;
    bool good;
    int error;

    if (probe < 0)
        return false;
    if (connect(probe, address, sizeof(status->address)) == 0)
        errno = EADDRINUSE;
    good = errno == ENOENT || (errno == ECONNREFUSED && remove_socket(status->address.sun_path));
    error = errno;
    (void)close(probe);
    errno = error;
    if (!good)
        return false;
    mask = umask(0177);
    good = bind(status->fd, address, sizeof(status->address)) == 0;
    (void)umask(mask);
    return good && listen(status->fd, 4) == 0;
}

struct iser_status *iser_status_open(struct event_base *base, const char *path,
                                     const struct itiser *target, char error[256])
{
    struct iser_status *status = calloc(1, sizeof(*status));

    errno = ENAMETOOLONG;
    if (!status || !fill_address(&status->address, path)) {
        free(status);
        (void)snprintf(error, 256, "%.180s: %s", path, strerror(errno));
        return NULL;
    }
    status->target = target;
    status->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (status->fd >= 0 && bind_path(status)) {
        status->event = event_new(base, status->fd, EV_READ | EV_PERSIST, answer, status);
        if (status->event && event_add(status->event, NULL) == 0)
            return status;
    }
    (void)snprintf(error, 256, "%.180s: %s", path, strerror(errno));
    if (status->event)
        event_free(status->event);
    if (status->fd >= 0)
        (void)close(status->fd);
    free(status);
    return NULL;
}

void iser_status_close(struct iser_status *status)
{
    event_free(status->event);
    (void)close(status->fd);
    (void)unlink(status->address.sun_path);
    free(status);
}

int iser_status_show(const char *path)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[4096];
    ssize_t got = -1;

    errno = ENAMETOOLONG;
    if (fd < 0 || !fill_address(&address, path) ||
        connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)fprintf(stderr, "it_iser_target: no target answers on %s: %s\n", path,
                      strerror(errno));
    } else {
        while ((got = read(fd, text, sizeof(text))) > 0)
            (void)fwrite(text, 1, (size_t)got, stdout);
    }
    if (fd >= 0)
        (void)close(fd);
    return got == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
