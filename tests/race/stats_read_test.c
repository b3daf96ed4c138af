/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes snapshots while IAs and EPs are made and freed under traffic. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/stats_reader.h"

#define READERS 2u
#define ROUNDS  15u

static char path[64];
static atomic_bool over;
static atomic_uint whole;

/*
 * An IA that is freed closes its clients' connections: then a snapshot is cut, or nobody answers.
 */
static void *read_all_the_time(void *unused)
{
    (void)unused;
    while (!atomic_load(&over)) {
        char *text = stats_read(path);

        if (text && stats_is_whole(text))
            atomic_fetch_add(&whole, 1);
        free(text);
    }
    return NULL;
}

static void one_round(const struct fx_node *lasting)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct fx_pair pair;
    it_ep_handle_t ep[8];

    fx_pair_open(&pair);
    for (unsigned i = 0; i < 8; i++)
        ep[i] = fx_ep(lasting, &attr);
    fx_pair_ping(&pair);
    for (unsigned i = 0; i < 8; i++)
        CHECK_OK(it_ep_free(ep[i]));
    fx_pair_ping(&pair);
    fx_pair_close(&pair);
}

int main(void)
{
    char folder[] = "/tmp/itapi_stats_XXXXXX";
    pthread_t reader[READERS];
    struct fx_node node;

    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/socket", folder);
    CHECK(setenv("ITAPI_STATS", path, 1) == 0);
    fx_node_open(&node);
    for (unsigned i = 0; i < READERS; i++)
        CHECK(pthread_create(&reader[i], NULL, read_all_the_time, NULL) == 0);
    for (unsigned i = 0; i < ROUNDS; i++)
        one_round(&node);
    FX_WAIT_WHILE(atomic_load(&whole) == 0, "a whole snapshot");
    atomic_store(&over, true);
    for (unsigned i = 0; i < READERS; i++)
        CHECK(pthread_join(reader[i], NULL) == 0);
    fx_node_close(&node);
    CHECK(rmdir(folder) == 0);
    return 0;
}
