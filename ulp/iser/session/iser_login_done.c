/* SPDX-License-Identifier: BSD-2-Clause */
/* Permission to log in, and the session that a login creates. */
#include "session/iser_network.h"
#include "session/iser_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum login_done_status {
    LOGIN_INITIATOR_ERROR = 0x0200,
    LOGIN_NOT_ALLOWED = 0x0202,
    LOGIN_NOT_FOUND = 0x0203,
    LOGIN_TOO_MANY = 0x0206,
    LOGIN_MISSING = 0x0207,
    LOGIN_TYPE = 0x0209,
    LOGIN_NO_SESSION = 0x020a,
    LOGIN_RESOURCES = 0x0302
};

/*
 * Over RDMA: the size of a message; the size of the receives that Linux's initiator posts, whatever
 * it has negotiated; receives beyond those that commands need.
 */
#define LOGIN_SEND_MAX       8192u
#define LOGIN_SEND_LINUX     128u
#define LOGIN_RECEIVES_SPARE (ISER_WINDOW_SPARE + 16u)

/* ---------------------------------------------------------------- permissions */

static bool list_allows_name(const char *const *names, const char *name)
{
    if (!names)
        return true;
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static bool list_allows_address(const char *const *networks, const struct sockaddr_storage *address)
{
    if (!networks)
        return true;
    for (; *networks; networks++)
        if (iser_network_has(*networks, address))
            return true;
    return false;
}

const struct itiser_target_config *iser_login_secrets(const struct iser_session *session)
{
    return session->target ? &session->target->config : &session->service->discovery;
}

bool iser_login_is_proven(const struct iser_session *session)
{
    return session->login && session->login->authenticated &&
           iser_login_secrets(session)->incoming.length > 0;
}

bool iser_login_is_allowed(const struct iser_session *session, const struct iser_target *target)
{
    return list_allows_name(target->config.initiators, session->initiator) &&
           list_allows_address(target->config.networks, &session->link->remote);
}

/* ---------------------------------------------------------------- names */

static uint16_t login_find_target(struct iser_session *session, const char *name)
{
    struct iser_service *service = session->service;

    for (size_t i = 0; i < service->target_count; i++) {
        if (strcasecmp(service->targets[i].config.name, name) != 0)
            continue;
        if (!iser_login_is_allowed(session, &service->targets[i]))
            return LOGIN_NOT_ALLOWED;
        session->target = &service->targets[i];
        return 0;
    }
    return LOGIN_NOT_FOUND;
}

/* Returns true for another session of the same initiator port with the same portal group. */
static bool login_is_same_port(const struct iser_session *session, const struct iser_session *other)
{
    return other != session && other->target == session->target && other->tag == session->tag &&
           memcmp(other->isid, session->isid, sizeof(session->isid)) == 0 &&
           strcmp(other->initiator, session->initiator) == 0;
}

/* Returns the session that the login continues; NULL: there is none. */
static struct iser_session *login_continued(const struct iser_session *session)
{
    struct iser_session *other = session->service->sessions;

    while (other &&
           (other->ended || other->phase != ISER_FULL_FEATURE ||
            other->tsih != session->login->continues || !login_is_same_port(session, other)))
        other = other->next;
    return other;
}

static void login_take_numbers(struct iser_session *session, const struct iser_session *other)
{
    session->numbers.exp_cmd_sn = other->numbers.exp_cmd_sn;
    session->numbers.max_cmd_sn = other->numbers.max_cmd_sn;
}

/*
 * Connection reinstatement (RFC 7143 6.3.4): this connection will replace that of a session. None
 * can be added. Returns 0 or a login status.
 */
static uint16_t login_continue(struct iser_session *session)
{
    const struct iser_session *other = login_continued(session);
    bool rdma = session->link->ops->rdma;

    if (!other)
        return LOGIN_NO_SESSION;
    if (other->cid != session->cid)
        return LOGIN_TOO_MANY;
    rdma |= session->convertible && other->params.rdma;
    if (other->link->ops->rdma != rdma)
        return LOGIN_INITIATOR_ERROR;
    iser_params_continue(&session->params, &other->params);
    login_take_numbers(session, other);
    session->tsih = other->tsih;
    return 0;
}

/*
 * Names have neither blanks nor control characters nor commas (RFC 7143 4.2.7). They stand in lines
 * of the status and of the file of reservations.
 */
static bool login_name_is_legal(const char *name)
{
    if (name[0] == '\0' || strlen(name) > ISER_NAME_MAX)
        return false;
    for (; *name; name++)
        if ((*name >= 0 && *name <= ' ') || *name == 0x7f || *name == ',')
            return false;
    return true;
}

uint16_t iser_login_names(struct iser_session *session, const char *text, size_t length)
{
    const char *initiator = iser_text_find(text, length, "InitiatorName");
    const char *target = iser_text_find(text, length, "TargetName");
    const char *type = iser_text_find(text, length, "SessionType");
    uint16_t status;

    if (!initiator)
        return LOGIN_MISSING;
    if (!login_name_is_legal(initiator))
        return LOGIN_INITIATOR_ERROR;
    (void)snprintf(session->initiator, sizeof(session->initiator), "%s", initiator);
    session->discovery = type && strcmp(type, "Discovery") == 0;
    if (session->discovery)
        return session->login->continues ? LOGIN_NO_SESSION : 0;
    if (type && strcmp(type, "Normal") != 0)
        return LOGIN_TYPE;
    status = target ? login_find_target(session, target) : LOGIN_MISSING;
    return status == 0 && session->login->continues ? login_continue(session) : status;
}

/* ---------------------------------------------------------------- the session */

/* A login ends the older session of the same initiator port (RFC 7143 6.3.5). */
static void login_reinstate(struct iser_session *session)
{
    struct iser_session *other = session->service->sessions;

    while (other) {
        bool complete = other->phase != ISER_LOGGING_IN || other->login_end;

        if (other->ended || !complete || !login_is_same_port(session, other)) {
            other = other->next;
            continue;
        }
        iser_session_end(other, "the initiator has logged in anew");
        other = session->service->sessions; /* more sessions may have ended */
    }
}

/*
 * Returns true while a unit still executes commands of an older session of the initiator port. A
 * write among them could overwrite what the new session writes.
 */
static bool login_must_wait(const struct iser_session *session)
{
    const struct iser_session *other = session->service->sessions;

    for (; other; other = other->next)
        if (other->ended && other->task_count > 0 && login_is_same_port(session, other))
            return true;
    return false;
}

static bool login_tsih_is_used(const struct iser_service *service, uint16_t tsih)
{
    for (const struct iser_session *session = service->sessions; session; session = session->next)
        if (session->tsih == tsih)
            return true;
    return false;
}

static void login_choose_tsih(struct iser_session *session)
{
    struct iser_service *service = session->service;

    do {
        service->last_tsih++;
    } while (service->last_tsih == 0 || login_tsih_is_used(service, service->last_tsih));
    session->tsih = service->last_tsih;
}

/* Returns false if memory runs out. */
static bool login_make_nexus(struct iser_session *session)
{
    const uint8_t *isid = session->isid;
    char port[ISER_NAME_MAX + 24];

    if (session->discovery)
        return true;
    (void)snprintf(port, sizeof(port), "%s,i,0x%02x%02x%02x%02x%02x%02x", session->initiator,
                   isid[0], isid[1], isid[2], isid[3], isid[4], isid[5]);
    session->nexus =
        iser_scsi_nexus_new(session->target->scsi, port, session->tag, iser_tmf_preempted, session);
    return session->nexus != NULL;
}

/*
 * Returns true if Write Base Offset refers to the first solicited octet instead of the command's
 * first.
 */
static bool login_base_is_solicited(const struct iser_session *session)
{
    switch (session->service->write_base) {
    case ITISER_WRITE_BASE_LINUX:
        return true;
    case ITISER_WRITE_BASE_RFC:
        return session->params.tagged_solicited != 0;
    case ITISER_WRITE_BASE_AUTO:
        break;
    }
    /* Sessions of way (B) are Linux's, which does so without the key. */
    return session->params.tagged_told ? session->params.tagged_solicited != 0
                                       : session->link->ops->rdma;
}

/* Returns how many PDUs may be outstanding for one command and its unsolicited data. */
static uint32_t login_receives_each(const struct iser_params *params)
{
    if (params->initial_r2t)
        return 1;
    return 1 + (params->first_burst + params->target_receive_max - 1) / params->target_receive_max;
}

static void login_set_limits(struct iser_session *session)
{
    const struct iser_params *params = &session->params;
    struct iser_limits *limits = &session->link->limits;
    uint32_t each = login_receives_each(params);

    *limits = (struct iser_limits){
        .header_digest = params->header_digest != 0,
        .data_digest = params->data_digest != 0,
        .send_max = params->receive_max,
        .receive_max = ISER_RECEIVE_MAX,
        .max_burst = params->max_burst,
        .window = ISER_WINDOW,
    };
    if (!params->rdma && !session->link->ops->rdma)
        return;
    limits->send_max = params->initiator_receive_max;
    if (limits->send_max > LOGIN_SEND_MAX)
        limits->send_max = LOGIN_SEND_MAX;
    if (session->link->ops->rdma && !session->discovery)
        limits->send_max = LOGIN_SEND_LINUX;
    limits->receive_max = params->target_receive_max;
    /* If unsolicited data comes in many small PDUs, fewer commands may be open. */
    if (limits->window > (ISER_LINK_RECEIVES - LOGIN_RECEIVES_SPARE) / each)
        limits->window = (ISER_LINK_RECEIVES - LOGIN_RECEIVES_SPARE) / each;
    limits->receives = limits->window * each + LOGIN_RECEIVES_SPARE;
    limits->write_base_solicited = login_base_is_solicited(session);
    limits->hello = params->hello != 0;
}

/* In place of the last response. */
static void login_decline(struct iser_session *session, uint8_t *bhs, uint16_t status)
{
    bhs[1] &= 0x0c;
    iser_put16(bhs + 36, status);
    iser_session_send(session, bhs, NULL, 0);
    iser_session_leave_in_order(session);
}

/*
 * Takes over what the initiator and the units know of the session. Its commands end with its older
 * connection (error recovery level 0). Returns 0 or a login status.
 */
static uint16_t login_take_over(struct iser_session *session)
{
    const struct iser_session *other = login_continued(session);

    if (!other)
        return LOGIN_NO_SESSION;
    if (!login_make_nexus(session))
        return LOGIN_RESOURCES;
    iser_scsi_nexus_inherit(session->nexus, other->nexus);
    login_take_numbers(session, other);
    return 0;
}

static void login_complete(struct iser_session *session, uint8_t *bhs, const struct iser_text *text)
{
    bool converts = session->params.rdma && !session->link->ops->rdma;
    bool settles = !session->discovery || iser_login_is_proven(session);

    if (!session->tsih)
        login_choose_tsih(session);
    iser_put16(bhs + ISER_AT_TSIH, session->tsih);
    login_set_limits(session);
    session->window = session->link->limits.window;
    iser_task_window(session);
    if ((!session->nexus && !login_make_nexus(session)) ||
        !session->link->ops->full_feature(session->link)) {
        login_decline(session, bhs, LOGIN_RESOURCES);
        return;
    }
    free(session->login);
    session->login = NULL;
    session->phase = ISER_FULL_FEATURE;
    session->service->logins++;
    if (settles)
        session->service->settled(session);
    if (!converts)
        iser_session_send(session, bhs, text->octets, text->length);
    else if (!session->service->convert(session, bhs, text))
        iser_session_end(session, "the connection cannot become RDMA");
}

void iser_login_finish(struct iser_session *session, uint8_t *bhs, const struct iser_text *text)
{
    uint16_t status = session->login->continues ? login_take_over(session) : 0;

    if (status != 0) {
        login_decline(session, bhs, status);
        return;
    }
    login_reinstate(session);
    if (!login_must_wait(session)) {
        login_complete(session, bhs, text);
        return;
    }
    session->login_end = malloc(sizeof(*session->login_end));
    if (!session->login_end) {
        iser_session_end(session, "out of memory");
        return;
    }
    memcpy(session->login_end->bhs, bhs, ISER_BHS);
    session->login_end->text = *text;
}

bool iser_login_resume_one(struct iser_service *service)
{
    struct iser_session *session = service->sessions;
    struct iser_login_end *end;

    while (session && (session->ended || !session->login_end || login_must_wait(session)))
        session = session->next;
    if (!session)
        return false;
    end = session->login_end;
    session->login_end = NULL;
    iser_session_enter(session);
    login_complete(session, end->bhs, &end->text);
    iser_session_leave(session);
    free(end);
    return true;
}
