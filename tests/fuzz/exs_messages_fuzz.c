/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages of Extended Sockets, and the private data of its connections. The first octet chooses
 * the kind. What is accepted has the same octets after encoding, and no octet behind it is read.
 */
#include "wire/exs_message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void try_message(const uint8_t *data, size_t size)
{
    unsigned char octets[EXS_HEAD_OCTETS + EXS_PLACE_OCTETS];
    struct exs_message message;
    uint32_t more;
    size_t head;

    if (!exs_message_get(data, size, &message))
        return;
    head = exs_message_put(octets, &message);
    require(head <= size && memcmp(octets, data, head) == 0);
    require(message.payload == data + head);
    more = message.more;
    require(more < EXS_ADVERTS_MAX && head + more * EXS_PLACE_OCTETS <= size);
    for (uint32_t i = 0; i < more; i++) {
        const unsigned char *at = message.payload;

        require(exs_message_next_more(&message));
        exs_message_put_more(octets, &message.place, message.flags);
        require(memcmp(octets, at, EXS_PLACE_OCTETS) == 0);
    }
    require(!exs_message_next_more(&message));
}

static void try_setup(const uint8_t *data, size_t size)
{
    unsigned char octets[EXS_SETUP_OCTETS];
    struct exs_setup setup;

    if (!exs_setup_get(data, size, &setup))
        return;
    exs_setup_put(octets, &setup);
    require(memcmp(octets, data, size < sizeof(octets) ? size : sizeof(octets)) == 0);
    for (size_t i = size; i < sizeof(octets); i++)
        require(octets[i] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy; /* so that the octet behind the end is not ours */

    if (size == 0)
        return 0;
    copy = malloc(size - 1 ? size - 1 : 1);
    if (!copy)
        abort();
    memcpy(copy, data + 1, size - 1);
    if (data[0] & 1)
        try_setup(copy, size - 1);
    else
        try_message(copy, size - 1);
    free(copy);
    return 0;
}
