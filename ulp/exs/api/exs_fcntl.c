/* SPDX-License-Identifier: BSD-2-Clause */
/* exs_fcntl: the settings of a socket. */
#include "adapter/exs_adapter.h"
#include "adapter/exs_lead.h"
#include "api/exs_call.h"
#include "api/exs_settings.h"
#include "transfer/exs_connection.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#define CREDITS_MAX       65535
#define PACKET_COPY_MAX   (1 << 30)
#define STREAM_BUFFER_MAX (UINT32_C(3) << 30)

int exs_settings_open(const struct exs_socket *socket)
{
    return socket->state == EXS_STATE_OPEN || socket->state == EXS_STATE_LISTENING ? 0 : EISCONN;
}

int exs_settings_stream_buffer(struct exs_socket *socket, size_t octets)
{
    if (exs_settings_open(socket) != 0)
        return EISCONN;
    if (octets > STREAM_BUFFER_MAX)
        return EINVAL;
    socket->options.stream_buffer = octets;
    if (octets == 0)
        socket->options.fd_flags |= EXS_FD_NODELAY;
    return 0;
}

/* ---- The processor of the library's thread -------------------------------------------------- */

/* Pins the library's thread to a processor that the process may use, or unpins it. */
static int pin(int cpu)
{
    cpu_set_t cpus;

    if (!exs_adapter_get() || sched_getaffinity(getpid(), sizeof(cpus), &cpus) != 0)
        return errno;
    if (cpu != INT_MAX && (cpu >= CPU_SETSIZE || !CPU_ISSET((unsigned)cpu, &cpus)))
        return EINVAL;
    if (cpu != INT_MAX) {
        CPU_ZERO(&cpus);
        CPU_SET((unsigned)cpu, &cpus);
    }
    return exs_lead_pin(&cpus);
}

/* ---- Settings ------------------------------------------------------------------------------- */

/* The commands of one setting are neighbours: SET is odd, and GET follows. */
struct setting {
    size_t offset; /* of an int in struct exs_options */
    int least;
    int greatest;
    int type; /* socket type; 0: both types */
};

static const struct setting settings[] = {
    [EXS_F_SETFLOWCONTROLCREDITS] = {offsetof(struct exs_options, send_credits), 1, CREDITS_MAX, 0},
    [EXS_F_SETSPMAXSIZE] = {offsetof(struct exs_options, packet_copy_max), 0, PACKET_COPY_MAX,
                            SOCK_SEQPACKET},
    [EXS_F_SETINLINEMAXSIZE] = {offsetof(struct exs_options, inline_max), 0, INT_MAX, 0},
    [EXS_F_SETCOMPTHREADCPU] = {offsetof(struct exs_options, completion_cpu), 0, INT_MAX, 0},
    [EXS_F_SETFD] = {offsetof(struct exs_options, fd_flags), 0, EXS_FD_BUSYPOLL | EXS_FD_NODELAY,
                     0},
};

static int check(const struct exs_socket *socket, const struct setting *setting, int command,
                 int value)
{
    if (setting->type != 0 && setting->type != socket->type)
        return EINVAL;
    if (command % 2 == 0)
        return 0;
    if (value < setting->least || value > setting->greatest)
        return EINVAL;
    if (command == EXS_F_SETCOMPTHREADCPU)
        return pin(value);
    return exs_settings_open(socket);
}

static int set_or_get(struct exs_socket *socket, int command, int value, long *result)
{
    int place = command % 2 ? command : command - (command > 0);
    const struct setting *setting;
    int *option;
    int error;

    if (command < 1 || (size_t)place >= sizeof(settings) / sizeof(settings[0]))
        return EINVAL;
    setting = &settings[place];
    option = (int *)(void *)((char *)&socket->options + setting->offset);
    error = check(socket, setting, command, value);
    if (error)
        return error;
    if (place == EXS_F_SETINLINEMAXSIZE && *option > (int)EXS_INLINE_MAX)
        *option = (int)EXS_INLINE_MAX;
    *result = *option;
    if (place == command)
        *option = value;
    if (command == EXS_F_SETFLOWCONTROLCREDITS)
        socket->options.recv_credits = value;
    return 0;
}

static int stream_buffer(struct exs_socket *socket, int command, unsigned octets, long *result)
{
    *result = (long)socket->options.stream_buffer;
    return command == EXS_F_SETSTREAMBUFSIZE ? exs_settings_stream_buffer(socket, octets) : 0;
}

long exs_fcntl(int fd, int command, ...)
{
    int cancel = exs_api_enter();
    struct exs_socket *socket = exs_socket_find(fd);
    long result = -1;
    va_list arguments;
    int value = 0;
    int error;

    if (!socket)
        return exs_api_leave(cancel, EBADF);
    va_start(arguments, command);
    if (command % 2)
        value = va_arg(arguments, int);
    va_end(arguments);
    if (command == EXS_F_SETSTREAMBUFSIZE || command == EXS_F_GETSTREAMBUFSIZE)
        error = stream_buffer(socket, command, (unsigned)value, &result);
    else
        error = set_or_get(socket, command, value, &result);
    exs_socket_leave(socket);
    return exs_api_leave(cancel, error) ? -1 : result;
}
