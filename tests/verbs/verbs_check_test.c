/* SPDX-License-Identifier: BSD-2-Clause */
/* itx_provider_query: each reason that it reports for a device, and the counters of an EP. */
#include "verbs/stub_node.h"

#include "vp/verbs/device/verbs_check.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void start(void)
{
    stub_start();
    strcpy(folder, "/tmp/itapi_check_XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
}

static void make(const char *name)
{
    char path[128];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    CHECK(fd >= 0);
    (void)close(fd);
}

static void forbid(const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    CHECK(chmod(path, 0) == 0);
}

static void end(void)
{
    static const char *const names[] = {"rdma_cm", STUB_NODE, STUB_NAME};
    char path[128];

    for (unsigned i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    CHECK(rmdir(folder) == 0);
}

TestSuite(verbs_check, .init = start, .fini = end);

static struct itx_provider_info check(void)
{
    struct verbs_places places = {.devices = folder, .nodes = folder};
    struct itx_provider_info info;

    memset(&info, 0, sizeof(info));
    stub.has_node = true;
    verbs_check(&places, &info);
    stub.has_node = false;
    CHECK_EQ(info.obstacle == ITX_OBSTACLE_NONE, info.detail[0] == '\0');
    return info;
}

static void expect(itx_obstacle_t obstacle, const char *word)
{
    struct itx_provider_info info = check();

    CHECK_EQ(obstacle, info.obstacle);
    CHECK(strstr(info.detail, word) != NULL);
    CHECK(strchr(info.detail, '\n') == NULL);
    CHECK_EQ(0, stub_objects());
}

Test(verbs_check, nothing_is_missing)
{
    make("rdma_cm");
    make(STUB_NODE);
    expect(ITX_OBSTACLE_NONE, "");
}

Test(verbs_check, no_device)
{
    stub.no_device = true;
    expect(ITX_OBSTACLE_DEVICE, "empty");
    CHECK(rmdir(folder) == 0);
    expect(ITX_OBSTACLE_DEVICE, "not there");
    CHECK(mkdir(folder, 0700) == 0);
}

Test(verbs_check, a_device_without_a_driver)
{
    stub.no_device = true;
    make(STUB_NAME);
    expect(ITX_OBSTACLE_NODE, "no device has a node in ");
    make(STUB_NODE);
    expect(ITX_OBSTACLE_DRIVER, "no driver");
}

Test(verbs_check, no_nodes)
{
    expect(ITX_OBSTACLE_NODE, "/rdma_cm is missing");
    make("rdma_cm");
    expect(ITX_OBSTACLE_NODE, "/" STUB_NODE " is missing");
}

Test(verbs_check, no_permission)
{
    make("rdma_cm");
    make(STUB_NODE);
    forbid(STUB_NODE);
    if (geteuid() == 0) { /* root may do all; another user must own the folder to clean up */
        CHECK(chmod(folder, 0777) == 0);
        CHECK(seteuid(65534) == 0);
    }
    expect(ITX_OBSTACLE_PERMISSION, "/rdma_cm");
    if (getuid() == 0)
        CHECK(seteuid(0) == 0);
}

Test(verbs_check, the_device_does_not_open)
{
    make("rdma_cm");
    make(STUB_NODE);
    stub.open_error = EACCES;
    expect(ITX_OBSTACLE_PERMISSION, STUB_NAME " cannot be opened");
    stub.open_error = EIO;
    expect(ITX_OBSTACLE_DEVICE, STUB_NAME " cannot be opened");
}

Test(verbs_check, too_little_locked_memory)
{
    struct rlimit limit;

    make("rdma_cm");
    make(STUB_NODE);
    CHECK(getrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    limit.rlim_cur = 65536;
    CHECK(setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
    expect(ITX_OBSTACLE_NONE, ""); /* the device's answer counts */
    stub.refuse_memory = true;
    expect(ITX_OBSTACLE_LOCKED_MEMORY, "limit of locked memory is 64 KiB");
}

Test(verbs_check, counters_of_an_endpoint)
{
    struct stub_node node;
    struct stub_shape shape = {.events = 0};
    struct itx_ep_counters counters;

    memset(&counters, 0, sizeof(counters));
    counters.size = sizeof(counters);
    stub_node_pair(&node, &shape);
    for (uint64_t i = 0; i < 3; i++)
        fx_recv(node.b, &node.buf, 0, 64, i);
    fx_send(node.a, &node.buf, 64, 64, 9, FX_SIGNAL);
    CHECK_OK(itx_ep_stats(node.a, &counters));
    CHECK_EQ(1, counters.requests_posted);
    CHECK_EQ(0, counters.requests_done);
    fx_done(node.fx.request_evd, node.a, IT_DTO_SEND_CMPL_EVENT, 9, IT_DTO_SUCCESS);
    fx_done_len(node.fx.recv_evd, node.b, IT_DTO_RC_RECV_CMPL_EVENT, 0, 64);
    CHECK_OK(itx_ep_stats(node.a, &counters));
    CHECK_EQ(1, counters.requests_done);
    CHECK_EQ(0, counters.bytes_sent);
    CHECK_OK(itx_ep_stats(node.b, &counters));
    CHECK_EQ(3, counters.receives_posted);
    CHECK_EQ(1, counters.receives_done);
    stub_node_close(&node);
}

/* Returns the device as it_interface_list tells of it, or NULL. */
static const it_interface_t *listed(void)
{
    static it_interface_t list[8];
    size_t count = sizeof(list) / sizeof(list[0]), total = 0;

    it_interface_list(list, &count, &total);
    CHECK_EQ(count, total);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].name, STUB_NAME) == 0)
            return &list[i];
    }
    return NULL;
}

Test(verbs_check, the_list_of_interfaces)
{
    CHECK_EQ(IT_IB_TRANSPORT, listed()->transport_type);
    stub.like_iwarp = true;
    CHECK_EQ(IT_IWARP_TCP_TRANSPORT, listed()->transport_type);
    stub.no_device = true;
    CHECK(listed() == NULL);
}
