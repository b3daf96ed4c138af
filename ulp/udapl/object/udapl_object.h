/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The header of all objects behind DAT handles, and the check of handles.
 *
 * An object counts the objects that use it: EPs use an EVD, LMRs a PZ. It can be freed only at 0.
 * It is retired before it is freed; from then on no other object can reference it.
 */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_OBJECT_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_OBJECT_H

#include "map/udapl_return.h"
#include "object/udapl_slab.h"

#include <dat2/udat.h>

#include <stdbool.h>

struct udapl_ia;

/* Types of objects: DAT_HANDLE_TYPE, and the socket service point of the iWARP extension. */
#define UDAPL_TYPE_SSP ((DAT_HANDLE_TYPE)DAT_HANDLE_TYPE_EXTENSION_BASE)
/* Not an object of the consumer: an error for the EVD of another IA (udapl_error.h). */
#define UDAPL_TYPE_ERROR ((DAT_HANDLE_TYPE)(DAT_HANDLE_TYPE_EXTENSION_BASE + 1))
#define UDAPL_TYPES      ((size_t)DAT_HANDLE_TYPE_EXTENSION_BASE + 2)

#define UDAPL_MAGIC 0xda710000u /* plus the type: the object is valid */

struct udapl_object {
    struct udapl_slab_entry entry; /* the first word points to the DAT_PROVIDER */
    _Atomic(uint32_t) magic;       /* 0: freed */
    _Atomic(uint32_t) references;  /* objects that use this one, or UDAPL_RETIRED */
    uint32_t type;                 /* constant, like the next */
    struct udapl_ia *ia;
    _Atomic(uint64_t) context;        /* the consumer's */
    struct udapl_object *next, *prev; /* in the IA's list of the type; guarded by its lock */
};

#define UDAPL_RETIRED UINT32_MAX

extern struct udapl_slab udapl_slabs[UDAPL_TYPES];

/* Checks the first argument of a call, which the registry has dereferenced already. */
static inline bool udapl_is(DAT_HANDLE handle, DAT_HANDLE_TYPE type)
{
    const struct udapl_object *object = handle;

    return object && ((uintptr_t)handle & (_Alignof(struct udapl_object) - 1)) == 0 &&
           atomic_load_explicit(&object->magic, memory_order_acquire) ==
               UDAPL_MAGIC + (uint32_t)type;
}

/* Checks any other handle, which may be any number. NULL: no valid object of this IA. */
void *udapl_find(const struct udapl_ia *ia, DAT_HANDLE handle, DAT_HANDLE_TYPE type);

/*
 * Returns a zeroed object, which is not a valid handle yet. NULL: no memory. udapl_object_start
 * makes it valid, udapl_object_discard frees it.
 */
void *udapl_object_new(struct udapl_ia *ia, DAT_HANDLE_TYPE type);
void udapl_object_start(void *object);
void udapl_object_discard(void *object);

/* Adds a reference. Returns false if the object is being freed; true for NULL. */
bool udapl_object_hold(void *object);
void udapl_object_release(void *object);

/* First step of a free. Returns false, without a change, if other objects use it. */
bool udapl_object_retire(void *object);
/* Undoes udapl_object_retire if a later step fails. */
void udapl_object_unretire(void *object);

/* Last step of a free. The handle is stale afterwards. */
void udapl_object_end(void *object);

#endif
