/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that stay silent at the start of a connection. The test supplies the clock, the round trip
 * and the state of the socket, and its thread runs the IA.
 */
#include "vp/uiwarp/stream/uiw_stream.h"

#include "base/base_clock.h"
#include "tdi/iwarp/iw_mpa.h"
#include "uiw_stream.h"
#include "vp/uiwarp/queue/uiw_progress.h"
#include "vp/uiwarp/queue/uiw_token.h"

#include <criterion/criterion.h>

#include <event2/event.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS      BASE_NS_PER_MS
#define RELEASE (10 * MS)

static _Thread_local struct {
    bool on;
    uint64_t now_ns;
    unsigned round_trip_us;
    int unread, outstanding;
} script;

int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!script.on)
        return (int)syscall(SYS_clock_gettime, clock, now);
    *now = base_timespec(script.now_ns);
    return 0;
}

int getsockopt(int of, int level, int name, void *value, socklen_t *size)
{
    if (script.on && level == IPPROTO_TCP && name == TCP_INFO) {
        ((struct tcp_info *)value)->tcpi_rtt = script.round_trip_us;
        return 0;
    }
    return (int)syscall(SYS_getsockopt, of, level, name, value, size);
}

int ioctl(int of, unsigned long request, ...)
{
    va_list arguments;
    int *value;

    va_start(arguments, request);
    value = va_arg(arguments, int *);
    va_end(arguments);
    if (!script.on || (request != FIONREAD && request != SIOCOUTQ))
        return (int)syscall(SYS_ioctl, of, request, value);
    *value = request == FIONREAD ? script.unread : script.outstanding;
    return 0;
}

/* ---------------------------------------------------------------- the bed */

static struct uiw_stream stream;
static struct raw_peer peer;
static struct raw_segment segment;
static struct event_base *base;
static struct ual_ia *ia;
static struct uiw_progress *progress;

static void setup(void)
{
    uiw_stream_open(&stream, true, 1460);
    base = event_base_new();
    CHECK_OK(itx_ia_set_event_base(stream.node.ia, base));
    uiw_stream_over_tcp(&stream, &peer);
    ia = ual_ia_of(&stream.ual->object);
    progress = uiw_progress_of(ia);
    script.now_ns = 1000 * BASE_NS_PER_S;
    script.on = true;
}

static void teardown(void)
{
    script.on = false;
    uiw_silence_forget(ia, stream.ual);
    raw_close(&peer);
    uiw_stream_close(&stream);
    event_base_free(base);
}

TestSuite(uiw_silence, .init = setup, .fini = teardown);

/* Makes a responder whose post waits for the peer, which has not acknowledged the Reply. */
static void begin_responder(void)
{
    stream.ep->initiator = false;
    stream.ep->release_ns = RELEASE;
    script.outstanding = 20;
    atomic_store(&stream.ep->tx.hold, true);
    uiw_stream_post(&stream, VP_SEND, 0, 0, 5, 0, 0);
    uiw_stream_let_send(&stream);
    uiw_silence_watch(ia, stream.ual);
}

static void begin_initiator(enum iw_mpa_rtr rtr)
{
    stream.ep->initiator = true;
    stream.ep->agreed.rtr = rtr;
    uiw_stream_let_send(&stream);
    uiw_silence_watch(ia, stream.ual);
}

static bool is_watched(void)
{
    return stream.ep->later.silence.listed;
}

static void check_due_in(uint64_t ns)
{
    cr_assert(is_watched());
    cr_assert(progress->silence.timer.active);
    cr_assert_eq(stream.ep->later.silence.due_ns, script.now_ns + ns);
}

/* Advances the clock by this time and lets the timer expire. */
static void expire_after(uint64_t ns)
{
    struct evd_timer *timer = &progress->silence.timer;

    script.now_ns += ns;
    cr_assert(timer->active);
    evd_timer_stop(timer);
    timer->expired(timer->argument);
}

static void check_fpdu(enum raw_op op)
{
    script.on = false; /* the peer waits in real time */
    cr_assert_eq(raw_receive_fpdu(&peer, &segment), RAW_OK, "%s", peer.error);
    cr_assert_eq(segment.op, (unsigned)op);
    script.on = true;
}

static void check_held(void)
{
    cr_assert(atomic_load(&stream.ep->tx.hold));
    cr_assert_eq(atomic_load(&stream.ep->tx.calls), 0);
}

static void check_released(void)
{
    cr_assert_not(atomic_load(&stream.ep->tx.hold));
    cr_assert_not(is_watched());
    check_fpdu(RAW_SEND);
}

/* ---------------------------------------------------------------- as responder */

Test(uiw_silence, a_responder_without_release_waits_for_ever)
{
    stream.ep->release_ns = 0;
    uiw_silence_watch(ia, stream.ual);
    cr_assert_not(is_watched());
}

/* The first check comes after a round trip, but not before a millisecond. */
Test(uiw_silence, looks_for_the_acknowledgement_come_less_and_less_often)
{
    static const uint64_t round_trips_ms[] = {0, 3};

    for (size_t i = 0; i < 2; i++) {
        uint64_t look = i == 0 ? MS : 3 * MS;

        script.round_trip_us = (unsigned)(round_trips_ms[i] * 1000);
        if (i == 0)
            begin_responder();
        else
            uiw_silence_watch(ia, stream.ual);
        check_due_in(look);
        while (look < 10 * BASE_NS_PER_S) {
            expire_after(look);
            look *= 2;
            check_due_in(look);
        }
        expire_after(look);
        check_due_in(look);
        check_held();
    }
}

Test(uiw_silence, a_responder_speaks_after_the_time_of_its_program)
{
    script.round_trip_us = 1000; /* four round trips are shorter */
    begin_responder();
    script.outstanding = 0;
    expire_after(MS);
    check_due_in(RELEASE);
    expire_after(RELEASE - MS);
    check_due_in(MS);
    check_held();
    expire_after(MS);
    check_released();
}

Test(uiw_silence, a_responder_speaks_after_four_round_trips)
{
    script.round_trip_us = 5000;
    begin_responder();
    script.outstanding = 0;
    expire_after(5 * MS);
    check_due_in(20 * MS);
    expire_after(20 * MS);
    check_released();
}

Test(uiw_silence, octets_that_are_unread_end_it)
{
    begin_responder();
    script.unread = 1;
    expire_after(MS);
    cr_assert_not(is_watched());
    check_held();
}

Test(uiw_silence, octets_that_were_read_end_it)
{
    begin_responder();
    atomic_fetch_add(&stream.ep->rx.octets_in, 1);
    expire_after(MS);
    cr_assert_not(is_watched());
    check_held();
}

Test(uiw_silence, a_responder_that_was_released_is_left_alone)
{
    begin_responder();
    atomic_store(&stream.ep->tx.hold, false);
    expire_after(MS);
    cr_assert_not(is_watched());
}

Test(uiw_silence, a_thread_that_sends_is_not_waited_for)
{
    begin_responder();
    script.outstanding = 0;
    cr_assert(uiw_token_try(stream.ep));
    expire_after(MS);
    check_due_in(MS);
    cr_assert_eq(stream.ep->later.silence.acknowledged_ns, 0);
    uiw_token_drop(stream.ep);
}

/* ---------------------------------------------------------------- as Initiator */

Test(uiw_silence, a_second_write)
{
    begin_initiator(IW_RTR_WRITE);
    check_due_in(250 * MS);
    expire_after(250 * MS);
    cr_assert_not(is_watched());
    check_fpdu(RAW_WRITE);
    cr_assert_eq(segment.len, 0);
    cr_assert_eq(atomic_load(&stream.ep->tx.nudges), 1);
}

Test(uiw_silence, a_write_after_a_read)
{
    begin_initiator(IW_RTR_READ);
    expire_after(250 * MS);
    check_fpdu(RAW_WRITE);
}

/* A second Send would take a receive of the peer. */
Test(uiw_silence, no_second_send)
{
    begin_initiator(IW_RTR_SEND);
    cr_assert_not(is_watched());
}

static void check_no_nudge(void)
{
    expire_after(250 * MS);
    cr_assert_not(is_watched());
    cr_assert_eq(atomic_load(&stream.ep->tx.nudges), 0);
}

Test(uiw_silence, a_peer_that_has_spoken_needs_none)
{
    begin_initiator(IW_RTR_WRITE);
    atomic_fetch_add(&stream.ep->rx.fpdus_in, 1);
    check_no_nudge();
}

Test(uiw_silence, a_connection_that_has_ended_needs_none)
{
    begin_initiator(IW_RTR_WRITE);
    atomic_store(&stream.ual->state, IT_EP_STATE_NONOPERATIONAL);
    check_no_nudge();
}

/* ---------------------------------------------------------------- many connections */

/* One check serves all connections that are due. The timer is set for the next one. */
Test(uiw_silence, the_first_that_is_due_comes_first)
{
    it_ep_handle_t handles[2];
    struct ual_ep *others[2];

    for (size_t i = 0; i < 2; i++) {
        handles[i] = fx_ep(&stream.node, NULL);
        others[i] = (struct ual_ep *)(void *)handles[i];
    }
    begin_initiator(IW_RTR_WRITE);
    for (size_t i = 0; i < 2; i++) { /* without a stream the first check is the last */
        uiw_ep_of(others[i])->release_ns = RELEASE;
        script.round_trip_us = i == 0 ? 4000 : 2000;
        uiw_silence_watch(ia, others[i]);
    }
    expire_after(2 * MS);
    cr_assert_not(uiw_ep_of(others[1])->later.silence.listed);
    cr_assert(uiw_ep_of(others[0])->later.silence.listed);
    uiw_silence_forget(ia, others[0]);
    cr_assert_not(uiw_ep_of(others[0])->later.silence.listed);
    expire_after(2 * MS);
    check_due_in(246 * MS);
    for (size_t i = 0; i < 2; i++)
        CHECK_OK(it_ep_free(handles[i]));
}
