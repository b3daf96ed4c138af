/* SPDX-License-Identifier: BSD-2-Clause */
#include "interop/peer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/check.h"
#include "support/it_fixture.h"

#define TAIL      24  /* number of lines of conversation that are kept */
#define TAIL_LINE 256 /* and characters of each */
#define PEERS     8

struct peer {
    pid_t pid;          /* 0: gone */
    int fd;             /* the program's standard input and output */
    char in[PEER_LINE]; /* octets that were read and not taken yet */
    size_t in_length;
    char tail[TAIL][TAIL_LINE];
    size_t lines;
};

/* The running peers, for the end of a failed test. */
static struct peer *peers[PEERS];

/* ---- The conversation ----------------------------------------------------------------------- */

static void remember(struct peer *peer, const char *who, const char *line)
{
    char *place = peer->tail[peer->lines++ % TAIL];

    (void)snprintf(place, TAIL_LINE, "%s %.*s", who, TAIL_LINE - 8, line);
}

static void print_tail(const struct peer *peer)
{
    size_t first = peer->lines > TAIL ? peer->lines - TAIL : 0;

    fprintf(stderr, "---- conversation with peer %d, last lines\n", (int)peer->pid);
    for (size_t i = first; i < peer->lines; i++)
        fprintf(stderr, "%s\n", peer->tail[i % TAIL]);
}

static void print_all(void)
{
    for (size_t i = 0; i < PEERS; i++) {
        if (peers[i] != NULL)
            print_tail(peers[i]);
    }
}

/* ---- The program ---------------------------------------------------------------------------- */

static const char *program(void)
{
    const char *path = getenv("ITAPI_VERBS_PEER");

    return path != NULL ? path : ITAPI_VERBS_PEER;
}

/* Turns the child into the peer. The peer dies with the test, however the test ends. */
static void become_peer(pid_t parent, int fd, const char *net_namespace)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(fd, STDIN_FILENO) == -1 || dup2(fd, STDOUT_FILENO) == -1)
        _exit(126);
    if (net_namespace != NULL)
        (void)execlp("ip", "ip", "netns", "exec", net_namespace, program(), (char *)NULL);
    else
        (void)execl(program(), program(), (char *)NULL);
    fprintf(stderr, "cannot start %s: %s\n", program(), strerror(errno));
    _exit(127);
}

struct peer *peer_start(const char *net_namespace)
{
    struct peer *peer = calloc(1, sizeof(*peer));
    pid_t parent = getpid();
    size_t slot = 0;
    int ends[2];

    CHECK(peer != NULL);
    while (slot < PEERS && peers[slot] != NULL)
        slot++;
    CHECK(slot < PEERS);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    peer->pid = fork();
    CHECK(peer->pid != -1);
    if (peer->pid == 0)
        become_peer(parent, ends[1], net_namespace);
    (void)close(ends[1]);
    peer->fd = ends[0];
    peers[slot] = peer;
    check_at_failure(print_all);
    return peer;
}

static void forget(struct peer *peer)
{
    for (size_t i = 0; i < PEERS; i++) {
        if (peers[i] == peer)
            peers[i] = NULL;
    }
}

bool peer_is_there(const struct peer *peer)
{
    return peer->pid != 0;
}

/* Waits until the program has ended. Returns its wait status. */
static int wait_gone(struct peer *peer)
{
    uint64_t end_us = fx_now_us() + (uint64_t)PEER_PATIENCE_MS * 1000u;
    struct timespec nap = {0, 1000000};
    int status = 0;
    pid_t gone;

    do {
        gone = waitpid(peer->pid, &status, WNOHANG);
        CHECK(gone == 0 || gone == peer->pid);
        if (gone == 0 && fx_now_us() > end_us)
            CHECK_FAIL("peer %d does not end", (int)peer->pid);
        if (gone == 0)
            (void)nanosleep(&nap, NULL);
    } while (gone == 0);
    return status;
}

static void check_killed(struct peer *peer)
{
    int status = wait_gone(peer);

    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        CHECK_FAIL("peer %d ended with wait status 0x%x, not by SIGKILL", (int)peer->pid, status);
    peer->pid = 0;
}

void peer_kill(struct peer *peer)
{
    CHECK(peer->pid != 0 && kill(peer->pid, SIGKILL) == 0);
    check_killed(peer);
}

void peer_wait_killed(struct peer *peer)
{
    CHECK(peer->pid != 0);
    check_killed(peer);
}

void peer_continue(struct peer *peer)
{
    CHECK(peer->pid != 0 && kill(peer->pid, SIGCONT) == 0);
}

void peer_end(struct peer *peer)
{
    int status;

    if (peer->pid != 0) {
        peer_ask(peer, NULL, "quit");
        status = wait_gone(peer);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            CHECK_FAIL("peer %d ended with wait status 0x%x", (int)peer->pid, status);
    }
    forget(peer);
    (void)close(peer->fd);
    free(peer);
}

size_t peer_resident_kb(const struct peer *peer)
{
    char line[128];
    size_t kb = 0;
    FILE *file;

    (void)snprintf(line, sizeof(line), "/proc/%d/status", (int)peer->pid);
    file = fopen(line, "r");
    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL && sscanf(line, "VmRSS: %zu", &kb) != 1)
        continue;
    (void)fclose(file);
    CHECK(kb != 0);
    return kb;
}

size_t peer_descriptors(const struct peer *peer)
{
    return fx_fd_count_of((int)peer->pid);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

static void tell(struct peer *peer, const char *format, va_list arguments)
{
    char line[PEER_LINE];
    int length = vsnprintf(line, sizeof(line) - 1, format, arguments);
    size_t sent = 0;

    CHECK(length > 0 && (size_t)length < sizeof(line) - 1);
    remember(peer, ">", line);
    line[length] = '\n';
    while (sent <= (size_t)length) {
        ssize_t now = send(peer->fd, line + sent, (size_t)length + 1 - sent, MSG_NOSIGNAL);

        if (now == -1 && errno != EINTR)
            CHECK_FAIL("peer %d is not there any more: %s", (int)peer->pid, strerror(errno));
        sent += now > 0 ? (size_t)now : 0;
    }
}

void peer_tell(struct peer *peer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(peer, format, arguments);
    va_end(arguments);
}

bool peer_can_hear(struct peer *peer, unsigned milliseconds)
{
    struct pollfd poll_fd = {.fd = peer->fd, .events = POLLIN};
    int ready;

    if (memchr(peer->in, '\n', peer->in_length) != NULL)
        return true;
    do
        ready = poll(&poll_fd, 1, (int)milliseconds);
    while (ready == -1 && errno == EINTR);
    return ready == 1;
}

static void read_line(struct peer *peer, struct peer_answer *answer)
{
    uint64_t end_us = fx_now_us() + (uint64_t)PEER_PATIENCE_MS * 1000u;
    char *newline;
    size_t length;

    while ((newline = memchr(peer->in, '\n', peer->in_length)) == NULL) {
        uint64_t now_us = fx_now_us();
        ssize_t got;

        CHECK(peer->in_length < sizeof(peer->in));
        if (now_us >= end_us || !peer_can_hear(peer, (unsigned)((end_us - now_us) / 1000 + 1)))
            CHECK_FAIL("peer %d does not answer", (int)peer->pid);
        got = recv(peer->fd, peer->in + peer->in_length, sizeof(peer->in) - peer->in_length, 0);
        if (got == 0 || (got == -1 && errno != EINTR))
            CHECK_FAIL("peer %d is not there any more", (int)peer->pid);
        peer->in_length += got > 0 ? (size_t)got : 0;
    }
    length = (size_t)(newline - peer->in);
    memcpy(answer->text, peer->in, length);
    answer->text[length] = '\0';
    peer->in_length -= length + 1;
    memmove(peer->in, newline + 1, peer->in_length);
    remember(peer, "<", answer->text);
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    return strncmp(text, word, length) == 0 && (text[length] == '\0' || text[length] == ' ');
}

bool peer_hear_either(struct peer *peer, struct peer_answer *answer)
{
    read_line(peer, answer);
    if (!has_word(answer->text, "ok") && !has_word(answer->text, "error"))
        CHECK_FAIL("not an answer: %s", answer->text);
    return answer->text[0] == 'o';
}

void peer_hear(struct peer *peer, struct peer_answer *answer)
{
    struct peer_answer own;

    if (answer == NULL)
        answer = &own;
    if (!peer_hear_either(peer, answer))
        CHECK_FAIL("the peer says: %s", answer->text);
}

void peer_hear_error(struct peer *peer, struct peer_answer *answer, const char *word)
{
    struct peer_answer own;

    if (answer == NULL)
        answer = &own;
    if (peer_hear_either(peer, answer) || !has_word(answer->text + strlen("error "), word))
        CHECK_FAIL("the peer says \"%s\", not \"error %s\"", answer->text, word);
}

void peer_ask(struct peer *peer, struct peer_answer *answer, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(peer, format, arguments);
    va_end(arguments);
    peer_hear(peer, answer);
}

void peer_ask_error(struct peer *peer, struct peer_answer *answer, const char *word,
                    const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    tell(peer, format, arguments);
    va_end(arguments);
    peer_hear_error(peer, answer, word);
}

uint64_t peer_ask_number(struct peer *peer, const char *field, const char *format, ...)
{
    struct peer_answer answer;
    va_list arguments;

    va_start(arguments, format);
    tell(peer, format, arguments);
    va_end(arguments);
    peer_hear(peer, &answer);
    return peer_number(&answer, field);
}

struct peer_mem peer_mem_make(struct peer *peer, size_t size, const char *rights)
{
    struct peer_mem mem = {.size = size};
    struct peer_answer answer;

    peer_ask(peer, &answer, "mem %zu%s%s", size, rights != NULL ? " rights=" : "",
             rights != NULL ? rights : "");
    mem.id = (unsigned)peer_number(&answer, "mem");
    mem.address = peer_number(&answer, "address");
    mem.rkey = (uint32_t)peer_number(&answer, "rkey");
    return mem;
}
