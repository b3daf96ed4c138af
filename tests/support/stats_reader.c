/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/stats_reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/check.h"

int stats_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error;

    CHECK(fd >= 0 && strlen(path) < sizeof(address.sun_path));
    strcpy(address.sun_path, path);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd;
    error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

char *stats_read(const char *path)
{
    int fd = stats_connect(path);
    size_t room = 1u << 16;
    size_t length = 0;
    char *text;
    ssize_t got;

    if (fd < 0)
        return NULL;
    text = malloc(room);
    CHECK(text != NULL);
    while ((got = recv(fd, text + length, room - length - 1, 0)) > 0) {
        length += (size_t)got;
        if (room - length < 2) {
            room *= 2;
            text = realloc(text, room);
            CHECK(text != NULL);
        }
    }
    text[length] = '\0';
    (void)close(fd);
    return text;
}

bool stats_is_whole(const char *text)
{
    size_t length = strlen(text);

    return strncmp(text, "itapi ", 6) == 0 && length > 5 &&
           strcmp(text + length - 5, "\nend\n") == 0;
}

uint64_t stats_value(const char *text, const char *name)
{
    const char *end = strchr(text, '\n');
    char key[64];
    const char *at;

    (void)snprintf(key, sizeof(key), " %s=", name);
    at = strstr(text, key);
    CHECK(at != NULL && end != NULL && at < end);
    return strtoull(at + strlen(key), NULL, 10);
}

const char *stats_line(const char *text, const char *kind, const void *object)
{
    char start[64];
    const char *at;

    (void)snprintf(start, sizeof(start), "\n%s id=%p ", kind, object);
    at = strstr(text, start);
    return at ? at + 1 : NULL;
}

size_t stats_count(const char *text, const char *kind)
{
    char start[16];
    size_t count = 0;

    (void)snprintf(start, sizeof(start), "\n%s ", kind);
    for (const char *at = text; (at = strstr(at, start)) != NULL; at++)
        count++;
    return count;
}
