/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers that stay silent at the start of a connection: both sides would wait for each other.
 *
 * An Initiator sends a nudge, a second ready-to-receive message, since the peer seems to have
 * missed the first. Linux siw, as responder, listens for it only after it has sent its Reply. A
 * message that arrives earlier is not processed before the next octets come. The program there does
 * not learn of the connection, and the program here may wait for it to send. The nudge is a Write
 * of length zero, which is legal at any time and changes nothing (RFC 5041 section 5). A peer that
 * has sent an FPDU gets none.
 *
 * A responder without the peer-to-peer model holds its posts until the Initiator's first FPDU (RFC
 * 5044 7.1.2). But an Initiator on siw whose program expects the accepting side to send first waits
 * for this side. So the posts are released when the Initiator's TCP has acknowledged the Reply and
 * the Initiator has then sent nothing for itx_mpa_params.release_us and four round trips. siw
 * closes a connection on which it finds octets right behind the Reply; by then it has long read the
 * Reply.
 */

#include "base/base_clock.h"
#include "base/base_log.h"
#include "tdi/iwarp/iw_wire.h"
#include "vp/uiwarp/queue/uiw_token.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define SILENCE_NUDGE_NS (250 * BASE_NS_PER_MS)
#define SILENCE_TRIPS    4u /* round trips without an octet */
/* Intervals of checking for the Reply's TCP ACK: first a round trip, then twice the last. */
#define SILENCE_LOOK_MIN_NS BASE_NS_PER_MS
#define SILENCE_LOOK_MAX_NS (10 * BASE_NS_PER_S)

/* ---------------------------------------------------------------- the list, by time */

static struct uiw_silence_entry *silence_entry(const struct base_link *link)
{
    return BASE_LIST_ITEM(link, struct uiw_silence_entry, link);
}

static struct ual_ep *silence_first_locked(const struct uiw_silence *silence)
{
    const struct uiw_ep *ep = BASE_LIST_FIRST(&silence->entries, struct uiw_ep, later.silence.link);

    return ep ? ep->ual : NULL;
}

static void silence_insert_locked(struct uiw_silence *silence, struct ual_ep *ual, uint64_t due_ns)
{
    struct uiw_silence_entry *entry = &uiw_ep_of(ual)->later.silence;
    struct base_link *before = silence->entries.last; /* from the end: most delays are equal */

    while (before && silence_entry(before)->due_ns > due_ns)
        before = before->prev;
    entry->due_ns = due_ns;
    base_list_insert(&silence->entries, before, &entry->link);
    entry->listed = true;
}

static void silence_unlink_locked(struct uiw_silence *silence, struct ual_ep *ual)
{
    struct uiw_silence_entry *entry = &uiw_ep_of(ual)->later.silence;

    if (entry->listed)
        base_list_remove(&silence->entries, &entry->link);
    entry->listed = false;
}

/* ---------------------------------------------------------------- as Initiator */

static void silence_nudge(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    uint8_t fpdu[IW_LENGTH_FIELD + IW_TAGGED_HEADER];
    size_t length;

    if (ual_ep_state(ual) != IT_EP_STATE_CONNECTED ||
        atomic_load_explicit(&ep->rx.fpdus_in, memory_order_relaxed) != ep->rx.fpdus_before)
        return;
    base_log(BASE_LOG_INFO, "ep %p: peer silent since the ready-to-receive message, once more",
             (void *)ual);
    /*
     * A peer with this library must not count the nudge as a message. So it gets an acknowledgement
     * that acknowledges nothing.
     */
    if (ep->own.wanted)
        length = iw_encode_tagged(fpdu, IW_OP_WRITE, true, IW_OWN_STAG, uiw_own_tell_limit(ep), 0);
    else
        length = iw_encode_tagged(fpdu, IW_OP_WRITE, true, 1, 0, 0);
    uiw_drive_nudge(ual, fpdu, length);
}

/* ---------------------------------------------------------------- as responder */

static uint64_t silence_round_trip_ns(int fd)
{
    struct tcp_info info = {.tcpi_rtt = 0};
    socklen_t size = sizeof(info);

    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return 0;
    return info.tcpi_rtt * BASE_NS_PER_US;
}

/*
 * Returns true if the peer has sent something, or the stream has ended. The peer's first FPDU
 * releases the posts anyway.
 */
static bool silence_is_over(const struct uiw_ep *ep)
{
    int unread = 0;

    if (ep->fd < 0 || !atomic_load_explicit(&ep->tx.hold, memory_order_acquire))
        return true;
    if (ioctl(ep->fd, FIONREAD, &unread) != 0 || unread > 0)
        return true;
    return atomic_load_explicit(&ep->rx.octets_in, memory_order_relaxed) != ep->rx.octets_before;
}

static bool silence_acknowledged(int fd)
{
    int outstanding = 0;

    return ioctl(fd, SIOCOUTQ, &outstanding) == 0 && outstanding == 0;
}

/* With the send token. Returns the nanoseconds until the next look; 0: none is needed. */
static uint64_t silence_release(struct uiw_ep *ep)
{
    struct uiw_silence_entry *entry = &ep->later.silence;
    uint64_t now = base_now_ns();
    uint64_t wait_ns;

    if (silence_is_over(ep))
        return 0;
    if (entry->acknowledged_ns == 0 && !silence_acknowledged(ep->fd)) {
        if (entry->look_ns < SILENCE_LOOK_MAX_NS)
            entry->look_ns *= 2;
        return entry->look_ns;
    }
    if (entry->acknowledged_ns == 0)
        entry->acknowledged_ns = now;
    wait_ns = SILENCE_TRIPS * silence_round_trip_ns(ep->fd);
    if (wait_ns < ep->release_ns)
        wait_ns = ep->release_ns;
    if (now - entry->acknowledged_ns < wait_ns)
        return wait_ns - (now - entry->acknowledged_ns);
    atomic_store_explicit(&ep->tx.hold, false, memory_order_release);
    return 0;
}

/* ---------------------------------------------------------------- the loop's part */

static uint64_t silence_one(struct ual_ep *ual)
{
    struct uiw_ep *ep = uiw_ep_of(ual);
    uint64_t again_ns;

    if (ep->initiator) {
        silence_nudge(ual);
        return 0;
    }
    if (!uiw_token_try(ep))
        return SILENCE_LOOK_MIN_NS;
    again_ns = silence_release(ep);
    uiw_token_drop(ep);
    uiw_drive_send(ual, false);
    return again_ns;
}

/* Takes the first EP that is due; NULL: none. It stays valid while .busy names it. */
static struct ual_ep *silence_take_due(struct uiw_progress *progress, uint64_t *next_ns)
{
    struct uiw_silence *silence = &progress->silence;
    struct ual_ep *ual;

    base_lock_take(&progress->lock);
    ual = silence_first_locked(silence);
    *next_ns = ual ? uiw_ep_of(ual)->later.silence.due_ns : 0;
    if (ual && base_is_over(*next_ns))
        silence_unlink_locked(silence, ual);
    else
        ual = NULL;
    silence->busy = ual;
    base_lock_drop(&progress->lock);
    return ual;
}

/* Puts the EP on the list. Returns true if it is the first. */
static bool silence_put(struct uiw_progress *progress, struct ual_ep *ual, uint64_t delay_ns)
{
    bool first;

    base_lock_take(&progress->lock);
    silence_unlink_locked(&progress->silence, ual);
    silence_insert_locked(&progress->silence, ual, base_deadline_ns(base_now_ns(), delay_ns));
    first = silence_first_locked(&progress->silence) == ual;
    base_lock_drop(&progress->lock);
    return first;
}

static void silence_expired(void *argument);

/* If there is no memory for the timer, the next connection starts it. */
static void silence_wait(struct ual_ia *ia, uint64_t due_ns)
{
    uint64_t now = base_now_ns();

    (void)evd_timer_start(&uiw_progress_of(ia)->silence.timer, ia->evd.loop,
                          due_ns > now ? due_ns - now : 0, silence_expired, ia);
}

static void silence_expired(void *argument)
{
    struct ual_ia *ia = argument;
    struct uiw_progress *progress = uiw_progress_of(ia);
    struct ual_ep *ual;
    uint64_t next_ns;

    atomic_fetch_add_explicit(&progress->thread_wakeups, 1, memory_order_relaxed);
    while ((ual = silence_take_due(progress, &next_ns))) {
        uint64_t again_ns = silence_one(ual);

        if (again_ns != 0)
            (void)silence_put(progress, ual, again_ns);
    }
    if (next_ns != 0)
        silence_wait(ia, next_ns);
}

/* ---------------------------------------------------------------- beginning and end */

/* Returns the nanoseconds until the first look; 0: none is needed. */
static uint64_t silence_begin(struct uiw_ep *ep)
{
    uint64_t round_trip_ns;

    if (ep->initiator)
        return ep->agreed.rtr & (IW_RTR_WRITE | IW_RTR_READ) ? SILENCE_NUDGE_NS : 0;
    if (ep->release_ns == 0)
        return 0;
    round_trip_ns = silence_round_trip_ns(ep->fd);
    ep->later.silence.acknowledged_ns = 0;
    ep->later.silence.look_ns =
        round_trip_ns > SILENCE_LOOK_MIN_NS ? round_trip_ns : SILENCE_LOOK_MIN_NS;
    return ep->later.silence.look_ns;
}

void uiw_silence_watch(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    uint64_t delay_ns = silence_begin(uiw_ep_of(ual));

    if (delay_ns == 0)
        return;
    if (silence_put(progress, ual, delay_ns) || !progress->silence.timer.active)
        silence_wait(ia, base_deadline_ns(base_now_ns(), delay_ns));
}

void uiw_silence_forget(struct ual_ia *ia, struct ual_ep *ual)
{
    struct uiw_progress *progress = uiw_progress_of(ia);
    bool busy = true;

    while (busy) {
        base_lock_take(&progress->lock);
        silence_unlink_locked(&progress->silence, ual);
        busy = progress->silence.busy == ual;
        base_lock_drop(&progress->lock);
        if (busy)
            sched_yield();
    }
}

void uiw_silence_stop(struct ual_ia *ia)
{
    evd_timer_stop(&uiw_progress_of(ia)->silence.timer);
}
