/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/exs_call.h"
#include "api/exs_file.h"
#include "api/exs_poll.h"
#include "socket/exs_socket_calls.h"

#include <errno.h>

struct chosen {
    bool all;
    exs_ahandle_t ahandle;
};

static bool is_chosen(const struct exs_request *request, const void *key)
{
    const struct chosen *chosen = key;
    const struct exs_call *call = request->context;

    return chosen->all || call->event.exs_evt_ahandle == chosen->ahandle;
}

int exs_cancel(int fd, int selector, exs_ahandle_t ahandle)
{
    const struct chosen chosen = {selector == EXS_CAF_FILDES, ahandle};
    int cancel = exs_api_enter();
    struct exs_socket *socket = exs_socket_find(fd);
    size_t count;

    if (!socket)
        return exs_api_leave(cancel, EBADF);
    if (selector != EXS_CAF_FILDES && selector != EXS_CAF_AHANDLE) {
        exs_socket_leave(socket);
        return exs_api_leave(cancel, EINVAL);
    }
    /* Pieces of files are cancelled with the others but not counted: their files are. */
    count = exs_files_cancel(socket, chosen.all, ahandle);
    count += exs_socket_cancel(socket, is_chosen, &chosen, ECANCELED);
    exs_socket_leave(socket);
    if (!chosen.all)
        count += exs_polls_cancel(fd, ahandle);
    (void)exs_api_leave(cancel, 0);
    return (int)count;
}
