/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario_offload.h"

#include "common/report.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static bool offload_feature(int sd, const char *interface, uint32_t command, bool on)
{
    struct ethtool_value value = {.cmd = command, .data = on};
    struct ifreq request;

    memset(&request, 0, sizeof(request));
    (void)snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
    request.ifr_data = (void *)&value;
    if (ioctl(sd, SIOCETHTOOL, &request) == 0)
        return true;
    complain_errno(interface);
    return false;
}

int offload_set(const char *interface, const char *word)
{
    static const uint32_t commands[] = {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO};
    bool on = strcmp(word, "on") == 0;
    bool good = true;
    int sd;

    if (!on && strcmp(word, "off") != 0) {
        complain("on or off, not %s", word);
        return EXIT_USAGE;
    }
    sd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sd < 0) {
        complain_errno("socket");
        return EXIT_FAILED;
    }
    for (unsigned i = 0; good && i < sizeof(commands) / sizeof(commands[0]); i++)
        good = offload_feature(sd, interface, commands[i], on);
    (void)close(sd);
    return good ? EXIT_FINE : EXIT_FAILED;
}
