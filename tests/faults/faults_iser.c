/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iSCSI and iSER: a target and initiators in one process, over plain TCP, with digests, and over
 * RDMA after the login, with CHAP in both directions. The initiator is that of it_iser.
 */
#include "faults/faults_scenario.h"
#include "initiator/iser_client.h"
#include "itiser.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define TARGET     "iqn.2026-11.example:faults"
#define UNIT       (1u << 20)
#define LARGE      (200u * 1024)
#define MEMORY     (512u * 1024) /* of an initiator: what it writes, then what it reads */
#define MEMORY_LUN UINT64_C(0)
#define FILE_LUN   UINT64_C(1)
#define STOP_MS    500u

const enum fault_call scenario_unreached[] = {FAULT_DATAGRAM, FAULT_CALLS};
const bool scenario_pools = false;
const bool scenario_repeats = false; /* the target looks at a connection's first octets once */

static const char *stage = "";
static bool strict;

const char *scenario_stage(void)
{
    return stage;
}

/* ---- The target ------------------------------------------------------------------------------ */

static const struct itiser_secret initiators_secret = {
    .name = "initiator", .secret = (const uint8_t *)"what it knows of", .length = 16};
static const struct itiser_secret targets_secret = {
    .name = "target", .secret = (const uint8_t *)"and what it tells", .length = 17};

static struct event_base *base;
static struct event *doorbell;
static struct itiser *target;
static struct itiser_target_config description;
static pthread_t thread;
static int bell = -1, file = -1;
static sem_t started;
static unsigned stops;
static bool is_running;

static void stopped(void *argument)
{
    (void)argument;
    stops++;
    (void)event_base_loopbreak(base);
}

static void rung(evutil_socket_t fd, short what, void *argument)
{
    (void)fd, (void)what, (void)argument;
    itiser_stop(target, STOP_MS, stopped, NULL);
}

/* Everything here is the scenario's own, and does not fail. */
static void base_open(void)
{
    base = event_base_new();
    bell = eventfd(0, EFD_CLOEXEC);
    doorbell = event_new(base, bell, EV_READ, rung, NULL);
    file = memfd_create("faults", MFD_CLOEXEC);
    (void)sem_init(&started, 0, 0);
    if (!base || !doorbell || event_add(doorbell, NULL) != 0 || ftruncate(file, UNIT) != 0)
        find_say("the scenario's own base fails");
}

static void base_close(void)
{
    event_free(doorbell);
    event_base_free(base);
    (void)close(bell);
    (void)close(file);
}

/* Something has failed, and has said why. */
static void failed(const char *call, const char *reason)
{
    if (strict)
        find_say("%s: %s, and nothing was wrong", call, reason);
    else if (!reason[0])
        find_say("%s fails without a reason", call);
}

static bool unit_open(unsigned lun, const struct itiser_unit_config *config)
{
    char error[256] = "";

    description.units[lun] = itiser_unit_open(config, error);
    if (!description.units[lun])
        failed("itiser_unit_open", error);
    return description.units[lun] != NULL;
}

static bool units_open(void)
{
    char path[64];
    struct itiser_unit_config memory = {
        .kind = ITISER_MEMORY_UNIT, .size = UNIT, .serial = "memory"};
    struct itiser_unit_config of_file = {
        .kind = ITISER_FILE_UNIT, .path = path, .size = UNIT, .serial = "file"};

    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    description = (struct itiser_target_config){
        .name = TARGET, .incoming = initiators_secret, .outgoing = targets_secret};
    return unit_open(MEMORY_LUN, &memory) && unit_open(FILE_LUN, &of_file);
}

/* Makes all calls of the target, in the thread that runs the base. */
static void *run_target(void *argument)
{
    char error[256] = "";

    target = itiser_start(base, argument, error);
    if (!target)
        failed("itiser_start", error);
    (void)sem_post(&started);
    if (!target)
        return NULL;
    (void)event_base_dispatch(base);
    itiser_free(target);
    return NULL;
}

static bool target_open(void)
{
    struct itiser_portal_config portal = {.kinds = ITISER_PLAIN | ITISER_RDMA | ITISER_CONVERT,
                                          .tag = 1};
    struct sockaddr_in *address = (void *)&portal.address;
    struct itiser_config config = {.size = sizeof(config),
                                   .targets = &description,
                                   .target_count = 1,
                                   .portals = &portal,
                                   .portal_count = 1,
                                   .discovery_incoming = initiators_secret,
                                   .discovery_outgoing = targets_secret,
                                   .interface = "uiwarp:lo",
                                   .threads = 2};

    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (!units_open())
        return false;
    is_running = pthread_create(&thread, NULL, run_target, &config) == 0;
    if (!is_running || sem_wait(&started) != 0)
        find_say("the scenario's own thread fails");
    return target != NULL;
}

static void target_close(void)
{
    uint64_t one = 1;

    if (target && write(bell, &one, sizeof(one)) != sizeof(one))
        find_say("the scenario's own bell fails");
    if (is_running)
        (void)pthread_join(thread, NULL);
    if (target && stops != 1)
        find_say("the target has stopped %u times", stops);
    for (unsigned lun = 0; lun < 2; lun++) {
        if (description.units[lun])
            itiser_unit_close(description.units[lun]);
    }
    target = NULL;
    is_running = false;
    stops = 0;
    memset(&description, 0, sizeof(description));
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static bool session_open(struct iser_client *client, const char *to, const char *interface,
                         bool digests)
{
    struct iser_client_options options = {.target = to,
                                          .initiator = "iqn.2026-11.example:initiator",
                                          .own = initiators_secret,
                                          .proof = targets_secret,
                                          .interface = interface,
                                          .digests = digests,
                                          .depth = 4,
                                          .memory = MEMORY,
                                          .timeout = 600};

    if (!itiser_portal_address(target, 0, &options.address))
        find_say("the portal has no address");
    if (iser_client_open(client, &options))
        return true;
    failed("login", client->error);
    return false;
}

#define CHECK_CONDITION 2
#define BUSY            8
#define TASK_SET_FULL   0x28
#define UNMAP           0x42

/*
 * A command may fail for its medium, the hardware, a lack of space or of resources, or end with its
 * session; a file that cannot make holes has no UNMAP.
 */
static bool is_explained(const struct iser_client_task *task)
{
    bool has_sense = task->status == CHECK_CONDITION && task->sense_length >= 14;
    unsigned key = has_sense ? task->sense[2] & 15u : 0, code = has_sense ? task->sense[12] : 0;

    return task->status == BUSY || task->status == TASK_SET_FULL || key == 3 || key == 4 ||
           key == 11 || (key == 7 && code == 0x27) ||
           (key == 5 && code == 0x20 && task->cdb[0] == UNMAP);
}

/* Runs a command, again after a unit attention. */
static bool run(struct iser_client *client, const char *what, struct iser_client_task *task)
{
    for (unsigned attempt = 0; attempt < 8; attempt++) {
        if (iser_client_run(client, task))
            return true;
        if (client->error[0] || task->sense_length < 14 || (task->sense[2] & 15) != 6)
            break;
    }
    if (client->error[0])
        failed(what, client->error);
    else if (strict || !is_explained(task))
        find_say("%s: status %02x, sense %02x/%02x/%02x", what, task->status, task->sense[2] & 15,
                 task->sense[12], task->sense[13]);
    return false;
}

static struct iser_client_task make_task(uint64_t lun, uint8_t code, uint32_t block,
                                         uint32_t length)
{
    struct iser_client_task task = {.lun = lun << 48, .cdb = {[0] = code}};

    iser_put64(task.cdb + 2, block);
    iser_put32(task.cdb + 10, length / 512);
    return task;
}

static unsigned seed;

/* Writes and reads back. */
static bool move(struct iser_client *client, uint64_t lun, uint32_t length)
{
    struct iser_client_task out = make_task(lun, 0x8a, 3, length);
    struct iser_client_task in = make_task(lun, 0x88, 3, length);

    out.out = client->memory;
    out.out_length = length;
    in.in = client->memory + MEMORY / 2;
    in.in_length = length;
    find_fill(client->memory, length, ++seed);
    memset(in.in, 0, length);
    if (!run(client, "WRITE", &out) || !run(client, "READ", &in))
        return false;
    if (in.received != length || !find_is_filled(in.in, length, seed))
        find_say("READ: not the %u octets that were written, %u have come", length, in.received);
    return true;
}

static bool flush(struct iser_client *client)
{
    struct iser_client_task task = {.lun = FILE_LUN << 48, .cdb = {[0] = 0x35}};

    return run(client, "SYNCHRONIZE CACHE", &task);
}

static bool unmap(struct iser_client *client)
{
    struct iser_client_task task = {.lun = FILE_LUN << 48, .cdb = {[0] = UNMAP, [8] = 24}};

    memset(client->memory, 0, 24);
    iser_put16(client->memory, 22);
    iser_put16(client->memory + 2, 16);
    iser_put64(client->memory + 8, 512);
    iser_put32(client->memory + 16, 64);
    task.out = client->memory;
    task.out_length = 24;
    return run(client, "UNMAP", &task);
}

static void traffic(struct iser_client *client)
{
    bool alive = move(client, MEMORY_LUN, 512) && move(client, MEMORY_LUN, LARGE) &&
                 move(client, FILE_LUN, 4096) && move(client, FILE_LUN, LARGE) && flush(client) &&
                 unmap(client);

    if (strict && !alive)
        find_say("the traffic has ended early");
}

/* Logs out; that fails without a reason if the session has failed. */
static void session_close(struct iser_client *client)
{
    bool was_well = !client->error[0];

    iser_client_close(client);
    if (was_well && client->error[0])
        failed("logout", client->error);
}

static void run_session(const char *name, const char *interface, bool digests)
{
    static struct iser_client client;

    stage = name;
    if (session_open(&client, TARGET, interface, digests))
        traffic(&client);
    session_close(&client);
}

static void discover(void)
{
    static struct iser_client client;
    static struct iser_text text;
    char *answer = NULL;
    size_t length;

    stage = "discovery";
    memset(&text, 0, sizeof(text));
    iser_text_put(&text, "SendTargets", "All");
    if (session_open(&client, NULL, NULL, false)) {
        if (!iser_client_text(&client, &text, &answer, &length))
            failed("SendTargets", client.error);
        else if (!answer || !memmem(answer, length, TARGET, strlen(TARGET)))
            find_say("SendTargets does not name the target");
    }
    free(answer);
    session_close(&client);
}

/* ---- The bystanders -------------------------------------------------------------------------- */

static struct iser_client bystanders[2]; /* plain, RDMA */
static bool has_bystanders;

static bool bystanders_open(void)
{
    stage = "bystanders";
    has_bystanders = true;
    return session_open(&bystanders[0], TARGET, NULL, false) &&
           session_open(&bystanders[1], TARGET, "uiwarp:lo", false) &&
           move(&bystanders[0], MEMORY_LUN, 4096) && move(&bystanders[1], MEMORY_LUN, 4096);
}

/* Their commands may lack memory, but their sessions go on. */
static void bystanders_ping(bool last)
{
    const char *during = stage;
    bool was_strict = strict;

    stage = last ? "bystanders, no fault left" : "bystanders";
    strict = last;
    for (unsigned i = 0; has_bystanders && i < 2; i++) {
        (void)move(&bystanders[i], i, 4096);
        if (bystanders[i].error[0])
            find_say("bystander %u: %s", i, bystanders[i].error);
    }
    strict = was_strict;
    stage = during;
}

static void bystanders_close(void)
{
    for (unsigned i = 0; has_bystanders && i < 2; i++)
        session_close(&bystanders[i]);
    has_bystanders = false;
}

/* ---- The scenario ---------------------------------------------------------------------------- */

static void run_sessions(void)
{
    run_session("plain", NULL, false);
    run_session("digests", NULL, true);
    bystanders_ping(false);
    run_session("RDMA", "uiwarp:lo", false);
    discover();
    bystanders_ping(false);
}

void scenario_run(enum fault_mode mode, const struct fault_plan *plan, bool is_strict,
                  struct fault_findings *findings)
{
    bool ready;

    find_begin(findings);
    strict = is_strict;
    stage = "open";
    (void)signal(SIGPIPE, SIG_IGN);
    base_open();
    if (mode == FAULT_ALONE)
        faults_arm(plan);
    ready = target_open();
    if (mode == FAULT_BESIDE) {
        if (!ready || !bystanders_open())
            find_say("no bystanders");
        faults_arm(plan);
    }
    if (ready)
        run_sessions();
    faults_disarm();
    if (ready)
        bystanders_ping(true);
    stage = "close";
    bystanders_close();
    target_close();
    base_close();
}
