/* SPDX-License-Identifier: BSD-2-Clause */
#include "peer_post.h"

#include "peer_answer.h"
#include "peer_connection.h"
#include "peer_memory.h"

#include <errno.h>
#include <string.h>

/* ---- Words ---------------------------------------------------------------------------------- */

/* Takes the text up to the separator, or all of it, off *text. Returns false if it does not fit. */
static bool peer_post_cut(const char **text, char separator, char *part, size_t room)
{
    const char *end = strchr(*text, separator);
    size_t len = end != NULL ? (size_t)(end - *text) : strlen(*text);

    if (len >= room)
        return false;
    memcpy(part, *text, len);
    part[len] = '\0';
    *text += len;
    if (end != NULL)
        (*text)++;
    return true;
}

/* M:OFFSET:LENGTH */
static void peer_post_parse_segment(struct peer_args *args,
                                    const struct peer_connection *connection, const char *text,
                                    uint64_t reach, struct ibv_sge *segment)
{
    const char *rest = text;
    struct peer_memory *memory;
    uint64_t offset;
    uint64_t length;
    char name[24];
    char offset_text[24];

    if (!peer_post_cut(&rest, ':', name, sizeof(name)) ||
        !peer_post_cut(&rest, ':', offset_text, sizeof(offset_text)) ||
        !peer_args_to_number(offset_text, 0, UINT64_MAX, &offset) ||
        !peer_args_to_number(rest, 0, UINT32_MAX, &length)) {
        peer_args_refuse(args, "%.60s: not M:OFFSET:LENGTH", text);
        return;
    }
    memory = peer_memory_named(args, name);
    if (memory == NULL)
        return;
    peer_memory_check_device(args, memory, connection->device);
    if (length > memory->size || offset > memory->size - length ||
        reach > memory->size - length - offset)
        peer_args_refuse(args, "%.60s: memory %u has %zu octets", text, memory->number,
                         memory->size);
    segment->addr = (uintptr_t)memory->octets + offset;
    segment->length = (uint32_t)length;
    segment->lkey = memory->mr->lkey;
}

void peer_post_parse_segments(struct peer_args *args, const struct peer_connection *connection,
                              const char *text, uint64_t reach, struct peer_post *post)
{
    char part[80];

    post->segments = 0;
    if (strcmp(text, "-") == 0 || connection == NULL)
        return;
    do {
        if (post->segments == PEER_SEGMENTS_MAX) {
            peer_args_refuse(args, "more than %d segments", PEER_SEGMENTS_MAX);
            return;
        }
        if (!peer_post_cut(&text, ',', part, sizeof(part)))
            part[0] = '\0';
        peer_post_parse_segment(args, connection, part, reach, &post->segment[post->segments++]);
    } while (*text != '\0' && !peer_args_refused(args));
}

void peer_post_parse_remote(struct peer_args *args, struct peer_post *post)
{
    const char *name = post->request == PEER_READ ? "from" : "to";

    post->remote_address = peer_args_option(args, name, 0, 0, UINT64_MAX);
    post->rkey = (uint32_t)peer_args_option(args, "rkey", 0, 0, UINT32_MAX);
}

static unsigned peer_post_parse_flags(const struct peer_args *args)
{
    static const struct {
        const char *name;
        unsigned flag;
    } flags[] = {
        {"solicited", IBV_SEND_SOLICITED},
        {"fence", IBV_SEND_FENCE},
        {"inline", IBV_SEND_INLINE},
    };
    unsigned found = peer_args_flag(args, "silent") ? 0 : IBV_SEND_SIGNALED;

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (peer_args_flag(args, flags[i].name))
            found |= flags[i].flag;
    }
    return found;
}

/* ---- Posting -------------------------------------------------------------------------------- */

static int peer_post_receive(struct ibv_qp *qp, const struct peer_post *post,
                             struct ibv_sge *segments)
{
    struct ibv_recv_wr *bad;
    struct ibv_recv_wr request;

    memset(&request, 0, sizeof(request));
    request.wr_id = post->wr_id;
    request.sg_list = segments;
    request.num_sge = post->segments;
    return ibv_post_recv(qp, &request, &bad);
}

static int peer_post_to_send_queue(struct ibv_qp *qp, const struct peer_post *post,
                                   struct ibv_sge *segments)
{
    struct ibv_send_wr *bad;
    struct ibv_send_wr request;

    memset(&request, 0, sizeof(request));
    request.wr_id = post->wr_id;
    request.sg_list = segments;
    request.num_sge = post->segments;
    request.send_flags = post->flags;
    if (post->request == PEER_SEND) {
        request.opcode = post->invalidate ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
        if (post->invalidate)
            request.invalidate_rkey = post->rkey;
    } else {
        request.opcode = post->request == PEER_WRITE ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
        request.wr.rdma.remote_addr = post->remote_address;
    }
    /* Also set in a Send with invalidate: libsiw reads it here and not in invalidate_rkey. */
    request.wr.rdma.rkey = post->rkey;
    return ibv_post_send(qp, &request, &bad);
}

bool peer_post(struct peer_connection *connection, const struct peer_post *post)
{
    struct ibv_sge segments[PEER_SEGMENTS_MAX];
    int error;

    memcpy(segments, post->segment, (size_t)post->segments * sizeof(segments[0]));
    errno = 0;
    if (post->request == PEER_RECV)
        error = peer_post_receive(connection->id->qp, post, segments);
    else
        error = peer_post_to_send_queue(connection->id->qp, post, segments);
    /* If its system call fails, a provider may return -1 and set errno. */
    if (error == -1 && errno != 0)
        error = errno;
    if (error != 0)
        peer_answer_errno("post", error);
    return error == 0;
}

/* ---- Commands ------------------------------------------------------------------------------- */

/* Parses what the commands have in common: C SEGMENTS id=N and flags. */
static struct peer_connection *peer_post_parse(struct peer_args *args, enum peer_request request,
                                               struct peer_post *post)
{
    struct peer_connection *connection = peer_connection_with_qp(args, 0);
    uint64_t id = peer_args_option(args, "id", 0, 0, PEER_ID_MAX);

    memset(post, 0, sizeof(*post));
    post->request = request;
    post->flags = peer_post_parse_flags(args);
    peer_post_parse_segments(args, connection, args->position[1], 0, post);
    if (connection != NULL)
        post->wr_id = peer_complete_id(connection, request, PEER_OF_DONE, id);
    return connection;
}

/* recv C SEGMENTS id=N */
void peer_post_recv_command(struct peer_args *args)
{
    struct peer_post post;
    struct peer_connection *connection = peer_post_parse(args, PEER_RECV, &post);

    if (peer_args_refused(args) || !peer_post(connection, &post))
        return;
    connection->complete.receives++;
    peer_answer("ok");
}

static void peer_post_and_answer(struct peer_args *args, struct peer_connection *connection,
                                 const struct peer_post *post)
{
    if (!peer_args_refused(args) && peer_post(connection, post))
        peer_answer("ok");
}

/* send C SEGMENTS id=N [solicited] [fence] [silent] [inline] [invalidate=RKEY] */
void peer_post_send_command(struct peer_args *args)
{
    struct peer_post post;
    struct peer_connection *connection = peer_post_parse(args, PEER_SEND, &post);

    post.invalidate = peer_args_flag(args, "invalidate");
    post.rkey = (uint32_t)peer_args_option(args, "invalidate", 0, 0, UINT32_MAX);
    peer_post_and_answer(args, connection, &post);
}

/* write C SEGMENTS to=ADDRESS rkey=RKEY id=N [fence] [silent] [inline] */
void peer_post_write_command(struct peer_args *args)
{
    struct peer_post post;
    struct peer_connection *connection = peer_post_parse(args, PEER_WRITE, &post);

    peer_post_parse_remote(args, &post);
    peer_post_and_answer(args, connection, &post);
}

/* read C SEGMENTS from=ADDRESS rkey=RKEY id=N [fence] */
void peer_post_read_command(struct peer_args *args)
{
    struct peer_post post;
    struct peer_connection *connection = peer_post_parse(args, PEER_READ, &post);

    /* libsiw would accept it and read into memory of an earlier request. */
    if (post.segments == 0)
        peer_args_refuse(args, "a read has a segment, be it of length 0");
    peer_post_parse_remote(args, &post);
    peer_post_and_answer(args, connection, &post);
}
