/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines that a peer can trigger: so many a second are written, and the number of suppressed ones
 * is.
 */
#include "base/base_log.h"

#include "base/base_clock.h"

#include <criterion/criterion.h>

#include <pthread.h>
#include <stdio.h>

#define START (UINT64_C(1000) * BASE_NS_PER_S)

static bool pass(struct base_log_limit *limit, uint64_t now_ns, uint64_t left_out)
{
    uint64_t said = 0;
    bool passed = base_log_pass(limit, now_ns, &said);

    cr_assert_eq(said, left_out);
    return passed;
}

static void use_up(struct base_log_limit *limit, uint64_t now_ns)
{
    for (unsigned i = 1; i < BASE_LOG_LINES; i++)
        cr_assert(pass(limit, now_ns + i, 0));
}

Test(base_log, a_second_has_its_lines)
{
    struct base_log_limit limit = {0};

    cr_assert(pass(&limit, START, 0));
    use_up(&limit, START);
    cr_assert_not(pass(&limit, START + BASE_NS_PER_S - 1, 0));
    cr_assert_not(pass(&limit, START + BASE_NS_PER_S - 1, 0));
    /* The next line reports the two suppressed ones, once. */
    cr_assert(pass(&limit, START + BASE_NS_PER_S, 2));
    use_up(&limit, START + BASE_NS_PER_S);
    cr_assert_not(pass(&limit, START + 2 * BASE_NS_PER_S - 1, 0));
    cr_assert(pass(&limit, START + 100 * BASE_NS_PER_S, 1));
}

/* Two threads may read the clock in one order and reach the limit in the other. */
Test(base_log, an_earlier_time_begins_no_second)
{
    struct base_log_limit limit = {0};

    cr_assert(pass(&limit, START, 0));
    use_up(&limit, START);
    cr_assert_not(pass(&limit, START - 1, 0));
}

static void say(unsigned number)
{
    base_log_limited(BASE_LOG_WARN, "line %u", number);
}

/* Each place in the code has a limit of its own. Lines below the log level are not counted. */
Test(base_log, lines_as_they_are_written)
{
    char path[] = "/tmp/base_log_test.XXXXXX";
    unsigned lines = 0;
    char line[128];
    FILE *stream;

    cr_assert_geq(mkstemp(path), 0);
    cr_assert_not_null(freopen(path, "w+", stderr));
    for (unsigned i = 0; i < 100; i++)
        say(i);
    atomic_store(&base_log_level, BASE_LOG_WARN);
    for (unsigned i = 0; i < BASE_LOG_LINES; i++)
        say(i);
    base_log_limited(BASE_LOG_WARN, "elsewhere");
    fflush(stderr);
    stream = fopen(path, "r");
    cr_assert_not_null(stream);
    for (; fgets(line, sizeof(line), stream) && lines < BASE_LOG_LINES; lines++) {
        char wanted[64];

        (void)snprintf(wanted, sizeof(wanted), "itapi warn: line %u\n", lines);
        cr_assert_str_eq(line, wanted);
    }
    cr_assert_eq(lines, BASE_LOG_LINES);
    cr_assert_str_eq(line, "itapi warn: elsewhere\n");
    (void)fclose(stream);
    (void)remove(path);
}

static void *say_cancelled(void *said)
{
    (void)pthread_cancel(pthread_self());
    base_log_write(BASE_LOG_WARN, "a thread that is cancelled may hold a token");
    *(bool *)said = true;
    pthread_testcancel();
    return NULL;
}

/* Writing a line is no cancellation point, so a wait that logs is none. */
Test(base_log, a_cancelled_thread_goes_on)
{
    bool said = false;
    pthread_t thread;
    void *result;

    cr_assert_not_null(freopen("/dev/null", "w", stderr));
    cr_assert_eq(setvbuf(stderr, NULL, _IONBF, 0), 0); /* as it is in a program */
    cr_assert_eq(pthread_create(&thread, NULL, say_cancelled, &said), 0);
    cr_assert_eq(pthread_join(thread, &result), 0);
    cr_assert(said);
    cr_assert_eq(result, PTHREAD_CANCELED);
}
