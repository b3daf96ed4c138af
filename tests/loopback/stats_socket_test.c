/* SPDX-License-Identifier: BSD-2-Clause */
/* ITAPI_STATS: what its socket reports, to which clients, and what does not disturb it. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/fixture_node.h"
#include "support/stats_reader.h"

#define MANY_EPS 1500u

static char folder[64];
static char path[96];

static void setup(void)
{
    strcpy(folder, "/tmp/itapi_stats_XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(path, sizeof(path), "%s/socket", folder);
    CHECK(setenv("ITAPI_STATS", path, 1) == 0);
}

/* Fails if a file is left. */
static void teardown(void)
{
    CHECK(rmdir(folder) == 0);
}

TestSuite(stats_socket, .init = setup, .fini = teardown);

static char *read_whole(void)
{
    char *text = stats_read(path);

    CHECK(text != NULL);
    CHECK(stats_is_whole(text));
    return text;
}

static bool is_there(void)
{
    struct stat file;

    return lstat(path, &file) == 0;
}

/* Makes a socket at path that nobody listens on. */
static void leave_dead_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, path);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    CHECK(listen(fd, 1) == 0);
    (void)close(fd);
}

Test(stats_socket, tells_of_all_ias_what_they_have_counted)
{
    struct fx_pair pair;
    struct fx_buf a;
    struct fx_buf b;
    struct itx_ep_counters counters = {.size = sizeof(counters)};
    struct fx_patience patience = fx_patience_start("all octets to arrive");
    struct stat file;
    const char *line;
    char *text = NULL;
    uint64_t received;

    fx_pair_open(&pair);
    CHECK(lstat(path, &file) == 0 && S_ISSOCK(file.st_mode) && (file.st_mode & 07777) == 0600);
    a = fx_node_buf(&pair.a, 1000);
    b = fx_node_buf(&pair.b, 1000);
    for (uint64_t i = 0; i < 7; i++) {
        fx_recv(pair.b_ep, &b, 0, 1000, i);
        fx_send(pair.a_ep, &a, 0, 1000, i, FX_SIGNAL);
        fx_done(pair.a.request_evd, pair.a_ep, IT_DTO_SEND_CMPL_EVENT, i, IT_DTO_SUCCESS);
        fx_done_len(pair.b.recv_evd, pair.b_ep, IT_DTO_RC_RECV_CMPL_EVENT, i, 1000);
    }
    CHECK_OK(itx_ep_stats(pair.a_ep, &counters));
    do { /* counters may lag behind events a little */
        free(text);
        text = read_whole();
        line = stats_line(text, "ep", pair.b_ep);
        CHECK(line != NULL);
        received = stats_value(line, "bytes_received");
        CHECK(received <= counters.bytes_sent);
        fx_patience_check(&patience);
    } while (received != counters.bytes_sent);
    CHECK_EQ(2, stats_count(text, "ia"));
    CHECK_EQ(2, stats_count(text, "ep"));
    CHECK_EQ((uint64_t)getpid(), stats_value(text, "pid"));
    line = stats_line(text, "ep", pair.a_ep);
    CHECK(line != NULL && strstr(line, "state=IT_EP_STATE_CONNECTED ") != NULL);
    CHECK_EQ(7, stats_value(line, "requests_posted"));
    CHECK_EQ(counters.bytes_sent, stats_value(line, "bytes_sent"));
    CHECK_EQ(counters.fpdus_sent, stats_value(line, "fpdus_sent"));
    line = stats_line(text, "ia", pair.b.ia);
    CHECK(line != NULL);
    CHECK_EQ(1, stats_value(line, "connections_accepted"));
    CHECK_EQ(counters.bytes_sent, stats_value(line, "bytes_received"));
    free(text);
    fx_pair_close(&pair);
    CHECK(!is_there());
}

/* ---- A source of lines ---------------------------------------------------------------------- */

static size_t source_lines;

/* The last line is never whole. */
static size_t tell_lines(void *context, char *text, size_t room)
{
    size_t length = 0;

    for (size_t i = 0; i <= source_lines; i++) {
        bool more = length < room;

        length += (size_t)snprintf(more ? text + length : NULL, more ? room - length : 0,
                                   i < source_lines ? "layer id=%zu name=%s\n" : "layer", i,
                                   (const char *)context);
    }
    return length;
}

Test(stats_socket, tells_the_whole_lines_of_a_source)
{
    static const size_t counts[] = {0, 1, 10000};
    char name[] = "a\tb";
    struct fx_node teller;
    char *text;

    fx_node_open(&teller);
    CHECK_OK(itx_ia_set_stats_source(teller.ia, tell_lines, name));
    for (size_t i = 0; i < 3; i++) {
        source_lines = counts[i];
        text = read_whole();
        CHECK_EQ(counts[i], stats_count(text, "layer"));
        CHECK_EQ(counts[i] > 0, strstr(text, "\nlayer id=0 name=a?b\n") != NULL);
        free(text);
    }
    CHECK_OK(itx_ia_set_stats_source(teller.ia, NULL, NULL));
    text = read_whole();
    CHECK_EQ(0, stats_count(text, "layer"));
    free(text);
    fx_node_close(&teller);
}

/* Whichever IA is freed first, the other IA's loop serves the socket. */
Test(stats_socket, lives_as_long_as_any_ia)
{
    struct fx_node first;
    struct fx_node second;
    char *text;

    fx_node_open(&first);
    fx_node_open(&second);
    fx_node_close(&first);
    text = read_whole();
    CHECK_EQ(1, stats_count(text, "ia"));
    free(text);
    fx_node_open(&first);
    fx_node_close(&second);
    text = read_whole();
    CHECK(stats_line(text, "ia", first.ia) != NULL);
    free(text);
    fx_node_close(&first);
    CHECK(!is_there());
    CHECK(stats_connect(path) < 0 && errno == ENOENT);
}

/* Many clients come at once. The loop pauses after each, so that it also serves EPs. */
Test(stats_socket, lets_clients_in_one_by_one, .init = node_init, .fini = node_fini)
{
    enum {
        CLIENTS = 50
    };
    uint64_t first_ns = 0;
    uint64_t last_ns = 0;

    for (unsigned i = 0; i < CLIENTS; i++) {
        char *text = read_whole();

        last_ns = stats_value(text, "time_ns");
        first_ns = i == 0 ? last_ns : first_ns;
        free(text);
    }
    CHECK(last_ns - first_ns >= (CLIENTS - 1) * 2000000ull);
}

/*
 * The snapshot is larger than the socket holds, so the library must wait for clients that do not
 * read.
 */
Test(stats_socket, is_not_held_up_by_clients_that_do_not_read)
{
    struct fx_pair pair;
    it_ep_attributes_t attr = fx_ep_attr();
    int idle[12];
    char *text;

    attr.max_request_dtos = 1;
    attr.max_recv_dtos = 1;
    fx_pair_open(&pair);
    for (unsigned i = 0; i < MANY_EPS; i++)
        (void)fx_ep(&pair.a, &attr);
    for (unsigned i = 0; i < 12; i++) {
        idle[i] = stats_connect(path);
        CHECK(idle[i] >= 0);
    }
    fx_pair_ping(&pair);
    text = read_whole();
    CHECK(strlen(text) > 300000);
    CHECK_EQ(MANY_EPS + 2, stats_count(text, "ep"));
    free(text);
    fx_pair_ping(&pair);
    for (unsigned i = 0; i < 6; i++)
        (void)close(idle[i]); /* some end now, the others with the IA */
    text = read_whole();
    free(text);
    CHECK_OK(it_ia_free(pair.a.ia));
    CHECK_OK(it_ia_free(pair.b.ia));
    for (unsigned i = 6; i < 12; i++)
        (void)close(idle[i]);
    CHECK(!is_there());
}

Test(stats_socket, takes_the_place_of_a_dead_one)
{
    char *text;

    leave_dead_socket();
    fx_node_open(&node);
    text = read_whole();
    free(text);
    fx_node_close(&node);
    CHECK(!is_there());
}

Test(stats_socket, leaves_alone_what_is_not_its_own)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = open(path, O_CREAT | O_WRONLY, 0600);

    CHECK(fd >= 0 && write(fd, "x", 1) == 1);
    (void)close(fd);
    fx_node_open(&node); /* works without the socket */
    CHECK(stats_connect(path) < 0 && errno == ECONNREFUSED);
    fx_node_close(&node);
    CHECK(is_there());
    CHECK(unlink(path) == 0);
    /* Another process listens there. */
    strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    CHECK(listen(fd, 8) == 0);
    fx_node_open(&node);
    fx_node_close(&node);
    CHECK(is_there());
    (void)close(fd);
    CHECK(unlink(path) == 0);
    /* The path is a link to a place where a socket could be made. */
    CHECK(symlink("elsewhere", path) == 0);
    fx_node_open(&node);
    fx_node_close(&node);
    CHECK(unlink(path) == 0);
    /* Somebody has replaced the socket by another one. */
    fx_node_open(&node);
    CHECK(unlink(path) == 0);
    leave_dead_socket();
    fx_node_close(&node);
    CHECK(is_there());
    CHECK(unlink(path) == 0);
}

Test(stats_socket, is_done_without_where_it_cannot_be)
{
    static const char *const places[] = {"/nowhere/at/all", "/proc/version/x"};
    char longer[300];

    memset(longer, 'x', sizeof(longer) - 1);
    longer[0] = '/';
    longer[sizeof(longer) - 1] = '\0';
    for (unsigned i = 0; i < 3; i++) {
        CHECK(setenv("ITAPI_STATS", i < 2 ? places[i] : longer, 1) == 0);
        fx_node_open(&node);
        fx_node_close(&node);
    }
}

Test(stats_socket, has_a_name_of_its_own_in_a_folder)
{
    char *text;

    for (unsigned slash = 0; slash < 2; slash++) {
        (void)snprintf(path, sizeof(path), "%s%s", folder, slash ? "/" : "");
        CHECK(setenv("ITAPI_STATS", path, 1) == 0);
        fx_node_open(&node);
        (void)snprintf(path, sizeof(path), "%s/itapi.%ld", folder, (long)getpid());
        text = read_whole();
        free(text);
        fx_node_close(&node);
        CHECK(!is_there());
    }
    /* A socket with a relative path stays where it is when the program changes its folder. */
    CHECK(chdir(folder) == 0 && setenv("ITAPI_STATS", "here", 1) == 0);
    fx_node_open(&node);
    CHECK(chdir("/") == 0);
    (void)snprintf(path, sizeof(path), "%s/here", folder);
    text = read_whole();
    free(text);
    fx_node_close(&node);
    CHECK(!is_there());
}

/* There is no additional descriptor, so there is nothing to watch. */
Test(stats_socket, costs_nothing_unless_asked_for, .init = node_init)
{
    size_t with;
    size_t without;

    fx_node_close(&node);
    CHECK(unsetenv("ITAPI_STATS") == 0);
    fx_node_open(&node);
    without = fx_fd_count();
    fx_node_close(&node);
    CHECK(setenv("ITAPI_STATS", "", 1) == 0);
    fx_node_open(&node);
    CHECK_EQ(without, fx_fd_count());
    CHECK(!is_there());
    fx_node_close(&node);
    CHECK(setenv("ITAPI_STATS", path, 1) == 0);
    fx_node_open(&node);
    with = fx_fd_count();
    fx_node_close(&node);
    CHECK_EQ(without + 2, with);
}
