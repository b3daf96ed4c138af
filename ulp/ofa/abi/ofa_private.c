/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symbols that drivers of rdma-core use. perftest, UCX and libfabric are linked with two drivers
 * (libmlx5, libefa). These register when they are loaded and need all their symbols, or the program
 * does not start. No driver ever gets a device here.
 */
#include "support/ofa_log.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>

/* ---- With an answer ------------------------------------------------------------------------- */

enum {
    GID_TYPE_SYSFS_ROCE_V2 = 1
};

extern bool verbs_allow_disassociate_destroy;
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
                       int *type);
int ibv_read_ibdev_sysfs_file(char *buf, size_t size, const void *device, const char *format, ...);
void verbs_register_driver_34(const void *ops);
void verbs_set_ops(void *context, const void *ops);
void verbs_uninit_context(void *context);
void verbs_init_cq(void *cq, void *context, void *channel, void *cq_context);
void *verbs_open_device(void *device, void *private_data);
void *_verbs_init_and_alloc_context(void *device, int cmd_fd, size_t size, void *cmd,
                                    uint32_t driver);
unsigned int __ioctl_final_num_attrs(unsigned int count);
void __verbs_log(void *context, uint32_t level, const char *format, ...);

bool verbs_allow_disassociate_destroy;

int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index, int *type)
{
    (void)context;
    (void)port_num;
    (void)index;
    *type = GID_TYPE_SYSFS_ROCE_V2;
    return 0;
}

int ibv_read_ibdev_sysfs_file(char *buf, size_t size, const void *device, const char *format, ...)
{
    (void)buf;
    (void)size;
    (void)device;
    (void)format;
    return -1;
}

void verbs_register_driver_34(const void *ops)
{
    (void)ops;
}

void verbs_set_ops(void *context, const void *ops)
{
    (void)context;
    (void)ops;
}

void verbs_uninit_context(void *context)
{
    (void)context;
}

void verbs_init_cq(void *cq, void *context, void *channel, void *cq_context)
{
    (void)cq;
    (void)context;
    (void)channel;
    (void)cq_context;
}

void *verbs_open_device(void *device, void *private_data)
{
    (void)device;
    (void)private_data;
    (void)ofa_absent(__func__, EOPNOTSUPP);
    return NULL;
}

void *_verbs_init_and_alloc_context(void *device, int cmd_fd, size_t size, void *cmd,
                                    uint32_t driver)
{
    (void)device;
    (void)cmd_fd;
    (void)size;
    (void)cmd;
    (void)driver;
    (void)ofa_absent(__func__, EOPNOTSUPP);
    return NULL;
}

unsigned int __ioctl_final_num_attrs(unsigned int count)
{
    return count;
}

void __verbs_log(void *context, uint32_t level, const char *format, ...)
{
    (void)context;
    (void)level;
    (void)format;
}

/* ---- Commands for a kernel driver ----------------------------------------------------------- */

#define ABSENT(name)                                                                               \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return ofa_absent(#name, EOPNOTSUPP);                                                      \
    }

ABSENT(execute_ioctl)
ABSENT(ibv_cmd_advise_mr)
ABSENT(ibv_cmd_alloc_dm)
ABSENT(ibv_cmd_alloc_mw)
ABSENT(ibv_cmd_alloc_pd)
ABSENT(ibv_cmd_attach_mcast)
ABSENT(ibv_cmd_close_xrcd)
ABSENT(ibv_cmd_create_ah)
ABSENT(ibv_cmd_create_counters)
ABSENT(ibv_cmd_create_cq)
ABSENT(ibv_cmd_create_cq_ex)
ABSENT(ibv_cmd_create_flow)
ABSENT(ibv_cmd_create_flow_action_esp)
ABSENT(ibv_cmd_create_qp)
ABSENT(ibv_cmd_create_qp_ex2)
ABSENT(ibv_cmd_create_qp_ex)
ABSENT(ibv_cmd_create_rwq_ind_table)
ABSENT(ibv_cmd_create_srq)
ABSENT(ibv_cmd_create_srq_ex)
ABSENT(ibv_cmd_create_wq)
ABSENT(ibv_cmd_dealloc_mw)
ABSENT(ibv_cmd_dealloc_pd)
ABSENT(ibv_cmd_dereg_mr)
ABSENT(ibv_cmd_destroy_ah)
ABSENT(ibv_cmd_destroy_counters)
ABSENT(ibv_cmd_destroy_cq)
ABSENT(ibv_cmd_destroy_flow)
ABSENT(ibv_cmd_destroy_flow_action)
ABSENT(ibv_cmd_destroy_qp)
ABSENT(ibv_cmd_destroy_rwq_ind_table)
ABSENT(ibv_cmd_destroy_srq)
ABSENT(ibv_cmd_destroy_wq)
ABSENT(ibv_cmd_detach_mcast)
ABSENT(ibv_cmd_free_dm)
ABSENT(ibv_cmd_get_context)
ABSENT(ibv_cmd_modify_cq)
ABSENT(ibv_cmd_modify_flow_action_esp)
ABSENT(ibv_cmd_modify_qp)
ABSENT(ibv_cmd_modify_qp_ex)
ABSENT(ibv_cmd_modify_srq)
ABSENT(ibv_cmd_modify_wq)
ABSENT(ibv_cmd_open_qp)
ABSENT(ibv_cmd_open_xrcd)
ABSENT(ibv_cmd_poll_cq)
ABSENT(ibv_cmd_post_recv)
ABSENT(ibv_cmd_post_send)
ABSENT(ibv_cmd_post_srq_recv)
ABSENT(ibv_cmd_query_context)
ABSENT(ibv_cmd_query_device_any)
ABSENT(ibv_cmd_query_mr)
ABSENT(ibv_cmd_query_port)
ABSENT(ibv_cmd_query_qp)
ABSENT(ibv_cmd_query_srq)
ABSENT(ibv_cmd_read_counters)
ABSENT(ibv_cmd_reg_dm_mr)
ABSENT(ibv_cmd_reg_dmabuf_mr)
ABSENT(ibv_cmd_reg_mr)
ABSENT(ibv_cmd_req_notify_cq)
ABSENT(ibv_cmd_rereg_mr)
ABSENT(ibv_cmd_resize_cq)

/* ---- Structs of the kernel, for librdmacm of rdma-core -------------------------------------- */

ABSENT(ibv_copy_ah_attr_from_kern)
ABSENT(ibv_copy_path_rec_from_kern)
ABSENT(ibv_copy_path_rec_to_kern)
ABSENT(ibv_copy_qp_attr_from_kern)
