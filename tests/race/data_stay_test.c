/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Posts that stay: the posting thread itself reads the answer before the post returns. Two threads
 * of each IA do so at the same time, beside the IA's own thread. Whether a post stays depends on
 * the speed of the machine, so the test has every one do it.
 */
#include <pthread.h>
#include <sched.h>

#include "vp/uiwarp/lead/uiw_leader.h"

#include "support/it_fixture.h"

#define PLAYERS 2u
#define ROUNDS  100u
#define BLOCK   64u /* memory of one player */

struct player {
    pthread_t thread;
    it_ep_handle_t ep;
    const struct fx_buf *own, *other;
    size_t at;
    bool serves; /* the first Write is its own */
};

/* Adapters write where programs read: a race that ThreadSanitizer would tell of. */
static unsigned char __attribute__((noinline, no_sanitize("thread")))
look(const volatile unsigned char *octet)
{
    return *octet;
}

static void await(const struct player *player, unsigned char round)
{
    struct fx_patience patience = fx_patience_start("the other player's RDMA Write");

    while (look(player->own->data + player->at) != round) {
        fx_patience_check(&patience);
        (void)sched_yield();
    }
}

/* Posts, and stays. The octet that leaves lies behind the one that comes. */
static void play(const struct player *player, unsigned char round)
{
    it_lmr_triplet_t segment = fx_seg(player->own, player->at + 1, 1);
    struct uiw_ep *ep = uiw_ep_of((struct ual_ep *)(void *)player->ep);
    uint64_t heard = atomic_load(&ep->rx.heard);

    player->own->data[player->at + 1] = round;
    CHECK_OK(it_post_rdma_write(player->ep, &segment, 1, round, FX_QUIET,
                                fx_addr(player->other, player->at), player->other->key));
    ep->ia->progress.stay(ep->ual, heard, UIW_STAY);
}

static void *player_main(void *argument)
{
    const struct player *player = argument;

    for (unsigned i = 1; i <= ROUNDS; i++) {
        unsigned char round = (unsigned char)(i % 255 + 1);

        if (player->serves)
            play(player, round);
        await(player, round);
        if (!player->serves)
            play(player, round);
    }
    return NULL;
}

#define TRIES 100u

/* The program may forbid polling: then no post stays. */
static void stay_never(const struct fx_pair *pair)
{
    struct uiw_ep *ep = uiw_ep_of((struct ual_ep *)(void *)pair->a_ep);
    uint32_t stints;

    CHECK_OK(itx_ia_set_spin(pair->a.ia, 0));
    stints = atomic_load(&ep->ia->progress.stints);
    for (unsigned i = 0; i < TRIES; i++)
        ep->ia->progress.stay(ep->ual, atomic_load(&ep->rx.heard), UIW_STAY);
    CHECK_EQ(stints, atomic_load(&ep->ia->progress.stints));
}

int main(void)
{
    struct fx_pair pair;
    struct fx_buf a, b;
    struct player players[2 * PLAYERS];

    fx_pair_open(&pair);
    a = fx_node_buf(&pair.a, (size_t)PLAYERS * BLOCK);
    b = fx_node_buf(&pair.b, (size_t)PLAYERS * BLOCK);
    for (unsigned i = 0; i < PLAYERS; i++) {
        it_ep_handle_t a_ep = fx_ep(&pair.a, NULL);
        it_ep_handle_t b_ep = fx_ep(&pair.b, NULL);

        fx_join(&pair.a, a_ep, &pair.b, b_ep);
        players[2 * i] = (struct player){
            .ep = a_ep, .own = &a, .other = &b, .at = (size_t)i * BLOCK, .serves = true};
        players[2 * i + 1] =
            (struct player){.ep = b_ep, .own = &b, .other = &a, .at = (size_t)i * BLOCK};
    }
    for (unsigned i = 0; i < 2 * PLAYERS; i++)
        CHECK(pthread_create(&players[i].thread, NULL, player_main, &players[i]) == 0);
    for (unsigned i = 0; i < 2 * PLAYERS; i++)
        CHECK(pthread_join(players[i].thread, NULL) == 0);
    fx_pair_ping(&pair);
    stay_never(&pair);
    fx_pair_close(&pair);
    check_done();
    return 0;
}
