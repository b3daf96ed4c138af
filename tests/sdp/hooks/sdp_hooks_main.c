/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sdp_hooks LIBRARY: runs each scene in two processes, one with the library in front. Both must
 * print the same. sdp_hooks --scene NAME: runs one scene in this process.
 */
#include "hooks/sdp_hooks_kit.h"
#include "support/time_limit.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAID_MAX (1 << 16)

static const struct sdp_hooks_named *const all[] = {
    sdp_hooks_data,   sdp_hooks_edges, sdp_hooks_bad,       sdp_hooks_memory, sdp_hooks_events,
    sdp_hooks_behind, sdp_hooks_carry, sdp_hooks_options,   sdp_hooks_others, sdp_hooks_numbered,
    sdp_hooks_forks,  sdp_hooks_sets,  sdp_hooks_undecided, sdp_hooks_early,  sdp_hooks_deaths};

/* ---- In a scene ----------------------------------------------------------------------------- */

static void fail(const char *what)
{
    (void)fprintf(stdout, "%s: %s\n", what, strerror(errno));
    (void)fflush(stdout);
    exit(1);
}

/*
 * Polls the server until the client is done: both sides must make a call before anything is
 * decided.
 */
static void *poll_server(void *argument)
{
    struct pollfd *polls = argument;

    (void)poll(polls, 2, -1);
    return NULL;
}

/* With the library in front both ends are SDP from here on. */
static void decide(struct sdp_hooks_pair *pair)
{
    struct pollfd client = {.fd = pair->client, .events = POLLIN};
    struct pollfd server[2] = {{.fd = pair->server, .events = POLLIN}, {.events = POLLIN}};
    pthread_t thread;
    int done[2];
    int on = 1;

    if (pipe(done) < 0)
        fail("pipe");
    server[1].fd = done[0];
    if (pthread_create(&thread, NULL, poll_server, server) != 0)
        fail("pthread_create");
    (void)poll(&client, 1, 0);
    (void)close(done[1]);
    (void)pthread_join(thread, NULL);
    (void)close(done[0]);
    if (getenv("LD_PRELOAD") && !getenv("SDP_HOOKS_TCP_TOO") &&
        setsockopt(pair->client, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) == 0)
        fail("it is TCP");
}

static bool decided_by_scene;

void sdp_hooks_open(struct sdp_hooks_pair *pair)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof(address);

    pair->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pair->client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(pair->listener, (struct sockaddr *)&address, length) < 0 ||
        listen(pair->listener, 8) < 0 ||
        getsockname(pair->listener, (struct sockaddr *)&address, &length) < 0 ||
        connect(pair->client, (struct sockaddr *)&address, length) < 0)
        fail("connect");
    pair->server = accept4(pair->listener, NULL, NULL, SOCK_CLOEXEC);
    if (pair->server < 0)
        fail("accept");
    if (!decided_by_scene)
        decide(pair);
}

void sdp_hooks_close(struct sdp_hooks_pair *pair)
{
    (void)close(pair->client);
    (void)close(pair->server);
    (void)close(pair->listener);
}

long sdp_hooks_say(const char *what, long result)
{
    int error = errno;

    if (result < 0)
        (void)printf("%s: %ld %s\n", what, result, strerrorname_np(error));
    else
        (void)printf("%s: %ld\n", what, result);
    (void)fflush(stdout);
    errno = error;
    return result;
}

void sdp_hooks_note(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    (void)vprintf(format, list);
    va_end(list);
    (void)putchar('\n');
    (void)fflush(stdout);
}

void sdp_hooks_await(const char *what, int fd, short asked, short until)
{
    struct pollfd polls = {.fd = fd, .events = (short)(asked | until)};

    for (int i = 0; i < 5000; i++) {
        if (poll(&polls, 1, 0) < 0)
            fail("poll");
        if ((polls.revents & until) == until)
            break;
        (void)poll(NULL, 0, 1);
    }
    sdp_hooks_note("%s: %#x", what,
                   (unsigned)polls.revents & (unsigned)(asked | until | POLLHUP | POLLERR));
}

void sdp_hooks_await_over(const struct sdp_hooks_pair *pair)
{
    struct sockaddr_storage name;
    socklen_t length = sizeof(name);

    sdp_hooks_await("over", pair->server, POLLIN, POLLHUP);
    sdp_hooks_await("over", pair->client, POLLIN, POLLHUP);
    for (int i = 0; i < 5000 && getpeername(pair->server, (struct sockaddr *)&name, &length) == 0;
         i++)
        (void)poll(NULL, 0, 1);
}

static bool is_asleep(pid_t thread)
{
    char path[64];
    char line[256] = "";
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)thread);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!read(fd, line, sizeof(line) - 1);
        (void)close(fd);
    }
    return strstr(line, ") S ") != NULL;
}

void sdp_hooks_await_asleep(const _Atomic pid_t *thread)
{
    int found = 0;

    for (int i = 0; i < 2500 && found < 5; i++) {
        found = is_asleep(*thread) ? found + 1 : 0;
        (void)poll(NULL, 0, 1);
    }
    sdp_hooks_note(found == 5 ? "asleep" : "never asleep");
}

/* ---- Both ways ------------------------------------------------------------------------------ */

/* Returns the scene's output as text, with "status N" at the end if it failed. */
static void run(const char *program, const char *scene, const char *library, char said[SAID_MAX])
{
    int channel[2];
    size_t size = 0;
    struct pollfd polls = {.events = POLLIN};
    ssize_t got;
    int status;
    pid_t child = -1;

    if (pipe(channel) < 0 || (child = fork()) < 0)
        fail("fork");
    if (child == 0) {
        (void)setpgid(0, 0);
        (void)dup2(channel[1], STDOUT_FILENO);
        (void)close(channel[0]);
        (void)close(channel[1]);
        if (library)
            (void)setenv("LD_PRELOAD", library, 1);
        (void)execl(program, program, "--scene", scene, (char *)NULL);
        _exit(127);
    }
    (void)close(channel[1]);
    polls.fd = channel[0];
    while (poll(&polls, 1, time_limit_ms(20000)) == 1 &&
           (got = read(channel[0], said + size, SAID_MAX - 64 - size)) > 0)
        size += (size_t)got;
    (void)kill(-child, SIGKILL); /* no process of the scene is left now, or it hangs */
    (void)close(channel[0]);
    (void)waitpid(child, &status, 0);
    said[size] = '\0';
    if (status != 0)
        (void)sprintf(said + size, "status %#x\n", (unsigned)status);
}

/* Prints the first line in which they differ. */
static void show_difference(const char *scene, const char *plain, const char *ours)
{
    size_t line = 0;

    for (size_t i = 0; plain[i] && plain[i] == ours[i]; i++)
        if (plain[i] == '\n')
            line = i + 1;
    (void)printf("%s\n  plain: %.*s\n  here:  %.*s\n", scene, (int)strcspn(plain + line, "\n"),
                 plain + line, (int)strcspn(ours + line, "\n"), ours + line);
}

static bool compare(const char *program, const char *scene, const char *library)
{
    static char plain[SAID_MAX];
    static char ours[SAID_MAX];

    run(program, scene, NULL, plain);
    run(program, scene, library, ours);
    if (strcmp(plain, ours) == 0 && !strstr(plain, "status ") && plain[0])
        return true;
    show_difference(scene, plain, ours);
    return false;
}

/*
 * Scenes that sanitizers change: their own functions in front of libc's read the arguments.
 * ThreadSanitizer also allows no threads after a fork, runs handlers later, and reports that one
 * thread closes what another one reads.
 */
static bool is_left_out(const struct sdp_hooks_named *scenes, const char *scene)
{
#if defined(__SANITIZE_THREAD__)
    static const char *const left_out[] = {
        "missing_arguments", "missing_arrays", "before_connections", "before_octets",
        "own_handlers",      "restarts",       "closed_meanwhile",   NULL};
    bool forks = scenes == sdp_hooks_forks || scenes == sdp_hooks_deaths;
#elif defined(__SANITIZE_ADDRESS__)
    static const char *const left_out[] = {"missing_arguments", "missing_arrays",
                                           "before_connections", "before_octets", NULL};
    bool forks = false;
#else
    static const char *const left_out[] = {NULL};
    bool forks = false;
#endif

    (void)scenes;
    for (const char *const *name = left_out; *name; name++)
        if (strcmp(*name, scene) == 0)
            return true;
    return forks;
}

static int run_scene(const char *name)
{
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (const struct sdp_hooks_named *scene = all[i]; scene->name; scene++)
            if (strcmp(scene->name, name) == 0) {
                decided_by_scene = all[i] == sdp_hooks_carry || all[i] == sdp_hooks_undecided ||
                                   all[i] == sdp_hooks_early || all[i] == sdp_hooks_deaths;
                scene->run();
                return 0;
            }
    return 2;
}

int main(int argc, char *argv[])
{
    unsigned count = 0;
    unsigned bad = 0;

    if (argc == 3 && strcmp(argv[1], "--scene") == 0)
        return run_scene(argv[2]);
    if (argc < 2)
        return 2;
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (const struct sdp_hooks_named *scene = all[i]; scene->name; scene++) {
            if (argc > 2 ? strcmp(argv[2], scene->name) != 0 : is_left_out(all[i], scene->name))
                continue;
            count++;
            bad += !compare(argv[0], scene->name, argv[1]);
        }
    (void)printf("%u scenes, %u differ\n", count, bad);
    return bad > 0 || count == 0;
}
