/* SPDX-License-Identifier: BSD-2-Clause */
/* setsockopt and getsockopt on the TCP stream below. */
#include "connection/sdp_object.h"

#include <errno.h>

#define CONVERSION_S 5

/* Waits for the stream. Both ends have agreed already, so it takes a round trip. */
static void await_stream(struct sdp_connection *connection)
{
    struct timespec deadline;
    int error = 0;

    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += CONVERSION_S;
    while (!connection->live && !connection->ended && error != EAGAIN && error != EBADF)
        error = sdp_wait(connection, &deadline);
}

/* Returns 0 if the connection and its stream exist; otherwise a negative errno. */
static int have_stream(struct sdp_connection *connection)
{
    int error = sdp_enter(connection);
    bool live;

    if (error != 0)
        return -error;
    await_stream(connection);
    live = connection->live && !connection->ended;
    sdp_leave(connection);
    return live ? 0 : -EINVAL;
}

static int errno_of(it_status_t status)
{
    if (status == IT_SUCCESS)
        return 0;
    if (status == IT_ERR_OP_NOT_SUPPORTED)
        return -EOPNOTSUPP;
    return status == IT_ERR_RANGE ? -ENOPROTOOPT : -EINVAL;
}

int sdp_get_stream_option(struct sdp_connection *connection, int level, int name, void *value,
                          socklen_t *length)
{
    int error = have_stream(connection);

    return error ? error
                 : errno_of(itx_ep_get_stream_option(connection->ep, level, name, value, length));
}

/* Options that would change how the stream is read and written are accepted without effect. */
int sdp_set_stream_option(struct sdp_connection *connection, int level, int name, const void *value,
                          socklen_t length)
{
    int error = have_stream(connection);
    char before[256];
    socklen_t room = sizeof(before);

    if (error != 0)
        return error;
    error = errno_of(itx_ep_set_stream_option(connection->ep, level, name, value, length));
    if (error != -EOPNOTSUPP)
        return error == -ENOPROTOOPT ? -EINVAL : error;
    error = errno_of(itx_ep_get_stream_option(connection->ep, level, name, before, &room));
    return error == -EOPNOTSUPP ? 0 : error;
}
