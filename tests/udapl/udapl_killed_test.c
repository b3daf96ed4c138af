/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peer, another process, is killed at each step of a connection, on either side. This side gets
 * one event or an error code, and its endpoint can be used for the next connection at once.
 */
#include "udapl_kit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a peer has done when it reports and waits to be killed. */
enum step {
    ASKS,     /* connects, and has no answer yet */
    CONNECTS, /* connects, and is connected */
    LISTENS,  /* has a request that it does not answer */
    ACCEPTS,  /* accepts, and is connected */
    SENDS     /* connects, and keeps sending */
};

struct peer {
    pid_t pid;
    int to, from; /* pipes */
};

static struct kit_side own;

static void write_all(int fd, const void *data, size_t size)
{
    CHECK(write(fd, data, size) == (ssize_t)size);
}

static void read_all(int fd, void *data, size_t size)
{
    CHECK(read(fd, data, size) == (ssize_t)size);
}

/* ---- The peer ------------------------------------------------------------------------------- */

static void peer_connects(struct kit_side *side, enum step step, int in)
{
    DAT_CONN_QUAL qual;

    read_all(in, &qual, sizeof(qual));
    kit_connect(side, side->ep, qual);
    if (step != ASKS)
        (void)kit_next(side->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
}

static void peer_listens(struct kit_side *side, enum step step, int out)
{
    DAT_CONN_QUAL qual;
    DAT_CR_HANDLE cr;

    (void)kit_listen(side, DAT_PSP_CONSUMER_FLAG, &qual);
    write_all(out, &qual, sizeof(qual));
    cr = kit_request(side);
    if (step == ACCEPTS) {
        CHECK_DAT(dat_cr_accept(cr, side->ep, 0, NULL));
        (void)kit_next(side->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    }
}

static void peer_sends(struct kit_side *side)
{
    DAT_LMR_TRIPLET segment = kit_local(side, 0, KIT_BUFFER);

    for (DAT_UINT64 i = 0;; i++) {
        CHECK_DAT(
            dat_ep_post_send(side->ep, 1, &segment, kit_cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
        (void)kit_done(side->request, kit_cookie(i));
    }
}

static void be_the_peer(enum step step, int in, int out)
{
    struct kit_side side;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    kit_side_open(&side);
    if (step == LISTENS || step == ACCEPTS)
        peer_listens(&side, step, out);
    else
        peer_connects(&side, step, in);
    write_all(out, "", 1);
    if (step == SENDS)
        peer_sends(&side);
    for (;;)
        pause();
}

/* ---- This side ------------------------------------------------------------------------------ */

/* Forks the peers before anything is opened, since threads do not survive a fork. */
static struct peer make_peer(enum step step)
{
    int in[2], out[2];
    struct peer peer;

    CHECK(pipe(in) == 0 && pipe(out) == 0);
    peer.pid = fork();
    CHECK(peer.pid >= 0);
    if (peer.pid == 0) {
        char go;

        read_all(in[0], &go, 1);
        be_the_peer(step, in[0], out[1]);
    }
    close(in[0]);
    close(out[1]);
    peer.to = in[1];
    peer.from = out[0];
    return peer;
}

static void await(const struct peer *peer)
{
    char done;

    read_all(peer->from, &done, 1);
}

static void kill_peer(const struct peer *peer)
{
    CHECK(kill(peer->pid, SIGKILL) == 0 && waitpid(peer->pid, NULL, 0) == peer->pid);
    close(peer->to);
    close(peer->from);
}

static DAT_EVENT_NUMBER next_number(void)
{
    DAT_EVENT event;
    DAT_COUNT more;

    CHECK_DAT(dat_evd_wait(own.connect, DAT_TIMEOUT_INFINITE, 1, &event, &more));
    CHECK(event.event_data.connect_event_data.ep_handle == own.ep);
    return event.event_number;
}

/* Expects one event that ends the connection, no others, and all posted requests flushed. */
static void check_end(DAT_COUNT receives)
{
    DAT_EVENT_NUMBER number = next_number();
    DAT_EVENT event;
    DAT_COUNT more;

    EXPECT_EQ(true,
              number == DAT_CONNECTION_EVENT_DISCONNECTED || number == DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_EQ(DAT_EP_STATE_DISCONNECTED, kit_state(own.ep));
    for (DAT_COUNT i = 0; i < receives; i++)
        CHECK_DAT(dat_evd_wait(own.recv, DAT_TIMEOUT_INFINITE, 1, &event, &more));
    kit_is_empty(own.connect);
    kit_is_empty(own.recv);
    CHECK_DAT(dat_ep_disconnect(own.ep, DAT_CLOSE_ABRUPT_FLAG));
    kit_is_empty(own.connect);
    CHECK_DAT(dat_ep_reset(own.ep));
}

static void post_receives(DAT_COUNT count)
{
    for (DAT_COUNT i = 0; i < count; i++) {
        DAT_LMR_TRIPLET segment = kit_local(&own, 0, KIT_BUFFER);

        CHECK_DAT(dat_ep_post_recv(own.ep, 1, &segment, kit_cookie((DAT_UINT64)i),
                                   DAT_COMPLETION_DEFAULT_FLAG));
    }
}

/*
 * The peer's end may not have been seen yet: the accept is refused, or its connection ends at once.
 */
static void killed_before_it_is_accepted(const struct peer *peer, DAT_CONN_QUAL qual)
{
    DAT_CR_HANDLE cr;
    DAT_RETURN result;

    write_all(peer->to, &qual, sizeof(qual));
    cr = kit_request(&own);
    await(peer);
    kill_peer(peer);
    result = dat_cr_accept(cr, own.ep, 0, NULL);
    if (result == DAT_SUCCESS) {
        DAT_EVENT_NUMBER number = next_number();

        if (number == DAT_CONNECTION_EVENT_ESTABLISHED)
            number = next_number();
        EXPECT_EQ(true, number == DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR ||
                            number == DAT_CONNECTION_EVENT_DISCONNECTED ||
                            number == DAT_CONNECTION_EVENT_BROKEN);
        CHECK_DAT(dat_ep_reset(own.ep));
    } else {
        EXPECT_EQ(DAT_INVALID_HANDLE, DAT_GET_TYPE(result));
        EXPECT_EQ(DAT_EP_STATE_UNCONNECTED, kit_state(own.ep));
    }
    EXPECT_TYPE(DAT_INVALID_HANDLE, dat_cr_reject(cr, 0, NULL));
    kit_is_empty(own.connect);
}

static void killed_when_it_is_connected(const struct peer *peer, DAT_CONN_QUAL qual)
{
    write_all(peer->to, &qual, sizeof(qual));
    post_receives(3);
    CHECK_DAT(dat_cr_accept(kit_request(&own), own.ep, 0, NULL));
    EXPECT_EQ(DAT_CONNECTION_EVENT_ESTABLISHED, next_number());
    await(peer);
    kill_peer(peer);
    check_end(3);
}

/* The peer most likely dies in the middle of a message. Each receive has its completion. */
static void killed_while_it_sends(const struct peer *peer, DAT_CONN_QUAL qual)
{
    DAT_EVENT event;
    DAT_COUNT more;

    write_all(peer->to, &qual, sizeof(qual));
    post_receives(8);
    CHECK_DAT(dat_cr_accept(kit_request(&own), own.ep, 0, NULL));
    EXPECT_EQ(DAT_CONNECTION_EVENT_ESTABLISHED, next_number());
    await(peer);
    CHECK_DAT(dat_evd_wait(own.recv, DAT_TIMEOUT_INFINITE, 1, &event, &more));
    kill_peer(peer);
    check_end(7);
}

static DAT_CONN_QUAL connect_to(const struct peer *peer)
{
    DAT_CONN_QUAL qual;

    read_all(peer->from, &qual, sizeof(qual));
    kit_connect(&own, own.ep, qual);
    return qual;
}

static void killed_before_it_accepts(const struct peer *peer)
{
    DAT_EVENT_NUMBER number;

    (void)connect_to(peer);
    await(peer);
    kill_peer(peer);
    number = next_number();
    EXPECT_EQ(true, number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED ||
                        number == DAT_CONNECTION_EVENT_PEER_REJECTED); /* devices cannot tell */
    kit_is_empty(own.connect);
    CHECK_DAT(dat_ep_reset(own.ep));
}

static void killed_when_it_has_accepted(const struct peer *peer)
{
    (void)connect_to(peer);
    EXPECT_EQ(DAT_CONNECTION_EVENT_ESTABLISHED, next_number());
    await(peer);
    kill_peer(peer);
    check_end(0);
}

static void start(const struct peer *peer)
{
    write_all(peer->to, "", 1);
}

int main(void)
{
    struct peer peers[SENDS + 1];
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp;

    for (unsigned step = ASKS; step <= SENDS; step++)
        peers[step] = make_peer((enum step)step);
    kit_side_open(&own);
    psp = kit_listen(&own, DAT_PSP_CONSUMER_FLAG, &qual);
    start(&peers[ASKS]);
    killed_before_it_is_accepted(&peers[ASKS], qual);
    start(&peers[CONNECTS]);
    killed_when_it_is_connected(&peers[CONNECTS], qual);
    start(&peers[SENDS]);
    killed_while_it_sends(&peers[SENDS], qual);
    start(&peers[LISTENS]);
    killed_before_it_accepts(&peers[LISTENS]);
    start(&peers[ACCEPTS]);
    killed_when_it_has_accepted(&peers[ACCEPTS]);
    CHECK_DAT(dat_psp_free(psp));
    kit_side_close(&own);
    check_done();
    return 0;
}
