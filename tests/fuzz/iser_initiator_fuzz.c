/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A target that says anything to it_iser: in the login, to commands, to a Text. First octet:
 * 1: digests, 2: CHAP, 4: a discovery session, 8: a valid login comes first. Then the octets of the
 * stream, which ends behind them.
 */
#include "initiator/iser_client.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    DIGESTS = 1,
    CHAP = 2,
    DISCOVERY = 4,
    LOGGED_IN = 8
};

#define MEMORY  2048u
#define ROOM    16384u /* a socket takes it at once */
#define PADDING 4u

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void say(int fd, const void *octets, size_t length)
{
    require(send(fd, octets, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length);
}

static void say_logged_in(int fd)
{
    static const char text[] = "ImmediateData=Yes\0InitialR2T=No\0FirstBurstLength=512";
    uint8_t bhs[ISER_BHS];
    const uint8_t zeros[PADDING] = {0};

    iser_pdu_begin(bhs, ISER_LOGIN_RESPONSE, 0x87, 0);
    iser_put24(bhs + ISER_AT_LENGTH, sizeof(text));
    iser_put32(bhs + ISER_AT_MAX_CMD_SN, 8);
    say(fd, bhs, sizeof(bhs));
    say(fd, text, sizeof(text));
    say(fd, zeros, iser_padding(sizeof(text)));
}

/* Memory of its own, so that what lies beside it is found. */
static void command(struct iser_client *client, uint32_t in, uint32_t out)
{
    struct iser_client_task task;

    memset(&task, 0, sizeof(task));
    task.in = malloc(in ? in : 1);
    task.out = calloc(1, out ? out : 1);
    task.in_length = in;
    task.out_length = out;
    require(task.in && task.out);
    if (!iser_client_run(client, &task))
        client->tasks[task.itt] = NULL;
    require(task.sense_length <= sizeof(task.sense));
    free(task.in);
    free((void *)(uintptr_t)task.out);
}

static void use(struct iser_client *client)
{
    struct iser_text text = {.length = 0};
    char *answer;
    size_t length;

    if (!iser_client_login(client))
        return;
    require(client->terms.send_max > 0);
    command(client, 600, 0);
    command(client, 0, 700);
    iser_text_put(&text, "SendTargets", "All");
    if (!client->error[0])
        (void)iser_client_text(client, &text, &answer, &length), free(answer);
    if (!client->error[0])
        (void)iser_client_logout(client);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct itiser_secret secrets[] = {
        {.name = "one", .secret = (const uint8_t *)"a secret of one", .length = 15},
        {.name = "other", .secret = (const uint8_t *)"another secret.", .length = 15}};
    struct iser_client *client = calloc(1, sizeof(*client));
    int ends[2];

    require(client && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    if (size > 1 && size < ROOM) {
        client->options = (struct iser_client_options){
            .initiator = "i", .target = data[0] & DISCOVERY ? NULL : "t", .depth = 4};
        client->options.digests = (data[0] & DIGESTS) != 0;
        if (data[0] & CHAP) {
            client->options.own = secrets[0];
            client->options.proof = secrets[1];
        }
        if (data[0] & LOGGED_IN)
            say_logged_in(ends[1]);
        say(ends[1], data + 1, size - 1);
        require(shutdown(ends[1], SHUT_WR) == 0);
        client->fd = ends[0];
        require(iser_client_plain_open(client));
        use(client);
        client->link->close(client);
    }
    (void)close(ends[0]);
    (void)close(ends[1]);
    free(client);
    return 0;
}
