/* SPDX-License-Identifier: BSD-2-Clause */
/* What the log says about refused calls, unknown names, and connections that fail or end. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/raw_peer.h"

static char said[16384]; /* written by the library since say_begin */
static int log_file = -1;
static int log_stderr = -1;

/*
 * Must come before the first call of the library, which reads ITAPI_LOG once. With NULL the
 * variable is not set.
 */
static void say_begin(const char *level)
{
    char path[] = "/tmp/itapi-log.XXXXXX";

    CHECK(level ? setenv("ITAPI_LOG", level, 1) == 0 : unsetenv("ITAPI_LOG") == 0);
    CHECK((log_stderr = dup(STDERR_FILENO)) >= 0);
    CHECK((log_file = mkstemp(path)) >= 0 && unlink(path) == 0);
    CHECK(dup2(log_file, STDERR_FILENO) == STDERR_FILENO);
}

static void say_end(void)
{
    ssize_t length;

    CHECK(dup2(log_stderr, STDERR_FILENO) == STDERR_FILENO);
    length = pread(log_file, said, sizeof(said) - 1, 0);
    CHECK(length >= 0);
    said[length] = '\0';
}

static void says(const char *what)
{
    if (!strstr(said, what))
        check_note(__FILE__, __LINE__, "not '%s' but '%s'", what, said);
}

/* Opens an Interface that does not exist. */
static void unknown_name(const char *level, const char *name)
{
    it_ia_handle_t ia;

    say_begin(level);
    EXPECT_STATUS(IT_ERR_INVALID_NAME, it_ia_create(name, 2, 1, &ia));
    say_end();
}

Test(log, nothing_unless_asked)
{
    unknown_name(NULL, "uiwrap");
    EXPECT(said[0] == '\0');
    check_done();
}

Test(log, a_name_that_is_nearly_one)
{
    unknown_name("error", "uiwrap");
    says("itapi error: no Interface uiwrap");
    says("; did you mean uiwarp?; there are uiwarp");
    check_done();
}

Test(log, a_name_that_is_like_none)
{
    unknown_name("error", "InfiniHost0");
    says("itapi error: no Interface InfiniHost0");
    says("; there are uiwarp");
    EXPECT(!strstr(said, "did you mean"));
    check_done();
}

Test(log, a_long_name)
{
    char name[IT_INTERFACE_NAME_SIZE];

    memset(name, 'u', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    unknown_name("error", name);
    says("there are uiwarp");
    check_done();
}

Test(log, an_alias_of_nothing)
{
    char path[] = "/tmp/itapi-log.XXXXXX";
    int fd = mkstemp(path);

    CHECK(fd >= 0 && write(fd, "alias old uiwrap\n", 17) == 17 && close(fd) == 0);
    CHECK(setenv("ITAPI_CONF", path, 1) == 0);
    unknown_name("error", "old");
    CHECK(unlink(path) == 0);
    says("no Interface uiwrap, for which old stands");
    says("did you mean uiwarp?");
    check_done();
}

Test(log, a_level_that_is_none)
{
    unknown_name("verbose", "uiwrap");
    says("itapi error: ITAPI_LOG=verbose is no level, and nothing is logged; "
         "there are none, error, warn, info and debug\n");
    EXPECT(!strstr(said, "no Interface"));
    check_done();
}

/* Refused values are logged, also before any other call, and with the limits. */
Test(log, values_that_are_refused)
{
    it_srq_handle_t srq;
    it_pz_handle_t pz;
    it_ia_handle_t ia;

    say_begin("debug");
    EXPECT_STATUS(IT_ERR_INVALID_PZ, it_pz_free(NULL));
    EXPECT_STATUS(IT_ERR_INVALID_MAJOR_VERSION, it_ia_create("uiwarp", 3, 0, &ia));
    CHECK_OK(it_ia_create("uiwarp", 2, 1, &ia));
    CHECK_OK(it_pz_create(ia, &pz));
    EXPECT_STATUS(IT_ERR_RESOURCE_RSEG, it_srq_create(pz, 1000, 1, &srq));
    CHECK_OK(it_ia_free(ia));
    say_end();
    says("itapi debug: it_pz_free: IT_ERR_INVALID_PZ: pz_handle (nil)\n");
    says("itapi debug: it_ia_create: IT_ERR_INVALID_MAJOR_VERSION: major_version 3, 1 and 2 are "
         "known\n");
    says("itapi debug: it_srq_create: IT_ERR_RESOURCE_RSEG: max_recv_segments 1000, at most 64\n");
    check_done();
}

/* ---- Connections ---------------------------------------------------------------------------- */

static void fails_to_connect(struct fx_node *node, uint16_t port)
{
    it_ep_handle_t ep = fx_ep(node, NULL);

    fx_connect(node, ep, port);
    (void)fx_conn(node->conn_evd, ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
}

Test(log, nobody_listens)
{
    struct fx_node node;
    uint16_t port = 0;
    char want[64];
    int kept = raw_keep_port(&port);

    say_begin("info");
    fx_node_open(&node);
    fails_to_connect(&node, port);
    fx_node_close(&node);
    say_end();
    (void)close(kept);
    (void)snprintf(want, sizeof(want), "no connection with 127.0.0.1:%u: IT_CN_REJ_OTHER while ",
                   ntohs(port));
    says(want);
    says(": Connection refused\n");
    says("IT_EP_STATE_UNCONNECTED to IT_EP_STATE_ACTIVE1_CONNECTION_PENDING\n");
    check_done();
}

static const char ssh[] = "SSH-2.0-OpenSSH\r\n";

/* A server of another kind is recognized by what it sends. */
Test(log, the_server_is_another_one)
{
    struct raw_peer peer;
    struct fx_node node;
    it_ep_handle_t ep;
    uint16_t port = 0;
    int listener = raw_listen(&port);

    say_begin("info");
    fx_node_open(&node);
    ep = fx_ep(&node, NULL);
    fx_connect(&node, ep, port);
    raw_accept(&peer, listener);
    CHECK(raw_send_part(&peer, ssh, strlen(ssh)));
    (void)fx_conn(node.conn_evd, ep, IT_CM_MSG_CONN_NONPEER_REJECT_EVENT);
    fx_node_close(&node);
    say_end();
    raw_close(&peer);
    (void)close(listener);
    says("IT_CN_REJ_BAD_CONN_PARMS while it waits for the MPA Reply: the peer sent no MPA frame "
         "that "
         "can be taken, but \"SSH-2.0-OpenSSH\\x0d\\x0a\"\n");
    check_done();
}

/* So is a client of another kind. */
Test(log, the_client_is_another_one)
{
    struct raw_peer peer;
    struct fx_node node;
    uint16_t port = 0;

    say_begin("info");
    fx_node_open(&node);
    (void)fx_listen(&node, &port);
    raw_connect(&peer, port);
    CHECK(raw_send_part(&peer, ssh, strlen(ssh)));
    (void)raw_drain(&peer); /* until the library has given up */
    fx_node_close(&node);
    say_end();
    raw_close(&peer);
    says("uiwarp: no connection with 127.0.0.1:");
    says("while it waits for the MPA Request: the peer sent no MPA frame that can be taken, but "
         "\"SSH-2.0-OpenSSH\\x0d\\x0a\"\n");
    check_done();
}

/* Side a posts a Send or a Write that side b refuses. */
static void refused(size_t receive, size_t send, bool write)
{
    struct fx_pair pair;
    struct fx_buf out;
    struct fx_buf in;

    say_begin("warn");
    fx_pair_open(&pair);
    out = fx_node_buf(&pair.a, 4096);
    in = fx_node_buf(&pair.b, 4096);
    if (receive > 0)
        fx_recv(pair.b_ep, &in, 0, receive, 1);
    if (write) {
        it_lmr_triplet_t segment = fx_seg(&out, 0, send);

        CHECK_OK(
            it_post_rdma_write(pair.a_ep, &segment, 1, 2, FX_QUIET, fx_addr(&in, 4000), in.key));
    } else {
        it_lmr_triplet_t segment = fx_seg(&out, 0, send);

        CHECK_OK(it_post_send(pair.a_ep, &segment, 1, 2, FX_QUIET));
    }
    fx_ep_wait_state(pair.b_ep, IT_EP_STATE_NONOPERATIONAL);
    fx_ep_wait_state(pair.a_ep, IT_EP_STATE_NONOPERATIONAL);
    fx_pair_close(&pair);
    say_end();
}

Test(log, no_receive)
{
    refused(0, 64, false);
    says(": no receive was posted for a Send of 127.0.0.1:");
    check_done();
}

Test(log, small_receive)
{
    refused(10, 64, false);
    says(": the receive was too small for a Send of 127.0.0.1:");
    says(", which has 64 octets at least\n");
    check_done();
}

Test(log, bad_key)
{
    refused(0, 1000, true);
    says(": a key was refused to a RDMA Write of 127.0.0.1:");
    says(": octets outside of the memory of the key (1/1/01)\n");
    check_done();
}

/* A thread that waits while a receive completes without notification. */
struct quiet_wait {
    it_evd_handle_t evd;
    atomic_bool begun;
    it_status_t status;
    size_t left; /* events in the queue at the timeout */
};

static void *wait_quietly(void *argument)
{
    struct quiet_wait *wait = argument;
    it_event_t event;
    size_t count;

    atomic_store(&wait->begun, true);
    wait->left = 0;
    wait->status = itx_evd_wait_n(wait->evd, 50000, 1, &event, &count, &wait->left);
    return NULL;
}

/* A completion that asks for no notification wakes no sleeper. The log says why. */
Test(log, a_wait_beside_completions)
{
    struct fx_patience patience = fx_patience_start("a completion during a wait");
    struct quiet_wait wait = {.left = 0};
    struct fx_pair pair;
    struct fx_buf out;
    struct fx_buf in;
    pthread_t thread;

    say_begin("info");
    fx_pair_open(&pair);
    out = fx_node_buf(&pair.a, 64);
    in = fx_node_buf(&pair.b, 64);
    wait.evd = pair.b.recv_evd;
    do {
        it_lmr_triplet_t segment = fx_seg(&in, 0, 64);
        it_event_t event;

        CHECK_OK(it_post_recv(pair.b_ep, &segment, 1, 1, IT_COMPLETION_FLAG));
        atomic_store(&wait.begun, false);
        CHECK(pthread_create(&thread, NULL, wait_quietly, &wait) == 0);
        while (!atomic_load(&wait.begun))
            fx_patience_check(&patience);
        (void)usleep(10000); /* the thread sleeps now, or the loop repeats */
        fx_send(pair.a_ep, &out, 0, 64, 2, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG);
        (void)fx_wait(pair.a.request_evd);
        CHECK(pthread_join(thread, NULL) == 0);
        /* The completion came before the sleep, which then takes it, or after it. */
        while (wait.status == IT_ERR_TIMEOUT_EXPIRED && wait.left == 0 &&
               it_evd_dequeue(wait.evd, &event) != IT_SUCCESS)
            fx_patience_check(&patience);
    } while (wait.status != IT_ERR_TIMEOUT_EXPIRED || wait.left == 0);
    EXPECT(wait.left == 1);
    fx_pair_close(&pair);
    say_end();
    says("itapi info: itx_evd_wait_n: time is up, and 1 event is in the queue; requests wake a "
         "waiter only with IT_NOTIFY_FLAG, and only as many as the threshold\n");
    check_done();
}
