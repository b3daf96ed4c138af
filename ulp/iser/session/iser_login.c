/* SPDX-License-Identifier: BSD-2-Clause */
/* The stages of a login (RFC 7143 6.3): one Login Response for each Login Request. */
#include "session/iser_session.h"

#include <stdlib.h>
#include <string.h>

#define LOGIN_ROUNDS 64u /* requests of one login */
/* Over RDMA unsolicited data is copied, so its limit is what fits the command's own message. */
#define LOGIN_FIRST_BURST      65536u
#define LOGIN_FIRST_BURST_RDMA 8192u

enum login_stage {
    LOGIN_SECURITY = 0,
    LOGIN_OPERATIONAL = 1,
    LOGIN_FULL_FEATURE = 3
};

enum login_status {
    LOGIN_INITIATOR = 0x0200,
    LOGIN_AUTHENTICATION = 0x0201,
    LOGIN_VERSION = 0x0205,
    LOGIN_INVALID = 0x020b,
    LOGIN_TARGET = 0x0300
};

/* Octet 1 of a Login Request. */
struct login_flags {
    bool transit, more;
    unsigned now, next;
};

/* ---------------------------------------------------------------- responses */

static void login_begin_response(const struct iser_session *session, uint32_t itt, uint8_t *bhs)
{
    iser_pdu_begin(bhs, ISER_LOGIN_RESPONSE, 0, itt);
    memcpy(bhs + ISER_AT_ISID, session->isid, sizeof(session->isid));
    iser_put16(bhs + ISER_AT_TSIH, session->tsih);
}

static void login_refuse(struct iser_session *session, const uint8_t *request, uint16_t status)
{
    uint8_t bhs[ISER_BHS];

    login_begin_response(session, iser_get32(request + ISER_AT_ITT), bhs);
    memcpy(bhs + ISER_AT_ISID, request + ISER_AT_ISID, 8);
    bhs[1] = request[1] & 0x0c; /* the present stage */
    iser_put16(bhs + 36, status);
    session->service->failed_logins++;
    iser_session_send(session, bhs, NULL, 0);
    iser_session_leave_in_order(session);
}

/* ---------------------------------------------------------------- requests */

static struct login_flags login_flags_of(const uint8_t *bhs)
{
    return (struct login_flags){
        .transit = (bhs[1] & ISER_FINAL) != 0,
        .more = (bhs[1] & ISER_CONTINUE) != 0,
        .now = bhs[1] >> 2 & 3,
        .next = bhs[1] & 3,
    };
}

static bool login_flags_are_legal(const struct iser_login *login, struct login_flags flags)
{
    if (flags.now > LOGIN_OPERATIONAL || (flags.transit && flags.more))
        return false;
    if (flags.transit && (flags.next <= flags.now || flags.next == 2))
        return false;
    return !login->begun || flags.now == login->stage;
}

static void login_begin(struct iser_session *session, const uint8_t *bhs)
{
    memcpy(session->isid, bhs + ISER_AT_ISID, sizeof(session->isid));
    session->cid = iser_get16(bhs + ISER_AT_CID);
    session->numbers.stat_sn = iser_get32(bhs + ISER_AT_EXP_STAT_SN);
    session->numbers.exp_cmd_sn = iser_get32(bhs + ISER_AT_CMD_SN);
    session->numbers.max_cmd_sn = session->numbers.exp_cmd_sn + ISER_WINDOW_LOGIN - 1;
    session->login->stage = bhs[1] >> 2 & 3;
    session->login->continues = iser_get16(bhs + ISER_AT_TSIH);
}

/* Checks what the header alone shows. */
static uint16_t login_check(struct iser_session *session, const uint8_t *bhs)
{
    struct iser_login *login = session->login;

    if (iser_opcode_of(bhs) != ISER_LOGIN)
        return LOGIN_INVALID;
    if (bhs[3] > 0)
        return LOGIN_VERSION; /* VersionMin: this side has 0 */
    if (!login_flags_are_legal(login, login_flags_of(bhs)) || ++login->rounds > LOGIN_ROUNDS)
        return LOGIN_INITIATOR;
    if (!login->begun) {
        login_begin(session, bhs);
        return 0;
    }
    return memcmp(session->isid, bhs + ISER_AT_ISID, sizeof(session->isid)) == 0 &&
                   session->cid == iser_get16(bhs + ISER_AT_CID)
               ? 0
               : LOGIN_INITIATOR;
}

static bool login_gather(struct iser_login *login, const struct iser_pdu *pdu)
{
    if (pdu->length > sizeof(login->text) - login->text_length)
        return false;
    if (pdu->length > 0)
        memcpy(login->text + login->text_length, pdu->data, pdu->length);
    login->text_length += pdu->length;
    return true;
}

/* ---------------------------------------------------------------- the two stages */

static uint16_t login_security(struct iser_session *session, struct login_flags *flags,
                               struct iser_text *out)
{
    struct iser_login *login = session->login;
    const struct itiser_target_config *secrets = iser_login_secrets(session);

    if (flags->now != LOGIN_SECURITY || login->authenticated)
        return 0;
    switch (iser_chap_step(&login->chap, &secrets->incoming, &secrets->outgoing, login->text,
                           login->text_length, out)) {
    case ISER_CHAP_DONE:
        login->authenticated = true;
        break;
    case ISER_CHAP_MORE:
        /* Whoever offers no method may go on where no proof is needed. */
        flags->transit &= secrets->incoming.length == 0;
        break;
    case ISER_CHAP_FAILED:
        return LOGIN_AUTHENTICATION;
    }
    return 0;
}

static struct iser_terms login_terms(const struct iser_session *session)
{
    struct iser_terms terms = session->service->terms;
    const char *key =
        iser_text_find(session->login->text, session->login->text_length, "RDMAExtensions");
    bool rdma = session->link->ops->rdma || session->params.rdma != 0;

    terms.rdma = (session->link->ops->rdma || session->convertible) && !session->discovery;
    rdma |= terms.rdma && key && strcmp(key, "Yes") == 0;
    terms.digests = !rdma;
    terms.connection = session->login->continues != 0;
    terms.first_burst_set = terms.first_burst != 0;
    if (!terms.first_burst_set)
        terms.first_burst = rdma ? LOGIN_FIRST_BURST_RDMA : LOGIN_FIRST_BURST;
    return terms;
}

static bool login_names(const struct iser_text *out, const char *key)
{
    return iser_text_find(out->octets, out->length, key) != NULL;
}

/* Adds the keys that a target sends without being asked. */
static void login_tell(struct iser_session *session, unsigned stage, struct iser_text *out)
{
    static const char receive_max[] = "MaxRecvDataSegmentLength";
    struct iser_login *login = session->login;

    if (!login->begun && !session->discovery) {
        iser_text_put_number(out, "TargetPortalGroupTag", session->tag);
        if (session->target->config.alias)
            iser_text_put(out, "TargetAlias", session->target->config.alias);
    }
    if (stage != LOGIN_OPERATIONAL || login->parameters_told)
        return;
    login->parameters_told = true;
    /* An answer does not name a key twice: the initiator's may have been rejected. */
    if (!session->link->ops->rdma && !session->params.rdma && !login_names(out, receive_max))
        iser_text_put_number(out, receive_max, ISER_RECEIVE_MAX);
}

static uint16_t login_text(struct iser_session *session, struct login_flags *flags,
                           struct iser_text *out)
{
    struct iser_login *login = session->login;
    struct iser_terms terms;
    uint16_t status;

    if (!iser_text_is_legal(login->text, login->text_length))
        return LOGIN_INITIATOR;
    status = login->begun ? 0 : iser_login_names(session, login->text, login->text_length);
    if (status != 0)
        return status;
    terms = login_terms(session); /* now it is known whether this is discovery */
    status = login_security(session, flags, out);
    if (status != 0)
        return status;
    /* Skipping or leaving the security stage is allowed only if the target asks for no proof. */
    if ((flags->now != LOGIN_SECURITY || flags->transit) && !login->authenticated) {
        if (iser_login_secrets(session)->incoming.length > 0)
            return LOGIN_AUTHENTICATION;
        login->authenticated = true;
    }
    if (!iser_keys_negotiate(&session->params, &terms, login->text, login->text_length,
                             &login->said, out))
        return LOGIN_INITIATOR;
    login_tell(session, flags->now, out);
    if (flags->transit && flags->next == LOGIN_FULL_FEATURE && !session->discovery &&
        iser_keys_offer(&session->params, &terms, &login->said, out))
        flags->transit = false; /* the initiator has to answer first */
    return out->overflow ? LOGIN_TARGET : 0;
}

/* ---------------------------------------------------------------- the answer */

static void login_answer(struct iser_session *session, const uint8_t *request,
                         struct login_flags flags, const struct iser_text *text)
{
    struct iser_login *login = session->login;
    uint8_t bhs[ISER_BHS];

    login->begun = true;
    login->text_length = 0;
    login->stage = flags.transit ? flags.next : flags.now;
    login_begin_response(session, iser_get32(request + ISER_AT_ITT), bhs);
    bhs[1] = (uint8_t)(flags.now << 2);
    if (flags.transit)
        bhs[1] |= (uint8_t)(ISER_FINAL | flags.next);
    if (flags.transit && flags.next == LOGIN_FULL_FEATURE)
        iser_login_finish(session, bhs, text);
    else
        iser_session_send(session, bhs, text->octets, text->length);
}

static void login_process(struct iser_session *session, const uint8_t *bhs)
{
    struct login_flags flags = login_flags_of(bhs);
    struct iser_text *text = calloc(1, sizeof(*text));
    uint16_t status = text ? login_text(session, &flags, text) : LOGIN_TARGET;

    if (status != 0)
        login_refuse(session, bhs, status);
    else
        login_answer(session, bhs, flags, text);
    free(text);
}

/* The text continues in the next request. */
static void login_more(struct iser_session *session, const uint8_t *request)
{
    uint8_t bhs[ISER_BHS];

    login_begin_response(session, iser_get32(request + ISER_AT_ITT), bhs);
    bhs[1] = request[1] & 0x0c;
    iser_session_send(session, bhs, NULL, 0);
}

void iser_login_request(struct iser_session *session, const struct iser_pdu *pdu)
{
    uint16_t status;

    if (session->login_end) {
        iser_session_end(session, "a Login Request before the last Login Response was sent");
        return;
    }
    if (!session->login)
        session->login = calloc(1, sizeof(*session->login));
    status = session->login ? login_check(session, pdu->bhs) : LOGIN_TARGET;
    if (status == 0 && !login_gather(session->login, pdu))
        status = LOGIN_INITIATOR;
    if (status != 0)
        login_refuse(session, pdu->bhs, status);
    else if (pdu->bhs[1] & ISER_CONTINUE)
        login_more(session, pdu->bhs);
    else
        login_process(session, pdu->bhs);
}
