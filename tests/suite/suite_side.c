/* SPDX-License-Identifier: BSD-2-Clause */
#include "suite/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void enter(const char *net_namespace)
{
    char path[128];
    int fd;

    (void)snprintf(path, sizeof(path), "/run/netns/%s", net_namespace);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd == -1 || setns(fd, CLONE_NEWNET) != 0)
        CHECK_FAIL("no way into the namespace %s: %s", net_namespace, strerror(errno));
    (void)close(fd);
}

/* Each side learns the other's features before it decides. */
static void skip_if_lacking(struct suite_side *side, const struct suite_case *that,
                            const struct suite_place *own, const struct suite_place *other)
{
    uint32_t own_needs = that->needs | (side->near ? that->near_needs : that->far_needs);
    uint32_t other_needs = that->needs | (side->near ? that->far_needs : that->near_needs);
    uint32_t own_lacks = own_needs & ~side->has;
    uint32_t lacks = own_lacks != 0 ? own_lacks : other_needs & ~side->other_has;

    if (lacks == 0)
        return;
    if (side->near) {
        printf("skipped: %s: %s has no %s\n", that->name,
               own_lacks != 0 ? own->interface : other->interface,
               suite_feature_name(lacks & ~(lacks - 1)));
    }
    exit(SUITE_SKIPPED);
}

void suite_side_run(const struct suite_case *that, bool near, int pipe,
                    const struct suite_place *own, const struct suite_place *other)
{
    struct suite_side side;
    char about[96];

    (void)snprintf(about, sizeof(about), "%s, %s side", that->name, near ? "near" : "far");
    check_context(about);
    memset(&side, 0, sizeof(side));
    side.near = near;
    side.pipe = pipe;
    side.other_address = fx_address_from(other->address);
    side.features.size = sizeof(side.features);
    if (own->net_namespace != NULL)
        enter(own->net_namespace);
    CHECK(setenv("ITAPI_TEST_INTERFACE", own->interface, 1) == 0);
    CHECK(setenv("ITAPI_TEST_ADDRESS", own->address, 1) == 0);

    fx_node_open(&side.node);
    CHECK_OK(it_ia_query(side.node.ia, &side.info));
    CHECK_OK(itx_ia_query_features(side.node.ia, &side.features));
    side.has = suite_features(side.info, &side.features);
    suite_tell(&side, &side.has, sizeof(side.has));
    suite_hear(&side, &side.other_has, sizeof(side.other_has));
    skip_if_lacking(&side, that, own, other);

    (near ? that->near : that->far)(&side);
    it_ia_info_free(side.info);
    if (side.node.ia != NULL)
        fx_node_close(&side.node);
    check_context(NULL);
    check_done();
    exit(0);
}
