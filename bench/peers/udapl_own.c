/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What dapltest itself takes for an operation: preloaded, this makes its RDMA Writes and Reads end
 * without a provider, and tells the processor time that is left. It takes the place of the
 * registry's function by which a provider introduces itself, and changes entries of the table.
 *
 * Code is slower between system calls than without any, so the system calls of uiwarp are made:
 * what was posted leaves by one, to a process that reads it, and another looks for what has come.
 * In the end these are made alone, and their time is taken off.
 */
#include <dat2/udat.h>

#include <dat2/dat_registry.h>

#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST 1048576 /* most octets that are sent at once */

static DAT_EVD_DEQUEUE_FUNC dequeue;
static char octets[MOST];
static int out = -1, looks;             /* a socket; a poll set that contains it */
static unsigned posted, done;           /* not sent, sent */
static size_t size;                     /* number of octets of posted requests */
static unsigned long requests, batches; /* counts of the measurement */
static uint64_t sent, began_ns;
static bool told;

static uint64_t processor_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void check(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    abort();
}

static void read_all(int in)
{
    struct epoll_event event = {.events = EPOLLIN};
    int set = epoll_create1(0);

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)epoll_ctl(set, EPOLL_CTL_ADD, in, &event);
    do
        (void)epoll_wait(set, &event, 1, -1);
    while (recv(in, octets, sizeof(octets), 0) > 0);
    _exit(0);
}

/* Connects to a process that only reads. */
static void open_connection(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr *any = (struct sockaddr *)&address;
    socklen_t length = sizeof(address);
    struct epoll_event event = {.events = EPOLLIN};
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    int at_once = 1;
    int in;

    check(bind(listening, any, length) == 0 && listen(listening, 1) == 0 &&
              getsockname(listening, any, &length) == 0,
          "listen");
    out = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(out, any, length) == 0, "connect");
    check(setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once)) == 0, "setsockopt");
    in = accept(listening, NULL, NULL);
    if (fork() == 0)
        read_all(in);
    (void)close(in);
    (void)close(listening);
    looks = epoll_create1(0);
    check(epoll_ctl(looks, EPOLL_CTL_ADD, out, &event) == 0, "epoll_ctl");
}

static void system_calls(size_t length)
{
    struct epoll_event event;

    check(send(out, octets, length < MOST ? length : MOST, 0) > 0, "send");
    (void)epoll_wait(looks, &event, 1, 0);
}

/* Prints the processor time without dapltest's, for as many operations. */
static void tell(void)
{
    double all = (double)(processor_ns() - began_ns);
    uint64_t alone = processor_ns();

    for (unsigned long i = 0; i < batches; i++)
        system_calls(sent / batches);
    alone = processor_ns() - alone;
    (void)fprintf(stderr, "own: %.3f us\n", (all - (double)alone) / (double)requests / 1000);
    told = true;
}

/* The first part has many requests open, the second part one. */
static void leave(void)
{
    if (posted == 1 && batches > 1 && !told)
        tell();
    if (batches == 1)
        began_ns = processor_ns();
    if (batches++ > 0) {
        requests += posted;
        sent += size;
    }
    system_calls(size);
    done = posted;
    posted = 0;
    size = 0;
}

static DAT_RETURN post(DAT_EP_HANDLE ep, DAT_COUNT count, DAT_LMR_TRIPLET *segments,
                       DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET *remote,
                       DAT_COMPLETION_FLAGS flags)
{
    (void)ep, (void)count, (void)segments, (void)cookie, (void)flags;
    posted++;
    size += remote->segment_length;
    return DAT_SUCCESS;
}

static DAT_RETURN take(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (done == 0 && posted == 0)
        return dequeue(evd, event);
    if (done == 0)
        leave();
    done--;
    event->event_number = DAT_DTO_COMPLETION_EVENT;
    return DAT_SUCCESS;
}

DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info);

DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider, const DAT_PROVIDER_INFO *info)
{
    DAT_RETURN (*add)(const DAT_PROVIDER *, const DAT_PROVIDER_INFO *);
    DAT_PROVIDER *table = (DAT_PROVIDER *)(uintptr_t)
        provider; /* the table is the provider's own memory, not a constant */

    *(void **)&add = dlsym(RTLD_NEXT, "dat_registry_add_provider");
    dequeue = table->evd_dequeue_func;
    table->evd_dequeue_func = take;
    table->ep_post_rdma_write_func = post;
    table->ep_post_rdma_read_func = post;
    open_connection();
    return add(provider, info);
}
