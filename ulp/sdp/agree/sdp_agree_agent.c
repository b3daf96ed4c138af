/* SPDX-License-Identifier: BSD-2-Clause */
#include "agree/sdp_agree_agent.h"

#include "agree/sdp_agree_attached.h"
#include "agree/sdp_agree_relay.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define STACK_OCTETS  (size_t)(128 << 10)
#define LISTENERS_MAX 64
#define EVENTS_MAX    32
#define BURST         64 /* datagrams read from one descriptor before the next one */

enum watched {
    WATCH_MAPPER,  /* UDP */
    WATCH_ANSWERS, /* answers of holders to the mapper */
    WATCH_CHANNEL, /* questions to an open socket */
    WATCH_STREAM   /* octets of a promised socket */
};

static struct {
    int epoll;
    bool running;
    struct sdp_agreement *open[SDP_OPEN_MAX];
    uint32_t turn[SDP_OPEN_MAX]; /* identifies events of an earlier socket in the same place */
    unsigned next_place;
    struct {
        uint16_t port;
        unsigned count;
        int fd; /* bound to the name; -1: another process has it */
    } listener[LISTENERS_MAX];
} agent = {.epoll = -1};

struct sdp_agent_handlers sdp_agent_handlers;

/* The thread is calling `decided`. */
static bool telling;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;

/* ---- Descriptors ---------------------------------------------------------------------------- */

static bool watch(int fd, enum watched kind, unsigned place)
{
    struct epoll_event event = {.events = EPOLLIN};

    event.data.u64 = (uint64_t)kind << 48 | (uint64_t)place << 32;
    if (kind == WATCH_CHANNEL || kind == WATCH_STREAM)
        event.data.u64 |= agent.turn[place];
    return epoll_ctl(agent.epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* ---- Open sockets --------------------------------------------------------------------------- */

/* Returns a free place; the socket that has been open longest gives way. */
static unsigned free_place(void)
{
    unsigned place = agent.next_place++ % SDP_OPEN_MAX;

    for (unsigned i = 0; i < SDP_OPEN_MAX && agent.open[place]; i++)
        place = agent.next_place++ % SDP_OPEN_MAX;
    if (agent.open[place] && agent.open[place]->state == SDP_SERVER_OPEN)
        (void)sdp_agree_decide(agent.open[place], SDP_TCP);
    return place;
}

bool sdp_agent_watch(struct sdp_agreement *agreement)
{
    unsigned place = free_place();

    if (agent.open[place])
        return false;
    agent.turn[place]++;
    if (!watch(agreement->channel, WATCH_CHANNEL, place))
        return false;
    agent.open[place] = agreement;
    agreement->place = (int)place;
    return true;
}

bool sdp_agent_watch_stream(struct sdp_agreement *agreement)
{
    return watch(agreement->fd, WATCH_STREAM, (unsigned)agreement->place);
}

void sdp_agent_forget(struct sdp_agreement *agreement)
{
    if (agreement->place >= 0) {
        agent.open[agreement->place] = NULL;
        agent.turn[agreement->place]++;
        if (agreement->promises > 0 && agent.epoll >= 0)
            (void)epoll_ctl(agent.epoll, EPOLL_CTL_DEL, agreement->fd, NULL);
    }
    agreement->place = -1;
    if (agreement->channel < 0)
        return;
    if (sdp_agree_alone(agreement))
        sdp_attached_end(agreement->channel);
    sdp_agree_drop(&agreement->channel);
}

enum sdp_agree_verdict sdp_agree_decide(struct sdp_agreement *agreement,
                                        enum sdp_agree_verdict verdict)
{
    if (agreement->corked && verdict == SDP_TCP)
        sdp_agree_cork(agreement->fd, 1);
    agreement->state = verdict == SDP_CONVERT ? SDP_DECIDED_CONVERT : SDP_DECIDED_TCP;
    sdp_agent_forget(agreement);
    return verdict;
}

/* ---- The thread ----------------------------------------------------------------------------- */

static void tell(void *context, enum sdp_agree_verdict verdict)
{
    if (!sdp_agree_host.decided)
        return;
    telling = true;
    (void)pthread_mutex_unlock(&sdp_agree_lock);
    sdp_agree_host.decided(context, (int)verdict);
    (void)pthread_mutex_lock(&sdp_agree_lock);
    telling = false;
    (void)pthread_cond_broadcast(&told);
}

static void handle_open(enum watched kind, struct sdp_agreement *agreement)
{
    enum sdp_agree_verdict verdict;
    void *context = agreement->context;

    if (kind == WATCH_CHANNEL) {
        sdp_agent_handlers.asked(agreement);
        return;
    }
    verdict = sdp_agent_handlers.look(agreement);
    if (verdict != SDP_WAIT)
        tell(context, verdict);
}

static void handle(uint64_t data)
{
    const enum watched kind = (enum watched)(data >> 48);
    const unsigned place = (unsigned)(data >> 32 & 0xffff);

    (void)pthread_mutex_lock(&sdp_agree_lock);
    if (kind == WATCH_MAPPER)
        for (int i = 0; i < BURST && sdp_relay_client(); i++) {
        }
    else if (kind == WATCH_ANSWERS)
        for (int i = 0; i < BURST && sdp_relay_holder(); i++) {
        }
    else if (agent.open[place] && agent.turn[place] == (uint32_t)data)
        handle_open(kind, agent.open[place]);
    (void)pthread_mutex_unlock(&sdp_agree_lock);
}

static void *run(void *argument)
{
    const int epoll = (int)(intptr_t)argument;
    struct epoll_event events[EVENTS_MAX];

    if (sdp_agree_host.thread_begins)
        sdp_agree_host.thread_begins();
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS_MAX, -1);

        for (int i = 0; i < count; i++)
            handle(events[i].data.u64);
        if (count < 0 && errno != EINTR)
            return NULL;
    }
}

static bool start_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    bool done;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, STACK_OCTETS);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    done = pthread_create(&thread, &attributes, run, (void *)(intptr_t)agent.epoll) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return done;
}

/* The port may have been taken by another user's mapper, or by another program. */
static void try_mapper(void)
{
    if (sdp_relay_try_mapper() && !watch(sdp_relay.udp, WATCH_MAPPER, 0))
        sdp_agree_drop(&sdp_relay.udp);
}

bool sdp_agent_start(void)
{
    if (agent.running) {
        try_mapper();
        return true;
    }
    agent.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (agent.epoll >= 0)
        agent.epoll = sdp_agree_keep(agent.epoll);
    if (agent.epoll < 0)
        return false;
    agent.running = sdp_relay_open() && watch(sdp_relay.answers, WATCH_ANSWERS, 0) &&
                    (sdp_relay.udp < 0 || watch(sdp_relay.udp, WATCH_MAPPER, 0)) && start_thread();
    if (!agent.running)
        sdp_agree_drop(&agent.epoll);
    else
        try_mapper();
    return agent.running;
}

/* ---- Listening sockets ---------------------------------------------------------------------- */

void sdp_agent_announce(uint16_t port)
{
    int place = -1;
    struct sockaddr_un name;
    socklen_t length = sdp_presence_name(port, &name);

    for (int i = LISTENERS_MAX - 1; i >= 0; i--) {
        if (agent.listener[i].count == 0)
            place = i;
    }
    for (int i = 0; i < LISTENERS_MAX; i++) {
        if (agent.listener[i].count > 0 && agent.listener[i].port == port)
            place = i;
    }
    if (place < 0 || !sdp_agent_start())
        return;
    if (agent.listener[place].count++ > 0)
        return;
    agent.listener[place].port = port;
    agent.listener[place].fd = sdp_relay_bind((struct sockaddr *)&name, length);
    if (agent.listener[place].fd >= 0)
        (void)shutdown(agent.listener[place].fd, SHUT_RD); /* the name is enough */
}

void sdp_agent_revoke(uint16_t port)
{
    for (int i = 0; i < LISTENERS_MAX; i++) {
        if (agent.listener[i].count == 0 || agent.listener[i].port != port)
            continue;
        if (--agent.listener[i].count == 0 && agent.listener[i].fd >= 0)
            sdp_agree_drop(&agent.listener[i].fd);
        return;
    }
}

/* ---- Processes ------------------------------------------------------------------------------ */

void sdp_agent_before_fork(void)
{
    while (telling)
        (void)pthread_cond_wait(&told, &sdp_agree_lock);
}

/*
 * The thread belongs to the parent, and so does the epoll descriptor: its events are reported
 * there.
 */
void sdp_agent_after_fork_child(void)
{
    if (agent.epoll >= 0)
        sdp_agree_drop(&agent.epoll);
    agent.running = false;
    (void)pthread_cond_init(&told, NULL);
    for (int i = 0; i < SDP_OPEN_MAX; i++) {
        if (agent.open[i])
            agent.open[i]->place = -1;
        agent.open[i] = NULL;
    }
}
