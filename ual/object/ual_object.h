/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of the objects of handles: memory, place in the IA's lists, validity of the handle.
 * A create call takes ual_object_new, fills the object in, calls the provider and ends with
 * ual_object_start. A free call claims the object and ends in one of the ual_*_destroy functions,
 * which it_ia_free uses too.
 */
#ifndef ITAPI_UAL_OBJECT_UAL_OBJECT_H
#define ITAPI_UAL_OBJECT_UAL_OBJECT_H

#include "ual/object/ual.h"
#include "ual/object/ual_provider.h"

/* Returns a zeroed object of the IA, not yet visible to other threads; NULL if memory runs out. */
void *ual_object_new(struct ual_ia *ia, it_handle_type_enum_t type);

/*
 * The same for a child of a PZ or an EVD, which the child holds from now on. Returns NULL and sets
 * *status to gone if the parent is being freed, or to IT_ERR_RESOURCES if memory runs out.
 */
void *ual_object_new_child(const char *call, struct ual_ia *ia, it_handle_type_enum_t type,
                           void *parent, it_status_t gone, it_status_t *status);
/* When a create has failed: frees the object and releases its parent. */
void ual_object_discard_child(struct base_object *object, void *parent);

/* When a create has failed: frees what ual_object_new returned. */
void ual_object_discard(struct base_object *object);

/* Last step of a create: links the object into its IA and makes the handle valid. */
void ual_object_start(struct base_object *object);

/* Last step of a free: takes the unpublished object out of its IA and frees its memory. */
void ual_object_end(struct base_object *object);

/* A free call of the API. Returns busy while the object has children or another thread frees it. */
it_status_t ual_object_free(const char *call, const char *name, void *handle,
                            it_handle_type_enum_t type, it_status_t invalid, it_status_t busy,
                            void (*destroy)(struct base_object *object));

/* Returns the members that a query asks for. In the mask of every type, bit 0 stands for all. */
static inline unsigned ual_object_members(unsigned mask)
{
    return mask & 1u ? ~0u : mask;
}

void ual_listen_destroy(struct base_object *object);
void ual_address_destroy(struct base_object *object);
void ual_ud_service_destroy(struct base_object *object);
/* Reports IT_CM_MSG_UD_SERVICE_REPLY_EVENT. No lock may be held. */
void ual_ud_service_report(struct ual_ud_service *service, const struct vp_ud_reply *reply);

#endif
