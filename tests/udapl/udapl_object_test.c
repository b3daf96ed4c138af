/* SPDX-License-Identifier: BSD-2-Clause */
/* Slabs keep returned items readable and tell a handle from any other number; references. */
#include "object/udapl_ia.h"
#include "object/udapl_lmr.h"
#include "object/udapl_pz.h"
#include "object/udapl_record.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS 1000 /* in five chunks */

struct item {
    struct udapl_slab_entry entry;
    char content[40];
};

static void check_slab(void)
{
    struct udapl_slab slab = {.size = sizeof(struct item), .lock = PTHREAD_MUTEX_INITIALIZER};
    struct item *items[OBJECTS];
    struct item *again;

    CHECK(!udapl_slab_at(&slab, sizeof(struct item), 0));
    CHECK(!udapl_slab_find(&slab, &slab));
    for (uint32_t i = 0; i < OBJECTS; i++) {
        items[i] = udapl_slab_get(&slab);
        CHECK(items[i]);
        CHECK_EQ(i, items[i]->entry.index);
        CHECK_EQ(1, items[i]->entry.generation);
        CHECK_EQ(0, items[i]->content[39]);
        memset(items[i]->content, 1, sizeof(items[i]->content));
    }
    for (uint32_t i = 0; i < OBJECTS; i++) {
        CHECK(udapl_slab_at(&slab, sizeof(struct item), i) == items[i]);
        CHECK(udapl_slab_find(&slab, items[i]) == items[i]);
        CHECK(!udapl_slab_find(&slab, (char *)items[i] + 1));
    }
    CHECK(!udapl_slab_find(&slab, NULL));
    CHECK(!udapl_slab_find(&slab, (void *)UINTPTR_MAX));
    CHECK(!udapl_slab_find(&slab, items));
    CHECK(!udapl_slab_at(&slab, sizeof(struct item), UINT32_MAX >> 11));
    udapl_slab_put(&slab, items[3]);
    udapl_slab_put(&slab, items[5]);
    CHECK(udapl_slab_find(&slab, items[3]) == items[3]); /* still readable */
    again = udapl_slab_get(&slab);
    CHECK(again != items[3] && again != items[5]); /* items that were never taken come first */
    udapl_slab_clear(&slab);
}

/* When a chunk is used up, items are reused in the order in which they were returned. */
static void check_reuse(void)
{
    struct udapl_slab slab = {.size = sizeof(struct item), .lock = PTHREAD_MUTEX_INITIALIZER};
    struct item *items[64];

    for (size_t i = 0; i < 64; i++)
        items[i] = udapl_slab_get(&slab);
    udapl_slab_put(&slab, items[9]);
    udapl_slab_put(&slab, items[2]);
    memset(items[9]->content, 1, sizeof(items[9]->content));
    CHECK(udapl_slab_get(&slab) == items[9]);
    CHECK_EQ(9, items[9]->entry.index);
    CHECK_EQ(2, items[9]->entry.generation);
    CHECK_EQ(0, items[9]->content[0]);
    CHECK(udapl_slab_get(&slab) == items[2]);
    CHECK_EQ(64, ((struct item *)udapl_slab_get(&slab))->entry.index);
    udapl_slab_clear(&slab);
}

static void check_objects(struct udapl_ia *ia, struct udapl_ia *other)
{
    struct udapl_pz *pz = udapl_object_new(ia, DAT_HANDLE_TYPE_PZ);

    CHECK(pz && !udapl_is(pz, DAT_HANDLE_TYPE_PZ));
    udapl_object_start(pz);
    CHECK(*(const void **)pz == &ia->provider->table); /* the first word of each object */
    CHECK(udapl_is(pz, DAT_HANDLE_TYPE_PZ) && !udapl_is(pz, DAT_HANDLE_TYPE_LMR));
    CHECK(udapl_find(ia, pz, DAT_HANDLE_TYPE_PZ) == pz);
    CHECK(!udapl_find(other, pz, DAT_HANDLE_TYPE_PZ));
    CHECK(!udapl_find(ia, pz, DAT_HANDLE_TYPE_EP));
    CHECK(!udapl_find(ia, (void *)(uintptr_t)0x1230, DAT_HANDLE_TYPE_PZ));
    CHECK(udapl_object_hold(pz));
    CHECK(!udapl_object_retire(pz));
    udapl_object_release(pz);
    CHECK(udapl_object_retire(pz));
    CHECK(!udapl_object_hold(pz));
    udapl_object_unretire(pz);
    CHECK(udapl_object_hold(pz));
    udapl_object_release(pz);
    CHECK(udapl_object_hold(NULL));
    udapl_object_release(NULL);
    CHECK(udapl_ia_is_used(ia) && !udapl_ia_is_used(other));
    udapl_object_end(pz);
    CHECK(!udapl_is(pz, DAT_HANDLE_TYPE_PZ) && !udapl_find(ia, pz, DAT_HANDLE_TYPE_PZ));
    CHECK(!udapl_ia_is_used(ia));
}

/* The list of an IA's objects, which join and leave in the middle. */
static void check_list(struct udapl_ia *ia)
{
    struct udapl_pz *pz[3];
    size_t count = 0;

    for (size_t i = 0; i < 3; i++) {
        pz[i] = udapl_object_new(ia, DAT_HANDLE_TYPE_PZ);
        udapl_object_start(pz[i]);
    }
    udapl_object_end(pz[1]);
    for (struct udapl_object *o = ia->objects[DAT_HANDLE_TYPE_PZ]; o; o = o->next)
        count++;
    CHECK_EQ(2, count);
    udapl_object_end(pz[2]);
    CHECK(ia->objects[DAT_HANDLE_TYPE_PZ] == &pz[0]->object);
    udapl_object_end(pz[0]);
    CHECK(!ia->objects[DAT_HANDLE_TYPE_PZ]);
}

/* An lmr_context is never 0 and leads to its LMR. After the LMR is freed and reused it does not. */
static void check_lmr_context(struct udapl_ia *ia)
{
    struct udapl_lmr *lmr = udapl_object_new(ia, DAT_HANDLE_TYPE_LMR);
    DAT_LMR_CONTEXT first;

    lmr->lmr_context = first = udapl_lmr_context(lmr);
    CHECK(first != 0 && udapl_lmr_from(first) == lmr);
    CHECK(!udapl_lmr_from(0) && !udapl_lmr_from(first + 1) && !udapl_lmr_from(UINT32_MAX));
    for (uint32_t generation = 0; generation < 5000; generation++) {
        DAT_LMR_CONTEXT before = udapl_lmr_context(lmr);

        lmr->object.entry.generation++;
        CHECK(udapl_lmr_context(lmr) != before && udapl_lmr_context(lmr) != 0);
    }
    lmr->lmr_context = 0;
    CHECK(!udapl_lmr_from(first));
    udapl_object_discard(lmr);
}

static void check_records(void)
{
    struct udapl_record record[2];
    struct udapl_records records = {.count = 2, .record = record};
    struct udapl_record *a, *b;

    memset(record, 0, sizeof(record));
    a = udapl_record_take(&records, 7, true);
    b = udapl_record_take(&records, 8, false);
    CHECK(a == &record[0] && b == &record[1] && a->cookie == 7);
    CHECK(!udapl_record_take(&records, 9, true)); /* the completion of the first one comes next */
    CHECK(udapl_record_take(&records, 9, true) == b);
    udapl_record_return(a);
    CHECK(udapl_record_take(&records, 10, true) == a);
    CHECK(udapl_record_is(&records, (uintptr_t)b));
    CHECK(!udapl_record_is(&records, (uintptr_t)(record + 2)));
    CHECK(!udapl_record_is(&records, 0));
}

int main(void)
{
    struct udapl_provider *provider = calloc(1, sizeof(*provider));
    struct udapl_ia *ia, *other;

    CHECK(provider);
    snprintf(provider->info.ia_name, sizeof(provider->info.ia_name), "unit");
    udapl_provider_add(provider);
    CHECK(udapl_provider_of("unit") == provider && !udapl_provider_of("other"));
    ia = udapl_ia_new(provider);
    other = udapl_ia_new(provider);
    CHECK(ia && other && !udapl_ia_from(ia));
    udapl_ia_start(ia);
    udapl_ia_start(other);
    CHECK(udapl_ia_from(ia) == ia);
    check_slab();
    check_reuse();
    check_objects(ia, other);
    check_list(ia);
    check_lmr_context(ia);
    check_records();
    udapl_ia_end(other);
    udapl_ia_end(ia);
    CHECK(!udapl_ia_from(ia));
    udapl_provider_remove("unit"); /* the last provider returns all memory */
    CHECK(!udapl_provider_of("unit"));
    return 0;
}
