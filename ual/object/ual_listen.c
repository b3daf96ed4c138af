/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a listen point; the calls of the API are in tii/tii_listen.c. */
#include "ual/object/ual_object.h"

void ual_listen_destroy(struct base_object *object)
{
    struct ual_listen *listen = (struct ual_listen *)(void *)object;

    base_object_unpublish(object);
    ual_ia_of(object)->provider->listen_stop(listen);
    evd_release(listen->connect_evd);
    ual_object_end(object);
}
