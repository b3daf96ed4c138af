/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of the objects behind handles: memory, place in the IA's lists, validity of the handle.
 * A create takes ual_object_new, fills in, calls the provider and ends with ual_object_start; a
 * free begins with base_object_claim_free and ends in one of the ual_*_destroy functions, which
 * it_ia_free uses too.
 */
#ifndef ITAPI_UAL_OBJECT_UAL_OBJECT_H
#define ITAPI_UAL_OBJECT_UAL_OBJECT_H

#include "ual/object/ual.h"
#include "ual/object/ual_provider.h"

/* Where the provider's objects of one type come from (ual_registry.c). Lives for ever. */
struct base_pool *ual_pool(const struct vp_provider *provider, it_handle_type_enum_t type);

/* The Interface that is meant: that of an alias, or that of this name (ual_registry.c). */
const char *ual_provider_interface(const char *name);
/* The registered provider that has an Interface of that name, or NULL (ual_registry.c). */
const struct vp_provider *ual_provider_find(const char *interface_name);
/*
 * IT_ERR_INVALID_NAME, with a line at error that says which there are: nobody has the Interface that the
 * name of the program means (ual_unknown.c).
 */
it_status_t ual_provider_refuse(const char *call, const char *name, const char *interface_name);

/* The registered providers, in order: NULL gives the first (ual_registry.c). */
const struct vp_provider *ual_provider_next(const struct vp_provider *provider);

/* A zeroed object of the IA that nobody can find yet; NULL without memory. */
void *ual_object_new(struct ual_ia *ia, it_handle_type_enum_t type);

/* Gives back what ual_object_new gave, when the create has failed. */
void ual_object_discard(struct base_object *object);

/* Last step of a create: links the object into its IA and makes the handle valid. */
void ual_object_start(struct base_object *object);

/* Last step of a free: takes the unpublished object out of its IA and gives the memory back. */
void ual_object_end(struct base_object *object);

/* Posting on an S-RQ (ual_post_recv.c). */
extern const struct base_entries ual_srq_entries;

/* Each is claimed (base_object_claim_free) before. In any state; nothing is reported. */
void ual_pz_destroy(struct ual_pz *pz);
void ual_lmr_destroy(struct ual_lmr *lmr);
void ual_srq_destroy(struct ual_srq *srq);
void ual_rmr_destroy(struct ual_rmr *rmr);
/* All but ual_object_end: the object stays for what still names it. */
void ual_ep_stop(struct ual_ep *ep);
void ual_listen_destroy(struct ual_listen *listen);
void ual_address_destroy(struct ual_address *address);
void ual_ud_service_destroy(struct ual_ud_service *service);

#endif
