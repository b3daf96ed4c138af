/* SPDX-License-Identifier: BSD-2-Clause */
/* The poll set of an IA's established streams. */
#ifndef ITAPI_VP_UIWARP_QUEUE_UIW_POLLSET_H
#define ITAPI_VP_UIWARP_QUEUE_UIW_POLLSET_H

#include "vp/uiwarp/queue/uiw.h"

#endif
