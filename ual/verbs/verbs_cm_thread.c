/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two calls of rdma_cm block with iWARP devices: rdma_connect, until TCP has connected, and
 * rdma_destroy_id, until the peer has answered or the kernel has given up. Each such call has a
 * thread of its own, so that the IA's goes on.
 */
#include "ual/verbs/verbs_cm_private.h"

#include <errno.h>
#include <signal.h>

/* Signals are the program's: its threads are to get them. */
static bool thread_start(struct vrb_conn *conn, void *(*run)(void *))
{
    sigset_t all;
    sigset_t before;
    int error;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&conn->thread, NULL, run, conn);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0;
}

/* ---------------------------------------------------------------- rdma_connect */

static void thread_called(void *argument)
{
    struct vrb_conn *conn = argument;

    vrb_host->task_submit(conn->task);
}

static void *thread_connect(void *argument)
{
    struct vrb_conn *conn = argument;

    pthread_cleanup_push(thread_called, conn);
    /* Cancelled in its system call, which then fails: .error stays as it is. */
    conn->error = rdma_connect(conn->id, &conn->param) == 0 ? 0 : errno;
    pthread_cleanup_pop(1);
    return NULL;
}

bool vrb_thread_connect(struct vrb_conn *conn)
{
    conn->task = vrb_host->task_new(conn->cm->ual, vrb_connect_called, conn);
    if (!conn->task)
        return false;
    conn->error = ECANCELED;
    if (thread_start(conn, thread_connect))
        return true;
    vrb_host->task_free(conn->task);
    conn->task = NULL;
    return false;
}

int vrb_thread_join(struct vrb_conn *conn, bool cut)
{
    struct vp_task *task = conn->task;

    if (cut)
        (void)pthread_cancel(conn->thread); /* fails when the thread is at its end */
    (void)pthread_join(conn->thread, NULL);
    conn->task = NULL;
    vrb_host->task_free(task);
    return conn->error;
}

/* ---------------------------------------------------------------- rdma_destroy_id */

static void thread_bury(void *argument)
{
    struct vrb_conn *conn = argument;

    (void)vrb_thread_join(conn, false);
    conn->id = NULL;
    vrb_conn_discard(conn);
}

static void *thread_destroy(void *argument)
{
    struct vrb_conn *conn = argument;
    struct vrb_cm *cm = conn->cm;
    struct vrb_conn **link = &cm->dying;

    (void)rdma_destroy_id(conn->id); /* fails with a device that is gone: freed nevertheless */
    (void)pthread_mutex_lock(&cm->lock);
    while (*link != conn)
        link = &(*link)->dying_next;
    *link = conn->dying_next;
    (void)pthread_cond_broadcast(&cm->destroyed);
    (void)pthread_mutex_unlock(&cm->lock);
    vrb_host->task_submit(conn->task);
    return NULL;
}

void vrb_thread_destroy(struct vrb_conn *conn, const struct vrb_ep *ep)
{
    struct vrb_cm *cm = conn->cm;

    conn->state = VRB_CONN_DYING;
    conn->held = ep;
    conn->task = vrb_host->task_new(cm->ual, thread_bury, conn);
    if (!conn->task) {
        vrb_conn_discard(conn); /* the IA's thread waits for the peer */
        return;
    }
    (void)pthread_mutex_lock(&cm->lock);
    conn->dying_next = cm->dying;
    cm->dying = conn;
    (void)pthread_mutex_unlock(&cm->lock);
    if (thread_start(conn, thread_destroy))
        return;
    (void)pthread_mutex_lock(&cm->lock);
    cm->dying = conn->dying_next; /* nobody else puts any there */
    (void)pthread_mutex_unlock(&cm->lock);
    vrb_host->task_free(conn->task);
    vrb_conn_discard(conn);
}

static bool thread_holds_locked(const struct vrb_cm *cm, const struct vrb_ep *ep)
{
    const struct vrb_conn *conn = cm->dying;

    while (conn && ep && conn->held != ep)
        conn = conn->dying_next;
    return conn != NULL;
}

void vrb_thread_wait(struct vrb_cm *cm, const struct vrb_ep *ep)
{
    (void)pthread_mutex_lock(&cm->lock);
    while (thread_holds_locked(cm, ep))
        (void)pthread_cond_wait(&cm->destroyed, &cm->lock);
    (void)pthread_mutex_unlock(&cm->lock);
}
