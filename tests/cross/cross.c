/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs all linked tests, each in its own process. The status is 1 if one fails. */
#include <criterion/criterion.h>
#include <sys/wait.h>
#include <unistd.h>

static struct cross_test *tests;

void cross_add(struct cross_test *test)
{
    test->next = tests;
    tests = test;
}

_Noreturn void cross_failed(const char *file, int line, const char *condition)
{
    printf("%s:%d: not so: %s\n", file, line, condition);
    fflush(stdout);
    _exit(1);
}

static bool passes(const struct cross_test *test)
{
    int status = 1;
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        if (test->options.init != NULL)
            test->options.init();
        test->body();
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
    unsigned int passed = 0;
    unsigned int failed = 0;

    for (const struct cross_test *test = tests; test != NULL; test = test->next) {
        if (passes(test)) {
            passed++;
        } else {
            failed++;
            printf("FAILED: %s.%s\n", test->suite, test->name);
        }
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed == 0 && passed > 0 ? 0 : 1;
}
