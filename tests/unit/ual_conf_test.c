/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines of the configuration file, and paths that are no such file. */
#include "base/base_log.h"
#include "ual/providers/ual_providers.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEEN_MAX 4096

static char seen[SEEN_MAX];
static unsigned warnings;

static void use(const struct ual_conf_line *line, void *context)
{
    size_t length = strlen(seen);

    cr_assert_eq(context, seen);
    cr_assert_str_eq(line->file, "test.conf");
    (void)snprintf(seen + length, sizeof(seen) - length, "%u[%s][%s]", line->number, line->library,
                   line->options);
}

/* Writes warnings to a file in place of stderr, so that they can be counted. */
static void parse(const char *text, size_t length)
{
    FILE *stream = fmemopen((void *)(uintptr_t)text, length, "r");
    FILE *log = tmpfile();
    int before = dup(STDERR_FILENO);
    int c;

    cr_assert(stream && log && before >= 0);
    seen[0] = '\0';
    warnings = 0;
    atomic_store(&base_log_level, BASE_LOG_WARN);
    cr_assert_eq(dup2(fileno(log), STDERR_FILENO), STDERR_FILENO);
    ual_conf_parse(stream, "test.conf", use, seen);
    fflush(stderr);
    cr_assert_eq(dup2(before, STDERR_FILENO), STDERR_FILENO);
    rewind(log);
    while ((c = fgetc(log)) != EOF)
        warnings += c == '\n';
    fclose(log);
    fclose(stream);
    close(before);
}

static void expect(const char *text, const char *want, unsigned want_warnings)
{
    parse(text, strlen(text));
    cr_assert_str_eq(seen, want, "of '%s': %s", text, seen);
    cr_assert_eq(warnings, want_warnings, "of '%s': %u", text, warnings);
}

Test(ual_conf, lines_that_ask_for_a_provider)
{
    expect("provider /a/b.so\n", "1[/a/b.so][]", 0);
    expect("provider libb.so", "1[libb.so][]", 0);
    expect("  provider\t/a/b.so   one  two \r\n", "1[/a/b.so][one  two]", 0);
    expect("provider a.so#1 x#y\n", "1[a.so#1][x#y]", 0);
    expect("provider a.so one # two\n", "1[a.so][one]", 0);
    expect("provider a.so\nprovider b.so\n", "1[a.so][]2[b.so][]", 0);
}

Test(ual_conf, nothing)
{
    expect("\n", "", 0);
    expect("# provider a.so\n", "", 0);
    expect("   \t # x\n\n  \r\n#", "", 0);
}

/* Each bad line makes one line in the log. Good lines around it still count. */
Test(ual_conf, bad_lines)
{
    expect("provider\n", "", 1);
    expect("provider # a.so\n", "", 1);
    expect("driver a.so\nprovider b.so\n", "2[b.so][]", 1);
    expect("Provider a.so\n", "", 1);
    expect("provider ./a.so\nprovider lib/a.so\nprovider ../a.so\n", "", 3);
    expect("providera.so\n", "", 1);
    parse("provider a.so\0b\nprovider c.so\n", 29);
    cr_assert_str_eq(seen, "2[c.so][]");
    cr_assert_eq(warnings, 1);
}

Test(ual_conf, aliases)
{
    char text[600];

    expect("alias one uiwarp\nprovider a.so\nalias two\tuiwarp:lo # why\n", "2[a.so][]", 0);
    cr_assert_str_eq(ual_alias_of("one"), "uiwarp");
    cr_assert_str_eq(ual_alias_of("two"), "uiwarp:lo");
    cr_assert_null(ual_alias_of("three"));
    cr_assert_null(ual_alias_of("uiwarp"));
    expect("alias\nalias three\nalias three # uiwarp\nalias three uiwarp:lo siw0\n", "", 4);
    expect("alias one siw0\nalias three three\nAlias three uiwarp\n", "", 3);
    cr_assert_str_eq(ual_alias_of("one"), "uiwarp");
    cr_assert_null(ual_alias_of("three"));
    /* In a ring of aliases each one names the next; a lookup follows one alias only. */
    expect("alias left right\nalias right left\n", "", 0);
    cr_assert_str_eq(ual_alias_of("left"), "right");
    cr_assert_str_eq(ual_alias_of("right"), "left");
    (void)snprintf(text, sizeof(text), "alias %0*d uiwarp\nalias long %0*d\nalias %0*d uiwarp\n",
                   IT_INTERFACE_NAME_SIZE, 1, IT_INTERFACE_NAME_SIZE, 1, IT_INTERFACE_NAME_SIZE - 1,
                   1);
    expect(text, "", 2);
    cr_assert_null(ual_alias_of("long"));
}

Test(ual_conf, long_lines)
{
    static char text[100000];
    size_t length = (size_t)snprintf(text, sizeof(text), "provider a.so ");

    memset(text + length, 'x', sizeof(text) - length - 1);
    text[sizeof(text) - 1] = '\0';
    parse(text, strlen(text));
    cr_assert_eq(strncmp(seen, "1[a.so][xxxx", 12), 0);
    cr_assert_eq(warnings, 0);
}

/* ---------------------------------------------------------------- files */

static bool add_nothing(const struct vp_provider *provider)
{
    (void)provider;
    cr_assert_fail("nothing can be loaded here");
    return false;
}

/* Whatever path the environment gives, the program continues. */
Test(ual_conf, files_that_are_none)
{
    char folder[] = "/tmp/itapi-conf.XXXXXX";
    char path[64];

    cr_assert_not_null(mkdtemp(folder));
    setenv("ITAPI_CONF", "", 1);
    ual_conf_load(add_nothing);
    setenv("ITAPI_CONF", folder, 1);
    ual_conf_load(add_nothing);
    (void)snprintf(path, sizeof(path), "%s/fifo", folder);
    setenv("ITAPI_CONF", path, 1);
    ual_conf_load(add_nothing);
    cr_assert_eq(mkfifo(path, 0600), 0);
    ual_conf_load(add_nothing); /* does not wait for a writer of the FIFO */
    setenv("ITAPI_CONF", "/dev/zero", 1);
    ual_conf_load(add_nothing);
    unlink(path);
    rmdir(folder);
}
