/* SPDX-License-Identifier: BSD-2-Clause */
#include "cm/ofa_cm_datagram.h"

#include "support/ofa_port.h"
#include "support/ofa_timer.h"
#include "support/ofa_udp.h"
#include "support/ofa_watch.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define PERIOD_NS     UINT64_C(50000000) /* between requests */
#define TRIES         80
#define TRIES_REFUSED 6 /* while the port is closed, as for connections */
#define DRAIN_MOST    64
#define WAITING_MOST  1024 /* unanswered requests of one listener */

/* The UDP part of an id: of a listener, of a request to it, or of a requester. */
struct cm_datagram {
    struct cm_id *id;
    struct ofa_watch watch; /* without a descriptor for a request */
    struct ofa_timer timer;
    uintptr_t listener; /* of a request: serial of the id that it came to; otherwise 0 */
    struct sockaddr_storage peer;
    struct in6_addr called; /* the address that the request came to; IPv4 is IPv4-mapped */
    uint64_t transaction;
    unsigned int tries;
    size_t length; /* of the message to repeat; 0: none yet */
    unsigned char message[CM_SIDR_MOST];
};

#define GIDS_MOST 32

static struct cm_datagram *of_watch(struct ofa_watch *watch)
{
    return (struct cm_datagram *)(void *)((char *)watch - offsetof(struct cm_datagram, watch));
}

static void survive_fork(void)
{
    ofa_timer_survive_fork();
    ofa_watch_survive_fork();
}

static struct cm_datagram *datagram_new(struct cm_id *id)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct cm_datagram *datagram = calloc(1, sizeof(*datagram));

    if (!datagram)
        return NULL;
    (void)pthread_once(&once, survive_fork);
    datagram->id = id;
    datagram->watch.fd = -1;
    return datagram;
}

/* Attaches a part that is complete: the watch's thread looks at all ids. */
static void attach(struct cm_id *id, struct cm_datagram *datagram)
{
    (void)pthread_mutex_lock(&cm_lock);
    id->datagram = datagram;
    (void)pthread_mutex_unlock(&cm_lock);
}

static void set_message(struct cm_datagram *datagram, const struct cm_sidr_message *message)
{
    datagram->length = cm_sidr_encode(message, datagram->message);
}

/* Sends from the address that the request came to: the peer takes no other answer. */
static void send_message(struct cm_datagram *datagram, int fd)
{
    struct sockaddr *peer = (struct sockaddr *)&datagram->peer;
    struct iovec piece = {.iov_base = datagram->message, .iov_len = datagram->length};
    struct msghdr message = {.msg_name = peer,
                             .msg_namelen = ofa_address_length(peer),
                             .msg_iov = &piece,
                             .msg_iovlen = 1};
    union ofa_udp_control control;

    ofa_udp_set_local(peer->sa_family, &datagram->called, &message, &control);
    (void)!sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- The requester -------------------------------------------------------------------------- */

static void to_gid(const struct sockaddr *address, union ibv_gid *gid)
{
    const struct sockaddr_in *four = (const void *)address;
    const struct sockaddr_in6 *six = (const void *)address;

    memset(gid, 0, sizeof(*gid));
    if (address->sa_family == AF_INET) {
        gid->raw[10] = gid->raw[11] = 0xff;
        memcpy(&gid->raw[12], &four->sin_addr, sizeof(four->sin_addr));
    } else {
        memcpy(gid, &six->sin6_addr, sizeof(*gid));
    }
}

/* Fills an address vector for the peer. */
static void fill_vector(const struct cm_id *id, struct ibv_ah_attr *vector)
{
    struct ibv_gid_entry entries[GIDS_MOST];
    union ibv_gid local;
    ssize_t count =
        ibv_query_gid_table(id->base.verbs, entries, sizeof(entries) / sizeof(entries[0]), 0);

    memset(vector, 0, sizeof(*vector));
    vector->is_global = 1;
    vector->port_num = 1;
    vector->grh.hop_limit = 0xff;
    to_gid(&id->base.route.addr.dst_addr, &vector->grh.dgid);
    to_gid(&id->base.route.addr.src_addr, &local);
    for (ssize_t i = 0; i < count; i++)
        if (memcmp(&entries[i].gid, &local, sizeof(local)) == 0)
            vector->grh.sgid_index = (uint8_t)entries[i].gid_index;
}

static void tell_answer_locked(struct cm_id *id, const struct cm_sidr_message *answer)
{
    bool success = answer->status == CM_SIDR_SUCCESS;
    struct cm_event *event = cm_event_take(
        id, success ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_UNREACHABLE, answer->status);

    id->state = success ? CM_CONNECTED : CM_OVER;
    if (!event)
        return;
    cm_event_set_data(event, answer->data, answer->length, CM_SIDR_REPLY_DATA);
    event->base.param.ud.qp_num = answer->number;
    event->base.param.ud.qkey = answer->qkey;
    fill_vector(id, &event->base.param.ud.ah_attr);
    cm_event_post(event);
}

static void tell_silence_locked(struct cm_id *id, int status)
{
    struct cm_event *event = cm_event_take(id, RDMA_CM_EVENT_UNREACHABLE, status);

    id->state = CM_OVER;
    if (!event)
        return;
    if (status == CM_SIDR_NO_SERVICE)
        cm_event_set_data(event, NULL, 0, CM_SIDR_REPLY_DATA);
    cm_event_post(event);
}

static void on_answer_locked(struct cm_datagram *datagram, const unsigned char *bytes,
                             size_t length)
{
    struct cm_sidr_message answer;

    if (datagram->id->state == CM_CONNECTING && cm_sidr_decode(bytes, length, &answer) &&
        answer.kind == CM_SIDR_REPLY && answer.transaction == datagram->transaction)
        tell_answer_locked(datagram->id, &answer);
}

/*
 * The socket is connected: it gets only the peer's datagrams, and an error if its port is closed.
 */
static void on_answers(struct ofa_watch *watch)
{
    struct cm_datagram *datagram = of_watch(watch);
    unsigned char bytes[CM_SIDR_MOST + 1];
    ssize_t length = recv(watch->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    bool refused = length < 0 && errno == ECONNREFUSED;
    bool waits;

    (void)pthread_mutex_lock(&cm_lock);
    if (length >= 0)
        on_answer_locked(datagram, bytes, (size_t)length);
    else if (refused && datagram->tries >= TRIES_REFUSED && datagram->id->state == CM_CONNECTING)
        tell_silence_locked(datagram->id, CM_SIDR_NO_SERVICE);
    waits = datagram->id->state == CM_CONNECTING;
    (void)pthread_mutex_unlock(&cm_lock);
    if (waits)
        ofa_watch_arm(watch);
}

static void ask_again(struct ofa_timer *timer)
{
    struct cm_datagram *datagram =
        (struct cm_datagram *)(void *)((char *)timer - offsetof(struct cm_datagram, timer));
    bool waits;

    (void)pthread_mutex_lock(&cm_lock);
    waits = datagram->id->state == CM_CONNECTING;
    if (waits && datagram->tries == TRIES) {
        tell_silence_locked(datagram->id, -ETIMEDOUT);
        waits = false;
    }
    datagram->tries++;
    (void)pthread_mutex_unlock(&cm_lock);
    if (!waits)
        return;
    (void)!send(datagram->watch.fd, datagram->message, datagram->length,
                MSG_DONTWAIT | MSG_NOSIGNAL);
    ofa_timer_set(timer, ofa_clock_ns() + PERIOD_NS);
}

/* Connects the id's socket to the peer. Returns 0 or errno. */
static int connect_socket(const struct cm_id *id)
{
    const struct sockaddr *peer = &id->base.route.addr.dst_addr;

    return connect(id->port_socket, peer, ofa_address_length(peer)) == 0 ? 0 : errno;
}

int cm_datagram_connect(struct cm_id *id, const struct rdma_conn_param *param)
{
    struct cm_sidr_message message = {.kind = CM_SIDR_REQUEST};
    struct cm_datagram *datagram;
    int error = id->datagram ? EINVAL : 0;

    if (param && param->private_data && error == 0)
        error = cm_check_data(param->private_data_len, CM_SIDR_REQUEST_DATA);
    if (error == 0)
        error = cm_event_reserve(id);
    if (error == 0)
        error = connect_socket(id);
    if (error != 0)
        return error;
    if (getrandom(&message.transaction, sizeof(message.transaction), 0) < 0)
        return errno;
    datagram = datagram_new(id);
    if (!datagram)
        return ENOMEM;
    if (param && param->private_data) {
        message.data = param->private_data;
        message.length = param->private_data_len;
    }
    cm_id_set_qp(id, id->base.qp);
    datagram->transaction = message.transaction;
    set_message(datagram, &message);
    datagram->watch.fd = id->port_socket;
    datagram->watch.callback = on_answers;
    datagram->timer.callback = ask_again;
    attach(id, datagram);
    cm_id_set_state(id, CM_CONNECTING);
    error = ofa_watch_open(&datagram->watch);
    if (error == 0)
        ask_again(&datagram->timer);
    else
        datagram->watch.fd = -1;
    return error;
}

/* ---- The listener --------------------------------------------------------------------------- */

static bool is_request_to(const struct cm_id *id, uintptr_t listener)
{
    return id->datagram && id->datagram->listener == listener;
}

/* Looks for a request that is known already, and counts those of its listener that wait. */
struct search {
    uintptr_t listener;
    uint64_t transaction;
    const struct sockaddr_storage *peer;
    unsigned int waiting;
};

static bool is_wanted(const struct cm_id *id, void *argument)
{
    struct search *search = argument;

    if (!is_request_to(id, search->listener))
        return false;
    search->waiting += id->state == CM_REQUESTED;
    return id->datagram->transaction == search->transaction &&
           memcmp(&id->datagram->peer, search->peer, sizeof(*search->peer)) == 0;
}

/* Sets *address. An IPv4-mapped address becomes an IPv4 address. */
static void fill_address(struct sockaddr_storage *address, const struct in6_addr *ip, uint16_t port)
{
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;

    memset(address, 0, sizeof(*address));
    address->ss_family = IN6_IS_ADDR_V4MAPPED(ip) ? AF_INET : AF_INET6;
    if (address->ss_family == AF_INET)
        four->sin_addr = ofa_udp_unmap(ip);
    else
        six->sin6_addr = *ip;
    ofa_port_set((struct sockaddr *)address, port);
}

/* Sets the peer's address and the called one, which has the port of the listener. */
static void fill_route(struct cm_id *id, uint16_t port)
{
    struct rdma_addr *addr = &id->base.route.addr;
    const struct sockaddr_storage *peer = &id->datagram->peer;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)peer;

    addr->dst_storage = *peer;
    if (peer->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        fill_address(&addr->dst_storage, &six->sin6_addr, ntohs(six->sin6_port));
    fill_address(&addr->src_storage, &id->datagram->called, port);
}

/*
 * Announces a request with a new id, by which the program answers. Returns false if memory runs
 * out: the peer repeats the request.
 */
static bool announce(struct cm_id *listener, const struct cm_sidr_message *message,
                     const struct sockaddr_storage *peer, const struct in6_addr *called)
{
    struct cm_request request = {
        .data = message->data, .length = message->length, .least = CM_SIDR_REQUEST_DATA};
    struct cm_id *id = cm_id_new(NULL, NULL, listener->base.ps, IBV_QPT_UD);
    struct cm_datagram *datagram = id ? datagram_new(id) : NULL;

    if (datagram && cm_attach_device(id) == 0) {
        datagram->listener = listener->serial;
        datagram->transaction = message->transaction;
        datagram->peer = *peer;
        datagram->called = *called;
        attach(id, datagram);
        fill_route(id, ofa_port_of(&listener->base.route.addr.src_addr));
        if (cm_announce(id, listener->serial, &request))
            return true;
    }
    if (id)
        cm_id_delete(id);
    free(datagram);
    return false;
}

static void on_request(struct cm_datagram *datagram, const struct cm_sidr_message *message,
                       const struct sockaddr_storage *peer, const struct in6_addr *called)
{
    struct cm_id *listener = datagram->id;
    struct search search = {
        .listener = listener->serial, .transaction = message->transaction, .peer = peer};
    struct cm_id *known;

    (void)pthread_mutex_lock(&cm_lock);
    known = cm_id_search_locked(is_wanted, &search);
    if (known && known->datagram->length > 0)
        send_message(known->datagram, datagram->watch.fd);
    (void)pthread_mutex_unlock(&cm_lock);
    if (!known && search.waiting < WAITING_MOST)
        (void)announce(listener, message, peer, called);
}

/* Handles the next message. Returns false if there is none. */
static bool take_message(struct cm_datagram *datagram)
{
    unsigned char bytes[CM_SIDR_MOST + 1];
    struct iovec piece = {.iov_base = bytes, .iov_len = sizeof(bytes)};
    struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
    union ofa_udp_control control;
    struct msghdr header = {.msg_name = &peer,
                            .msg_namelen = sizeof(peer),
                            .msg_iov = &piece,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    ssize_t length = recvmsg(datagram->watch.fd, &header, MSG_DONTWAIT);
    struct cm_sidr_message message;
    struct in6_addr called;

    if (length < 0)
        return false;
    ofa_udp_get_local(&header, &called);
    if (cm_sidr_decode(bytes, (size_t)length, &message) && message.kind == CM_SIDR_REQUEST)
        on_request(datagram, &message, &peer, &called);
    return true;
}

static void on_requests(struct ofa_watch *watch)
{
    for (int i = 0; i < DRAIN_MOST && take_message(of_watch(watch)); i++) {
    }
    ofa_watch_arm(watch);
}

int cm_datagram_listen(struct cm_id *id)
{
    struct cm_datagram *datagram = datagram_new(id);
    int error;

    if (!datagram)
        return ENOMEM;
    datagram->watch.fd = id->port_socket;
    datagram->watch.callback = on_requests;
    ofa_udp_open(id->port_socket, id->base.route.addr.src_addr.sa_family);
    attach(id, datagram);
    error = ofa_watch_open(&datagram->watch);
    if (error != 0) {
        attach(id, NULL);
        free(datagram);
    }
    return error;
}

/* Answers from the listener's port, as the peer expects. Fails if the listener is destroyed. */
static int answer(struct cm_id *id, const struct cm_sidr_message *message, enum cm_state next)
{
    struct cm_datagram *datagram = id->datagram;
    struct cm_id *listener;
    int error = EINVAL;

    (void)pthread_mutex_lock(&cm_lock);
    listener = datagram ? cm_id_find_locked(datagram->listener) : NULL;
    if (listener && id->state == CM_REQUESTED) {
        set_message(datagram, message);
        send_message(datagram, listener->port_socket);
        id->state = next;
        error = 0;
    }
    (void)pthread_mutex_unlock(&cm_lock);
    return error;
}

int cm_datagram_accept(struct cm_id *id, const struct rdma_conn_param *param)
{
    struct cm_sidr_message message = {
        .kind = CM_SIDR_REPLY, .status = CM_SIDR_SUCCESS, .qkey = RDMA_UDP_QKEY};

    if (id->base.qp)
        message.number = id->base.qp->qp_num;
    else if (param)
        message.number = param->qp_num;
    if (message.number == 0 || !id->datagram)
        return EINVAL;
    if (param && param->private_data) {
        message.data = param->private_data;
        message.length = param->private_data_len;
    }
    if (cm_check_data(message.length, CM_SIDR_REPLY_DATA) != 0)
        return EINVAL;
    message.transaction = id->datagram->transaction;
    cm_id_set_qp(id, id->base.qp);
    return answer(id, &message, CM_CONNECTED);
}

int cm_datagram_reject(struct cm_id *id, const void *data, uint8_t length)
{
    struct cm_sidr_message message = {
        .kind = CM_SIDR_REPLY, .status = CM_SIDR_REJECTED, .data = data, .length = length};

    if (!id->datagram || cm_check_data(length, CM_SIDR_REPLY_DATA) != 0)
        return EINVAL;
    message.transaction = id->datagram->transaction;
    return answer(id, &message, CM_OVER);
}

void cm_datagram_close(struct cm_id *id)
{
    struct cm_datagram *datagram = id->datagram;

    if (!datagram)
        return;
    (void)cm_datagram_reject(id, NULL, 0);
    cm_id_set_state(id, CM_OVER);
    if (datagram->watch.fd >= 0)
        ofa_watch_close(&datagram->watch);
    ofa_timer_cancel(&datagram->timer);
    attach(id, NULL);
    free(datagram);
}
