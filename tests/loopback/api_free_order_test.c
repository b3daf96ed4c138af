/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frees objects that need each other in every order. An object that another one needs is busy each
 * time, until that one is freed. All others are freed at once.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "support/fixture_node.h"

enum kind {
    AEVD,
    EVD, /* a member of the AEVD; the endpoint's completions go there */
    PZ,
    SRQ,
    EP, /* draws from the S-RQ */
    LMR,
    RMR,
    KINDS
};

#define BIT(kind) (1u << (kind))

/* The kinds that need this one, and the status while it is busy. */
static const struct need {
    unsigned by;
    it_status_t busy;
} needs[KINDS] = {
    [AEVD] = {BIT(EVD), IT_ERR_EVD_BUSY},
    [EVD] = {BIT(EP), IT_ERR_EVD_BUSY},
    [PZ] = {BIT(SRQ) | BIT(EP) | BIT(LMR) | BIT(RMR), IT_ERR_PZ_BUSY},
    [SRQ] = {BIT(EP), IT_ERR_SRQ_BUSY},
};

static void make(void *objects[KINDS])
{
    static unsigned char memory[64];
    it_ep_attributes_t attr = fx_ep_attr();
    it_evd_handle_t aevd = NULL;
    it_evd_handle_t evd = NULL;
    it_pz_handle_t pz = NULL;
    it_srq_handle_t srq = NULL;
    it_ep_handle_t ep = NULL;
    it_lmr_handle_t lmr = NULL;
    it_rmr_handle_t rmr = NULL;

    CHECK_OK(it_evd_create(node.ia, IT_AEVD_NOTIFICATION_EVENT_STREAM, (it_evd_flags_t)0, 0, 0,
                           NULL, &aevd, NULL));
    CHECK_OK(
        it_evd_create(node.ia, IT_DTO_EVENT_STREAM, (it_evd_flags_t)0, 4, 1, aevd, &evd, NULL));
    CHECK_OK(it_pz_create(node.ia, &pz));
    CHECK_OK(it_srq_create(pz, 1, 1, &srq));
    attr.srv.rc.srq = srq;
    attr.srv.rc.soft_hi_watermark = 0;
    attr.srv.rc.hard_hi_watermark = IT_HARD_HI_WATERMARK_DISABLE;
    CHECK_OK(it_ep_rc_create(pz, evd, evd, node.conn_evd, IT_EP_SRQ, &attr, &ep));
    CHECK_OK(it_lmr_create10(pz, memory, sizeof(memory), IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr,
                             NULL));
    CHECK_OK(it_rmr_create10(pz, &rmr));
    objects[AEVD] = aevd;
    objects[EVD] = evd;
    objects[PZ] = pz;
    objects[SRQ] = srq;
    objects[EP] = ep;
    objects[LMR] = lmr;
    objects[RMR] = rmr;
}

static it_status_t free_one(enum kind kind, void *object)
{
    switch (kind) {
    case AEVD:
    case EVD:
        return it_evd_free(object);
    case PZ:
        return it_pz_free(object);
    case SRQ:
        return it_srq_free(object);
    case EP:
        return it_ep_free(object);
    case LMR:
        return it_lmr_free(object);
    case RMR:
    case KINDS:
    default:
        return it_rmr_free(object);
    }
}

/* Frees the objects in this order, round by round, until all are freed. */
static void free_all(const unsigned order[KINDS])
{
    void *objects[KINDS];
    unsigned alive = BIT(KINDS) - 1;
    unsigned rounds = 0;

    make(objects);
    for (; alive != 0; rounds++) {
        CHECK(rounds < KINDS);
        for (unsigned i = 0; i < KINDS; i++) {
            enum kind kind = (enum kind)order[i];
            bool is_busy = (needs[kind].by & alive) != 0;

            if (!(alive & BIT(kind)))
                continue;
            CHECK_STATUS(is_busy ? needs[kind].busy : IT_SUCCESS, free_one(kind, objects[kind]));
            if (!is_busy)
                alive &= ~BIT(kind);
        }
    }
}

/* Writes the permutation with number `rank`. */
static void nth_order(unsigned rank, unsigned order[KINDS])
{
    unsigned left[KINDS];

    for (unsigned i = 0; i < KINDS; i++)
        left[i] = i;
    for (unsigned i = 0; i < KINDS; i++) {
        unsigned count = KINDS - i;
        unsigned at = rank % count;

        rank /= count;
        order[i] = left[at];
        memmove(&left[at], &left[at + 1], (count - at - 1) * sizeof(left[0]));
    }
}

Test(api_free_order, every_order, .init = node_init, .fini = node_fini)
{
    const unsigned orders = 7 * 6 * 5 * 4 * 3 * 2;

    for (unsigned rank = 0; rank < orders; rank++) {
        unsigned order[KINDS];
        char context[32];

        (void)snprintf(context, sizeof(context), "order %u", rank);
        check_context(context);
        nth_order(rank, order);
        free_all(order);
    }
    check_context(NULL);
}
