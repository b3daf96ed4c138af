/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop leads when no consumer does. */
#ifndef ITAPI_VP_UIWARP_LEAD_UIW_HANDOVER_H
#define ITAPI_VP_UIWARP_LEAD_UIW_HANDOVER_H

#include "ual/object/ual.h"

bool uiw_handover_open(struct ual_ia *ia);
void uiw_handover_close(struct ual_ia *ia); /* also after an open that failed */

#endif
