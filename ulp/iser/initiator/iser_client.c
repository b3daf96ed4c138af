/* SPDX-License-Identifier: BSD-2-Clause */
#include "initiator/iser_client.h"

#include "pdu/iser_stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/rand.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Limits each system call that waits, also connect. */
static void limit_waits(const struct iser_client *client)
{
    const struct timeval limit = {.tv_sec = client->options.timeout};

    (void)setsockopt(client->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    (void)setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
}

static bool connect_socket(struct iser_client *client)
{
    const struct sockaddr_storage *address = &client->options.address;
    socklen_t length =
        address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    int on = 1;

    client->fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0)
        return iser_client_fail(client, "socket: %s", strerror(errno));
    limit_waits(client);
    if (connect(client->fd, (const struct sockaddr *)(const void *)address, length) != 0)
        return errno == EINPROGRESS ? iser_client_silent(client)
                                    : iser_client_fail(client, "connect: %s", strerror(errno));
    (void)setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    iser_stream_unpace(client->fd);
    return true;
}

static bool make_memory(struct iser_client *client)
{
    if (client->options.memory == 0)
        return true;
    client->memory = mmap(NULL, client->options.memory, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (client->memory != MAP_FAILED)
        return true;
    client->memory = NULL;
    return iser_client_fail(client, "out of memory");
}

bool iser_client_open(struct iser_client *client, const struct iser_client_options *options)
{
    memset(client, 0, sizeof(*client));
    client->options = *options;
    client->fd = -1;
    client->max_cmd_sn = client->cmd_sn - 1; /* until the target says so */
    /* A random session qualifier (RFC 7143 11.12.5, type 10). */
    if (RAND_bytes(client->isid + 1, 5) != 1)
        return iser_client_fail(client, "no random numbers");
    client->isid[0] = 0x80;
    if (!make_memory(client))
        return false;
    if (options->from_start)
        return iser_client_rdma_connect(client) && iser_client_login(client);
    return connect_socket(client) && iser_client_plain_open(client) && iser_client_login(client) &&
           (!options->interface || iser_client_rdma_convert(client));
}

void iser_client_close(struct iser_client *client)
{
    if (client->link && !client->error[0])
        (void)iser_client_logout(client);
    if (client->link)
        client->link->close(client);
    if (client->fd >= 0)
        (void)close(client->fd);
    if (client->memory)
        (void)munmap(client->memory, client->options.memory);
}
