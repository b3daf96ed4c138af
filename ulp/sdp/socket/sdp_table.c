/* SPDX-License-Identifier: BSD-2-Clause */
#include "socket/sdp_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define CHUNK  1024u
#define CHUNKS 4096u /* NR_OPEN's usual 2^20, four times over */

/* Addresses that mark kinds other than sockets in the table. */
static uint64_t epoll_mark;
static uint64_t own_mark;
#define EPOLL_MARK ((struct sdp_socket *)(void *)&epoll_mark)
#define OWN_MARK   ((struct sdp_socket *)(void *)&own_mark)

typedef struct sdp_socket *_Atomic sdp_entry;
static sdp_entry *_Atomic chunks[CHUNKS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int highest = -1; /* of the program */

void sdp_table_lock(void)
{
    (void)pthread_mutex_lock(&table_lock);
}

void sdp_table_unlock(void)
{
    (void)pthread_mutex_unlock(&table_lock);
}

void sdp_table_after_fork(void)
{
    table_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

static sdp_entry *entry_of(int number)
{
    unsigned index = (unsigned)number;
    sdp_entry *chunk = index / CHUNK < CHUNKS ? atomic_load(&chunks[index / CHUNK]) : NULL;

    return chunk ? &chunk[index % CHUNK] : NULL;
}

static enum sdp_number_kind kind_of(const struct sdp_socket *socket)
{
    if (!socket)
        return SDP_NUMBER_FREE;
    if (socket == EPOLL_MARK)
        return SDP_NUMBER_EPOLL;
    return socket == OWN_MARK ? SDP_NUMBER_OWN : SDP_NUMBER_SOCKET;
}

enum sdp_number_kind sdp_table_kind(int number)
{
    sdp_entry *entry = entry_of(number);

    return entry ? kind_of(atomic_load_explicit(entry, memory_order_acquire)) : SDP_NUMBER_FREE;
}

struct sdp_socket *sdp_table_get(int number)
{
    sdp_entry *entry = entry_of(number);
    struct sdp_socket *socket = entry ? atomic_load(entry) : NULL;

    return kind_of(socket) == SDP_NUMBER_SOCKET ? socket : NULL;
}

bool sdp_table_set(int number, enum sdp_number_kind kind, struct sdp_socket *socket)
{
    unsigned index = (unsigned)number;
    sdp_entry *chunk;

    if (index / CHUNK >= CHUNKS)
        return kind == SDP_NUMBER_FREE;
    chunk = atomic_load(&chunks[index / CHUNK]);
    if (!chunk) {
        if (kind == SDP_NUMBER_FREE)
            return true;
        chunk = mmap(NULL, CHUNK * sizeof(sdp_entry), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (chunk == MAP_FAILED)
            return false;
        atomic_store(&chunks[index / CHUNK], chunk);
    }
    if (kind != SDP_NUMBER_SOCKET)
        socket = kind == SDP_NUMBER_FREE ? NULL : kind == SDP_NUMBER_EPOLL ? EPOLL_MARK : OWN_MARK;
    if (kind != SDP_NUMBER_FREE && kind != SDP_NUMBER_OWN && number > atomic_load(&highest))
        atomic_store(&highest, number);
    atomic_store(&chunk[index % CHUNK], socket);
    return true;
}

int sdp_table_highest(void)
{
    return atomic_load(&highest);
}

int sdp_table_next(unsigned from, unsigned last)
{
    for (unsigned i = from; i / CHUNK < CHUNKS && i <= last; i++) {
        sdp_entry *chunk = atomic_load(&chunks[i / CHUNK]);

        if (!chunk)
            i |= CHUNK - 1;
        else if (atomic_load(&chunk[i % CHUNK]))
            return (int)i;
    }
    return -1;
}
