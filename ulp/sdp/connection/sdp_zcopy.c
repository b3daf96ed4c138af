/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ZCopy for blocking calls: the memory of the program is registered for the call. A send writes
 * into the peer's SinkAvail, or offers a SrcAvail. A receive reads from the peer's SrcAvail, or
 * offers a SinkAvail. Data that cannot be moved this way is copied.
 */
#include "connection/sdp_zcopy.h"

#include "guard/sdp_guard.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define OFFER_NS    1000000000ll /* without an answer within this time the data is copied */
#define CANCEL_S    5            /* without an answer within this time the connection is reset */
#define INLINE_MAX  1024u        /* octets in a SrcAvail of combined mode */
#define PIECE_MAX   (64u << 20)  /* octets of one exchange */
#define BUFFERED    16u          /* sends that are copied after one was refused */
#define READ_COOKIE ((it_dto_cookie_t)1 << 32)
#define NS_PER_S    1000000000ll

static bool is_dead(const struct sdp_connection *connection)
{
    return connection->ended || connection->failed || connection->error != 0;
}

/* Memory of the program, registered for one call. */
struct pin {
    it_lmr_handle_t lmr;
    int guard; /* of sdp_guard_hold */
    struct sdp_place place;
};

static bool pin(struct pin *pin, const void *octets, uint32_t count, unsigned rights, int *error)
{
    it_rmr_context_t key;
    it_status_t status;

    pin->guard = sdp_guard_hold(octets, count);
    if (pin->guard < 0)
        return false;
    status = it_lmr_create(sdp_adapter_get()->pz, (void *)(uintptr_t)octets, NULL, count,
                           IT_ADDR_MODE_ABSOLUTE, (it_mem_priv_t)rights, IT_LMR_FLAG_NONE, 0,
                           &pin->lmr, &key);
    if (status == IT_ERR_FAULT || status == IT_ERR_ACCESS)
        *error = EFAULT;
    if (status != IT_SUCCESS) {
        (void)sdp_guard_release(pin->guard);
        return false;
    }
    pin->place = (struct sdp_place){.addr = (uintptr_t)octets, .size = count, .key = (uint32_t)key};
    return true;
}

/*
 * Ends the registration. If the program has unmapped the memory since, the call fails, and the
 * connection is reset: the peer may have got zeros. A transport that met the fault in the kernel
 * has already ended.
 */
static size_t unpin(struct sdp_connection *connection, struct pin *pin, size_t done, int *error)
{
    bool faulted;

    (void)it_lmr_free(pin->lmr);
    faulted = sdp_guard_release(pin->guard);
    if (!faulted && !(is_dead(connection) &&
                      sdp_guard_is_missing((void *)(uintptr_t)pin->place.addr, pin->place.size)))
        return done;
    sdp_reset(connection);
    *error = EFAULT;
    return 0;
}

static uint32_t piece_of(size_t count, uint32_t limit)
{
    return count < limit ? (uint32_t)count : limit;
}

static struct timespec after_ns(int64_t ns)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += (time_t)(ns / NS_PER_S);
    time.tv_nsec += (long)(ns % NS_PER_S);
    if (time.tv_nsec >= NS_PER_S) {
        time.tv_nsec -= NS_PER_S;
        time.tv_sec++;
    }
    return time;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* Waits until the peer has confirmed that an offer is cancelled. Signals do not end this wait. */
static void await_cancelled(struct sdp_connection *connection, const struct sdp_offer *offer)
{
    const struct timespec until = after_ns(CANCEL_S * NS_PER_S);

    while (offer->state != SDP_OFFER_NONE && !is_dead(connection))
        if (sdp_wait(connection, &until) == EAGAIN)
            sdp_reset(connection);
}

/* ---- Sending -------------------------------------------------------------------------------- */

static uint32_t write_sink(struct sdp_connection *connection, const struct pin *pin)
{
    const struct sdp_place sink = *sdp_machine_sink(&connection->machine);
    uint32_t octets = piece_of(pin->place.size, sink.size);
    it_lmr_triplet_t segment = {
        .lmr = pin->lmr, .addr.abs = (void *)(uintptr_t)pin->place.addr, .length = octets};
    struct sdp_message message;
    uint32_t number;

    if (it_post_rdma_write(connection->ep, &segment, 1, 0, IT_COALESCE_WR_FLAG, sink.addr,
                           sink.key) != IT_SUCCESS) {
        connection->post_failed = true;
        return 0;
    }
    sdp_machine_written(&connection->machine, octets, &message);
    sdp_post(connection, &message, connection->lmr, NULL);
    number = connection->tx_posted;
    while (!sdp_post_is_done(connection, number) && !is_dead(connection))
        (void)sdp_wait(connection, NULL);
    return is_dead(connection) ? 0 : octets;
}

/* Returns 0 if the peer refuses it, or if a time limit or a signal has ended it. */
static uint32_t offer_source(struct sdp_connection *connection, const struct pin *pin,
                             const struct timespec *deadline, int *error)
{
    const struct sdp_offer *source = &connection->machine.source;
    struct timespec until = after_ns(OFFER_NS);
    bool combined = connection->machine.tx_mode == SDP_COMBINED;
    uint32_t inline_octets = combined ? INLINE_MAX : 0;
    struct sdp_message message;
    uint32_t size;

    if (combined && inline_octets > sdp_machine_room(&connection->machine) / 2)
        inline_octets = 1;
    if (deadline && is_before(deadline, &until))
        until = *deadline;
    sdp_machine_offer_source(&connection->machine, &pin->place, inline_octets, &message);
    sdp_post(connection, &message, pin->lmr, (const unsigned char *)(uintptr_t)pin->place.addr);
    size = connection->machine.source.size;
    while (source->state == SDP_OFFER_OUT && !is_dead(connection) && *error == 0)
        *error = sdp_wait(connection, &until);
    if (source->state == SDP_OFFER_OUT && !is_dead(connection)) {
        sdp_machine_cancel_source(&connection->machine);
        await_cancelled(connection, source);
    }
    if (source->done < size && !sdp_machine_sink(&connection->machine))
        connection->zcopy_rest = BUFFERED;
    if (*error == EAGAIN && (!deadline || is_before(&until, deadline)))
        *error = 0; /* only the offer's own time is over */
    return is_dead(connection) ? 0 : inline_octets + source->done;
}

/* One call at a time may use ZCopy, and copied data is sent first. */
static bool may_send(struct sdp_connection *connection, const struct timespec *deadline, int *error)
{
    struct sdp_machine *machine = &connection->machine;

    if (connection->sending_zcopy || !machine->open)
        return false;
    if (connection->zcopy_rest > 0) {
        connection->zcopy_rest--;
        return false;
    }
    connection->more = false; /* no more data will be copied after it */
    sdp_push(connection);
    while (connection->tx_sent != connection->tx_filled && !is_dead(connection) && *error == 0)
        *error = sdp_wait(connection, deadline);
    if (*error != 0 || connection->sending_zcopy)
        return false;
    if (machine->tx_mode == SDP_COMBINED && machine->peer_adverts > 1 &&
        sdp_machine_change_mode(machine, SDP_PIPELINED))
        sdp_push(connection);
    return sdp_post_room(connection) &&
           (sdp_machine_sink(machine) || sdp_machine_may_offer_source(machine));
}

size_t sdp_zcopy_send(struct sdp_connection *connection, const void *octets, size_t count,
                      const struct timespec *deadline, int *error)
{
    struct pin memory;
    size_t done = 0;

    /* The program's memory may be read-only. */
    if (!may_send(connection, deadline, error) ||
        !pin(&memory, octets, piece_of(count, PIECE_MAX), IT_PRIV_LOCAL_READ | IT_PRIV_REMOTE_READ,
             error))
        return 0;
    connection->sending_zcopy = true;
    if (!sdp_machine_sink(&connection->machine))
        done = offer_source(connection, &memory, deadline, error);
    /* The peer's SinkAvail may have crossed this SrcAvail, which is then invalid. */
    if (done == 0 && *error == 0 && !is_dead(connection) && sdp_machine_sink(&connection->machine))
        done = write_sink(connection, &memory);
    connection->sending_zcopy = false;
    done = unpin(connection, &memory, done, error);
    connection->counters.sent += done;
    connection->counters.zcopy_sent += done;
    return done;
}

/* ---- Receiving ------------------------------------------------------------------------------ */

static uint32_t read_source(struct sdp_connection *connection, const struct pin *pin)
{
    const struct sdp_place source = *sdp_machine_source(&connection->machine);
    uint32_t octets = piece_of(pin->place.size, source.size);
    it_lmr_triplet_t segment = {
        .lmr = pin->lmr, .addr.abs = (void *)(uintptr_t)pin->place.addr, .length = octets};

    if (it_post_rdma_read(connection->ep, &segment, 1, READ_COOKIE,
                          (it_dto_flags_t)(IT_COMPLETION_FLAG | IT_NOTIFY_FLAG), source.addr,
                          source.key) != IT_SUCCESS) {
        connection->post_failed = true;
        return 0;
    }
    sdp_machine_read_begins(&connection->machine, octets);
    connection->read_done = false;
    while (!connection->read_done && !is_dead(connection))
        (void)sdp_wait(connection, NULL);
    if (!connection->read_done)
        return 0;
    sdp_machine_read_ends(&connection->machine);
    return octets;
}

static uint32_t offer_sink(struct sdp_connection *connection, const struct pin *pin,
                           const struct timespec *deadline, int *error)
{
    const struct sdp_offer *sink = &connection->machine.sink;
    struct sdp_message message;

    sdp_machine_offer_sink(&connection->machine, &pin->place, &message);
    sdp_post(connection, &message, connection->lmr, NULL);
    while (sink->state == SDP_OFFER_OUT && !is_dead(connection) && !connection->eof && *error == 0)
        *error = sdp_wait(connection, deadline);
    if (sink->state == SDP_OFFER_OUT && !is_dead(connection) && !connection->eof) {
        sdp_machine_cancel_sink(&connection->machine);
        await_cancelled(connection, sink);
    }
    return is_dead(connection) || sink->state != SDP_OFFER_NONE ? 0 : sink->done;
}

size_t sdp_zcopy_receive(struct sdp_connection *connection, void *octets, size_t count,
                         const struct timespec *deadline, int *error)
{
    struct sdp_machine *machine = &connection->machine;
    bool source;
    struct pin memory;
    size_t done;

    sdp_push(connection); /* sends due messages about earlier transfers before a new offer */
    source = sdp_machine_source(machine) != NULL;
    if (connection->receiving_zcopy || connection->piece_count > 0 || is_dead(connection) ||
        !sdp_post_room(connection) || (!source && !sdp_machine_may_offer_sink(machine)) ||
        !pin(&memory, octets, piece_of(count, PIECE_MAX),
             IT_PRIV_LOCAL | (source && !sdp_adapter_get()->device ? 0 : IT_PRIV_REMOTE_WRITE),
             error)) /* some devices require this right for the data of a Read */
        return 0;
    connection->receiving_zcopy = true;
    if (source)
        done = read_source(connection, &memory);
    else
        done = offer_sink(connection, &memory, deadline, error);
    connection->receiving_zcopy = false;
    done = unpin(connection, &memory, done, error);
    connection->rx_position += done;
    connection->counters.received += done;
    connection->counters.zcopy_received += done;
    return done;
}
