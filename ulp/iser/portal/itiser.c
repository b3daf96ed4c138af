/* SPDX-License-Identifier: BSD-2-Clause */
/* The calls of the library. */
#include "portal/iser_portal.h"

#include "unit/iser_pool.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define LOGIN_TIMEOUT_MS 15000u
#define SILENCE_MS       30000u
#define HALF_LOGINS      512u
#define POOL_THREADS     4u
#define STOP_LOOK_US     20000
#define BUFFERS          (UINT64_C(1) << 30)
#define ALIAS_MAX        255u /* octets of a value of a text */

/* ---------------------------------------------------------------- discovery */

static bool address_is_any(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr == INADDR_ANY;
    return IN6_IS_ADDR_UNSPECIFIED(
        &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static void address_text(const struct sockaddr_storage *address, char text[INET6_ADDRSTRLEN + 2])
{
    const struct sockaddr_in6 *ipv6 = (const void *)address;
    char plain[INET6_ADDRSTRLEN];

    if (address->ss_family == AF_INET) {
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr,
                        text, INET6_ADDRSTRLEN);
        return;
    }
    (void)inet_ntop(AF_INET6, &ipv6->sin6_addr, plain, sizeof(plain));
    (void)snprintf(text, INET6_ADDRSTRLEN + 2, "[%s]", plain);
}

static uint16_t address_port(const struct sockaddr_storage *address)
{
    return ntohs(address->ss_family == AF_INET
                     ? ((const struct sockaddr_in *)(const void *)address)->sin_port
                     : ((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
}

/* A portal on all addresses is listed with the address that the initiator has connected to. */
static void itiser_addresses(struct iser_session *session, struct iser_text *out)
{
    const struct itiser *target = session->service->portal;

    for (size_t i = 0; i < target->portal_count; i++) {
        const struct itiser_portal_config *config = &target->portals[i].config;
        const struct sockaddr_storage *address = &config->address;
        char text[INET6_ADDRSTRLEN + 2], value[sizeof(text) + 16];

        if (address_is_any(address))
            address = &session->link->local;
        if (address->ss_family != config->address.ss_family)
            continue;
        address_text(address, text);
        (void)snprintf(value, sizeof(value), "%s:%u,%u", text, address_port(&config->address),
                       config->tag);
        iser_text_put(out, "TargetAddress", value);
    }
}

/* ---------------------------------------------------------------- timers, pool */

static void itiser_look(evutil_socket_t fd, short what, void *argument)
{
    (void)fd;
    (void)what;
    iser_arrivals_look(argument);
}

static void itiser_reap(evutil_socket_t fd, short what, void *argument)
{
    struct itiser *target = argument;

    (void)fd;
    (void)what;
    iser_pool_reap(target->pool);
}

static bool itiser_is_alone(const void *portal)
{
    const struct itiser *target = portal;
    const struct iser_session *only = target->service.sessions;

    return only && !only->next && target->half_logins == 0 && iser_pool_is_idle(target->pool);
}

static void itiser_cut(struct itiser *target)
{
    struct iser_session *session = target->service.sessions;

    while (session) {
        if (session->ended) {
            session = session->next;
            continue;
        }
        iser_session_end(session, "the target stops");
        session = target->service.sessions;
    }
}

static void itiser_stopping(evutil_socket_t fd, short what, void *argument)
{
    struct itiser *target = argument;

    (void)fd;
    (void)what;
    if (iser_now_ms() >= target->stop_at_ms)
        itiser_cut(target);
    if (target->service.sessions)
        return;
    (void)event_del(&target->stop_timer);
    target->stopped(target->stopped_argument);
}

/* ---------------------------------------------------------------- start */

static bool itiser_refuse(char *error, const char *what, const char *which)
{
    if (error)
        (void)snprintf(error, 256, "%.120s%s%.120s", what, which[0] ? ": " : "", which);
    return false;
}

/* Returns false if memory runs out, or if the secrets are not acceptable. */
static bool itiser_take_config(struct itiser_target_config *to,
                               const struct itiser_target_config *from, char *error)
{
    const char *complaint = iser_chap_complaint(&from->incoming, &from->outgoing), *network;

    if (complaint)
        return itiser_refuse(error, from->name, complaint);
    if ((network = iser_config_wrong_network(from)) != NULL)
        return itiser_refuse(error, "not ADDRESS/BITS", network);
    if (from->alias && strlen(from->alias) > ALIAS_MAX)
        return itiser_refuse(error, from->name, "an alias has 255 octets at most");
    return iser_config_copy(to, from) || itiser_refuse(error, "out of memory", "");
}

static bool itiser_add_targets(struct itiser *target, const struct itiser_config *config,
                               char *error)
{
    struct itiser_target_config discovery = iser_config_discovery(config);
    char why[256];

    if (!itiser_take_config(&target->service.discovery, &discovery, error))
        return false;
    target->service.targets = calloc(config->target_count + 1, sizeof(*target->service.targets));
    if (!target->service.targets)
        return itiser_refuse(error, "out of memory", "");
    for (size_t i = 0; i < config->target_count; i++) {
        struct iser_target *one = &target->service.targets[i];

        if (iser_config_is_repeated(config, i))
            return itiser_refuse(error, "two targets have this name", config->targets[i].name);
        if (!itiser_take_config(&one->config, &config->targets[i], error))
            return false;
        target->service.target_count++;
        one->scsi = iser_scsi_target_new(&one->config, target->pool, why);
        if (!one->scsi)
            return itiser_refuse(error, one->config.name, why);
    }
    return true;
}

static bool itiser_open_portal(struct itiser *target, struct iser_portal *portal, const char **why)
{
    int failed;

    if (portal->config.kinds & ITISER_RDMA && iser_fabric_has_ports(target->fabric)) {
        *why = "on a device RDMA needs a portal of its own";
        return portal->config.kinds == ITISER_RDMA &&
               iser_fabric_listen(target->fabric, portal, why);
    }
    failed = iser_portal_open(portal);
    *why = strerror(failed);
    return failed == 0;
}

static bool itiser_add_portals(struct itiser *target, const struct itiser_config *config,
                               char *error)
{
    target->portals = calloc(config->portal_count + 1, sizeof(*target->portals));
    if (!target->portals)
        return itiser_refuse(error, "out of memory", "");
    for (size_t i = 0; i < config->portal_count; i++) {
        struct iser_portal *portal = &target->portals[i];
        char text[INET6_ADDRSTRLEN + 2];
        const char *why = "";

        portal->owner = target;
        portal->fd = -1;
        portal->config = config->portals[i];
        target->portal_count++;
        if (!itiser_open_portal(target, portal, &why)) {
            address_text(&portal->config.address, text);
            return itiser_refuse(error, text, why);
        }
    }
    return true;
}

static bool itiser_wants_rdma(const struct itiser_config *config)
{
    for (size_t i = 0; i < config->portal_count; i++)
        if (config->portals[i].kinds & (ITISER_RDMA | ITISER_CONVERT))
            return true;
    return false;
}

static bool itiser_begin(struct itiser *target, const struct itiser_config *config, char *error)
{
    struct iser_service *service = &target->service;
    unsigned silence_ms = config->silence_ms ? config->silence_ms : SILENCE_MS;

    target->stay.off = config->no_spin;
    target->stay.is_alone = itiser_is_alone;
    target->stay.portal = target;
    service->portal = target;
    service->addresses = itiser_addresses;
    service->settled = iser_arrival_settled;
    service->write_base = config->write_base;
    service->buffered_max = config->buffers ? config->buffers : BUFFERS;
    service->silence.tv_sec = silence_ms / 1000;
    service->silence.tv_usec = silence_ms % 1000 * 1000;
    iser_aborted_init(service);
    service->terms.first_burst = config->first_burst;
    service->terms.initial_r2t = config->first_burst_none;
    service->terms.no_immediate = config->immediate_none;
    target->login_timeout_ms =
        config->login_timeout_ms ? config->login_timeout_ms : LOGIN_TIMEOUT_MS;
    target->half_max = config->half_logins ? config->half_logins : HALF_LOGINS;
    target->half_share =
        config->half_logins_share ? config->half_logins_share : (target->half_max + 1) / 2;
    target->pool = iser_pool_new(config->threads ? config->threads : POOL_THREADS);
    if (!target->pool)
        return itiser_refuse(error, "no threads for blocking units", "");
    /* Cannot fail with valid arguments. */
    (void)event_assign(&target->pool_readable, service->base, iser_pool_fd(target->pool),
                       EV_READ | EV_PERSIST, itiser_reap, target);
    (void)event_assign(&target->login_timer, service->base, -1, EV_PERSIST, itiser_look, target);
    (void)event_assign(&target->stop_timer, service->base, -1, EV_PERSIST, itiser_stopping, target);
    if (event_add(&target->pool_readable, NULL) != 0)
        return itiser_refuse(error, "the event base takes no descriptor", "");
    if (itiser_wants_rdma(config) && !iser_fabric_open(target, config, error))
        return false;
    return itiser_add_targets(target, config, error) && itiser_add_portals(target, config, error);
}

struct itiser *itiser_start(struct event_base *base, const struct itiser_config *config,
                            char error[256])
{
    struct itiser *target = calloc(1, sizeof(*target));
    struct itiser_config known;
    const char *what, *which;

    if (!target) {
        (void)itiser_refuse(error, "out of memory", "");
        return NULL;
    }
    target->service.base = base;
    if (!iser_config_read(&known, config))
        (void)itiser_refuse(error, "the size of the configuration is not set", "");
    else if (!iser_config_is_usable(&known, &what, &which))
        (void)itiser_refuse(error, what, which);
    else if (itiser_begin(target, &known, error))
        return target;
    itiser_free(target);
    return NULL;
}

bool itiser_portal_address(const struct itiser *target, size_t index,
                           struct sockaddr_storage *address)
{
    if (index >= target->portal_count)
        return false;
    *address = target->portals[index].config.address;
    return true;
}

/* ---------------------------------------------------------------- the end */

static void itiser_close_portals(struct itiser *target)
{
    for (size_t i = 0; i < target->portal_count; i++) {
        iser_portal_close(&target->portals[i]);
        iser_fabric_unlisten(&target->portals[i]);
    }
}

void itiser_stop(struct itiser *target, unsigned timeout_ms, void (*stopped)(void *argument),
                 void *argument)
{
    static const struct timeval interval = {.tv_usec = STOP_LOOK_US};

    target->stopped = stopped;
    target->stopped_argument = argument;
    target->stop_at_ms = iser_now_ms() + timeout_ms;
    itiser_close_portals(target);
    iser_arrivals_cut(target);
    /* Ends a session whose initiator has disconnected. */
    for (struct iser_session *next, *session = target->service.sessions; session; session = next) {
        next = session->next;
        iser_session_ask_to_leave(session, (uint16_t)((timeout_ms + 999) / 1000));
    }
    (void)event_add(&target->stop_timer, &interval);
}

/* Units may still be working for sessions that have ended. */
static void itiser_wait_for_units(struct itiser *target)
{
    struct pollfd done = {.fd = iser_pool_fd(target->pool), .events = POLLIN};

    for (size_t i = 0; i < target->service.target_count; i++)
        if (target->service.targets[i].scsi)
            iser_scsi_go_on(target->service.targets[i].scsi);
    while (target->service.sessions) {
        (void)poll(&done, 1, -1);
        iser_pool_reap(target->pool);
    }
}

static void itiser_free_targets(struct itiser *target)
{
    for (size_t i = 0; i < target->service.target_count; i++) {
        struct iser_target *one = &target->service.targets[i];

        if (one->scsi)
            iser_scsi_target_free(one->scsi);
        iser_config_free(&one->config);
    }
    free(target->service.targets);
    iser_config_free(&target->service.discovery);
}

void itiser_free(struct itiser *target)
{
    itiser_close_portals(target);
    while (iser_arrival_drop_oldest(target)) {
    }
    itiser_cut(target);
    if (target->pool) {
        itiser_wait_for_units(target);
        (void)event_del(&target->pool_readable);
        (void)event_del(&target->stop_timer);
    }
    if (event_initialized(&target->service.aborted))
        (void)event_del(&target->service.aborted);
    itiser_free_targets(target);
    if (target->pool)
        iser_pool_free(target->pool);
    iser_fabric_close(target);
    iser_buffers_fini(&target->service.buffers);
    free(target->portals);
    free(target);
}

/* ---------------------------------------------------------------- status */

static void status_session(const struct iser_session *session, FILE *to)
{
    char text[INET6_ADDRSTRLEN + 2];

    if (session->ended || session->phase == ISER_LOGGING_IN)
        return;
    address_text(&session->link->remote, text);
    (void)fprintf(to, "session %u %s %s from %s port %u over %s: %u open, %" PRIu64 " commands\n",
                  session->tsih, session->target ? session->target->config.name : "discovery",
                  session->initiator, text, address_port(&session->link->remote),
                  session->link->ops->rdma ? "RDMA" : "TCP", session->window_used,
                  session->commands);
}

void itiser_status(const struct itiser *target, FILE *to)
{
    const struct iser_service *service = &target->service;

    for (size_t i = 0; i < target->portal_count; i++) {
        const struct itiser_portal_config *config = &target->portals[i].config;
        char text[INET6_ADDRSTRLEN + 2];

        address_text(&config->address, text);
        (void)fprintf(to, "portal %s:%u,%u%s%s%s\n", text, address_port(&config->address),
                      config->tag, config->kinds & ITISER_PLAIN ? " plain" : "",
                      config->kinds & ITISER_RDMA ? " rdma" : "",
                      config->kinds & ITISER_CONVERT ? " convert" : "");
    }
    (void)fprintf(
        to, "logins %" PRIu64 ", refused %" PRIu64 ", under way %u, dropped %" PRIu64 "\n",
        service->logins, service->failed_logins, target->half_logins, target->half_refused);
    for (const struct iser_session *session = service->sessions; session; session = session->next)
        status_session(session, to);
}
