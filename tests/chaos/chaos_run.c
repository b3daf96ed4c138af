/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chaos_run SECONDS [SEED [SERVERS CLIENTS ENDPOINTS [CLIENTS PAIRS]]]: starts the workers, those
 * of this library's API and those of each upper layer (one server, so many clients with so many
 * connections), plays faults on them, and tells what happened.
 */
#include "chaos/chaos_address.h"
#include "chaos/chaos_link.h"
#include "support/time_limit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *const count_names[COUNTS] = {
    "connected",
    "attempts failed",
    "ended by plan",
    "ended by faults",
    "given up",
    "flushed",
    "Sends",
    "Writes",
    "Reads",
    "atomics",
    "octets checked",
    "lacks",
    "generations",
    "SDP processes that converted",
    "results that rxe has left out",
};

/* How an upper layer's worker is started; paths are relative to this program's folder. */
static const struct {
    const char *name;
    const char *wrapper; /* starts the program; NULL: nothing does */
    const char *program;
    const char *argument; /* the path of another program, or NULL */
} layers[CHAOS_LAYERS] = {
    [LAYER_IT] = {"IT-API", NULL, NULL, NULL},
    [LAYER_SDP] = {"SDP", "../it_sdp", "chaos_sockets", NULL},
    [LAYER_RSOCKETS] = {"rsockets", "../it_run", "chaos_rsockets", NULL},
    [LAYER_EXS] = {"Extended Sockets", NULL, "chaos_exs", NULL},
    [LAYER_UDAPL] = {"uDAPL", NULL, "chaos_udapl", NULL},
    [LAYER_ISER] = {"iSER", NULL, "chaos_iser", "../it_iser"},
};

static char folder[PATH_MAX];
static int memory; /* of the run, for other programs */
static volatile sig_atomic_t is_told_to_end;

enum trouble {
    TROUBLE_KILL,
    TROUBLE_STOP,
    TROUBLE_LACK, /* no descriptors */
    TROUBLES
};

static const char *const trouble_names[TROUBLES] = {"killed", "stopped", "without descriptors"};
static unsigned trouble_counts[TROUBLES];

/* The trouble of each worker, until a time. */
static struct {
    bool active;
    enum trouble trouble;
    uint64_t until_us;
} troubled[CHAOS_WORKERS];

static unsigned workers(void)
{
    return chaos->workers_all;
}

/* The clock of the run. It goes slower while the machine does not let this process run. */
static void clock_run(void)
{
    static uint64_t last_us;
    struct timespec now;
    uint64_t now_us;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    now_us = (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000u;
    if (last_us != 0)
        chaos->clock_us += now_us - last_us < 100000 ? now_us - last_us : 100000;
    last_us = now_us;
}

/* ---- Workers --------------------------------------------------------------------------------- */

static char *path_of(const char *name)
{
    char *path = NULL;

    if (name && asprintf(&path, "%s/%s", folder, name) < 0)
        exit(2);
    return path;
}

/* The program finds a dat.conf whose only name is on the worker's Interface. */
static void name_provider(const struct chaos_worker *worker)
{
    int conf = memfd_create("dat.conf", 0);
    char path[64];

    if (conf < 0 ||
        dprintf(conf,
                "itapi-chaos u2.0 nonthreadsafe default %s/../../lib/libdaplitapi.so.1 itapi.2.0 "
                "\"%s\" \"\"\n",
                folder, chaos->places[worker->is_server].interface) < 0)
        _exit(1);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", conf);
    (void)setenv("DAT_OVERRIDE", path, 1);
}

/* Becomes the program of an upper layer. */
static void __attribute__((noreturn)) worker_become(unsigned i)
{
    enum chaos_layer layer = chaos->workers[i].layer;
    char fd[16], number[16];
    char *words[] = {path_of(layers[layer].wrapper),
                     path_of(layers[layer].program),
                     fd,
                     number,
                     path_of(layers[layer].argument),
                     NULL};
    char **first = words[0] ? words : words + 1;

    (void)snprintf(fd, sizeof(fd), "%d", memory);
    (void)snprintf(number, sizeof(number), "%u", i);
    (void)fcntl(memory, F_SETFD, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (layer == LAYER_UDAPL)
        name_provider(&chaos->workers[i]);
    (void)execv(first[0], first);
    chaos_fail("%s: %s", first[0], strerror(errno));
    _exit(1);
}

static void worker_start(unsigned i)
{
    int process = fork();

    if (process < 0) {
        perror("fork");
        exit(2);
    }
    if (process == 0) {
        (void)signal(SIGTERM, SIG_DFL);
        links_close();
        if (chaos->workers[i].layer != LAYER_IT)
            worker_become(i);
        chaos_worker_run(i);
    }
    chaos->workers[i].process = process;
}

static void worker_limit(unsigned i, rlim_t descriptors)
{
    struct rlimit limit = {descriptors, 4096};

    (void)prlimit(chaos->workers[i].process, RLIMIT_NOFILE, &limit, NULL);
}

static void trouble_begin(unsigned i, enum trouble trouble, uint64_t length_us)
{
    struct chaos_worker *worker = &chaos->workers[i];

    troubled[i].active = true;
    troubled[i].trouble = trouble;
    troubled[i].until_us = chaos_now_us() + length_us;
    trouble_counts[trouble]++;
    switch (trouble) {
    case TROUBLE_KILL:
        chaos_leave(worker);
        (void)kill(worker->process, SIGKILL);
        (void)waitpid(worker->process, NULL, 0);
        worker->process = 0;
        break;
    case TROUBLE_STOP:
        (void)kill(worker->process, SIGSTOP);
        break;
    default:
        atomic_store(&worker->lacks, true);
        worker_limit(i, 8 + length_us % 16);
    }
}

static void trouble_end(unsigned i)
{
    troubled[i].active = false;
    if (chaos->workers[i].process == 0) {
        worker_start(i);
        return;
    }
    switch (troubled[i].trouble) {
    case TROUBLE_KILL:
        break;
    case TROUBLE_STOP:
        (void)kill(chaos->workers[i].process, SIGCONT);
        break;
    default:
        worker_limit(i, 4096);
        (void)sem_post(&chaos->workers[i].descriptors);
    }
}

static void play(uint64_t now)
{
    static uint64_t next_us, turn;

    for (unsigned i = 0; i < workers(); i++) {
        if (troubled[i].active && now >= troubled[i].until_us)
            trouble_end(i);
    }
    if (now < next_us)
        return;
    if (next_us != 0) {
        uint64_t number = chaos_number(9, turn++, 0);
        unsigned i = (unsigned)(number % workers());

        if (!troubled[i].active && chaos->workers[i].process != 0)
            trouble_begin(i, (enum trouble)((number >> 16) % TROUBLES),
                          50000 + (number >> 24) % 3000000);
    }
    next_us = now + 100000 + chaos_number(10, turn, 0) % 600000;
}

/*
 * A worker that ends by itself has found something, or has died of it. A program of an upper layer
 * ends after a while, and begins anew.
 */
static void watch(void)
{
    for (unsigned i = 0; i < workers(); i++) {
        int status, process = chaos->workers[i].process;

        if (process == 0 || waitpid(process, &status, WNOHANG) != process)
            continue;
        chaos->workers[i].process = 0;
        if (status != 0 || (chaos->workers[i].layer == LAYER_IT && !atomic_load(&chaos->stop)))
            chaos_fail("worker %u ended with status 0x%x", i, (unsigned)status);
        else if (!atomic_load(&chaos->stop) && !troubled[i].active)
            worker_start(i);
    }
}

static void all_end(void)
{
    uint64_t end_us = chaos_now_us() + 30000000u * (unsigned)chaos->time_factor;
    unsigned left;

    for (unsigned i = 0; i < workers(); i++) {
        if (troubled[i].active)
            trouble_end(i);
    }
    atomic_store(&chaos->stop, true);
    do {
        clock_run();
        links_run();
        watch();
        left = 0;
        for (unsigned i = 0; i < workers(); i++)
            left += chaos->workers[i].process != 0;
    } while (left > 0 && chaos_now_us() < end_us);
    for (unsigned i = 0; i < workers(); i++) {
        if (chaos->workers[i].process == 0)
            continue;
        chaos_fail("worker %u does not end", i);
        (void)kill(chaos->workers[i].process, SIGKILL);
    }
    links_close();
}

/* Returns how many octets the layer has moved: none for SDP over TCP alone. */
static uint64_t layer_octets(enum chaos_layer layer)
{
    if (layer == LAYER_IT)
        return atomic_load(&chaos->counts[COUNT_OCTETS]);
    if (layer == LAYER_SDP && atomic_load(&chaos->counts[COUNT_CONVERTED]) == 0)
        return 0;
    return atomic_load(&chaos->octets[layer]);
}

/* On devices an attempt of it_iser may outlast a short run, so iSER is not judged there. */
static bool is_judged(enum chaos_layer layer)
{
    return layer != LAYER_ISER || !chaos->on_devices;
}

static bool all_have_moved(void)
{
    for (unsigned i = 0; i < workers(); i++) {
        enum chaos_layer layer = chaos->workers[i].layer;

        if (chaos->workers[i].is_server && is_judged(layer) && layer_octets(layer) == 0)
            return false;
    }
    return true;
}

/* On a machine that hardly runs this process the clock of the run says how long it was. */
static void tell_time(void)
{
    printf("seconds by the clock of the run: %" PRIu64 "\n", chaos_now_us() / 1000000u);
}

static void tell_layers(void)
{
    for (unsigned i = 0; i < workers(); i++) {
        enum chaos_layer layer = chaos->workers[i].layer;

        if (chaos->workers[i].is_server && layer != LAYER_IT)
            printf("%s, octets checked: %" PRIu64 "\n", layers[layer].name, layer_octets(layer));
    }
}

static bool tell(void)
{
    unsigned failures = atomic_load(&chaos->failures);

    tell_time();
    tell_layers();
    for (unsigned i = 0; i < COUNTS; i++)
        printf("%s: %" PRIu64 "\n", count_names[i], atomic_load(&chaos->counts[i]));
    for (unsigned i = LINK_CLEAN + 1; i < LINK_FAULTS; i++)
        printf("links %s: %" PRIu64 "\n", link_fault_names[i], link_counts[i]);
    for (unsigned i = 0; i < TROUBLES; i++)
        printf("workers %s: %u\n", trouble_names[i], trouble_counts[i]);
    printf("addresses removed: %u\nchanges of the MTU: %u\n", address_removals, mtu_changes);
    printf("unexpected: %u\n", failures);
    return failures == 0 && all_have_moved();
}

/* ---- The run --------------------------------------------------------------------------------- */

/* SIGTERM ends the run early; it is judged as any other. */
static void on_end(int signal_number)
{
    (void)signal_number;
    is_told_to_end = 1;
}

static void find_folder(void)
{
    ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

    if (length <= 0)
        exit(2);
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
}

static void memory_open(void)
{
    memory = memfd_create("chaos", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, sizeof(*chaos)) != 0) {
        perror("the memory of the run");
        exit(2);
    }
    chaos = mmap(NULL, sizeof(*chaos), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (chaos == MAP_FAILED)
        exit(2);
}

/* The environment names an Interface and an address for the servers and the clients: on devices. */
static void places_find(void)
{
    static const char *const names[2] = {"ITAPI_CHAOS_CLIENTS", "ITAPI_CHAOS_SERVERS"};

    for (unsigned i = 0; i < 2; i++) {
        const char *value = getenv(names[i]);
        struct chaos_place *place = &chaos->places[i];

        *place = (struct chaos_place){"uiwarp", "127.0.0.1"};
        if (value && sscanf(value, "%63s %63s", place->interface, place->address) != 2) {
            fprintf(stderr, "chaos_run: %s is INTERFACE ADDRESS\n", names[i]);
            exit(2);
        }
        chaos->on_devices |= value != NULL;
        chaos->on_rxe |= strncmp(place->interface, "rxe", 3) == 0;
    }
}

static unsigned worker_add(enum chaos_layer layer, bool is_server)
{
    unsigned i = chaos->workers_all++;

    if (i == CHAOS_WORKERS) {
        fprintf(stderr, "chaos_run: at most %u workers\n", CHAOS_WORKERS);
        exit(2);
    }
    chaos->workers[i].layer = layer;
    chaos->workers[i].is_server = is_server;
    return i;
}

static bool is_built(enum chaos_layer layer)
{
    char *path = path_of(layers[layer].program);
    bool built = access(path, X_OK) == 0;

    if (!built)
        printf("%s is not built\n", layers[layer].name);
    free(path);
    return built;
}

/* One server and some clients of each upper layer. Their pairs come behind those of LAYER_IT. */
static void layers_add(unsigned clients, uint32_t pairs)
{
    uint32_t pair = chaos->clients * chaos->endpoints;

    for (enum chaos_layer layer = LAYER_SDP; clients > 0 && layer < CHAOS_LAYERS; layer++) {
        unsigned server;

        if ((chaos->on_devices && (layer == LAYER_SDP || layer == LAYER_RSOCKETS)) ||
            !is_built(layer))
            continue;
        server = worker_add(layer, true);
        for (unsigned n = 0; n < clients; n++, pair += pairs) {
            struct chaos_worker *client = &chaos->workers[worker_add(layer, false)];

            client->server = server;
            client->first_pair = pair;
            client->pairs = pairs;
        }
    }
    if (pair > CHAOS_PAIRS) {
        fprintf(stderr, "chaos_run: at most %u connections\n", CHAOS_PAIRS);
        exit(2);
    }
}

static unsigned number_at(int argc, char **argv, int i, unsigned other)
{
    return argc > i ? (unsigned)atoi(argv[i]) : other;
}

/* Decides who takes part. */
static void settle(int argc, char **argv)
{
    bool is_whole = argc <= 3;

    chaos->seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    chaos->servers = number_at(argc, argv, 3, 6);
    chaos->clients = number_at(argc, argv, 4, 18);
    chaos->endpoints = number_at(argc, argv, 5, 12);
    chaos->time_factor = time_limit_ms(1000) / 1000;
    for (unsigned i = 0; i < chaos->servers + chaos->clients; i++)
        (void)worker_add(LAYER_IT, i < chaos->servers);
    layers_add(number_at(argc, argv, 6, is_whole ? 2 : 0), number_at(argc, argv, 7, 4));
    printf("seed %" PRIu64 ": %u servers, %u clients with %u endpoints each, %u processes in all\n",
           chaos->seed, chaos->servers, chaos->clients, chaos->endpoints, workers());
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct rlimit limit = {8192, 8192};
    const char *longer = getenv("ITAPI_CHAOS_SECONDS");
    int seconds = longer ? atoi(longer) : argc > 1 ? atoi(argv[1]) : 0;
    uint64_t end_us, last_us;

    if (seconds < 1) {
        fprintf(stderr,
                "usage: chaos_run SECONDS [SEED [SERVERS CLIENTS ENDPOINTS [CLIENTS PAIRS]]]\n");
        return 2;
    }
    find_folder();
    memory_open();
    places_find();
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    settle(argc, argv);
    addresses_open();
    links_open();
    for (unsigned i = 0; i < workers(); i++) {
        (void)sem_init(&chaos->workers[i].descriptors, 1, 0);
        worker_start(i);
    }
    end_us = chaos_now_us() + (uint64_t)seconds * 1000000u;
    /* A layer that has moved nothing yet may only have had bad luck. */
    last_us = end_us + (uint64_t)time_limit_ms(30000) * 1000u;
    (void)signal(SIGTERM, on_end);
    while (!is_told_to_end && chaos_now_us() < (all_have_moved() ? end_us : last_us)) {
        clock_run();
        links_run();
        play(chaos_now_us());
        addresses_run(chaos_now_us());
        watch();
    }
    addresses_close();
    all_end();
    return tell() ? 0 : 1;
}
