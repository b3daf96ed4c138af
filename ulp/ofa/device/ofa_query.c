/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of a device and its port. */
#include "device/ofa_device.h"
#include "port/ofa_gid.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#undef ibv_query_port

#define VENDOR_ID   0x69746au /* "itj": belongs to no manufacturer */
#define PART_ID     0x0001
#define WIDTH_4X    2
#define SPEED_10    4
#define LINK_UP     5
#define LINK_OFF    3
#define PKEY        0xffff
#define PORT_NUMBER 1

/* ---- Device --------------------------------------------------------------------------------- */

static void fill_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    *attr = (struct ibv_device_attr){
        .node_guid = ibv_get_device_guid(context->device),
        .sys_image_guid = ibv_get_device_guid(context->device),
        .max_mr_size = UINT64_C(1) << 63,
        .page_size_cap = 0xfffff000,
        .vendor_id = VENDOR_ID,
        .vendor_part_id = PART_ID,
        .hw_ver = 1,
        .max_qp = OFA_MAX_QP,
        .max_qp_wr = OFA_MAX_QP_WR,
        .device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
                            IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_MEM_WINDOW |
                            IBV_DEVICE_MEM_WINDOW_TYPE_2B | IBV_DEVICE_MEM_MGT_EXTENSIONS,
        .max_sge = OFA_MAX_SGE,
        .max_sge_rd = OFA_MAX_SGE,
        .max_cq = OFA_MAX_CQ,
        .max_cqe = OFA_MAX_CQE,
        .max_mr = OFA_MAX_MR,
        .max_pd = OFA_MAX_PD,
        .max_qp_rd_atom = OFA_MAX_RD_ATOM,
        .max_res_rd_atom = OFA_MAX_RD_ATOM * OFA_MAX_QP,
        .max_qp_init_rd_atom = OFA_MAX_RD_ATOM,
        .atomic_cap = IBV_ATOMIC_HCA,
        .max_mw = OFA_MAX_MR,
        .max_ah = OFA_MAX_QP,
        .max_srq = OFA_MAX_SRQ,
        .max_srq_wr = OFA_MAX_SRQ_WR,
        .max_srq_sge = OFA_MAX_SGE,
        .max_pkeys = 1,
        .phys_port_cnt = PORT_NUMBER,
    };
    (void)snprintf(attr->fw_ver, sizeof(attr->fw_ver), "%s", itx_version());
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    fill_device(context, attr);
    return 0;
}

int ofa_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                        struct ibv_device_attr_ex *attr, size_t length)
{
    struct ibv_device_attr_ex all;

    if (input && input->comp_mask != 0)
        return EINVAL;
    memset(&all, 0, sizeof(all));
    fill_device(context, &all.orig_attr);
    all.phys_port_cnt_ex = PORT_NUMBER;
    memset(attr, 0, length);
    memcpy(attr, &all, length < sizeof(all) ? length : sizeof(all));
    return 0;
}

/* ---- Port ----------------------------------------------------------------------------------- */

int ofa_query_port(struct ibv_context *base, uint8_t port_num, struct ibv_port_attr *attr,
                   size_t length)
{
    const struct ofa_device *device = ofa_context_of(base)->device;
    struct ofa_gid table[OFA_MAX_GIDS];
    bool up = ofa_port_is_up(device);
    struct ibv_port_attr all = {
        .state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN,
        .max_mtu = IBV_MTU_4096,
        .active_mtu = IBV_MTU_4096,
        .gid_tbl_len = ofa_gid_table(device, table),
        .max_msg_sz = OFA_MAX_MESSAGE,
        .pkey_tbl_len = 1,
        .lid = ofa_port_lid(device),
        .max_vl_num = 1,
        .active_width = WIDTH_4X,
        .active_speed = SPEED_10,
        .phys_state = up ? LINK_UP : LINK_OFF,
        .link_layer = IBV_LINK_LAYER_ETHERNET,
    };

    if (port_num != PORT_NUMBER)
        return EINVAL;
    memset(attr, 0, length);
    memcpy(attr, &all, length < sizeof(all) ? length : sizeof(all));
    return 0;
}

/* For programs built before the extended table, which know the members up to .flags. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
                   struct _compat_ibv_port_attr *attr)
{
    return ofa_query_port(context, port_num, (struct ibv_port_attr *)(void *)attr,
                          offsetof(struct ibv_port_attr, flags) + 1);
}

/* ---- GIDs and partition keys ---------------------------------------------------------------- */

/* Returns false if there is no such entry. */
static bool find_gid(struct ibv_context *context, uint32_t index, struct ofa_gid *gid)
{
    struct ofa_gid table[OFA_MAX_GIDS];
    int count = ofa_gid_table(ofa_context_of(context)->device, table);

    if (index >= (uint32_t)count)
        return false;
    *gid = table[index];
    return true;
}

static void fill_entry(const struct ofa_gid *gid, uint32_t index, struct ibv_gid_entry *entry)
{
    *entry = (struct ibv_gid_entry){.gid = gid->gid,
                                    .gid_index = index,
                                    .port_num = PORT_NUMBER,
                                    .gid_type = IBV_GID_TYPE_ROCE_V2,
                                    .ndev_ifindex = gid->ifindex};
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
    struct ofa_gid found;

    if (port_num != PORT_NUMBER || index < 0 || !find_gid(context, (uint32_t)index, &found)) {
        errno = EINVAL;
        return -1;
    }
    *gid = found.gid;
    return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
    struct ibv_gid_entry all;
    struct ofa_gid found;

    if (flags != 0 || port_num != PORT_NUMBER || entry_size < sizeof(all) ||
        !find_gid(context, index, &found))
        return EINVAL;
    fill_entry(&found, index, &all);
    memset(entry, 0, entry_size);
    memcpy(entry, &all, sizeof(all));
    return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
                             size_t max_entries, uint32_t flags, size_t entry_size)
{
    struct ofa_gid table[OFA_MAX_GIDS];
    int count = ofa_gid_table(ofa_context_of(context)->device, table);

    if (flags != 0 || entry_size < sizeof(*entries) || max_entries < (size_t)count)
        return -EINVAL;
    for (int i = 0; i < count; i++) {
        struct ibv_gid_entry all;
        char *place = (char *)entries + (size_t)i * entry_size;

        fill_entry(&table[i], (uint32_t)i, &all);
        memset(place, 0, entry_size);
        memcpy(place, &all, sizeof(all));
    }
    return count;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
    (void)context;
    if (port_num != PORT_NUMBER || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = htobe16(PKEY);
    return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
    (void)context;
    if (port_num == PORT_NUMBER && pkey == htobe16(PKEY))
        return 0;
    errno = EINVAL;
    return -1;
}
