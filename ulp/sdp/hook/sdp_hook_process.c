/* SPDX-License-Identifier: BSD-2-Clause */
/* fork, exec, spawn, exit, and threads of this library. */
#include "hook/sdp_hook.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- fork ----------------------------------------------------------------------------------- */

/*
 * Registered by pthread_atfork, and so also called for daemon and forkpty, which call fork inside
 * libc.
 */
static void before_fork(void)
{
    sdp_region_enter();
    sdp_process_before_fork();
}

static void after_fork_parent(void)
{
    sdp_process_after_fork(false);
    sdp_region_leave();
}

static void after_fork_child(void)
{
    sdp_process_after_fork(true);
    sdp_region_leave();
}

void sdp_process_start(void)
{
    (void)pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

/* The child of a vfork would change this library's memory in the parent. */
pid_t vfork(void)
{
    return fork();
}

pid_t __vfork(void)
{
    return fork();
}

/* ---- exec ----------------------------------------------------------------------------------- */

static void before_exec(void)
{
    sdp_region_enter();
    sdp_process_before_exec();
    sdp_region_leave();
}

static int exec_failed(int result)
{
    int error = errno;

    sdp_region_enter();
    sdp_process_exec_failed();
    sdp_region_leave();
    errno = error;
    return result;
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
    before_exec();
    return exec_failed(SDP_NEXT(execve)(path, arguments, environment));
}

int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    before_exec();
    return exec_failed(SDP_NEXT(execvpe)(file, arguments, environment));
}

int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

int execveat(int folder, const char *path, char *const arguments[], char *const environment[],
             int flags)
{
    before_exec();
    return exec_failed(SDP_NEXT(execveat)(folder, path, arguments, environment, flags));
}

int fexecve(int fd, char *const arguments[], char *const environment[])
{
    before_exec();
    return exec_failed(SDP_NEXT(fexecve)(fd, arguments, environment));
}

/*
 * For execl and its like: gathers the arguments up to NULL in an array; *environment is the
 * argument after it.
 */
static char **gather(const char *first, va_list list, char ***environment)
{
    va_list again;
    size_t count = 1;
    char **arguments;

    va_copy(again, list);
    for (const char *next = first; next; next = va_arg(again, const char *))
        count++;
    va_end(again);
    arguments = malloc(count * sizeof(*arguments));
    if (!arguments)
        return NULL;
    arguments[0] = (char *)(uintptr_t)first;
    for (size_t i = 1; i < count; i++)
        arguments[i] = va_arg(list, char *);
    if (environment)
        *environment = va_arg(list, char **);
    return arguments;
}

enum which {
    EXECL,
    EXECLE,
    EXECLP
};

static int exec_list(enum which which, const char *path, const char *first, va_list list)
{
    char **environment = environ;
    char **arguments = gather(first, list, which == EXECLE ? &environment : NULL);
    int result = -1;

    if (arguments)
        result = which == EXECLP ? execvpe(path, arguments, environment)
                                 : execve(path, arguments, environment);
    free(arguments);
    return result;
}

#define EXEC_LIST(name, which)                                                                     \
    int name(const char *path, const char *first, ...)                                             \
    {                                                                                              \
        va_list list;                                                                              \
        int result;                                                                                \
                                                                                                   \
        va_start(list, first);                                                                     \
        result = exec_list(which, path, first, list);                                              \
        va_end(list);                                                                              \
        return result;                                                                             \
    }
EXEC_LIST(execl, EXECL)
EXEC_LIST(execle, EXECLE)
EXEC_LIST(execlp, EXECLP)

/* ---- Starting other programs ---------------------------------------------------------------- */

/* The new programs start with the limits that this program believes to have. */
static void before_spawn(void)
{
    sdp_region_enter();
    sdp_process_before_spawn();
    sdp_region_leave();
}

static void after_spawn(void)
{
    int error = errno;

    sdp_region_enter();
    sdp_own_limit_raise();
    sdp_region_leave();
    errno = error;
}

int posix_spawn(pid_t *process, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[],
                char *const environment[])
{
    int result;

    before_spawn();
    result = SDP_NEXT(posix_spawn)(process, path, actions, attributes, arguments, environment);
    after_spawn();
    return result;
}

int posix_spawnp(pid_t *process, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[])
{
    int result;

    before_spawn();
    result = SDP_NEXT(posix_spawnp)(process, file, actions, attributes, arguments, environment);
    after_spawn();
    return result;
}

FILE *popen(const char *command, const char *mode)
{
    FILE *stream;

    before_spawn();
    stream = SDP_NEXT(popen)(command, mode);
    after_spawn();
    return stream;
}

/* ---- exit ----------------------------------------------------------------------------------- */

static __attribute__((destructor)) void at_exit(void)
{
    sdp_region_enter();
    sdp_process_exits();
    sdp_region_leave();
}

void _exit(int status)
{
    at_exit();
    SDP_NEXT(_exit)(status);
    __builtin_unreachable();
}

void _Exit(int status)
{
    _exit(status);
}

/* ---- Threads -------------------------------------------------------------------------------- */

struct start {
    void *(*run)(void *argument);
    void *argument;
};

static void *run_ours(void *argument)
{
    struct start start = *(struct start *)argument;

    free(argument);
    sdp_thread.ours = true;
    return start.run(start.argument);
}

/* Threads of this library, and of the libraries below it, use the kernel directly. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    struct start *start;
    int result;

    if (!sdp_inside())
        return SDP_NEXT(pthread_create)(thread, attributes, run, argument);
    start = malloc(sizeof(*start));
    if (!start)
        return EAGAIN;
    *start = (struct start){run, argument};
    result = SDP_NEXT(pthread_create)(thread, attributes, run_ours, start);
    if (result != 0)
        free(start);
    return result;
}
