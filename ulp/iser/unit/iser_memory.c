/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory units and null units. */
#include "unit/iser_unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Memory ------------------------------------------------------------------------------ */

struct memory {
    uint8_t *octets;
    uint64_t size;
    int fd; /* of a memory file, which knows which of its pages exist */
};

static int memory_read(void *context, uint64_t offset, void *data, size_t length)
{
    const struct memory *memory = context;

    memcpy(data, memory->octets + offset, length);
    return 0;
}

static int memory_write(void *context, uint64_t offset, const void *data, size_t length)
{
    struct memory *memory = context;

    memcpy(memory->octets + offset, data, length);
    return 0;
}

/* Memory does not survive a loss of power, and need not. */
static int memory_flush(void *context)
{
    (void)context;
    return 0;
}

static int memory_unmap(void *context, uint64_t offset, uint64_t length)
{
    return iser_hole_punch(((struct memory *)context)->fd, offset, length);
}

static int memory_extent(void *context, uint64_t offset, uint64_t *length, bool *mapped)
{
    return iser_hole_extent(((struct memory *)context)->fd, offset, length, mapped);
}

static void memory_close(void *context)
{
    struct memory *memory = context;

    if (memory->octets != MAP_FAILED)
        (void)munmap(memory->octets, memory->size);
    if (memory->fd >= 0)
        (void)close(memory->fd);
    free(memory);
}

static const struct itiser_unit_ops memory_ops = {
    .read = memory_read,
    .write = memory_write,
    .flush = memory_flush,
    .close = memory_close,
};

static const struct itiser_unit_ops thin_memory_ops = {
    .read = memory_read,
    .write = memory_write,
    .flush = memory_flush,
    .unmap = memory_unmap,
    .extent = memory_extent,
    .close = memory_close,
};

bool iser_memory_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                      char error[256])
{
    struct memory *memory = calloc(1, sizeof(*memory));

    if (!memory) {
        (void)snprintf(error, 256, "out of memory");
        return false;
    }
    memory->octets = MAP_FAILED;
    memory->size = unit->blocks * unit->block_size;
    memory->fd = memfd_create("it_iser", MFD_CLOEXEC);
    if (memory->fd >= 0 && ftruncate(memory->fd, (off_t)memory->size) == 0)
        memory->octets =
            mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED, memory->fd, 0);
    if (memory->octets == MAP_FAILED) {
        (void)snprintf(error, 256, "memory of %llu octets: %s", (unsigned long long)memory->size,
                       strerror(errno));
        memory_close(memory);
        return false;
    }
    unit->ops = config->thin == ITISER_NO ? &memory_ops : &thin_memory_ops;
    unit->context = memory;
    unit->memory = memory->octets;
    return true;
}

/* ---- Nothing ------------------------------------------------------------------------------- */

static int null_read(void *context, uint64_t offset, void *data, size_t length)
{
    (void)context;
    (void)offset;
    memset(data, 0, length);
    return 0;
}

static int null_write(void *context, uint64_t offset, const void *data, size_t length)
{
    (void)context;
    (void)offset;
    (void)data;
    (void)length;
    return 0;
}

static int null_flush(void *context)
{
    (void)context;
    return 0;
}

static const struct itiser_unit_ops null_ops = {
    .read = null_read,
    .write = null_write,
    .flush = null_flush,
};

bool iser_null_open(struct itiser_unit *unit, const struct itiser_unit_config *config,
                    char error[256])
{
    (void)config;
    (void)error;
    unit->ops = &null_ops;
    return true;
}
