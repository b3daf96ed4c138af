/* SPDX-License-Identifier: BSD-2-Clause */
/* dat_ia_close. */
#include "connect/udapl_connect.h"
#include "deliver/udapl_handoff.h"
#include "endpoint/udapl_endpoint.h"
#include "event/udapl_event.h"
#include "ia/udapl_ia_calls.h"
#include "ia/udapl_sigpipe.h"
#include "object/udapl_ia.h"
#include "object/udapl_lmr.h"

/* Frees the resources of an object, whose handle in IT-API was freed with the IA. */
static void discard(void *object, DAT_HANDLE_TYPE type)
{
    switch (type) {
    case DAT_HANDLE_TYPE_EP:
        udapl_ep_discard(object);
        break;
    case DAT_HANDLE_TYPE_EVD:
        udapl_evd_discard(object);
        break;
    case DAT_HANDLE_TYPE_CNO:
        udapl_cno_discard(object);
        break;
    case DAT_HANDLE_TYPE_CR:
        udapl_cr_discard(object);
        break;
    case DAT_HANDLE_TYPE_PSP:
    case DAT_HANDLE_TYPE_RSP:
    case DAT_HANDLE_TYPE_CSP:
    case UDAPL_TYPE_SSP:
        udapl_sp_discard(object);
        break;
    case DAT_HANDLE_TYPE_LMR:
        ((struct udapl_lmr *)object)->lmr_context = 0;
        break;
    case DAT_HANDLE_TYPE_IA:
    case DAT_HANDLE_TYPE_PZ:
    case DAT_HANDLE_TYPE_RMR:
    case DAT_HANDLE_TYPE_SRQ:
        break;
    }
}

/*
 * Frees the IA of IT-API first. That ends all activity: waits return, callbacks have run,
 * connections are cut. Then no thread uses the objects.
 */
static void close_all(struct udapl_ia *ia)
{
    udapl_event_close(ia);
    (void)it_ia_free(ia->it); /* fails only for a bad handle */
    for (size_t type = 0; type < UDAPL_TYPES; type++)
        while (ia->objects[type]) {
            struct udapl_object *object = ia->objects[type];

            discard(object, (DAT_HANDLE_TYPE)type);
            udapl_object_end(object);
        }
    udapl_handoff_clear(ia);
    it_ia_info_free(ia->info);
    udapl_sigpipe_end();
    udapl_ia_end(ia);
}

DAT_RETURN udapl_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS flags)
{
    struct udapl_ia *ia = udapl_ia_from(ia_handle);

    if (!ia)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
    if (flags != DAT_CLOSE_ABRUPT_FLAG && flags != DAT_CLOSE_GRACEFUL_FLAG)
        return udapl_error(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
    if (flags == DAT_CLOSE_GRACEFUL_FLAG && udapl_ia_is_used(ia))
        return udapl_error(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE);
    close_all(ia);
    return DAT_SUCCESS;
}
