/* SPDX-License-Identifier: BSD-2-Clause */
/* The table through which the provider calls the library, and short forms of some calls. */
#include "vp/verbs/device/verbs_ep.h"

#include <string.h>

const struct vp_host *verbs_host;

struct host_run {
    it_status_t (*function)(void *argument);
    void *argument;
    it_status_t status;
};

static void host_run(void *argument)
{
    struct host_run *run = argument;

    run->status = run->function(run->argument);
}

it_status_t verbs_run(struct ual_ia *ia, it_status_t (*function)(void *argument), void *argument)
{
    struct host_run run = {.function = function, .argument = argument};

    verbs_host->ia_call(ia, host_run, &run);
    return run.status;
}

void verbs_warn(const struct verbs_ia *ia, const char *failure, int error)
{
    verbs_log(VP_LOG_WARN, "%s: %s: %s", verbs_host->ia_name(ia->ual), failure, strerror(error));
}

void verbs_warn_unless_removed(struct verbs_ia *ia, const char *failure, int error)
{
    if (error && !atomic_load_explicit(&ia->removed, memory_order_relaxed))
        verbs_warn(ia, failure, error);
}

bool verbs_ep_step(const struct verbs_ep *ep, enum ual_ep_step step)
{
    bool stepped;

    verbs_host->ep_lock(ep->ual);
    stepped = verbs_host->ep_step_locked(ep->ual, step);
    verbs_host->ep_unlock(ep->ual);
    return stepped;
}

void verbs_ep_set_path(const struct verbs_ep *ep, const it_path_t *path)
{
    verbs_host->ep_lock(ep->ual);
    verbs_host->ep_set_path_locked(ep->ual, path);
    verbs_host->ep_unlock(ep->ual);
}
