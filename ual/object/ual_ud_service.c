/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a request for a datagram service; the calls of the API are in tii/tii_ud_service.c. */
#include "ual/object/ual_object.h"

void ual_ud_service_destroy(struct ual_ud_service *service)
{
    base_object_unpublish(&service->object);
    ual_ia_of(&service->object)->provider->ud_service_destroy(service);
    evd_release(service->reply_evd);
    ual_object_end(&service->object);
}
