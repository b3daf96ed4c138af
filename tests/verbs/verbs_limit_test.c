/* SPDX-License-Identifier: BSD-2-Clause */
/* The limit of locked memory: its message, and an endpoint for which the device lacks memory. */
#include "verbs/stub_node.h"

#include "vp/verbs/device/verbs_ep.h"
#include "vp/verbs/memory/verbs_memory.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#define ALL_QPS 100

TestSuite(verbs_limit, .init = stub_start);

static void limit_memory(rlim_t octets)
{
    struct rlimit limit;

    CHECK_EQ(0, getrlimit(RLIMIT_MEMLOCK, &limit));
    limit.rlim_cur = octets;
    CHECK_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
}

Test(verbs_limit, is_named)
{
    char text[VERBS_LIMIT_TEXT];

    limit_memory(16384);
    CHECK(strstr(verbs_limit_text(ENOMEM, text), "limit of locked memory: 16 KiB") != NULL);
    CHECK(strstr(verbs_limit_text(EAGAIN, text), "16 KiB") != NULL);
    CHECK_EQ(0, strlen(verbs_limit_text(EINVAL, text)));
}

Test(verbs_limit, no_endpoint)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct stub_shape shape = {.events = 0};
    it_ep_handle_t ep = NULL;
    struct stub_node node;
    size_t before;

    limit_memory(16384);
    stub_node_open(&node, &shape);
    CHECK_OK(it_ep_free(stub_node_ep(&node, &shape))); /* the CQs of this endpoint stay */
    before = stub_objects();
    stub.refuse_qps = ALL_QPS;
    attr.max_request_dtos = 16; /* as above */
    attr.max_recv_dtos = 16;
    CHECK_STATUS(IT_ERR_RESOURCES,
                 it_ep_rc_create(node.fx.pz, node.fx.request_evd, node.fx.recv_evd,
                                 node.fx.conn_evd, IT_EP_NO_FLAG, &attr, &ep));
    CHECK(ep == NULL);
    CHECK_EQ(before, stub_objects());
    stub.refuse_qps = 0;
    CHECK_OK(it_ep_free(stub_node_ep(&node, &shape)));
    stub_node_close(&node);
}
