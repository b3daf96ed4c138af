/* SPDX-License-Identifier: BSD-2-Clause */
/* Reject codes of failed attempts: each kind of rdma_cm event, each status, on each transport. */
#include "support/check.h"
#include "vp/verbs/cm/verbs_cm_private.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

enum kind {
    SIW,
    IWARP,
    INFINIBAND,
    KINDS
};

#define ON(kind)  (1u << (kind))
#define EVERY     (ON(SIW) | ON(IWARP) | ON(INFINIBAND))
#define IWARPS    (ON(SIW) | ON(IWARP))
#define ROWS(all) (sizeof(all) / sizeof((all)[0]))

struct row {
    unsigned on;
    enum rdma_cm_event_type type;
    int status;
    bool by_consumer; /* PEER_REJECT; the code is ignored then */
    it_conn_reject_code_t code;
};

static const struct row events[] = {
    {EVERY, RDMA_CM_EVENT_ADDR_ERROR, -ENOMEM, false, IT_CN_REJ_RESOURCES},
    {EVERY, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, false, IT_CN_REJ_BAD_PATH},
    {EVERY, RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH, false, IT_CN_REJ_BAD_PATH},
    {EVERY, RDMA_CM_EVENT_ADDR_ERROR, -ENODEV, false, IT_CN_REJ_BAD_PATH},
    {EVERY, RDMA_CM_EVENT_ROUTE_ERROR, -ENOMEM, false, IT_CN_REJ_RESOURCES},
    {EVERY, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT, false, IT_CN_REJ_BAD_PATH},
    {EVERY, RDMA_CM_EVENT_ROUTE_ERROR, -EINVAL, false, IT_CN_REJ_BAD_PATH},
    {EVERY, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, false, IT_CN_REJ_TIMEOUT},
    {EVERY, RDMA_CM_EVENT_UNREACHABLE, 0, false, IT_CN_REJ_TIMEOUT},
    {EVERY, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, false, IT_CN_REJ_RESOURCES},
    {EVERY, RDMA_CM_EVENT_CONNECT_ERROR, -ETIMEDOUT, false, IT_CN_REJ_TIMEOUT},
    {EVERY, RDMA_CM_EVENT_CONNECT_ERROR, ETIMEDOUT, false, IT_CN_REJ_TIMEOUT},
    {EVERY, RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, false, IT_CN_REJ_BAD_CONN_PARMS},
    {EVERY, RDMA_CM_EVENT_CONNECT_ERROR, -EPROTO, false, IT_CN_REJ_BAD_CONN_PARMS},
    {EVERY, RDMA_CM_EVENT_CONNECT_ERROR, -ENOMEM, false, IT_CN_REJ_RESOURCES},
    {EVERY, RDMA_CM_EVENT_CONNECT_ERROR, -EHOSTUNREACH, false, IT_CN_REJ_BAD_PATH},
    {EVERY, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNREFUSED, false, IT_CN_REJ_OTHER},
    {EVERY, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNRESET, false, IT_CN_REJ_OTHER},
    {EVERY, RDMA_CM_EVENT_CONNECT_ERROR, INT32_MIN + 1, false, IT_CN_REJ_OTHER},
    {ON(SIW), RDMA_CM_EVENT_REJECTED, -ECONNRESET, true, IT_CN_REJ_OTHER},
    {ON(SIW), RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, false, IT_CN_REJ_BAD_CONN_PARMS},
    {ON(IWARP), RDMA_CM_EVENT_REJECTED, -ECONNREFUSED, true, IT_CN_REJ_OTHER},
    {ON(IWARP), RDMA_CM_EVENT_REJECTED, -ECONNRESET, false, IT_CN_REJ_OTHER},
    {IWARPS, RDMA_CM_EVENT_REJECTED, -ETIMEDOUT, false, IT_CN_REJ_OTHER},
};

/* Reasons of an InfiniBand REJ by number. Those not listed are IT_CN_REJ_OTHER. */
static const struct {
    int reason;
    it_conn_reject_code_t code;
} rejects[] = {
    {1, IT_CN_REJ_RESOURCES},       {2, IT_CN_REJ_RESOURCES},   {3, IT_CN_REJ_RESOURCES},
    {4, IT_CN_REJ_TIMEOUT},         {10, IT_CN_REJ_STALE_CONN}, {12, IT_CN_REJ_BAD_PATH},
    {13, IT_CN_REJ_BAD_PATH},       {14, IT_CN_REJ_BAD_PATH},   {15, IT_CN_REJ_BAD_PATH},
    {16, IT_CN_REJ_BAD_PATH},       {17, IT_CN_REJ_BAD_PATH},   {25, IT_CN_REJ_BAD_PATH},
    {26, IT_CN_REJ_BAD_CONN_PARMS}, {27, IT_CN_REJ_BAD_ORD},    {29, IT_CN_REJ_BAD_CONN_PARMS},
};

#define REASONS        64 /* 33 are defined; a peer may send others */
#define REASON_PROGRAM 28

static const struct verbs_cm *cm_of(enum kind kind)
{
    static struct verbs_ia ias[KINDS];
    static struct verbs_cm cms[KINDS];

    ias[kind].is_iwarp = kind != INFINIBAND;
    ias[kind].quirks.is_siw = kind == SIW;
    cms[kind].ia = &ias[kind];
    return &cms[kind];
}

static void told(enum kind kind, const struct row *row)
{
    const struct verbs_cm_event event = {.type = row->type, .status = row->status};
    const struct verbs_cm *cm = cm_of(kind);
    bool by_consumer = row->type == RDMA_CM_EVENT_REJECTED && verbs_reason_is_consumer(cm, &event);
    char about[64];

    (void)snprintf(about, sizeof(about), "kind %d, event %d, status %d", (int)kind, (int)row->type,
                   row->status);
    check_context(about);
    EXPECT_EQ(row->by_consumer, by_consumer);
    if (!row->by_consumer)
        EXPECT_EQ(row->code, verbs_reason_of_event(cm, &event));
    check_context(NULL);
}

Test(verbs_reason, events)
{
    for (size_t i = 0; i < ROWS(events); i++)
        for (int kind = 0; kind < KINDS; kind++)
            if (events[i].on & ON(kind))
                told((enum kind)kind, &events[i]);
    check_done();
}

Test(verbs_reason, rejects_of_infiniband)
{
    for (int reason = 0; reason < REASONS; reason++) {
        struct row row = {
            .type = RDMA_CM_EVENT_REJECTED,
            .status = reason,
            .by_consumer = reason == REASON_PROGRAM,
            .code = IT_CN_REJ_OTHER,
        };

        for (size_t i = 0; i < ROWS(rejects); i++)
            if (rejects[i].reason == reason)
                row.code = rejects[i].code;
        told(INFINIBAND, &row);
    }
    check_done();
}

/* Codes for calls that fail at once. */
Test(verbs_reason, errors_of_calls)
{
    static const struct {
        int error;
        it_conn_reject_code_t code;
    } rows[] = {
        {ETIMEDOUT, IT_CN_REJ_TIMEOUT},
        {ENETUNREACH, IT_CN_REJ_BAD_PATH},
        {EHOSTUNREACH, IT_CN_REJ_BAD_PATH},
        {ENETDOWN, IT_CN_REJ_BAD_PATH},
        {EHOSTDOWN, IT_CN_REJ_BAD_PATH},
        {EADDRNOTAVAIL, IT_CN_REJ_BAD_PATH},
        {ENODEV, IT_CN_REJ_BAD_PATH},
        {EACCES, IT_CN_REJ_BAD_PATH},
        {EPERM, IT_CN_REJ_BAD_PATH},
        {ENOMEM, IT_CN_REJ_RESOURCES},
        {ENOBUFS, IT_CN_REJ_RESOURCES},
        {EMFILE, IT_CN_REJ_RESOURCES},
        {ENFILE, IT_CN_REJ_RESOURCES},
        {EPROTO, IT_CN_REJ_BAD_CONN_PARMS},
        {EINVAL, IT_CN_REJ_BAD_CONN_PARMS},
        {ECONNREFUSED, IT_CN_REJ_OTHER},
        {EADDRINUSE, IT_CN_REJ_OTHER},
        {ECANCELED, IT_CN_REJ_OTHER},
        {0, IT_CN_REJ_OTHER},
    };

    for (size_t i = 0; i < ROWS(rows); i++)
        EXPECT_EQ(rows[i].code, verbs_reason_of_errno(rows[i].error));
    check_done();
}
