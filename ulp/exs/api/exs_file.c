/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exs_sendfile: elements are sent in pieces. A piece of memory is sent from where it is, and so is
 * one of a file in memory that nobody can change or truncate. A piece of another file is first read
 * into a buffer of the call, so that truncating the file causes a short read and no signal. The
 * calling thread starts the first piece, which takes the credit and the place in the order. While
 * earlier pieces are being sent, the caller reads on with EXS_BLOCK, otherwise a thread of the call
 * does.
 */
#include "api/exs_file.h"

#include "adapter/exs_thread.h"
#include "api/exs_file_parts.h"
#include "api/exs_transfer_calls.h"
#include "transfer/exs_transfer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PIECES 4
#define CHUNK  (UINT64_C(256) * 1024)

struct piece {
    struct exs_request request;
    struct exs_file *file;
    char *buffer;
    bool busy;
};

struct exs_file {
    struct exs_file *next; /* in files */
    struct exs_call *call;
    struct exs_socket *socket; /* counted */
    struct exs_file_parts parts;
    size_t chunk;
    size_t count; /* pieces in use; 1 for packets, which may be large */
    char *area;   /* the buffers */
    struct exs_memory own;
    struct exs_memory *memory; /* registration of the area */
    bool started;

    pthread_mutex_t lock;       /* taken inside the socket's lock; guards the members below */
    struct exs_sleeper sleeper; /* the thread that reads on */
    bool sleeps;                /* that thread sleeps and must be woken */
    size_t users;               /* pieces being sent, plus the thread that starts them */
    uint64_t moved;
    int error;
    struct piece pieces[PIECES];
};

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER; /* guards files */
static struct exs_file *files;

/* ---- The life of a call --------------------------------------------------------------------- */

static void enlist(struct exs_file *file)
{
    (void)pthread_mutex_lock(&files_lock);
    file->next = files;
    files = file;
    (void)pthread_mutex_unlock(&files_lock);
}

static void delist(struct exs_file *file)
{
    struct exs_file **link = &files;

    (void)pthread_mutex_lock(&files_lock);
    while (*link && *link != file)
        link = &(*link)->next;
    if (*link)
        *link = file->next;
    (void)pthread_mutex_unlock(&files_lock);
}

static void destroy(struct exs_file *file)
{
    delist(file);
    exs_file_parts_close(&file->parts);
    if (file->memory)
        exs_memory_give(file->memory);
    if (file->area)
        (void)munmap(file->area, file->chunk * file->count);
    (void)pthread_mutex_destroy(&file->lock);
    free(file);
}

static int make_buffers(struct exs_file *file)
{
    uint64_t chunk = file->parts.longest;

    file->count = file->parts.packets ? 1 : PIECES;
    if (!file->parts.packets && chunk > CHUNK)
        chunk = CHUNK;
    file->chunk = (size_t)chunk;
    if (chunk == 0)
        return 0;
    file->area = mmap(NULL, file->chunk * file->count, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (file->area == MAP_FAILED) {
        file->area = NULL;
        return ENOMEM;
    }
    exs_memory_make(&file->own, file->area, file->chunk * file->count, false);
    file->memory = &file->own;
    return 0;
}

static int create(struct exs_call *call, exs_xferfile_t *vector, size_t count, bool packets,
                  struct exs_file **created)
{
    struct exs_file *file = calloc(1, sizeof(*file));
    int error = ENOMEM;

    if (!file)
        return ENOMEM;
    (void)pthread_mutex_init(&file->lock, NULL);
    exs_sleeper_start(&file->sleeper);
    file->call = call;
    file->users = 1;
    error = exs_file_parts_open(&file->parts, vector, count, packets);
    if (error == 0)
        error = make_buffers(file);
    if (error) {
        destroy(file);
        return error;
    }
    for (size_t i = 0; i < file->count; i++) {
        file->pieces[i].file = file;
        file->pieces[i].buffer = file->area ? file->area + i * file->chunk : NULL;
    }
    *created = file;
    return 0;
}

/* Ends the call: no piece is being sent, and no more are started. */
static void end(struct exs_file *file, int error)
{
    struct exs_socket *socket = file->socket;
    struct exs_call *call = file->call;

    call->event.exs_evt_union.exs_evt_xferfile.exs_evt_length = file->moved;
    exs_socket_enter(socket);
    destroy(file);
    /*
     * The event of this call must come before those of later sends. While the lock is held, no
     * other call can reuse this memory.
     */
    exs_call_end(call, error, 0, 0);
    exs_transfer_send_over(socket, call);
    exs_socket_file_over(socket);
    exs_socket_leave(socket);
    exs_socket_put(socket);
}

static void wake_locked(struct exs_file *file)
{
    if (file->sleeps)
        exs_sleeper_wake(&file->sleeper);
    file->sleeps = false;
}

static void leave(struct exs_file *file, int error)
{
    bool last;

    (void)pthread_mutex_lock(&file->lock);
    if (file->error == 0)
        file->error = error;
    error = file->error;
    last = --file->users == 0;
    wake_locked(file);
    (void)pthread_mutex_unlock(&file->lock);
    if (last)
        end(file, error);
}

/* ---- Pieces --------------------------------------------------------------------------------- */

static void piece_done(struct exs_request *request, int error, size_t moved, size_t lost)
{
    struct piece *piece = (struct piece *)request; /* its first member */
    struct exs_file *file = piece->file;

    (void)lost;
    (void)pthread_mutex_lock(&file->lock);
    file->moved += moved;
    piece->busy = false;
    (void)pthread_mutex_unlock(&file->lock);
    leave(file, error);
}

/* How a thread of the library waits. */
static const struct exs_wait patient = {
    .kind = EXS_WAIT_ADAPTIVE, .cancel = PTHREAD_CANCEL_DISABLE, .deadline_ns = EXS_TIME_NEVER};

struct search {
    struct exs_file *file;
    struct piece *found;
};

static bool find_piece(void *argument, bool sleeps)
{
    struct search *search = argument;
    struct exs_file *file = search->file;
    bool over;

    (void)pthread_mutex_lock(&file->lock);
    for (size_t i = 0; i < file->count && !search->found && file->error == 0; i++)
        if (!file->pieces[i].busy)
            search->found = &file->pieces[i];
    if (search->found) {
        search->found->busy = true;
        file->users++;
    }
    over = search->found || file->error != 0;
    file->sleeps = sleeps && !over;
    (void)pthread_mutex_unlock(&file->lock);
    return over;
}

/* Waits for a free piece and returns it; NULL: the call has failed. */
static struct piece *await_piece(struct exs_file *file, const struct exs_wait *wait)
{
    struct search search = {.file = file};

    while (exs_wait_until(&file->sleeper, wait, find_piece, &search) != 0)
        continue;
    return search.found;
}

/* Called with the socket's lock: a call that is cancelled later also has this piece cancelled. */
static int error_of(struct exs_file *file)
{
    int error;

    (void)pthread_mutex_lock(&file->lock);
    error = file->error;
    (void)pthread_mutex_unlock(&file->lock);
    return error;
}

/* Fills the piece with the next part of the elements. With the last one the call is complete. */
static int fill(struct exs_file *file, struct piece *piece)
{
    struct exs_file_part part;
    int error = exs_file_parts_next(&file->parts, piece->buffer, file->chunk, &part);

    if (error)
        return error;
    piece->request = (struct exs_request){.addr = part.addr,
                                          .length = part.length,
                                          .continues = file->started,
                                          .more = !exs_file_parts_over(&file->parts),
                                          .part = true,
                                          .context = file->call,
                                          .waits = file->call->request.waits,
                                          .done = piece_done};
    if (part.length > 0)
        piece->request.memory = part.memory ? part.memory : file->memory;
    file->started = true;
    if (!piece->request.more) {
        (void)pthread_mutex_lock(&file->lock);
        file->users--;
        (void)pthread_mutex_unlock(&file->lock);
    }
    return 0;
}

static void read_on(struct exs_file *file, const struct exs_wait *wait)
{
    struct exs_socket *socket = file->socket;
    struct piece *piece;
    bool more = true;

    while (more && (piece = await_piece(file, wait)) != NULL) {
        int error = fill(file, piece);

        more = error != 0 || piece->request.more;
        if (error == 0) {
            exs_socket_enter(socket);
            error = error_of(file);
            if (error == 0)
                error = exs_transfer_send(socket, &piece->request);
            exs_socket_leave(socket);
        }
        if (error)
            piece_done(&piece->request, error, 0, 0);
    }
    if (more)
        leave(file, 0);
}

/* Cleanup of a thread that is cancelled while it waits for a piece. */
static void read_no_more(void *argument)
{
    struct exs_file *file = argument;
    struct exs_call *call = file->call;

    (void)pthread_mutex_lock(&file->lock);
    file->sleeps = false;
    (void)pthread_mutex_unlock(&file->lock);
    leave(file, ECANCELED);
    exs_call_abandon(call);
}

/* Waits as other calls that block. */
static void read_here(struct exs_file *file, int cancel)
{
    const struct exs_wait wait = {
        .kind = file->call->wait, .cancel = cancel, .deadline_ns = EXS_TIME_NEVER};

    pthread_cleanup_push(read_no_more, file);
    read_on(file, &wait);
    pthread_cleanup_pop(0);
}

static void *read_there(void *argument)
{
    read_on(argument, &patient);
    return NULL;
}

/* Starts a thread for the call. */
static void start_thread(struct exs_file *file)
{
    if (exs_thread_start(NULL, read_there, file) != 0)
        leave(file, ENOMEM); /* the program cannot know of the thread: not EAGAIN */
}

/* ---- Cancelling ----------------------------------------------------------------------------- */

/* Returns false if the call ends anyway. */
static bool stop(struct exs_file *file)
{
    bool stopped;

    (void)pthread_mutex_lock(&file->lock);
    stopped = file->users > 0 && file->error == 0;
    if (file->error == 0)
        file->error = ECANCELED;
    wake_locked(file);
    (void)pthread_mutex_unlock(&file->lock);
    return stopped;
}

size_t exs_files_cancel(struct exs_socket *socket, bool all, exs_ahandle_t ahandle)
{
    size_t count = 0;

    (void)pthread_mutex_lock(&files_lock);
    for (struct exs_file *file = files; file; file = file->next)
        if (file->socket == socket && file->call->started &&
            (all || file->call->event.exs_evt_ahandle == ahandle))
            count += stop(file);
    (void)pthread_mutex_unlock(&files_lock);
    return count;
}

/* Cancels the call of a waiting thread that is being cancelled. */
static void cancel_call(struct exs_call *call)
{
    (void)pthread_mutex_lock(&files_lock);
    for (struct exs_file *file = files; file; file = file->next)
        if (file->call == call)
            (void)stop(file);
    (void)pthread_mutex_unlock(&files_lock);
    exs_call_expire(call->socket, call->serial, ECANCELED);
}

void exs_files_forget(void)
{
    (void)pthread_mutex_init(&files_lock, NULL);
    files = NULL;
}

/* ---- The call ------------------------------------------------------------------------------- */

static void discard(struct exs_call *call)
{
    exs_socket_put(call->file->socket);
    destroy(call->file);
}

static int check_arguments(const struct exs_socket *socket, const struct exs_start *start,
                           const exs_xferfile_t *vector, int count)
{
    int flags = start->flags & (EXS_BLOCK | EXS_UNSIGNALED | EXS_CREDIT_WAIT);

    if (start->flags != flags || count < 1)
        return EINVAL;
    if (!vector)
        return EFAULT;
    return exs_api_check_transfer(socket, flags, false, 0);
}

/*
 * Starts the first piece, which takes the credit and the place in the order. The file is read
 * without the socket's lock. *more: further pieces follow; if false, the call may already have
 * ended.
 */
static int start_file(struct exs_file *file, int cancel, bool *more)
{
    struct exs_socket *socket = file->socket;
    struct piece *piece = await_piece(file, &patient);
    int error = fill(file, piece);

    if (error)
        return error;
    *more = piece->request.more;
    exs_socket_enter(socket);
    error = exs_api_start_transfer(socket, file->call, &piece->request, false, cancel);
    exs_socket_leave(socket);
    return error;
}

/* Creates the call. Once the call has its struct file, that holds the use count of the socket. */
static int new_file(struct exs_socket *socket, const struct exs_start *start,
                    exs_xferfile_t *vector, int count, struct exs_call **new)
{
    struct exs_call *call;
    int error = exs_call_new(start, &call);

    if (error)
        return error;
    error = create(call, vector, (size_t)count, socket->type == SOCK_SEQPACKET, &call->file);
    if (error) {
        exs_call_drop(call);
        return error;
    }
    call->file->socket = socket;
    exs_socket_hold(socket);
    call->discard = discard;
    call->cancel = cancel_call;
    call->event.exs_evt_union.exs_evt_xferfile =
        (exs_evt_xferfile_t){.exs_evt_sendvec = vector, .exs_evt_sendvec_cnt = count};
    enlist(call->file);
    *new = call;
    return 0;
}

ssize_t exs_sendfile(int fd, exs_xferfile_t *sendvec, int sendvec_cnt, int flags,
                     exs_qhandle_t qhandle, exs_ahandle_t ahandle)
{
    const struct exs_start start = {EXS_EVT_SENDFILE, fd, flags, qhandle, ahandle};
    int cancel = exs_api_enter();
    struct exs_socket *socket = exs_socket_find(fd);
    struct exs_call *call = NULL;
    bool more;
    int error;

    if (!socket)
        return exs_api_leave(cancel, EBADF);
    error = check_arguments(socket, &start, sendvec, sendvec_cnt);
    if (error == 0)
        error = new_file(socket, &start, sendvec, sendvec_cnt, &call);
    exs_socket_leave(socket);
    if (error == 0) {
        error = start_file(call->file, cancel, &more);
        if (error)
            exs_call_drop(call);
        else if (more && flags & EXS_BLOCK)
            read_here(call->file, cancel);
        else if (more)
            start_thread(call->file);
    }
    return exs_call_return(cancel, flags, call, error);
}
