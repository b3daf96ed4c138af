/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into it_perf or dapltest, this prints the time from one post to a later one, divided by
 * the number of posts between them. Both programs are so measured at the same places: when the
 * connection has reached its speed, and before the last requests are waited for. ITAPI_SPAN has
 * the numbers of the two posts, from 1: "1000 9000".
 */
#include <it_api.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct span {
    unsigned long first, last; /* numbers of the posts */
    unsigned long posts;       /* so far */
    uint64_t begin_ns;
};

static struct span span;

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void __attribute__((constructor)) read_span(void)
{
    const char *text = getenv("ITAPI_SPAN");
    char *rest;

    if (!text)
        return;
    span.first = strtoul(text, &rest, 10);
    span.last = strtoul(rest, NULL, 10);
}

/* Only one thread of these programs posts RDMA Writes and Reads. */
static void count_post(void)
{
    span.posts++;
    if (span.posts == span.first)
        span.begin_ns = now_ns();
    if (span.posts == span.last && span.last > span.first)
        (void)fprintf(stderr, "span: %.4f us\n",
                      (double)(now_ns() - span.begin_ns) / 1000 / (double)(span.last - span.first));
}

it_status_t it_post_rdma_write(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                               it_dto_cookie_t cookie, it_dto_flags_t flags, it_rdma_addr_t address,
                               it_rmr_context_t key)
{
    static it_status_t (*post)(it_ep_handle_t, const it_lmr_triplet_t *, size_t, it_dto_cookie_t,
                               it_dto_flags_t, it_rdma_addr_t, it_rmr_context_t);

    if (!post)
        *(void **)&post = dlsym(RTLD_NEXT, "it_post_rdma_write");
    count_post();
    return post(ep, segments, count, cookie, flags, address, key);
}

it_status_t it_post_rdma_read(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                              it_dto_cookie_t cookie, it_dto_flags_t flags, it_rdma_addr_t address,
                              it_rmr_context_t key)
{
    static it_status_t (*post)(it_ep_handle_t, const it_lmr_triplet_t *, size_t, it_dto_cookie_t,
                               it_dto_flags_t, it_rdma_addr_t, it_rmr_context_t);

    if (!post)
        *(void **)&post = dlsym(RTLD_NEXT, "it_post_rdma_read");
    count_post();
    return post(ep, segments, count, cookie, flags, address, key);
}
