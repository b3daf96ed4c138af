/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating and freeing targets and nexuses; unit attentions; resets. */
#include "scsi/iser_lu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- LUNs ------------------------------------------------------------------------ */

int iser_lun_number(const uint8_t lun[8])
{
    static const uint8_t zeros[6];
    unsigned method = lun[0] >> 6;
    int number = (lun[0] & 0x3f) << 8 | lun[1];

    /* Single level: peripheral device addressing (bus 0), or flat space addressing. */
    if (memcmp(lun + 2, zeros, sizeof(zeros)) != 0 || method > 1)
        return -1;
    return number < (int)ITISER_LUNS_MAX ? number : -1;
}

bool iser_scsi_lun_is(const uint8_t lun[8], const uint8_t other[8])
{
    int number = iser_lun_number(lun);

    return number < 0 ? memcmp(lun, other, 8) == 0 : number == iser_lun_number(other);
}

static struct iser_lu *lu_find(const struct iser_scsi_target *target, const uint8_t lun[8])
{
    int number = iser_lun_number(lun);

    return number < 0 ? NULL : target->lus[number];
}

bool iser_scsi_lun_exists(const struct iser_scsi_target *target, const uint8_t lun[8])
{
    return lu_find(target, lun) != NULL;
}

/* ---- Unit attentions -------------------------------------------------------------- */

static const uint16_t attention_codes[ISER_ATTENTIONS] = {
    [ISER_ATTENTION_POWER_ON] = 0x2900,     [ISER_ATTENTION_RESET] = 0x2903,
    [ISER_ATTENTION_PREEMPTED] = 0x2a03,    [ISER_ATTENTION_RELEASED] = 0x2a04,
    [ISER_ATTENTION_UNREGISTERED] = 0x2a05, [ISER_ATTENTION_MODE] = 0x2a01,
    [ISER_ATTENTION_CLEARED] = 0x2f00,
};

void iser_attention_set(struct iser_scsi_nexus *nexus, const struct iser_lu *lu,
                        iser_attention_t attention)
{
    nexus->attention[lu->number] |= (uint16_t)(1u << attention);
}

void iser_attention_others(const struct iser_scsi_nexus *but, const struct iser_lu *lu,
                           iser_attention_t attention)
{
    for (struct iser_scsi_nexus *nexus = lu->target->nexuses; nexus; nexus = nexus->next)
        if (nexus != but)
            iser_attention_set(nexus, lu, attention);
}

bool iser_attention_take(struct iser_scsi_nexus *nexus, const struct iser_lu *lu,
                         struct iser_fault *fault)
{
    uint16_t *pending = &nexus->attention[lu->number];
    int first;

    if (*pending == 0)
        return false;
    first = __builtin_ctz(*pending);
    *pending &= (uint16_t) ~(1u << first);
    *fault = (struct iser_fault){.key = 6,
                                 .asc = (uint8_t)(attention_codes[first] >> 8),
                                 .ascq = (uint8_t)attention_codes[first]};
    return true;
}

void iser_scsi_cleared(struct iser_scsi_nexus *nexus, const uint8_t lun[8])
{
    const struct iser_lu *lu = lu_find(nexus->target, lun);

    if (lu)
        iser_attention_others(nexus, lu, ISER_ATTENTION_CLEARED);
}

/* ---- Resets ----------------------------------------------------------------------- */

/* Restores the state after power-on. Registrations and their reservation survive a reset. */
static void lu_reset(struct iser_lu *lu)
{
    lu->reserved_by = NULL;
    lu->write_protected = false;
    lu->descriptor_sense = false;
    lu->stopped = false;
    iser_attention_others(NULL, lu, ISER_ATTENTION_RESET);
}

bool iser_scsi_lun_reset(struct iser_scsi_target *target, const uint8_t lun[8])
{
    struct iser_lu *lu = lu_find(target, lun);

    if (!lu)
        return false;
    lu_reset(lu);
    return true;
}

void iser_scsi_target_reset(struct iser_scsi_target *target)
{
    for (size_t i = 0; i < ITISER_LUNS_MAX; i++)
        if (target->lus[i])
            lu_reset(target->lus[i]);
}

/* ---- Coming and going --------------------------------------------------------------- */

static struct iser_lu *lu_new(struct iser_scsi_target *target, size_t number)
{
    struct iser_lu *lu = calloc(1, sizeof(*lu));

    if (!lu)
        return NULL;
    lu->target = target;
    lu->unit = target->config->units[number];
    lu->number = (uint16_t)number;
    lu->line_end = &lu->line;
    return lu;
}

struct iser_scsi_target *iser_scsi_target_new(const struct itiser_target_config *config,
                                              struct iser_pool *pool, char error[256])
{
    struct iser_scsi_target *target = calloc(1, sizeof(*target));

    (void)snprintf(error, 256, "%s: out of memory", config->name);
    if (!target)
        return NULL;
    target->config = config;
    target->pool = pool;
    for (size_t i = 0; i < ITISER_LUNS_MAX; i++) {
        if (!config->units[i])
            continue;
        target->lus[i] = lu_new(target, i);
        if (!target->lus[i])
            goto failed;
    }
    if (!config->state_file || iser_state_open(target, error))
        return target;
failed:
    iser_scsi_target_free(target);
    return NULL;
}

void iser_scsi_target_free(struct iser_scsi_target *target)
{
    for (size_t i = 0; i < ITISER_LUNS_MAX; i++) {
        if (!target->lus[i])
            continue;
        iser_registrations_free(target->lus[i]);
        free(target->lus[i]);
    }
    iser_state_free(target->state);
    free(target);
}

/* Returns true if the state file can hold the name. */
static bool is_port(const char *port)
{
    size_t length = strlen(port);

    for (size_t i = 0; i < length; i++)
        if ((uint8_t)port[i] <= ' ' || port[i] == 0x7f)
            return false;
    return length > 0 && length < ISER_PORT_MAX;
}

struct iser_scsi_nexus *iser_scsi_nexus_new(struct iser_scsi_target *target,
                                            const char *initiator_port, uint16_t tag,
                                            void (*preempted)(void *argument, const uint8_t lun[8]),
                                            void *argument)
{
    struct iser_scsi_nexus *nexus = is_port(initiator_port) ? calloc(1, sizeof(*nexus)) : NULL;

    if (!nexus)
        return NULL;
    nexus->target = target;
    nexus->preempted = preempted;
    nexus->argument = argument;
    nexus->tag = tag;
    (void)snprintf(nexus->port, sizeof(nexus->port), "%s", initiator_port);
    for (size_t i = 0; i < ITISER_LUNS_MAX; i++)
        nexus->attention[i] = 1u << ISER_ATTENTION_POWER_ON;
    nexus->next = target->nexuses;
    target->nexuses = nexus;
    return nexus;
}

void iser_scsi_nexus_inherit(struct iser_scsi_nexus *nexus, struct iser_scsi_nexus *from)
{
    memcpy(nexus->attention, from->attention, sizeof(nexus->attention));
    for (size_t i = 0; i < ITISER_LUNS_MAX; i++)
        if (nexus->target->lus[i] && nexus->target->lus[i]->reserved_by == from)
            nexus->target->lus[i]->reserved_by = nexus;
}

void iser_scsi_nexus_free(struct iser_scsi_nexus *nexus)
{
    struct iser_scsi_nexus **link = &nexus->target->nexuses;

    for (size_t i = 0; i < ITISER_LUNS_MAX; i++)
        if (nexus->target->lus[i] && nexus->target->lus[i]->reserved_by == nexus)
            nexus->target->lus[i]->reserved_by = NULL;
    while (*link != nexus)
        link = &(*link)->next;
    *link = nexus->next;
    free(nexus);
}
