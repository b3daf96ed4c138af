/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls the functions of libitiser, of which "run" measures the stack. */
#include "support/check.h"

#include "itiser.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <string.h>

static bool is_stopped;

static void stopped(void *base)
{
    is_stopped = true;
    (void)event_base_loopbreak(base);
}

static void fill(struct itiser_config *config, struct itiser_target_config *target,
                 struct itiser_portal_config *portal)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    memcpy(&portal->address, &address, sizeof(address));
    *config = (struct itiser_config){.size = sizeof(*config),
                                     .targets = target,
                                     .target_count = 1,
                                     .portals = portal,
                                     .portal_count = 1,
                                     .interface = "uiwarp"};
}

int main(void)
{
    static const struct itiser_unit_config memory = {
        .kind = ITISER_MEMORY_UNIT, .size = 1 << 20, .serial = "stack"};
    struct itiser_target_config target = {.name = "iqn.2026-11.example:stack"};
    struct itiser_portal_config portal = {.kinds = ITISER_PLAIN | ITISER_CONVERT, .tag = 1};
    struct event_base *base = event_base_new();
    struct itiser_config config;
    struct sockaddr_storage address;
    struct itiser *served;
    char error[256];

    fill(&config, &target, &portal);
    target.units[0] = itiser_unit_open(&memory, error);
    CHECK(base && target.units[0]);
    served = itiser_start(base, &config, error);
    CHECK(served != NULL);
    CHECK(itiser_portal_address(served, 0, &address));
    CHECK(((struct sockaddr_in *)(void *)&address)->sin_port != 0);
    CHECK(itiser_reconfigure(served, &config, error));
    itiser_status(served, stdout);
    itiser_stop(served, 1000, stopped, base);
    CHECK(event_base_dispatch(base) == 0);
    CHECK(is_stopped);
    itiser_free(served);
    itiser_unit_close(target.units[0]);
    event_base_free(base);
    return 0;
}
