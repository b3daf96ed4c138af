/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect/udapl_sp.h"

#include "connect/udapl_connect.h"
#include "event/udapl_event.h"
#include "map/udapl_connection.h"

DAT_RETURN udapl_sp_make(struct udapl_ia *ia, DAT_HANDLE_TYPE type, DAT_EVD_HANDLE evd_handle,
                         struct udapl_sp **sp)
{
    struct udapl_evd *evd = udapl_find(ia, evd_handle, DAT_HANDLE_TYPE_EVD);

    if (!evd || !((unsigned)evd->flags & (unsigned)DAT_EVD_CR_FLAG) || !udapl_object_hold(evd))
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
    *sp = udapl_object_new(ia, type);
    if (!*sp) {
        udapl_object_release(evd);
        return udapl_error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    }
    (*sp)->evd = evd;
    return DAT_SUCCESS;
}

void udapl_sp_unmake(struct udapl_sp *sp)
{
    udapl_object_release(sp->evd);
    udapl_object_discard(sp);
}

void udapl_sp_end(struct udapl_sp *sp)
{
    udapl_object_release(sp->evd);
    udapl_object_end(sp);
}

static it_status_t listen_on(struct udapl_sp *sp, it_conn_qual_t *qual, it_listen_handle_t *listen)
{
    struct udapl_ia *ia = sp->object.ia;
    it_listen_flags_t flags = sp->conn_qual ? IT_LISTEN_CONN_QUAL_INPUT : IT_LISTEN_NO_FLAG;
    it_evd_handle_t sevd;

    if (udapl_evd_stream(sp->evd, IT_CM_REQ_EVENT_STREAM, DAT_INVALID_HANDLE_EVD_CR, &sevd) !=
        DAT_SUCCESS)
        return IT_ERR_INVALID_CONN_EVD; /* its flags do not have the stream */
    return it_listen_create(ia->it, ia->info->spigot_info[0].spigot_id, sevd, flags, qual, listen);
}

/* Keeps the listen point, unless an RSP has got its request already. */
static void keep_listen(struct udapl_sp *sp, DAT_CONN_QUAL conn_qual, it_listen_handle_t listen)
{
    struct udapl_ia *ia = sp->object.ia;
    bool listens;

    pthread_mutex_lock(&ia->lock);
    listens = sp->listens;
    if (listens) {
        if (sp->conn_qual == 0) /* any */
            sp->conn_qual = conn_qual;
        sp->it = listen;
    }
    pthread_mutex_unlock(&ia->lock);
    if (!listens)
        (void)it_listen_free(listen); /* cannot fail: no other thread has it */
}

static DAT_RETURN listen_error(it_status_t status)
{
    if (status == IT_ERR_INVALID_CONN_EVD)
        return udapl_error(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_CR);
    return udapl_return(status);
}

DAT_RETURN udapl_sp_listen(struct udapl_sp *sp)
{
    it_conn_qual_t qual = udapl_passive_qual(sp->conn_qual);
    it_listen_handle_t listen;
    it_status_t status;

    sp->listens = true;
    udapl_object_start(sp);
    status = listen_on(sp, &qual, &listen);
    if (status != IT_SUCCESS) {
        (void)udapl_sp_close(sp);
        udapl_sp_end(sp);
        return listen_error(status);
    }
    keep_listen(sp, udapl_conn_qual_of(&qual), listen);
    return DAT_SUCCESS;
}

struct udapl_ep *udapl_sp_close(struct udapl_sp *sp)
{
    struct udapl_ia *ia = sp->object.ia;
    it_listen_handle_t listen;
    struct udapl_ep *ep;

    pthread_mutex_lock(&ia->lock);
    listen = sp->it;
    ep = sp->ep;
    sp->listens = false;
    sp->it = NULL;
    sp->ep = NULL;
    pthread_mutex_unlock(&ia->lock);
    if (listen)
        (void)it_listen_free(listen); /* cannot fail: no other thread has it */
    return ep;
}

void udapl_sp_discard(struct udapl_sp *sp)
{
    (void)sp; /* its EVD and EP are freed with the others */
}
