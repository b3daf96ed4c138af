/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that do not need IT-API, and calls that are not supported. */
#include "object/ofa_object.h"
#include "support/ofa_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- fork: no page of the program is pinned ------------------------------------------------- */

int ibv_fork_init(void)
{
    return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

int ibv_dontfork_range(void *base, size_t size)
{
    (void)base;
    (void)size;
    return 0;
}

int ibv_dofork_range(void *base, size_t size)
{
    (void)base;
    (void)size;
    return 0;
}

/* ---- sysfs ---------------------------------------------------------------------------------- */

const char *ibv_get_sysfs_path(void);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);

const char *ibv_get_sysfs_path(void)
{
    const char *path = secure_getenv("SYSFS_PATH");

    return path ? path : "/sys";
}

int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
    char path[512];
    ssize_t length;
    int fd;

    if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
        return -1;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    length = read(fd, buf, size);
    (void)close(fd);
    if (length > 0 && buf[length - 1] == '\n')
        buf[--length] = '\0';
    else if (length >= 0 && (size_t)length < size)
        buf[length] = '\0';
    return (int)length;
}

/* ---- Ethernet ------------------------------------------------------------------------------- */

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
                                uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
    (void)context;
    (void)attr;
    memset(eth_mac, 0, ETHERNET_LL_SIZE);
    if (vid)
        *vid = 0xffff;
    return 0;
}

/* ---- Not supported -------------------------------------------------------------------------- */

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp;
    (void)gid;
    (void)lid;
    return ofa_absent(__func__, EOPNOTSUPP);
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp;
    (void)gid;
    (void)lid;
    return ofa_absent(__func__, EOPNOTSUPP);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
                                 int fd, int access)
{
    (void)pd;
    (void)offset;
    (void)length;
    (void)iova;
    (void)fd;
    (void)access;
    (void)ofa_absent(__func__, EOPNOTSUPP);
    return NULL;
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t handle)
{
    (void)context;
    (void)handle;
    (void)ofa_absent(__func__, EOPNOTSUPP);
    return NULL;
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
    (void)pd;
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
    (void)pd;
    (void)handle;
    (void)ofa_absent(__func__, EOPNOTSUPP);
    return NULL;
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
    (void)mr;
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t handle)
{
    (void)context;
    (void)handle;
    (void)ofa_absent(__func__, EOPNOTSUPP);
    return NULL;
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
    (void)dm;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    (void)ece;
    return ofa_absent(__func__, EOPNOTSUPP);
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    (void)ece;
    return ofa_absent(__func__, EOPNOTSUPP);
}

int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    (void)qp;
    (void)op;
    (void)flags;
    return 0;
}
