/* SPDX-License-Identifier: BSD-2-Clause */
#include "convert/fake_host.h"

#include "support/check.h"
#include "vp/verbs/convert/verbs_convert.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WATCHES 16
#define TIMERS  16

/* ---------------------------------------------------------------- objects */

struct ual_ep {
    int state;
    struct fake_side *side;
    struct verbs_ep area;
};

struct ual_ia {
    int nothing;
};

struct vp_watch {
    int fd;
    void (*ready)(void *argument);
    void *argument;
};

struct vp_timer {
    uint64_t deadline; /* 0: off */
    void (*expired)(void *argument);
    void *argument;
};

static struct vp_watch *watches[WATCHES];
static struct vp_timer *timers[TIMERS];
static uint64_t now = 1;
static struct ual_ia the_ia;

static void host_log(enum vp_log_level level, const char *format, ...)
{
    va_list arguments;

    (void)level;
    if (!getenv("ITAPI_LOG"))
        return;
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputc('\n', stderr);
}

static void *slot_take(void **slots, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++)
        if (!slots[i])
            return slots[i] = calloc(1, size);
    CHECK_FAIL("too many watches or timers");
}

static void slot_free(void **slots, size_t count, void *what)
{
    for (size_t i = 0; i < count; i++)
        if (slots[i] == what)
            slots[i] = NULL;
    free(what);
}

static struct vp_watch *host_watch_start(struct ual_ia *ia, int fd, void (*ready)(void *argument),
                                         void *argument)
{
    struct vp_watch *watch = slot_take((void **)watches, WATCHES, sizeof(*watch));

    (void)ia;
    *watch = (struct vp_watch){fd, ready, argument};
    return watch;
}

static void host_watch_stop(struct vp_watch *watch)
{
    slot_free((void **)watches, WATCHES, watch);
}

static struct vp_timer *host_timer_new(struct ual_ia *ia, void (*expired)(void *argument),
                                       void *argument)
{
    struct vp_timer *timer = slot_take((void **)timers, TIMERS, sizeof(*timer));

    (void)ia;
    *timer = (struct vp_timer){0, expired, argument};
    return timer;
}

static bool host_timer_start(struct vp_timer *timer, uint64_t delay_ns)
{
    timer->deadline = now + delay_ns;
    return true;
}

static void host_timer_stop(struct vp_timer *timer)
{
    timer->deadline = 0;
}

static void host_timer_free(struct vp_timer *timer)
{
    slot_free((void **)timers, TIMERS, timer);
}

static void host_ep_lock(struct ual_ep *ep)
{
    (void)ep;
}

static it_ep_state_rc_t host_ep_state(const struct ual_ep *ep)
{
    return (it_ep_state_rc_t)ep->state;
}

static bool host_ep_step(struct ual_ep *ep, enum ual_ep_step step)
{
    bool pending = ep->state == IT_EP_STATE_ACTIVE1_CONNECTION_PENDING ||
                   ep->state == IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ;
    bool fresh = ep->state == IT_EP_STATE_UNCONNECTED;
    int to = -1;

    if (step == UAL_EP_CONNECT && fresh)
        to = IT_EP_STATE_ACTIVE1_CONNECTION_PENDING;
    else if (step == UAL_EP_WAIT_REQUEST && fresh)
        to = IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ;
    else if (step == UAL_EP_ESTABLISHED && pending)
        to = IT_EP_STATE_CONNECTED;
    else if ((step == UAL_EP_ATTEMPT_FAILED || step == UAL_EP_DISCONNECT) && pending)
        to = IT_EP_STATE_NONOPERATIONAL;
    else if ((step == UAL_EP_CLOSED || step == UAL_EP_DISCONNECT) &&
             ep->state == IT_EP_STATE_CONNECTED)
        to = IT_EP_STATE_NONOPERATIONAL;
    if (to < 0)
        return false;
    ep->state = to;
    return true;
}

static void host_ep_report(struct ual_ep *ep, const struct ual_conn_news *news)
{
    struct fake_side *side = ep->side;
    struct fake_news *kept = &side->news[side->news_count];

    CHECK(side->news_count < sizeof(side->news) / sizeof(side->news[0]));
    side->news_count++;
    kept->number = news->number;
    kept->reject_code = news->reject_code;
    kept->private_length = news->private_length;
    if (news->private_length > 0)
        memcpy(kept->private_data, news->private_data, news->private_length);
}

static void host_ia_call(struct ual_ia *ia, void (*function)(void *argument), void *argument)
{
    (void)ia;
    function(argument);
}

static struct ual_ia *host_ia_of(const void *object)
{
    (void)object;
    return &the_ia;
}

static const struct vp_host host = {
    .log = host_log,
    .layout.area[VP_EP] = offsetof(struct ual_ep, area),
    .watch_start = host_watch_start,
    .watch_stop = host_watch_stop,
    .timer_new = host_timer_new,
    .timer_start = host_timer_start,
    .timer_stop = host_timer_stop,
    .timer_free = host_timer_free,
    .ep_lock = host_ep_lock,
    .ep_unlock = host_ep_lock,
    .ep_state = host_ep_state,
    .ep_step_locked = host_ep_step,
    .ep_report = host_ep_report,
    .ia_of = host_ia_of,
    .ia_call = host_ia_call,
};
__attribute__((constructor)) static void host_hand_over(void)
{
    verbs_host = &host;
}

/* ---------------------------------------------------------------- what else a conversion calls */

void verbs_ep_open_locked(struct verbs_ep *ep)
{
    (void)ep;
}

void verbs_ep_break(struct verbs_ep *ep)
{
    ep->ual->side->breaks++;
}

void verbs_ep_report_established(struct verbs_ep *ep, const struct ual_conn_news *news)
{
    host_ep_report(ep->ual, news);
}

void verbs_ep_report_end(struct verbs_ep *ep, const struct ual_conn_news *news)
{
    host_ep_report(ep->ual, news);
}

/* ---------------------------------------------------------------- the device */

/* One end of a connection. */
struct end {
    struct verbs_conn conn;
    struct end *other;
    bool made;
};

struct fake_device fake_device;

static struct verbs_convert *listening;
static struct end *asking; /* the end whose request was not taken yet */

static struct end *end_of(struct verbs_convert *convert)
{
    return (struct end *)(void *)convert->conn;
}

static struct end *end_new(struct verbs_convert *convert)
{
    struct end *end = calloc(1, sizeof(*end));

    end->conn.convert = convert;
    end->conn.ep = convert->ep;
    end->conn.private_length = agree_key(&convert->agree, end->conn.private_data);
    convert->conn = &end->conn;
    return end;
}

enum agree_kind verbs_convert_kind(const struct verbs_convert *convert)
{
    return convert->ia->is_iwarp ? AGREE_IWARP : AGREE_ROCE;
}

void verbs_convert_tell_path(const struct verbs_convert *convert)
{
    (void)convert;
}

uint16_t verbs_convert_listen(struct verbs_convert *convert)
{
    if (fake_device.no_port)
        return 0;
    listening = convert;
    return ++fake_device.port;
}

bool verbs_convert_connect(struct verbs_convert *convert)
{
    convert->code = IT_CN_REJ_BAD_PATH;
    if (fake_device.unreachable)
        return false;
    asking = end_new(convert);
    return true;
}

bool verbs_convert_accept(struct verbs_convert *convert)
{
    struct end *end;

    convert->code = IT_CN_REJ_OTHER;
    listening = NULL;
    if (fake_device.no_accept || !asking)
        return false;
    end = end_new(convert);
    end->other = asking;
    asking->other = end;
    asking->made = true;
    end->made = true;
    asking = NULL;
    fake_device.live += 2;
    return true;
}

static void end_free(struct end *end)
{
    if (asking == end)
        asking = NULL;
    if (end->made)
        fake_device.live--;
    if (end->other)
        end->other->other = NULL;
    free(end);
}

void verbs_convert_drop(struct verbs_convert *convert)
{
    if (listening == convert)
        listening = NULL;
    if (convert->conn) {
        fake_device.dropped++;
        end_free(end_of(convert));
    }
    convert->conn = NULL;
}

void verbs_conn_establish(struct verbs_conn *conn, const void *private_data, size_t length)
{
    const struct ual_conn_news news = {
        .number = IT_CM_MSG_CONN_ESTABLISHED_EVENT,
        .private_data = private_data,
        .private_length = length,
    };

    CHECK(host_ep_step(conn->ep->ual, UAL_EP_ESTABLISHED));
    host_ep_report(conn->ep->ual, &news);
    end_free((struct end *)(void *)conn);
}

/* Makes the next event of a connection. Returns true if there was one. */
static bool device_ask(void)
{
    struct verbs_cm_event event = {.type = RDMA_CM_EVENT_CONNECT_REQUEST};

    if (!asking || fake_device.silent)
        return false;
    if (!listening) {
        struct verbs_convert *convert = asking->conn.convert;

        free(asking);
        asking = NULL;
        verbs_convert_unconnected(convert, IT_CN_REJ_OTHER);
        return true;
    }
    memcpy(event.private_data, asking->conn.private_data, asking->conn.private_length);
    event.private_length = asking->conn.private_length;
    /* rdma_cm over InfiniBand does the same. */
    while (event.private_length > 0 && event.private_data[event.private_length - 1] == 0)
        event.private_length--;
    listening->target->requested(listening, NULL, &event);
    return true;
}

static bool device_establish(struct verbs_convert *convert)
{
    struct end *end = convert->ep ? end_of(convert) : NULL;
    uint8_t data[AGREE_KEY_FRAME] = {0};

    if (!end || !end->other || end->conn.state == VERBS_CONN_LIVE)
        return false;
    end->conn.state = VERBS_CONN_LIVE;
    if (!fake_device.wrong_key)
        memcpy(data, end->other->conn.private_data, sizeof(data));
    verbs_convert_connected(convert, data, sizeof(data));
    return true;
}

static struct fake_side *sides[2];

static bool device_works(void)
{
    if (device_ask())
        return true;
    for (size_t i = 0; i < 2; i++)
        if (sides[i] && sides[i]->ep->convert && device_establish(sides[i]->ep->convert))
            return true;
    return false;
}

/* verbs_cm_accept.c, which accepts on an EP, is not linked. */
int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    (void)id;
    (void)param;
    CHECK(!"no conversion accepts by itself");
    return -1;
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t length)
{
    (void)id, (void)private_data, (void)length;
    return 0;
}

static bool refused;

int rdma_destroy_id(struct rdma_cm_id *id)
{
    (void)id;
    refused = true;
    return 0;
}

bool fake_request_is_refused(const uint8_t *private_data, size_t length)
{
    struct verbs_cm_event event = {.type = RDMA_CM_EVENT_CONNECT_REQUEST, .private_length = length};

    CHECK(listening != NULL);
    if (length > 0)
        memcpy(event.private_data, private_data, length);
    refused = false;
    listening->target->requested(listening, NULL, &event);
    return refused;
}

void fake_disconnect(struct fake_side *side)
{
    struct verbs_convert *convert = side->ep->convert;
    struct end *end = end_of(convert);

    CHECK(end != NULL);
    end_free(end);
    verbs_convert_unconnected(convert, IT_CN_REJ_OTHER);
}

/* ---------------------------------------------------------------- the loop */

static bool run_once(int timeout_ms)
{
    struct pollfd fds[WATCHES];
    struct vp_watch *of[WATCHES];
    nfds_t count = 0;

    if (device_works())
        return true;
    for (size_t i = 0; i < WATCHES; i++) {
        if (!watches[i])
            continue;
        of[count] = watches[i];
        fds[count++] = (struct pollfd){.fd = watches[i]->fd, .events = POLLIN};
    }
    if (poll(fds, count, timeout_ms) <= 0)
        return false;
    for (nfds_t i = 0; i < count; i++) {
        if (fds[i].revents == 0)
            continue;
        of[i]->ready(of[i]->argument); /* the others may be closed now */
        return true;
    }
    return false;
}

void fake_run(void)
{
    unsigned rounds = 0;

    while (run_once(0))
        CHECK(++rounds < 10000); /* a descriptor wakes the loop for ever */
}

void fake_run_until_news(struct fake_side *side, unsigned count)
{
    while (side->news_count < count)
        if (!run_once(FAKE_PATIENCE_MS))
            CHECK_FAIL("no news within %d ms", FAKE_PATIENCE_MS);
}

void fake_advance(uint64_t ns)
{
    now += ns;
    for (size_t i = 0; i < TIMERS; i++) {
        if (!timers[i] || timers[i]->deadline == 0 || timers[i]->deadline > now)
            continue;
        timers[i]->deadline = 0;
        timers[i]->expired(timers[i]->argument);
    }
}

/* ---------------------------------------------------------------- sides */

void fake_side_open(struct fake_side *side)
{
    memset(side, 0, sizeof(*side));
    side->ual = calloc(1, sizeof(*side->ual));
    side->ual->side = side;
    side->ep = &side->ual->area;
    side->ep->ual = side->ual;
    side->ep->ia = &side->ia;
    side->ia.is_iwarp = true;
    side->ia.cm = &side->cm;
    side->ia.ual = &the_ia;
    for (size_t i = 0; i < 2; i++) {
        if (sides[i])
            continue;
        sides[i] = side;
        return;
    }
    CHECK_FAIL("too many sides");
}

void fake_side_close(struct fake_side *side)
{
    if (side->ep->convert)
        verbs_convert_abandon(side->ep->convert);
    verbs_convert_close(&side->ia);
    for (size_t i = 0; i < 2; i++)
        if (sides[i] == side)
            sides[i] = NULL;
    free(side->ual);
}

it_ep_state_rc_t fake_state(const struct fake_side *side)
{
    return (it_ep_state_rc_t)side->ual->state;
}

it_status_t fake_convert(struct fake_side *side, int sd, const struct vp_convert *what)
{
    struct vp_convert own = *what;
    it_status_t status;

    own.fd = fcntl(sd, F_DUPFD_CLOEXEC, 0);
    CHECK(own.fd >= 0);
    if (own.timeout_us == 0)
        own.timeout_us = 30000000;
    status = verbs_convert(side->ual, &own);
    if (status != IT_SUCCESS)
        (void)close(own.fd);
    return status;
}
