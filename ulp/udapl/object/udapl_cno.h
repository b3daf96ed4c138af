/* SPDX-License-Identifier: BSD-2-Clause */
/* A Consumer Notification Object. EVDs refer to it. */
#ifndef ITAPI_ULP_UDAPL_OBJECT_UDAPL_CNO_H
#define ITAPI_ULP_UDAPL_OBJECT_UDAPL_CNO_H

#include "object/udapl_object.h"

#include "it_api.h"

struct udapl_cno {
    struct udapl_object object;
    it_evd_handle_t it; /* an AEVD */
};

#endif
