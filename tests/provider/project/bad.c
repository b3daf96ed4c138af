/* SPDX-License-Identifier: BSD-2-Clause */
/* Providers that must be refused, one per BAD_ macro. */
#include <ual/vp_host.h>

#ifdef BAD_OLD /* of version 2: known by the name of its entry, and not called */
#undef VP_ENTRY
#define VP_ENTRY itapi_provider_2
__attribute__((visibility("default"))) vp_entry_fn VP_ENTRY;
#endif

static struct vp_provider bad = {
#ifdef BAD_ABI
    .abi = VP_ABI + 1,
#else
    .abi = VP_ABI,
#endif
#ifdef BAD_SIZE
    .size = VP_PROVIDER_SIZE - sizeof(void *),
#else
    .size = sizeof(struct vp_provider),
#endif
#ifndef BAD_NAMELESS
    .name = "bad",
#endif
};

/* A call of such a table ends the program. */
static void never(void)
{
    __builtin_trap();
}

static const struct vp_provider *entry(void)
{
    void (**function)(void) = (void (**)(void))(void *)&bad.interfaces;
    void (**end)(void) = (void (**)(void))(void *)(&bad + 1);

    for (; function < end; function++)
        *function = never;
#ifdef BAD_HOLE
    bad.reject = NULL;
#endif
#ifdef BAD_HALF
    bad.srq_modify = NULL;
#endif
    return &bad;
}

#ifdef BAD_ENTRYLESS
const struct vp_provider *bad_entry(void);

const struct vp_provider *bad_entry(void)
{
    return entry();
}
#else
const struct vp_provider *VP_ENTRY(const struct vp_host *host, const char *options)
{
    (void)host;
    (void)options;
#ifdef BAD_OLD
    never();
#endif
    return entry();
}
#endif
