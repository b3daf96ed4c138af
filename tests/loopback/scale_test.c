/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cost of many connected endpoints in heap and descriptors. bench/it_scale measures it for
 * 20,000.
 */
#include <criterion/criterion.h>
#include <malloc.h>
#include <sys/resource.h>

#include "support/it_fixture.h"

#define PAIRS       400u
#define ENDPOINTS   ((size_t)PAIRS * 2)
#define DEPTH       16u
#define SEGMENTS    4u
#define HEAP_PER_EP 8192u
#define SPARE_FD    64u

static bool room_for(size_t descriptors)
{
    struct rlimit limit;

    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < descriptors) {
        limit.rlim_cur = limit.rlim_max;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
    return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= descriptors;
}

/* Returns the allocated bytes, or 0 under sanitizers, which have their own heap. */
static size_t heap(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
#else
    return 0;
#endif
}

static it_ep_attributes_t attributes(void)
{
    it_ep_attributes_t attr = fx_ep_attr();

    attr.max_request_dtos = DEPTH;
    attr.max_recv_dtos = DEPTH;
    attr.max_send_segments = SEGMENTS;
    attr.max_recv_segments = SEGMENTS;
    attr.srv.rc.max_rdma_read_segments = SEGMENTS;
    attr.srv.rc.max_rdma_write_segments = SEGMENTS;
    return attr;
}

static void ping(struct fx_pair *pair, it_ep_handle_t from, it_ep_handle_t to, bool from_a)
{
    const struct fx_node *sender = from_a ? &pair->a : &pair->b;
    const struct fx_node *receiver = from_a ? &pair->b : &pair->a;

    CHECK_OK(it_post_recv(to, NULL, 0, 1, FX_SIGNAL));
    CHECK_OK(it_post_send(from, NULL, 0, 2, FX_SIGNAL));
    fx_done_len(receiver->recv_evd, to, IT_DTO_RC_RECV_CMPL_EVENT, 1, 0);
    fx_done_len(sender->request_evd, from, IT_DTO_SEND_CMPL_EVENT, 2, 0);
}

/* Idle endpoints that were busy before cost no more than ones that never were. */
Test(scale, heap_and_descriptors)
{
    static it_ep_handle_t a[PAIRS];
    static it_ep_handle_t b[PAIRS];
    it_ep_attributes_t attr = attributes();
    size_t baseline = fx_fd_count();
    struct fx_pair pair;
    size_t fds;
    size_t before;
    size_t after;

    if (!room_for(baseline + SPARE_FD + ENDPOINTS)) {
        cr_log_warn("skipped: the hard limit of open files is too low\n");
        return;
    }
    fx_pair_open(&pair);
    fx_pair_ping(&pair);
    fds = fx_fd_count();
    before = heap();
    for (unsigned i = 0; i < PAIRS; i++) {
        a[i] = fx_ep(&pair.a, &attr);
        b[i] = fx_ep(&pair.b, &attr);
        fx_join(&pair.a, a[i], &pair.b, b[i]);
        ping(&pair, a[i], b[i], true);
        ping(&pair, b[i], a[i], false);
    }
    fx_pair_ping(&pair);
    /* The listeners of fx_join close later. Then each endpoint has one descriptor. */
    fx_fd_settle(fds + ENDPOINTS);
    CHECK_EQ(fds + ENDPOINTS, fx_fd_count());
    after = heap();
    if (before > 0) {
        size_t each = (after - before) / ENDPOINTS;

        cr_log_info("%zu bytes of heap per endpoint\n", each);
        CHECK(after > before);
        CHECK(each <= HEAP_PER_EP);
    }
    /* it_ia_free frees everything, connected endpoints included. */
    CHECK_OK(it_ia_free(pair.a.ia));
    CHECK_OK(it_ia_free(pair.b.ia));
    fx_fd_settle(baseline);
    CHECK_EQ(baseline, fx_fd_count());
}
