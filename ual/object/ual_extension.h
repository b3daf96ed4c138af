/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Structs of itx_api.h that may grow begin with their size as the caller knows it: no octet beyond
 * it is read or written, and none beyond what this library knows.
 */
#ifndef ITAPI_UAL_OBJECT_UAL_EXTENSION_H
#define ITAPI_UAL_OBJECT_UAL_EXTENSION_H

#include "it_api.h"

#include <stddef.h>
#include <string.h>

/* Octets up to the end of a member: the size of a struct whose last member it once was. */
#define UAL_SIZE_UP_TO(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/*
 * ual_object.c: callers, which the caller knows by this name, is neither NULL nor smaller than the
 * first version of its struct.
 */
it_status_t ual_extension_check(const char *call, const char *name, const void *callers,
                                size_t smallest);

/* From the caller into a struct that holds the defaults; its own size stays. */
static inline void ual_extension_read(void *own, size_t own_size, const void *callers,
                                      size_t callers_size)
{
    size_t size = callers_size < own_size ? callers_size : own_size;

    memcpy((char *)own + sizeof(size_t), (const char *)callers + sizeof(size_t),
           size - sizeof(size_t));
}

/* Back to the caller, whose size stays. */
static inline void ual_extension_write(void *callers, size_t callers_size, const void *own,
                                       size_t own_size)
{
    ual_extension_read(callers, callers_size, own, own_size);
}

#endif
