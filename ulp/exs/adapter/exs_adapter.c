/* SPDX-License-Identifier: BSD-2-Clause */
#include "adapter/exs_adapter.h"

#include "adapter/exs_lead.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct exs_adapter *) opened; /* written with open_lock held */
static struct exs_adapter adapter;

static int errno_of(it_status_t status)
{
    if (status == IT_ERR_INVALID_NAME)
        return ENODEV;
    return status == IT_ERR_NO_PERMISSION ? EACCES : ENOMEM;
}

static it_status_t open_objects(const char *name, it_evd_handle_t *kick_evd)
{
    it_evd_handle_t none = NULL;
    it_status_t status = it_ia_create(name, 2, 1, &adapter.ia);

    if (status != IT_SUCCESS)
        return status;
    status = it_pz_create(adapter.ia, &adapter.pz);
    if (status == IT_SUCCESS)
        status = it_evd_create(adapter.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 1,
                               IT_THRESHOLD_DISABLE, none, &adapter.aevd, NULL);
    if (status == IT_SUCCESS)
        status = it_evd_create(adapter.ia, IT_SOFTWARE_EVENT_STREAM, (it_evd_flags_t)0, 1,
                               IT_THRESHOLD_DISABLE, adapter.aevd, kick_evd, NULL);
    if (status == IT_SUCCESS && exs_lead_start(adapter.aevd, *kick_evd, !adapter.pins) != 0)
        status = IT_ERR_RESOURCES;
    if (status != IT_SUCCESS)
        (void)it_ia_free(adapter.ia);
    return status;
}

static int open_adapter(void)
{
    const char *name = getenv("ITAPI_EXS_INTERFACE");
    const char *crc = getenv("ITAPI_EXS_CRC");
    it_evd_handle_t kick_evd;
    it_status_t status;

    if (!name || !*name)
        name = "uiwarp";
    adapter.pins = strncmp(name, "uiwarp", 6) != 0;
    status = open_objects(name, &kick_evd);
    if (status != IT_SUCCESS)
        return errno_of(status);
    adapter.no_crc = crc && strcmp(crc, "off") == 0;
    atomic_store_explicit(&opened, &adapter, memory_order_release);
    return 0;
}

struct exs_adapter *exs_adapter_get(void)
{
    struct exs_adapter *result = atomic_load_explicit(&opened, memory_order_acquire);

    if (result)
        return result;
    (void)pthread_mutex_lock(&open_lock);
    if (!atomic_load(&opened))
        errno = open_adapter();
    (void)pthread_mutex_unlock(&open_lock);
    return atomic_load(&opened);
}

void exs_adapter_forget(void)
{
    (void)pthread_mutex_init(&open_lock, NULL);
    atomic_store(&opened, NULL);
    exs_lead_forget();
}
