/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all objects behind DAT handles begin with, and the check of handles.
 *
 * An object is used by others while its references are not 0: an EVD by EPs, a PZ by LMRs. It is
 * retired before it is freed, and who would use it from then on is refused.
 */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_OBJECT_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_OBJECT_H

#include "map/udapl_return.h"
#include "object/udapl_slab.h"

#include <dat2/udat.h>

#include <stdbool.h>

struct udapl_ia;

/* Kinds of objects: DAT_HANDLE_TYPE, and the socket service point of the iWARP extension. */
#define UDAPL_TYPE_SSP ((DAT_HANDLE_TYPE)DAT_HANDLE_TYPE_EXTENSION_BASE)
/* No object of the consumer's: an error on its way into the EVD of another IA (udapl_error.h). */
#define UDAPL_TYPE_ERROR ((DAT_HANDLE_TYPE)(DAT_HANDLE_TYPE_EXTENSION_BASE + 1))
#define UDAPL_TYPES      ((size_t)DAT_HANDLE_TYPE_EXTENSION_BASE + 2)

#define UDAPL_MAGIC 0xda710000u /* and the type: the object lives */

struct udapl_object {
    struct udapl_slab_entry entry; /* its first word is the DAT_PROVIDER */
    _Atomic(uint32_t) magic;       /* 0: freed */
    _Atomic(uint32_t) references;  /* objects that need this one, or UDAPL_RETIRED */
    uint32_t type;                 /* constant, as the next */
    struct udapl_ia *ia;
    _Atomic(uint64_t) context;        /* of the consumer */
    struct udapl_object *next, *prev; /* those of one kind of the IA; guarded by its lock */
};

#define UDAPL_RETIRED UINT32_MAX

extern struct udapl_slab udapl_slabs[UDAPL_TYPES];

/* A handle that has been followed already: the first argument of a call. */
static inline bool udapl_is(DAT_HANDLE handle, DAT_HANDLE_TYPE type)
{
    const struct udapl_object *object = handle;

    return object && ((uintptr_t)handle & (_Alignof(struct udapl_object) - 1)) == 0 &&
           atomic_load_explicit(&object->magic, memory_order_acquire) ==
               UDAPL_MAGIC + (uint32_t)type;
}

/* Any other handle: may be any number. Its object if it lives and belongs to this IA, or NULL. */
void *udapl_find(const struct udapl_ia *ia, DAT_HANDLE handle, DAT_HANDLE_TYPE type);

/*
 * A zeroed object that is not good as a handle yet. NULL without memory. It is made good with
 * udapl_object_start, or given back with udapl_object_discard.
 */
void *udapl_object_new(struct udapl_ia *ia, DAT_HANDLE_TYPE type);
void udapl_object_start(void *object);
void udapl_object_discard(void *object);

/* Another object needs this one. False: it is just being freed. NULL is no object: true. */
bool udapl_object_hold(void *object);
void udapl_object_release(void *object);

/* First step of a free. False: others need it, and it stays as it is. */
bool udapl_object_retire(void *object);
/* Undoes it, where a later step fails. */
void udapl_object_unretire(void *object);

/* Last step of a free: the handle is stale from now on. */
void udapl_object_end(void *object);

#endif
