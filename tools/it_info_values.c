/* SPDX-License-Identifier: BSD-2-Clause */
#include "it_info_values.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *info_transport(it_transport_type_t type)
{
    switch (type) {
    case IT_IB_TRANSPORT:
        return "ib";
    case IT_VIA_IP_TRANSPORT:
        return "via-ip";
    case IT_VIA_FC_TRANSPORT:
        return "via-fc";
    case IT_IWARP_TCP_TRANSPORT:
        return "iwarp";
    case IT_VENDOR_TRANSPORT:
        return "vendor";
    }
    return "unknown";
}

const char *info_obstacle(itx_obstacle_t obstacle)
{
    static const char *const names[] = {
        [ITX_OBSTACLE_NONE] = "none",
        [ITX_OBSTACLE_MODULE] = "module",
        [ITX_OBSTACLE_LIBRARY] = "library",
        [ITX_OBSTACLE_DEVICE] = "device",
        [ITX_OBSTACLE_DRIVER] = "driver",
        [ITX_OBSTACLE_NODE] = "node",
        [ITX_OBSTACLE_PERMISSION] = "permission",
        [ITX_OBSTACLE_LOCKED_MEMORY] = "locked-memory",
    };

    return (size_t)obstacle < sizeof(names) / sizeof(names[0]) ? names[obstacle] : "unknown";
}

/* ---------------------------------------------------------------- vendor */

static void values_vendor_ib(const struct info_form *form, const it_vendor_ib_t *ib)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "0x%06" PRIx32, (uint32_t)ib->vendor);
    form->text("id", text);
    (void)snprintf(text, sizeof(text), "0x%04x", (unsigned)ib->device);
    form->text("device", text);
    form->number("revision", ib->revision);
}

/* Prints the octets as text if they are printable. */
static void values_vendor_iwarp(const struct info_form *form, const it_vendor_iwarp_tcp_t *iwarp)
{
    char text[2 * sizeof(iwarp->vid) + 1];
    size_t length = sizeof(iwarp->vid);
    bool readable = true;

    if (!iwarp->valid_vid)
        return;
    while (length > 0 && iwarp->vid[length - 1] == 0)
        length--;
    for (size_t i = 0; i < length; i++)
        readable &= iwarp->vid[i] >= ' ' && iwarp->vid[i] < 127;
    for (size_t i = 0; i < length; i++)
        (void)snprintf(text + (readable ? i : 2 * i), 3, readable ? "%c" : "%02x", iwarp->vid[i]);
    text[readable ? length : 2 * length] = '\0';
    form->text("id", text);
}

static void values_vendor(const struct info_form *form, const it_ia_info_t *info)
{
    form->group("vendor");
    if (info->transport_type == IT_IB_TRANSPORT)
        values_vendor_ib(form, &info->vendor.ib);
    else if (info->transport_type == IT_IWARP_TCP_TRANSPORT)
        values_vendor_iwarp(form, &info->vendor.iwarp);
    form->group_end();
}

/* ---------------------------------------------------------------- Spigots */

static void values_address(const struct info_form *form, const it_net_addr_t *address)
{
    char text[INET6_ADDRSTRLEN] = "unknown";

    if (address->addr_type == IT_IPV4)
        (void)inet_ntop(AF_INET, &address->addr.ipv4, text, sizeof(text)); /* fits */
    else if (address->addr_type == IT_IPV6)
        (void)inet_ntop(AF_INET6, &address->addr.ipv6, text, sizeof(text));
    else if (address->addr_type == IT_IB_GID && sizeof(address->addr.gid) >= 16)
        (void)inet_ntop(AF_INET6, &address->addr.gid, text, sizeof(text));
    form->text(NULL, text);
}

static void values_quals(const struct info_form *form, const char *name, it_conn_qual_type_t types)
{
    form->list(name);
    if (types & IT_IANA_PORT)
        form->text(NULL, "port");
    if (types & IT_IANA_LR_PORT)
        form->text(NULL, "local-and-remote-port");
    if (types & IT_IB_SERVICEID)
        form->text(NULL, "ib-service");
    form->list_end();
}

static void values_spigot(const struct info_form *form, const it_spigot_info_t *spigot)
{
    form->group(NULL);
    form->number("id", spigot->spigot_id);
    form->truth("online", spigot->spigot_online);
    form->number("max_send_bytes", spigot->max_rc_send_len);
    form->number("max_rdma_bytes", spigot->max_rc_rdma_len);
    form->number("max_datagram_bytes", spigot->max_ud_send_len);
    values_quals(form, "connect_to", spigot->active_side_conn_qual);
    values_quals(form, "listen_on", spigot->passive_side_conn_qual);
    form->list("addresses");
    for (size_t i = 0; i < spigot->num_net_addr; i++)
        values_address(form, &spigot->net_addr[i]);
    form->list_end();
    form->group_end();
}

/* ---------------------------------------------------------------- limits, features */

static void values_limits(const struct info_form *form, const it_ia_info_t *info,
                          const struct itx_features *features)
{
    form->group("limits");
    form->number("requests", features->max_request_dtos);
    form->number("receives", features->max_recv_dtos);
    form->number("shared_receives", features->max_srq_dtos);
    form->number("send_segments", features->max_send_segments);
    form->number("receive_segments", features->max_recv_segments);
    form->number("rdma_read_segments", features->max_rdma_read_segments);
    form->number("rdma_write_segments", features->max_rdma_write_segments);
    form->number("events", features->max_evd_events);
    form->number("message_bytes", features->max_message_bytes);
    form->number("lmr_bytes", features->max_lmr_bytes);
    form->number("ird", features->max_ird);
    form->number("ord", features->max_ord);
    form->number("connect_private_bytes", info->connect_private_data_len);
    form->number("accept_private_bytes", info->accept_private_data_len);
    form->number("reject_private_bytes", info->reject_private_data_len);
    form->number("disconnect_private_bytes", info->disconnect_private_data_len);
    form->number("alignment_hint_bytes", info->dto_alignment_hint);
    form->group_end();
}

static void values_features(const struct info_form *form, const it_ia_info_t *info,
                            const struct itx_features *features)
{
    form->group("features");
    form->truth("datagrams", info->supported_service_types & IT_UD_SERVICE);
    form->truth("socket_conversion", info->socket_conversion_support);
    form->truth("three_way_handshake", info->three_way_handshake_support);
    form->truth("depths_suppressible", info->ird_ord_suppressible);
    form->truth("shared_receive_queues", info->srq_support);
    form->truth("srq_resizable", info->srq_resizable);
    form->truth("soft_hi_watermark", info->soft_hi_watermark_support);
    form->truth("hard_hi_watermark", info->hard_hi_watermark_support);
    form->truth("narrow_rmrs", info->rmr_types_supported & IT_RMR_TYPE_NARROW);
    form->truth("wide_rmrs", info->rmr_types_supported & IT_RMR_TYPE_WIDE);
    form->truth("send_and_unlink", info->post_send_unlink_remote_support);
    form->truth("read_to_rmr", info->rdma_read_local_extensions);
    form->truth("relative_addressing", info->addr_mode_relative_support);
    form->truth("atomics", info->atomic_support);
    form->truth("atomic_swap", features->atomic_swap);
    form->number("immediate_bits", features->immediate_bits);
    form->truth("queues_resizable", info->ep_work_queues_resizable);
    form->truth("ird_modifiable", info->rdma_read_ird_modifiable);
    form->truth("ord_increasable", info->rdma_read_ord_increasable);
    form->truth("enables_modifiable", info->ep_rdma_enables_modifiable);
    form->truth("overflow_detection", info->dto_evd_overflow_detection);
    form->truth("read_requires_remote_write", info->rdma_read_requires_remote_write);
    form->truth("spigot_events", info->spigot_online_support || info->spigot_offline_support);
    form->group_end();
}

void info_values(const struct info_form *form, const it_ia_info_t *info,
                 const struct itx_features *features)
{
    values_vendor(form, info);
    form->list("spigots");
    for (size_t i = 0; i < info->num_spigots; i++)
        values_spigot(form, &info->spigot_info[i]);
    form->list_end();
    values_limits(form, info, features);
    values_features(form, info, features);
}
