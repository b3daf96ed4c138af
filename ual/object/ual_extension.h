/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs of itx_api.h that may grow begin with their size as the caller was compiled. The library
 * reads and writes no octet beyond that size, nor beyond its own.
 */
#ifndef ITAPI_UAL_OBJECT_UAL_EXTENSION_H
#define ITAPI_UAL_OBJECT_UAL_EXTENSION_H

#include "it_api.h"

#include <stddef.h>
#include <string.h>

/* The offset of a member's end: the size of the struct's version that ended with this member. */
#define UAL_SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* The first version of a struct that two files use. */
#define UAL_EP_ADDRESSES_MIN UAL_SIZE_UP_TO(struct itx_ep_addresses, remote)

/*
 * ual_object.c: checks that callers is neither NULL nor smaller than the first version of its
 * struct. name: what the API calls the argument, for the log.
 */
it_status_t ual_extension_check(const char *call, const char *name, const void *callers,
                                size_t smallest);

/* Copies from the caller into a struct that holds the defaults; leaves its size unchanged. */
static inline void ual_extension_read(void *own, size_t own_size, const void *callers,
                                      size_t callers_size)
{
    size_t size = callers_size < own_size ? callers_size : own_size;

    memcpy((char *)own + sizeof(size_t), (const char *)callers + sizeof(size_t),
           size - sizeof(size_t));
}

/* Copies back to the caller; leaves the caller's size unchanged. */
static inline void ual_extension_write(void *callers, size_t callers_size, const void *own,
                                       size_t own_size)
{
    ual_extension_read(callers, callers_size, own, own_size);
}

#endif
