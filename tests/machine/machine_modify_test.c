/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_ep_modify: every member in every state, on an endpoint with its own receives and on one with
 * an S-RQ.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine_kit.h"

/*
 * Columns: MACHINE_LETTERS. o: changed; s: refused in this state; m: never legal; t: of the other
 * type of endpoint; x: this endpoint does not have it; i: ignored.
 */
static const struct row {
    it_ep_param_mask_t bit;
    const char *own;    /* receives are posted on the endpoint */
    const char *shared; /* NULL: the same as with an S-RQ */
} rows[] = {
    {IT_EP_PARAM_ALL, "mmmmmmm", NULL},
    {IT_EP_PARAM_IA, "mmmmmmm", NULL},
    {IT_EP_PARAM_SPIGOT, "mmmmmmm", NULL},
    {IT_EP_PARAM_STATE, "mmmmmmm", NULL},
    {IT_EP_PARAM_SERV_TYPE, "mmmmmmm", NULL},
    {IT_EP_PARAM_PATH, "mmmmmmm", NULL},
    {IT_EP_PARAM_PZ, "mmmmmmm", NULL},
    {IT_EP_PARAM_REQ_SEVD, "mmmmmmm", NULL},
    {IT_EP_PARAM_RECV_SEVD, "mmmmmmm", NULL},
    {IT_EP_PARAM_CONN_SEVD, "mmmmmmm", NULL},
    {IT_EP_PARAM_RDMA_RD_ENABLE, "osossos", NULL},
    {IT_EP_PARAM_RDMA_WR_ENABLE, "osossos", NULL},
    {IT_EP_PARAM_MAX_RDMA_READ_SEG, "ossssss", NULL},
    {IT_EP_PARAM_MAX_RDMA_WRITE_SEG, "ossssss", NULL},
    {IT_EP_PARAM_MAX_IRD, "osossss", NULL},
    {IT_EP_PARAM_MAX_ORD, "osossos", NULL},
    {IT_EP_PARAM_EP_ID, "mmmmmmm", NULL},
    {IT_EP_PARAM_EP_KEY, "ttttttt", NULL},
    {IT_EP_PARAM_MAX_PAYLOAD, "ossssss", NULL},
    {IT_EP_PARAM_MAX_REQ_DTO, "osossos", NULL},
    {IT_EP_PARAM_MAX_RECV_DTO, "osossos", "xxxxxxx"},
    {IT_EP_PARAM_MAX_SEND_SEG, "ossssss", NULL},
    {IT_EP_PARAM_MAX_RECV_SEG, "ossssss", "xxxxxxx"},
    {IT_EP_PARAM_SRQ, "mmmmmmm", NULL},
    {IT_EP_PARAM_SOFT_HI_WATERMARK, "iiiiiii", "osossos"},
    {IT_EP_PARAM_HARD_HI_WATERMARK, "iiiiiii", "osossos"},
    {IT_EP_PARAM_ATOMICS_ENABLE, "osossos", NULL},
    {IT_EP_PARAM_PRIV_OPS_ENABLE, "mmmmmmm", NULL},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static it_status_t status_of(char answer)
{
    switch (answer) {
    case 'o':
    case 'i':
        return IT_SUCCESS;
    case 's':
        return IT_ERR_INVALID_EP_STATE;
    case 'm':
        return IT_ERR_INVALID_MASK;
    case 't':
        return IT_ERR_INVALID_EP_TYPE;
    default:
        return IT_ERR_OP_NOT_SUPPORTED;
    }
}

/* Returns other values than those of the endpoint, all of them legal. */
static it_ep_attributes_t other_values(const it_ep_attributes_t *now)
{
    it_ep_attributes_t attr = *now;
    it_rc_only_attributes_t *rc = &attr.srv.rc;

    attr.max_dto_payload_size = 12345;
    attr.max_request_dtos = 17;
    attr.max_recv_dtos = 18;
    attr.max_send_segments = 3;
    attr.max_recv_segments = 4;
    rc->rdma_read_enable = IT_FALSE;
    rc->rdma_write_enable = IT_FALSE;
    rc->max_rdma_read_segments = 5;
    rc->max_rdma_write_segments = 6;
    rc->rdma_read_ird = 7;
    rc->rdma_read_ord = 6;
    rc->soft_hi_watermark = 2;
    rc->hard_hi_watermark = 3;
    return attr;
}

/* Writes the attributes to an array, in the order of the bits that name them. */
static void numbers_of(const it_ep_attributes_t *attr, uint64_t numbers[ROWS])
{
    const it_rc_only_attributes_t *rc = &attr->srv.rc;
    const struct {
        it_ep_param_mask_t bit;
        uint64_t number;
    } members[] = {
        {IT_EP_PARAM_RDMA_RD_ENABLE, rc->rdma_read_enable},
        {IT_EP_PARAM_RDMA_WR_ENABLE, rc->rdma_write_enable},
        {IT_EP_PARAM_MAX_RDMA_READ_SEG, rc->max_rdma_read_segments},
        {IT_EP_PARAM_MAX_RDMA_WRITE_SEG, rc->max_rdma_write_segments},
        {IT_EP_PARAM_MAX_IRD, rc->rdma_read_ird},
        {IT_EP_PARAM_MAX_ORD, rc->rdma_read_ord},
        {IT_EP_PARAM_MAX_PAYLOAD, attr->max_dto_payload_size},
        {IT_EP_PARAM_MAX_REQ_DTO, attr->max_request_dtos},
        {IT_EP_PARAM_MAX_RECV_DTO, attr->max_recv_dtos},
        {IT_EP_PARAM_MAX_SEND_SEG, attr->max_send_segments},
        {IT_EP_PARAM_MAX_RECV_SEG, attr->max_recv_segments},
        {IT_EP_PARAM_SOFT_HI_WATERMARK, rc->soft_hi_watermark},
        {IT_EP_PARAM_HARD_HI_WATERMARK, rc->hard_hi_watermark},
        {IT_EP_PARAM_ATOMICS_ENABLE, rc->atomics_enable},
    };

    memset(numbers, 0, ROWS * sizeof(numbers[0]));
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++) {
            if (rows[i].bit == members[k].bit)
                numbers[i] = members[k].number;
        }
    }
}

static it_ep_attributes_t attributes_of(it_ep_handle_t ep)
{
    it_ep_param_t param;

    CHECK_OK(it_ep_query(ep, IT_EP_PARAM_ALL, &param));
    return param.attr;
}

/* The selected member has its new value if the call succeeded. All others are unchanged. */
static void walk_cell(const struct row *row, it_ep_handle_t ep, char answer)
{
    it_ep_attributes_t before = attributes_of(ep);
    it_ep_attributes_t wanted = other_values(&before);
    it_ep_attributes_t after;
    uint64_t numbers[3][ROWS];

    EXPECT_STATUS(status_of(answer), it_ep_modify(ep, row->bit, &wanted));
    after = attributes_of(ep);
    numbers_of(&before, numbers[0]);
    numbers_of(&wanted, numbers[1]);
    numbers_of(&after, numbers[2]);
    for (size_t i = 0; i < ROWS; i++)
        EXPECT_EQ(numbers[&rows[i] == row && answer == 'o' ? 1 : 0][i], numbers[2][i]);
    if (answer == 'o') /* restores it for the next row */
        EXPECT_OK(it_ep_modify(ep, row->bit, &before));
}

/* Returns the machine's endpoint, or one with an S-RQ in the same state. */
static it_ep_handle_t subject(struct machine *m, char state, bool shared)
{
    it_srq_handle_t srq;

    machine_open(m, shared ? 'U' : state, false);
    if (!shared)
        return m->ep;
    CHECK_OK(it_ep_free(m->ep));
    srq = fx_srq(&m->node, 4, 16);
    m->ep = fx_srq_ep(&m->node, srq, NULL);
    machine_bring(m, state, false);
    return m->ep;
}

static void walk(bool shared)
{
    for (unsigned column = 0; column < MACHINE_STATES; column++) {
        char state = MACHINE_LETTERS[column];
        struct machine m;
        it_ep_handle_t ep = subject(&m, state, shared);

        for (size_t i = 0; i < ROWS; i++) {
            const struct row *row = &rows[i];
            const char *answers = shared && row->shared ? row->shared : row->own;
            char context[64];

            (void)snprintf(context, sizeof(context), "member %x in %c%s", (unsigned)row->bit, state,
                           shared ? " with an S-RQ" : "");
            check_context(context);
            CHECK_EQ(MACHINE_STATES, strlen(answers));
            walk_cell(row, ep, answers[column]);
            EXPECT_EQ(state, machine_state(ep));
        }
        check_context(NULL);
        machine_is_silent(&m);
        machine_close(&m);
    }
    check_done();
}

Test(machine_modify, every_cell)
{
    /* Checks that each bit of the mask has its row. */
    for (size_t i = 0; i < ROWS; i++)
        CHECK_EQ(1u << i, rows[i].bit);
    CHECK_EQ(IT_EP_PARAM_PRIV_OPS_ENABLE, 1u << (ROWS - 1));
    walk(false);
}

Test(machine_modify, every_cell_with_an_srq)
{
    walk(true);
}
