/* SPDX-License-Identifier: BSD-2-Clause */
/* Why there are no devices, or no usable ones: for itx_provider_query. */
#ifndef ITAPI_VP_VERBS_DEVICE_VERBS_CHECK_H
#define ITAPI_VP_VERBS_DEVICE_VERBS_CHECK_H

#include "itx_api.h"

#include <infiniband/verbs.h>

#define VERBS_CM_NODE "rdma_cm"
#define VERBS_NODE    "uverbs" /* and a number */

struct verbs_places {
    const char *devices; /* directory with an entry for each device of the kernel */
    const char *nodes;   /* directory of the device files that a program opens */
};

/* Sets .obstacle and .detail if there is an obstacle; otherwise leaves info alone. */
void verbs_check(const struct verbs_places *places, struct itx_provider_info *info);
/* The same with the kernel's usual directories: vp_provider.obstacle. */
void verbs_obstacle(struct itx_provider_info *info);

#endif
