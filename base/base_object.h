/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every handle points to an object, which begins with struct base_object. Each type of object has a
 * pool, which never returns its memory. So a handle that is used after the free finds a cleared
 * magic word, or much later another object of the same type, but never foreign octets.
 */
#ifndef ITAPI_BASE_OBJECT_H
#define ITAPI_BASE_OBJECT_H

#include "base/base_entries.h"
#include "base/base_list.h"
#include "base/base_lock.h"

#include "it_api.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BASE_OBJECT_MAGIC UINT32_C(0x17a91000)
#define BASE_OBJECT_TYPES 10

struct base_object {
    _Atomic uint32_t magic;     /* BASE_OBJECT_MAGIC + type while alive, else 0 */
    it_handle_type_enum_t type; /* immutable */
    /* Never NULL; base_no_entries while the object is dead. Survives the reuse of the memory. */
    _Atomic(const struct base_entries *) entries;
    struct base_object *ia;    /* the IA it belongs to; an IA's is itself; immutable while alive */
    _Atomic uint32_t children; /* number of objects that need this one, or BASE_OBJECT_DYING */
    _Atomic bool has_context;
    _Atomic uint64_t context; /* the consumer's it_context_t */
    struct base_link link; /* in its IA's list, by the IA's lock; of a free object, in its pool */
};

#define BASE_OBJECT_DYING UINT32_MAX

struct base_pool {
    struct base_lock lock;
    size_t object_size;           /* immutable */
    it_handle_type_enum_t type;   /* immutable */
    struct base_list unused;      /* by lock; the oldest is reused first */
    struct base_pool_slab *slabs; /* by lock; kept for the life of the process */
};

/* Returns false for a handle that must not be read: NULL or misaligned. */
static inline bool base_object_may_be(const void *handle)
{
    return handle && ((uintptr_t)handle & (_Alignof(struct base_object) - 1)) == 0;
}

/* Returns false when the object was freed, or is of another type. */
static inline bool base_object_lives(const struct base_object *object, it_handle_type_enum_t type)
{
    return atomic_load_explicit(&object->magic, memory_order_acquire) ==
           BASE_OBJECT_MAGIC + (uint32_t)type;
}

/* Returns true when the handle is that of a live object of this type. Any value may be passed. */
static inline bool base_object_is(const void *handle, it_handle_type_enum_t type)
{
    return base_object_may_be(handle) && base_object_lives(handle, type);
}

/*
 * Returns the table of an EP or S-RQ; needs base_object_may_be. Relaxed, since acquire would cost
 * instructions: such a table is set before the handle is given out.
 */
static inline const struct base_entries *base_object_posts(const void *handle)
{
    return atomic_load_explicit(&((const struct base_object *)handle)->entries,
                                memory_order_relaxed);
}

/* Returns the table of any object; needs base_object_may_be. */
static inline const struct base_entries *base_object_entries(const void *handle)
{
    return atomic_load_explicit(&((const struct base_object *)handle)->entries,
                                memory_order_acquire);
}

#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(__SANITIZE_ADDRESS__) &&  \
    !defined(__SANITIZE_THREAD__)
/*
 * base_object_is where each instruction counts. It reads a misaligned handle too, which x86 allows,
 * and finds no magic word there.
 */
static inline bool base_object_is_usual(const void *handle, it_handle_type_enum_t type)
{
    bool other;

    if (__builtin_expect((uintptr_t)handle < _Alignof(struct base_object), false))
        return false;
    __asm__("cmpl %2, %1"
            : "=@ccne"(other)
            : "m"(*(const uint32_t *)handle), "ri"(BASE_OBJECT_MAGIC + (uint32_t)type));
    return __builtin_expect(!other, true);
}
#else
static inline bool base_object_is_usual(const void *handle, it_handle_type_enum_t type)
{
    return base_object_is(handle, type);
}
#endif

/* Returns true when the handle is that of a live object of any type. */
bool base_object_is_any(const void *handle);

void base_pool_init(struct base_pool *pool, it_handle_type_enum_t type, size_t object_size);

/*
 * In the child of fork(2): another thread may have been changing the pool. Unused objects are given
 * up, those in use stay.
 */
void base_pool_renew(struct base_pool *pool);

/* Returns a zeroed object, whose magic is still 0, or NULL if memory runs out. */
void *base_pool_get(struct base_pool *pool);

/* Gives back an object after base_object_unpublish. */
void base_pool_put(struct base_pool *pool, void *object);

/* Makes the handle valid: the last step of a create. */
void base_object_publish(struct base_object *object, struct base_object *ia);

/* Sets the functions that calls of the data path enter with this object. */
static inline void base_object_set_entries(struct base_object *object,
                                           const struct base_entries *entries)
{
    atomic_store(&object->entries, entries);
}

/* Makes the handle invalid: the first step of a free. */
void base_object_unpublish(struct base_object *object);

/* Counts a child. Returns false when the parent is being freed: the child's create then fails. */
bool base_object_hold(struct base_object *parent);
void base_object_release(struct base_object *parent);

/* Claims the object for freeing. Returns false while it has children. */
bool base_object_claim_free(struct base_object *object);

/* Takes the claim back. The object had no children, and got none in between. */
void base_object_unclaim(struct base_object *object);

/* The table of an object that a call is not for (base_entries.c). */
extern const struct base_entries base_no_entries;
it_status_t base_no_send(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                         it_dto_cookie_t cookie, it_dto_flags_t flags);
it_status_t base_no_write(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                          it_dto_cookie_t cookie, it_dto_flags_t flags, it_rdma_addr_t rdma_addr,
                          it_rmr_context_t rmr_context);
it_status_t base_no_read(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                         it_dto_cookie_t cookie, it_dto_flags_t flags, it_rdma_addr_t rdma_addr,
                         it_rmr_context_t rmr_context);
it_status_t base_no_recv(it_handle_t handle, const it_lmr_triplet_t *segments, size_t count,
                         it_dto_cookie_t cookie, it_dto_flags_t flags);
it_status_t base_no_dequeue(it_evd_handle_t evd, it_event_t *event);

#endif
