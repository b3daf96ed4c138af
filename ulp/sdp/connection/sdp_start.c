/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating and freeing connections. */
#include "guard/sdp_guard.h"
#include "connection/sdp_object.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define READS 4u
#define ALIGN 64u
#define TABLE ((size_t)2 << 20) /* what one page of the page table maps, on most processors */

/* ---- The end -------------------------------------------------------------------------------- */

static void free_connection(struct sdp_connection *connection)
{
    if (connection->ep)
        (void)it_ep_free(connection->ep);
    if (connection->evd)
        (void)it_evd_free(connection->evd);
    if (connection->lmr)
        (void)it_lmr_free(connection->lmr);
    if (connection->memory)
        (void)munmap(connection->memory, connection->memory_size);
    free(connection->pieces);
    sdp_owed_forget(connection);
    (void)pthread_mutex_destroy(&connection->lock);
    free(connection);
}

static void reap(struct sdp_later *later)
{
    struct sdp_connection *connection =
        (struct sdp_connection *)(void *)((char *)later - offsetof(struct sdp_connection, burial));

    if (!sdp_lock_here(&sdp_list_lock)) {
        sdp_adapter_later(later);
        return;
    }
    sdp_list_remove(connection);
    (void)pthread_mutex_unlock(&sdp_list_lock);
    (void)pthread_mutex_lock(&connection->lock); /* waits for the thread that buried it */
    (void)pthread_mutex_unlock(&connection->lock);
    free_connection(connection);
}

/* ---- Making --------------------------------------------------------------------------------- */

/*
 * An idle connection has used the first octets of each part. So the heads and the beginning of the
 * ring share a page, and all of them are near each other, for which the kernel needs fewer pages of
 * its page table. The receives begin with a page of their own. The size is a multiple of what such
 * a page maps: then the kernel places the beginning at such a boundary, or at least that of all
 * connections alike, and few cross one.
 */
static bool make_memory(struct sdp_connection *connection)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t heads = (size_t)SDP_HEADS * SDP_HEAD_STRIDE;
    size_t receives = (heads + connection->ring_size + page - 1) / page * page;

    connection->memory_size = receives + ((size_t)connection->slots + 1) * connection->stride;
    connection->memory_size = (connection->memory_size + TABLE - 1) / TABLE * TABLE;
    connection->memory = mmap(NULL, connection->memory_size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (connection->memory == MAP_FAILED) {
        connection->memory = NULL;
        return false;
    }
    /* Where the system makes huge pages unasked, each octet used would need one. */
    if (!sdp_adapter_get()->device)
        (void)madvise(connection->memory, connection->memory_size, MADV_NOHUGEPAGE);
    connection->ring = connection->memory + heads;
    connection->receives = connection->memory + receives;
    /* One of each slot, and those in the spare buffer: all but the last have this size. */
    connection->piece_room =
        connection->slots + (uint32_t)(connection->stride / (SDP_AIM_LEAST - SDP_HEAD_OCTETS)) + 1;
    connection->pieces = calloc(connection->piece_room, sizeof(connection->pieces[0]));
    return connection->pieces &&
           it_lmr_create(sdp_adapter_get()->pz, connection->memory, NULL, connection->memory_size,
                         IT_ADDR_MODE_ABSOLUTE, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0,
                         &connection->lmr, NULL) == IT_SUCCESS;
}

static bool set_mpa(struct sdp_connection *connection, bool crc)
{
    struct itx_mpa_params mpa = {.size = sizeof(mpa)};

    if (itx_ep_get_mpa_params(connection->ep, &mpa) != IT_SUCCESS)
        return false;
    mpa.crc = crc;
    mpa.peer_to_peer = IT_FALSE; /* the active side's Hello is the first FPDU */
    return itx_ep_set_mpa_params(connection->ep, &mpa) == IT_SUCCESS;
}

static bool make_endpoint(struct sdp_connection *connection, bool crc)
{
    struct sdp_adapter *adapter = sdp_adapter_get();
    it_evd_handle_t none = NULL;
    size_t requests = SDP_HEADS + SDP_RDMA_MAX;
    it_ep_attributes_t attributes = {.max_dto_payload_size = connection->own.desired_size,
                                     .max_request_dtos = requests,
                                     .max_recv_dtos = connection->slots,
                                     .max_send_segments = 2,
                                     .max_recv_segments = 1};

    attributes.srv.rc.rdma_read_enable = IT_TRUE;
    attributes.srv.rc.rdma_write_enable = IT_TRUE;
    attributes.srv.rc.max_rdma_read_segments = 1;
    attributes.srv.rc.max_rdma_write_segments = 1;
    attributes.srv.rc.rdma_read_ird = READS;
    attributes.srv.rc.rdma_read_ord = READS;
    if (itx_evd_create_mixed(adapter->ia, ITX_STREAM_DTO | ITX_STREAM_CM_MSG, (it_evd_flags_t)0,
                             connection->slots + requests + 8, IT_THRESHOLD_DISABLE, none,
                             &connection->evd, NULL) != IT_SUCCESS ||
        it_ep_rc_create(adapter->pz, connection->evd, connection->evd, connection->evd,
                        IT_EP_NO_FLAG, &attributes, &connection->ep) != IT_SUCCESS)
        return false;
    return adapter->device || set_mpa(connection, crc);
}

static void set_address(unsigned char out[16], const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET6)
        memcpy(out, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    else
        memcpy(out + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
}

static bool fill_hello(struct sdp_connection *connection, int fd, uint32_t size)
{
    struct sdp_hello *own = &connection->own;
    struct sockaddr_storage local;
    struct sockaddr_storage remote;
    socklen_t length = sizeof(local);

    if (getsockname(fd, (struct sockaddr *)&local, &length) != 0)
        return false;
    length = sizeof(remote);
    if (getpeername(fd, (struct sockaddr *)&remote, &length) != 0)
        return false;
    own->bufs = (uint16_t)connection->slots;
    own->max_adverts = SDP_ADVERTS_MAX;
    own->ip_version = local.ss_family == AF_INET6 ? 6 : 4;
    own->desired_size = size;
    own->receive_size = size;
    own->port = ntohs(((const struct sockaddr_in *)(const void *)&local)->sin_port);
    set_address(own->source, &local);
    set_address(own->destination, &remote);
    return true;
}

static uint32_t receive_size(const struct sdp_settings *settings)
{
    if (settings->receive_size > 256)
        return settings->receive_size;
    return sdp_adapter_get()->device ? SDP_RECEIVE_PINNED : SDP_RECEIVE_SIZE;
}

static int make(int fd, enum sdp_role role, const struct sdp_settings *settings,
                struct sdp_connection **result)
{
    struct sdp_connection *connection = calloc(1, sizeof(*connection));
    uint32_t size = receive_size(settings);
    uint32_t slots = settings->buffers > 3 ? settings->buffers : SDP_BUFFERS;

    if (!connection)
        return ENOMEM;
    sdp_init_lock(&connection->lock);
    connection->burial.run = reap;
    connection->farewell.run = sdp_disconnect_here;
    connection->active = role == SDP_ACTIVE;
    connection->slots = slots < SDP_BUFFERS_MAX ? slots : SDP_BUFFERS_MAX;
    connection->stride = ((size_t)size + ALIGN - 1) / ALIGN * ALIGN;
    connection->ring_size = SDP_SEND_RING;
    connection->send_buffer = SDP_SEND_RING;
    connection->low_water = 1;
    connection->tx_posted = connection->tx_done = connection->tx_signal = SDP_TX_FIRST;
    connection->tx_end = SDP_TX_FIRST;
    connection->zcopy_from =
        settings->zcopy_from > 0 ? settings->zcopy_from : SDP_ZCOPY_FROM_OCTETS;
    if (settings->zcopy_off)
        connection->zcopy_from = 0;
    connection->direct = !sdp_adapter_get()->device;
    connection->watch = SDP_WATCH_EVENTS;
    if (!fill_hello(connection, fd, size) || !make_memory(connection) ||
        !make_endpoint(connection, !settings->crc_off)) {
        free_connection(connection);
        return ENOMEM;
    }
    sdp_machine_start(&connection->machine, connection->active, &connection->own, size);
    *result = connection;
    return 0;
}

static bool convert(struct sdp_connection *connection, int fd, uint32_t agree_ms)
{
    struct itx_convert_params params = {.size = sizeof(params),
                                        .timeout_us = (uint64_t)agree_ms * 1000};
    it_sc_flags_t role = connection->active ? ITX_SC_INITIATOR : ITX_SC_RESPONDER;

    for (uint32_t slot = 0; slot < connection->slots; slot++)
        sdp_post_receive(connection, slot);
    return !connection->post_failed &&
           it_evd_callback_attach(connection->evd, sdp_callback, connection) == IT_SUCCESS &&
           itx_socket_convert(fd, connection->ep, role, &params) == IT_SUCCESS;
}

int sdp_connection_start(int fd, enum sdp_role role, const struct sdp_settings *settings,
                         const struct sdp_notify *notify, struct sdp_connection **result)
{
    static const struct sdp_settings defaults;
    struct sdp_connection *connection;
    int error;

    if (!sdp_adapter_get())
        return -errno;
    if (!settings)
        settings = &defaults;
    sdp_sweep();
    sdp_guard_install();
    (void)pthread_rwlock_rdlock(&sdp_start_lock);
    error = make(fd, role, settings, &connection);
    if (error == 0) {
        if (notify)
            connection->notify = *notify;
        sdp_list_add(connection);
        if (!convert(connection, fd, settings->agree_ms)) {
            (void)pthread_mutex_lock(&sdp_list_lock);
            sdp_list_remove(connection);
            (void)pthread_mutex_unlock(&sdp_list_lock);
            free_connection(connection);
            error = ENOMEM;
        }
    }
    (void)pthread_rwlock_unlock(&sdp_start_lock);
    if (error != 0)
        return -error;
    (void)close(fd); /* the library has a descriptor of its own */
    *result = connection;
    return 0;
}
