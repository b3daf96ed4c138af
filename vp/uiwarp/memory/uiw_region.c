/* SPDX-License-Identifier: BSD-2-Clause */
/* PZ, LMR and RMR: the objects by which memory is registered. */
#include "vp/uiwarp/memory/uiw_memory.h"

/* ---------------------------------------------------------------- PZ */

it_status_t uiw_pz_create(struct ual_pz *pz)
{
    atomic_store_explicit(&uiw_pz_of(pz)->eps, 0, memory_order_relaxed);
    return IT_SUCCESS;
}

void uiw_pz_destroy(struct ual_pz *pz)
{
    (void)pz; /* a PZ only has an identity */
}

/* ---------------------------------------------------------------- LMR */

static struct uiw_mr_table *region_table(const struct base_object *object)
{
    return &uiw_memory_of(ual_ia_of(object))->mrs;
}

static struct uiw_region region_of_lmr(struct ual_lmr *lmr, const struct ual_pz *pz,
                                       it_mem_priv_t privs)
{
    return (struct uiw_region){
        .addr = lmr->addr,
        .length = lmr->length,
        .to_base = uiw_lmr_of(lmr)->to_base,
        .privs = privs,
        .steady = (lmr->flags & ITX_LMR_STEADY) != 0,
        .restless = (lmr->flags & ITX_LMR_RESTLESS) != 0,
        .pz = pz,
        .handle = lmr,
    };
}

static struct uiw_region region_local(struct ual_lmr *lmr, const struct ual_pz *pz,
                                      it_mem_priv_t privs)
{
    return region_of_lmr(lmr, pz, (it_mem_priv_t)((unsigned)privs & (unsigned)IT_PRIV_LOCAL));
}

static struct uiw_region region_remote(struct ual_lmr *lmr, const struct ual_pz *pz,
                                       it_mem_priv_t privs)
{
    return region_of_lmr(lmr, pz, (it_mem_priv_t)((unsigned)privs & ~(unsigned)IT_PRIV_LOCAL));
}

/* Publishes the STags of the two entries. */
static void region_tell(struct ual_lmr *lmr)
{
    struct uiw_lmr *own = uiw_lmr_of(lmr);

    atomic_store_explicit(&own->local_stag,
                          atomic_load_explicit(&own->local->stag, memory_order_relaxed),
                          memory_order_relaxed);
    lmr->key = atomic_load_explicit(&own->remote->stag, memory_order_relaxed);
    atomic_store_explicit(&lmr->linked, true, memory_order_relaxed);
}

static it_status_t region_register(struct ual_lmr *lmr)
{
    struct uiw_mr_table *table = region_table(&lmr->object);
    struct uiw_lmr *own = uiw_lmr_of(lmr);
    struct uiw_region local = region_local(lmr, lmr->pz, lmr->privs);
    struct uiw_region remote = region_remote(lmr, lmr->pz, lmr->privs);

    own->local = uiw_mr_register(table, &local);
    if (!own->local)
        return IT_ERR_RESOURCES;
    own->remote = uiw_mr_register(table, &remote);
    if (!own->remote) {
        uiw_mr_deregister(table, own->local);
        return IT_ERR_RESOURCES;
    }
    region_tell(lmr);
    return IT_SUCCESS;
}

it_status_t uiw_lmr_create(struct ual_lmr *lmr)
{
    bool relative = lmr->addr_mode == IT_ADDR_MODE_RELATIVE;

    uiw_lmr_of(lmr)->to_base = relative ? 0 : (uintptr_t)lmr->addr;
    return region_register(lmr);
}

it_status_t uiw_lmr_create_at(struct ual_lmr *lmr, it_rdma_addr_t base)
{
    uiw_lmr_of(lmr)->to_base = base;
    return region_register(lmr);
}

void uiw_lmr_destroy(struct ual_lmr *lmr)
{
    struct uiw_mr_table *table = region_table(&lmr->object);

    uiw_mr_deregister(table, uiw_lmr_of(lmr)->remote);
    uiw_mr_deregister(table, uiw_lmr_of(lmr)->local);
}

static void region_reopen(struct uiw_mr_table *table, struct uiw_mr *mr,
                          const struct uiw_region *region, uint32_t stag)
{
    uiw_mr_take(mr);
    (void)uiw_mr_close(table, mr, true);
    uiw_mr_open(mr, region, stag);
    uiw_mr_drop(mr);
}

/* Draws new keys, so that no key given out before gets more rights. */
it_status_t uiw_lmr_modify(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs)
{
    struct uiw_mr_table *table = region_table(&lmr->object);
    const struct uiw_lmr *own = uiw_lmr_of(lmr);
    struct uiw_region local = region_local(lmr, pz, privs);
    struct uiw_region remote = region_remote(lmr, pz, privs);
    uint32_t local_stag = uiw_mr_new_stag(table, own->local);
    uint32_t remote_stag = uiw_mr_new_stag(table, own->remote);

    if (local_stag == 0 || remote_stag == 0) {
        uiw_mr_forget_stag(table, own->local, local_stag);
        uiw_mr_forget_stag(table, own->remote, remote_stag);
        return IT_ERR_RESOURCES;
    }
    region_reopen(table, own->remote, &remote, remote_stag);
    region_reopen(table, own->local, &local, local_stag);
    region_tell(lmr);
    return IT_SUCCESS;
}

/* Changes a region and keeps its STag: the change applies to known keys and posted segments. */
static void region_change(struct uiw_mr *mr, const struct uiw_region *region)
{
    uint32_t stag;

    uiw_mr_take(mr);
    stag = uiw_mr_shut(mr);
    uiw_mr_open(mr, region, stag);
    uiw_mr_drop(mr);
}

it_status_t uiw_lmr_change(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs)
{
    struct uiw_region local = region_local(lmr, pz, privs);
    struct uiw_region remote = region_remote(lmr, pz, privs);

    region_change(uiw_lmr_of(lmr)->remote, &remote);
    region_change(uiw_lmr_of(lmr)->local, &local);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- RMR */

it_status_t uiw_rmr_create(struct ual_rmr *rmr)
{
    struct uiw_mr *mr = uiw_mr_reserve(region_table(&rmr->object));

    if (!mr)
        return IT_ERR_RESOURCES;
    uiw_mr_take(mr);
    mr->region = (struct uiw_region){.handle = rmr};
    uiw_mr_drop(mr);
    if (rmr->type == IT_RMR_TYPE_DEFAULT)
        rmr->type = IT_RMR_TYPE_NARROW; /* gives less access than a wide one */
    uiw_rmr_of(rmr)->mr = mr;
    return IT_SUCCESS;
}

void uiw_rmr_destroy(struct ual_rmr *rmr)
{
    struct uiw_mr *mr = uiw_rmr_of(rmr)->mr;

    uiw_mr_take(mr);
    (void)uiw_mr_close(region_table(&rmr->object), mr, true);
    uiw_window_let_go(mr);
    uiw_mr_release(region_table(&rmr->object), mr);
}

void uiw_rmr_reset(struct ual_rmr *rmr)
{
    struct uiw_mr *mr = uiw_rmr_of(rmr)->mr;
    uint32_t stag;

    uiw_mr_take(mr);
    stag = atomic_load_explicit(&mr->stag, memory_order_relaxed);
    (void)uiw_mr_close(region_table(&rmr->object), mr, true);
    uiw_window_let_go(mr);
    uiw_window_want(mr, stag, 0);
    uiw_mr_drop(mr);
}

void uiw_rmr_query(struct ual_rmr *rmr, struct vp_rmr_state *state)
{
    struct uiw_mr *mr = uiw_rmr_of(rmr)->mr;
    const struct uiw_region *region = &mr->region;

    *state = (struct vp_rmr_state){0};
    uiw_mr_take(mr);
    if (mr->lmr) {
        state->lmr = mr->lmr;
        state->addr = region->addr;
        state->length = region->length;
        state->addr_mode = region->relative ? IT_ADDR_MODE_RELATIVE : IT_ADDR_MODE_ABSOLUTE;
        state->privs = (it_mem_priv_t)((unsigned)region->privs & ~(unsigned)IT_PRIV_LOCAL);
        state->key = atomic_load_explicit(&mr->stag, memory_order_relaxed);
    }
    uiw_mr_drop(mr);
}

it_status_t uiw_rmr_key(struct ual_rmr *rmr, it_rmr_context_t *key)
{
    struct uiw_mr *mr = uiw_rmr_of(rmr)->mr;

    uiw_mr_take(mr);
    *key = uiw_mr_keep_stag(region_table(&rmr->object), mr);
    uiw_mr_drop(mr);
    return *key == 0 ? IT_ERR_RESOURCES : IT_SUCCESS;
}
