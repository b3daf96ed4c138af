/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random numbers come from the kernel only, many with one call, and no two users get the same one.
 * This file's getrandom plays the kernel, or passes the call on to it.
 */
#include "base/base_random.h"

#include <criterion/criterion.h>

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 1000u

static unsigned calls;
static int refusal; /* errno of getrandom; 0: it returns numbers */
static unsigned interruptions;
static bool counting; /* getrandom returns 1, 2, 3, ... instead of the kernel's numbers */
static uint32_t counted;

ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    calls++;
    if (interruptions > 0) {
        interruptions--;
        errno = EINTR;
        return -1;
    }
    if (refusal != 0) {
        errno = refusal;
        return -1;
    }
    if (!counting)
        return syscall(SYS_getrandom, buffer, length, flags);
    for (size_t i = 0; i < length / sizeof(uint32_t); i++)
        ((uint32_t *)buffer)[i] = ++counted;
    return (ssize_t)length;
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

static void draw(uint32_t *numbers, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        cr_assert(base_random32(&numbers[i]));
}

/* Returns how many numbers are in both arrays. Sorts them. */
static unsigned common(uint32_t *one, uint32_t *other)
{
    unsigned same = 0;

    qsort(one, MANY, sizeof(one[0]), compare);
    qsort(other, MANY, sizeof(other[0]), compare);
    for (unsigned i = 0, k = 0; i < MANY && k < MANY;) {
        same += one[i] == other[k];
        if (one[i] < other[k])
            i++;
        else
            k++;
    }
    return same;
}

/* Each of the kernel's numbers is given out once. */
Test(base_random, numbers_of_the_kernel)
{
    uint32_t numbers[MANY];

    counting = true;
    draw(numbers, MANY);
    qsort(numbers, MANY, sizeof(numbers[0]), compare);
    for (unsigned i = 1; i < MANY; i++)
        cr_assert_neq(numbers[i], numbers[i - 1]);
    cr_assert_geq(numbers[0], 1);
    cr_assert_leq(numbers[MANY - 1], counted);
    cr_assert_leq(calls, MANY / 32, "%u calls", calls);
}

Test(base_random, interrupted)
{
    uint32_t number;

    interruptions = 3;
    cr_assert(base_random32(&number));
    cr_assert_eq(calls, 4);
}

/*
 * A filter of system calls may refuse getrandom. Then no number is made up, and a later call
 * succeeds.
 */
Test(base_random, refused)
{
    static const int refusals[] = {ENOSYS, EPERM, EAGAIN, EFAULT};
    uint32_t number = 7;

    for (unsigned i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        refusal = refusals[i];
        cr_assert_not(base_random32(&number));
        cr_assert_eq(number, 7);
    }
    refusal = 0;
    cr_assert(base_random32(&number));
}

/* Numbers that the parent has fetched and not given out yet are never given out by the child. */
Test(base_random, fork)
{
    uint32_t parents[MANY];
    uint32_t childs[MANY];
    int ends[2];
    pid_t pid;
    int status;

    cr_assert(base_random32(&parents[0]));
    cr_assert_eq(pipe(ends), 0);
    pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) {
        draw(childs, MANY);
        _exit(write(ends[1], childs, sizeof(childs)) == (ssize_t)sizeof(childs) ? 0 : 1);
    }
    draw(parents, MANY);
    cr_assert_eq(read(ends[0], childs, sizeof(childs)), (ssize_t)sizeof(childs));
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert_eq(status, 0);
    cr_assert_leq(common(parents, childs), 1);
}

static void *draw_main(void *argument)
{
    draw(argument, MANY);
    return NULL;
}

Test(base_random, threads)
{
    uint32_t here[MANY];
    uint32_t there[MANY];
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, draw_main, there), 0);
    draw(here, MANY);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_leq(common(here, there), 1);
}
