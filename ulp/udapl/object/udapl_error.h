/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An asynchronous error that is sent to the EVD of another IA by a software event. The pointer of
 * the event is this record. It is in a slab, so it differs from any pointer that a consumer posts.
 */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_ERROR_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_ERROR_H

#include "object/udapl_object.h"

struct udapl_error {
    struct udapl_slab_entry entry;
    DAT_EVENT_NUMBER number;
    DAT_ASYNCH_ERROR_EVENT_DATA data;
};

#endif
