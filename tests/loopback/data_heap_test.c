/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Neither side calls the heap for links, unlinks, Reads into windows, remote unlinks, messages into
 * a shared receive queue, atomic operations, immediate values.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/it_window.h"

static atomic_bool counting;
static atomic_uint calls;

/* Sanitizers have a heap of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define COUNTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTS 0
#else
#define COUNTS 1
#endif
#else
#define COUNTS 1
#endif

#if COUNTS

/* The C library provides its own functions under these names, too. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static void count(void)
{
    if (atomic_load(&counting))
        atomic_fetch_add(&calls, 1);
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    count();
    return __libc_realloc(memory, size);
}

void free(void *memory)
{
    if (memory != NULL)
        count();
    __libc_free(memory);
}

#endif

struct bed {
    struct fx_pair pair;
    struct fx_buf memory;
    struct fx_buf source;
    struct fx_part part;
    it_rmr_handle_t rmr;
    it_srq_handle_t srq; /* on side b */
    it_ep_handle_t srq_ep;
    it_ep_handle_t srq_peer;
};

/*
 * Its owner links, reads into and unlinks a window, then links it again, and the peer unlinks it.
 */
static void window_round_trip(struct bed *bed, uint64_t cookie)
{
    it_ep_handle_t ep = bed->pair.a_ep;
    it_evd_handle_t requests = bed->pair.a.request_evd;
    it_rmr_triplet_t segment = fx_rmr_seg(bed->rmr, &bed->part, 0, 3000);
    it_rmr_context_t key;

    (void)fx_link(ep, bed->rmr, &bed->part, cookie, FX_QUIET);
    CHECK_OK(it_post_rdma_read_to_rmr(ep, &segment, 1, cookie, FX_QUIET, fx_addr(&bed->source, 0),
                                      bed->source.key));
    CHECK_OK(it_rmr_unlink(bed->rmr, ep, cookie, FX_SIGNAL | IT_UNLINK_FENCE_FLAG));
    fx_done_len(requests, ep, IT_RMR_LINK_CMPL_EVENT, cookie, 0);
    CHECK_OK(it_post_recv(ep, NULL, 0, cookie, FX_SIGNAL));
    key = fx_linked(requests, ep, bed->rmr, &bed->part);
    CHECK_OK(it_post_send_and_unlink(bed->pair.b_ep, NULL, 0, cookie, FX_SIGNAL, key));
    fx_done_unlinked(bed->pair.a.recv_evd, ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie, bed->rmr);
    fx_done_len(bed->pair.b.request_evd, bed->pair.b_ep, IT_DTO_SEND_CMPL_EVENT, cookie, 0);
}

/* Messages draw receives of the queue, which are posted again. */
static void srq_round_trip(struct bed *bed, uint64_t cookie)
{
    for (unsigned i = 0; i < 4; i++)
        fx_srq_recv(bed->srq, &bed->source, (size_t)i * 512, 512, cookie + i);
    for (unsigned i = 0; i < 4; i++) {
        fx_send(bed->srq_peer, &bed->memory, 0, 300, cookie, FX_SIGNAL);
        fx_done_len(bed->pair.a.request_evd, bed->srq_peer, IT_DTO_SEND_CMPL_EVENT, cookie, 300);
        fx_done_len(bed->pair.b.recv_evd, bed->srq_ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie + i, 300);
    }
}

static void rfc7306_round_trip(struct bed *bed, uint64_t cookie)
{
    it_lmr_triplet_t result = fx_seg(&bed->memory, 0, 8);
    it_ep_handle_t ep = bed->pair.a_ep;
    it_evd_handle_t requests = bed->pair.a.request_evd;

    CHECK_OK(it_post_atomic(ep, IT_FETCH_AND_ADD, 1, 0, &result, cookie, FX_SIGNAL,
                            fx_addr(&bed->source, 0), bed->source.key));
    fx_done_len(requests, ep, IT_DTO_FETCH_ADD_CMPL_EVENT, cookie, 8);
    CHECK_OK(it_post_recv(bed->pair.b_ep, NULL, 0, cookie, FX_SIGNAL));
    CHECK_OK(itx_post_send_imm(ep, NULL, 0, cookie, FX_SIGNAL, cookie));
    fx_done_len(requests, ep, IT_DTO_SEND_CMPL_EVENT, cookie, 0);
    fx_done_len(bed->pair.b.recv_evd, bed->pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, cookie, 0);
}

static void bed_open(struct bed *bed)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair_setup setup = {.a_attr = &attr, .b_attr = &attr};

    attr.srv.rc.atomics_enable = IT_TRUE;
    fx_pair_open_as(&bed->pair, &setup);
    CHECK_OK(itx_ep_enable_immediate(bed->pair.a_ep, IT_TRUE));
    CHECK_OK(itx_ep_enable_immediate(bed->pair.b_ep, IT_TRUE));
    bed->memory = fx_buf_make(&bed->pair.a, 4096);
    bed->source =
        fx_buf_make_as(bed->pair.b.pz, 4096, (it_mem_priv_t)(FX_PRIVS_ALL | IT_PRIV_ATOMIC),
                       IT_ADDR_MODE_ABSOLUTE);
    bed->part = fx_whole(&bed->memory);
    bed->rmr = fx_rmr(bed->pair.a.pz, IT_RMR_TYPE_NARROW);
    bed->srq = fx_srq(&bed->pair.b, 4, 16);
    bed->srq_ep = fx_srq_ep(&bed->pair.b, bed->srq, NULL);
    bed->srq_peer = fx_ep(&bed->pair.a, NULL);
    fx_join(&bed->pair.a, bed->srq_peer, &bed->pair.b, bed->srq_ep);
}

int main(void)
{
    struct bed bed = {.rmr = NULL};

    if (!COUNTS) {
        (void)puts("skipped: this build has a heap of its own");
        return 77;
    }
    bed_open(&bed);
    for (uint64_t i = 0; i < 300; i++) {
        if (i == 10) /* all have warmed up */
            atomic_store(&counting, true);
        window_round_trip(&bed, i);
        srq_round_trip(&bed, i);
        rfc7306_round_trip(&bed, i);
    }
    atomic_store(&counting, false);
    CHECK_EQ(0, atomic_load(&calls));
    CHECK_OK(it_rmr_free(bed.rmr));
    fx_buf_free(&bed.memory);
    fx_buf_free(&bed.source);
    fx_pair_close(&bed.pair);
    check_done();
    return 0;
}
