/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two calls of rdma_cm block with iWARP devices: rdma_connect, until TCP has connected, and
 * rdma_destroy_id, until the peer has answered or the kernel has given up. Each such call runs in a
 * thread of its own, so that the IA's thread is not held up.
 */
#include "vp/verbs/cm/verbs_cm_private.h"

#include "base/base_thread.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define THREAD_GRACE_S 2

/* ---------------------------------------------------------------- rdma_connect */

static void thread_called(void *argument)
{
    struct verbs_conn *conn = argument;

    verbs_host->task_submit(conn->called);
}

static void *thread_connect(void *argument)
{
    struct verbs_conn *conn = argument;

    pthread_cleanup_push(thread_called, conn);
    /* When the thread is cancelled in this system call, .error keeps its value. */
    conn->error = rdma_connect(conn->id, &conn->param) == 0 ? 0 : errno;
    pthread_cleanup_pop(1);
    return NULL;
}

bool verbs_thread_connect(struct verbs_conn *conn, void (*returned)(void *conn))
{
    conn->called = verbs_host->task_new(conn->cm->ual, returned, conn);
    if (!conn->called)
        return false;
    conn->error = ECANCELED;
    if (base_thread_create(&conn->caller, thread_connect, conn) == 0)
        return true;
    verbs_host->task_free(conn->called);
    conn->called = NULL;
    return false;
}

int verbs_thread_join(struct verbs_conn *conn, bool cut)
{
    struct vp_task *called = conn->called;

    if (cut)
        (void)pthread_cancel(conn->caller); /* fails if the thread is about to end */
    (void)pthread_join(conn->caller, NULL);
    conn->called = NULL;
    verbs_host->task_free(called);
    return conn->error;
}

/* ---------------------------------------------------------------- rdma_destroy_id */

/* Runs on the IA's thread. */
static void thread_bury(void *argument)
{
    struct verbs_conn *conn = argument;

    (void)pthread_join(conn->destroyer, NULL);
    verbs_host->task_free(conn->called);
    verbs_host->task_free(conn->gone);
    conn->id = NULL;
    conn->buried(conn);
}

/*
 * A listener of siw fails on a TCP connection that ends before its Request. So a connection attempt
 * gets time to complete. One that takes longer has not reached a peer.
 */
static void thread_join_caller(struct verbs_conn *conn)
{
    struct timespec limit;

    (void)clock_gettime(CLOCK_REALTIME, &limit); /* cannot fail */
    limit.tv_sec += THREAD_GRACE_S;
    if (pthread_timedjoin_np(conn->caller, NULL, &limit) == 0)
        return;
    (void)pthread_cancel(conn->caller); /* fails if the thread is about to end */
    (void)pthread_join(conn->caller, NULL);
}

/* Called with the lock, which is dropped and taken again. */
static void thread_destroy_qp(struct verbs_conn *conn)
{
    struct verbs_cm *cm = conn->cm;
    struct ibv_qp *qp = conn->left;

    if (!qp)
        return;
    (void)pthread_mutex_unlock(&cm->lock);
    verbs_warn_unless_removed(cm->ia, "the QP of an ended connection cannot be destroyed",
                              ibv_destroy_qp(qp));
    (void)pthread_mutex_lock(&cm->lock);
}

static void *thread_destroy(void *argument)
{
    struct verbs_conn *conn = argument;
    struct verbs_cm *cm = conn->cm;
    struct verbs_conn **link = &cm->dying;

    if (conn->calling)
        thread_join_caller(conn);
    (void)rdma_destroy_id(conn->id); /* fails if the device is gone, but frees the id */
    (void)pthread_mutex_lock(&cm->lock);
    conn->used = NULL; /* verbs_thread_take_qp takes no QP from here on */
    thread_destroy_qp(conn);
    while (*link != conn)
        link = &(*link)->dying_next;
    *link = conn->dying_next;
    (void)pthread_cond_broadcast(&cm->destroyed);
    (void)pthread_mutex_unlock(&cm->lock);
    verbs_host->task_submit(conn->gone);
    return NULL;
}

static bool thread_start_destroying(struct verbs_conn *conn)
{
    struct verbs_cm *cm = conn->cm;
    bool started;

    conn->gone = verbs_host->task_new(cm->ual, thread_bury, conn);
    if (!conn->gone)
        return false;
    (void)pthread_mutex_lock(&cm->lock);
    conn->dying_next = cm->dying;
    cm->dying = conn;
    started = base_thread_create(&conn->destroyer, thread_destroy, conn) == 0;
    if (!started)
        cm->dying = conn->dying_next;
    (void)pthread_mutex_unlock(&cm->lock);
    if (!started)
        verbs_host->task_free(conn->gone);
    return started;
}

void verbs_thread_destroy(struct verbs_conn *conn, const struct verbs_ep *ep, bool calling,
                          void (*buried)(struct verbs_conn *conn))
{
    conn->buried = buried;
    conn->calling = calling;
    conn->held = ep;
    conn->used = ep ? ep->qp : NULL;
    if (thread_start_destroying(conn))
        return;
    /* Without a thread, the IA's thread waits for the peer itself. */
    if (calling)
        (void)verbs_thread_join(conn, true);
    buried(conn);
}

static bool thread_holds_locked(const struct verbs_cm *cm, const struct verbs_ep *ep)
{
    const struct verbs_conn *conn = cm->dying;

    while (conn && ep && conn->held != ep)
        conn = conn->dying_next;
    return conn != NULL;
}

void verbs_thread_wait(struct verbs_cm *cm, const struct verbs_ep *ep)
{
    (void)pthread_mutex_lock(&cm->lock);
    while (thread_holds_locked(cm, ep))
        (void)pthread_cond_wait(&cm->destroyed, &cm->lock);
    (void)pthread_mutex_unlock(&cm->lock);
}

bool verbs_thread_take_qp(struct verbs_cm *cm, struct ibv_qp *qp)
{
    struct verbs_conn *conn;

    (void)pthread_mutex_lock(&cm->lock);
    conn = cm->dying;
    while (conn && conn->used != qp)
        conn = conn->dying_next;
    if (conn)
        conn->left = qp;
    (void)pthread_mutex_unlock(&cm->lock);
    return conn != NULL;
}
