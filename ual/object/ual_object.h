/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of the objects behind handles: memory, place in the IA's lists, validity of the handle.
 * A create takes ual_object_new, fills in, calls the provider and ends with ual_object_start; a
 * free claims the object and ends in one of the ual_*_destroy functions, which it_ia_free uses too.
 */
#ifndef ITAPI_UAL_OBJECT_UAL_OBJECT_H
#define ITAPI_UAL_OBJECT_UAL_OBJECT_H

#include "ual/object/ual.h"
#include "ual/object/ual_provider.h"

/* A zeroed object of the IA that nobody can find yet; NULL without memory. */
void *ual_object_new(struct ual_ia *ia, it_handle_type_enum_t type);

/*
 * The same for a child of a PZ or an EVD, which it holds from now on. NULL with *status: `gone`, if
 * the parent is just being freed, or without memory.
 */
void *ual_object_new_child(const char *call, struct ual_ia *ia, it_handle_type_enum_t type,
                           void *parent, it_status_t gone, it_status_t *status);
/* Gives it back, and the parent free, when the create has failed. */
void ual_object_discard_child(struct base_object *object, void *parent);

/* Gives back what ual_object_new gave, when the create has failed. */
void ual_object_discard(struct base_object *object);

/* Last step of a create: links the object into its IA and makes the handle valid. */
void ual_object_start(struct base_object *object);

/* Last step of a free: takes the unpublished object out of its IA and gives the memory back. */
void ual_object_end(struct base_object *object);

/* A free of the API: `busy`, while the object has children, or when another thread frees it. */
it_status_t ual_object_free(void *handle, it_handle_type_enum_t type, it_status_t invalid,
                            it_status_t busy, void (*destroy)(struct base_object *object));

/* The members that a query asks for. Bit 0 of the mask of every type stands for all. */
static inline unsigned ual_object_members(unsigned mask)
{
    return mask & 1u ? ~0u : mask;
}

void ual_listen_destroy(struct base_object *object);
void ual_address_destroy(struct base_object *object);
void ual_ud_service_destroy(struct base_object *object);
/* IT_CM_MSG_UD_SERVICE_REPLY_EVENT. No lock may be held. */
void ual_ud_service_report(struct ual_ud_service *service, const struct vp_ud_reply *reply);

#endif
