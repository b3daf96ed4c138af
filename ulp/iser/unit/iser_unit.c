/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit/iser_unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Opening and closing ------------------------------------------------------------- */

static bool is_block_size(uint32_t size)
{
    return size >= 512 && size <= 65536 && (size & (size - 1)) == 0;
}

/* Returns true if the serial number is printable and fits. */
static bool is_serial(const char *serial)
{
    size_t length = strlen(serial);

    for (size_t i = 0; i < length; i++)
        if (serial[i] <= ' ' || serial[i] > '~')
            return false;
    return length > 0 && length < sizeof(((struct itiser_unit *)NULL)->serial);
}

static bool refuse(char error[256], const char *text)
{
    (void)snprintf(error, 256, "%s", text);
    return false;
}

static bool open_kind(struct itiser_unit *unit, const struct itiser_unit_config *config,
                      char error[256])
{
    switch (config->kind) {
    case ITISER_MEMORY_UNIT:
        return iser_memory_open(unit, config, error);
    case ITISER_FILE_UNIT:
        return iser_file_open(unit, config, error);
    case ITISER_NULL_UNIT:
        return iser_null_open(unit, config, error);
    }
    return refuse(error, "no such kind of unit");
}

static bool unit_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                      char error[256])
{
    if (!config->serial || !is_serial(config->serial))
        return refuse(error, "the serial number has to be 1 to 31 printable octets without blanks");
    unit->block_size = config->block_size ? config->block_size : 512;
    if (!is_block_size(unit->block_size))
        return refuse(error, "the block size has to be a power of two from 512 to 65536");
    if (config->kind != ITISER_FILE_UNIT && config->size < unit->block_size)
        return refuse(error, "the size has to be at least one block");
    unit->blocks = config->size / unit->block_size;
    unit->flags = config->read_only ? ITISER_UNIT_READ_ONLY : 0;
    (void)snprintf(unit->serial, sizeof(unit->serial), "%s", config->serial);
    return open_kind(unit, config, error);
}

struct itiser_unit *itiser_unit_open(const struct itiser_unit_config *config, char error[256])
{
    struct itiser_unit *unit = calloc(1, sizeof(*unit));
    char ignored[256];

    if (!error)
        error = ignored;
    if (!unit) {
        refuse(error, "out of memory");
        return NULL;
    }
    if (!unit_open(unit, config, error)) {
        free(unit);
        return NULL;
    }
    return unit;
}

void itiser_unit_close(struct itiser_unit *unit)
{
    if (unit->ops->close)
        unit->ops->close(unit->context);
    free(unit);
}
