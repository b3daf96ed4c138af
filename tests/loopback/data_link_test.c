/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Spigot goes offline and online, with one unaffiliated event each. The test has a network of
 * its own.
 */
#include <criterion/criterion.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/it_fixture.h"

static void set_loopback(bool up)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request;

    CHECK(fd >= 0);
    memset(&request, 0, sizeof(request));
    strcpy(request.ifr_name, "lo");
    request.ifr_flags = up ? IFF_UP : 0;
    CHECK(ioctl(fd, SIOCSIFFLAGS, &request) == 0);
    (void)close(fd);
}

/*
 * Makes a network namespace. Returns false if this process may not; then there is nothing to test.
 */
static bool own_network(void)
{
    if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
        printf("skipped: no network namespace\n");
        return false;
    }
    set_loopback(true);
    return true;
}

static it_boolean_t spigot_online(it_ia_handle_t ia)
{
    it_ia_info_t *info = NULL;
    it_boolean_t online;

    CHECK_OK(it_ia_query(ia, &info));
    CHECK_EQ(1, info->num_spigots);
    CHECK_EQ(IT_TRUE, info->spigot_online_support);
    CHECK_EQ(IT_TRUE, info->spigot_offline_support);
    online = info->spigot_info[0].spigot_online;
    it_ia_info_free(info);
    return online;
}

static void check_news(it_evd_handle_t evd, it_ia_handle_t ia, it_event_type_t number)
{
    it_event_t event = fx_next(evd);

    CHECK_EQ(number, event.event_number);
    CHECK(event.unaff_async.evd == evd);
    CHECK(event.unaff_async.ia == ia);
    CHECK_EQ(1, event.unaff_async.spigot_id);
    CHECK_EQ(number == IT_ASYNC_UNAFF_SPIGOT_ONLINE ? IT_TRUE : IT_FALSE, spigot_online(ia));
}

static void follow(const char *name)
{
    it_evd_handle_t evd = NULL;
    it_ia_handle_t ia = NULL;
    it_event_t event;

    CHECK_OK(it_ia_create(name, 2, 1, &ia));
    CHECK_EQ(IT_TRUE, spigot_online(ia));
    CHECK_OK(
        it_evd_create(ia, IT_ASYNC_UNAFF_EVENT_STREAM, (it_evd_flags_t)0, 8, 0, NULL, &evd, NULL));
    for (unsigned i = 0; i < 3; i++) {
        set_loopback(false);
        check_news(evd, ia, IT_ASYNC_UNAFF_SPIGOT_OFFLINE);
        set_loopback(true);
        check_news(evd, ia, IT_ASYNC_UNAFF_SPIGOT_ONLINE);
    }
    CHECK_STATUS(IT_ERR_TIMEOUT_EXPIRED, it_evd_wait(evd, 20000, &event, NULL));
    /* Without an EVD nobody gets the events. */
    CHECK_OK(it_evd_free(evd));
    set_loopback(false);
    set_loopback(true);
    CHECK_OK(it_ia_free(ia));
}

Test(data_link, of_one_interface)
{
    if (own_network())
        follow("uiwarp:lo");
}

Test(data_link, of_all_interfaces)
{
    if (own_network())
        follow("uiwarp");
}
