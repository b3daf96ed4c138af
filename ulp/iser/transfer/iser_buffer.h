/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers of commands, kept for reuse; registered if there is an IA. */
#ifndef ITAPI_ULP_ISER_TRANSFER_ISER_BUFFER_H
#define ITAPI_ULP_ISER_TRANSFER_ISER_BUFFER_H

#include "it_api.h"

#include <stddef.h>
#include <stdint.h>

#define ISER_BUFFER_CLASSES 13u /* 4 KiB to 16 MiB */

struct iser_buffer {
    uint8_t *octets;
    it_lmr_handle_t lmr; /* NULL: not registered */
    unsigned size_class;
    struct iser_buffer *next;
};

#define ISER_REGIONS 64u

/* Zeroed: empty, without an IA. */
struct iser_buffers {
    it_pz_handle_t pz;   /* NULL: buffers are not registered */
    it_mem_priv_t privs; /* of registered buffers */
    struct iser_buffer *free[ISER_BUFFER_CLASSES];
    size_t kept; /* octets in free buffers */
    struct {
        const void *octets;
        it_lmr_handle_t lmr;
    } regions[ISER_REGIONS];
    unsigned region_count;
};

/* Returns the size of the buffer that holds `size` octets. */
size_t iser_buffer_octets(size_t size);
/* Returns NULL if memory runs out, or above 16 MiB. */
struct iser_buffer *iser_buffer_get(struct iser_buffers *buffers, size_t size);
size_t iser_buffer_size(const struct iser_buffer *buffer);
void iser_buffer_put(struct iser_buffers *buffers, struct iser_buffer *buffer);
/* Returns the LMR of a unit's memory, which is registered once; NULL: it is not registered. */
it_lmr_handle_t iser_buffers_region(struct iser_buffers *buffers, void *octets, uint64_t size);
/* Called when all buffers have been put back. */
void iser_buffers_fini(struct iser_buffers *buffers);

#endif
