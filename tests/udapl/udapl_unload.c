/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udapl_unload CYCLES: opens two names of dat.conf, makes an object of each kind, connects, and
 * closes, again and again. After each cycle the registry must have unloaded the module, and no
 * thread, descriptor or byte may be left. It is linked with libdat2 only, as programs are.
 */
#include <dat2/udat.h>

#include <dirent.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "udapl_unload: line %d: not so: %s\n", __LINE__, #condition);          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define OK(call) NEED((call) == DAT_SUCCESS)

#define LENGTH  4096
#define FOREVER DAT_TIMEOUT_INFINITE

/* ---------------------------------------------------------------- one end */

struct end {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async, dto, connect, cr;
    DAT_CNO_HANDLE cno;
    DAT_PZ_HANDLE pz;
    DAT_SRQ_HANDLE srq;
    DAT_EP_HANDLE ep;
    DAT_LMR_HANDLE lmr;
    DAT_RMR_HANDLE rmr;
    DAT_LMR_CONTEXT context;
    char memory[LENGTH];
};

static void end_open(struct end *end, const char *name)
{
    DAT_SRQ_ATTR srq = {.max_recv_dtos = 4, .max_recv_iov = 1};
    DAT_REGION_DESCRIPTION region = {.for_va = end->memory};
    char copy[DAT_NAME_MAX_LENGTH];

    snprintf(copy, sizeof(copy), "%s", name);
    end->async = DAT_HANDLE_NULL;
    OK(dat_ia_open(copy, 8, &end->async, &end->ia));
    OK(dat_pz_create(end->ia, &end->pz));
    OK(dat_cno_create(end->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &end->cno));
    OK(dat_evd_create(end->ia, 8, end->cno, DAT_EVD_DTO_FLAG, &end->dto));
    OK(dat_evd_create(end->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &end->connect));
    OK(dat_evd_create(end->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &end->cr));
    OK(dat_srq_create(end->ia, end->pz, &srq, &end->srq));
    OK(dat_lmr_create(end->ia, DAT_MEM_TYPE_VIRTUAL, region, LENGTH, end->pz, DAT_MEM_PRIV_ALL_FLAG,
                      DAT_VA_TYPE_VA, &end->lmr, &end->context, NULL, NULL, NULL));
    OK(dat_rmr_create(end->pz, &end->rmr));
    OK(dat_ep_create_with_srq(end->ia, end->pz, end->dto, end->dto, end->connect, end->srq, NULL,
                              &end->ep));
}

static void end_free(const struct end *end)
{
    OK(dat_ep_free(end->ep));
    OK(dat_rmr_free(end->rmr));
    OK(dat_lmr_free(end->lmr));
    OK(dat_srq_free(end->srq));
    OK(dat_evd_free(end->dto));
    OK(dat_evd_free(end->connect));
    OK(dat_evd_free(end->cr));
    OK(dat_cno_free(end->cno));
    OK(dat_pz_free(end->pz));
    OK(dat_ia_close(end->ia, DAT_CLOSE_GRACEFUL_FLAG));
}

static DAT_EVENT next(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
    DAT_EVENT event;
    DAT_COUNT more;

    OK(dat_evd_wait(evd, FOREVER, 1, &event, &more));
    NEED(event.event_number == number);
    return event;
}

static void send_one(struct end *from, struct end *to)
{
    DAT_LMR_TRIPLET out = {(DAT_VADDR)(size_t)from->memory, 64, from->context};
    DAT_LMR_TRIPLET in = {(DAT_VADDR)(size_t)to->memory, 64, to->context};
    DAT_DTO_COOKIE cookie = {.as_64 = 1};

    OK(dat_srq_post_recv(to->srq, 1, &in, cookie));
    OK(dat_ep_post_send(from->ep, 1, &out, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    (void)next(from->dto, DAT_DTO_COMPLETION_EVENT);
    (void)next(to->dto, DAT_DTO_COMPLETION_EVENT);
}

static void join(struct end *active, struct end *passive)
{
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL qual;
    DAT_IA_ATTR attr;
    DAT_EVENT event;

    OK(dat_psp_create_any(passive->ia, &qual, passive->cr, DAT_PSP_CONSUMER_FLAG, &psp));
    OK(dat_ia_query(passive->ia, NULL, DAT_IA_FIELD_ALL, &attr, 0, NULL));
    OK(dat_ep_connect(active->ep, attr.ia_address_ptr, qual, FOREVER, 0, NULL, DAT_QOS_BEST_EFFORT,
                      DAT_CONNECT_DEFAULT_FLAG));
    event = next(passive->cr, DAT_CONNECTION_REQUEST_EVENT);
    OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, passive->ep, 0, NULL));
    (void)next(active->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    (void)next(passive->connect, DAT_CONNECTION_EVENT_ESTABLISHED);
    OK(dat_psp_free(psp));
}

static void part(const struct end *one, const struct end *other)
{
    OK(dat_ep_disconnect(one->ep, DAT_CLOSE_ABRUPT_FLAG));
    (void)next(one->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
    (void)next(other->connect, DAT_CONNECTION_EVENT_DISCONNECTED);
}

/* abrupt: closes the IA with all objects in use. */
static void cycle(bool abrupt)
{
    static struct end ends[2];

    end_open(&ends[0], "itapi-lo");
    end_open(&ends[1], "itapi-lo2");
    join(&ends[0], &ends[1]);
    send_one(&ends[0], &ends[1]);
    if (abrupt) {
        OK(dat_ia_close(ends[0].ia, DAT_CLOSE_ABRUPT_FLAG));
        OK(dat_ia_close(ends[1].ia, DAT_CLOSE_ABRUPT_FLAG));
        return;
    }
    part(&ends[0], &ends[1]);
    end_free(&ends[0]);
    end_free(&ends[1]);
}

/* ---------------------------------------------------------------- what is left */

static size_t entries(const char *folder)
{
    DIR *directory = opendir(folder);
    size_t count = 0;

    NEED(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static bool is_mapped(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[1024];
    bool found = false;

    NEED(maps);
    while (fgets(line, sizeof(line), maps))
        found = found || strstr(line, name);
    fclose(maps);
    return found;
}

struct left {
    size_t threads, descriptors, bytes;
};

static struct left count_left(void)
{
    struct mallinfo2 heap;

    /* An ended thread may still be listed for a moment. */
    for (int i = 0; i < 1000000 && entries("/proc/self/task") > 3; i++) {
    }
    heap = mallinfo2();
    return (struct left){entries("/proc/self/task"), entries("/proc/self/fd"),
                         heap.uordblks + heap.hblkhd};
}

/* Returns true if the cycles have left nothing. */
static bool leave_nothing(int cycles)
{
    struct left before = count_left();
    struct left after;

    for (int i = 0; i < cycles; i++) {
        cycle(i % 2 == 0);
        NEED(!is_mapped("libdaplitapi"));
    }
    after = count_left();
    if (after.threads == 3 && after.descriptors == before.descriptors &&
        after.bytes == before.bytes)
        return true;
    fprintf(stderr, "threads %zu; descriptors %zu, were %zu; bytes %zu, were %zu\n",
            after.threads - 2, after.descriptors, before.descriptors, after.bytes, before.bytes);
    return false;
}

int main(int argc, char **argv)
{
    int cycles = argc > 1 ? atoi(argv[1]) : 10;

    /*
     * The registry, the loader and the library itself, which stays loaded, keep some memory once:
     * at first, and whenever more is in use at a time than ever before. A leak leaves memory in
     * each round.
     */
    for (int i = 0; i < 6; i++)
        if (leave_nothing(cycles))
            return 0;
    fprintf(stderr, "udapl_unload: something is left behind by each %d cycles\n", cycles);
    return 1;
}
