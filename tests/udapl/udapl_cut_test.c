/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cable is cut: a relay between the two ends of each connection stops forwarding at some moment
 * and keeps both streams open. Everything in progress then ends by the consumer's calls and
 * timeouts, and the endpoint can be used for the next connection.
 */
#include "udapl_kit.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define SHORT_MICROS 300000

static struct kit_side sides[2];
#define A (&sides[0])
#define B (&sides[1])

/* ---------------------------------------------------------------- the relay */

struct relay {
    int listener;
    int cut[2]; /* a pipe; an octet in it cuts the cable */
    uint16_t target;
    bool forwards; /* false: it is cut from the beginning */
    int ends[2];
    pthread_t thread;
};

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

/* Forwards octets. Returns false at the end of the stream. */
static bool forward(int from, int to)
{
    char octets[65536];
    ssize_t got = read(from, octets, sizeof(octets));

    return got > 0 && write(to, octets, (size_t)got) == got;
}

static void *relay_run(void *argument)
{
    struct relay *relay = argument;
    struct sockaddr_in target = loopback(relay->target);
    bool on = relay->forwards;

    relay->ends[0] = accept(relay->listener, NULL, NULL);
    relay->ends[1] = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(relay->ends[0] >= 0);
    CHECK(!on || connect(relay->ends[1], (struct sockaddr *)&target, sizeof(target)) == 0);
    while (on) {
        struct pollfd polls[] = {
            {relay->cut[0], POLLIN, 0}, {relay->ends[0], POLLIN, 0}, {relay->ends[1], POLLIN, 0}};

        CHECK(poll(polls, 3, -1) > 0);
        on = polls[0].revents == 0;
        if (on && polls[1].revents)
            on = forward(relay->ends[0], relay->ends[1]);
        if (on && polls[2].revents)
            on = forward(relay->ends[1], relay->ends[0]);
    }
    return NULL;
}

static uint16_t relay_start(struct relay *relay, uint16_t target, bool forwards)
{
    struct sockaddr_in address = loopback(0);
    socklen_t size = sizeof(address);

    *relay = (struct relay){.target = target, .forwards = forwards};
    relay->listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(relay->listener, (struct sockaddr *)&address, size) == 0);
    CHECK(listen(relay->listener, 1) == 0 && pipe(relay->cut) == 0);
    CHECK(getsockname(relay->listener, (struct sockaddr *)&address, &size) == 0);
    CHECK(pthread_create(&relay->thread, NULL, relay_run, relay) == 0);
    return ntohs(address.sin_port);
}

/* Stops forwarding, and returns when the relay has stopped. */
static void relay_cut(struct relay *relay)
{
    CHECK(write(relay->cut[1], "", 1) == 1 && pthread_join(relay->thread, NULL) == 0);
}

static void relay_end(struct relay *relay)
{
    (void)close(relay->ends[0]);
    (void)close(relay->ends[1]);
    (void)close(relay->cut[0]);
    (void)close(relay->cut[1]);
    (void)close(relay->listener);
}

/* ---------------------------------------------------------------- connections */

static DAT_RETURN connect_to(DAT_CONN_QUAL qual, DAT_TIMEOUT timeout)
{
    DAT_IA_ATTR attr;

    CHECK_DAT(dat_ia_query(A->ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    return dat_ep_connect(A->ep, attr.ia_address_ptr, qual, timeout, 0, NULL, DAT_QOS_BEST_EFFORT,
                          DAT_CONNECT_DEFAULT_FLAG);
}

static void join(struct relay *relay)
{
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = kit_listen(B, DAT_PSP_CONSUMER_FLAG, &qual);

    qual = relay_start(relay, (uint16_t)qual, true);
    CHECK_DAT(connect_to(qual, DAT_TIMEOUT_INFINITE));
    CHECK_DAT(dat_cr_accept(kit_request(B), B->ep, 0, NULL));
    (void)kit_next(B->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(A->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK_DAT(dat_psp_free(psp));
}

/* Posts a Read that is never answered. */
static void read_in_vain(struct relay *relay)
{
    DAT_LMR_TRIPLET into = kit_local(A, 0, 100);
    DAT_RMR_TRIPLET from = kit_remote(B, 0, 100);

    join(relay);
    relay_cut(relay);
    CHECK_DAT(
        dat_ep_post_rdma_read(A->ep, 1, &into, kit_cookie(7), &from, DAT_COMPLETION_DEFAULT_FLAG));
}

static void is_over(struct kit_side *side)
{
    DAT_EVENT event = kit_any(side->connect);

    EXPECT(event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED ||
           event.event_number == DAT_CONNECTION_EVENT_BROKEN);
    CHECK_EQ(DAT_EP_STATE_DISCONNECTED, kit_state(side->ep));
    kit_is_empty(side->connect);
    CHECK_DAT(dat_ep_reset(side->ep));
}

static void both_are_over(struct relay *relay)
{
    (void)kit_completion(A->request, DAT_DTO_RDMA_READ, DAT_DTO_ERR_FLUSHED, 7);
    kit_is_empty(A->request);
    is_over(A);
    relay_end(relay); /* also ends the connection for the other side */
    is_over(B);
}

/* ---------------------------------------------------------------- cuts */

static void while_connecting(void)
{
    struct relay relay;

    CHECK_DAT(connect_to(relay_start(&relay, 0, false), SHORT_MICROS));
    (void)kit_next(A->connect, DAT_CONNECTION_EVENT_TIMED_OUT);
    CHECK_EQ(DAT_EP_STATE_DISCONNECTED, kit_state(A->ep));
    CHECK_DAT(dat_ep_reset(A->ep));
    relay_cut(&relay);
    relay_end(&relay);
}

static void then_disconnected(DAT_CLOSE_FLAGS flags)
{
    struct relay relay;

    read_in_vain(&relay);
    CHECK_DAT(dat_ep_disconnect(A->ep, flags));
    both_are_over(&relay);
}

/* The relay is closed, too. */
static void then_lost(void)
{
    struct relay relay;

    read_in_vain(&relay);
    CHECK_EQ(DAT_EP_STATE_CONNECTED, kit_state(A->ep));
    relay_end(&relay);
    (void)kit_completion(A->request, DAT_DTO_RDMA_READ, DAT_DTO_ERR_FLUSHED, 7);
    is_over(A);
    is_over(B);
}

static void then_closed(void)
{
    struct relay relay;

    read_in_vain(&relay);
    CHECK_DAT(dat_ia_close(A->ia, DAT_CLOSE_ABRUPT_FLAG));
    relay_end(&relay);
    is_over(B);
    free(A->buffer);
}

int main(void)
{
    kit_side_open(A);
    kit_side_open(B);
    while_connecting();
    then_disconnected(DAT_CLOSE_ABRUPT_FLAG);
    then_disconnected(DAT_CLOSE_GRACEFUL_FLAG); /* takes the graceful timeout, two seconds */
    then_lost();
    then_closed();
    kit_side_close(B);
    check_done();
    return 0;
}
