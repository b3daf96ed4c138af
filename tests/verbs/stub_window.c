/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory windows of the stub device, as on rxe: a request names the key that the window had when it
 * was posted. It fails if the window has another key when it runs.
 */
#include "verbs/stub_private.h"

#include <errno.h>
#include <pthread.h>

struct stub_mw {
    struct ibv_mw mw; /* must be first; the library changes .rkey */
    struct stub_mw *next;
    uint32_t key;                 /* the key that the device uses */
    struct ibv_mw_bind_info info; /* .length 0: closed */
    const struct ibv_qp *qp;      /* type 2: the QP on which it is open */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct stub_mw *windows;

struct ibv_mw *stub_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    struct stub_mw *own;

    errno = stub.has_windows ? ENOMEM : EOPNOTSUPP;
    if (!stub.has_windows || stub.refuse_window)
        return NULL;
    own = stub_new(sizeof(*own));
    if (!own)
        return NULL;
    own->mw.context = pd->context;
    own->mw.pd = pd;
    own->mw.type = type;
    own->key = own->mw.rkey = (atomic_fetch_add(&stub_numbers, 1) + 1) << 8;
    pthread_mutex_lock(&lock);
    own->next = windows;
    windows = own;
    pthread_mutex_unlock(&lock);
    return &own->mw;
}

int stub_dealloc_mw(struct ibv_mw *mw)
{
    struct stub_mw **link = &windows;

    pthread_mutex_lock(&lock);
    while (&(*link)->mw != mw)
        link = &(*link)->next;
    *link = (*link)->next;
    pthread_mutex_unlock(&lock);
    return stub_delete(mw);
}

/* Called with the lock held. */
static struct stub_mw *window_find(uint32_t key)
{
    struct stub_mw *own;

    for (own = windows; own && own->key != key; own = own->next)
        ;
    return own;
}

static bool window_may_bind(const struct ibv_qp *qp, const struct stub_bind *bind,
                            const struct stub_mw *own)
{
    const struct ibv_mw_bind_info *info = &bind->info;
    uint64_t offset = info->addr - (uintptr_t)info->mr->addr;

    if (!own || &own->mw != bind->mw || own->mw.pd != qp->pd || info->mr->pd != qp->pd)
        return false;
    if (own->mw.type == IBV_MW_TYPE_2 && (own->info.length > 0 || info->length == 0))
        return false;
    return (stub_memory_access(info->mr) & IBV_ACCESS_MW_BIND) != 0 && offset <= info->mr->length &&
           info->length <= info->mr->length - offset;
}

enum ibv_wc_status stub_bind(const struct ibv_qp *qp, const struct stub_bind *bind)
{
    enum ibv_wc_status status = IBV_WC_MW_BIND_ERR;
    struct stub_mw *own;

    pthread_mutex_lock(&lock);
    own = window_find(bind->from_key);
    if (window_may_bind(qp, bind, own)) {
        own->key = bind->to_key;
        own->info = bind->info;
        own->qp = own->mw.type == IBV_MW_TYPE_2 ? qp : NULL;
        status = IBV_WC_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

enum ibv_wc_status stub_invalidate(const struct ibv_qp *qp, uint32_t key)
{
    enum ibv_wc_status status = IBV_WC_MW_BIND_ERR;
    struct stub_mw *own;

    pthread_mutex_lock(&lock);
    own = window_find(key);
    if (own && own->qp == qp && own->info.length > 0) {
        own->info.length = 0;
        own->qp = NULL;
        status = IBV_WC_SUCCESS;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

static bool window_has(uint64_t start, uint64_t size, uint64_t addr, uint32_t length)
{
    return addr - start <= size && length <= size - (addr - start);
}

bool stub_is_open(const struct ibv_qp *qp, uint32_t key, uint64_t addr, uint32_t length,
                  unsigned access)
{
    const struct ibv_mr *mr = stub_memory(key);
    const struct stub_mw *own;
    bool open;

    if (mr)
        return mr->pd == qp->pd && (stub_memory_access(mr) & access) == access &&
               window_has((uintptr_t)mr->addr, mr->length, addr, length);
    pthread_mutex_lock(&lock);
    own = window_find(key);
    open = own && own->info.length > 0 && own->mw.pd == qp->pd && (!own->qp || own->qp == qp) &&
           (own->info.mw_access_flags & access) == access &&
           window_has(own->info.addr, own->info.length, addr, length);
    pthread_mutex_unlock(&lock);
    return open;
}

bool stub_is_windowed(const struct ibv_mr *mr, const struct ibv_qp *qp)
{
    const struct stub_mw *own;
    bool is;

    pthread_mutex_lock(&lock);
    for (own = windows; own; own = own->next)
        if ((mr && own->info.mr == mr && own->info.length > 0) || (qp && own->qp == qp))
            break;
    is = own != NULL;
    pthread_mutex_unlock(&lock);
    return is;
}
