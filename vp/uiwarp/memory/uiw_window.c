/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows (RMRs). Links and unlinks are requests, which run in their turn in the send queue. Reads
 * may go into windows. Send with Invalidate and Reads with IT_UNLINK_LOCAL_SINK take access away
 * from peers.
 *
 * A request refers to the entry of its window and the entry's serial number, never to the RMR. The
 * serial number changes when the RMR is freed.
 */
#include "vp/uiwarp/memory/uiw_memory.h"

void uiw_window_let_go(struct uiw_mr *window)
{
    if (window->lmr)
        base_object_release(&window->lmr->object);
    if (window->ep)
        base_object_release(&window->ep->object);
    window->lmr = NULL;
    window->ep = NULL;
}

void uiw_window_want(struct uiw_mr *window, uint32_t from, uint32_t to)
{
    (void)atomic_compare_exchange_strong_explicit(&window->wanted, &from, to, memory_order_relaxed,
                                                  memory_order_relaxed);
}

/* ---------------------------------------------------------------- execution */

/* Returns the tagged offset under which peers find the octet at addr of an LMR. */
static uint64_t window_base(struct ual_lmr *lmr, const uint8_t *addr)
{
    return uiw_lmr_of(lmr)->to_base + ((uintptr_t)addr - (uintptr_t)lmr->addr);
}

static void window_open(struct uiw_mr_table *table, const struct uiw_stream_id *by,
                        struct ual_ep *ual, struct uiw_link *link)
{
    struct uiw_mr *window = link->window;
    unsigned privs = link->privs;
    struct uiw_region region = {
        .addr = link->addr,
        .length = link->length,
        .to_base = link->relative ? 0 : window_base(link->lmr, link->addr),
        .relative = link->relative,
        .steady = (link->lmr->flags & ITX_LMR_STEADY) != 0,
        .pz = by->pz,
        .stream = link->narrow ? by->number : 0,
        .handle = window->region.handle,
    };

    if (privs & IT_PRIV_REMOTE_WRITE) /* the peer also writes what this side's Reads place */
        privs |= IT_PRIV_LOCAL_WRITE;
    region.privs = (it_mem_priv_t)privs;
    uiw_window_let_go(window);
    window->lmr = link->lmr; /* the reference passes to the window */
    window->ep = link->narrow ? ual : NULL;
    link->lmr = NULL;
    uiw_mr_open_kept(table, window, &region, link->stag);
}

/* Skips a link whose window was freed, as if it had run before the window was freed. */
static void window_skip(struct uiw_mr_table *table, struct uiw_link *link)
{
    if (!link->lmr)
        return;
    uiw_mr_forget_stag(table, link->window, link->stag);
    base_object_release(&link->lmr->object);
    link->lmr = NULL;
}

/*
 * InfiniBand: a window of type 2 that is bound has to be invalidated before it is bound again. An
 * earlier connection of the EP has taken its binding with it. Needs the token.
 */
static bool window_is_taken(const struct uiw_stream_id *by, const struct ual_ep *ual,
                            const struct uiw_link *link)
{
    const struct uiw_mr *window = link->window;

    return link->lmr && link->narrow && uiw_mr_is_kept(window, link->stag) &&
           atomic_load_explicit(&window->stag, memory_order_relaxed) != 0 &&
           (window->ep != ual || window->region.stream == by->number);
}

/* Needs the token. */
static enum uiw_window_result window_run_locked(struct uiw_mr_table *table,
                                                const struct uiw_stream_id *by, struct ual_ep *ual,
                                                struct uiw_link *link, bool may_wait)
{
    struct uiw_mr *window = link->window;
    bool hold = link->lmr && link->narrow;

    if (window->serial != link->serial) {
        window_skip(table, link);
        return UIW_WINDOW_DONE;
    }
    if (window_is_taken(by, ual, link))
        return UIW_WINDOW_REFUSED;
    if (hold && !base_object_hold(&ual->object))
        return UIW_WINDOW_LATER; /* the EP is being destroyed, and its requests dropped */
    if (!uiw_mr_close(table, window, may_wait)) {
        if (hold)
            base_object_release(&ual->object);
        return UIW_WINDOW_LATER;
    }
    if (link->lmr)
        window_open(table, by, ual, link);
    else
        uiw_window_let_go(window);
    return UIW_WINDOW_DONE;
}

enum uiw_window_result uiw_window_run(struct uiw_mr_table *table, const struct uiw_stream_id *by,
                                      struct ual_ep *ual, struct uiw_link *link, bool may_wait)
{
    enum uiw_window_result result;

    if (may_wait)
        uiw_mr_take(link->window);
    else if (!uiw_mr_try(link->window))
        return UIW_WINDOW_LATER;
    result = window_run_locked(table, by, ual, link, may_wait);
    uiw_mr_drop(link->window);
    return result;
}

/* ---------------------------------------------------------------- Reads into windows */

bool uiw_window_resolve(const struct uiw_stream_id *by, struct uiw_segment *segment)
{
    struct uiw_mr *window = segment->mr;
    const struct uiw_region *region = &window->region;
    uint32_t stag = atomic_load_explicit(&window->stag, memory_order_relaxed);
    bool good;

    if (stag == 0 || !uiw_mr_pin_entry(window, stag))
        return false;
    good = window->serial == segment->stag && (region->stream == 0 || region->stream == by->number);
    if (good) {
        if (region->relative)
            segment->addr = (uint8_t *)((uintptr_t)region->addr + (uintptr_t)segment->addr);
        segment->stag = stag;
    }
    uiw_mr_unpin(window);
    return good;
}

/* ---------------------------------------------------------------- closing, with the token */

static void window_close(struct uiw_mr_table *table, struct uiw_mr *window, uint32_t stag)
{
    (void)uiw_mr_close(table, window, true);
    uiw_window_let_go(window);
    uiw_window_want(window, stag, 0);
}

/* Closes the entry through which peers access the region. */
static void region_close(struct uiw_mr_table *table, struct uiw_mr *remote, struct ual_lmr *lmr)
{
    (void)uiw_mr_close(table, remote, true);
    atomic_store_explicit(&lmr->linked, false, memory_order_relaxed);
}

/* ---------------------------------------------------------------- IT_UNLINK_LOCAL_SINK */

/* With the token of the LMR's local entry, so that the LMR stays. */
static void sink_close_lmr(struct uiw_mr_table *table, struct ual_lmr *lmr)
{
    struct uiw_mr *remote = uiw_lmr_of(lmr)->remote;

    uiw_mr_take(remote);
    region_close(table, remote, lmr);
    uiw_mr_drop(remote);
}

it_handle_t uiw_sink_unlink(struct uiw_mr_table *table, const struct uiw_segment *sink,
                            bool is_window)
{
    struct uiw_mr *mr = sink->mr;
    it_handle_t unlinked = NULL;

    uiw_mr_take(mr);
    if (sink->stag != 0 && atomic_load_explicit(&mr->stag, memory_order_relaxed) == sink->stag) {
        unlinked = mr->region.handle;
        if (is_window)
            window_close(table, mr, sink->stag);
        else
            sink_close_lmr(table, unlinked);
    }
    uiw_mr_drop(mr);
    return unlinked;
}

/* ---------------------------------------------------------------- Send with Invalidate */

static bool region_is_window(const struct uiw_mr *mr)
{
    const struct base_object *object = mr->region.handle;

    return object->type == IT_HANDLE_TYPE_RMR;
}

static bool region_has_windows(const struct uiw_mr *mr)
{
    const struct ual_lmr *lmr = mr->region.handle;

    return !region_is_window(mr) &&
           atomic_load_explicit(&lmr->object.children, memory_order_acquire) != 0;
}

enum iw_error uiw_region_invalidate(struct uiw_mr_table *table, const struct uiw_pz *pz,
                                    const struct uiw_stream_id *by, uint32_t stag,
                                    it_handle_t *handle)
{
    struct uiw_mr *mr = uiw_mr_find(table, stag);
    bool alone = atomic_load_explicit(&pz->eps, memory_order_relaxed) == 1;
    bool may;

    if (!mr)
        return IW_ERR_RDMAP_CANNOT_INVALIDATE;
    uiw_mr_take(mr);
    may = uiw_mr_may_invalidate(mr, stag, by, alone) && !region_has_windows(mr);
    if (may) {
        *handle = mr->region.handle;
        if (region_is_window(mr))
            window_close(table, mr, stag);
        else
            region_close(table, mr, mr->region.handle);
    }
    uiw_mr_drop(mr);
    return may ? IW_OK : IW_ERR_RDMAP_CANNOT_INVALIDATE;
}

/* ---------------------------------------------------------------- posted invalidations */

/* Returns false for the local entry of an LMR: its STag is no key. */
static bool key_is_key(const struct uiw_mr *mr)
{
    return region_is_window(mr) || uiw_lmr_of(mr->region.handle)->remote == mr;
}

static bool key_is_ours(const struct uiw_mr *mr, uint32_t stag, const struct uiw_stream_id *by)
{
    const struct uiw_region *region = &mr->region;

    return stag != 0 && atomic_load_explicit(&mr->stag, memory_order_relaxed) == stag &&
           region->pz == by->pz && (region->stream == 0 || region->stream == by->number) &&
           key_is_key(mr);
}

/* Needs the token. */
static enum uiw_window_result key_invalidate_locked(struct uiw_mr_table *table, struct uiw_mr *mr,
                                                    const struct uiw_stream_id *by, uint32_t stag,
                                                    bool may_wait)
{
    if (!key_is_ours(mr, stag, by) || region_has_windows(mr))
        return UIW_WINDOW_REFUSED;
    if (!uiw_mr_close(table, mr, may_wait))
        return UIW_WINDOW_LATER;
    if (region_is_window(mr)) {
        uiw_window_let_go(mr);
        uiw_window_want(mr, stag, 0);
    } else {
        struct ual_lmr *lmr = mr->region.handle;

        atomic_store_explicit(&lmr->linked, false, memory_order_relaxed);
    }
    return UIW_WINDOW_DONE;
}

enum uiw_window_result uiw_key_invalidate(struct uiw_mr_table *table,
                                          const struct uiw_stream_id *by, uint32_t stag,
                                          bool may_wait)
{
    struct uiw_mr *mr = uiw_mr_find(table, stag);
    enum uiw_window_result result;

    if (!mr)
        return UIW_WINDOW_REFUSED;
    if (may_wait)
        uiw_mr_take(mr);
    else if (!uiw_mr_try(mr))
        return UIW_WINDOW_LATER;
    result = key_invalidate_locked(table, mr, by, stag, may_wait);
    uiw_mr_drop(mr);
    return result;
}
