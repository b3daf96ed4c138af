/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider uiwarp, which is built into the library. */
#ifndef ITAPI_VP_UIWARP_PROVIDER_UIW_PROVIDER_H
#define ITAPI_VP_UIWARP_PROVIDER_UIW_PROVIDER_H

#include "ual/vp.h"

extern const struct vp_provider uiw_provider;

#endif
