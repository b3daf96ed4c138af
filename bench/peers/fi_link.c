/* SPDX-License-Identifier: BSD-2-Clause */
#include "fi_link.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define API FI_VERSION(1, 10)

/* How long either side waits for the other, milliseconds. */
#define CONNECT_MS 10000

bool fi_link_complain(const char *what, long status)
{
    (void)fprintf(stderr, "fi_stream: %s: %s\n", what, fi_strerror((int)-status));
    return false;
}

static bool look_up(struct fi_link *link, const char *host, const char *port, uint64_t flags)
{
    struct fi_info *hints = fi_allocinfo();
    int status;

    if (hints == NULL || (hints->fabric_attr->prov_name = strdup("tcp")) == NULL) {
        fi_freeinfo(hints);
        return fi_link_complain("fi_allocinfo", -FI_ENOMEM);
    }
    hints->ep_attr->type = FI_EP_MSG;
    hints->caps = FI_MSG | FI_RMA;
    hints->addr_format = FI_SOCKADDR_IN;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    /* One thread that polls needs the fewest locks of the provider. */
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    status = fi_getinfo(API, host, port, flags, hints, &link->info);
    fi_freeinfo(hints);
    return status == 0 || fi_link_complain("fi_getinfo", status);
}

static bool open_fabric(struct fi_link *link)
{
    struct fi_eq_attr attributes = {.wait_obj = FI_WAIT_UNSPEC};
    int status = fi_fabric(link->info->fabric_attr, &link->fabric, NULL);

    if (status != 0)
        return fi_link_complain("fi_fabric", status);
    status = fi_eq_open(link->fabric, &attributes, &link->eq, NULL);
    return status == 0 || fi_link_complain("fi_eq_open", status);
}

static bool open_memory(struct fi_link *link, size_t length)
{
    const uint64_t access =
        FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    int status;

    link->length = length;
    if (posix_memalign((void **)&link->memory, 4096, length) != 0) {
        link->memory = NULL;
        return fi_link_complain("memory", -FI_ENOMEM);
    }
    memset(link->memory, 0, length);
    status = fi_mr_reg(link->domain, link->memory, length, access, 0, 1, 0, &link->mr, NULL);
    return status == 0 || fi_link_complain("fi_mr_reg", status);
}

/* Opens an endpoint for one of these infos, with all that it needs. */
static bool open_endpoint(struct fi_link *link, struct fi_info *info, size_t length)
{
    struct fi_cq_attr attributes = {
        .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE, .size = 2048};
    int status = fi_domain(link->fabric, info, &link->domain, NULL);

    if (status != 0)
        return fi_link_complain("fi_domain", status);
    status = fi_cq_open(link->domain, &attributes, &link->cq, NULL);
    if (status != 0)
        return fi_link_complain("fi_cq_open", status);
    status = fi_endpoint(link->domain, info, &link->ep, NULL);
    if (status != 0)
        return fi_link_complain("fi_endpoint", status);
    if ((status = fi_ep_bind(link->ep, &link->eq->fid, 0)) != 0 ||
        (status = fi_ep_bind(link->ep, &link->cq->fid, FI_TRANSMIT | FI_RECV)) != 0 ||
        (status = fi_enable(link->ep)) != 0)
        return fi_link_complain("the endpoint", status);
    return open_memory(link, length);
}

/* Takes the next connection event, which must be this one. */
static bool await(struct fi_link *link, uint32_t wanted, struct fi_eq_cm_entry *entry)
{
    uint32_t event = 0;
    ssize_t count = fi_eq_sread(link->eq, &event, entry, sizeof(*entry), CONNECT_MS, 0);

    if (count == -FI_EAVAIL) {
        struct fi_eq_err_entry failed = {0};

        (void)fi_eq_readerr(link->eq, &failed, 0);
        return fi_link_complain("connecting", -failed.err);
    }
    if (count < 0)
        return fi_link_complain("fi_eq_sread", (long)count);
    return event == wanted || fi_link_complain("an unexpected event", -FI_EOTHER);
}

bool fi_link_listen(struct fi_link *link, const char *port)
{
    int status;

    if (!look_up(link, "127.0.0.1", port, FI_SOURCE) || !open_fabric(link))
        return false;
    status = fi_passive_ep(link->fabric, link->info, &link->listener, NULL);
    if (status != 0)
        return fi_link_complain("fi_passive_ep", status);
    status = fi_pep_bind(link->listener, &link->eq->fid, 0);
    if (status == 0)
        status = fi_listen(link->listener);
    return status == 0 || fi_link_complain("fi_listen", status);
}

bool fi_link_accept(struct fi_link *link, size_t length)
{
    struct fi_eq_cm_entry entry;
    bool good;
    int status;

    if (!await(link, FI_CONNREQ, &entry))
        return false;
    good = open_endpoint(link, entry.info, length);
    fi_freeinfo(entry.info);
    if (!good)
        return false;
    status = fi_accept(link->ep, NULL, 0);
    if (status != 0)
        return fi_link_complain("fi_accept", status);
    return await(link, FI_CONNECTED, &entry);
}

bool fi_link_connect(struct fi_link *link, const char *host, const char *port, size_t length)
{
    struct fi_eq_cm_entry entry;
    int status;

    if (!look_up(link, host, port, 0) || !open_fabric(link) ||
        !open_endpoint(link, link->info, length))
        return false;
    status = fi_connect(link->ep, link->info->dest_addr, NULL, 0);
    if (status != 0)
        return fi_link_complain("fi_connect", status);
    return await(link, FI_CONNECTED, &entry);
}

size_t fi_link_depth(const struct fi_link *link)
{
    size_t there = link->info->tx_attr->size;
    size_t back = link->info->rx_attr->size;

    return there < back ? there : back;
}

uint64_t fi_link_address(const struct fi_link *link)
{
    bool is_virtual = (link->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;

    return is_virtual ? (uint64_t)(uintptr_t)link->memory : 0;
}

static void close_one(struct fid *fid)
{
    (void)fi_close(fid);
}

void fi_link_close(struct fi_link *link)
{
    if (link->ep != NULL)
        close_one(&link->ep->fid);
    if (link->listener != NULL)
        close_one(&link->listener->fid);
    if (link->mr != NULL)
        close_one(&link->mr->fid);
    if (link->cq != NULL)
        close_one(&link->cq->fid);
    if (link->domain != NULL)
        close_one(&link->domain->fid);
    if (link->eq != NULL)
        close_one(&link->eq->fid);
    if (link->fabric != NULL)
        close_one(&link->fabric->fid);
    fi_freeinfo(link->info);
    free(link->memory);
}
