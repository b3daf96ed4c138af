/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_rping_server.h"

#include "it_rping_connection.h"
#include "it_rping_text.h"

#include <itx_api.h>

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_ROOM 64 /* clients that knock at the same time */

/* A client that is being served. */
struct session {
    const struct adapter *adapter;
    const struct options *options;
    struct connection connection;
    struct region buffer; /* data read from the client, and written back to it */
    char client[ADDRESS_TEXT_SIZE];
};

struct server {
    const struct adapter *adapter;
    const struct options *options;
    it_evd_handle_t requests;
    it_listen_handle_t listener;
};

/* ---- Pings -------------------------------------------------------------------------------- */

static bool check_source(const struct session *session, const struct rping_buffer *source)
{
    if (source->length > 0 && source->length <= session->options->size)
        return true;
    complain("client %s: its buffer has %lu bytes; 1 to %zu are taken (-S)", session->client,
             (unsigned long)source->length, session->options->size);
    return false;
}

static bool check_text(const struct session *session, size_t length, unsigned long long number)
{
    size_t equal =
        rping_text_compare(session->buffer.memory, length, (uint32_t)(number % RPING_NUMBER_END));

    if (equal < length)
        complain("client %s: ping %llu is not what it should be: the first wrong byte is number "
                 "%zu",
                 session->client, number, equal);
    return equal == length;
}

static bool receive_sink(struct session *session, const struct rping_buffer *source,
                         struct rping_buffer *sink)
{
    enum connection_news news = connection_receive(&session->connection, sink);

    if (news == CONNECTION_DISCONNECTED)
        complain("client %s: disconnected in the middle of a ping", session->client);
    if (news != CONNECTION_MESSAGE)
        return false;
    if (sink->length >= source->length)
        return true;
    complain("client %s: its sink has %lu bytes, its source %lu", session->client,
             (unsigned long)sink->length, (unsigned long)source->length);
    return false;
}

/*
 * The client has sent the address of its source. A client that has its last answer may disconnect
 * at once. Over InfiniBand the acknowledgement of that answer can be lost then, so it is no error.
 */
static enum connection_news serve_ping(struct session *session, const struct rping_buffer *source,
                                       unsigned long long number)
{
    static const struct rping_buffer go_on;
    const struct options *options = session->options;
    struct connection *connection = &session->connection;
    struct rping_buffer sink;

    if (!check_source(session, source) || !connection_read(connection, &session->buffer, source) ||
        (options->validate && !check_text(session, source->length, number)))
        return CONNECTION_FAILED;
    if (options->show)
        rping_text_show("server ping data", session->buffer.memory, source->length);
    if (!connection_send(connection, &go_on) || !receive_sink(session, source, &sink))
        return CONNECTION_FAILED;
    return connection_write_and_send(connection, &session->buffer, source->length, &sink, &go_on);
}

/* Serves pings until the client disconnects, or exceeds a limit. */
static bool serve_pings(struct session *session)
{
    const struct options *options = session->options;
    struct rping_buffer source;
    unsigned long long done = 0;
    unsigned long long octets = 0;
    enum connection_news news;
    bool good;

    do {
        news = connection_receive(&session->connection, &source);
        if (news != CONNECTION_MESSAGE || (options->count != 0 && done == options->count))
            break;
        news = serve_ping(session, &source, done);
        if (news != CONNECTION_FAILED) {
            done++;
            octets += source.length;
        }
    } while (news == CONNECTION_MESSAGE);
    good = news != CONNECTION_FAILED;
    (void)printf("client %s: %llu pings, %llu bytes there and back%s\n", session->client, done,
                 octets, options->validate && good ? ", all correct" : "");
    (void)fflush(stdout);
    return good;
}

/* ---- Sessions ----------------------------------------------------------------------------- */

static void session_destroy(struct session *session)
{
    unsigned char *memory = session->buffer.memory;

    connection_close(&session->connection);
    region_free(&session->buffer);
    free(memory);
    free(session);
}

static bool session_create_buffer(struct session *session)
{
    unsigned char *memory = memory_allocate(session->options->size);

    if (memory == NULL) {
        complain("out of memory");
        return false;
    }
    /* RDMA Reads write into it, and RDMA Writes read from it. */
    if (region_create(&session->buffer, session->adapter->pz, memory, session->options->size,
                      session->adapter->sink_privileges))
        return true;
    free(memory);
    return false;
}

/*
 * Called before the client is accepted, which may send at once after that. Returns NULL after a
 * message.
 */
static struct session *session_create(const struct server *server,
                                      const it_conn_request_event_t *request)
{
    struct session *session = calloc(1, sizeof(*session));

    if (session == NULL) {
        complain("out of memory");
        return NULL;
    }
    session->adapter = server->adapter;
    session->options = server->options;
    address_text(&request->source_addr, session->client);
    if (session_create_buffer(session) && connection_open(&session->connection, session->adapter))
        return session;
    session_destroy(session);
    return NULL;
}

/* Serves an accepted client until it disconnects. */
static bool session_run(struct session *session)
{
    bool done = connection_wait_established(&session->connection) && serve_pings(session) &&
                connection_disconnect(&session->connection);

    session_destroy(session);
    return done;
}

static void *session_thread(void *argument)
{
    (void)session_run(argument);
    return NULL;
}

static bool session_start_thread(struct session *session)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int error = pthread_attr_init(&attributes);

    if (error == 0) {
        error = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        if (error == 0)
            error = pthread_create(&thread, &attributes, session_thread, session);
        (void)pthread_attr_destroy(&attributes);
    }
    if (error != 0)
        complain("client %s: no thread: %s", session->client, strerror(error));
    return error == 0;
}

/* ---- The server --------------------------------------------------------------------------- */

/* Accepts or rejects the client that asks. Returns NULL after a message. */
static struct session *accept_client(const struct server *server,
                                     const it_conn_request_event_t *request)
{
    struct session *session = session_create(server, request);

    if (session == NULL) {
        (void)succeeded(it_reject(request->cn_est_id, NULL, 0), "it_reject");
        return NULL;
    }
    trace("client %s connects; its limits of outstanding RDMA Reads are %u inbound, %u outbound",
          session->client, (unsigned int)request->rdma_read_ird,
          (unsigned int)request->rdma_read_ord);
    if (succeeded(it_ep_accept(session->connection.ep, request->cn_est_id, NULL, 0),
                  "it_ep_accept"))
        return session;
    session_destroy(session);
    return NULL;
}

static bool wait_request(const struct server *server, it_event_t *event)
{
    if (!rdma_wait_event(server->requests, event))
        return false;
    if (event->event_number == IT_CM_REQ_CONN_REQUEST_EVENT)
        return true;
    complain("unexpected: %s", itx_event_string(event->event_number));
    return false;
}

/* A failure of one client does not affect the others. Returns when the server can serve no more. */
static bool serve_many(struct server *server)
{
    it_event_t event;

    while (wait_request(server, &event)) {
        struct session *session = accept_client(server, &event.conn_req);

        if (session != NULL && !session_start_thread(session))
            session_destroy(session);
    }
    return false;
}

static bool stop_listening(struct server *server)
{
    it_listen_handle_t listener = server->listener;

    server->listener = NULL;
    return listener == NULL || succeeded(it_listen_free(listener), "it_listen_free");
}

static bool serve_one(struct server *server)
{
    struct session *session;
    it_event_t event;

    if (!wait_request(server, &event))
        return false;
    /* One client is enough. Its connection does not need the listen point any more. */
    if (!stop_listening(server))
        return false;
    session = accept_client(server, &event.conn_req);
    return session != NULL && session_run(session);
}

/* Finds the Spigot with the address that was asked for. */
static bool choose_spigot(const struct adapter *adapter, const char *wanted, size_t *spigot)
{
    it_net_addr_t list[ADDRESS_ROOM];
    size_t count;

    *spigot = adapter_first_spigot(adapter);
    if (wanted == NULL)
        return true;
    if (!address_look_up(wanted, list, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        if (address_is_any(&list[i]) || adapter_find_spigot(adapter, &list[i], spigot))
            return true;
    complain("interface %s does not have the address %s", adapter->name, wanted);
    return false;
}

static bool start_listening(struct server *server)
{
    const struct adapter *adapter = server->adapter;
    uint16_t port = server->options->port;
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};
    it_listen_flags_t flags = port != 0 ? IT_LISTEN_CONN_QUAL_INPUT : IT_LISTEN_NO_FLAG;
    it_status_t status;
    size_t spigot;

    qualifier.conn_qual.port = htons(port);
    if (!choose_spigot(adapter, server->options->address, &spigot) ||
        !succeeded(it_evd_create(adapter->ia, IT_CM_REQ_EVENT_STREAM, IT_EVD_OVERFLOW_DEFAULT,
                                 REQUEST_ROOM, IT_THRESHOLD_DISABLE, NULL, &server->requests, NULL),
                   "it_evd_create"))
        return false;
    status = it_listen_create(adapter->ia, spigot, server->requests, flags, &qualifier,
                              &server->listener);
    if (status != IT_SUCCESS) {
        complain("port %u: %s", (unsigned int)port, itx_status_string(status));
        return false;
    }
    (void)printf("listening on port %u\n", (unsigned int)ntohs(qualifier.conn_qual.port));
    (void)fflush(stdout);
    return true;
}

bool server_run(const struct adapter *adapter, const struct options *options)
{
    struct server server = {.adapter = adapter, .options = options};
    bool done = false;

    if (start_listening(&server))
        done = options->persistent ? serve_many(&server) : serve_one(&server);
    (void)stop_listening(&server);
    if (server.requests != NULL)
        (void)succeeded(it_evd_free(server.requests), "it_evd_free");
    return done;
}
