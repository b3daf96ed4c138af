/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_address.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

void peer_address_parse(struct peer_args *args, const char *text, uint64_t port,
                        struct sockaddr_storage *address)
{
    struct addrinfo hints;
    struct addrinfo *found;
    char service[24];

    memset(&hints, 0, sizeof(hints));
    memset(address, 0, sizeof(*address));
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_STREAM;
    (void)snprintf(service, sizeof(service), "%llu", (unsigned long long)port);
    if (getaddrinfo(text, service, &hints, &found) != 0) {
        peer_args_refuse(args, "%.60s: not a numeric address", text);
        return;
    }
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
}
