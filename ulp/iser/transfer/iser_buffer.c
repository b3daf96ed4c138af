/* SPDX-License-Identifier: BSD-2-Clause */
#include "transfer/iser_buffer.h"

#include <stdlib.h>

#define BUFFER_SMALLEST 4096u
#define BUFFERS_KEPT    ((size_t)64 << 20) /* octets */

static size_t buffer_size(unsigned size_class)
{
    return (size_t)BUFFER_SMALLEST << size_class;
}

static unsigned buffer_class(size_t size)
{
    unsigned size_class = 0;

    while (size_class < ISER_BUFFER_CLASSES && buffer_size(size_class) < size)
        size_class++;
    return size_class;
}

size_t iser_buffer_octets(size_t size)
{
    return buffer_size(buffer_class(size));
}

static void buffer_free(struct iser_buffer *buffer)
{
    if (buffer->lmr)
        (void)it_lmr_free(buffer->lmr);
    free(buffer->octets);
    free(buffer);
}

static struct iser_buffer *buffer_new(const struct iser_buffers *buffers, unsigned size_class)
{
    struct iser_buffer *buffer = calloc(1, sizeof(*buffer));

    if (!buffer)
        return NULL;
    buffer->size_class = size_class;
    buffer->octets = aligned_alloc(BUFFER_SMALLEST, buffer_size(size_class));
    if (buffer->octets &&
        (!buffers->pz || it_lmr_create(buffers->pz, buffer->octets, NULL, buffer_size(size_class),
                                       IT_ADDR_MODE_ABSOLUTE, buffers->privs, IT_LMR_FLAG_NONE, 0,
                                       &buffer->lmr, NULL) == IT_SUCCESS))
        return buffer;
    free(buffer->octets);
    free(buffer);
    return NULL;
}

struct iser_buffer *iser_buffer_get(struct iser_buffers *buffers, size_t size)
{
    struct iser_buffer *buffer;
    unsigned size_class = buffer_class(size);

    if (size_class == ISER_BUFFER_CLASSES)
        return NULL;
    buffer = buffers->free[size_class];
    if (!buffer)
        return buffer_new(buffers, size_class);
    buffers->free[size_class] = buffer->next;
    buffers->kept -= buffer_size(size_class);
    return buffer;
}

size_t iser_buffer_size(const struct iser_buffer *buffer)
{
    return buffer_size(buffer->size_class);
}

void iser_buffer_put(struct iser_buffers *buffers, struct iser_buffer *buffer)
{
    if (buffers->kept + buffer_size(buffer->size_class) > BUFFERS_KEPT) {
        buffer_free(buffer);
        return;
    }
    buffer->next = buffers->free[buffer->size_class];
    buffers->free[buffer->size_class] = buffer;
    buffers->kept += buffer_size(buffer->size_class);
}

it_lmr_handle_t iser_buffers_region(struct iser_buffers *buffers, void *octets, uint64_t size)
{
    it_lmr_handle_t lmr;

    for (unsigned i = 0; i < buffers->region_count; i++)
        if (buffers->regions[i].octets == octets)
            return buffers->regions[i].lmr;
    if (buffers->region_count == ISER_REGIONS ||
        it_lmr_create(buffers->pz, octets, NULL, size, IT_ADDR_MODE_ABSOLUTE, buffers->privs,
                      IT_LMR_FLAG_NONE, 0, &lmr, NULL) != IT_SUCCESS)
        return NULL;
    buffers->regions[buffers->region_count].octets = octets;
    buffers->regions[buffers->region_count++].lmr = lmr;
    return lmr;
}

void iser_buffers_fini(struct iser_buffers *buffers)
{
    for (unsigned i = 0; i < ISER_BUFFER_CLASSES; i++) {
        struct iser_buffer *buffer;

        while ((buffer = buffers->free[i]) != NULL) {
            buffers->free[i] = buffer->next;
            buffer_free(buffer);
        }
    }
    buffers->kept = 0;
    while (buffers->region_count > 0)
        (void)it_lmr_free(buffers->regions[--buffers->region_count].lmr);
}
