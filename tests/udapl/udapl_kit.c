/* SPDX-License-Identifier: BSD-2-Clause */
#include "udapl_kit.h"

#include "support/time_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE       16
#define WAIT_MICROS ((DAT_TIMEOUT)time_limit_ms(20000) * 1000)

static const char *text_of(DAT_RETURN code)
{
    const char *major = "?", *minor = "?";
    static char text[128];

    (void)dat_strerror(code, &major, &minor);
    snprintf(text, sizeof(text), "%s %s", major, minor);
    return text;
}

void kit_check(const char *file, int line, const char *call, DAT_RETURN got)
{
    if (got != DAT_SUCCESS)
        check_fail(file, line, "%s is %s", call, text_of(got));
}

void kit_expect(const char *file, int line, const char *call, DAT_RETURN_TYPE want, DAT_RETURN got)
{
    char wanted[128];

    if (DAT_GET_TYPE(got) == (DAT_RETURN)want)
        return;
    snprintf(wanted, sizeof(wanted), "%s",
             text_of(want == DAT_SUCCESS ? DAT_SUCCESS : (DAT_RETURN)DAT_CLASS_ERROR | want));
    check_note(file, line, "%s is %s, not %s", call, text_of(got), wanted);
}

DAT_IA_HANDLE kit_open(const char *name, DAT_EVD_HANDLE *async)
{
    char copy[DAT_NAME_MAX_LENGTH];
    DAT_IA_HANDLE ia;

    snprintf(copy, sizeof(copy), "%s", name);
    *async = DAT_HANDLE_NULL;
    CHECK_DAT(dat_ia_open(copy, QUEUE, async, &ia));
    return ia;
}

DAT_EVD_HANDLE kit_evd(DAT_IA_HANDLE ia, DAT_COUNT length, DAT_EVD_FLAGS flags)
{
    DAT_EVD_HANDLE evd;

    CHECK_DAT(dat_evd_create(ia, length, DAT_HANDLE_NULL, flags, &evd));
    return evd;
}

static void register_buffer(struct kit_side *side)
{
    DAT_REGION_DESCRIPTION region;

    side->buffer = calloc(1, KIT_BUFFER);
    CHECK(side->buffer);
    region.for_va = side->buffer;
    CHECK_DAT(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, KIT_BUFFER, side->pz,
                             DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &side->lmr, &side->lmr_context,
                             &side->rmr_context, NULL, NULL));
}

DAT_EP_HANDLE kit_ep(const struct kit_side *side)
{
    DAT_EP_ATTR attr = {.max_recv_dtos = QUEUE,
                        .max_request_dtos = QUEUE,
                        .max_recv_iov = 2,
                        .max_request_iov = 2,
                        .max_rdma_read_in = 4,
                        .max_rdma_read_out = 4};
    DAT_EP_HANDLE ep;

    CHECK_DAT(
        dat_ep_create(side->ia, side->pz, side->recv, side->request, side->connect, &attr, &ep));
    return ep;
}

void kit_ep_anew(struct kit_side *side, const DAT_EP_ATTR *attr)
{
    CHECK_DAT(dat_ep_free(side->ep));
    CHECK_DAT(dat_ep_create(side->ia, side->pz, side->recv, side->request, side->connect, attr,
                            &side->ep));
}

void kit_side_open(struct kit_side *side)
{
    kit_side_open_on(side, KIT_IA);
}

void kit_side_open_on(struct kit_side *side, const char *name)
{
    side->ia = kit_open(name, &side->async);
    CHECK_DAT(dat_pz_create(side->ia, &side->pz));
    side->request =
        kit_evd(side->ia, 4 * QUEUE, (DAT_EVD_FLAGS)(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG));
    side->recv = kit_evd(side->ia, 4 * QUEUE, DAT_EVD_DTO_FLAG);
    side->connect = kit_evd(side->ia, QUEUE, DAT_EVD_CONNECTION_FLAG);
    side->cr = kit_evd(side->ia, QUEUE, DAT_EVD_CR_FLAG);
    register_buffer(side);
    side->ep = kit_ep(side);
}

void kit_side_close(struct kit_side *side)
{
    CHECK_DAT(dat_ep_free(side->ep));
    CHECK_DAT(dat_lmr_free(side->lmr));
    CHECK_DAT(dat_evd_free(side->request));
    CHECK_DAT(dat_evd_free(side->recv));
    CHECK_DAT(dat_evd_free(side->connect));
    CHECK_DAT(dat_evd_free(side->cr));
    CHECK_DAT(dat_pz_free(side->pz));
    CHECK_DAT(dat_ia_close(side->ia, DAT_CLOSE_GRACEFUL_FLAG));
    free(side->buffer);
}

DAT_EVENT kit_any(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;
    DAT_COUNT more;

    CHECK_DAT(dat_evd_wait(evd, WAIT_MICROS, 1, &event, &more));
    CHECK(event.evd_handle == evd);
    return event;
}

DAT_EVENT kit_next(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
    DAT_EVENT event = kit_any(evd);

    CHECK_EQ(number, event.event_number);
    return event;
}

DAT_DTO_COMPLETION_EVENT_DATA kit_completion(DAT_EVD_HANDLE evd, DAT_DTOS operation,
                                             DAT_DTO_COMPLETION_STATUS status, DAT_UINT64 cookie)
{
    DAT_EVENT event = kit_next(evd, DAT_DTO_COMPLETION_EVENT);
    const DAT_DTO_COMPLETION_EVENT_DATA *done = &event.event_data.dto_completion_event_data;

    CHECK_EQ(status, done->status);
    CHECK_EQ(operation, done->operation);
    CHECK_EQ(cookie, done->user_cookie.as_64);
    return *done;
}

DAT_VLEN kit_done(DAT_EVD_HANDLE evd, DAT_DTO_COOKIE cookie)
{
    DAT_EVENT event = kit_next(evd, DAT_DTO_COMPLETION_EVENT);
    const DAT_DTO_COMPLETION_EVENT_DATA *done = &event.event_data.dto_completion_event_data;

    CHECK_EQ(DAT_DTO_SUCCESS, done->status);
    CHECK_EQ(cookie.as_64, done->user_cookie.as_64);
    return done->transfered_length;
}

void kit_is_empty(DAT_EVD_HANDLE evd)
{
    DAT_EVENT event;

    CHECK_EQ(DAT_QUEUE_EMPTY, DAT_GET_TYPE(dat_evd_dequeue(evd, &event)));
}

DAT_PSP_HANDLE kit_listen(struct kit_side *side, DAT_PSP_FLAGS flags, DAT_CONN_QUAL *qual)
{
    DAT_PSP_HANDLE psp;

    CHECK_DAT(dat_psp_create_any(side->ia, qual, side->cr, flags, &psp));
    return psp;
}

void kit_connect(const struct kit_side *side, DAT_EP_HANDLE ep, DAT_CONN_QUAL qual)
{
    DAT_IA_ATTR attr;

    CHECK_DAT(dat_ia_query(side->ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    CHECK_DAT(dat_ep_connect(ep, attr.ia_address_ptr, qual, WAIT_MICROS, 0, NULL,
                             DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
}

DAT_CR_HANDLE kit_request(const struct kit_side *side)
{
    DAT_EVENT event = kit_next(side->cr, DAT_CONNECTION_REQUEST_EVENT);

    return event.event_data.cr_arrival_event_data.cr_handle;
}

void kit_join(struct kit_side *active, struct kit_side *passive)
{
    DAT_CONN_QUAL qual;
    DAT_PSP_HANDLE psp = kit_listen(passive, DAT_PSP_CONSUMER_FLAG, &qual);

    kit_connect(active, active->ep, qual);
    CHECK_DAT(dat_cr_accept(kit_request(passive), passive->ep, 0, NULL));
    (void)kit_next(passive->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)kit_next(active->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    CHECK_DAT(dat_psp_free(psp));
}

void kit_part(struct kit_side *one, struct kit_side *other)
{
    CHECK_DAT(dat_ep_disconnect(one->ep, DAT_CLOSE_ABRUPT_FLAG));
    (void)kit_next(one->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    (void)kit_next(other->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

DAT_EP_STATE kit_state(DAT_EP_HANDLE ep)
{
    DAT_BOOLEAN recv_idle, request_idle;
    DAT_EP_STATE state;

    CHECK_DAT(dat_ep_get_status(ep, &state, &recv_idle, &request_idle));
    return state;
}

bool kit_is_uiwarp(DAT_IA_HANDLE ia)
{
    DAT_IA_ATTR attr;

    CHECK_DAT(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    return strncmp(attr.adapter_name, "uiwarp", strlen("uiwarp")) == 0;
}

bool kit_has(DAT_IA_HANDLE ia, const char *what, DAT_RETURN got)
{
    if (DAT_GET_TYPE(got) != DAT_MODEL_NOT_SUPPORTED || kit_is_uiwarp(ia)) {
        kit_check(__FILE__, __LINE__, what, got);
        return true;
    }
    printf("this device has no %s\n", what);
    return false;
}

DAT_PROVIDER *kit_table(DAT_HANDLE object)
{
    return DAT_HANDLE_TO_PROVIDER(object);
}

/* libdat2 exports this function, but its headers do not declare it. */
extern DAT_RETURN dats_get_ia_handle(DAT_IA_HANDLE index, DAT_IA_HANDLE *own);

DAT_IA_HANDLE kit_own(DAT_IA_HANDLE ia)
{
    DAT_IA_HANDLE own = NULL;

    CHECK_DAT(dats_get_ia_handle(ia, &own));
    return own;
}

DAT_DTO_COOKIE kit_cookie(DAT_UINT64 value)
{
    return (DAT_DTO_COOKIE){.as_64 = value};
}

DAT_LMR_TRIPLET kit_local(const struct kit_side *side, size_t offset, size_t length)
{
    return (DAT_LMR_TRIPLET){.virtual_address = (DAT_VADDR)(uintptr_t)(side->buffer + offset),
                             .segment_length = (DAT_SEG_LENGTH)length,
                             .lmr_context = side->lmr_context};
}

DAT_RMR_TRIPLET kit_remote(const struct kit_side *side, size_t offset, size_t length)
{
    return (DAT_RMR_TRIPLET){.virtual_address = (DAT_VADDR)(uintptr_t)(side->buffer + offset),
                             .segment_length = (DAT_SEG_LENGTH)length,
                             .rmr_context = side->rmr_context};
}

static char octet(size_t offset, unsigned seed)
{
    return (char)(unsigned char)(offset * 7 + seed);
}

void kit_fill(struct kit_side *side, size_t offset, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        side->buffer[offset + i] = octet(i, seed);
}

bool kit_is_filled(const struct kit_side *side, size_t offset, size_t length, unsigned seed)
{
    for (size_t i = 0; i < length; i++)
        if (side->buffer[offset + i] != octet(i, seed))
            return false;
    return true;
}
