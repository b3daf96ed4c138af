/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of settings: addresses, sizes, numbers. */
#include "program/iser_settings.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT_DEFAULT "3260"

/* ---- Addresses ----------------------------------------------- */

static bool resolve(const char *host, const char *port, struct sockaddr_storage *address)
{
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    unsigned number;

    if (!iser_value_number(port, 65535, &number) || getaddrinfo(host, port, &hints, &found) != 0)
        return false;
    memset(address, 0, sizeof(*address));
    memcpy(address, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return true;
}

bool iser_value_address(const char *text, struct sockaddr_storage *address)
{
    char host[128];
    char *end, *colon;

    if (strlen(text) >= sizeof(host))
        return false;
    (void)snprintf(host, sizeof(host), "%s", text);
    if (host[0] == '[') {
        end = strchr(host, ']');
        if (!end || (end[1] != '\0' && end[1] != ':'))
            return false;
        *end = '\0';
        return resolve(host + 1, end[1] == ':' ? end + 2 : PORT_DEFAULT, address);
    }
    colon = strchr(host, ':');
    if (!colon || strchr(colon + 1, ':')) /* no colon, or the colons of an IPv6 address */
        return resolve(host, PORT_DEFAULT, address);
    *colon = '\0';
    return resolve(host, colon + 1, address);
}

void iser_value_print_address(const struct sockaddr_storage *address, char text[64])
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
    const struct sockaddr_in *four = (const struct sockaddr_in *)address;
    char host[INET6_ADDRSTRLEN];

    if (address->ss_family == AF_INET6)
        (void)snprintf(text, 64, "[%s]:%u",
                       inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host)),
                       ntohs(six->sin6_port));
    else
        (void)snprintf(text, 64, "%s:%u", inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host)),
                       ntohs(four->sin_port));
}

/* ---- Numbers ----------------------------------------------- */

bool iser_value_size(const char *text, uint64_t *size)
{
    static const char units[] = "KMGT";
    const char *unit;
    unsigned shift = 0;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *size = strtoull(text, &end, 10);
    if (errno != 0)
        return false;
    if (*end) {
        unit = strchr(units, *end);
        if (!unit || end[1])
            return false;
        shift = 10 * (unsigned)(unit - units + 1);
    }
    if (*size > (UINT64_MAX >> 1) >> shift)
        return false;
    *size <<= shift;
    return true;
}

bool iser_value_number(const char *text, unsigned max, unsigned *number)
{
    uint64_t size;

    if (!iser_value_size(text, &size) || strpbrk(text, "KMGT") || size > max)
        return false;
    *number = (unsigned)size;
    return true;
}

bool iser_value_choice(const char *text, bool *yes)
{
    *yes = strcmp(text, "yes") == 0;
    return *yes || strcmp(text, "no") == 0;
}
