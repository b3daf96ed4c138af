/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs_cm/stub_rdma.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_PORT 20000u

struct stub_event {
    struct rdma_cm_event event; /* first */
    struct stub_event *next;
    struct stub_channel *channel;
    pthread_t taker;
    uint8_t data[UINT8_MAX];
};

struct stub_channel {
    struct rdma_event_channel channel; /* first */
    int end;                           /* has a byte for each event in the channel */
};

struct stub_id {
    struct rdma_cm_id id; /* first */
    struct stub_id *next;
    struct ibv_sa_path_rec record;
    bool listens;
};

struct stub_failure {
    int error;
    unsigned successes, failures;
};

uint8_t (*stub_rdma_port)(const struct sockaddr *address);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct stub_id *ids;                /* newest first */
static struct stub_event *waiting, *taken; /* events; waiting is in order */
static size_t channels;
static struct stub_failure failures[STUB_CALLS];
static int failures_of_all[STUB_CALLS];
static unsigned counts[STUB_CALLS];
static unsigned handed, acknowledged;
static struct rdma_conn_param last_param;
static uint8_t last_data[UINT8_MAX];
static bool connect_is_held;
static const struct rdma_cm_id *held_id;
static uint16_t next_port = FIRST_PORT;

static void wrong(const char *what) __attribute__((noreturn));

static void wrong(const char *what)
{
    fprintf(stderr, "rdma_cm is not to be used like this: %s\n", what);
    abort();
}

/* ---------------------------------------------------------------- what tests say */

void stub_rdma_start(void)
{
    pthread_mutex_lock(&lock);
    memset(failures, 0, sizeof(failures));
    memset(failures_of_all, 0, sizeof(failures_of_all));
    memset(counts, 0, sizeof(counts));
    handed = acknowledged = 0;
    connect_is_held = false;
    held_id = NULL;
    stub_rdma_port = NULL;
    pthread_mutex_unlock(&lock);
}

void stub_rdma_fail(enum stub_call call, int error, unsigned successes, unsigned count)
{
    pthread_mutex_lock(&lock);
    failures[call] = (struct stub_failure){error, successes, count};
    pthread_mutex_unlock(&lock);
}

void stub_rdma_fail_all(enum stub_call call, int error)
{
    pthread_mutex_lock(&lock);
    failures_of_all[call] = error;
    pthread_mutex_unlock(&lock);
}

unsigned stub_rdma_count(enum stub_call call)
{
    unsigned count;

    pthread_mutex_lock(&lock);
    count = counts[call];
    pthread_mutex_unlock(&lock);
    return count;
}

void stub_rdma_hold_connect(bool hold)
{
    pthread_mutex_lock(&lock);
    connect_is_held = hold;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

void stub_rdma_hold_destroy(const struct rdma_cm_id *id)
{
    pthread_mutex_lock(&lock);
    held_id = id;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static struct stub_id **find_locked(const struct rdma_cm_id *id)
{
    struct stub_id **link = &ids;

    while (*link && &(*link)->id != id)
        link = &(*link)->next;
    return link;
}

bool stub_rdma_lives(const struct rdma_cm_id *id)
{
    bool lives;

    pthread_mutex_lock(&lock);
    lives = *find_locked(id) != NULL;
    pthread_mutex_unlock(&lock);
    return lives;
}

struct rdma_cm_id *stub_rdma_newest(enum rdma_port_space space)
{
    struct stub_id *id;

    pthread_mutex_lock(&lock);
    for (id = ids; id && (!id->id.channel || id->id.ps != space); id = id->next)
        ;
    pthread_mutex_unlock(&lock);
    return id ? &id->id : NULL;
}

struct rdma_cm_id *stub_rdma_listener(void)
{
    struct stub_id *id;

    pthread_mutex_lock(&lock);
    for (id = ids; id && !id->listens; id = id->next)
        ;
    pthread_mutex_unlock(&lock);
    return id ? &id->id : NULL;
}

struct rdma_conn_param stub_rdma_param(void)
{
    struct rdma_conn_param param;

    pthread_mutex_lock(&lock);
    param = last_param;
    pthread_mutex_unlock(&lock);
    return param;
}

unsigned stub_rdma_handed(void)
{
    unsigned count;

    pthread_mutex_lock(&lock);
    count = handed;
    pthread_mutex_unlock(&lock);
    return count;
}

unsigned stub_rdma_acknowledged(void)
{
    unsigned count;

    pthread_mutex_lock(&lock);
    count = acknowledged;
    pthread_mutex_unlock(&lock);
    return count;
}

size_t stub_rdma_left(void)
{
    size_t count;

    pthread_mutex_lock(&lock);
    count = channels;
    for (const struct stub_id *id = ids; id; id = id->next)
        count++;
    for (const struct stub_event *event = waiting; event; event = event->next)
        count++;
    for (const struct stub_event *event = taken; event; event = event->next)
        count++;
    pthread_mutex_unlock(&lock);
    return count;
}

/* ---------------------------------------------------------------- calls that may fail */

static bool is_guard(const struct rdma_cm_id *id)
{
    return id->ps == RDMA_PS_IB;
}

/* Returns true if the call fails; sets errno. The id may be NULL. */
static bool fails_locked(enum stub_call call, const struct rdma_cm_id *id)
{
    struct stub_failure *failure = &failures[call];

    if (failures_of_all[call] != 0) {
        errno = failures_of_all[call];
        return true;
    }
    if (id && (!id->channel || is_guard(id)))
        return false;
    counts[call]++;
    if (failure->failures == 0)
        return false;
    if (failure->successes > 0) {
        failure->successes--;
        return false;
    }
    failure->failures--;
    errno = failure->error;
    return true;
}

/* Does the same for an id that must exist. */
static int use(enum stub_call call, const struct rdma_cm_id *id)
{
    int result = 0;

    pthread_mutex_lock(&lock);
    if (!*find_locked(id))
        wrong("the id is not there");
    if (fails_locked(call, id))
        result = -1;
    pthread_mutex_unlock(&lock);
    return result;
}

static int use_with(enum stub_call call, const struct rdma_cm_id *id,
                    const struct rdma_conn_param *param)
{
    pthread_mutex_lock(&lock);
    last_param = *param;
    if (param->private_data_len > 0)
        memcpy(last_data, param->private_data, param->private_data_len);
    last_param.private_data = last_data;
    pthread_mutex_unlock(&lock);
    return use(call, id);
}

/* ---------------------------------------------------------------- channels and events */

struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct stub_channel *channel = NULL;
    int ends[2];

    pthread_mutex_lock(&lock);
    if (!fails_locked(STUB_CREATE_CHANNEL, NULL)) {
        channel = calloc(1, sizeof(*channel));
        if (!channel || pipe2(ends, O_CLOEXEC) != 0)
            abort();
        channel->channel.fd = ends[0];
        channel->end = ends[1];
        channels++;
    }
    pthread_mutex_unlock(&lock);
    return channel ? &channel->channel : NULL;
}

void rdma_destroy_event_channel(struct rdma_event_channel *rdma_channel)
{
    struct stub_channel *channel = (struct stub_channel *)rdma_channel;

    pthread_mutex_lock(&lock);
    for (const struct stub_id *id = ids; id; id = id->next)
        if (id->id.channel == rdma_channel)
            wrong("a channel is destroyed before its ids");
    channels--;
    pthread_mutex_unlock(&lock);
    (void)close(channel->channel.fd);
    (void)close(channel->end);
    free(channel);
}

static void fill_event(struct stub_event *event, int status, const struct stub_news *news)
{
    struct rdma_conn_param *conn = &event->event.param.conn;
    struct rdma_ud_param *ud = &event->event.param.ud;
    event->event.status = status;
    if (!news)
        return;
    if (news->length > 0)
        memcpy(event->data, news->data, news->length);
    if (event->event.id->ps == RDMA_PS_UDP) {
        ud->private_data = news->length > 0 ? event->data : NULL;
        ud->private_data_len = (uint8_t)news->length;
        ud->qp_num = news->qp_num;
        ud->qkey = news->qkey;
        return;
    }
    conn->private_data = news->length > 0 ? event->data : NULL;
    conn->private_data_len = (uint8_t)news->length;
    conn->responder_resources = news->responder_resources;
    conn->initiator_depth = news->initiator_depth;
}

void stub_rdma_tell(struct rdma_cm_id *id, struct rdma_cm_id *listener, int number, int status,
                    const struct stub_news *news)
{
    struct stub_event *event = calloc(1, sizeof(*event));
    struct stub_event **link = &waiting;

    if (!event)
        abort();
    pthread_mutex_lock(&lock);
    if (!*find_locked(id)) {
        pthread_mutex_unlock(&lock);
        free(event);
        return;
    }
    event->event.id = id;
    event->event.listen_id = listener;
    event->event.event = (enum rdma_cm_event_type)number;
    event->channel = (struct stub_channel *)id->channel;
    fill_event(event, status, news);
    while (*link)
        link = &(*link)->next;
    *link = event;
    if (write(event->channel->end, "", 1) != 1)
        abort();
    pthread_mutex_unlock(&lock);
}

/* As in the kernel: after an event was dropped the channel stays readable once. */
int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event_out)
{
    struct stub_event **link = &waiting;
    struct stub_event *event;
    char octet;

    if (read(channel->fd, &octet, 1) != 1)
        return -1;
    pthread_mutex_lock(&lock);
    while (*link && &(*link)->channel->channel != channel)
        link = &(*link)->next;
    event = *link;
    if (event) {
        *link = event->next;
        event->next = taken;
        taken = event;
        event->taker = pthread_self();
        handed++;
    }
    pthread_mutex_unlock(&lock);
    if (!event) {
        errno = EAGAIN;
        return -1;
    }
    *event_out = &event->event;
    return 0;
}

int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    struct stub_event **link = &taken;
    struct stub_event *found;

    pthread_mutex_lock(&lock);
    while (*link && &(*link)->event != event)
        link = &(*link)->next;
    found = *link;
    if (!found)
        wrong("an event is acknowledged that is not in anybody's hand");
    *link = found->next;
    acknowledged++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    free(found);
    return 0;
}

const char *rdma_event_str(enum rdma_cm_event_type event)
{
    (void)event;
    return "as told by the test";
}

/* ---------------------------------------------------------------- ids */

static struct stub_id *new_id(struct rdma_event_channel *channel, void *context,
                              enum rdma_port_space space)
{
    struct stub_id *id = calloc(1, sizeof(*id));

    if (!id)
        abort();
    id->id.channel = channel;
    id->id.context = context;
    id->id.ps = space;
    return id;
}

static void enter_locked(struct stub_id *id)
{
    id->next = ids;
    ids = id;
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id_out, void *context,
                   enum rdma_port_space space)
{
    struct stub_id *id = new_id(channel, context, space);
    bool fails;

    pthread_mutex_lock(&lock);
    fails = fails_locked(STUB_CREATE_ID, &id->id);
    if (!fails)
        enter_locked(id);
    pthread_mutex_unlock(&lock);
    if (fails) {
        free(id);
        return -1;
    }
    *id_out = &id->id;
    return 0;
}

static bool is_taken_locked(const struct rdma_cm_id *id)
{
    const struct stub_event *event = taken;

    while (event && event->event.id != id)
        event = event->next;
    if (event && pthread_equal(event->taker, pthread_self()))
        wrong("an id waits for an event that this thread has not acknowledged");
    return event != NULL;
}

static void drop_events_locked(const struct rdma_cm_id *id)
{
    struct stub_event **link = &waiting;

    while (*link) {
        struct stub_event *event = *link;

        if (event->event.id == id || event->event.listen_id == id) {
            *link = event->next;
            free(event);
        } else {
            link = &event->next;
        }
    }
}

int rdma_destroy_id(struct rdma_cm_id *rdma_id)
{
    struct stub_id **link;
    struct stub_id *id;
    int result;

    pthread_mutex_lock(&lock);
    if (!*find_locked(rdma_id))
        wrong("an id is destroyed that is not there");
    result = fails_locked(STUB_DESTROY, rdma_id) ? -1 : 0; /* freed nevertheless */
    while (held_id == rdma_id || is_taken_locked(rdma_id))
        pthread_cond_wait(&changed, &lock);
    drop_events_locked(rdma_id);
    link = find_locked(rdma_id);
    id = *link;
    *link = id->next;
    pthread_mutex_unlock(&lock);
    free(id);
    return result;
}

/* ---------------------------------------------------------------- addresses */

static size_t address_size(const struct sockaddr *address)
{
    return address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static void put_on_device(struct rdma_cm_id *id, uint8_t port)
{
    static struct ibv_context context;
    struct ibv_device **list = ibv_get_device_list(NULL);

    if (!list)
        abort();
    context.device = list[0];
    ibv_free_device_list(list);
    id->verbs = &context;
    id->port_num = port;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
    uint8_t port = stub_rdma_port ? stub_rdma_port(address) : 1;

    if (use(STUB_BIND, id) != 0)
        return -1;
    if (port == 0) {
        errno = ENODEV;
        return -1;
    }
    memcpy(&id->route.addr.src_storage, address, address_size(address));
    pthread_mutex_lock(&lock);
    if (id->route.addr.src_sin.sin_port == 0)
        id->route.addr.src_sin.sin_port = htons(next_port++);
    put_on_device(id, port);
    pthread_mutex_unlock(&lock);
    return 0;
}

uint16_t rdma_get_src_port(struct rdma_cm_id *id)
{
    return id->route.addr.src_sin.sin_port;
}

static void gid_of(const struct sockaddr *address, union ibv_gid *gid)
{
    memset(gid, 0, sizeof(*gid));
    if (address->sa_family == AF_INET) {
        gid->raw[10] = gid->raw[11] = 0xff;
        memcpy(gid->raw + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
    } else {
        memcpy(gid->raw, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
    }
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to,
                      int timeout_ms)
{
    (void)timeout_ms;
    if (use(STUB_RESOLVE_ADDR, id) != 0)
        return -1;
    if (from && rdma_bind_addr(id, from) != 0)
        return -1;
    memcpy(&id->route.addr.dst_storage, to, address_size(to));
    return 0;
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
    struct stub_id *own = (struct stub_id *)id;

    (void)timeout_ms;
    if (use(STUB_RESOLVE_ROUTE, id) != 0)
        return -1;
    gid_of(&id->route.addr.src_addr, &own->record.sgid);
    gid_of(&id->route.addr.dst_addr, &own->record.dgid);
    id->route.path_rec = &own->record;
    id->route.num_paths = 1;
    return 0;
}

/* ---------------------------------------------------------------- connections */

struct rdma_cm_id *stub_rdma_asked(struct rdma_cm_id *listener, const struct sockaddr *peer)
{
    struct stub_id *id = new_id(listener->channel, listener->context, listener->ps);

    id->id.verbs = listener->verbs;
    id->id.port_num = listener->port_num;
    id->id.route.addr.src_storage = listener->route.addr.src_storage;
    memcpy(&id->id.route.addr.dst_storage, peer, address_size(peer));
    pthread_mutex_lock(&lock);
    enter_locked(id);
    pthread_mutex_unlock(&lock);
    return &id->id;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    (void)backlog;
    if (use(STUB_LISTEN, id) != 0)
        return -1;
    pthread_mutex_lock(&lock);
    ((struct stub_id *)id)->listens = true;
    pthread_mutex_unlock(&lock);
    return 0;
}

static void unlock(void *argument)
{
    pthread_mutex_unlock(argument);
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    while (connect_is_held)
        pthread_cond_wait(&changed, &lock);
    pthread_cleanup_pop(1);
    return use_with(STUB_CONNECT, id, param);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    return use_with(STUB_ACCEPT, id, param);
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t length)
{
    const struct rdma_conn_param param = {.private_data = private_data, .private_data_len = length};

    return use_with(STUB_REJECT, id, &param);
}

int rdma_establish(struct rdma_cm_id *id)
{
    return use(STUB_ESTABLISH, id);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
    return use(STUB_DISCONNECT, id);
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
    (void)event;
    return use(STUB_NOTIFY, id);
}

int rdma_set_option(struct rdma_cm_id *id, int level, int name, void *value, size_t length)
{
    (void)level, (void)name, (void)value, (void)length;
    return use(STUB_SET_OPTION, id);
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attributes, int *mask)
{
    (void)attributes;
    *mask = IBV_QP_STATE;
    return use(STUB_INIT_QP_ATTR, id);
}
