/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An IA moves from its own thread to a base of the program and on to another base, while threads
 * wait, poll and post and callbacks run. No message is lost, and no thread waits for ever.
 */
#include <event2/event.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>

#include "support/it_fixture.h"

#define ROUNDS   40u
#define MOVES    8u
#define MESSAGES 16u

struct player {
    it_ep_handle_t ep;
    it_evd_handle_t request_evd;
    atomic_uint received;
    atomic_bool over;
};

static void play(it_evd_handle_t evd, void *argument)
{
    struct player *player = argument;
    it_event_t event;

    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
        if (event.dto_cmpl.dto_status != IT_DTO_SUCCESS || atomic_load(&player->over))
            continue;
        CHECK_OK(it_post_recv(player->ep, NULL, 0, 0, FX_SIGNAL));
        CHECK_OK(it_post_send(player->ep, NULL, 0, 0, FX_SIGNAL));
        while (it_evd_dequeue(player->request_evd, &event) == IT_SUCCESS) {
        }
        atomic_fetch_add(&player->received, 1);
    }
}

struct consumer {
    pthread_t thread;
    it_evd_handle_t evd;
    unsigned style; /* 0: polls, 1: waits */
    atomic_bool over;
};

static void *consume(void *argument)
{
    struct consumer *consumer = argument;
    it_event_t event;

    while (!atomic_load(&consumer->over)) {
        it_status_t status = consumer->style == 0 ? it_evd_dequeue(consumer->evd, &event)
                                                  : it_evd_wait(consumer->evd, 500, &event, NULL);

        CHECK(status == IT_ERR_QUEUE_EMPTY || status == IT_ERR_TIMEOUT_EXPIRED);
        if (consumer->style == 0)
            sched_yield();
    }
    return NULL;
}

struct game {
    struct fx_pair pair;
    struct player players[2];
    struct consumer consumers[2];
};

static void game_start(struct game *game)
{
    memset(game, 0, sizeof(*game));
    fx_pair_open(&game->pair);
    for (unsigned i = 0; i < 2; i++) {
        struct fx_node *node = i == 0 ? &game->pair.a : &game->pair.b;
        struct player *player = &game->players[i];
        struct consumer *consumer = &game->consumers[i];

        player->ep = i == 0 ? game->pair.a_ep : game->pair.b_ep;
        player->request_evd = node->request_evd;
        CHECK_OK(it_post_recv(player->ep, NULL, 0, 0, FX_SIGNAL));
        CHECK_OK(it_evd_callback_attach(node->recv_evd, play, player));
        consumer->evd = node->conn_evd;
        consumer->style = i;
        CHECK(pthread_create(&consumer->thread, NULL, consume, consumer) == 0);
    }
    CHECK_OK(it_post_send(game->pair.a_ep, NULL, 0, 0, FX_SIGNAL));
}

/* Checks that messages get through, whichever thread works for the IAs. */
static void game_goes_on(struct game *game, struct event_base *const *bases)
{
    struct fx_patience patience = fx_patience_start("messages after a move");
    unsigned before = atomic_load(&game->players[0].received);

    while (atomic_load(&game->players[0].received) - before < MESSAGES) {
        for (unsigned i = 0; i < 2; i++)
            CHECK(event_base_loop(bases[i], EVLOOP_NONBLOCK) >= 0);
        if (fx_now_us() > patience.end_us)
            fx_patience_check(&patience);
        sched_yield();
    }
}

static void game_end(struct game *game)
{
    for (unsigned i = 0; i < 2; i++) {
        atomic_store(&game->players[i].over, true);
        atomic_store(&game->consumers[i].over, true);
        CHECK(pthread_join(game->consumers[i].thread, NULL) == 0);
    }
    fx_node_close(&game->pair.a);
    fx_node_close(&game->pair.b);
}

static void move_about(void)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct event_base *bases[2] = {event_base_new(), event_base_new()};
        struct game game;

        CHECK(bases[0] != NULL && bases[1] != NULL);
        game_start(&game);
        for (unsigned move = 0; move < MOVES; move++) {
            it_ia_handle_t ia = move / 2 % 2 ? game.pair.b.ia : game.pair.a.ia;

            CHECK_OK(itx_ia_set_event_base(ia, bases[move % 2]));
            game_goes_on(&game, bases);
        }
        game_end(&game);
        for (unsigned i = 0; i < 2; i++) {
            CHECK_EQ(0, event_base_get_num_events(bases[i], EVENT_BASE_COUNT_ADDED));
            event_base_free(bases[i]);
        }
    }
}

/* ---- From thread to thread ------------------------------------------------------------------- */

struct runner {
    pthread_t thread;
    struct event_base *base;
    it_ia_handle_t ia;
    atomic_uint moved; /* here */
    atomic_bool take;  /* tells the thread to move the IA here */
    atomic_bool over;
};

static void *run_base(void *argument)
{
    struct runner *runner = argument;
    const struct timeval limit = {.tv_usec = 200};

    while (!atomic_load(&runner->over)) {
        if (atomic_exchange(&runner->take, false)) {
            CHECK_OK(itx_ia_set_event_base(runner->ia, runner->base));
            atomic_fetch_add(&runner->moved, 1);
        }
        CHECK(event_base_loopexit(runner->base, &limit) == 0);
        CHECK(event_base_loop(runner->base, 0) >= 0);
    }
    return NULL;
}

/* Two threads, each with a base, pass the IA of one end back and forth. */
static void move_between_threads(void)
{
    struct runner runners[2];
    struct event_base *none[2] = {event_base_new(), event_base_new()};
    struct game game;

    memset(runners, 0, sizeof(runners));
    CHECK(none[0] != NULL && none[1] != NULL);
    game_start(&game);
    for (unsigned i = 0; i < 2; i++) {
        runners[i].base = event_base_new();
        runners[i].ia = game.pair.a.ia;
        CHECK(runners[i].base != NULL);
        CHECK(pthread_create(&runners[i].thread, NULL, run_base, &runners[i]) == 0);
    }
    for (unsigned move = 0; move < 4 * ROUNDS; move++) {
        struct runner *runner = &runners[move % 2];
        unsigned before = atomic_load(&runner->moved);

        atomic_store(&runner->take, true);
        FX_WAIT_WHILE(atomic_load(&runner->moved) == before, "a move");
        game_goes_on(&game, none);
    }
    game_end(&game);
    for (unsigned i = 0; i < 2; i++) {
        atomic_store(&runners[i].over, true);
        CHECK(pthread_join(runners[i].thread, NULL) == 0);
        CHECK_EQ(0, event_base_get_num_events(runners[i].base, EVENT_BASE_COUNT_ADDED));
        event_base_free(runners[i].base);
        event_base_free(none[i]);
    }
}

int main(void)
{
    move_about();
    move_between_threads();
    check_done();
    return 0;
}
