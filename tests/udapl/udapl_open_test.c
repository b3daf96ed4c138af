/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry loads the provider, opens, queries and closes IAs, and unloads it. */
#include "support/check.h"

#include <dat2/udat.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

static DAT_IA_HANDLE open_ia(const char *name, DAT_EVD_HANDLE *async)
{
    char copy[DAT_NAME_MAX_LENGTH];
    DAT_IA_HANDLE ia;

    snprintf(copy, sizeof(copy), "%s", name);
    *async = DAT_HANDLE_NULL;
    CHECK_EQ(DAT_SUCCESS, dat_ia_open(copy, 8, async, &ia));
    return ia;
}

static bool is_loaded(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    bool found = false;

    CHECK(maps);
    while (fgets(line, sizeof(line), maps))
        found = found || strstr(line, "libdaplitapi");
    fclose(maps);
    return found;
}

static void check_attributes(DAT_IA_HANDLE ia, DAT_EVD_HANDLE async)
{
    DAT_PROVIDER_ATTR provider;
    DAT_EVD_HANDLE told;
    DAT_IA_ATTR attr;

    CHECK_EQ(DAT_SUCCESS, dat_ia_query(ia, &told, DAT_IA_FIELD_ALL, &attr,
                                       DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR, &provider));
    CHECK(told == async);
    CHECK_EQ(AF_INET, attr.ia_address_ptr->sa_family);
    CHECK_EQ(0, strcmp(attr.adapter_name, "uiwarp:lo"));
    CHECK(attr.max_dto_per_ep > 0 && attr.max_evd_qlen > 0 && attr.max_message_size > 0);
    CHECK_EQ(DAT_EXTENSION_NONE, attr.extension_supported);
    CHECK(provider.max_private_data_size >= 48); /* all members are set, whatever the mask is */
    CHECK_EQ(DAT_TRUE, provider.evd_stream_merging_supported[5][0]);
    CHECK_EQ(2, provider.dapl_version_major);
    CHECK_EQ(0, strcmp(provider.provider_specific_attr[0].name, "DAT_IB_RDMA_READ"));
}

/* Returns true if this machine has an IPv4 address that others can use. */
static bool has_routable_address(void)
{
    struct ifaddrs *all, *one;
    bool found = false;

    CHECK_EQ(0, getifaddrs(&all));
    for (one = all; one; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET &&
            !(one->ifa_flags & IFF_LOOPBACK) && (one->ifa_flags & IFF_UP))
            found = true;
    freeifaddrs(all);
    return found;
}

/* Of this machine's addresses, dat_ia_query returns one that peers on other hosts can use. */
static void check_address(void)
{
    const struct sockaddr_in *address;
    DAT_EVD_HANDLE async;
    DAT_IA_HANDLE ia = open_ia("itapi-all", &async);
    DAT_IA_ATTR attr;

    CHECK_EQ(DAT_SUCCESS, dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    address = (const struct sockaddr_in *)attr.ia_address_ptr;
    if (has_routable_address())
        CHECK(address->sin_family == AF_INET &&
              ntohl(address->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET);
    CHECK_EQ(DAT_SUCCESS, dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

static void check_consumer_context(DAT_IA_HANDLE ia)
{
    DAT_CONTEXT context = {.as_64 = 1};
    DAT_HANDLE_TYPE type;

    CHECK_EQ(DAT_SUCCESS, dat_get_consumer_context(ia, &context));
    CHECK_EQ(0, context.as_64); /* not set yet */
    context.as_64 = 0x1234567890;
    CHECK_EQ(DAT_SUCCESS, dat_set_consumer_context(ia, context));
    context.as_64 = 0;
    CHECK_EQ(DAT_SUCCESS, dat_get_consumer_context(ia, &context));
    CHECK_EQ(0x1234567890, context.as_64);
    CHECK_EQ(DAT_SUCCESS, dat_get_handle_type(ia, &type));
    CHECK_EQ(DAT_HANDLE_TYPE_IA, type);
}

int main(void)
{
    DAT_EVD_HANDLE async[3];
    DAT_IA_HANDLE ia[3];

    ia[0] = open_ia("itapi-lo", &async[0]);
    ia[1] = open_ia("itapi-lo", &async[1]);
    ia[2] = open_ia("itapi-lo2", &async[2]);
    CHECK(ia[0] != ia[1] && ia[1] != ia[2]);
    check_attributes(ia[0], async[0]);
    check_attributes(ia[2], async[2]);
    check_consumer_context(ia[1]);
    CHECK_EQ(DAT_SUCCESS, dat_ia_close(ia[0], DAT_CLOSE_GRACEFUL_FLAG));
    CHECK_EQ(DAT_INVALID_HANDLE, DAT_GET_TYPE(dat_ia_close(ia[0], DAT_CLOSE_GRACEFUL_FLAG)));
    check_attributes(ia[1], async[1]);
    CHECK_EQ(DAT_SUCCESS, dat_ia_close(ia[1], DAT_CLOSE_ABRUPT_FLAG));
    CHECK_EQ(DAT_SUCCESS, dat_ia_close(ia[2], DAT_CLOSE_ABRUPT_FLAG));
    check_address();
    CHECK(!is_loaded());
    return 0;
}
