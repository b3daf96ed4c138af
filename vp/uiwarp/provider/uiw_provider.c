/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider's table, Interfaces and IA. */
#include "vp/uiwarp/provider/uiw_provider.h"

#include "vp/uiwarp/connect/uiw_conn_private.h"
#include "vp/uiwarp/lead/uiw_fork.h"
#include "vp/uiwarp/lead/uiw_leader.h"
#include "vp/uiwarp/net/uiw_net.h"
#include "vp/uiwarp/provider/uiw_ep_create.h"
#include "vp/uiwarp/queue/uiw_counters.h"
#include "vp/uiwarp/queue/uiw_ep.h"
#include "vp/uiwarp/queue/uiw_srq.h"
#include "vp/uiwarp/receive/uiw_aim.h"
#include "vp/uiwarp/stream/uiw_stream.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define UIW_NAME       "uiwarp"
#define UIW_MAX_EVENTS (1u << 20)
#define UIW_API_MAJOR  2
#define UIW_API_MINOR  1

/* Limits of streams that are no connections: a part of the descriptors, and a maximum. */
#define PROVIDER_HALF_OPEN_PART 2u
#define PROVIDER_UNDECIDED_PART 4u
#define PROVIDER_LINGER_PART    8u
#define PROVIDER_SPARE_PART     4u /* kept free of half-open streams, down to a minimum of them */
#define PROVIDER_HALF_OPEN_MAX  4096u
#define PROVIDER_UNDECIDED_MAX  4096u
#define PROVIDER_LINGER_MAX     1024u

/* ---------------------------------------------------------------- Interfaces */

/* Returns the network interface in an Interface's name; "": all; NULL: not this provider. */
static const char *provider_network(const char *name)
{
    size_t length = sizeof(UIW_NAME) - 1;

    if (strncmp(name, UIW_NAME, length) != 0)
        return NULL;
    if (name[length] == '\0')
        return name + length;
    return name[length] == ':' && name[length + 1] != '\0' ? name + length + 1 : NULL;
}

static void provider_describe(it_interface_t *interface, const char *network)
{
    memset(interface, 0, sizeof(*interface));
    interface->major_version = UIW_API_MAJOR;
    interface->minor_version = UIW_API_MINOR;
    interface->transport_type = IT_IWARP_TCP_TRANSPORT;
    (void)snprintf(interface->name, sizeof(interface->name), "%s%s%s", UIW_NAME,
                   network[0] ? ":" : "", network); /* always fits */
}

static bool provider_is_repeated(const struct uiw_net_local *locals, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(locals[i].interface, locals[index].interface) == 0)
            return true;
    return false;
}

static size_t provider_interfaces(it_interface_t *interfaces, size_t capacity)
{
    struct uiw_net_local *locals = NULL;
    size_t count = 0;
    size_t total = 1;

    if (!uiw_net_locals("", &locals, &count))
        return 0; /* an incomplete list would look complete */
    if (capacity > 0)
        provider_describe(&interfaces[0], "");
    for (size_t i = 0; i < count; i++) {
        if (provider_is_repeated(locals, i))
            continue;
        if (total < capacity)
            provider_describe(&interfaces[total], locals[i].interface);
        total++;
    }
    free(locals);
    return total;
}

static it_status_t provider_check_network(const char *network)
{
    struct uiw_net_local *locals = NULL;
    size_t count = 0;

    if (!network[0])
        return IT_SUCCESS;
    if (!uiw_net_locals(network, &locals, &count))
        return IT_ERR_RESOURCES;
    free(locals);
    return count > 0 ? IT_SUCCESS : IT_ERR_INVALID_NAME;
}

static bool provider_has_interface(const char *name)
{
    const char *network = provider_network(name);

    return network && provider_check_network(network) != IT_ERR_INVALID_NAME;
}

/* ---------------------------------------------------------------- opening and closing an IA */

static const struct vp_attributes provider_attributes = {
    .transport_type = IT_IWARP_TCP_TRANSPORT,
    .socket_conversion = IT_TRUE,
    .suppress_depths = IT_TRUE,
    .srq = IT_TRUE,
    .srq_resizable = IT_TRUE,
    .soft_hi_watermark = IT_TRUE,
    .hard_hi_watermark = IT_TRUE,
    .queues_resizable = IT_TRUE,
    .ord_increasable = IT_TRUE,
    .ird_modifiable = IT_TRUE,
    .enables_modifiable = IT_TRUE,
    .relative_addressing = IT_TRUE,
    .rmr_types = (it_rmr_type_t)(IT_RMR_TYPE_NARROW | IT_RMR_TYPE_WIDE),
    .narrow_unlink = IT_TRUE,
    .wide_unlink = IT_TRUE,
    .unlink_fence = IT_TRUE,
    .send_unlink = IT_TRUE,
    .read_extensions = IT_TRUE,
    .atomics = IT_TRUE,
    .atomic_swap = IT_TRUE,
    .immediate_bits = 64,
    .send_imm_receives = 2, /* RFC 7306: one message has the data, another one the value */
    .max_request_dtos = UIW_MAX_DTOS,
    .max_recv_dtos = UIW_MAX_DTOS,
    .max_srq_dtos = UIW_MAX_SRQ_DTOS,
    .max_send_segments = UIW_MAX_SEGMENTS,
    .max_recv_segments = UIW_MAX_SEGMENTS,
    .max_read_segments = UIW_MAX_SEGMENTS,
    .max_write_segments = UIW_MAX_SEGMENTS,
    .max_message = UINT32_MAX,
    .max_lmr_length = PTRDIFF_MAX,
    .max_ird = UIW_MAX_DEPTH,
    .max_ord = UIW_MAX_DEPTH,
    .max_evd_queue = UIW_MAX_EVENTS,
    .connect_pdata = IT_MAX_PRIV_DATA,
    .accept_pdata = IT_MAX_PRIV_DATA,
    .reject_pdata = IT_MAX_PRIV_DATA,
    .active_quals = IT_IANA_PORT | IT_IANA_LR_PORT,
    .passive_quals = IT_IANA_PORT | IT_IANA_LR_PORT,
    .default_connect_timeout_us = UIW_ATTEMPT_US,
};

/* Returns a part of the descriptors, at least 1. */
static unsigned provider_part(rlim_t descriptors, unsigned divisor, unsigned most)
{
    rlim_t part = descriptors / divisor;

    if (part < 1)
        part = 1;
    return part < most ? (unsigned)part : most;
}

/* Sets the limits, so that silent peers and closing streams leave descriptors to the program. */
static void provider_limit_peers(struct uiw_cm *cm)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    rlim_t all = INT_MAX;

    (void)getrlimit(RLIMIT_NOFILE, &limit); /* cannot fail for this resource */
    if (limit.rlim_cur < all)
        all = limit.rlim_cur;
    cm->half_open_max = provider_part(all, PROVIDER_HALF_OPEN_PART, PROVIDER_HALF_OPEN_MAX);
    cm->undecided_max = provider_part(all, PROVIDER_UNDECIDED_PART, PROVIDER_UNDECIDED_MAX);
    cm->lingering.max = provider_part(all, PROVIDER_LINGER_PART, PROVIDER_LINGER_MAX);
    cm->scarce_fd = (int)(all - all / PROVIDER_SPARE_PART);
}

static it_status_t provider_ia_open(struct ual_ia *ual)
{
    struct uiw_ia *ia = uiw_ia_of(ual);
    const char *network = provider_network(ual->name);

    it_status_t status = network ? provider_check_network(network) : IT_ERR_INVALID_NAME;

    if (status != IT_SUCCESS)
        return status;
    ia->ual = ual;
    (void)snprintf(ia->interface, sizeof(ia->interface), "%s", network); /* always fits */
    provider_limit_peers(&ia->cm);
    ia->cm.lingering.loop = ual->evd.loop;
    base_lock_init(&ia->retired_lock);
    if (!uiw_half_open_init(&ia->cm.half_open) || !uiw_mr_table_init(&ia->memory.mrs))
        goto err_half_open;
    if (!uiw_bounce_open(&ia->memory))
        goto err_bounce;
    if (!uiw_lead_open(ual))
        goto err_bounce;
    uiw_carrier_open(&ia->carrier, ual, ia->interface);
    ual->evd.progress = &uiw_lead_ops;
    ual->evd.progress_context = ual;
    ual->evd.flush_evd = uiw_sweep_deferred_of;
    ual->evd.release_evd = uiw_sweep_held_of;
    return IT_SUCCESS;

err_bounce: /* also cleans up after a failed open */
    uiw_bounce_close(&ia->memory);
    uiw_mr_table_fini(&ia->memory.mrs);
err_half_open: /* the same */
    uiw_half_open_fini(&ia->cm.half_open);
    base_lock_destroy(&ia->retired_lock);
    return IT_ERR_RESOURCES;
}

struct close_call {
    struct uiw_ia *ia;
    bool left;
};

static void provider_close_run(void *argument)
{
    struct close_call *call = argument;

    uiw_cm_close(call->ia);
    call->left = !base_list_is_empty(&call->ia->cm.connections);
}

static void provider_ia_close(struct ual_ia *ual)
{
    struct close_call call = {.ia = uiw_ia_of(ual)};

    /* Repeats only while a call of the program, made too late, still uses a request. */
    do {
        evd_loop_call(ual->evd.loop, provider_close_run, &call);
    } while (call.left);
    uiw_carrier_close(&uiw_ia_of(ual)->carrier);
    uiw_lead_close(ual);
    uiw_bounce_close(&call.ia->memory);
    uiw_mr_table_fini(&call.ia->memory.mrs);
    uiw_half_open_fini(&call.ia->cm.half_open);
    base_lock_destroy(&call.ia->retired_lock);
}

/* ---------------------------------------------------------------- questions about an IA */

static const struct vp_attributes *provider_ia_attributes(const struct ual_ia *ual)
{
    (void)ual;
    return &provider_attributes;
}

static const char *provider_ia_network(const struct ual_ia *ual)
{
    return ((const struct uiw_ia *)(const void *)ual->area)->interface;
}

static void provider_fill_spigot(it_spigot_info_t *spigot, const struct uiw_net_local *locals,
                                 size_t count)
{
    spigot->spigot_id = UIW_SPIGOT;
    spigot->max_rc_send_len = UINT32_MAX;
    spigot->max_rc_rdma_len = UINT32_MAX;
    spigot->spigot_online = uiw_net_runs(locals, count) ? IT_TRUE : IT_FALSE;
    spigot->active_side_conn_qual = IT_IANA_PORT | IT_IANA_LR_PORT;
    spigot->passive_side_conn_qual = IT_IANA_PORT | IT_IANA_LR_PORT;
    spigot->num_net_addr = count;
    for (size_t i = 0; i < count; i++)
        spigot->net_addr[i] = locals[i].address;
}

static it_status_t provider_ia_query(struct ual_ia *ual, it_ia_info_t **info_out)
{
    it_boolean_t watched = uiw_ia_of(ual)->carrier.fd >= 0 ? IT_TRUE : IT_FALSE;
    struct uiw_net_local *locals = NULL;
    it_ia_info_t *info;
    size_t count = 0;

    if (!uiw_net_locals(provider_ia_network(ual), &locals, &count))
        return IT_ERR_RESOURCES;
    info = ual_ia_info_alloc(1, count);
    if (!info) {
        free(locals);
        return IT_ERR_RESOURCES;
    }
    /* Members that stay zero are not offered. The access layer adds the attributes. */
    info->dto_alignment_hint = 64; /* a cache line */
    info->supported_service_types = IT_RC_SERVICE;
    info->ird_ord_ia_support = IT_TRUE;
    info->dto_evd_overflow_detection = IT_TRUE;
    info->spigot_online_support = watched;
    info->spigot_offline_support = watched;
    provider_fill_spigot(&info->spigot_info[0], locals, count);
    free(locals);
    *info_out = info;
    return IT_SUCCESS;
}

static bool provider_has_spigot(const struct ual_ia *ual, size_t spigot_id)
{
    (void)ual;
    return spigot_id == UIW_SPIGOT;
}

static it_status_t provider_has_address(const struct ual_ia *ual, const it_net_addr_t *address)
{
    bool has;
    it_status_t status = uiw_net_has(provider_ia_network(ual), address, &has);

    if (status != IT_SUCCESS)
        return status;
    return has ? IT_SUCCESS : IT_ERR_INVALID_ADDRESS;
}

static it_status_t provider_paths(struct ual_ia *ual, size_t spigot_id, const it_net_addr_t *to,
                                  size_t capacity, it_path_t *paths, size_t *total)
{
    it_net_addr_t from;
    bool found;
    it_status_t status = uiw_net_source(provider_ia_network(ual), to, &from, &found);

    *total = 0;
    if (status != IT_SUCCESS || !found)
        return status;
    *total = 1; /* the kernel's choice */
    if (capacity > 0) {
        it_net_addr_t remote = *to;

        base_net_unmap(&remote); /* like the source */
        memset(paths, 0, sizeof(*paths));
        paths->spigot_id = spigot_id;
        paths->timeout = UIW_ATTEMPT_US;
        base_net_into_path(&from, &remote, paths);
    }
    return IT_SUCCESS;
}

static void provider_counters(struct ual_ia *ual, struct itx_counters *counters)
{
    struct uiw_ia *ia = uiw_ia_of(ual);
    const struct uiw_cm *cm = &ia->cm;

    counters->connections_accepted += __atomic_load_n(&cm->accepted, __ATOMIC_RELAXED);
    counters->connections_initiated += __atomic_load_n(&cm->initiated, __ATOMIC_RELAXED);
    counters->half_open_refused += __atomic_load_n(&cm->half_open_refused, __ATOMIC_RELAXED);
    counters->half_open_timeouts += __atomic_load_n(&cm->half_open_timeouts, __ATOMIC_RELAXED);
    uiw_ia_counters(ual, counters);
}

/* ---------------------------------------------------------------- the table */

const struct vp_provider uiw_provider = {
    .abi = VP_ABI,
    .size = sizeof(struct vp_provider),
    .name = UIW_NAME,
    .ia_area = sizeof(struct uiw_ia),
    .pz_area = sizeof(struct uiw_pz),
    .lmr_area = sizeof(struct uiw_lmr),
    .srq_area = sizeof(struct uiw_srq),
    .rmr_area = sizeof(struct uiw_rmr),
    .ep_area = sizeof(struct uiw_ep),
    .listen_area = sizeof(struct uiw_listen),
    .interfaces = provider_interfaces,
    .has_interface = provider_has_interface,
    .ia_open = provider_ia_open,
    .ia_close = provider_ia_close,
    .ia_attributes = provider_ia_attributes,
    .ia_query = provider_ia_query,
    .has_spigot = provider_has_spigot,
    .has_address = provider_has_address,
    .paths = provider_paths,
    .counters = provider_counters,
    .pz_create = uiw_pz_create,
    .pz_destroy = uiw_pz_destroy,
    .lmr_create = uiw_lmr_create,
    .lmr_destroy = uiw_lmr_destroy,
    .srq_create = uiw_srq_create,
    .srq_destroy = uiw_srq_destroy,
    .srq_modify = uiw_srq_modify,
    .lmr_modify = uiw_lmr_modify,
    .lmr_change = uiw_lmr_change,
    .rmr_create = uiw_rmr_create,
    .rmr_destroy = uiw_rmr_destroy,
    .rmr_query = uiw_rmr_query,
    .ep_create = uiw_ep_create,
    .ep_destroy = uiw_ep_destroy,
    .ep_halt = uiw_ep_claim_and_halt,
    .ep_proceed = uiw_ep_proceed,
    .ep_modify_locked = uiw_ep_modify_locked,
    .ep_reset = uiw_ep_reset,
    .ep_set_mpa = uiw_ep_set_mpa,
    .ep_get_mpa = uiw_ep_get_mpa,
    .ep_query_mpa = uiw_ep_query_mpa,
    .listen_start = uiw_listen_start,
    .listen_start_at = uiw_listen_start_at,
    .listen_stop = uiw_listen_stop,
    .connect = uiw_connect,
    .accept = uiw_accept,
    .reject = uiw_reject,
    .handoff = uiw_handoff,
    .disconnect = uiw_ep_disconnect,
    .convert = uiw_convert,
    .ep_counters = uiw_ep_counters,
    .srq_set_message_timeout = uiw_srq_set_message_timeout,
    .ep_addresses_locked = uiw_ep_addresses_locked,
    .ep_flush = uiw_ep_flush,
    .ep_clear = uiw_ep_clear,
    .lmr_create_at = uiw_lmr_create_at,
    .rmr_key = uiw_rmr_key,
    .ia_freeze = uiw_fork_freeze,
    .ia_thaw = uiw_fork_thaw,
    .ep_claim = uiw_fork_claim,
    .ep_limit_hold = uiw_own_limit_hold,
    .ep_stream_option_halted = uiw_ep_stream_option_halted,
    .rmr_reset = uiw_rmr_reset,
    .socket_request = uiw_socket_request,
    .request_addresses_locked = uiw_request_addresses_locked,
    .post_lent = uiw_post_lent,
    .ep_aim = uiw_ep_aim,
};
