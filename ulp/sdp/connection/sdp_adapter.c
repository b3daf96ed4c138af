/* SPDX-License-Identifier: BSD-2-Clause */
#include "connection/sdp_adapter.h"

#include "connection/sdp_connection.h"

#include <itx_api.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_MAX_OCTETS 64u

static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;
static char interface_name[NAME_MAX_OCTETS] = "uiwarp"; /* guarded by open_lock */
static struct sdp_adapter adapter;
static unsigned kind;            /* of the opened IA, and of the next one */
static uint8_t (*addresses)[16]; /* those of a device */
static size_t addresses_count;
static _Atomic(struct sdp_adapter *) opened; /* written with open_lock held */

static pthread_mutex_t later_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdp_later *later_first; /* guarded by later_lock */
static struct sdp_later **later_end = &later_first;

/* ---- Work of the IA's thread ---------------------------------------------------------------- */

static void on_later(it_evd_handle_t evd, void *argument)
{
    struct sdp_later *list;
    struct sdp_later *next;
    it_event_t event;

    (void)argument;
    while (it_evd_dequeue(evd, &event) == IT_SUCCESS) {
    }
    (void)pthread_mutex_lock(&later_lock);
    list = later_first;
    later_first = NULL;
    later_end = &later_first;
    (void)pthread_mutex_unlock(&later_lock);
    for (; list; list = next) {
        next = list->next;
        list->run(list);
    }
}

void sdp_adapter_later(struct sdp_later *work)
{
    bool first;

    work->next = NULL;
    (void)pthread_mutex_lock(&later_lock);
    first = later_first == NULL;
    *later_end = work;
    later_end = &work->next;
    (void)pthread_mutex_unlock(&later_lock);
    /* If the queue is full, its last event has not been taken and serves for this work, too. */
    if (first)
        (void)it_evd_post_se(adapter.later_evd, NULL);
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* Gets the octets of an address, IPv4 as IPv4-mapped IPv6. Returns 0 for other types. */
static size_t address_of(const it_net_addr_t *address, uint8_t octets[16])
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    if (address->addr_type == IT_IPV6)
        memcpy(octets, &address->addr.ipv6, 16);
    else if (address->addr_type == IT_IPV4) {
        memcpy(octets, mapped, sizeof(mapped));
        memcpy(octets + sizeof(mapped), &address->addr.ipv4, 4);
    } else
        return 0;
    return 1;
}

/* Reads the addresses of a device: it carries connections between them and others. */
static it_status_t read_addresses(it_ia_handle_t ia)
{
    it_ia_info_t *info;
    it_status_t status = it_ia_query(ia, &info);
    size_t most = 0;

    if (status != IT_SUCCESS)
        return status;
    kind = 1 + (unsigned)info->transport_type;
    for (size_t i = 0; i < info->num_spigots; i++)
        most += info->spigot_info[i].num_net_addr;
    free(addresses);
    addresses_count = 0;
    addresses = calloc(most + 1, sizeof(addresses[0]));
    for (size_t i = 0; addresses && i < info->num_spigots; i++) {
        const it_spigot_info_t *spigot = &info->spigot_info[i];

        for (size_t j = 0; j < spigot->num_net_addr; j++)
            addresses_count += address_of(&spigot->net_addr[j], addresses[addresses_count]);
    }
    it_ia_info_free(info);
    return addresses ? IT_SUCCESS : IT_ERR_RESOURCES;
}

/* uiwarp and uiwarp:LINK are none. */
static bool names_device(void)
{
    return strncmp(interface_name, "uiwarp", 6) != 0;
}

static it_status_t open_objects(void)
{
    it_evd_handle_t none = NULL;
    int fd;
    it_status_t status = it_ia_create(interface_name, 2, 1, &adapter.ia);

    if (status != IT_SUCCESS)
        return status;
    adapter.device = names_device();
    if (adapter.device)
        status = read_addresses(adapter.ia);
    if (status == IT_SUCCESS)
        status = it_pz_create(adapter.ia, &adapter.pz);
    if (status == IT_SUCCESS)
        status = it_evd_create(adapter.ia, IT_SOFTWARE_EVENT_STREAM, (it_evd_flags_t)0, 1,
                               IT_THRESHOLD_DISABLE, none, &adapter.later_evd, NULL);
    if (status == IT_SUCCESS)
        status = it_evd_callback_attach(adapter.later_evd, on_later, NULL);
    if (status == IT_SUCCESS)
        status = itx_ia_set_stats_source(adapter.ia, sdp_stats, NULL);
    /* From now on the IA's thread does not interfere with threads that transfer. */
    if (status == IT_SUCCESS && !adapter.device && itx_ia_lead_begin(adapter.ia, &fd) == IT_SUCCESS)
        (void)itx_ia_lead_end(adapter.ia, IT_FALSE);
    if (status != IT_SUCCESS)
        (void)it_ia_free(adapter.ia);
    return status;
}

static int open_adapter(void)
{
    it_status_t status = open_objects();

    if (status == IT_ERR_INVALID_NAME)
        return ENODEV;
    if (status != IT_SUCCESS)
        return status == IT_ERR_NO_PERMISSION ? EACCES : ENOMEM;
    atomic_store_explicit(&opened, &adapter, memory_order_release);
    return 0;
}

struct sdp_adapter *sdp_adapter_opened(void)
{
    return atomic_load_explicit(&opened, memory_order_acquire);
}

struct sdp_adapter *sdp_adapter_get(void)
{
    struct sdp_adapter *result = sdp_adapter_opened();

    if (result)
        return result;
    (void)pthread_mutex_lock(&open_lock);
    if (!sdp_adapter_opened())
        errno = open_adapter();
    (void)pthread_mutex_unlock(&open_lock);
    return sdp_adapter_opened();
}

void sdp_adapter_forget(void)
{
    atomic_store_explicit(&opened, NULL, memory_order_release);
    (void)pthread_mutex_init(&open_lock, NULL);
    (void)pthread_mutex_init(&later_lock, NULL);
    later_first = NULL;
    later_end = &later_first;
}

void sdp_interface_prepare(void)
{
    if (names_device())
        (void)sdp_adapter_get();
}

bool sdp_interface_serves(const uint8_t own[16])
{
    static atomic_bool told;
    const struct sdp_adapter *have = sdp_adapter_get();

    if (!have) {
        if (!atomic_exchange(&told, true))
            (void)dprintf(STDERR_FILENO, "libitsdp: interface %s: %s: all sockets stay TCP\n",
                          interface_name, strerror(errno));
        return false;
    }
    for (size_t i = 0; have->device && i < addresses_count; i++) {
        if (memcmp(addresses[i], own, sizeof(addresses[i])) == 0)
            return true;
    }
    return !have->device;
}

unsigned sdp_interface_kind(void)
{
    return sdp_adapter_get() ? kind : 0;
}

void sdp_use_interface(const char *name)
{
    size_t length = 0;

    if (!name)
        name = "uiwarp";
    (void)pthread_mutex_lock(&open_lock);
    while (name[length] && length < NAME_MAX_OCTETS - 1) {
        interface_name[length] = name[length];
        length++;
    }
    interface_name[length] = '\0';
    (void)pthread_mutex_unlock(&open_lock);
}

/* ---- A thread that sleeps in poll, select or epoll reads for all connections ---------------- */

__thread bool sdp_leads __attribute__((tls_model("initial-exec")));

static pthread_key_t lead_key;
static bool has_lead_key;

/* Cleanup of a thread that was cancelled while it slept. */
static void at_thread_end(void *unused)
{
    (void)unused;
    sdp_lead_end(false);
}

static void make_key(void)
{
    has_lead_key = pthread_key_create(&lead_key, at_thread_end) == 0;
}

int sdp_lead_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct sdp_adapter *have = sdp_adapter_opened();
    int fd;

    (void)pthread_once(&once, make_key);
    if (!have || have->device || !has_lead_key || pthread_setspecific(lead_key, &lead_key) != 0 ||
        itx_ia_lead_begin(have->ia, &fd) != IT_SUCCESS)
        return -1;
    sdp_leads = true;
    return fd;
}

void sdp_lead_end(bool readable)
{
    if (!sdp_leads)
        return;
    sdp_leads = false;
    (void)itx_ia_lead_end(sdp_adapter_opened()->ia, readable ? IT_TRUE : IT_FALSE);
}
