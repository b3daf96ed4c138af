/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * If registered memory is locked, as on a device, the ring is registered only when the peer wants
 * it.
 */
#include "exs_kit.h"

#include "adapter/exs_adapter.h"
#include "transfer/exs_connection.h"

#include <stdlib.h>

#define LENGTH ((size_t)3 << 20)

static bool is_registered(int fd)
{
    struct exs_socket *socket = exs_socket_find(fd);
    bool registered;

    CHECK(socket != NULL);
    registered = socket->connection->ring_lmr != NULL;
    exs_socket_leave(socket);
    return registered;
}

int main(void)
{
    exs_qhandle_t queue;
    exs_mhandle_t handle;
    struct exs_pair pair;
    char *memory = malloc(2 * LENGTH);

    CHECK(memory != NULL);
    CHECK_STARTS(exs_init(EXS_VERSION1));
    CHECK(exs_adapter_get() != NULL);
    exs_adapter_get()->pins = true;
    queue = exs_qcreate(4);
    exs_pair_open(&pair, SOCK_STREAM);
    handle = exs_mregister(memory, 2 * LENGTH, 0);
    /* Short data needs no registered ring. */
    CHECK_RESULT(100, exs_send(pair.client, memory, 100, EXS_BLOCK, NULL, NULL, handle));
    CHECK_RESULT(100,
                 exs_recv(pair.server, memory, 100, EXS_BLOCK | MSG_WAITALL, NULL, NULL, handle));
    CHECK(!is_registered(pair.server));
    /*
     * Nor does long data with a receive, except the octets that are sent before the receive is
     * known.
     */
    exs_kit_fill(memory, LENGTH, 0);
    CHECK_STARTS(exs_send(pair.client, memory, LENGTH, 0, queue, NULL, handle));
    for (size_t place = 0; place < LENGTH; place += LENGTH / 3)
        CHECK_RESULT(LENGTH / 3, exs_recv(pair.server, memory + LENGTH + place, LENGTH / 3,
                                          EXS_BLOCK | MSG_WAITALL, NULL, NULL, handle));
    exs_kit_compare(memory + LENGTH, LENGTH, 0);
    (void)exs_kit_expect(queue, EXS_EVT_SEND, 0);
    CHECK(is_registered(pair.server) && !is_registered(pair.client));
    exs_pair_close(&pair);
    CHECK_STARTS(exs_mderegister(handle, 0));
    CHECK_STARTS(exs_qdelete(queue));
    free(memory);
    return 0;
}
