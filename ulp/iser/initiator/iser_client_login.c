/* SPDX-License-Identifier: BSD-2-Clause */
/* The login: CHAP if there is a secret, then one text with the operational keys. */
#include "initiator/iser_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECURITY = 0,
    OPERATIONAL = 1,
    FULL_FEATURE = 3
};

#define TRANSIT    0x80u
#define STATUS     36
#define ROUNDS_MAX 16

/* What is offered. */
#define BURST       16776192u
#define FIRST_BURST 262144u

struct login {
    unsigned stage, next;
    struct iser_text text;   /* to the target */
    struct iser_text answer; /* from the target */
    struct iser_chap chap;
    bool named; /* the names have been sent */
};

/* ---- Texts ----------------------------------------------- */

static void put_names(struct iser_client *client, struct login *login)
{
    struct iser_text *text = &login->text;

    if (login->named)
        return;
    login->named = true;
    iser_text_put(text, "InitiatorName", client->options.initiator);
    if (client->options.target)
        iser_text_put(text, "TargetName", client->options.target);
    iser_text_put(text, "SessionType", client->options.target ? "Normal" : "Discovery");
}

static const char *digest_of(const struct iser_client_options *options)
{
    return options->digests && !options->interface ? "CRC32C" : "None";
}

static void put_keys(struct iser_client *client, struct login *login)
{
    const struct iser_client_options *options = &client->options;
    struct iser_text *text = &login->text;

    if (options->interface && options->target)
        iser_text_put(text, "RDMAExtensions", "Yes");
    iser_text_put(text, "HeaderDigest", digest_of(options));
    iser_text_put(text, "DataDigest", digest_of(options));
    iser_text_put(text, "ErrorRecoveryLevel", "0");
    iser_text_put_number(text, "DefaultTime2Wait", 2);
    iser_text_put_number(text, "DefaultTime2Retain", 0);
    if (!options->interface)
        iser_text_put_number(text, "MaxRecvDataSegmentLength", ISER_CLIENT_DATA_IN);
    if (!options->target)
        return;
    iser_text_put(text, "InitialR2T", options->initial_r2t ? "Yes" : "No");
    iser_text_put(text, "ImmediateData", options->no_immediate ? "No" : "Yes");
    iser_text_put_number(text, "MaxBurstLength", BURST);
    iser_text_put_number(text, "FirstBurstLength", FIRST_BURST);
    iser_text_put_number(text, "MaxOutstandingR2T", 1);
    iser_text_put_number(text, "MaxConnections", 1);
    iser_text_put(text, "DataPDUInOrder", "Yes");
    iser_text_put(text, "DataSequenceInOrder", "Yes");
    if (!options->interface)
        return;
    iser_text_put_number(text, "InitiatorRecvDataSegmentLength", ISER_CLIENT_RECEIVE);
    iser_text_put_number(text, "TargetRecvDataSegmentLength", ISER_CLIENT_RECEIVE);
    iser_text_put(text, "TaggedBufferForSolicitedDataOnly",
                  options->tagged_solicited ? "Yes" : "No");
}

static const char *answered(const struct login *login, const char *key)
{
    return iser_text_find(login->answer.octets, login->answer.length, key);
}

static bool is_yes(const struct login *login, const char *key)
{
    const char *value = answered(login, key);

    return value && strcmp(value, "Yes") == 0;
}

static bool is_crc(const struct login *login, const char *key)
{
    const char *value = answered(login, key);

    return value && strcmp(value, "CRC32C") == 0;
}

/* Returns the value answered for the key, which is checked; other if there is none. */
static uint32_t number_of(const struct login *login, const char *key, uint32_t other)
{
    const char *value = answered(login, key);
    uint64_t number;

    return value && iser_text_number(value, ISER_LENGTH_MAX, &number) ? (uint32_t)number : other;
}

/* ---- Answers that do not follow from what was offered ---------------------------------------- */

static bool complain(struct iser_client *client, const char *key, const char *value)
{
    return iser_client_fail(client, "the target answers %s=%.64s, which was not offered", key,
                            value);
}

/* word: the only answer that may come; NULL: Yes or No. */
static bool check_word(struct iser_client *client, const struct login *login, const char *key,
                       const char *word)
{
    const char *value = answered(login, key);
    bool good = !value || (word ? strcmp(value, word) == 0
                                : strcmp(value, "Yes") == 0 || strcmp(value, "No") == 0);

    return good || complain(client, key, value);
}

static bool check_number(struct iser_client *client, const struct login *login, const char *key,
                         uint32_t least, uint32_t most)
{
    const char *value = answered(login, key);
    uint64_t number;

    return !value || (iser_text_number(value, most, &number) && number >= least) ||
           complain(client, key, value);
}

/* Irrelevant keys of a discovery session are not looked at. */
static bool check_keys(struct iser_client *client, const struct login *login)
{
    const struct iser_client_options *options = &client->options;

    if (!check_word(client, login, "HeaderDigest", digest_of(options)) ||
        !check_word(client, login, "DataDigest", digest_of(options)) ||
        !check_number(client, login, "MaxRecvDataSegmentLength", 512, ISER_LENGTH_MAX))
        return false;
    if (!options->target)
        return true;
    return check_word(client, login, "InitialR2T", options->initial_r2t ? "Yes" : NULL) &&
           check_word(client, login, "ImmediateData", options->no_immediate ? "No" : NULL) &&
           check_word(client, login, "DataPDUInOrder", "Yes") &&
           check_word(client, login, "DataSequenceInOrder", "Yes") &&
           check_number(client, login, "ErrorRecoveryLevel", 0, 0) &&
           check_number(client, login, "MaxConnections", 1, 1) &&
           check_number(client, login, "MaxOutstandingR2T", 1, 1) &&
           check_number(client, login, "MaxBurstLength", 512, BURST) &&
           check_number(client, login, "FirstBurstLength", 512, FIRST_BURST) &&
           check_number(client, login, "InitiatorRecvDataSegmentLength", 512,
                        ISER_CLIENT_RECEIVE) &&
           check_number(client, login, "TargetRecvDataSegmentLength", 512, ISER_CLIENT_RECEIVE);
}

static bool take_keys(struct iser_client *client, const struct login *login)
{
    struct iser_client_terms *terms = &client->terms;
    const char *segment =
        client->options.interface ? "TargetRecvDataSegmentLength" : "MaxRecvDataSegmentLength";

    if (!check_keys(client, login))
        return false;
    /* Discovery needs no answer: over RDMA it is iSER from the first octet. */
    if (client->options.interface && client->options.target && !is_yes(login, "RDMAExtensions"))
        return iser_client_fail(client, "the target has no RDMAExtensions");
    terms->initial_r2t = !answered(login, "InitialR2T") || is_yes(login, "InitialR2T");
    terms->immediate = is_yes(login, "ImmediateData");
    terms->first_burst = number_of(login, "FirstBurstLength", 65536);
    terms->max_burst = number_of(login, "MaxBurstLength", 262144);
    terms->send_max = number_of(login, segment, ISER_CLIENT_RECEIVE);
    terms->header_digest = is_crc(login, "HeaderDigest");
    terms->data_digest = is_crc(login, "DataDigest");
    return true;
}

/* ---- Rounds ----------------------------------------------- */

static bool send_request(struct iser_client *client, struct login *login, bool transit)
{
    uint8_t bhs[ISER_BHS];

    if (login->text.overflow)
        return iser_client_fail(client, "the login text is too long");
    iser_pdu_begin(
        bhs, ISER_LOGIN,
        (uint8_t)((transit ? TRANSIT : 0) | login->stage << 2 | (transit ? login->next : 0)), 0);
    bhs[0] |= ISER_IMMEDIATE;
    memcpy(bhs + ISER_AT_ISID, client->isid, sizeof(client->isid));
    iser_put24(bhs + ISER_AT_LENGTH, (uint32_t)login->text.length);
    iser_put32(bhs + ISER_AT_CMD_SN, client->cmd_sn);
    iser_put32(bhs + ISER_AT_EXP_STAT_SN, client->exp_stat_sn);
    return client->link->send(client, bhs, login->text.octets, (uint32_t)login->text.length, NULL,
                              0);
}

/* Returns true if the header answers the last request. */
static bool is_answer(const struct iser_client *client, const struct login *login,
                      const uint8_t *bhs)
{
    return iser_get32(bhs + ISER_AT_ITT) == 0 && bhs[3] == 0 &&
           (bhs[1] >> 2 & 3u) == login->stage &&
           memcmp(bhs + ISER_AT_ISID, client->isid, sizeof(client->isid)) == 0;
}

static bool receive_answer(struct iser_client *client, struct login *login, bool *moved)
{
    struct iser_pdu pdu;
    uint16_t status;

    if (!client->link->receive(client, &pdu))
        return false;
    if (iser_opcode_of(pdu.bhs) != ISER_LOGIN_RESPONSE)
        return iser_client_fail(client, "PDU %02x instead of a Login Response", pdu.bhs[0]);
    status = iser_get16(pdu.bhs + STATUS);
    if (status != 0)
        return iser_client_fail(client, "the target refuses the login: status %04x", status);
    if (!is_answer(client, login, pdu.bhs))
        return iser_client_fail(client, "a Login Response to another request");
    if (pdu.bhs[1] & ISER_CONTINUE || pdu.length > ISER_TEXT_MAX ||
        !iser_text_is_legal((const char *)pdu.data, pdu.length))
        return iser_client_fail(client, "the target's login text is not legal");
    if (!iser_client_note(client, &pdu))
        return false;
    *moved = (pdu.bhs[1] & TRANSIT) && (pdu.bhs[1] & 3) == login->next;
    login->answer.length = pdu.length;
    if (pdu.length > 0)
        memcpy(login->answer.octets, pdu.data, pdu.length);
    return true;
}

static bool run_round(struct iser_client *client, struct login *login, bool transit, bool *moved)
{
    *moved = false;
    return send_request(client, login, transit) && receive_answer(client, login, moved);
}

static bool run_chap(struct iser_client *client, struct login *login)
{
    const struct iser_client_options *options = &client->options;
    iser_chap_verdict_t verdict;
    bool moved = false;

    login->stage = SECURITY;
    login->next = OPERATIONAL;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        login->text.length = 0;
        put_names(client, login);
        verdict = iser_chap_initiate(&login->chap, &options->own, &options->proof,
                                     login->answer.octets, login->answer.length, &login->text);
        if (verdict == ISER_CHAP_FAILED)
            return iser_client_fail(client, "CHAP: the target's answer is not the right one");
        if (verdict == ISER_CHAP_DONE && moved)
            break;
        /* The request with the CHAP response also asks for the next stage. */
        if (!run_round(client, login, login->chap.stage == ISER_CHAP_RESPONSE, &moved))
            return false;
    }
    return moved || iser_client_fail(client, "the target does not leave the security stage");
}

static bool run_login(struct iser_client *client, struct login *login)
{
    bool moved;

    if (client->options.own.length > 0 && !run_chap(client, login))
        return false;
    login->stage = OPERATIONAL;
    login->next = FULL_FEATURE;
    login->text.length = 0;
    put_names(client, login);
    put_keys(client, login);
    if (!run_round(client, login, true, &moved))
        return false;
    return moved ? take_keys(client, login)
                 : iser_client_fail(client, "the target does not finish the login in one round");
}

bool iser_client_login(struct iser_client *client)
{
    struct login *login = calloc(1, sizeof(*login));
    bool good = login ? run_login(client, login) : iser_client_fail(client, "out of memory");

    iser_client_answered(client);
    free(login);
    return good;
}
