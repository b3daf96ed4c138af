/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An initiator sends any PDUs to a session with a memory unit. The first octet says whether data
 * moves by RDMA and whether a valid login comes first. Then come PDUs: two octets of length, one
 * octet that says which fields are corrected (otherwise nothing would be accepted), and the octets.
 */
#include "session/iser_session.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    LOGGED_IN = 1,
    BY_RDMA = 2,
    RIGHT_NUMBER = 1, /* CmdSN */
    RIGHT_TASK = 2,   /* that of the last command */
    RIGHT_LENGTH = 4
};

struct fake {
    struct iser_link link;
    struct iser_session *session;
    uint32_t ttt, itt;
    bool gone;
};

static struct event_base *base;
static struct iser_service service;
static struct iser_target target;

/* ---------------------------------------------------------------- a link without a wire */

static void fake_send(struct iser_link *link, const uint8_t *bhs, const void *data, uint32_t length)
{
    uint8_t stamped[ISER_BHS];
    volatile uint8_t sum = 0;

    memcpy(stamped, bhs, sizeof(stamped));
    iser_link_stamp(link, stamped);
    for (uint32_t i = 0; i < length; i++)
        sum = (uint8_t)(sum + ((const uint8_t *)data)[i]);
}

static void fake_solicit(struct iser_link *link, struct iser_transfer *transfer)
{
    struct fake *fake = (void *)link;

    fake->ttt = transfer->ttt;
    fake->itt = transfer->itt;
    transfer->burst_end = transfer->out_length;
    if (!link->ops->rdma)
        return;
    memset(transfer->data + transfer->out_have, 7, transfer->out_length - transfer->out_have);
    transfer->out_have = transfer->out_length;
    link->user_ops->solicited(link->user, transfer);
}

static void fake_respond(struct iser_link *link, struct iser_transfer *transfer)
{
    fake_send(link, transfer->response, transfer->sense, transfer->sense_length);
    if (transfer->in_length > 0)
        fake_send(link, transfer->response, transfer->data, transfer->in_length);
    link->user_ops->responded(link->user, transfer);
}

static bool fake_full_feature(struct iser_link *link)
{
    (void)link;
    return true;
}

static void fake_drain(struct iser_link *link)
{
    link->user_ops->drained(link->user);
}

static void fake_discard(struct iser_link *link)
{
    ((struct fake *)(void *)link)->gone = true;
}

static void fake_free(struct iser_link *link)
{
    (void)link;
}

static const struct iser_link_ops fake_ops[2] = {
    {false, fake_send, fake_solicit, fake_respond, fake_full_feature, fake_drain, NULL,
     fake_discard, fake_free},
    {true, fake_send, fake_solicit, fake_respond, fake_full_feature, fake_drain, NULL, fake_discard,
     fake_free}};

/* ---------------------------------------------------------------- the world */

static void no_addresses(struct iser_session *session, struct iser_text *out)
{
    (void)session;
    iser_text_put(out, "TargetAddress", "127.0.0.1:3260,1");
}

static void settled(struct iser_session *session)
{
    (void)session;
}

static bool world_make(void)
{
    static const struct itiser_unit_config unit = {
        .kind = ITISER_MEMORY_UNIT, .size = 1u << 20, .serial = "fuzz"};

    char error[256];

    base = event_base_new();
    target.config.name = "iqn.fuzz";
    target.config.units[0] = itiser_unit_open(&unit, NULL);
    target.scsi = iser_scsi_target_new(&target.config, NULL, error);
    service.base = base;
    service.buffered_max = 16 << 20;
    service.targets = &target;
    service.target_count = 1;
    service.addresses = no_addresses;
    service.settled = settled;
    iser_aborted_init(&service);
    return base && target.scsi;
}

static void give(struct fake *fake, const uint8_t *octets, size_t length)
{
    const struct iser_link_user *user = fake->link.user_ops;
    struct iser_pdu pdu;
    uint8_t *to;

    if (fake->gone || !iser_pdu_decode(octets, length, &pdu))
        return;
    to = user->place(fake->link.user, pdu.bhs, (uint32_t)pdu.length);
    if (to) {
        memcpy(to, pdu.data, pdu.length);
        pdu.data = to;
    }
    user->pdu(fake->link.user, &pdu);
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
}

static void log_in(struct fake *fake)
{
    static const char text[] = "InitiatorName=i\0TargetName=iqn.fuzz\0InitialR2T=No";
    uint8_t octets[ISER_BHS + sizeof(text)] = {0x43, 0x87};

    iser_put24(octets + ISER_AT_LENGTH, sizeof(text));
    memcpy(octets + ISER_BHS, text, sizeof(text));
    give(fake, octets, sizeof(octets));
}

/* ---------------------------------------------------------------- PDUs */

static void make_right(const struct fake *fake, uint8_t *octets, size_t length, uint8_t what)
{
    if (what & RIGHT_NUMBER)
        iser_put32(octets + ISER_AT_CMD_SN, fake->session->numbers.exp_cmd_sn);
    if (what & RIGHT_TASK) {
        iser_put32(octets + ISER_AT_ITT, fake->itt);
        iser_put32(octets + ISER_AT_TTT, fake->ttt);
    }
    if (what & RIGHT_LENGTH) {
        octets[ISER_AT_AHS] = 0;
        iser_put24(octets + ISER_AT_LENGTH, (uint32_t)(length - ISER_BHS));
    }
}

static size_t give_next(struct fake *fake, const uint8_t *data, size_t size)
{
    size_t length = size < 3 ? 0 : iser_get16(data);
    uint8_t *copy; /* on the heap, with exactly this length */

    if (length < ISER_BHS || length > size - 3)
        return size;
    copy = malloc(length);
    if (copy) {
        memcpy(copy, data + 3, length);
        make_right(fake, copy, length, data[2]);
        give(fake, copy, length);
    }
    free(copy);
    return length + 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fake fake;

    if ((!base && !world_make()) || size < 1)
        return 0;
    memset(&fake, 0, sizeof(fake));
    iser_link_init(&fake.link, &fake_ops[(data[0] & BY_RDMA) != 0], base);
    fake.link.remote.ss_family = AF_INET;
    fake.link.user_ops = &iser_session_link_user;
    fake.session = iser_session_new(&service, &fake.link, 1);
    if (!fake.session)
        return 0;
    if (data[0] & LOGGED_IN)
        log_in(&fake);
    for (size_t at = 1; at < size && !fake.gone; at += give_next(&fake, data + at, size - at)) {
    }
    if (!fake.gone)
        iser_session_end(fake.session, "enough");
    (void)event_base_loop(base, EVLOOP_NONBLOCK);
    if (service.sessions)
        abort(); /* nothing blocks here, so all has ended */
    return 0;
}
