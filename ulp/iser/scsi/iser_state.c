/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reservations that survive the target (APTPL). Each target has one file, which is rewritten, on
 * disk, before a command that changes them ends. It has a line for each registration:
 *
 *     LUN KEY TAG TYPE HOLDER PORT
 */
#include "scsi/iser_lu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_OCTETS (ISER_PORT_MAX + 64)

struct iser_state {
    char path[PATH_MAX];
    uint64_t sequence; /* of the newest snapshot; used in the loop only */
    pthread_mutex_t lock;
    uint64_t saved; /* the newest in the file; lock guards this and the file */
};

/* ---- Reading ------------------------------------------------------------------------ */

static bool read_line(struct iser_scsi_target *target, const char *line)
{
    struct iser_registration *registration;
    struct iser_lu *lu;
    char port[ISER_PORT_MAX];
    unsigned lun, type, holder;
    uint16_t tag;
    uint64_t key;

    if (sscanf(line, "%u %" SCNx64 " %" SCNu16 " %u %u %255s", &lun, &key, &tag, &type, &holder,
               port) != 6 ||
        lun >= ITISER_LUNS_MAX || (type != 0 && !iser_reservation_is_type((uint8_t)type)) ||
        type > 8 || holder > 1)
        return false;
    lu = target->lus[lun];
    if (!lu)
        return true; /* the unit is gone */
    registration = iser_registration_add(lu, port, tag, key);
    if (!registration)
        return false;
    registration->holder = holder != 0;
    lu->reservation = (uint8_t)type;
    lu->persists = true;
    return true;
}

static bool fail(char error[256], const char *path, int why)
{
    (void)snprintf(error, 256, "%.200s: %s", path, strerror(why));
    return false;
}

/* Without all lines the units would be open to initiators that have no rights. */
static bool read_file(struct iser_scsi_target *target, FILE *file, char error[256])
{
    char line[LINE_MAX_OCTETS];
    unsigned number = 0;

    while (fgets(line, sizeof(line), file)) {
        number++;
        if (line[0] == '#' || read_line(target, line))
            continue;
        (void)snprintf(error, 256, "%s:%u: not a line of a file of reservations",
                       target->config->state_file, number);
        return false;
    }
    return !ferror(file) || fail(error, target->config->state_file, errno);
}

/* Returns false if there is no folder in which a new file could be made. */
static bool has_folder(const char *path)
{
    char copy[PATH_MAX];

    (void)snprintf(copy, sizeof(copy), "%s", path);
    return access(dirname(copy), W_OK | X_OK) == 0;
}

bool iser_state_open(struct iser_scsi_target *target, char error[256])
{
    struct iser_state *state = calloc(1, sizeof(*state));
    const char *path = target->config->state_file;
    bool good = true;
    FILE *file;

    if (!state || strlen(path) + 5 > sizeof(state->path)) {
        (void)snprintf(error, 256, "%.200s: %s", path, state ? "too long" : "out of memory");
        free(state);
        return false;
    }
    (void)snprintf(state->path, sizeof(state->path), "%s", path);
    pthread_mutex_init(&state->lock, NULL);
    target->state = state;
    file = fopen(path, "re");
    if (file) {
        good = read_file(target, file, error);
        (void)fclose(file);
    } else if (errno != ENOENT || !has_folder(path)) {
        good = fail(error, path, errno);
    }
    return good;
}

void iser_state_free(struct iser_state *state)
{
    if (!state)
        return;
    pthread_mutex_destroy(&state->lock);
    free(state);
}

/* ---- Writing ------------------------------------------------------------------------- */

static void print_lu(FILE *to, const struct iser_lu *lu)
{
    for (const struct iser_registration *r = lu->registrations; r; r = r->next)
        (void)fprintf(to, "%u %016" PRIx64 " %u %u %d %s\n", lu->number, r->key, r->tag,
                      lu->reservation, r->holder, r->port);
}

bool iser_state_snapshot(struct iser_scsi_command *command)
{
    const struct iser_scsi_target *target = command->lu->target;
    size_t length;
    FILE *to = open_memstream(&command->snapshot, &length);

    if (!to)
        return false;
    (void)fputs("# Persistent reservations of an iSCSI target\n", to);
    for (size_t i = 0; i < ITISER_LUNS_MAX; i++)
        if (target->lus[i] && target->lus[i]->persists)
            print_lu(to, target->lus[i]);
    if (fclose(to) != 0) {
        free(command->snapshot);
        command->snapshot = NULL;
        return false;
    }
    command->sequence = ++target->state->sequence;
    return true;
}

static bool write_all(int fd, const char *text)
{
    size_t length = strlen(text);

    while (length > 0) {
        ssize_t written = write(fd, text, length);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return fsync(fd) == 0;
}

/* Syncs the folder, so that the new name of the file reaches the disk. */
static bool sync_folder(const char *path)
{
    char copy[PATH_MAX];
    bool good;
    int fd;

    (void)snprintf(copy, sizeof(copy), "%s", path);
    fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    good = fsync(fd) == 0;
    (void)close(fd);
    return good;
}

static bool replace_file(const char *path, const char *text)
{
    char fresh[PATH_MAX + 4];
    bool good;
    int fd;

    (void)snprintf(fresh, sizeof(fresh), "%s.new", path);
    fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    good = write_all(fd, text);
    if (close(fd) != 0)
        good = false;
    return good && rename(fresh, path) == 0 && sync_folder(path);
}

void iser_state_save(struct iser_scsi_command *command)
{
    struct iser_state *state = command->lu->target->state;
    bool good = true;

    if (!command->snapshot)
        return;
    pthread_mutex_lock(&state->lock);
    if (command->sequence > state->saved) {
        good = replace_file(state->path, command->snapshot);
        if (good)
            state->saved = command->sequence;
    }
    pthread_mutex_unlock(&state->lock);
    free(command->snapshot);
    command->snapshot = NULL;
    if (!good)
        iser_fault(command, ISER_INTERNAL_FAILURE);
}
