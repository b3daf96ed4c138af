/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_rping_client.h"

#include "it_rping_connection.h"
#include "it_rping_text.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Set by an interrupt. */
static volatile sig_atomic_t stopping;

/* The client's two buffers. The server reads the source and writes the same data into the sink. */
struct buffers {
    struct region source;
    struct region sink;
};

/* ---- Connecting --------------------------------------------------------------------------- */

/* Returns an address of the wanted type, or NULL. */
static const it_net_addr_t *find_type(const it_net_addr_t *list, size_t count,
                                      it_net_addr_type_t type)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].addr_type == type)
            return &list[i];
    return NULL;
}

/* A path of iWARP consists of two IP addresses, so the local one can be chosen. */
static void leave_from(const struct adapter *adapter, const it_net_addr_t *source, it_path_t *path)
{
    if (adapter->info->transport_type != IT_IWARP_TCP_TRANSPORT)
        return;
    if (source->addr_type == IT_IPV4)
        path->remote.iwarp.laddr.ipv4 = source->addr.ipv4;
    else
        path->remote.iwarp.laddr.ipv6 = source->addr.ipv6;
}

/* Finds a path to this address, from the source if one is given. */
static bool try_path(const struct adapter *adapter, const it_net_addr_t *to,
                     const it_net_addr_t *source, it_path_t *path, bool *found)
{
    size_t spigot = adapter_first_spigot(adapter);
    size_t count = 1;
    size_t total = 0;

    if (source != NULL)
        (void)adapter_find_spigot(adapter, source, &spigot);
    if (!succeeded(it_get_pathinfo(adapter->ia, spigot, to, &count, &total, path),
                   "it_get_pathinfo"))
        return false;
    *found = count > 0;
    if (*found && source != NULL)
        leave_from(adapter, source, path);
    return true;
}

/* Finds the path to the first address of the server that can be reached. */
static bool find_path(const struct adapter *adapter, const struct options *options, it_path_t *path)
{
    it_net_addr_t servers[ADDRESS_ROOM];
    it_net_addr_t sources[ADDRESS_ROOM];
    size_t server_count;
    size_t source_count = 0;
    bool found = false;

    if (!address_look_up(options->address, servers, &server_count) ||
        (options->source != NULL && !address_look_up(options->source, sources, &source_count)))
        return false;
    for (size_t i = 0; i < server_count && !found; i++) {
        const it_net_addr_t *source = find_type(sources, source_count, servers[i].addr_type);

        if (options->source != NULL && source == NULL)
            continue;
        if (!try_path(adapter, &servers[i], source, path, &found))
            return false;
    }
    if (!found && options->source != NULL)
        complain("no path leads from %s to %s", options->source, options->address);
    else if (!found)
        complain("no path leads to %s", options->address);
    return found;
}

static bool connect_to_server(const struct adapter *adapter, const struct options *options,
                              struct connection *connection)
{
    it_conn_qual_t qualifier = {.type = IT_IANA_PORT};
    it_path_t path;
    it_status_t status;

    qualifier.conn_qual.port = htons(options->port);
    if (!find_path(adapter, options, &path))
        return false;
    status =
        it_ep_connect(connection->ep, &path, NULL, &qualifier, IT_CONNECT_FLAG_TWO_WAY, NULL, 0);
    if (status == IT_ERR_INVALID_SOURCE_PATH && options->source != NULL) {
        complain("interface %s does not have the address %s", adapter->name, options->source);
        return false;
    }
    return succeeded(status, "it_ep_connect") && connection_wait_established(connection);
}

/* ---- Pings -------------------------------------------------------------------------------- */

static bool wait_server(struct connection *connection)
{
    struct rping_buffer ignored;
    enum connection_news news = connection_receive(connection, &ignored);

    if (news == CONNECTION_DISCONNECTED)
        complain("the server disconnected in the middle of a ping");
    return news == CONNECTION_MESSAGE;
}

static bool advertise(struct connection *connection, const struct region *region, size_t size)
{
    struct rping_buffer buffer = {
        .address = it_make_rdma_addr_absolute(region->memory),
        .key = (uint32_t)region->key,
        .length = (uint32_t)size,
    };

    return connection_send(connection, &buffer);
}

static bool check_sink(const struct buffers *buffers, size_t size, uint32_t number)
{
    size_t equal = rping_text_compare(buffers->sink.memory, size, number);

    if (equal < size)
        complain("ping %lu came back changed: the first wrong byte is number %zu",
                 (unsigned long)number, equal);
    return equal == size;
}

static bool ping(struct connection *connection, const struct options *options,
                 struct buffers *buffers, uint32_t number)
{
    rping_text_fill(buffers->source.memory, options->size, number);
    /* Clears the sink, so that data of the last ping is not taken for that of this one. */
    memset(buffers->sink.memory, 0, options->size);
    if (!advertise(connection, &buffers->source, options->size) || !wait_server(connection) ||
        !advertise(connection, &buffers->sink, options->size) || !wait_server(connection))
        return false;
    if (options->validate && !check_sink(buffers, options->size, number))
        return false;
    if (options->show)
        rping_text_show("ping data", buffers->sink.memory, options->size);
    return true;
}

static void stop(int number)
{
    (void)number;
    stopping = 1;
}

/* A second interrupt is not caught: it ends a client whose server does not answer. */
static void catch_interrupt(void)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_handler = stop;
    action.sa_flags = (int)SA_RESETHAND;
    (void)sigaction(SIGINT, &action, NULL);
}

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool ping_all(struct connection *connection, const struct options *options,
                     struct buffers *buffers)
{
    unsigned long long done = 0;
    double start = now();
    bool good = true;

    catch_interrupt();
    while (good && !stopping && (options->count == 0 || done < options->count)) {
        good = ping(connection, options, buffers, (uint32_t)(done % RPING_NUMBER_END));
        done += good ? 1 : 0;
    }
    (void)printf("%llu pings of %zu bytes there and back in %.3f s%s\n", done, options->size,
                 now() - start, options->validate && good ? ", all correct" : "");
    return connection_disconnect(connection) && good;
}

/* ---- The whole ---------------------------------------------------------------------------- */

static bool run_with_memory(const struct adapter *adapter, const struct options *options,
                            struct connection *connection, unsigned char *memory)
{
    struct buffers buffers = {.sink = {.lmr = NULL}};
    bool done = false;

    if (region_create(&buffers.source, adapter->pz, memory, options->size,
                      IT_PRIV_LOCAL_READ | IT_PRIV_REMOTE_READ) &&
        region_create(&buffers.sink, adapter->pz, memory + options->size, options->size,
                      IT_PRIV_LOCAL | IT_PRIV_REMOTE_WRITE) &&
        connect_to_server(adapter, options, connection))
        done = ping_all(connection, options, &buffers);
    region_free(&buffers.sink);
    region_free(&buffers.source);
    return done;
}

bool client_run(const struct adapter *adapter, const struct options *options)
{
    unsigned char *memory = memory_allocate(2 * options->size);
    struct connection connection;
    bool done = false;

    if (memory == NULL)
        complain("out of memory");
    else if (connection_open(&connection, adapter)) {
        done = run_with_memory(adapter, options, &connection, memory);
        connection_close(&connection);
    }
    free(memory);
    return done;
}
