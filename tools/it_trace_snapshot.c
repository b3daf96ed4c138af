/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_trace_snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define SNAPSHOT_ROOM_MIN ((size_t)65536)
#define SNAPSHOT_ROOM_MAX ((size_t)256 << 20)
#define SNAPSHOT_SECONDS  10 /* of silence */

/* ---------------------------------------------------------------- reading */

static const char *snapshot_reason(int error)
{
    switch (error) {
    case ENOENT:
        return "No such file or directory (a process has its socket for as long as it has an IA)";
    case ECONNREFUSED:
        return "nobody listens there: no socket, or that of a process that has died";
    case EAGAIN:
        return "no answer: is the process stopped?";
    default:
        return strerror(error);
    }
}

static int snapshot_connect(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = SNAPSHOT_SECONDS};
    size_t length = strlen(path);
    int fd;

    if (length >= sizeof(address.sun_path)) {
        fprintf(stderr, "it_trace: %s: too long for the name of a socket\n", path);
        return -1;
    }
    memcpy(address.sun_path, path, length + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* connect would also block on the full queue of a process that does not accept. */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) != 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        fprintf(stderr, "it_trace: %s: %s\n", path, snapshot_reason(errno));
        if (fd >= 0)
            (void)close(fd);
        return -1;
    }
    return fd;
}

/* Reads up to the end of the stream and appends a NUL. Returns NULL with errno set on failure. */
static char *snapshot_read(int fd)
{
    size_t room = SNAPSHOT_ROOM_MIN;
    size_t length = 0;
    char *octets = malloc(room);
    ssize_t got = 1;

    if (!octets)
        return NULL;
    while (got > 0) {
        if (length + 1 == room) {
            char *larger = room < SNAPSHOT_ROOM_MAX ? realloc(octets, 2 * room) : NULL;

            if (!larger) {
                errno = ENOMEM;
                got = -1;
                break;
            }
            octets = larger;
            room *= 2;
        }
        got = recv(fd, octets + length, room - length - 1, 0);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            length += (size_t)got;
    }
    if (got < 0) {
        free(octets);
        return NULL;
    }
    octets[length] = '\0';
    return octets;
}

/* ---------------------------------------------------------------- parsing */

/* Replaces octets that a terminal would interpret, whatever program listens at the socket. */
static void snapshot_clean(char *octets)
{
    for (char *at = octets; *at; at++)
        if (*at != '\n' && (*at < ' ' || *at > '~'))
            *at = '?';
}

static void snapshot_parse_field(char *word, struct snapshot_line *line)
{
    struct snapshot_field *field = &line->fields[line->field_count];
    char *value = strchr(word, '=');
    char *end;

    if (!value || line->field_count == SNAPSHOT_FIELDS)
        return;
    *value++ = '\0';
    *field = (struct snapshot_field){.name = word, .value = value};
    errno = 0;
    field->number = strtoull(value, &end, 10);
    field->is_number = value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0;
    line->field_count++;
}

static void snapshot_parse_line(char *text, struct snapshot_line *line)
{
    char *rest = NULL;
    char *word;

    line->kind = strtok_r(text, " ", &rest);
    if (!line->kind)
        line->kind = "";
    while ((word = strtok_r(NULL, " ", &rest)) != NULL)
        snapshot_parse_field(word, line);
}

/* Returns false if it does not begin or end as it must. */
static bool snapshot_parse(struct snapshot *snapshot)
{
    size_t count = 0;
    char *rest = NULL;
    char *text;

    for (const char *at = snapshot->octets; *at; at++)
        count += *at == '\n';
    snapshot->lines = calloc(count ? count : 1, sizeof(*snapshot->lines));
    if (!snapshot->lines)
        return false;
    text = strtok_r(snapshot->octets, "\n", &rest);
    while (text && snapshot->line_count < count && strcmp(text, "end") != 0) {
        snapshot_parse_line(text, &snapshot->lines[snapshot->line_count++]);
        text = strtok_r(NULL, "\n", &rest);
    }
    return text && strcmp(text, "end") == 0 && snapshot->lines[0].kind &&
           strcmp(snapshot->lines[0].kind, "itapi") == 0;
}

bool snapshot_take(struct snapshot *snapshot, const char *path)
{
    int fd = snapshot_connect(path);

    *snapshot = (struct snapshot){0};
    if (fd < 0)
        return false;
    snapshot->octets = snapshot_read(fd);
    if (!snapshot->octets)
        fprintf(stderr, "it_trace: %s: %s\n", path, snapshot_reason(errno));
    (void)close(fd);
    if (!snapshot->octets)
        return false;
    snapshot_clean(snapshot->octets);
    if (snapshot_parse(snapshot))
        return true;
    fprintf(stderr, "it_trace: %s: not a whole snapshot of itapi\n", path);
    snapshot_free(snapshot);
    return false;
}

void snapshot_free(struct snapshot *snapshot)
{
    free(snapshot->octets);
    free(snapshot->lines);
    *snapshot = (struct snapshot){0};
}

/* ---------------------------------------------------------------- looking */

const struct snapshot_field *snapshot_find(const struct snapshot_line *line, const char *name)
{
    for (size_t i = 0; i < line->field_count; i++)
        if (strcmp(line->fields[i].name, name) == 0)
            return &line->fields[i];
    return NULL;
}

static bool snapshot_is_same(const struct snapshot_line *a, const struct snapshot_line *b)
{
    const struct snapshot_field *a_id = snapshot_find(a, "id");
    const struct snapshot_field *b_id = snapshot_find(b, "id");

    return a_id && b_id && strcmp(a->kind, b->kind) == 0 && strcmp(a_id->value, b_id->value) == 0;
}

const struct snapshot_line *snapshot_same(const struct snapshot *snapshot,
                                          const struct snapshot_line *line)
{
    for (size_t i = 0; i < snapshot->line_count; i++)
        if (snapshot_is_same(&snapshot->lines[i], line))
            return &snapshot->lines[i];
    return NULL;
}

double snapshot_seconds(const struct snapshot *from, const struct snapshot *to)
{
    const struct snapshot_field *first = snapshot_find(&from->lines[0], "time_ns");
    const struct snapshot_field *last = snapshot_find(&to->lines[0], "time_ns");

    return first && last && last->number > first->number
               ? (double)(last->number - first->number) / 1e9
               : 0;
}
