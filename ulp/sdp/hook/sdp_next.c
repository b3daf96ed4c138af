/* SPDX-License-Identifier: BSD-2-Clause */
#include "hook/sdp_next.h"

#include <dlfcn.h>

struct sdp_next sdp_next;

void sdp_next_resolve(void)
{
#define RESOLVE(type, name, parameters) *(void **)&sdp_next.name = dlsym(RTLD_NEXT, #name);
    SDP_NEXT_LIST(RESOLVE)
#undef RESOLVE
}
