/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs as root: what a program sees that may not use the device, lacks its nodes, or may not lock
 * memory. Each case is a process with its own nodes in its own /dev.
 */
#include "support/it_fixture.h"
#include "trouble/said.h"
#include "trouble/small.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NODES       "/dev/infiniband"
#define NODES_MAX   32
#define NOBODY      65534
#define LOCKED      (16u * 1024)
#define MORE        (1024u * 1024)
#define INTERFACES  64
#define PATH_LENGTH 128

static char device[IT_INTERFACE_NAME_SIZE];

/* ---------------------------------------------------------------- its surroundings */

struct node {
    char name[64];
    dev_t number;
};

static size_t nodes_read(struct node nodes[NODES_MAX])
{
    DIR *folder = opendir(NODES);
    struct dirent *entry;
    size_t count = 0;

    CHECK(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        char path[PATH_LENGTH];
        struct stat info;

        (void)snprintf(path, sizeof(path), NODES "/%.60s", entry->d_name);
        if (stat(path, &info) != 0 || !S_ISCHR(info.st_mode))
            continue;
        CHECK(count < NODES_MAX);
        (void)snprintf(nodes[count].name, sizeof(nodes[count].name), "%.60s", entry->d_name);
        nodes[count++].number = info.st_rdev;
    }
    (void)closedir(folder);
    return count;
}

/* Gives this process its own nodes with these modes; 0: no nodes. */
static void nodes_replace(mode_t devices, mode_t rdma_cm)
{
    struct node nodes[NODES_MAX];
    size_t count = nodes_read(nodes);

    CHECK(count > 1);
    CHECK_EQ(0, unshare(CLONE_NEWNS));
    CHECK_EQ(0, mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
    CHECK_EQ(0, mount("nodes", NODES, "tmpfs", 0, "mode=755"));
    for (size_t i = 0; i < count; i++) {
        mode_t mode = strcmp(nodes[i].name, "rdma_cm") == 0 ? rdma_cm : devices;
        char path[PATH_LENGTH];

        if (mode == 0)
            continue;
        (void)snprintf(path, sizeof(path), NODES "/%.60s", nodes[i].name);
        CHECK_EQ(0, mknod(path, S_IFCHR | mode, nodes[i].number));
        CHECK_EQ(0, chmod(path, mode)); /* the umask applied above */
    }
}

static bool is_listed(void)
{
    it_interface_t interfaces[INTERFACES];
    size_t count = INTERFACES;
    size_t total = 0;
    bool listed = false;

    it_interface_list(interfaces, &count, &total);
    for (size_t i = 0; i < count; i++)
        listed = listed || strcmp(interfaces[i].name, device) == 0;
    return listed;
}

/* All files that need root have been read. */
static void become_nobody(void)
{
    (void)is_listed();
    CHECK_EQ(0, setresgid(NOBODY, NOBODY, NOBODY));
    CHECK_EQ(0, setresuid(NOBODY, NOBODY, NOBODY));
}

static void uiwarp_works(void)
{
    struct fx_pair pair;

    CHECK_EQ(0, unsetenv("ITAPI_TEST_INTERFACE"));
    CHECK_EQ(0, unsetenv("ITAPI_TEST_ADDRESS"));
    fx_pair_open(&pair);
    fx_pair_ping(&pair);
    fx_pair_close(&pair);
    said_nothing();
}

static void refused(it_status_t status, const char *reason)
{
    it_ia_handle_t ia = NULL;

    CHECK_STATUS(status, it_ia_create(device, 2, 1, &ia));
    CHECK(ia == NULL);
    said_once(reason);
}

/* ---------------------------------------------------------------- cases */

static void no_nodes(void)
{
    nodes_replace(0, 0);
    CHECK(!is_listed());
    refused(IT_ERR_INVALID_NAME, "no device has a node in " NODES);
    uiwarp_works();
}

/* The device can be opened, but rdma_cm cannot be used. */
static void no_rdma_cm(void)
{
    nodes_replace(0666, 0);
    CHECK(is_listed());
    refused(IT_ERR_RESOURCES, NODES "/rdma_cm");
    uiwarp_works();
}

static void no_permission(void)
{
    nodes_replace(0600, 0600);
    become_nobody();
    CHECK(is_listed());
    refused(IT_ERR_NO_PERMISSION, "Permission denied");
    uiwarp_works();
}

static void no_permission_to_connect(void)
{
    nodes_replace(0666, 0600);
    become_nobody();
    refused(IT_ERR_NO_PERMISSION, NODES "/rdma_cm");
    uiwarp_works();
}

static void no_such_device(void)
{
    it_ia_handle_t ia = NULL;

    CHECK_STATUS(IT_ERR_INVALID_NAME, it_ia_create("no_such_device", 2, 1, &ia));
    said_once("no_such_device");
    uiwarp_works();
}

/*
 * Small memory can be registered, all objects can be made, and large memory can when there is room.
 */
static void memory_lock_limit(void)
{
    const struct rlimit low = {LOCKED, LOCKED};
    unsigned char *memory = malloc(MORE);
    it_lmr_handle_t lmr = NULL;
    it_rmr_context_t key;
    struct fx_node node;
    struct fx_buf buf;

    CHECK(memory != NULL);
    nodes_replace(0666, 0666);
    become_nobody();
    CHECK_EQ(0, setrlimit(RLIMIT_MEMLOCK, &low));
    fx_node_open(&node);
    buf = fx_buf_make(&node, 100);
    said_nothing();
    for (int again = 0; again < 2; again++) {
        CHECK_STATUS(IT_ERR_RESOURCES,
                     it_lmr_create21(node.pz, memory, NULL, MORE, IT_ADDR_MODE_ABSOLUTE,
                                     IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, &key));
        CHECK(lmr == NULL);
        said_once("limit of locked memory: 16 KiB");
    }
    CHECK_OK(it_ep_free(small_ep(&node)));
    fx_buf_free(&buf);
    fx_node_close(&node);
    free(memory);
    said_nothing();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"no nodes", no_nodes},
    {"no rdma_cm", no_rdma_cm},
    {"no permission", no_permission},
    {"no permission to connect", no_permission_to_connect},
    {"no such device", no_such_device},
    {"memory lock limit", memory_lock_limit},
};

int main(void)
{
    int failed = 0;

    (void)snprintf(device, sizeof(device), "%s", fx_interface());
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pid_t child = fork();
        int status;

        CHECK(child != -1);
        if (child == 0) {
            check_context(cases[i].name);
            said_begin();
            cases[i].run();
            exit(0);
        }
        CHECK_EQ(child, waitpid(child, &status, 0));
        (void)printf("%s: %s\n", cases[i].name, status == 0 ? "passed" : "FAILED");
        (void)fflush(stdout);
        failed += status != 0;
    }
    return failed == 0 ? 0 : 1;
}
