/* SPDX-License-Identifier: BSD-2-Clause */
/* Access to a unit: RESERVE(6), and what persistent reservations allow (SPC-4 5.12). */
#include "scsi/iser_lu.h"

#include <stdlib.h>
#include <string.h>

#define REGISTRATIONS_MAX 128u

enum {
    WRITE_EXCLUSIVE = 1,
    EXCLUSIVE_ACCESS = 3,
    WRITE_EXCLUSIVE_REGISTRANTS = 5,
    EXCLUSIVE_ACCESS_REGISTRANTS = 6,
    WRITE_EXCLUSIVE_ALL = 7,
    EXCLUSIVE_ACCESS_ALL = 8
};

/* ---- Registrations ------------------------------------------------------------------ */

struct iser_registration *iser_registration_find(const struct iser_lu *lu, const char *port,
                                                 uint16_t tag)
{
    struct iser_registration *registration = lu->registrations;

    while (registration && (registration->tag != tag || strcmp(registration->port, port) != 0))
        registration = registration->next;
    return registration;
}

struct iser_registration *iser_registration_add(struct iser_lu *lu, const char *port, uint16_t tag,
                                                uint64_t key)
{
    struct iser_registration *registration;
    size_t length = strlen(port);

    if (lu->registration_count >= REGISTRATIONS_MAX || length >= ISER_PORT_MAX)
        return NULL;
    registration = calloc(1, sizeof(*registration));
    if (!registration)
        return NULL;
    registration->key = key;
    registration->tag = tag;
    memcpy(registration->port, port, length);
    registration->next = lu->registrations;
    lu->registrations = registration;
    lu->registration_count++;
    return registration;
}

void iser_registrations_free(struct iser_lu *lu)
{
    struct iser_registration *registration;

    while ((registration = lu->registrations) != NULL) {
        lu->registrations = registration->next;
        free(registration);
    }
    lu->registration_count = 0;
    lu->reservation = 0;
}

/* ---- A change that cannot be saved ------------------------------------------------------- */

struct iser_undo {
    struct iser_lu before; /* only its reservations */
    uint64_t change;
};

static void copy_state(struct iser_lu *to, const struct iser_lu *from)
{
    to->registrations = from->registrations;
    to->registration_count = from->registration_count;
    to->generation = from->generation;
    to->reservation = from->reservation;
    to->persists = from->persists;
}

/* Copies the list in its order. Returns false without memory: the copy is a part of it. */
static bool copy_registrations(struct iser_registration **to, const struct iser_registration *from)
{
    for (; from; from = from->next) {
        struct iser_registration *copy = malloc(sizeof(*copy));

        *to = copy;
        if (!copy)
            return false;
        *copy = *from;
        copy->next = NULL;
        to = &copy->next;
    }
    return true;
}

static void free_undo(struct iser_undo *undo)
{
    iser_registrations_free(&undo->before);
    free(undo);
}

bool iser_undo_begin(struct iser_scsi_command *command)
{
    const struct iser_lu *lu = command->lu;
    struct iser_undo *undo = calloc(1, sizeof(*undo));

    if (!undo)
        return false;
    copy_state(&undo->before, lu);
    undo->before.registrations = NULL;
    undo->change = lu->target->changes + 1;
    if (!copy_registrations(&undo->before.registrations, lu->registrations)) {
        free_undo(undo);
        return false;
    }
    command->undo = undo;
    return true;
}

/* If another change has followed, that one's snapshot contains this one, too. */
void iser_undo_end(struct iser_scsi_command *command)
{
    struct iser_undo *undo = command->undo;
    struct iser_lu *lu = command->lu;

    command->undo = NULL;
    if (command->fault.key != 0 && undo->change == lu->target->changes) {
        iser_registrations_free(lu);
        copy_state(lu, &undo->before);
        undo->before.registrations = NULL;
    }
    free_undo(undo);
}

/* ---- Reservations --------------------------------------------------------------------- */

bool iser_reservation_is_all(uint8_t type)
{
    return type == WRITE_EXCLUSIVE_ALL || type == EXCLUSIVE_ACCESS_ALL;
}

bool iser_reservation_is_type(uint8_t type)
{
    return type == WRITE_EXCLUSIVE || type == EXCLUSIVE_ACCESS ||
           (type >= WRITE_EXCLUSIVE_REGISTRANTS && type <= EXCLUSIVE_ACCESS_ALL);
}

static bool is_exclusive_access(uint8_t type)
{
    return type == EXCLUSIVE_ACCESS || type == EXCLUSIVE_ACCESS_REGISTRANTS ||
           type == EXCLUSIVE_ACCESS_ALL;
}

bool iser_reserve_conflicts(const struct iser_scsi_nexus *nexus, const struct iser_lu *lu,
                            iser_access_t access)
{
    const struct iser_registration *registration;

    if (access == ISER_ACCESS_ANY)
        return false;
    if (lu->reserved_by && lu->reserved_by != nexus)
        return true;
    if (lu->reservation == 0 || access == ISER_ACCESS_CHECK)
        return false;
    if (access == ISER_ACCESS_READ && !is_exclusive_access(lu->reservation))
        return false;
    registration = iser_registration_find(lu, nexus->port, nexus->tag);
    if (!registration)
        return true;
    return !registration->holder && lu->reservation < WRITE_EXCLUSIVE_REGISTRANTS;
}

/* ---- RESERVE(6), RELEASE(6) -------------------------------------------------------------- */

/* While there are registrations the old commands are refused (CRH is 0). */
static bool refused(struct iser_scsi_command *command)
{
    if (!command->lu->registrations)
        return false;
    command->status = ISER_RESERVATION_CONFLICT;
    return true;
}

void iser_reserve6_run(struct iser_scsi_command *command)
{
    if (!refused(command))
        command->lu->reserved_by = command->nexus;
}

void iser_release6_run(struct iser_scsi_command *command)
{
    if (!refused(command) && command->lu->reserved_by == command->nexus)
        command->lu->reserved_by = NULL;
}
