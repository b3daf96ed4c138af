/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of messages, and the end of a link over RDMA. */
#include "transfer/iser_rdma.h"

#include <stdlib.h>

#define REGION_ALIGN 4096u

static void region_fill(struct rdma_region *region)
{
    for (unsigned i = 0; i < region->count; i++) {
        region->slots[i].octets = region->octets + (size_t)i * RDMA_SLOT;
        region->slots[i].lmr = region->lmr;
        region->slots[i].next = NULL;
    }
}

bool rdma_region_make(struct rdma *rdma, struct rdma_region *region, unsigned receives,
                      unsigned sends)
{
    size_t size = (size_t)(receives + sends) * RDMA_SLOT;

    size += (REGION_ALIGN - size % REGION_ALIGN) % REGION_ALIGN;
    region->slots = calloc(receives + sends, sizeof(*region->slots));
    region->octets = aligned_alloc(REGION_ALIGN, size);
    if (!region->slots || !region->octets ||
        it_lmr_create(rdma->shared->pz, region->octets, NULL, size, IT_ADDR_MODE_ABSOLUTE,
                      IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &region->lmr, NULL) != IT_SUCCESS)
        return false;
    region->count = receives + sends;
    region_fill(region);
    for (unsigned i = 0; i < receives; i++)
        if (!rdma_post_receive(rdma, &region->slots[i]))
            return false;
    for (unsigned i = receives; i < region->count; i++) {
        region->slots[i].next = rdma->free;
        rdma->free = &region->slots[i];
    }
    return true;
}

static void region_free(struct rdma_region *region)
{
    if (region->lmr)
        (void)it_lmr_free(region->lmr);
    free(region->octets);
    free(region->slots);
}

/* Called before the last Login Response is sent, since the initiator may send at once after it. */
bool rdma_full_feature(struct iser_link *link)
{
    rdma_of(link)->awaits_hello = link->limits.hello;
    return rdma_region_make(rdma_of(link), &rdma_of(link)->full, link->limits.receives,
                            2 * link->limits.window + RDMA_SENDS_SPARE);
}

/* Once the endpoint is freed, nothing accesses the memory of commands any more. */
void rdma_discard(struct iser_link *link)
{
    struct rdma *rdma = rdma_of(link);

    if (rdma->ep)
        (void)it_ep_free(rdma->ep);
    rdma->ep = NULL;
}

/*
 * May run in the callback of the EVD, which cannot free its own EVD; so this is left to
 * iser_rdma_reap.
 */
void rdma_free(struct iser_link *link)
{
    struct rdma *rdma = rdma_of(link);

    rdma->next = rdma->shared->dying;
    rdma->shared->dying = rdma;
    event_active(&rdma->reap, EV_TIMEOUT, 0);
}

void iser_rdma_reap(struct iser_rdma_shared *shared)
{
    struct rdma *rdma;

    while ((rdma = shared->dying) != NULL) {
        shared->dying = rdma->next;
        (void)event_del(&rdma->reap);
        if (rdma->evd)
            (void)it_evd_free(rdma->evd);
        region_free(&rdma->login);
        region_free(&rdma->full);
        free(rdma);
    }
}
