/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Windows race with their users: they are unlinked, moved and freed while peers write and read
 * through them, linked by several threads at once, and unlinked by peer and owner at the same time.
 * After the unlink the memory does not change, no thread waits for ever, and nothing stays busy.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "race/region_writer.h"
#include "support/it_window.h"

/* ---- Unlinked under Writes ------------------------------------------------------------------ */

static void close_window(struct fx_pair *pair, it_rmr_handle_t rmr, const struct fx_buf *elsewhere,
                         unsigned round)
{
    struct fx_part part = fx_whole(elsewhere);

    if (round % 3 == 0)
        fx_unlinked(pair->b.request_evd, pair->b_ep, rmr);
    else if (round % 3 == 1)
        (void)fx_linked(pair->b.request_evd, pair->b_ep, rmr, &part);
    else
        CHECK_OK(it_rmr_free(rmr));
}

static void closed_while_written(unsigned round)
{
    static unsigned char now[WRITER_SIZE];
    struct fx_pair pair;
    struct fx_buf local;
    struct fx_buf remote;
    struct fx_buf elsewhere;
    struct fx_part part;
    struct writer writer;
    it_rmr_handle_t rmr;
    uint64_t end;

    fx_pair_open(&pair);
    local = fx_node_buf(&pair.a, WRITER_SIZE);
    remote = fx_buf_make_as(pair.b.pz, WRITER_SIZE, IT_PRIV_LOCAL, IT_ADDR_MODE_ABSOLUTE);
    elsewhere = fx_node_buf(&pair.b, 64);
    part = fx_whole(&remote);
    rmr = fx_rmr(pair.b.pz, round % 2 ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW);
    writer_start(&writer, &pair, &local, fx_part_addr(&part, 0),
                 fx_linked(pair.b.request_evd, pair.b_ep, rmr, &part));
    writer_await(&writer, 2 + round);
    close_window(&pair, rmr, &elsewhere, round);
    /*
     * Nobody writes to this memory any more, so plain reads are safe. ThreadSanitizer would report
     * a race.
     */
    memcpy(now, remote.data, WRITER_SIZE);
    end = fx_now_us() + 10000;
    do
        CHECK(memcmp(now, remote.data, WRITER_SIZE) == 0);
    while (fx_now_us() < end);
    CHECK(pthread_join(writer.thread, NULL) == 0);
    fx_conn(pair.b.conn_evd, pair.b_ep, IT_CM_MSG_CONN_BROKEN_EVENT);
    CHECK(memcmp(now, remote.data, WRITER_SIZE) == 0);
    if (round % 3 != 2)
        CHECK_OK(it_rmr_free(rmr));
    fx_buf_free(&remote);
    fx_node_close(&pair.a);
    fx_node_close(&pair.b);
}

/* ---- Two endpoints, each linking what the other one serves ---------------------------------- */

#define CYCLES 150u
#define SIDES  2u

/*
 * Each side has a peer that keeps reading the region, and a thread that links and unlinks two
 * windows onto it. The two sides use opposite orders.
 */
struct side {
    struct fx_pair *pair;
    it_ep_handle_t a_ep; /* the peer's endpoint */
    it_ep_handle_t b_ep;
    it_evd_handle_t a_evd;
    it_evd_handle_t b_evd;
    struct fx_buf sink;
    it_rmr_handle_t windows[SIDES];
    const struct fx_part *part;
    unsigned number;
    const struct fx_buf *served;
    atomic_bool stop;
    pthread_t reader;
    pthread_t linker;
};

static void *reader_main(void *argument)
{
    struct side *side = argument;

    for (uint64_t i = 0; !atomic_load(&side->stop); i++) {
        fx_read(side->a_ep, &side->sink, 0, side->sink.size, side->served, 0, i, FX_SIGNAL);
        fx_done_len(side->a_evd, side->a_ep, IT_DTO_RDMA_READ_CMPL_EVENT, i, side->sink.size);
    }
    return NULL;
}

static void *linker_main(void *argument)
{
    struct side *side = argument;
    it_rmr_param_t params;

    for (uint64_t i = 0; i < CYCLES; i++) {
        it_rmr_handle_t first = side->windows[(i + side->number) % SIDES];
        it_rmr_handle_t second = side->windows[(i + side->number + 1) % SIDES];

        (void)fx_link(side->b_ep, first, side->part, i, IT_COALESCE_WR_FLAG);
        (void)fx_link(side->b_ep, second, side->part, i, IT_COALESCE_WR_FLAG);
        CHECK_OK(it_rmr_unlink(first, side->b_ep, i, IT_COALESCE_WR_FLAG));
        CHECK_OK(it_rmr_query(second, IT_RMR_PARAM_ALL, &params));
        CHECK(params.lmr == NULL || params.lmr == side->part->buf->lmr);
        CHECK_OK(it_rmr_unlink(second, side->b_ep, i, FX_SIGNAL | IT_UNLINK_FENCE_FLAG));
        fx_done_len(side->b_evd, side->b_ep, IT_RMR_LINK_CMPL_EVENT, i, 0);
    }
    return NULL;
}

static it_ep_handle_t endpoint(const struct fx_node *node, it_evd_handle_t requests)
{
    it_ep_attributes_t attr = fx_ep_attr();
    it_ep_handle_t ep = NULL;

    CHECK_OK(it_ep_rc_create(node->pz, requests, node->recv_evd, node->conn_evd, IT_EP_NO_FLAG,
                             &attr, &ep));
    return ep;
}

static void side_open(struct side *side, struct fx_pair *pair, const struct fx_buf *served)
{
    memset(side, 0, sizeof(*side));
    side->pair = pair;
    side->served = served;
    side->a_evd = fx_evd(&pair->a, IT_DTO_EVENT_STREAM, 128, 0);
    side->b_evd = fx_evd(&pair->b, IT_DTO_EVENT_STREAM, 128, 0);
    side->a_ep = endpoint(&pair->a, side->a_evd);
    side->b_ep = endpoint(&pair->b, side->b_evd);
    side->sink = fx_buf_make(&pair->a, 64u << 10);
    fx_join(&pair->a, side->a_ep, &pair->b, side->b_ep);
}

static void linked_by_many(void)
{
    struct fx_pair pair;
    struct fx_buf region;
    struct fx_part part;
    struct side sides[SIDES];
    it_rmr_handle_t windows[SIDES];

    fx_pair_open(&pair);
    region = fx_node_buf(&pair.b, 64u << 10);
    part = fx_whole(&region);
    for (unsigned i = 0; i < SIDES; i++)
        windows[i] = fx_rmr(pair.b.pz, i % 2 ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW);
    for (unsigned i = 0; i < SIDES; i++) {
        side_open(&sides[i], &pair, &region);
        memcpy(sides[i].windows, windows, sizeof(windows));
        sides[i].part = &part;
        sides[i].number = i;
    }
    for (unsigned i = 0; i < SIDES; i++) {
        CHECK(pthread_create(&sides[i].reader, NULL, reader_main, &sides[i]) == 0);
        CHECK(pthread_create(&sides[i].linker, NULL, linker_main, &sides[i]) == 0);
    }
    for (unsigned i = 0; i < SIDES; i++)
        CHECK(pthread_join(sides[i].linker, NULL) == 0);
    for (unsigned i = 0; i < SIDES; i++)
        atomic_store(&sides[i].stop, true);
    for (unsigned i = 0; i < SIDES; i++)
        CHECK(pthread_join(sides[i].reader, NULL) == 0);
    for (unsigned i = 0; i < SIDES; i++)
        CHECK_OK(it_rmr_free(windows[i]));
    for (unsigned i = 0; i < SIDES; i++) {
        CHECK_OK(it_ep_free(sides[i].a_ep));
        CHECK_OK(it_ep_free(sides[i].b_ep));
        fx_buf_free(&sides[i].sink);
    }
    fx_node_close(&pair.a);
    fx_node_close(&pair.b);
}

/* ---- Senders that hold memory of one window and close the other ------------------------------ */

/* The endpoint's peer reads through one window while the endpoint unlinks the other one. */
struct cross {
    pthread_t thread;
    it_ep_handle_t ep;
    it_rmr_handle_t closes;
};

static void *cross_main(void *argument)
{
    const struct cross *cross = argument;

    CHECK_OK(it_rmr_unlink(cross->closes, cross->ep, 9, FX_SIGNAL));
    return NULL;
}

static void read_much(const struct side *side, const struct fx_part *part, it_rmr_context_t key)
{
    it_lmr_triplet_t segment = fx_seg(&side->sink, 0, side->sink.size);

    for (uint64_t i = 0; i < 8; i++)
        CHECK_OK(
            it_post_rdma_read(side->a_ep, &segment, 1, i, FX_QUIET, fx_part_addr(part, 0), key));
}

static void drain(it_evd_handle_t evd)
{
    fx_drain(evd);
}

static void cross_round(struct fx_pair *pair, const struct fx_part *part, struct side *sides,
                        const it_rmr_handle_t *windows)
{
    struct cross crosses[SIDES];
    it_event_t event;

    for (unsigned i = 0; i < SIDES; i++)
        read_much(&sides[i], part, fx_linked(sides[i].b_evd, sides[i].b_ep, windows[i], part));
    for (unsigned i = 0; i < SIDES; i++) {
        crosses[i] = (struct cross){.ep = sides[i].b_ep, .closes = windows[(i + 1) % SIDES]};
        CHECK(pthread_create(&crosses[i].thread, NULL, cross_main, &crosses[i]) == 0);
    }
    for (unsigned i = 0; i < SIDES; i++)
        CHECK(pthread_join(crosses[i].thread, NULL) == 0);
    /* Each unlink has one event: it succeeds, or it is flushed since the other one was faster. */
    for (unsigned i = 0; i < SIDES; i++) {
        event = fx_next(sides[i].b_evd);
        CHECK_EQ(9, event.dto_cmpl.cookie);
        CHECK(event.dto_cmpl.dto_status == IT_DTO_SUCCESS ||
              event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED);
    }
    fx_pair_ping(pair);
    /* If everything was read in time, the connections still exist. */
    for (unsigned i = 0; i < SIDES; i++)
        (void)it_ep_disconnect(sides[i].a_ep, NULL, 0);
    for (unsigned i = 0; i < SIDES; i++) {
        event = fx_next(pair->a.conn_evd);
        event = fx_next(pair->b.conn_evd);
    }
    for (unsigned i = 0; i < SIDES; i++) {
        drain(sides[i].a_evd);
        CHECK_OK(it_ep_reset(sides[i].a_ep));
        CHECK_OK(it_ep_reset(sides[i].b_ep));
    }
    drain(pair->a.aff_evd);
    drain(pair->b.aff_evd);
    for (unsigned i = 0; i < SIDES; i++)
        fx_join(&pair->a, sides[i].a_ep, &pair->b, sides[i].b_ep);
}

static void closed_across(void)
{
    struct fx_pair pair;
    struct fx_buf region;
    struct fx_part part;
    struct side sides[SIDES];
    it_rmr_handle_t windows[SIDES];

    fx_pair_open(&pair);
    region = fx_node_buf(&pair.b, 64u << 10);
    part = fx_whole(&region);
    for (unsigned i = 0; i < SIDES; i++) {
        side_open(&sides[i], &pair, &region);
        windows[i] = fx_rmr(pair.b.pz, IT_RMR_TYPE_WIDE);
    }
    for (unsigned round = 0; round < 40; round++)
        cross_round(&pair, &part, sides, windows);
    for (unsigned i = 0; i < SIDES; i++) {
        CHECK_OK(it_rmr_free(windows[i]));
        CHECK_OK(it_ep_free(sides[i].a_ep));
        CHECK_OK(it_ep_free(sides[i].b_ep));
        fx_buf_free(&sides[i].sink);
    }
    fx_node_close(&pair.a);
    fx_node_close(&pair.b);
}

/* ---- Peer and owner close the same window --------------------------------------------------- */

/* The owner unlinks or frees the window while the peer's Send with Invalidate is in transit. */
static void *inviter_main(void *argument)
{
    const struct writer *writer = argument;

    CHECK_OK(it_post_send_and_unlink(writer->pair->a_ep, NULL, 0, 1, FX_QUIET, writer->key));
    return NULL;
}

static bool closed_from_both_sides(struct fx_pair *pair, const struct fx_part *part, unsigned round)
{
    it_rmr_handle_t rmr = fx_rmr(pair->b.pz, round % 2 ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW);
    struct writer writer = {.pair = pair};
    it_event_t event;
    bool good;

    CHECK_OK(it_post_recv(pair->b_ep, NULL, 0, 3, FX_SIGNAL));
    writer.key = fx_linked(pair->b.request_evd, pair->b_ep, rmr, part);
    CHECK(pthread_create(&writer.thread, NULL, inviter_main, &writer) == 0);
    if (round % 4 < 2)
        CHECK_OK(it_rmr_unlink(rmr, pair->b_ep, 4, FX_QUIET));
    else
        CHECK_OK(it_rmr_free(rmr));
    CHECK(pthread_join(writer.thread, NULL) == 0);
    event = fx_next(pair->b.recv_evd);
    good = event.dto_cmpl.dto_status == IT_DTO_SUCCESS;
    CHECK(event.dto_cmpl.unlinked_mr_handle == (good ? (it_handle_t)rmr : NULL));
    if (round % 4 < 2)
        CHECK_OK(it_rmr_free(rmr));
    return good;
}

static void closed_twice(void)
{
    struct fx_pair pair;
    struct fx_buf region;
    struct fx_part part;

    fx_pair_open(&pair);
    region = fx_node_buf(&pair.b, 64);
    part = fx_whole(&region);
    for (unsigned round = 0; round < 60; round++) {
        if (closed_from_both_sides(&pair, &part, round))
            continue;
        /* The owner was faster: the peer's key was invalid by then. */
        fx_pair_mend(&pair);
        while (it_evd_dequeue(pair.a.request_evd, &(it_event_t){0}) == IT_SUCCESS ||
               it_evd_dequeue(pair.b.request_evd, &(it_event_t){0}) == IT_SUCCESS ||
               it_evd_dequeue(pair.a.aff_evd, &(it_event_t){0}) == IT_SUCCESS ||
               it_evd_dequeue(pair.b.aff_evd, &(it_event_t){0}) == IT_SUCCESS)
            continue;
    }
    fx_pair_close(&pair);
}

/* ---- Links posted as the connection ends ---------------------------------------------------- */

struct poster {
    pthread_t thread;
    struct fx_pair *pair;
    it_rmr_handle_t rmr;
    const struct fx_part *part;
    atomic_uint posted;
};

static void *poster_main(void *argument)
{
    struct poster *poster = argument;

    for (uint64_t i = 0; i < 60; i++) {
        if (i % 3 == 2)
            CHECK_OK(it_rmr_unlink(poster->rmr, poster->pair->b_ep, i, FX_SIGNAL));
        else
            (void)fx_link(poster->pair->b_ep, poster->rmr, poster->part, i, FX_SIGNAL);
        atomic_fetch_add(&poster->posted, 1);
    }
    return NULL;
}

static void posted_until_the_end(struct fx_pair *pair, struct poster *poster, unsigned round)
{
    bool flushed = false;

    atomic_store(&poster->posted, 0);
    CHECK(pthread_create(&poster->thread, NULL, poster_main, poster) == 0);
    while (atomic_load(&poster->posted) < round % 40)
        continue;
    CHECK_OK(it_ep_disconnect(pair->b_ep, NULL, 0));
    CHECK(pthread_join(poster->thread, NULL) == 0);
    for (uint64_t i = 0; i < 60; i++) {
        it_event_t event = fx_next(pair->b.request_evd);

        CHECK_EQ(IT_RMR_LINK_CMPL_EVENT, event.event_number);
        CHECK_EQ(i, event.dto_cmpl.cookie);
        CHECK_EQ(flushed || event.dto_cmpl.dto_status != IT_DTO_SUCCESS,
                 event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED);
        flushed = event.dto_cmpl.dto_status == IT_DTO_ERR_FLUSHED;
    }
    fx_conn(pair->a.conn_evd, pair->a_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_conn(pair->b.conn_evd, pair->b_ep, IT_CM_MSG_CONN_DISCONNECT_EVENT);
    fx_pair_rejoin(pair);
}

static void posted_as_it_ends(void)
{
    struct fx_pair pair;
    struct fx_buf region;
    struct fx_part part;
    struct poster poster;

    fx_pair_open(&pair);
    region = fx_buf_make(&pair.b, 64);
    part = fx_whole(&region);
    memset(&poster, 0, sizeof(poster));
    poster.pair = &pair;
    poster.part = &part;
    for (unsigned round = 0; round < 40; round++) {
        poster.rmr = fx_rmr(pair.b.pz, round % 2 ? IT_RMR_TYPE_WIDE : IT_RMR_TYPE_NARROW);
        posted_until_the_end(&pair, &poster, round);
        CHECK_OK(it_rmr_free(poster.rmr));
        CHECK_OK(it_lmr_free(region.lmr)); /* no link was forgotten */
        CHECK_OK(it_lmr_create21(pair.b.pz, region.data, NULL, 64, IT_ADDR_MODE_ABSOLUTE,
                                 FX_PRIVS_ALL, IT_LMR_FLAG_NONE, 0, &region.lmr, &region.key));
    }
    fx_buf_free(&region);
    fx_pair_close(&pair);
}

/* ---- it_lmr_modify against queries ---------------------------------------------------------- */

struct querier {
    pthread_t thread;
    it_lmr_handle_t lmr;
    atomic_bool stop;
};

static void *querier_main(void *argument)
{
    struct querier *querier = argument;
    it_lmr_param_t params;

    while (!atomic_load(&querier->stop)) {
        CHECK_OK(it_lmr_query(querier->lmr, IT_LMR_PARAM_ALL, &params));
        CHECK(params.pz != NULL && params.rmr_context != 0);
        CHECK(params.privs == IT_PRIV_LOCAL || params.privs == FX_PRIVS_ALL);
    }
    return NULL;
}

static void modified_under_queries(void)
{
    struct fx_node node;
    struct fx_buf buf;
    struct querier queriers[2];
    it_pz_handle_t pz = NULL;

    fx_node_open(&node);
    buf = fx_node_buf(&node, 64);
    CHECK_OK(it_pz_create(node.ia, &pz));
    for (unsigned i = 0; i < 2; i++) {
        memset(&queriers[i], 0, sizeof(queriers[i]));
        queriers[i].lmr = buf.lmr;
        CHECK(pthread_create(&queriers[i].thread, NULL, querier_main, &queriers[i]) == 0);
    }
    for (unsigned i = 0; i < 300; i++) {
        it_lmr_param_t params = {.pz = i % 2 ? node.pz : pz,
                                 .privs = i % 2 ? FX_PRIVS_ALL : IT_PRIV_LOCAL};

        CHECK_OK(it_lmr_modify(
            buf.lmr, (it_lmr_param_mask_t)(IT_LMR_PARAM_PZ | IT_LMR_PARAM_MEM_PRIV), &params));
    }
    for (unsigned i = 0; i < 2; i++) {
        atomic_store(&queriers[i].stop, true);
        CHECK(pthread_join(queriers[i].thread, NULL) == 0);
    }
    CHECK_OK(it_pz_free(pz));
    fx_node_close(&node);
}

int main(void)
{
    for (unsigned round = 0; round < 6; round++)
        closed_while_written(round);
    linked_by_many();
    closed_across();
    closed_twice();
    posted_as_it_ends();
    modified_under_queries();
    check_done();
    return 0;
}
