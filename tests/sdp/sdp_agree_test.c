/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Agreement on one host, with this library's ends, strangers and liars: ulp/sdp/agree/README.md.
 * Whatever happens, a stranger receives the program's octets and no others.
 */
#include "support/check.h"

#include "agree/sdp_agree.h"
#include "agree/sdp_agree_attached.h"
#include "agree/sdp_agree_message.h"
#include "agree/sdp_agree_proof.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char from_client[] = "GET / HTTP/1.0\r\n\r\n";
static const char from_server[] = "220 ready\r\n";

/* ---- Sockets -------------------------------------------------------------------------------- */

struct pair {
    int listener, client, server;
    struct sdp_agreement *asking, *accepted;
    bool announced;
};

static struct sockaddr_in listen_on(int *listener)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);

    *listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(bind(*listener, (struct sockaddr *)&address, sizeof(address)) == 0);
    CHECK(listen(*listener, 16) == 0);
    CHECK(getsockname(*listener, (struct sockaddr *)&address, &length) == 0);
    return address;
}

enum {
    OUR_CLIENT = 1,
    OUR_SERVER = 2,
    OURS = OUR_CLIENT | OUR_SERVER
};

static struct pair pair_open(int ours)
{
    struct pair pair = {.client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_in address = listen_on(&pair.listener);

    pair.announced = (ours & OUR_SERVER) != 0;
    if (pair.announced)
        sdp_agree_listening(pair.listener);
    if (ours & OUR_CLIENT)
        pair.asking =
            sdp_agree_connecting(pair.client, (struct sockaddr *)&address, sizeof(address));
    CHECK(connect(pair.client, (struct sockaddr *)&address, sizeof(address)) == 0);
    pair.server = accept(pair.listener, NULL, NULL);
    CHECK(pair.server >= 0);
    if (ours & OUR_SERVER)
        pair.accepted = sdp_agree_accepted(pair.server, &pair);
    return pair;
}

static void pair_close(struct pair *pair)
{
    if (pair->asking)
        sdp_agree_free(pair->asking);
    if (pair->accepted)
        sdp_agree_free(pair->accepted);
    if (pair->announced)
        sdp_agree_listens_no_more(pair->listener);
    (void)close(pair->client);
    (void)close(pair->server);
    (void)close(pair->listener);
}

/* Decides as a blocking call of a program does. */
static enum sdp_agree_verdict decide(struct sdp_agreement *agreement, enum sdp_agree_call call)
{
    enum sdp_agree_verdict verdict;
    struct sdp_agree_wait wait;

    while ((verdict = sdp_agree_step(agreement, call, &wait)) == SDP_WAIT) {
        struct pollfd fds[2] = {{.fd = wait.fd[0], .events = POLLIN},
                                {.fd = wait.fd[1], .events = POLLIN}};

        (void)poll(fds, 2, wait.timeout_us < 0 ? 5 : (int)(wait.timeout_us / 1000 + 1));
    }
    return verdict;
}

/* Expects these octets and no others, and the end of the stream if the other end was closed. */
static void expect_octets(int fd, const char *text)
{
    char found[256] = "";

    CHECK_EQ(strlen(text), recv(fd, found, strlen(text), MSG_WAITALL));
    CHECK(strcmp(found, text) == 0);
    CHECK(recv(fd, found, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

static void send_text(int fd, const char *text)
{
    CHECK_EQ(strlen(text), send(fd, text, strlen(text), MSG_NOSIGNAL));
}

static void expect_empty(const struct pair *pair)
{
    char octet;

    CHECK(recv(pair->client, &octet, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
    CHECK(recv(pair->server, &octet, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN);
}

/* ---- Both are ours -------------------------------------------------------------------------- */

struct caller {
    pthread_t thread;
    struct sdp_agreement *agreement;
    enum sdp_agree_call call;
    enum sdp_agree_verdict verdict;
};

static void *call(void *argument)
{
    struct caller *caller = argument;

    caller->verdict = decide(caller->agreement, caller->call);
    return NULL;
}

static void both_agree(enum sdp_agree_call client, enum sdp_agree_call server)
{
    struct pair pair = pair_open(OURS);
    struct caller caller = {.agreement = pair.accepted, .call = server};

    CHECK(pthread_create(&caller.thread, NULL, call, &caller) == 0);
    CHECK_EQ(SDP_CONVERT, decide(pair.asking, client));
    CHECK(pthread_join(caller.thread, NULL) == 0);
    CHECK_EQ(SDP_CONVERT, caller.verdict);
    CHECK(sdp_agree_active(pair.asking) && !sdp_agree_active(pair.accepted));
    expect_empty(&pair);
    pair_close(&pair);
}

/* The server's program has polled once and does something else: the library's thread answers. */
static void server_is_busy(void)
{
    struct pair pair = pair_open(OURS);
    struct sdp_agree_wait wait;

    CHECK_EQ(SDP_WAIT, sdp_agree_step(pair.accepted, SDP_POLLS, &wait));
    CHECK_EQ(pair.server, wait.fd[0]);
    CHECK_EQ(-1, wait.timeout_us);
    CHECK_EQ(SDP_CONVERT, decide(pair.asking, SDP_WRITES));
    CHECK_EQ(SDP_CONVERT, sdp_agree_step(pair.accepted, SDP_READS, &wait));
    expect_empty(&pair);
    pair_close(&pair);
}

/* One thread is both ends, and the server's end never makes a call: the client continues as TCP. */
static void one_thread(void)
{
    struct pair pair = pair_open(OURS);

    CHECK_EQ(SDP_TCP, decide(pair.asking, SDP_WRITES));
    send_text(pair.client, from_client);
    CHECK_EQ(SDP_TCP, decide(pair.accepted, SDP_READS));
    expect_octets(pair.server, from_client);
    pair_close(&pair);
}

static void server_speaks_first(void)
{
    struct pair pair = pair_open(OURS);

    CHECK_EQ(SDP_TCP, decide(pair.accepted, SDP_WRITES));
    send_text(pair.server, from_server);
    CHECK_EQ(SDP_TCP, decide(pair.asking, SDP_READS));
    expect_octets(pair.client, from_server);
    pair_close(&pair);
}

/* ---- Strangers ------------------------------------------------------------------------------ */

static void stranger_client(void)
{
    struct pair pair = pair_open(OUR_SERVER);
    struct sdp_agree_wait wait;

    CHECK_EQ(SDP_WAIT, sdp_agree_step(pair.accepted, SDP_READS, &wait));
    send_text(pair.client, from_client);
    CHECK_EQ(SDP_TCP, decide(pair.accepted, SDP_READS));
    expect_octets(pair.server, from_client);
    send_text(pair.server, from_server);
    expect_octets(pair.client, from_server);
    pair_close(&pair);
}

static void stranger_server(void)
{
    struct pair pair = pair_open(OUR_CLIENT);

    CHECK(!pair.asking);
    pair_close(&pair);
}

/* ---- Liars ---------------------------------------------------------------------------------- */

/* The liar's answer to each question. */
enum lie {
    NOTHING,
    BARE_YES,       /* from the same user, without the socket */
    OWN_SOCKET,     /* with a socket of the liar's own */
    CLIENTS_SOCKET, /* with the wrong end */
    OTHER_NONCE,
    OTHER_TUPLE,
    NOISE,
    LIES
};

struct liar {
    pthread_t thread;
    int fd[2]; /* bound like a listener's, and like the holder's */
    enum lie lie;
    const struct pair *pair;
    atomic_bool leave;
};

static int bind_name(const struct sockaddr_un *name, socklen_t length)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    CHECK(bind(fd, (const struct sockaddr *)name, length) == 0);
    return fd;
}

static void say_yes(const struct liar *liar, const struct sockaddr_un *to, socklen_t to_length,
                    struct sdp_note *note, int attached)
{
    uint8_t octets[SDP_NOTE_OCTETS];
    union {
        struct cmsghdr align;
        uint8_t room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct iovec part = {octets, sizeof(octets)};
    struct msghdr message = {
        .msg_name = (void *)to, .msg_namelen = to_length, .msg_iov = &part, .msg_iovlen = 1};

    note->type = SDP_NOTE_YES;
    memset(note->server_nonce, 0x5a, SDP_NONCE_OCTETS);
    note->client_nonce[0] ^= liar->lie == OTHER_NONCE;
    note->tuple.port[0] ^= liar->lie == OTHER_TUPLE;
    sdp_note_put(note, NULL, octets);
    if (liar->lie == NOISE)
        part.iov_len = 7;
    if (attached >= 0) {
        control.align.cmsg_level = SOL_SOCKET;
        control.align.cmsg_type = SCM_RIGHTS;
        control.align.cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(&control.align), &attached, sizeof(attached));
        message.msg_control = control.room;
        message.msg_controllen = sizeof(control.room);
    }
    (void)sendmsg(liar->fd[1], &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void *lie(void *argument)
{
    struct liar *liar = argument;
    struct pollfd fds = {.fd = liar->fd[1], .events = POLLIN};
    uint8_t octets[SDP_NOTE_OCTETS];
    struct sockaddr_un from;
    struct sdp_note note;

    while (!liar->leave) {
        socklen_t length = sizeof(from);
        int attached = liar->lie == OWN_SOCKET ? liar->pair->listener : -1;

        if (poll(&fds, 1, 1) <= 0 ||
            recvfrom(fds.fd, octets, sizeof(octets), 0, (struct sockaddr *)&from, &length) < 0 ||
            !sdp_note_get(octets, sizeof(octets), &note) || liar->lie == NOTHING)
            continue;
        if (liar->lie == CLIENTS_SOCKET)
            attached = liar->pair->client;
        if (liar->lie == OTHER_TUPLE || liar->lie == OTHER_NONCE)
            attached = liar->pair->server;
        say_yes(liar, &from, length, &note, attached);
    }
    return NULL;
}

/* Somebody in front of a stranger's server answers yes to everything. */
static void liar_is_not_believed(enum lie kind)
{
    struct pair pair = {.client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_in address = listen_on(&pair.listener);
    struct liar liar = {.lie = kind, .pair = &pair};
    struct sdp_tuple tuple;
    struct sockaddr_un name;
    socklen_t length = sdp_presence_name(ntohs(address.sin_port), &name);

    liar.fd[0] = bind_name(&name, length);
    pair.asking = sdp_agree_connecting(pair.client, (struct sockaddr *)&address, sizeof(address));
    CHECK(pair.asking);
    CHECK(connect(pair.client, (struct sockaddr *)&address, sizeof(address)) == 0);
    pair.server = accept(pair.listener, NULL, NULL);
    CHECK(sdp_tuple_get(pair.client, SDP_CLIENT_END, &tuple));
    length = sdp_holder_name(&tuple, &name);
    liar.fd[1] = bind_name(&name, length);
    CHECK(pthread_create(&liar.thread, NULL, lie, &liar) == 0);

    CHECK_EQ(SDP_TCP, decide(pair.asking, SDP_WRITES));
    send_text(pair.client, from_client);
    expect_octets(pair.server, from_client);
    liar.leave = true;
    CHECK(pthread_join(liar.thread, NULL) == 0);
    (void)close(liar.fd[0]);
    (void)close(liar.fd[1]);
    pair_close(&pair);
}

/* ---- A client by hand ----------------------------------------------------------------------- */

struct hand {
    struct pair pair;
    int channel;
    struct sdp_note note; /* the question, then the answer */
};

static struct hand hand_ask(void)
{
    const struct sockaddr own = {.sa_family = AF_UNIX};
    struct hand hand = {.pair = pair_open(OUR_SERVER), .note.type = SDP_NOTE_ASK};
    uint8_t octets[SDP_NOTE_OCTETS];
    struct sdp_agree_wait wait;
    struct sockaddr_un name;
    socklen_t length;

    hand.channel = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    CHECK(bind(hand.channel, &own, sizeof(own.sa_family)) == 0);
    CHECK_EQ(SDP_WAIT, sdp_agree_step(hand.pair.accepted, SDP_READS, &wait));
    CHECK(sdp_tuple_get(hand.pair.client, SDP_CLIENT_END, &hand.note.tuple));
    memset(hand.note.client_nonce, 0x33, SDP_NONCE_OCTETS);
    sdp_note_put(&hand.note, NULL, octets);
    length = sdp_holder_name(&hand.note.tuple, &name);
    CHECK_EQ(sizeof(octets),
             sendto(hand.channel, octets, sizeof(octets), 0, (struct sockaddr *)&name, length));
    CHECK_EQ(sizeof(octets), recv(hand.channel, octets, sizeof(octets), 0));
    CHECK(sdp_note_get(octets, sizeof(octets), &hand.note));
    CHECK_EQ(SDP_NOTE_YES, hand.note.type);
    return hand;
}

static void hand_begin(const struct hand *hand)
{
    CHECK_EQ(SDP_NONCE_OCTETS,
             send(hand->pair.client, hand->note.client_nonce, SDP_NONCE_OCTETS, MSG_MORE));
    CHECK_EQ(SDP_NONCE_OCTETS,
             send(hand->pair.client, hand->note.server_nonce, SDP_NONCE_OCTETS, 0));
}

static void hand_close(struct hand *hand)
{
    (void)close(hand->channel);
    pair_close(&hand->pair);
}

/* The answer is lost or late: the client has continued. */
static void promise_is_not_taken(void)
{
    struct hand hand = hand_ask();

    send_text(hand.pair.client, from_client);
    CHECK_EQ(SDP_TCP, decide(hand.pair.accepted, SDP_READS));
    expect_octets(hand.pair.server, from_client);
    hand_close(&hand);
}

/* The preface is late: the server has sent, and removes the preface from what its program reads. */
static void beginning_is_late(void)
{
    struct hand hand = hand_ask();

    CHECK_EQ(SDP_PASS, decide(hand.pair.accepted, SDP_WRITES));
    send_text(hand.pair.server, from_server);
    hand_begin(&hand);
    send_text(hand.pair.client, from_client);
    expect_octets(hand.pair.client, from_server);
    CHECK_EQ(SDP_TCP, decide(hand.pair.accepted, SDP_READS));
    expect_octets(hand.pair.server, from_client);
    hand_close(&hand);
}

/* The server's program closes the socket, or passes it on, while the client begins. */
static void beginning_meets_the_end(void)
{
    struct hand hand = hand_ask();

    CHECK_EQ(SDP_TCP, sdp_agree_abandon(hand.pair.accepted));
    send_text(hand.pair.server, from_server);
    expect_octets(hand.pair.client, from_server);
    hand_close(&hand);
}

/* The same question gets the same answer. A question of another client is known, too. */
static void questions_are_repeated(void)
{
    struct hand hand = hand_ask();
    struct sdp_note first = hand.note;
    uint8_t octets[SDP_NOTE_OCTETS];
    struct sockaddr_un name;
    socklen_t length = sdp_holder_name(&hand.note.tuple, &name);

    for (int i = 0; i < 3; i++) {
        hand.note.type = SDP_NOTE_ASK;
        hand.note.client_nonce[0] ^= (uint8_t)i;
        sdp_note_put(&hand.note, NULL, octets);
        CHECK_EQ(sizeof(octets),
                 sendto(hand.channel, octets, sizeof(octets), 0, (struct sockaddr *)&name, length));
        CHECK_EQ(sizeof(octets), recv(hand.channel, octets, sizeof(octets), 0));
        CHECK(sdp_note_get(octets, sizeof(octets), &hand.note));
        CHECK(memcmp(first.server_nonce, hand.note.server_nonce, SDP_NONCE_OCTETS) == 0);
    }
    hand.note = first;
    hand_begin(&hand);
    CHECK_EQ(SDP_CONVERT, decide(hand.pair.accepted, SDP_READS));
    hand_close(&hand);
}

/* ---- Processes ------------------------------------------------------------------------------ */

static pid_t fork_as_told(void)
{
    pid_t child;

    sdp_agree_before_fork();
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        sdp_agree_after_fork_child();
    else
        sdp_agree_after_fork_parent();
    return child;
}

static void expect_exit(pid_t child)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(0, status);
}

#ifndef __SANITIZE_THREAD__
/* A server that forks for each connection: the child converts after the parent has closed. */
static void child_serves(void)
{
    struct pair pair = pair_open(OURS);
    int ready[2];
    pid_t child;
    char octet;

    CHECK(pipe(ready) == 0);
    child = fork_as_told();
    if (child == 0) {
        sdp_agree_free(pair.asking);
        CHECK_EQ(1, write(ready[1], "x", 1));
        _exit(decide(pair.accepted, SDP_READS) == SDP_CONVERT ? 0 : 1);
    }
    CHECK_EQ(1, read(ready[0], &octet, 1)); /* only this process has the client's socket */
    sdp_agree_free(pair.accepted);
    pair.accepted = NULL;
    CHECK_EQ(SDP_CONVERT, decide(pair.asking, SDP_WRITES));
    expect_exit(child);
    (void)close(ready[0]);
    (void)close(ready[1]);
    pair_close(&pair);
}
#endif

/* Two processes have the socket, so neither end promises or begins. */
static void two_have_it(void)
{
    struct pair pair = pair_open(OURS);
    pid_t child = fork_as_told();

    if (child == 0) {
        if (decide(pair.accepted, SDP_READS) != SDP_TCP)
            _exit(1);
        expect_octets(pair.server, from_client);
        _exit(0);
    }
    CHECK_EQ(SDP_TCP, decide(pair.asking, SDP_WRITES));
    send_text(pair.client, from_client);
    expect_exit(child);
    pair_close(&pair);
}

/* The server has promised and then forked: it refuses the preface and says so in the answer. */
static void beginning_meets_a_fork(void)
{
    struct hand hand = hand_ask();
    uint8_t answer[SDP_PREFACE_OCTETS];
    pid_t child = fork_as_told();

    if (child == 0)
        _exit(0); /* as if killed: it does not say that it has left */
    expect_exit(child);
    hand_begin(&hand);
    CHECK_EQ(SDP_TCP, decide(hand.pair.accepted, SDP_READS));
    CHECK_EQ(sizeof(answer), recv(hand.pair.client, answer, sizeof(answer), MSG_WAITALL));
    CHECK(memcmp(answer, hand.note.server_nonce, SDP_NONCE_OCTETS) == 0);
    for (int i = 0; i < SDP_NONCE_OCTETS; i++)
        CHECK_EQ(0xff, answer[SDP_NONCE_OCTETS + i] ^ hand.note.client_nonce[i]);
    hand_close(&hand);
}

/* ---- What others attach --------------------------------------------------------------------- */

/* Returns a socket that takes ten minutes to close, as its octets are not read. */
static int lingering(int *reader)
{
    const struct linger linger = {1, 600};
    static const char octets[1 << 16];
    struct pair pair = pair_open(0);

    CHECK(setsockopt(pair.client, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) == 0);
    while (send(pair.client, octets, sizeof(octets), MSG_DONTWAIT) > 0) {
    }
    (void)close(pair.listener);
    *reader = pair.server;
    return pair.client;
}

static void attach(int to, int readers[3])
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(3 * sizeof(int))];
    } control = {.room = {0}};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof(control.room)};
    int fds[3];

    for (int i = 0; i < 3; i++)
        fds[i] = lingering(&readers[i]);
    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(sizeof(fds));
    memcpy(CMSG_DATA(&control.align), fds, sizeof(fds));
    CHECK_EQ(1, sendmsg(to, &message, 0));
    for (int i = 0; i < 3; i++)
        (void)close(fds[i]); /* the message has the last ones */
}

/* Whoever reads such messages closes what is attached, and does not wait for it. */
static void attachments_delay_nobody(void)
{
    struct sdp_attached attached;
    char octet;
    struct iovec part = {&octet, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    int readers[2][3];
    int ends[2];

    CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0);
    attach(ends[0], readers[0]);
    CHECK_EQ(1, sdp_attached_receive(ends[1], &message, &attached));
    CHECK(attached.fd >= 0);
    sdp_attached_drop(&attached);
    attach(ends[0], readers[1]);
    sdp_attached_end(ends[1]);
    CHECK(send(ends[0], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    for (int i = 0; i < 6; i++)
        (void)close(readers[i / 3][i % 3]);
}

static void be_patient(uint32_t patience_ms)
{
    const struct sdp_agree_settings settings = {.patience_ms = patience_ms};
    static const struct sdp_agree_host host = {0};

    CHECK(sdp_agree_start(&host, &settings) == 0);
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    be_patient(30000); /* long enough unless something is wrong */
    both_agree(SDP_WRITES, SDP_READS);
    both_agree(SDP_POLLS, SDP_POLLS);
    both_agree(SDP_READS, SDP_READS);
    server_is_busy();
    server_speaks_first();
    stranger_client();
    stranger_server();
    promise_is_not_taken();
    questions_are_repeated();
#ifndef __SANITIZE_THREAD__ /* ThreadSanitizer allows no threads after a fork */
    child_serves();
#endif
    be_patient(50); /* never long enough */
    one_thread();
    for (enum lie kind = NOTHING; kind < LIES; kind++)
        liar_is_not_believed(kind);
    beginning_is_late();
    beginning_meets_the_end();
    two_have_it();
    beginning_meets_a_fork();
    attachments_delay_nobody();
    return 0;
}
