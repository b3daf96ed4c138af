/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef ITAPI_UAL_UAL_HOST_H
#define ITAPI_UAL_UAL_HOST_H

#include "ual/vp_host.h"

/* Handed to every provider that comes from a shared library. */
extern const struct vp_host ual_host;

#endif
