/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into dtest -W, this prints the median of half a round trip, the time from one RDMA
 * Write to the next. The program itself has only the mean. It replaces the registry's function with
 * which a provider registers, and changes one entry of the table.
 */
#include <dat2/udat.h>

#include <dat2/dat_registry.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST 1000000

static DAT_EP_POST_RDMA_WRITE_FUNC rdma_write;
static uint64_t times[MOST];
static size_t count;

static DAT_RETURN post(DAT_EP_HANDLE ep, DAT_COUNT segment_count, DAT_LMR_TRIPLET *segments,
                       DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                       DAT_COMPLETION_FLAGS flags)
{
    struct timespec now;

    if (count < MOST && clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        times[count++] = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return rdma_write(ep, segment_count, segments, cookie, remote, flags);
}

static int compare(const void *one, const void *other)
{
    uint64_t left = *(const uint64_t *)one;
    uint64_t right = *(const uint64_t *)other;

    return (left > right) - (left < right);
}

static void __attribute__((destructor)) tell(void)
{
    if (count < 2)
        return;
    for (size_t i = 0; i + 1 < count; i++)
        times[i] = times[i + 1] - times[i];
    qsort(times, count - 1, sizeof(times[0]), compare);
    (void)fprintf(stderr, "median: %.3f us\n", (double)times[(count - 1) / 2] / 2000);
}

DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info);

DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info)
{
    DAT_RETURN (*add)(const DAT_PROVIDER *, const DAT_PROVIDER_INFO *);
    DAT_PROVIDER *table = (DAT_PROVIDER *)(uintptr_t)
        provider; /* the table is the provider's own memory, not a constant */

    *(void **)&add = dlsym(RTLD_NEXT, "dat_registry_add_provider");
    rdma_write = table->ep_post_rdma_write_func;
    table->ep_post_rdma_write_func = post;
    return add(provider, info);
}
