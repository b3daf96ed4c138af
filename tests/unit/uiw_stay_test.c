/* SPDX-License-Identifier: BSD-2-Clause */
/* Posts that poll until the answer has come: when they do, and what they read. */
#include "base/base_clock.h"
#include "vp/uiwarp/lead/uiw_leader.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/ioctl.h>

#include "support/fixture_pair.h"

#define TRUST  4u
#define SURE   16u
#define SOON   1000u /* ticks: a prompt answer of the program or of the peer */
#define LATE   500000u
#define STOLEN 5000000u

/* ---------------------------------------------------------------- learning */

static struct uiw_stay stay;
static uint64_t now;
static uint32_t posts;

/* The peer's answer is received, and the program posts again. */
static enum uiw_stay_order post_again(uint64_t answer, uint64_t reaction)
{
    struct uiw_stay_times times = {
        .posted = now, .taken = now + answer, .now = now + answer + reaction};

    now = times.now;
    return uiw_stay_learn(&stay, ++posts, &times);
}

static void learn(void)
{
    posts = UINT32_MAX - 2; /* it wraps */
    stay = (struct uiw_stay){.index = posts};
    now = 1u << 30;
    for (unsigned i = 1; i < TRUST; i++)
        cr_assert_eq(post_again(SOON, SOON), UIW_STAY_NOT);
    cr_assert_eq(post_again(SOON, SOON), UIW_STAY);
}

static void make_sure(void)
{
    learn();
    for (unsigned i = 0; i < 1000; i++)
        cr_assert_eq(post_again(SOON, SOON), UIW_STAY);
}

Test(uiw_stay, prompt_answers_are_learned_from)
{
    make_sure();
    cr_assert_eq(stay.trust, SURE);
}

Test(uiw_stay, a_few_that_are_late_change_nothing)
{
    make_sure();
    cr_assert_eq(post_again(SOON, LATE), UIW_STAY);
    cr_assert_eq(post_again(LATE, SOON), UIW_STAY);
}

/* The program or its peer lost its processor for a while. */
Test(uiw_stay, nothing_is_learned_from_long_pauses)
{
    learn();
    for (unsigned i = 0; i < 100; i++) {
        cr_assert_eq(post_again(SOON, STOLEN), UIW_STAY);
        cr_assert_eq(post_again(STOLEN, SOON), UIW_STAY);
    }
    cr_assert_eq(stay.trust, TRUST);
}

/* The IA's thread is told once. */
Test(uiw_stay, a_program_that_computes_is_left_alone)
{
    learn();
    cr_assert_eq(post_again(SOON, LATE), UIW_STAY_NO_MORE);
    for (unsigned i = 0; i < 100; i++)
        cr_assert_eq(post_again(SOON, LATE), UIW_STAY_NOT);
    learn();
}

Test(uiw_stay, slow_peers_are_not_waited_for)
{
    learn();
    cr_assert_eq(post_again(LATE, SOON), UIW_STAY_NO_MORE);
    for (unsigned i = 0; i < 100; i++)
        cr_assert_eq(post_again(LATE, SOON), UIW_STAY_NOT);
}

/*
 * The program posts twice for one answer, so the first post must not delay the second one by
 * polling.
 */
Test(uiw_stay, two_posts_are_no_answer)
{
    make_sure();
    posts++;
    cr_assert_eq(post_again(SOON, SOON), UIW_STAY_NO_MORE);
    cr_assert_eq(post_again(SOON, SOON), UIW_STAY_NOT);
}

/* ---------------------------------------------------------------- staying */

static struct uiw_ep *ep; /* of side A; its loop rests unless a test says otherwise */
static struct uiw_progress *progress;
static struct fx_buf from, into;

static void stay_rest(void)
{
    ep = uiw_ep_of((struct ual_ep *)(void *)pair.a_ep);
    progress = &ep->ia->progress;
    from = fx_node_buf(&pair.b, 64);
    into = fx_node_buf(&pair.a, 64);
    cr_assert(evd_loop_rest(ep->ia->ual->evd.loop));
}

static void stay_init(void)
{
    pair_init();
    fx_pair_ping(&pair); /* nothing of the startup arrives from here on */
    stay_rest();
}

/* Requests complete when the peer has acknowledged them. */
static void stay_init_acknowledged(void)
{
    struct itx_mpa_params mpa;
    struct fx_pair_setup setup = {.a_mpa = &mpa, .b_mpa = &mpa};

    memset(&mpa, 0, sizeof(mpa));
    mpa.size = sizeof(mpa);
    mpa.revision = 2;
    mpa.crc = IT_TRUE;
    mpa.peer_to_peer = IT_TRUE;
    mpa.rtr_types = ITX_RTR_READ;
    mpa.own_peer = ITX_OWN_PEER_ACKS;
    fx_pair_open_as(&pair, &setup);
    fx_pair_ping(&pair);
    stay_rest();
}

static void stay_fini(void)
{
    evd_loop_go_on(ep->ia->ual->evd.loop);
    pair_fini();
}

static int waiting_octets(void)
{
    int count = 0;

    CHECK(ioctl(ep->fd, FIONREAD, &count) == 0);
    return count;
}

/* Puts an RDMA Write of side B into the socket of A. */
static void send_answer(uint32_t seed)
{
    fx_fill(from.data, from.size, seed);
    fx_write(pair.b_ep, &from, 0, from.size, &into, 0, seed, FX_QUIET);
    FX_WAIT_WHILE(waiting_octets() == 0, "an RDMA Write of the peer");
}

static void stay_here(void)
{
    ep->stay.trust = SURE;
    progress->stay(ep->ual, atomic_load(&ep->rx.heard), UIW_STAY);
}

Test(uiw_stay, the_answer_is_read, .init = stay_init, .fini = stay_fini)
{
    uint64_t before = base_rough_ticks();

    send_answer(1);
    stay_here();
    cr_assert(fx_is_filled(into.data, into.size, 1));
    cr_assert_geq(atomic_load(&progress->taken), before);
    cr_assert_eq(ep->stay.trust, SURE);
    cr_assert_eq(atomic_load(&progress->leader), UIW_LEADER_NONE);
}

Test(uiw_stay, a_post_reads_the_answer, .init = stay_init, .fini = stay_fini)
{
    bool stays = false;

    for (uint32_t seed = 1; !stays; seed++) {
        uint64_t taken;

        send_answer(seed);
        ep->stay = (struct uiw_stay){.trust = SURE, .index = atomic_load(&ep->sq.tail)};
        uiw_pacing_sent(&ep->pacing, base_rough_ticks());
        taken = base_rough_ticks();
        atomic_store(&progress->taken, taken);
        CHECK_OK(it_post_rdma_write(pair.a_ep, NULL, 0, 1, FX_QUIET, 0, 0));
        stays =
            atomic_load(&progress->taken) != taken; /* otherwise this thread lost the processor */
        cr_assert_eq(stays, fx_is_filled(into.data, into.size, seed));
        while (waiting_octets() > 0)
            (void)it_evd_dequeue(pair.a.recv_evd, &(it_event_t){0});
    }
}

/* It is taken in, and a request is complete, but the program waits for something else. */
Test(uiw_stay, an_acknowledgement_is_no_answer, .init = stay_init_acknowledged, .fini = stay_fini)
{
    fx_write(pair.a_ep, &into, 0, into.size, &from, 0, 7, FX_SIGNAL);
    FX_WAIT_WHILE(waiting_octets() == 0, "an acknowledgement");
    stay_here();
    cr_assert_lt(ep->stay.trust, SURE);
    cr_assert_eq(waiting_octets(), 0);
    fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_RDMA_WRITE_CMPL_EVENT, 7, IT_DTO_SUCCESS);
}

/* The program may wait for that one. */
Test(uiw_stay, a_message_of_another_peer_ends_it, .init = stay_init, .fini = stay_fini)
{
    it_ep_handle_t other = fx_ep(&pair.b, NULL);

    evd_loop_go_on(ep->ia->ual->evd.loop);
    fx_join(&pair.b, other, &pair.a, fx_ep(&pair.a, NULL));
    cr_assert(evd_loop_rest(ep->ia->ual->evd.loop));
    fx_fill(from.data, from.size, 3);
    fx_write(other, &from, 0, from.size, &into, 0, 3, FX_SIGNAL);
    fx_done(pair.b.request_evd, other, IT_DTO_RDMA_WRITE_CMPL_EVENT, 3, IT_DTO_SUCCESS);
    stay_here();
    cr_assert_lt(ep->stay.trust, SURE);
    cr_assert(fx_is_filled(into.data, into.size, 3));
}

Test(uiw_stay, the_loop_watches_after_a_stay_in_vain, .init = stay_init, .fini = stay_fini)
{
    uint64_t taken = atomic_load(&progress->taken);

    atomic_store(&progress->gate_open, false);
    stay_here();
    cr_assert_lt(ep->stay.trust, SURE);
    cr_assert_eq(atomic_load(&progress->taken), taken);
    evd_loop_go_on(ep->ia->ual->evd.loop);
    FX_WAIT_WHILE(!atomic_load(&progress->gate_open), "the loop");
}

Test(uiw_stay, the_loop_watches_when_posts_stay_no_more, .init = stay_init, .fini = stay_fini)
{
    atomic_store(&progress->gate_open, false);
    progress->stay(ep->ual, 0, UIW_STAY_NO_MORE);
    evd_loop_go_on(ep->ia->ual->evd.loop);
    FX_WAIT_WHILE(!atomic_load(&progress->gate_open), "the loop");
}

/* itx_ia_set_spin forbids it. So does a program that uses an EVD's descriptor. */
Test(uiw_stay, a_program_may_forbid_it, .init = stay_init, .fini = stay_fini)
{
    send_answer(1);
    CHECK_OK(itx_ia_set_spin(pair.a.ia, 0));
    stay_here();
    cr_assert_gt(waiting_octets(), 0);
    CHECK_OK(itx_ia_set_spin(pair.a.ia, ITX_SPIN_DEFAULT));
    atomic_store(&ep->ia->ual->evd.reliant, 1);
    stay_here();
    cr_assert_gt(waiting_octets(), 0);
    atomic_store(&ep->ia->ual->evd.reliant, 0);
    stay_here();
    cr_assert_eq(waiting_octets(), 0);
}
