/* SPDX-License-Identifier: BSD-2-Clause */
/* Why there are no devices, or none of use: for itx_provider_query. */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_CHECK_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_CHECK_H

#include "itx_api.h"

#include <infiniband/verbs.h>

#define VERBS_CM_NODE "rdma_cm"
#define VERBS_NODE    "uverbs" /* and a number */

struct verbs_places {
    const char *devices; /* folder with an entry per device of the kernel */
    const char *nodes;   /* folder of the files that a program opens */
};

/* Sets .obstacle and .detail if there is one; leaves info alone otherwise. */
void verbs_check(const struct verbs_places *places, struct itx_provider_info *info);
/* The same where the kernel puts them: vp_provider.obstacle. */
void verbs_obstacle(struct itx_provider_info *info);

#endif
