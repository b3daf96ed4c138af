/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_ia_set_niceness. */
#include "evd/queue/evd_object.h"

#include "itx_api.h"

#include <errno.h>
#include <sys/resource.h>

#define NICENESS_MIN (-20)
#define NICENESS_MAX 19

struct niceness_call {
    struct evd_loop *loop;
    int niceness;
    it_status_t status;
};

/* Linux: a niceness is a thread's own, and 0 names the calling thread. */
static void niceness_run(void *argument)
{
    struct niceness_call *call = argument;

    if (evd_loop_is_lent(call->loop))
        call->status = IT_ERR_OP_NOT_SUPPORTED;
    else if (setpriority(PRIO_PROCESS, 0, call->niceness) == 0)
        call->status = IT_SUCCESS;
    else
        call->status = errno == EACCES || errno == EPERM ? IT_ERR_NO_PERMISSION : IT_ERR_RESOURCES;
}

it_status_t itx_ia_set_niceness(it_ia_handle_t ia_handle, int niceness)
{
    struct evd_ia *ia = (struct evd_ia *)(void *)ia_handle;
    struct niceness_call call = {.niceness = niceness};

    if (!base_object_is(ia_handle, IT_HANDLE_TYPE_IA))
        return base_refuse_handle(IT_ERR_INVALID_IA, __func__, ia_handle);
    if (niceness < NICENESS_MIN || niceness > NICENESS_MAX)
        return base_refuse(IT_ERR_RANGE, __func__, "niceness %d, from %d to %d", niceness,
                           NICENESS_MIN, NICENESS_MAX);
    call.loop = ia->loop;
    evd_loop_call(ia->loop, niceness_run, &call);
    if (call.status == IT_ERR_NO_PERMISSION || call.status == IT_ERR_OP_NOT_SUPPORTED)
        return base_refuse(call.status, __func__, "niceness %d", niceness);
    return call.status;
}
