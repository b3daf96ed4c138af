/* SPDX-License-Identifier: BSD-2-Clause */
/* The table by which the provider reaches the library. */
#include "vp/verbs/device/verbs.h"

const struct vp_host *verbs_host;
