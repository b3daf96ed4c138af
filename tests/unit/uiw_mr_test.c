/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of STags: what RFC 5042 requires of them, and every reason to refuse an access. */
#include "vp/uiwarp/memory/uiw_mr.h"

#include <criterion/criterion.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MANY 100000u
/* The number of an entry's STags that are tried. */
#define KEYS 1000u
/* With a probability below 1 in 10^9 do so many of MANY random differences have one value. */
#define SAME_MAX 5u

static struct uiw_mr_table table;
static uint8_t memory[4096];
static char zones[2];
static struct uiw_stream_id streams[] = {{&zones[0], 1}, {&zones[0], 2}, {&zones[1], 3}};
static struct uiw_mr *many[MANY];
static uint32_t numbers[MANY];

static void setup(void)
{
    cr_assert(uiw_mr_table_init(&table));
}

static void teardown(void)
{
    uiw_mr_table_fini(&table);
}

TestSuite(uiw_mr, .init = setup, .fini = teardown);

static uint32_t stag_of(const struct uiw_mr *mr)
{
    return atomic_load(&mr->stag);
}

static uint32_t pins_of(const struct uiw_mr *mr)
{
    return atomic_load(&mr->pins);
}

/* A region of octets [1024, 2048) of the memory. Its tagged offsets begin at `to_base`. */
static struct uiw_region region_of(uint64_t to_base, unsigned privs, uint64_t stream)
{
    return (struct uiw_region){
        .addr = memory + 1024,
        .length = 1024,
        .to_base = to_base,
        .privs = (it_mem_priv_t)privs,
        .pz = &zones[0],
        .stream = stream,
        .handle = memory,
    };
}

static struct uiw_mr *add(uint64_t to_base, unsigned privs)
{
    struct uiw_region region = region_of(to_base, privs, 0);
    struct uiw_mr *mr = uiw_mr_register(&table, &region);

    cr_assert_not_null(mr);
    cr_assert_neq(stag_of(mr), 0);
    return mr;
}

static struct uiw_mr *add_any(void)
{
    return add(0, (unsigned)IT_PRIV_ALL);
}

/* Accesses one octet at offset 0 as a peer does. Leaves nothing pinned. */
static enum uiw_mr_verdict ask(uint32_t stag)
{
    uint8_t *addr = NULL;
    struct uiw_mr *mr = NULL;
    enum uiw_mr_verdict verdict =
        uiw_mr_pin_remote(&table, stag, 0, 1, IT_PRIV_REMOTE_READ, &streams[0], &mr, &addr);

    if (verdict == UIW_MR_OK)
        uiw_mr_unpin(mr);
    return verdict;
}

/* ---------------------------------------------------------------- STags */

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Returns how often the most frequent of numbers[0 .. count) occurs. Sorts them. */
static unsigned most_frequent(unsigned count)
{
    unsigned most = 0;
    unsigned same = 0;

    qsort(numbers, count, sizeof(numbers[0]), compare);
    for (unsigned i = 0; i < count; i++) {
        same = i > 0 && numbers[i] == numbers[i - 1] ? same + 1 : 1;
        most = same > most ? same : most;
    }
    return most;
}

static void add_many(void)
{
    for (unsigned i = 0; i < MANY; i++)
        many[i] = add_any();
}

Test(uiw_mr, live_stags_differ)
{
    add_many();
    for (unsigned i = 0; i < MANY; i++)
        numbers[i] = stag_of(many[i]);
    cr_assert_eq(most_frequent(MANY), 1);
}

Test(uiw_mr, stags_have_no_arithmetic_pattern)
{
    static const unsigned strides[] = {1, 2, 16, 256, UIW_MR_CHUNK};

    add_many();
    for (unsigned k = 0; k < sizeof(strides) / sizeof(strides[0]); k++) {
        unsigned stride = strides[k];
        unsigned count = MANY - stride;

        for (unsigned i = 0; i < count; i++)
            numbers[i] = stag_of(many[i + stride]) - stag_of(many[i]);
        cr_expect_lt(most_frequent(count), SAME_MAX, "differences, stride %u", stride);
        for (unsigned i = 0; i < count; i++)
            numbers[i] = stag_of(many[i + stride]) ^ stag_of(many[i]);
        cr_expect_lt(most_frequent(count), SAME_MAX, "changed bits, stride %u", stride);
    }
}

/*
 * Every bit is set in half of the STags, and differs from one STag to the next in half of the
 * cases.
 */
Test(uiw_mr, stags_use_all_bits)
{
    add_many();
    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned set = 0;
        unsigned changed = 0;

        for (unsigned i = 1; i < MANY; i++) {
            set += stag_of(many[i]) >> bit & 1;
            changed += (stag_of(many[i]) ^ stag_of(many[i - 1])) >> bit & 1;
        }
        cr_expect(set > MANY / 100 * 45 && set < MANY / 100 * 55, "bit %u: %u", bit, set);
        cr_expect(changed > MANY / 100 * 45 && changed < MANY / 100 * 55, "bit %u: %u", bit,
                  changed);
    }
}

/* Another table draws other STags, so knowing the library is not knowing the STags. */
Test(uiw_mr, tables_differ)
{
    struct uiw_mr_table other;
    unsigned same = 0;

    cr_assert(uiw_mr_table_init(&other));
    for (unsigned i = 0; i < 1000; i++) {
        struct uiw_region region = region_of(0, (unsigned)IT_PRIV_ALL, 0);
        const struct uiw_mr *mr = uiw_mr_register(&other, &region);

        cr_assert_not_null(mr);
        same += stag_of(add_any()) == stag_of(mr);
    }
    cr_expect_lt(same, 3);
    uiw_mr_table_fini(&other);
}

/* An entry that is used again has an STag independent of its earlier one. */
Test(uiw_mr, a_freed_entry_gets_an_independent_stag)
{
    unsigned changed[32] = {0};
    struct uiw_mr *mr = add_any();

    for (unsigned i = 0; i < MANY; i++) {
        uint32_t before = stag_of(mr);
        struct uiw_mr *again;

        uiw_mr_deregister(&table, mr);
        again = add_any();
        cr_assert_eq(again, mr, "its entry is the next one to be used");
        for (unsigned bit = 0; bit < 32; bit++)
            changed[bit] += (stag_of(mr) ^ before) >> bit & 1;
    }
    for (unsigned bit = 0; bit < 32; bit++)
        cr_expect(changed[bit] > MANY / 100 * 48 && changed[bit] < MANY / 100 * 52, "bit %u: %u",
                  bit, changed[bit]);
}

/*
 * A window's entry gets a new STag for each link. All of its STags find it, and no two are the
 * same.
 */
Test(uiw_mr, stags_of_one_entry)
{
    struct uiw_mr *mr = uiw_mr_reserve(&table);

    for (unsigned i = 0; i < MANY; i++) {
        numbers[i] = uiw_mr_new_stag(&table, mr);
        cr_assert_eq(uiw_mr_find(&table, numbers[i]), mr);
        cr_assert_eq(ask(numbers[i]), UIW_MR_INVALID, "not open yet");
    }
    for (unsigned i = 0; i < MANY; i += 2) {
        uiw_mr_forget_stag(&table, mr, numbers[i]);
        cr_assert_null(uiw_mr_find(&table, numbers[i]));
        cr_assert_eq(uiw_mr_find(&table, numbers[i + 1]), mr);
    }
    cr_assert_eq(most_frequent(MANY), 1);
}

/* ---------------------------------------------------------------- wrong STags */

Test(uiw_mr, stale_stag_fails)
{
    struct uiw_mr *mr = add_any();
    uint32_t stale = stag_of(mr);

    cr_assert_eq(ask(stale), UIW_MR_OK);
    uiw_mr_deregister(&table, mr);
    cr_assert_eq(ask(stale), UIW_MR_INVALID);
    cr_assert_null(uiw_mr_pin(&table, stale));
    cr_assert_not(uiw_mr_pin_local(mr, stale, memory + 1024, 1, IT_PRIV_LOCAL_READ, &zones[0]));
    cr_assert_eq(pins_of(mr), 0);
}

/*
 * Only the STag that the entry is open with works: neither those drawn for later nor earlier ones
 * do.
 */
Test(uiw_mr, wrong_key_fails)
{
    struct uiw_region region = region_of(0, (unsigned)IT_PRIV_ALL, 0);
    struct uiw_mr *mr = uiw_mr_reserve(&table);
    static uint32_t stags[KEYS];

    for (unsigned i = 0; i < KEYS; i++)
        stags[i] = uiw_mr_new_stag(&table, mr);
    for (unsigned i = 0; i < KEYS; i++) {
        uiw_mr_take(mr);
        uiw_mr_open(mr, &region, stags[i]);
        uiw_mr_drop(mr);
        for (unsigned k = 0; k < KEYS; k++)
            cr_assert_eq(ask(stags[k]), k == i ? UIW_MR_OK : UIW_MR_INVALID);
        cr_assert_not(i > 0 && uiw_mr_pin_local(mr, stags[i - 1], region.addr, 1,
                                                IT_PRIV_LOCAL_READ, region.pz));
        cr_assert_eq(pins_of(mr), 0);
        uiw_mr_take(mr);
        cr_assert(uiw_mr_close(&table, mr, false));
        uiw_mr_drop(mr);
        cr_assert_eq(ask(stags[i]), UIW_MR_INVALID);
    }
}

/* A closed entry has the STag 0, which opens nothing. */
Test(uiw_mr, no_stag_is_no_key)
{
    struct uiw_mr *mr = uiw_mr_reserve(&table);

    cr_assert_eq(stag_of(mr), 0);
    cr_assert_not(uiw_mr_pin_local(mr, 0, memory, 0, (it_mem_priv_t)0, NULL));
    cr_assert_null(uiw_mr_pin(&table, 0));
    cr_assert_null(uiw_mr_find(&table, 0));
    cr_assert_eq(pins_of(mr), 0);
}

Test(uiw_mr, guessed_stag_fails)
{
    struct uiw_mr *mr = add_any();
    uint32_t guess = 12345;

    cr_assert_eq(ask(0), UIW_MR_INVALID);
    for (unsigned bit = 0; bit < 32; bit++)
        cr_assert_eq(ask(stag_of(mr) ^ UINT32_C(1) << bit), UIW_MR_INVALID);
    for (unsigned i = 0; i < 1000000; i++) {
        guess = guess * UINT32_C(1664525) + UINT32_C(1013904223);
        if (guess != stag_of(mr))
            cr_assert_eq(ask(guess), UIW_MR_INVALID);
    }
    cr_assert_eq(ask(stag_of(mr)), UIW_MR_OK);
    cr_assert_eq(pins_of(mr), 0);
}

Test(uiw_mr, empty_table_has_no_stag)
{
    cr_assert_eq(ask(0), UIW_MR_INVALID);
    cr_assert_eq(ask(1), UIW_MR_INVALID);
    cr_assert_eq(ask(UINT32_MAX), UIW_MR_INVALID);
}

/* ---------------------------------------------------------------- verdicts */

#define BASE UINT64_C(0x7000000000)
#define HIGH (UINT64_MAX - 1023) /* the last octet has the last tagged offset */

#define RIGHT_READ  IT_PRIV_REMOTE_READ
#define RIGHT_WRITE IT_PRIV_REMOTE_WRITE

struct remote_row {
    uint64_t base;
    uint64_t to;
    uint64_t length;
    unsigned privs;
    it_mem_priv_t right;
    unsigned stream; /* 0 and 1 belong to the region's zone */
    enum uiw_mr_verdict verdict;
};

static const struct remote_row remote_rows[] = {
    /* bounds: 1024 octets from BASE */
    {BASE, BASE, 1024, RIGHT_READ, RIGHT_READ, 0, UIW_MR_OK},
    {BASE, BASE, 1, RIGHT_READ, RIGHT_READ, 0, UIW_MR_OK},
    {BASE, BASE + 1023, 1, RIGHT_READ, RIGHT_READ, 0, UIW_MR_OK},
    {BASE, BASE + 1024, 0, RIGHT_READ, RIGHT_READ, 0, UIW_MR_OK},
    {BASE, BASE, 1025, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, BASE + 1023, 2, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, BASE + 1024, 1, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, BASE + 1025, 0, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, BASE - 1, 1, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, BASE - 1, 1025, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, BASE - 1, 0, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, 0, 1, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, 0, UINT64_MAX, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, BASE, UINT64_MAX - BASE, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {BASE, UINT64_MAX, 0, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    /* the sum exceeds 64 bits */
    {BASE, BASE, UINT64_MAX - BASE + 1, RIGHT_READ, RIGHT_READ, 0, UIW_MR_WRAP},
    {BASE, BASE, UINT64_MAX, RIGHT_READ, RIGHT_READ, 0, UIW_MR_WRAP},
    {BASE, BASE + 1, UINT64_MAX - 511, RIGHT_READ, RIGHT_READ, 0, UIW_MR_WRAP},
    {BASE, UINT64_MAX, 1, RIGHT_READ, RIGHT_READ, 0, UIW_MR_WRAP},
    {BASE, UINT64_MAX, UINT64_MAX, RIGHT_READ, RIGHT_READ, 0, UIW_MR_WRAP},
    /* offsets from 0, and up to the last there is */
    {0, 0, 1024, RIGHT_READ, RIGHT_READ, 0, UIW_MR_OK},
    {0, 0, 1025, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {0, 1024, 1, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {0, 1, UINT64_MAX, RIGHT_READ, RIGHT_READ, 0, UIW_MR_WRAP},
    {HIGH, HIGH, 1023, RIGHT_READ, RIGHT_READ, 0, UIW_MR_OK},
    {HIGH, HIGH - 1, 2, RIGHT_READ, RIGHT_READ, 0, UIW_MR_BOUNDS},
    {HIGH, HIGH, 1025, RIGHT_READ, RIGHT_READ, 0, UIW_MR_WRAP},
    /* rights: those of the access, neither the other nor local ones */
    {BASE, BASE, 8, RIGHT_WRITE, RIGHT_WRITE, 0, UIW_MR_OK},
    {BASE, BASE, 8, (unsigned)IT_PRIV_ALL, RIGHT_READ, 0, UIW_MR_OK},
    {BASE, BASE, 8, (unsigned)IT_PRIV_ALL, RIGHT_WRITE, 0, UIW_MR_OK},
    {BASE, BASE, 8, RIGHT_WRITE, RIGHT_READ, 0, UIW_MR_ACCESS},
    {BASE, BASE, 8, RIGHT_READ, RIGHT_WRITE, 0, UIW_MR_ACCESS},
    {BASE, BASE, 8, (unsigned)IT_PRIV_LOCAL, RIGHT_READ, 0, UIW_MR_ACCESS},
    {BASE, BASE, 8, (unsigned)IT_PRIV_LOCAL, RIGHT_WRITE, 0, UIW_MR_ACCESS},
    {BASE, BASE, 0, 0, RIGHT_READ, 0, UIW_MR_ACCESS},
    /* the zone */
    {BASE, BASE, 8, (unsigned)IT_PRIV_ALL, RIGHT_READ, 1, UIW_MR_OK},
    {BASE, BASE, 8, (unsigned)IT_PRIV_ALL, RIGHT_READ, 2, UIW_MR_STREAM},
    {BASE, BASE, 8, (unsigned)IT_PRIV_ALL, RIGHT_WRITE, 2, UIW_MR_STREAM},
    /* the first of several reasons counts: zone, right, wrap, bounds */
    {BASE, BASE, 2000, 0, RIGHT_READ, 2, UIW_MR_STREAM},
    {BASE, BASE, 2000, 0, RIGHT_READ, 0, UIW_MR_ACCESS},
    {BASE, UINT64_MAX, 2, 0, RIGHT_READ, 0, UIW_MR_ACCESS},
};

static void check_remote_row(unsigned number, const struct remote_row *row)
{
    struct uiw_mr *mr = add(row->base, row->privs);
    struct uiw_mr *pinned = NULL;
    uint8_t *addr = NULL;
    enum uiw_mr_verdict verdict =
        uiw_mr_pin_remote(&table, stag_of(mr), row->to, row->length, row->right,
                          &streams[row->stream], &pinned, &addr);

    cr_expect_eq(verdict, row->verdict, "row %u: %u instead of %u", number, (unsigned)verdict,
                 (unsigned)row->verdict);
    cr_expect_eq(pins_of(mr), verdict == UIW_MR_OK, "row %u", number);
    if (verdict == UIW_MR_OK) {
        cr_expect_eq(pinned, mr, "row %u", number);
        cr_expect_eq(addr, memory + 1024 + (row->to - row->base), "row %u", number);
        uiw_mr_unpin(pinned);
    } else {
        cr_expect_null(pinned, "row %u", number);
        cr_expect_null(addr, "row %u", number);
    }
    uiw_mr_deregister(&table, mr);
}

Test(uiw_mr, verdicts_for_a_peer)
{
    for (unsigned i = 0; i < sizeof(remote_rows) / sizeof(remote_rows[0]); i++)
        check_remote_row(i, &remote_rows[i]);
}

struct local_row {
    ptrdiff_t offset; /* of the segment, from the region's first octet */
    uint64_t length;
    unsigned privs;
    it_mem_priv_t right;
    unsigned zone;
    bool granted;
};

static const struct local_row local_rows[] = {
    {0, 1024, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, true},
    {1023, 1, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, true},
    {1024, 0, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, true},
    {0, 1, IT_PRIV_LOCAL_WRITE, IT_PRIV_LOCAL_WRITE, 0, true},
    {0, 1, (unsigned)IT_PRIV_ALL, IT_PRIV_LOCAL_WRITE, 0, true},
    {0, 1025, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, false},
    {1023, 2, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, false},
    {1024, 1, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, false},
    {1025, 0, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, false},
    {-1, 1, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, false},
    {-1, 2, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, false},
    {-1, 0, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, false},
    {0, UINT64_MAX, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, false},
    {512, UINT64_MAX - 100, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_READ, 0, false},
    {0, 1, IT_PRIV_LOCAL_WRITE, IT_PRIV_LOCAL_READ, 0, false},
    {0, 1, IT_PRIV_LOCAL_READ, IT_PRIV_LOCAL_WRITE, 0, false},
    {0, 1, (unsigned)IT_PRIV_REMOTE, IT_PRIV_LOCAL_READ, 0, false},
    {0, 1, (unsigned)IT_PRIV_REMOTE, IT_PRIV_LOCAL_WRITE, 0, false},
    {0, 1, (unsigned)IT_PRIV_ALL, IT_PRIV_LOCAL_READ, 1, false},
};

Test(uiw_mr, verdicts_for_a_local_segment)
{
    for (unsigned i = 0; i < sizeof(local_rows) / sizeof(local_rows[0]); i++) {
        const struct local_row *row = &local_rows[i];
        struct uiw_mr *mr = add(BASE, row->privs);
        bool granted = uiw_mr_pin_local(mr, stag_of(mr), memory + 1024 + row->offset, row->length,
                                        row->right, &zones[row->zone]);

        cr_expect_eq(granted, row->granted, "row %u", i);
        cr_expect_eq(pins_of(mr), granted, "row %u", i);
        if (granted)
            uiw_mr_unpin(mr);
        uiw_mr_deregister(&table, mr);
    }
}

/* ---------------------------------------------------------------- deregistration */

static atomic_bool gone;

static void *deregister_main(void *argument)
{
    uiw_mr_deregister(&table, argument);
    atomic_store(&gone, true);
    return NULL;
}

Test(uiw_mr, deregistration_waits_for_pins)
{
    struct uiw_mr *mr = add_any();
    uint32_t stag = stag_of(mr);
    uint8_t *addr = NULL;
    struct uiw_mr *pinned = NULL;
    pthread_t thread;

    cr_assert_eq(
        uiw_mr_pin_remote(&table, stag, 0, 8, IT_PRIV_REMOTE_WRITE, &streams[0], &pinned, &addr),
        UIW_MR_OK);
    cr_assert(uiw_mr_pin_local(mr, stag, mr->region.addr, 8, IT_PRIV_LOCAL_READ, &zones[0]));
    cr_assert_eq(pthread_create(&thread, NULL, deregister_main, mr), 0);
    while (stag_of(mr) != 0)
        sched_yield();
    /* The thread waits now, and no new pin succeeds. */
    for (unsigned i = 0; i < 100; i++) {
        cr_assert_eq(ask(stag), UIW_MR_INVALID);
        sched_yield();
        cr_assert_not(atomic_load(&gone));
    }
    uiw_mr_unpin(mr);
    for (unsigned i = 0; i < 100; i++) {
        sched_yield();
        cr_assert_not(atomic_load(&gone));
    }
    /* Nor is the entry used for another region. */
    cr_assert_neq(add_any(), mr);
    memset(addr, 0x55, 8);
    uiw_mr_unpin(pinned);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert(atomic_load(&gone));
    cr_assert_eq(pins_of(mr), 0);
}

/* Pins come and go while regions are registered and deregistered. A pinned region stays. */
struct churn {
    _Atomic uint32_t stag;
    atomic_bool alive; /* the region with this STag */
    atomic_bool over;
};

static void *churn_main(void *argument)
{
    struct churn *churn = argument;

    while (!atomic_load(&churn->over)) {
        struct uiw_mr *mr = uiw_mr_pin(&table, atomic_load(&churn->stag));

        if (!mr)
            continue;
        for (unsigned i = 0; i < 20; i++)
            cr_assert(atomic_load(&churn->alive));
        uiw_mr_unpin(mr);
    }
    return NULL;
}

Test(uiw_mr, pinned_regions_stay)
{
    struct churn churn;
    pthread_t thread;

    atomic_init(&churn.stag, 0);
    atomic_init(&churn.alive, false);
    atomic_init(&churn.over, false);
    cr_assert_eq(pthread_create(&thread, NULL, churn_main, &churn), 0);
    for (unsigned i = 0; i < 20000; i++) {
        struct uiw_mr *mr;

        atomic_store(&churn.alive, true);
        mr = add_any();
        atomic_store(&churn.stag, stag_of(mr));
        if (i % 64 == 0)
            sched_yield();
        uiw_mr_deregister(&table, mr);
        atomic_store(&churn.alive, false);
    }
    atomic_store(&churn.over, true);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

/* ---------------------------------------------------------------- closing */

/*
 * A close that may not wait fails on a pinned region and changes nothing. One that may wait returns
 * when the pin is gone.
 */
Test(uiw_mr, closing_without_waiting)
{
    struct uiw_mr *mr = add_any();
    uint32_t stag = stag_of(mr);

    cr_assert_eq(uiw_mr_pin(&table, stag), mr);
    uiw_mr_take(mr);
    cr_assert_not(uiw_mr_try(mr));
    cr_assert_not(uiw_mr_close(&table, mr, false));
    cr_assert_eq(ask(stag), UIW_MR_OK);
    uiw_mr_unpin(mr);
    cr_assert(uiw_mr_close(&table, mr, false));
    cr_assert_eq(ask(stag), UIW_MR_INVALID);
    cr_assert(uiw_mr_close(&table, mr, true), "once more");
    uiw_mr_drop(mr);
    cr_assert(uiw_mr_try(mr));
    uiw_mr_drop(mr);
}

/* ---------------------------------------------------------------- narrow windows, invalidation */

Test(uiw_mr, a_narrow_window_is_for_one_stream)
{
    struct uiw_region region = region_of(0, RIGHT_READ, 2);
    struct uiw_mr *mr = uiw_mr_register(&table, &region);
    struct uiw_mr *pinned = NULL;
    uint8_t *addr = NULL;

    cr_assert_eq(
        uiw_mr_pin_remote(&table, stag_of(mr), 0, 1, RIGHT_READ, &streams[1], &pinned, &addr),
        UIW_MR_OK);
    uiw_mr_unpin(pinned);
    cr_assert_eq(
        uiw_mr_pin_remote(&table, stag_of(mr), 0, 1, RIGHT_READ, &streams[0], &pinned, &addr),
        UIW_MR_STREAM);
    cr_assert_eq(
        uiw_mr_pin_remote(&table, stag_of(mr), 0, 1, RIGHT_READ, &streams[2], &pinned, &addr),
        UIW_MR_STREAM);
    cr_assert_eq(pins_of(mr), 0);
}

struct invalidate_row {
    uint64_t stream; /* of the region */
    unsigned privs;
    unsigned by;
    bool alone;
    bool granted;
};

static const struct invalidate_row invalidate_rows[] = {
    {0, RIGHT_READ, 0, true, true},
    {0, RIGHT_WRITE, 1, true, true},
    {0, IT_PRIV_ATOMIC, 0, true, true},
    {0, RIGHT_READ, 0, false, false},   /* other peers may use it */
    {0, IT_PRIV_LOCAL, 0, true, false}, /* no peer had access */
    {0, RIGHT_READ, 2, true, false},    /* another zone */
    {1, RIGHT_READ, 0, false, true},    /* its own window */
    {1, RIGHT_READ, 1, true, false},    /* the window of another stream */
    {3, RIGHT_READ, 2, true, false},    /* the stream's number does not help in another zone */
};

Test(uiw_mr, who_may_invalidate)
{
    for (unsigned i = 0; i < sizeof(invalidate_rows) / sizeof(invalidate_rows[0]); i++) {
        const struct invalidate_row *row = &invalidate_rows[i];
        struct uiw_region region = region_of(0, row->privs, row->stream);
        struct uiw_mr *mr = uiw_mr_register(&table, &region);
        uint32_t stag = stag_of(mr);

        cr_expect_eq(uiw_mr_may_invalidate(mr, stag, &streams[row->by], row->alone), row->granted,
                     "row %u", i);
        cr_expect_not(uiw_mr_may_invalidate(mr, stag ^ 1, &streams[row->by], row->alone));
        cr_expect_not(uiw_mr_may_invalidate(mr, 0, &streams[row->by], row->alone));
        uiw_mr_deregister(&table, mr);
        cr_expect_not(uiw_mr_may_invalidate(mr, stag, &streams[row->by], row->alone), "freed");
        cr_expect_not(uiw_mr_may_invalidate(mr, 0, &streams[row->by], row->alone), "freed");
    }
}
