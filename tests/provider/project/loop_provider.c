/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The entry, the table, the Interface and its IA; and calls that must wait until no lock is held.
 */
#include "loop.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

const struct vp_host *loop_host;
pthread_mutex_t loop_lock = PTHREAD_MUTEX_INITIALIZER;

static pthread_cond_t loop_unused = PTHREAD_COND_INITIALIZER;

/* ---- Later ---------------------------------------------------------------------------------- */

void loop_begin(struct loop_later *later)
{
    later->count = 0;
    pthread_mutex_lock(&loop_lock);
}

static void loop_add(struct loop_later *later, struct loop_ep *ep, enum loop_thing thing,
                     it_event_type_t number, const struct ual_conn_news *news)
{
    for (unsigned i = 0; i < later->count; i++)
        if (later->items[i].ep == ep && later->items[i].thing == thing && thing < LOOP_REPORT)
            return;
    ep->users++;
    later->items[later->count].ep = ep;
    later->items[later->count].thing = thing;
    later->items[later->count].number = number;
    if (news)
        later->items[later->count].news = *news;
    later->count++; /* no call makes more than two of a kind for each of two EPs */
}

void loop_wake(struct loop_later *later, struct loop_ep *ep, enum vp_queue queue)
{
    loop_add(later, ep, queue == VP_REQUESTS ? LOOP_WAKE_REQUESTS : LOOP_WAKE_RECEIVES,
             (it_event_type_t)0, NULL);
}

void loop_report(struct loop_later *later, struct loop_ep *ep, const struct ual_conn_news *news)
{
    loop_add(later, ep, LOOP_REPORT, (it_event_type_t)0, news);
}

void loop_raise(struct loop_later *later, struct loop_ep *ep, it_event_type_t number)
{
    loop_add(later, ep, LOOP_RAISE, number, NULL);
}

void loop_end(struct loop_later *later)
{
    pthread_mutex_unlock(&loop_lock);
    for (unsigned i = 0; i < later->count; i++) {
        struct ual_ep *ual = later->items[i].ep->ual;

        switch (later->items[i].thing) {
        case LOOP_WAKE_REQUESTS:
            loop_host->wake(ual, VP_REQUESTS);
            break;
        case LOOP_WAKE_RECEIVES:
            loop_host->wake(ual, VP_RECEIVES);
            break;
        case LOOP_REPORT:
            loop_host->ep_report(ual, &later->items[i].news);
            break;
        case LOOP_RAISE:
            loop_host->ep_raise(ual, later->items[i].number);
            break;
        }
    }
    if (later->count == 0)
        return;
    pthread_mutex_lock(&loop_lock);
    for (unsigned i = 0; i < later->count; i++)
        later->items[i].ep->users--;
    pthread_cond_broadcast(&loop_unused);
    pthread_mutex_unlock(&loop_lock);
}

void loop_wait_unused(struct loop_ep *ep)
{
    while (ep->users > 0)
        pthread_cond_wait(&loop_unused, &loop_lock);
}

/* ---- Interface ------------------------------------------------------------------------------ */

static size_t loop_interfaces(it_interface_t *interfaces, size_t capacity)
{
    if (capacity > 0) {
        memset(interfaces, 0, sizeof(*interfaces));
        interfaces->major_version = 2;
        interfaces->minor_version = 1;
        interfaces->transport_type = IT_VENDOR_TRANSPORT;
        strcpy(interfaces->name, LOOP_NAME);
    }
    return 1;
}

static bool loop_has_interface(const char *name)
{
    return strcmp(name, LOOP_NAME) == 0;
}

static it_status_t loop_ia_open(struct ual_ia *ia)
{
    struct vp_attributes *attributes = vp_area(loop_host, VP_IA, ia);

    *attributes = (struct vp_attributes){
        .transport_type = IT_VENDOR_TRANSPORT,
        .atomics = IT_TRUE,
        .atomic_swap = IT_TRUE,
        .relative_addressing = IT_TRUE,
        .enables_modifiable = IT_TRUE,
        .max_request_dtos = LOOP_DEPTH,
        .max_recv_dtos = LOOP_DEPTH,
        .max_send_segments = LOOP_SEGMENTS,
        .max_recv_segments = LOOP_SEGMENTS,
        .max_read_segments = LOOP_SEGMENTS,
        .max_write_segments = LOOP_SEGMENTS,
        .max_message = UINT32_MAX,
        .max_lmr_length = INT64_MAX,
        .max_ird = 16,
        .max_ord = 16,
        .max_evd_queue = 1 << 16,
        .connect_pdata = IT_MAX_PRIV_DATA,
        .accept_pdata = IT_MAX_PRIV_DATA,
        .reject_pdata = IT_MAX_PRIV_DATA,
        .active_quals = IT_IANA_PORT,
        .passive_quals = IT_IANA_PORT,
        .default_connect_timeout_us = 1000000,
        .immediate_bits = 32,
        .send_imm_receives = 1,
    };
    return IT_SUCCESS;
}

static void loop_ia_close(struct ual_ia *ia)
{
    (void)ia;
}

static const struct vp_attributes *loop_ia_attributes(const struct ual_ia *ia)
{
    return vp_area(loop_host, VP_IA, ia);
}

static void loop_fill_address(it_net_addr_t *address)
{
    memset(address, 0, sizeof(*address));
    address->addr_type = IT_IPV4;
    address->addr.ipv4.s_addr = htonl(INADDR_LOOPBACK);
}

static it_status_t loop_ia_query(struct ual_ia *ia, it_ia_info_t **info_out)
{
    it_ia_info_t *info = loop_host->ia_info_alloc(1, 1);

    (void)ia;
    if (!info)
        return IT_ERR_RESOURCES;
    info->supported_service_types = IT_RC_SERVICE;
    info->ird_ord_ia_support = IT_TRUE;
    info->dto_evd_overflow_detection = IT_TRUE;
    info->spigot_info[0].spigot_id = LOOP_SPIGOT;
    info->spigot_info[0].spigot_online = IT_TRUE;
    info->spigot_info[0].num_net_addr = 1;
    loop_fill_address(&info->spigot_info[0].net_addr[0]);
    *info_out = info;
    return IT_SUCCESS;
}

static bool loop_has_spigot(const struct ual_ia *ia, size_t spigot_id)
{
    (void)ia;
    return spigot_id == LOOP_SPIGOT;
}

static it_status_t loop_has_address(const struct ual_ia *ia, const it_net_addr_t *address)
{
    (void)ia;
    return address->addr_type == IT_IPV4 && address->addr.ipv4.s_addr == htonl(INADDR_LOOPBACK)
               ? IT_SUCCESS
               : IT_ERR_INVALID_ADDRESS;
}

static it_status_t loop_paths(struct ual_ia *ia, size_t spigot_id, const it_net_addr_t *to,
                              size_t capacity, it_path_t *paths, size_t *total)
{
    *total = loop_has_address(ia, to) == IT_SUCCESS ? 1 : 0;
    if (*total > 0 && capacity > 0) {
        memset(paths, 0, sizeof(*paths));
        paths->spigot_id = spigot_id;
        paths->remote.iwarp.ip_vers = IT_IP_VERS_IPV4;
        paths->remote.iwarp.laddr.ipv4 = to->addr.ipv4;
        paths->remote.iwarp.raddr.ipv4 = to->addr.ipv4;
    }
    return IT_SUCCESS;
}

static void loop_counters(struct ual_ia *ia, struct itx_counters *counters)
{
    (void)ia;
    (void)counters;
}

/* ---- Operations without any work ------------------------------------------------------------ */

static it_status_t loop_pz_create(struct ual_pz *pz)
{
    (void)pz;
    return IT_SUCCESS;
}

static void loop_pz_destroy(struct ual_pz *pz)
{
    (void)pz;
}

static it_status_t loop_lmr_modify(struct ual_lmr *lmr, struct ual_pz *pz, it_mem_priv_t privs)
{
    (void)lmr;
    (void)pz;
    (void)privs;
    return IT_ERR_OP_NOT_SUPPORTED;
}

/* Nothing that can be modified is kept elsewhere. */
static void loop_ep_halt(struct ual_ep *ep)
{
    (void)ep;
}

static void loop_ep_proceed(struct ual_ep *ep, it_ep_param_mask_t changed)
{
    (void)ep;
    (void)changed;
}

static it_status_t loop_set_mpa(struct ual_ep *ep, const struct itx_mpa_params *params)
{
    (void)ep;
    (void)params;
    return IT_ERR_OP_NOT_SUPPORTED;
}

static it_status_t loop_get_mpa(struct ual_ep *ep, struct itx_mpa_params *params)
{
    (void)ep;
    (void)params;
    return IT_ERR_OP_NOT_SUPPORTED;
}

static it_status_t loop_query_mpa(struct ual_ep *ep, struct itx_mpa_info *info)
{
    (void)ep;
    (void)info;
    return IT_ERR_OP_NOT_SUPPORTED;
}

static it_status_t loop_convert(struct ual_ep *ep, const struct vp_convert *convert)
{
    (void)ep;
    (void)convert;
    return IT_ERR_OP_NOT_SUPPORTED;
}

/* ---- The table ------------------------------------------------------------------------------ */

const struct vp_provider loop_provider = {
    .abi = VP_ABI,
    .size = sizeof(struct vp_provider),
    .name = "loop",
    .ia_area = sizeof(struct vp_attributes),
    .lmr_area = 2 * sizeof(void *),
    .ep_area = sizeof(struct loop_ep),
    .listen_area = sizeof(struct loop_listen),
    .interfaces = loop_interfaces,
    .has_interface = loop_has_interface,
    .ia_open = loop_ia_open,
    .ia_close = loop_ia_close,
    .ia_attributes = loop_ia_attributes,
    .ia_query = loop_ia_query,
    .has_spigot = loop_has_spigot,
    .has_address = loop_has_address,
    .paths = loop_paths,
    .counters = loop_counters,
    .pz_create = loop_pz_create,
    .pz_destroy = loop_pz_destroy,
    .lmr_create = loop_lmr_create,
    .lmr_destroy = loop_lmr_destroy,
    .lmr_modify = loop_lmr_modify,
    .ep_create = loop_ep_create,
    .ep_destroy = loop_ep_destroy,
    .ep_halt = loop_ep_halt,
    .ep_proceed = loop_ep_proceed,
    .ep_modify_locked = loop_ep_modify_locked,
    .ep_reset = loop_ep_reset,
    .ep_set_mpa = loop_set_mpa,
    .ep_get_mpa = loop_get_mpa,
    .ep_query_mpa = loop_query_mpa,
    .listen_start = loop_listen_start,
    .listen_stop = loop_listen_stop,
    .connect = loop_connect,
    .accept = loop_accept,
    .reject = loop_reject,
    .handoff = loop_handoff,
    .disconnect = loop_disconnect,
    .convert = loop_convert,
};

const struct vp_provider *VP_ENTRY(const struct vp_host *host, const char *options)
{
    if (host->abi != VP_ABI || host->size < sizeof(*host))
        return NULL;
    loop_host = host;
    host->log(VP_LOG_INFO, "loop: options '%s'", options);
    return strcmp(options, "stay out") == 0 ? NULL : &loop_provider;
}
