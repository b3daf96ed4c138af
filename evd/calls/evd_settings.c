/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of an IA: itx_ia_set_event_base, itx_ia_set_niceness, itx_ia_set_spin. */
#include "evd/queue/evd_object.h"

#include "itx_api.h"

#include <errno.h>
#include <sys/resource.h>

it_status_t itx_ia_set_event_base(it_ia_handle_t ia_handle, struct event_base *base)
{
    struct evd_ia *ia = (struct evd_ia *)(void *)ia_handle;

    if (!base_object_is(ia_handle, IT_HANDLE_TYPE_IA))
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (!base)
        return base_refuse_null(__func__, base);
    if (atomic_load_explicit(&ia->failed, memory_order_relaxed))
        return IT_ERR_IA_CATASTROPHE;
    if (evd_loop_is_inside(ia->loop))
        return base_refuse(IT_ERR_EVD_BUSY, __func__, "ia_handle %p from a callback", (void *)ia);
    return base_refuse(evd_loop_adopt(ia->loop, base), __func__,
                       "ia_handle %p is being moved already", (void *)ia);
}

/* ---------------------------------------------------------------- the thread */

#define NICENESS_MIN (-20)
#define NICENESS_MAX 19

struct niceness_call {
    struct evd_loop *loop;
    int niceness;
};

/* Linux: a niceness is a thread's own, and 0 names the calling thread. */
static it_status_t niceness_run(void *argument)
{
    const struct niceness_call *call = argument;

    if (evd_loop_is_lent(call->loop))
        return IT_ERR_OP_NOT_SUPPORTED;
    if (setpriority(PRIO_PROCESS, 0, call->niceness) == 0)
        return IT_SUCCESS;
    return errno == EACCES || errno == EPERM ? IT_ERR_NO_PERMISSION : IT_ERR_RESOURCES;
}

it_status_t itx_ia_set_niceness(it_ia_handle_t ia_handle, int niceness)
{
    struct evd_ia *ia = (struct evd_ia *)(void *)ia_handle;
    struct niceness_call call = {.niceness = niceness};
    it_status_t status;

    if (!base_object_is(ia_handle, IT_HANDLE_TYPE_IA))
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (niceness < NICENESS_MIN || niceness > NICENESS_MAX)
        return base_refuse(IT_ERR_RANGE, __func__, "niceness %d, from %d to %d", niceness,
                           NICENESS_MIN, NICENESS_MAX);
    call.loop = ia->loop;
    status = evd_loop_run(ia->loop, niceness_run, &call);
    if (status == IT_ERR_NO_PERMISSION || status == IT_ERR_OP_NOT_SUPPORTED)
        return base_refuse(status, __func__, "niceness %d", niceness);
    return status;
}

/* ---------------------------------------------------------------- polling */

it_status_t itx_ia_set_spin(it_ia_handle_t ia_handle, uint64_t spin_us)
{
    struct evd_ia *ia = (struct evd_ia *)(void *)ia_handle;

    if (!base_object_is(ia_handle, IT_HANDLE_TYPE_IA))
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    atomic_store_explicit(&ia->spin_us, spin_us, memory_order_relaxed);
    return IT_SUCCESS;
}
