/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls for memory, each in a few lines: examples of the manual pages, for calls that no program of
 * this folder needs. They are compiled, not run.
 */
#include "calls.h"

#include <stdio.h>

#define SIZE 4096

static char memory[SIZE];

void regions(it_ia_handle_t ia, it_pz_handle_t pz, it_lmr_handle_t lmr)
{
    it_lmr_param_t region = {.privs = IT_PRIV_LOCAL | IT_PRIV_REMOTE_READ};
    it_pz_param_t zone;
    it_rmr_context_t key;

    /* From now on peers may read the region, but not write it. */
    check(it_lmr_modify(lmr, IT_LMR_PARAM_MEM_PRIV, &region), "it_lmr_modify");

    check(it_lmr_query(lmr, IT_LMR_PARAM_ALL, &region), "it_lmr_query");
    printf("%llu octets at %p\n", (unsigned long long)region.length, region.addr);

    check(it_pz_query(pz, IT_PZ_PARAM_IA, &zone), "it_pz_query");
    printf("of this adapter: %s\n", zone.ia == ia ? "yes" : "no");

    /* The forms of versions 1.0 and 2.0, by their own names. */
    check(it_lmr_create10(pz, memory, SIZE, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL),
          "it_lmr_create10");

    check(it_lmr_create20(pz, memory, SIZE, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE, IT_LMR_FLAG_NONE,
                          0, &lmr, &key),
          "it_lmr_create20");

    /* For peers the first octet has the address 0 instead of that of this process. */
    check(itx_lmr_create_at(pz, memory, SIZE, 0, IT_PRIV_REMOTE, IT_LMR_FLAG_NONE, &lmr, &key),
          "itx_lmr_create_at");

    check(it_lmr_free(lmr), "it_lmr_free"); /* a zone is freed after all that is in it */
    check(it_pz_free(pz), "it_pz_free");
}

void coherence(it_lmr_handle_t lmr)
{
    it_lmr_triplet_t segment = {.lmr = lmr, .addr.abs = memory, .length = SIZE};

    memory[0] = 1; /* a peer will read it */
    check(it_lmr_flush_to_mem(&segment, 1), "it_lmr_flush_to_mem");

    check(it_lmr_refresh_from_mem(&segment, 1), "it_lmr_refresh_from_mem");
    printf("a peer has written %d\n", memory[0]);
}

void windows(it_pz_handle_t pz, it_lmr_handle_t lmr, it_ep_handle_t ep, it_evd_handle_t completions)
{
    it_rmr_handle_t rmr;
    it_rmr_param_t window;
    it_rmr_context_t key;
    it_event_t event;

    /* A narrow window: peers use it over `ep` only. */
    check(it_rmr_create20(pz, IT_RMR_TYPE_NARROW, &rmr), "it_rmr_create20");

    /* Opens the first 64 octets of a region; `key` is valid once the link has completed. */
    check(it_rmr_link(rmr, lmr, memory, 64, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE_READ, ep, 0,
                      IT_COMPLETION_FLAG | IT_NOTIFY_FLAG, &key),
          "it_rmr_link");
    check(it_evd_wait(completions, IT_TIMEOUT_INFINITE, &event, NULL), "it_evd_wait");

    check(it_rmr_query(rmr, IT_RMR_PARAM_LINKED, &window), "it_rmr_query");
    printf("the window is %s\n", window.linked ? "open" : "closed");

    check(it_rmr_unlink(rmr, ep, 0, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG), "it_rmr_unlink");
    check(it_evd_wait(completions, IT_TIMEOUT_INFINITE, &event, NULL), "it_evd_wait");

    check(it_rmr_free(rmr), "it_rmr_free");

    /* The forms of version 1.0, by their own names. */
    check(it_rmr_create10(pz, &rmr), "it_rmr_create10");

    check(it_rmr_bind10(rmr, lmr, memory, 64, IT_PRIV_REMOTE_READ, ep, 0, 0, &key),
          "it_rmr_bind10");
}

void window_keys(it_rmr_handle_t rmr, it_lmr_handle_t lmr, it_ep_handle_t ep)
{
    it_rmr_context_t key;

    /* Reserves a key: itx_rmr_link_key opens the window under it. */
    check(itx_rmr_key(rmr, &key), "itx_rmr_key");

    /* Another value of the last octet, which is the program's. */
    check(itx_rmr_link_key(rmr, lmr, memory, 64, IT_ADDR_MODE_ABSOLUTE, IT_PRIV_REMOTE_READ, ep, 0,
                           0, (key & ~(it_rmr_context_t)0xff) | 7),
          "itx_rmr_link_key");

    /* The connection is over: closes the window at once, without a request. */
    check(itx_rmr_reset(rmr), "itx_rmr_reset");

    /* Peers have no access by this key any more. */
    check(itx_post_invalidate(ep, key, 0, 0), "itx_post_invalidate");
}

/* For programs of the operating system. This library answers IT_ERR_PRIV_OPS_UNAVAILABLE. */
it_status_t physical(it_ia_handle_t ia, it_pz_handle_t pz, it_ep_handle_t ep)
{
    it_iobl_t list = {.iobl_type = IT_IOBL_PAGE_LIST, .num_elts = 1};
    it_lmr_handle_t lmr;
    it_io_addr_t page;
    size_t mapped;
    it_status_t status;

    status = it_mem_map(ia, memory, 0, SIZE, &page, &mapped);
    if (status != IT_SUCCESS)
        return status;

    list.list.ce_list.list_elt = &page;
    list.list.ce_list.elt_len = SIZE;
    check(it_lmr_create_unlinked(pz, 1, IT_LMR_FLAG_NONE, 0, &lmr), "it_lmr_create_unlinked");

    check(it_lmr_link(lmr, IT_NO_ADDR, &list, SIZE, IT_ADDR_MODE_RELATIVE, IT_PRIV_LOCAL, ep, 0, 0,
                      NULL),
          "it_lmr_link");

    check(it_lmr_unlink(lmr, ep, 0, 0), "it_lmr_unlink");

    return it_mem_unmap(ia, page, mapped);
}
