/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two ends of this library acknowledge messages. Sends overtake their receives in both directions
 * at once, and one thread arms an EVD while others complete requests on it.
 */
#include <poll.h>
#include <pthread.h>

#include "support/it_fixture.h"

#define ROUNDS 1500u
#define LENGTH 700u

struct side {
    it_ep_handle_t ep;
    const struct fx_node *node;
    struct fx_buf buf;
    pthread_t thread;
};

static it_status_t post_send(const struct side *side, unsigned round)
{
    it_lmr_triplet_t segment = fx_seg(&side->buf, 0, round % LENGTH);

    return it_post_send(side->ep, &segment, 1, round, FX_SIGNAL);
}

/* Takes the next completion, if there is one. It must be the expected one. */
static void count(it_evd_handle_t evd, unsigned *done)
{
    it_event_t event;

    if (it_evd_dequeue(evd, &event) != IT_SUCCESS)
        return;
    CHECK_OK((it_status_t)event.dto_cmpl.dto_status);
    CHECK_EQ(*done, event.dto_cmpl.cookie);
    (*done)++;
}

/* Posts receives at random moments. */
static void *side_main(void *argument)
{
    const struct side *side = argument;
    struct fx_patience patience = fx_patience_start("completions of one side");
    unsigned sent = 0;
    unsigned posted = 0;
    unsigned sends_done = 0;
    unsigned recvs_done = 0;

    while (sends_done < ROUNDS || recvs_done < ROUNDS) {
        if (sent < ROUNDS && post_send(side, sent) == IT_SUCCESS)
            sent++;
        if (posted < ROUNDS && (sent % 3 != 0 || sent == ROUNDS)) {
            it_lmr_triplet_t segment = fx_seg(&side->buf, LENGTH, LENGTH);

            posted += it_post_recv(side->ep, &segment, 1, posted, FX_SIGNAL) == IT_SUCCESS;
        }
        count(side->node->request_evd, &sends_done);
        count(side->node->recv_evd, &recvs_done);
        fx_patience_check(&patience);
    }
    return NULL;
}

static void ask(it_ep_handle_t ep)
{
    struct itx_mpa_params params = fx_mpa(ep);

    params.own_peer = ITX_OWN_PEER_ACKS | ITX_OWN_PEER_HOLD;
    params.hold_us = IT_TIMEOUT_INFINITE;
    CHECK_OK(itx_ep_set_mpa_params(ep, &params));
}

static void both_sides(void)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct side side[2];
    struct fx_node node[2];

    for (unsigned i = 0; i < 2; i++) {
        fx_node_open(&node[i]);
        side[i].node = &node[i];
        side[i].ep = fx_ep(&node[i], &attr);
        side[i].buf = fx_node_buf(&node[i], 2 * (size_t)LENGTH);
        ask(side[i].ep);
    }
    fx_join(&node[0], side[0].ep, &node[1], side[1].ep);
    for (unsigned i = 0; i < 2; i++)
        CHECK(pthread_create(&side[i].thread, NULL, side_main, &side[i]) == 0);
    for (unsigned i = 0; i < 2; i++)
        CHECK(pthread_join(side[i].thread, NULL) == 0);
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(it_ep_free(side[i].ep));
    for (unsigned i = 0; i < 2; i++)
        fx_node_close(&node[i]);
}

/* ---- Armed ---------------------------------------------------------------------------------- */

static void *writer_main(void *argument)
{
    it_evd_handle_t evd = argument;
    struct fx_patience patience = fx_patience_start("room for an event");

    for (unsigned i = 0; i < ROUNDS; i++) {
        while (it_evd_post_se(evd, NULL) != IT_SUCCESS)
            fx_patience_check(&patience);
    }
    return NULL;
}

/* Arms the EVD, takes all events, sleeps until woken: no event is missed. */
static void armed(void)
{
    struct fx_node node;
    it_evd_handle_t evd;
    it_event_t event;
    pthread_t thread;
    unsigned taken = 0;
    int fd;

    fx_node_open(&node);
    CHECK_OK(
        it_evd_create(node.ia, IT_SOFTWARE_EVENT_STREAM, IT_EVD_CREATE_FD, 16, 1, NULL, &evd, &fd));
    CHECK(pthread_create(&thread, NULL, writer_main, evd) == 0);
    while (taken < ROUNDS) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};

        CHECK_OK(itx_evd_arm(evd, ITX_EVD_ARM_ANY));
        while (it_evd_dequeue(evd, &event) == IT_SUCCESS)
            taken++;
        if (taken < ROUNDS)
            CHECK_EQ(1, poll(&wait, 1, (int)FX_PATIENCE_MS));
    }
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK_OK(it_evd_free(evd));
    fx_node_close(&node);
}

int main(void)
{
    both_sides();
    armed();
    check_done();
    return 0;
}
