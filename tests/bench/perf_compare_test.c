/* SPDX-License-Identifier: BSD-2-Clause */
#include "perf_compare.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char paths[2][64];

static void setup(void)
{
    for (unsigned i = 0; i < 2; i++) {
        int fd;

        (void)snprintf(paths[i], sizeof(paths[i]), "/tmp/perf_compare_test.XXXXXX");
        fd = mkstemp(paths[i]);
        cr_assert(fd >= 0);
        (void)close(fd);
    }
}

static void teardown(void)
{
    (void)unlink(paths[0]);
    (void)unlink(paths[1]);
}

TestSuite(perf_compare, .init = setup, .fini = teardown);

static void write_file(const char *path, const char *text)
{
    FILE *stream = fopen(path, "we");

    cr_assert_not_null(stream);
    (void)fputs(text, stream);
    cr_assert_eq(fclose(stream), 0);
}

static enum perf_verdict compare(const char *old, const char *now, double tolerance)
{
    write_file(paths[0], old);
    write_file(paths[1], now);
    return perf_compare(paths[0], paths[1], tolerance);
}

#define RESULT(transport, measure, value)                                                          \
    "{\"transport\": \"" transport "\", \"op\": \"send\", \"size\": 64, \"measure\": \"" measure   \
    "\", \"value\": " value "}"

/* Smaller latencies are better; of other values larger ones are. */
Test(perf_compare, direction)
{
    cr_assert_eq(compare(RESULT("itapi", "lat", "100"), RESULT("itapi", "lat", "109"), 10),
                 PERF_NO_WORSE);
    cr_assert_eq(compare(RESULT("itapi", "lat", "100"), RESULT("itapi", "lat", "111"), 10),
                 PERF_WORSE);
    cr_assert_eq(compare(RESULT("itapi", "lat", "100"), RESULT("itapi", "lat", "10"), 10),
                 PERF_NO_WORSE);
    cr_assert_eq(compare(RESULT("itapi", "bw", "100"), RESULT("itapi", "bw", "91"), 10),
                 PERF_NO_WORSE);
    cr_assert_eq(compare(RESULT("itapi", "bw", "100"), RESULT("itapi", "bw", "89"), 10),
                 PERF_WORSE);
    cr_assert_eq(compare(RESULT("itapi", "rate", "100"), RESULT("itapi", "rate", "1000"), 10),
                 PERF_NO_WORSE);
    cr_assert_eq(compare(RESULT("itapi", "bw", "100"), RESULT("itapi", "bw", "89"), 20),
                 PERF_NO_WORSE);
}

/* TCP figures beside the others show how fast the machine was. */
Test(perf_compare, tcp)
{
    const char *old = "[" RESULT("itapi", "lat", "100") "," RESULT("tcp", "lat", "100") "]";
    const char *slow_tcp = "[" RESULT("tcp", "lat", "500") "," RESULT("itapi", "lat", "100") "]";

    cr_assert_eq(compare(old, slow_tcp, 10), PERF_NO_WORSE);
    cr_assert_eq(compare(RESULT("tcp", "lat", "100"), slow_tcp, 10), PERF_WORSE);
}

Test(perf_compare, nothing_in_common)
{
    cr_assert_eq(compare(RESULT("itapi", "lat", "1"), RESULT("itapi", "bw", "1"), 10),
                 PERF_INCOMPARABLE);
    cr_assert_eq(compare(RESULT("itapi", "lat", "1"), "[]", 10), PERF_INCOMPARABLE);
    cr_assert_eq(compare("", RESULT("itapi", "lat", "1"), 10), PERF_INCOMPARABLE);
}
