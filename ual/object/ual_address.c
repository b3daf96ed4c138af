/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of an address handle; the calls of the API are in tii/tii_address_handle.c. */
#include "ual/object/ual_object.h"

void ual_address_destroy(struct base_object *object)
{
    struct ual_address *address = (struct ual_address *)(void *)object;

    base_object_unpublish(object);
    ual_ia_of(object)->provider->address_destroy(address);
    base_object_release(&address->pz->object);
    base_lock_destroy(&address->lock);
    ual_object_end(object);
}
