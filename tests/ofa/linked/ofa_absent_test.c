/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that exist for the list of symbols, and calls that are not supported, say so. */
#include "support/check.h"

#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Commands for drivers of the kernel. */
static const char *const commands[] = {"execute_ioctl",
                                       "ibv_cmd_advise_mr",
                                       "ibv_cmd_alloc_dm",
                                       "ibv_cmd_alloc_mw",
                                       "ibv_cmd_alloc_pd",
                                       "ibv_cmd_attach_mcast",
                                       "ibv_cmd_close_xrcd",
                                       "ibv_cmd_create_ah",
                                       "ibv_cmd_create_counters",
                                       "ibv_cmd_create_cq",
                                       "ibv_cmd_create_cq_ex",
                                       "ibv_cmd_create_flow",
                                       "ibv_cmd_create_flow_action_esp",
                                       "ibv_cmd_create_qp",
                                       "ibv_cmd_create_qp_ex2",
                                       "ibv_cmd_create_qp_ex",
                                       "ibv_cmd_create_rwq_ind_table",
                                       "ibv_cmd_create_srq",
                                       "ibv_cmd_create_srq_ex",
                                       "ibv_cmd_create_wq",
                                       "ibv_cmd_dealloc_mw",
                                       "ibv_cmd_dealloc_pd",
                                       "ibv_cmd_dereg_mr",
                                       "ibv_cmd_destroy_ah",
                                       "ibv_cmd_destroy_counters",
                                       "ibv_cmd_destroy_cq",
                                       "ibv_cmd_destroy_flow",
                                       "ibv_cmd_destroy_flow_action",
                                       "ibv_cmd_destroy_qp",
                                       "ibv_cmd_destroy_rwq_ind_table",
                                       "ibv_cmd_destroy_srq",
                                       "ibv_cmd_destroy_wq",
                                       "ibv_cmd_detach_mcast",
                                       "ibv_cmd_free_dm",
                                       "ibv_cmd_get_context",
                                       "ibv_cmd_modify_cq",
                                       "ibv_cmd_modify_flow_action_esp",
                                       "ibv_cmd_modify_qp",
                                       "ibv_cmd_modify_qp_ex",
                                       "ibv_cmd_modify_srq",
                                       "ibv_cmd_modify_wq",
                                       "ibv_cmd_open_qp",
                                       "ibv_cmd_open_xrcd",
                                       "ibv_cmd_poll_cq",
                                       "ibv_cmd_post_recv",
                                       "ibv_cmd_post_send",
                                       "ibv_cmd_post_srq_recv",
                                       "ibv_cmd_query_context",
                                       "ibv_cmd_query_device_any",
                                       "ibv_cmd_query_mr",
                                       "ibv_cmd_query_port",
                                       "ibv_cmd_query_qp",
                                       "ibv_cmd_query_srq",
                                       "ibv_cmd_read_counters",
                                       "ibv_cmd_reg_dm_mr",
                                       "ibv_cmd_reg_dmabuf_mr",
                                       "ibv_cmd_reg_mr",
                                       "ibv_cmd_req_notify_cq",
                                       "ibv_cmd_rereg_mr",
                                       "ibv_cmd_resize_cq",
                                       "ibv_copy_ah_attr_from_kern",
                                       "ibv_copy_path_rec_from_kern",
                                       "ibv_copy_path_rec_to_kern",
                                       "ibv_copy_qp_attr_from_kern"};

/* Of the first version, whose structs are others. */
static const char *const first[] = {
    "ibv_ack_async_event",  "ibv_ack_cq_events",   "ibv_alloc_pd",     "ibv_attach_mcast",
    "ibv_close_device",     "ibv_create_ah",       "ibv_create_cq",    "ibv_create_qp",
    "ibv_create_srq",       "ibv_dealloc_pd",      "ibv_dereg_mr",     "ibv_destroy_ah",
    "ibv_destroy_cq",       "ibv_destroy_qp",      "ibv_destroy_srq",  "ibv_detach_mcast",
    "ibv_free_device_list", "ibv_get_async_event", "ibv_get_cq_event", "ibv_get_device_guid",
    "ibv_get_device_list",  "ibv_get_device_name", "ibv_modify_qp",    "ibv_modify_srq",
    "ibv_open_device",      "ibv_query_device",    "ibv_query_gid",    "ibv_query_pkey",
    "ibv_query_port",       "ibv_query_qp",        "ibv_query_srq",    "ibv_reg_mr",
    "ibv_resize_cq"};

static long call(const char *name, const char *version)
{
    void *symbol = version ? dlvsym(RTLD_DEFAULT, name, version) : dlsym(RTLD_DEFAULT, name);

    if (!symbol)
        CHECK_FAIL("%s is missing", name);
    errno = 0;
    return ((long (*)(void))symbol)();
}

static void check_symbols(void)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        CHECK_EQ(EOPNOTSUPP, (int)call(commands[i], NULL));
        CHECK_EQ(EOPNOTSUPP, errno);
    }
    for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
        CHECK_EQ(0, call(first[i], "IBVERBS_1.0"));
        CHECK_EQ(ENOSYS, errno);
    }
    CHECK_EQ(0, call("ibv_register_driver", "IBVERBS_1.1"));
}

#define REFUSED(call, result)                                                                      \
    do {                                                                                           \
        errno = 0;                                                                                 \
        CHECK(result == (call));                                                                   \
        CHECK_EQ(EOPNOTSUPP, errno);                                                               \
    } while (0)

static void check_calls(void)
{
    union ibv_gid gid = {.raw = {0}};
    struct ibv_ece ece;

    REFUSED(ibv_attach_mcast(NULL, &gid, 0), EOPNOTSUPP);
    REFUSED(ibv_detach_mcast(NULL, &gid, 0), EOPNOTSUPP);
    REFUSED(ibv_reg_dmabuf_mr(NULL, 0, 1, 0, 0, 0), NULL);
    REFUSED(ibv_import_pd(NULL, 0), NULL);
    REFUSED(ibv_import_mr(NULL, 0), NULL);
    REFUSED(ibv_import_dm(NULL, 0), NULL);
    REFUSED(ibv_query_ece(NULL, &ece), EOPNOTSUPP);
    REFUSED(ibv_set_ece(NULL, &ece), EOPNOTSUPP);
    REFUSED(rdma_join_multicast(NULL, NULL, NULL), -1);
    REFUSED(rdma_join_multicast_ex(NULL, NULL, NULL), -1);
    CHECK_EQ(-1, rdma_leave_multicast(NULL, NULL));
    CHECK_EQ(EADDRNOTAVAIL, errno);
    CHECK_EQ(0, ibv_query_qp_data_in_order(NULL, IBV_WR_SEND, 0));
    CHECK_EQ(0, ibv_fork_init());
    CHECK_EQ(IBV_FORK_UNNEEDED, ibv_is_fork_initialized());
    ibv_unimport_pd(NULL);
    ibv_unimport_mr(NULL);
    ibv_unimport_dm(NULL);
}

/* Operations of the table, which programs reach by inline functions. */
static void call_operations(struct ibv_context *context)
{
    struct ibv_pd pd = {.context = context};
    struct ibv_cq cq = {.context = context};
    struct ibv_qp qp = {.context = context};
    struct ibv_srq srq = {.context = context};
    struct ibv_ops_wr request = {.wr_id = 1};
    struct ibv_ops_wr *bad = NULL;

    REFUSED(ibv_open_xrcd(context, &(struct ibv_xrcd_init_attr){0}), NULL);
    REFUSED(ibv_open_qp(context, &(struct ibv_qp_open_attr){0}), NULL);
    REFUSED(ibv_alloc_null_mr(&pd), NULL);
    REFUSED(ibv_alloc_dm(context, &(struct ibv_alloc_dm_attr){.length = 64}), NULL);
    REFUSED(ibv_create_counters(context, &(struct ibv_counters_init_attr){0}), NULL);
    REFUSED(ibv_create_flow(&qp, &(struct ibv_flow_attr){0}), NULL);
    REFUSED(ibv_create_flow_action_esp(context, &(struct ibv_flow_action_esp_attr){0}), NULL);
    REFUSED(ibv_create_wq(context, &(struct ibv_wq_init_attr){0}), NULL);
    REFUSED(ibv_create_rwq_ind_table(context, &(struct ibv_rwq_ind_table_init_attr){0}), NULL);
    REFUSED(ibv_advise_mr(&pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 0), EOPNOTSUPP);
    REFUSED(ibv_modify_cq(&cq, &(struct ibv_modify_cq_attr){0}), EOPNOTSUPP);
    REFUSED(ibv_modify_qp_rate_limit(&qp, &(struct ibv_qp_rate_limit_attr){0}), EOPNOTSUPP);
    REFUSED(ibv_query_rt_values_ex(context, &(struct ibv_values_ex){0}), EOPNOTSUPP);
    REFUSED(ibv_post_srq_ops(&srq, &request, &bad), EOPNOTSUPP);
    CHECK(bad == &request);
}

/* The log has a line for each of them. */
static void check_operations(void)
{
    struct ibv_device **devices = ibv_get_device_list(NULL);
    FILE *said = tmpfile();
    int usual = dup(STDERR_FILENO);
    struct ibv_context *context;
    unsigned lines = 0;
    char line[256];

    CHECK(devices && devices[0] && said && usual >= 0);
    context = ibv_open_device(devices[0]);
    CHECK(context != NULL);
    CHECK_EQ(0, setenv("ITAPI_LOG", "info", 1));
    CHECK(dup2(fileno(said), STDERR_FILENO) >= 0);
    call_operations(context);
    CHECK(dup2(usual, STDERR_FILENO) >= 0);
    CHECK_EQ(0, unsetenv("ITAPI_LOG"));
    rewind(said);
    while (fgets(line, sizeof(line), said))
        lines += strncmp(line, "itapi ofa: ibv_", 15) == 0 && strstr(line, " is not there") != NULL;
    CHECK_EQ(14, lines);
    CHECK_EQ(0, ibv_close_device(context));
    ibv_free_device_list(devices);
    (void)fclose(said);
    (void)close(usual);
}

/* Values that are unknown have a name, too. */
static void check_names(void)
{
    CHECK(ibv_node_type_str((enum ibv_node_type)99) != NULL);
    CHECK(ibv_port_state_str((enum ibv_port_state)99) != NULL);
    CHECK(ibv_event_type_str((enum ibv_event_type)99) != NULL);
    CHECK(ibv_wc_status_str((enum ibv_wc_status)99) != NULL);
    CHECK(rdma_event_str((enum rdma_cm_event_type)99) != NULL);
    for (int rate = 0; rate < 32; rate++) {
        int mult = ibv_rate_to_mult((enum ibv_rate)rate);
        int mbps = ibv_rate_to_mbps((enum ibv_rate)rate);

        CHECK(mult <= 0 || mult_to_ibv_rate(mult) != IBV_RATE_MAX);
        CHECK(mbps <= 0 || mbps_to_ibv_rate(mbps) != IBV_RATE_MAX);
    }
}

static void *symbol_of(const char *name)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    if (!symbol)
        CHECK_FAIL("%s is missing", name);
    return symbol;
}

/* What drivers and tools ask of the system. */
static void check_system(void)
{
    typedef int range_call(void *base, size_t size);
    typedef const char *path_call(void);
    typedef int read_call(const char *folder, const char *file, char *text, size_t size);
    read_call *read_file = (read_call *)symbol_of("ibv_read_sysfs_file");
    struct ibv_ah_attr attr = {.is_global = 1};
    uint8_t mac[6] = {1, 2, 3, 4, 5, 6};
    char text[64], longer[600];
    uint16_t vid = 0;

    CHECK_EQ(0, ((range_call *)symbol_of("ibv_dontfork_range"))(text, sizeof(text)));
    CHECK_EQ(0, ((range_call *)symbol_of("ibv_dofork_range"))(text, sizeof(text)));
    CHECK_EQ(0, unsetenv("SYSFS_PATH"));
    CHECK(strcmp("/sys", ((path_call *)symbol_of("ibv_get_sysfs_path"))()) == 0);
    CHECK_EQ(0, setenv("SYSFS_PATH", "/elsewhere", 1));
    CHECK(strcmp("/elsewhere", ((path_call *)symbol_of("ibv_get_sysfs_path"))()) == 0);
    CHECK_EQ(15, read_file("/proc/self", "comm", text, sizeof(text)));
    CHECK(strcmp("ofa_absent_test", text) == 0); /* without its newline */
    CHECK_EQ(4, read_file("/proc/self", "comm", text, 4));
    CHECK_EQ(-1, read_file("/proc/self", "nothing", text, sizeof(text)));
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    CHECK_EQ(-1, read_file("/proc", longer, text, sizeof(text)));
    CHECK_EQ(0, ibv_resolve_eth_l2_from_gid(NULL, &attr, mac, &vid));
    CHECK(mac[0] == 0 && mac[5] == 0 && vid == 0xffff);
}

int main(void)
{
    check_symbols();
    check_system();
    check_calls();
    check_operations();
    check_names();
    return 0;
}
