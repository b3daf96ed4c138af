/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions of exs.h on queues and registrations; they check arguments common to all. */
#include "api/exs_call.h"
#include "queue/exs_queue.h"

#include <errno.h>
#include <stdarg.h>

/* ---- Memory --------------------------------------------------------------------------------- */

exs_mhandle_t exs_mregister(void *addr, size_t length, int flags)
{
    exs_mhandle_t handle = EXS_MHANDLE_INVALID;
    int cancel = exs_api_enter();
    int error = exs_api_ready() ? exs_memory_register(addr, length, flags, &handle) : EPERM;

    (void)exs_api_leave(cancel, error);
    return handle;
}

int exs_mmodify(exs_mhandle_t mhandle, void *addr, size_t length, int flags)
{
    int cancel = exs_api_enter();

    return exs_api_leave(cancel, exs_memory_modify(mhandle, addr, length, flags));
}

int exs_mderegister(exs_mhandle_t mhandle, int flags)
{
    int cancel = exs_api_enter();

    return exs_api_leave(cancel, flags ? EINVAL : exs_memory_deregister(mhandle));
}

/* ---- Queues --------------------------------------------------------------------------------- */

exs_qhandle_t exs_qcreate(int depth)
{
    exs_qhandle_t handle = EXS_QHANDLE_INVALID;
    int cancel = exs_api_enter();
    int error = exs_api_ready() ? exs_queue_create(depth, &handle) : EPERM;

    (void)exs_api_leave(cancel, error);
    return handle;
}

int exs_qdelete(exs_qhandle_t qhandle)
{
    int cancel = exs_api_enter();

    return exs_api_leave(cancel, exs_queue_delete(qhandle));
}

int exs_qdequeue(exs_qhandle_t qhandle, exs_event_t *evec, int count, const struct timeval *timeout)
{
    int cancel = exs_api_enter();
    int error = EFAULT;
    int taken = 0;

    if (evec || count == 0)
        error = exs_queue_dequeue(qhandle, evec, count, timeout, cancel, &taken);
    return exs_api_leave(cancel, error) ? -1 : taken;
}

int exs_qfd(exs_qhandle_t qhandle)
{
    int cancel = exs_api_enter();
    int fd = -1;

    return exs_api_leave(cancel, exs_queue_fd(qhandle, &fd)) ? -1 : fd;
}

int exs_qmodify(exs_qhandle_t qhandle, int attribute, ...)
{
    int cancel = exs_api_enter();
    const exs_signal_t *signal;
    int error = EINVAL;
    va_list arguments;

    va_start(arguments, attribute);
    switch (attribute) {
    case EXS_QATTR_DEPTH:
        error = exs_queue_set_depth(qhandle, va_arg(arguments, int));
        break;
    case EXS_QATTR_WAIT:
        error = exs_queue_set_wait(qhandle, va_arg(arguments, int));
        break;
    case EXS_QATTR_SIGNAL:
        signal = va_arg(arguments, const exs_signal_t *);
        error = signal ? exs_queue_set_signal(qhandle, signal) : EFAULT;
        break;
    default:
        break;
    }
    va_end(arguments);
    return exs_api_leave(cancel, error);
}

int exs_qstatus(exs_qhandle_t qhandle, int attribute, void *value)
{
    int cancel = exs_api_enter();

    return exs_api_leave(cancel, value ? exs_queue_status(qhandle, attribute, value) : EFAULT);
}
