/* SPDX-License-Identifier: BSD-2-Clause */
/* PDs and memory of the stub device. */
#include "verbs/stub_private.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>

struct stub_mr {
    struct ibv_mr mr; /* first */
    unsigned access;
    struct stub_mr *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stub_mr *mrs;

struct ibv_mr *stub_memory(uint32_t key)
{
    struct stub_mr *own;

    pthread_mutex_lock(&lock);
    for (own = mrs; own && own->mr.lkey != key; own = own->next)
        ;
    pthread_mutex_unlock(&lock);
    return own ? &own->mr : NULL;
}

unsigned stub_memory_access(const struct ibv_mr *mr)
{
    return ((const struct stub_mr *)(const void *)mr)->access;
}

bool stub_is_memory(const struct ibv_pd *pd, const struct ibv_sge *sge)
{
    const struct stub_mr *own;
    bool found;

    pthread_mutex_lock(&lock);
    for (own = mrs; own && own->mr.lkey != sge->lkey; own = own->next)
        ;
    found = own && own->mr.pd == pd && sge->addr >= (uintptr_t)own->mr.addr &&
            sge->addr + sge->length <= (uintptr_t)own->mr.addr + own->mr.length;
    pthread_mutex_unlock(&lock);
    return found;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = stub_new(sizeof(*pd));

    if (pd)
        pd->context = context;
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    return stub_delete(pd);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                unsigned int access)
{
    struct stub_mr *own;
    struct ibv_mr *mr;

    (void)iova;
    if (stub.refuse_memory) {
        errno = ENOMEM;
        return NULL;
    }
    own = stub_new(sizeof(*own));
    if (!own)
        return NULL;
    mr = &own->mr;
    mr->pd = pd;
    mr->context = pd->context;
    mr->addr = addr;
    mr->length = length;
    mr->lkey = mr->rkey = (atomic_fetch_add(&stub_numbers, 1) + 1) << 8;
    own->access = access;
    pthread_mutex_lock(&lock);
    own->next = mrs;
    mrs = own;
    pthread_mutex_unlock(&lock);
    return mr;
}

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, (unsigned)access);
}

#undef ibv_reg_mr_iova
struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                               int access)
{
    return ibv_reg_mr_iova2(pd, addr, length, iova, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    struct stub_mr **link = &mrs;

    if (stub_is_windowed(mr, NULL))
        return EBUSY;
    pthread_mutex_lock(&lock);
    while (&(*link)->mr != mr)
        link = &(*link)->next;
    *link = (*link)->next;
    pthread_mutex_unlock(&lock);
    return stub_delete(mr);
}
