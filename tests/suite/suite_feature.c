/* SPDX-License-Identifier: BSD-2-Clause */
/* The features of an Interface, as it_ia_query and itx_ia_query_features report them. */
#include "suite/suite.h"

#include <string.h>

static const struct {
    uint32_t feature;
    const char *shortly;
    const char *name;
} names[] = {
    {SUITE_THREE_WAY, "three-way", "three-way connecting (three_way_handshake_support)"},
    {SUITE_TWO_WAY_ONLY, "two-way-only",
     "reason to refuse three-way connecting (three_way_handshake_support)"},
    {SUITE_PRIVATE_DATA, "private-data", "private data (private_data_support)"},
    {SUITE_DEPTHS, "depths", "read depths (ird_ord_ia_support)"},
    {SUITE_SRQ, "srq", "shared receive queues (srq_support)"},
    {SUITE_RELATIVE, "relative", "relative addresses (addr_mode_relative_support)"},
    {SUITE_NARROW, "narrow", "narrow RMRs (rmr_types_supported)"},
    {SUITE_WIDE, "wide", "wide RMRs (rmr_types_supported)"},
    {SUITE_SEND_UNLINK, "send-unlink", "Send with Invalidate (post_send_unlink_remote_support)"},
    {SUITE_LMR_UNLINK, "lmr-unlink", "Send with Invalidate that tells which LMR (iWARP, but siw)"},
    {SUITE_WINDOW_BOUNDS, "window-bounds", "check of a window's bounds (rxe)"},
    {SUITE_READ_NOTHING, "read-nothing", "right answer to Reads of no octets (siw)"},
    {SUITE_READ_RIGHT, "read-right", "need of a right for Reads (siw)"},
    {SUITE_READ_EXTENSIONS, "read-extensions", "Reads into RMRs (rdma_read_local_extensions)"},
    {SUITE_ATOMICS, "atomics", "atomic operations (atomic_support)"},
    {SUITE_SWAP, "swap", "atomic swap (itx_features.atomic_swap)"},
    {SUITE_IMMEDIATE, "immediate", "immediate values (itx_features.immediate_bits)"},
    {SUITE_DATAGRAMS, "datagrams", "datagrams (supported_service_types)"},
    {SUITE_ENABLES, "enables", "rights of EPs that can change (ep_rdma_enables_modifiable)"},
};

#define NAMES (sizeof(names) / sizeof(names[0]))

static bool is_siw(const it_ia_info_t *info)
{
    return info->transport_type == IT_IWARP_TCP_TRANSPORT && info->vendor.iwarp.valid_vid &&
           memcmp(info->vendor.iwarp.vid, "bmt", 3) == 0;
}

static bool is_rxe(const it_ia_info_t *info)
{
    return info->transport_type == IT_IB_TRANSPORT && info->vendor.ib.vendor == 0xffffff;
}

uint32_t suite_features(const it_ia_info_t *info, const struct itx_features *features)
{
    const struct {
        bool has;
        uint32_t feature;
    } all[] = {
        {info->three_way_handshake_support, SUITE_THREE_WAY},
        {!info->three_way_handshake_support, SUITE_TWO_WAY_ONLY},
        {info->private_data_support, SUITE_PRIVATE_DATA},
        {info->ird_ord_ia_support, SUITE_DEPTHS},
        {info->srq_support, SUITE_SRQ},
        {info->addr_mode_relative_support, SUITE_RELATIVE},
        {info->rmr_types_supported & IT_RMR_TYPE_NARROW, SUITE_NARROW},
        {info->rmr_types_supported & IT_RMR_TYPE_WIDE, SUITE_WIDE},
        {info->post_send_unlink_remote_support, SUITE_SEND_UNLINK},
        {info->post_send_unlink_remote_support && info->transport_type == IT_IWARP_TCP_TRANSPORT &&
             !is_siw(info),
         SUITE_LMR_UNLINK},
        {!is_siw(info), SUITE_READ_RIGHT},
        {!is_siw(info), SUITE_READ_NOTHING},
        {!is_rxe(info), SUITE_WINDOW_BOUNDS},
        {info->rdma_read_local_extensions, SUITE_READ_EXTENSIONS},
        {info->atomic_support, SUITE_ATOMICS},
        {features->atomic_swap, SUITE_SWAP},
        {features->immediate_bits != 0, SUITE_IMMEDIATE},
        {info->ep_rdma_enables_modifiable, SUITE_ENABLES},
        {(info->supported_service_types & IT_UD_SERVICE) != 0, SUITE_DATAGRAMS},
    };
    uint32_t has = 0;

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i].has)
            has |= all[i].feature;
    }
    return has;
}

const char *suite_feature_name(uint32_t feature)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (names[i].feature == feature)
            return names[i].name;
    }
    return "?";
}

uint32_t suite_feature_named(const char *name, size_t length)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (strlen(names[i].shortly) == length && memcmp(names[i].shortly, name, length) == 0)
            return names[i].feature;
    }
    return 0;
}
