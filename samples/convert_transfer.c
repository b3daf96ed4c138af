/* SPDX-License-Identifier: BSD-2-Clause */
#include "convert_transfer.h"

#include "common/progress.h"
#include "convert_dialogue.h"

#include <stdio.h>
#include <string.h>

static void show_digest(const char *what, const unsigned char digest[SHA256_DIGEST_LENGTH])
{
    (void)printf("SHA-256 of %s: ", what);
    for (size_t i = 0; i < SHA256_DIGEST_LENGTH; i++)
        (void)printf("%02x", digest[i]);
    (void)printf("\n");
    (void)fflush(stdout);
}

static bool same_digest(const unsigned char *one, const unsigned char *other, const char *what)
{
    if (memcmp(one, other, SHA256_DIGEST_LENGTH) == 0)
        return true;
    complain("%s is not what was sent", what);
    return false;
}

/* ---- Server ------------------------------------------------------------------------------- */

/* The client has written: answers at once, then checks the data. */
static bool check_written(struct rdma *rdma, const struct region *buffer, size_t size,
                          const struct message *written)
{
    struct message answer = {.kind = MESSAGE_IN_PLACE};

    if (!rdma_send(rdma, &answer))
        return false;
    (void)printf("the data is in place; computing its SHA-256 while the client reads it back\n");
    (void)fflush(stdout);
    SHA256(buffer->memory, size, answer.digest);
    show_digest("the data received", answer.digest);
    answer.kind = MESSAGE_DIGEST;
    return rdma_send(rdma, &answer) &&
           same_digest(answer.digest, written->digest, "the data received");
}

static bool serve_messages(struct rdma *rdma, const struct region *buffer, size_t size)
{
    struct message message;

    if (!rdma_receive(rdma, MESSAGE_READY, &message) || !rdma_advertise(rdma, buffer, size) ||
        !rdma_receive(rdma, MESSAGE_WRITTEN, &message) ||
        !check_written(rdma, buffer, size, &message) || !rdma_receive(rdma, MESSAGE_DONE, &message))
        return false;
    if (message.detail != 0)
        complain("the client is not satisfied");
    else
        (void)printf("the client says: all is well\n");
    return rdma_wait_disconnected(rdma) && message.detail == 0;
}

/*
 * A conversion with a last line makes this side the MPA Responder. Everything that the client may
 * use must be ready before: receives are posted, and memory is registered.
 */
bool transfer_serve(int sd, struct rdma *rdma, unsigned char *memory, size_t size)
{
    static const char last_line[] = DIALOGUE_LAST_LINE;
    struct region buffer;
    bool done;

    if (!region_create(&buffer, rdma->pz, memory, size, IT_PRIV_LOCAL | IT_PRIV_REMOTE))
        return false;
    done = succeeded(it_socket_convert(sd, rdma->ep, IT_SC_DEFAULT,
                                       (const unsigned char *)last_line, strlen(last_line)),
                     "it_socket_convert") &&
           rdma_wait_connected(rdma);
    if (done) {
        (void)printf("  -> " DIALOGUE_LAST_LINE "the TCP connection is an RDMA connection now\n");
        (void)fflush(stdout);
        done = serve_messages(rdma, &buffer, size);
    }
    region_free(&buffer);
    return done;
}

/* ---- Client ------------------------------------------------------------------------------- */

/* The call that posts a chunk: it_post_rdma_write or it_post_rdma_read. */
typedef it_status_t post_function(it_ep_handle_t ep, const it_lmr_triplet_t *segments, size_t count,
                                  it_dto_cookie_t cookie, it_dto_flags_t flags,
                                  it_rdma_addr_t address, it_rmr_context_t key);

/*
 * Moves a region to or from the peer's in chunks. Several chunks are outstanding at any time, so
 * that the connection is always busy. Completions come in the order of posting.
 */
static bool move(struct rdma *rdma, post_function *post, const struct region *local, size_t size,
                 const struct remote *remote, struct progress *progress)
{
    size_t posted = 0;
    size_t finished = 0;
    unsigned int under_way = 0;

    while (finished < size) {
        if (posted < size && under_way < RDMA_DEPTH) {
            size_t length = size - posted < RDMA_CHUNK ? size - posted : RDMA_CHUNK;
            it_lmr_triplet_t segment = region_segment(local, posted, length);

            if (!succeeded(post(rdma->ep, &segment, 1, 0, IT_COMPLETION_FLAG | IT_NOTIFY_FLAG,
                                remote->address + posted, remote->key),
                           "posting RDMA"))
                return false;
            posted += length;
            under_way++;
            continue;
        }
        if (!rdma_wait_request(rdma))
            return false;
        under_way--;
        finished += size - finished < RDMA_CHUNK ? size - finished : RDMA_CHUNK;
        progress_show(progress, finished);
    }
    return true;
}

/* Writes the file into the server's memory and waits until it has arrived. */
static bool write_file(struct rdma *rdma, const struct region *file, size_t size,
                       const struct remote *remote, struct message *written)
{
    struct progress progress;
    struct message answer;

    progress_start(&progress, "written by RDMA Write", size);
    /* A message arrives after the writes that were posted before it. */
    if (!move(rdma, it_post_rdma_write, file, size, remote, &progress) ||
        !rdma_send(rdma, written) || !rdma_receive(rdma, MESSAGE_IN_PLACE, &answer))
        return false;
    progress_finish(&progress);
    return true;
}

static bool read_back(struct rdma *rdma, unsigned char *copy, size_t size,
                      const struct remote *remote)
{
    struct progress progress;
    struct region sink;
    bool done;

    if (!region_create(&sink, rdma->pz, copy, size, rdma->sink_privileges))
        return false;
    progress_start(&progress, "read back by RDMA Read", size);
    done = move(rdma, it_post_rdma_read, &sink, size, remote, &progress);
    if (done)
        progress_finish(&progress);
    region_free(&sink);
    return done;
}

/*
 * Returns true if the file has arrived, by the server's digest and by the copy that was read back.
 */
static bool compare(struct rdma *rdma, const unsigned char *copy, size_t size,
                    const struct message *written)
{
    struct message answer;
    unsigned char digest[SHA256_DIGEST_LENGTH];
    bool same;

    SHA256(copy, size, digest);
    show_digest("the data read back", digest);
    if (!rdma_receive(rdma, MESSAGE_DIGEST, &answer))
        return false;
    show_digest("the data at the server", answer.digest);
    same = same_digest(answer.digest, written->digest, "the data at the server");
    same = same_digest(digest, written->digest, "the data read back") && same;
    if (same)
        (void)printf("the three are equal\n");
    return same;
}

static bool use_buffer(struct rdma *rdma, const struct region *file, size_t size,
                       unsigned char *copy)
{
    struct message message = {.kind = MESSAGE_READY};
    struct message written = {.kind = MESSAGE_WRITTEN};
    struct message done = {.kind = MESSAGE_DONE};
    struct remote remote;
    bool same;

    if (!rdma_send(rdma, &message) || !rdma_receive(rdma, MESSAGE_BUFFER, &message))
        return false;
    remote.key = message.key;
    remote.address = message.address;
    if (message.length != size) {
        complain("the server's buffer has another size than the file");
        return false;
    }
    SHA256(file->memory, size, written.digest);
    show_digest("the file", written.digest);
    if (!write_file(rdma, file, size, &remote, &written) || !read_back(rdma, copy, size, &remote))
        return false;
    same = compare(rdma, copy, size, &written);
    done.detail = same ? 0 : 1;
    return rdma_send(rdma, &done) && rdma_disconnect(rdma) && same;
}

/* A conversion without a last line makes this side the MPA Initiator. */
bool transfer_send(int sd, struct rdma *rdma, unsigned char *file, unsigned char *copy, size_t size)
{
    struct region source;
    bool done;

    if (!region_create(&source, rdma->pz, file, size, IT_PRIV_LOCAL_READ))
        return false;
    done =
        succeeded(it_socket_convert(sd, rdma->ep, IT_SC_DEFAULT, NULL, 0), "it_socket_convert") &&
        rdma_wait_connected(rdma);
    if (done) {
        (void)printf("the TCP connection is an RDMA connection now\n");
        (void)fflush(stdout);
        done = use_buffer(rdma, &source, size, copy);
    }
    region_free(&source);
    return done;
}
