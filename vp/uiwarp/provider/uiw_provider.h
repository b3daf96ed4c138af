/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider uiwarp, which the library brings along. */
#ifndef ITAPI_VP_UIWARP_PROVIDER_UIW_PROVIDER_H
#define ITAPI_VP_UIWARP_PROVIDER_UIW_PROVIDER_H

#include "ual/vp.h"

/* The embedded default. */
extern const struct vp_provider uiw_provider;

#endif
