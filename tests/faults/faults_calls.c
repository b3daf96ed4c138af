/* SPDX-License-Identifier: BSD-2-Clause */
#include "faults/faults_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <link.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)

typedef long enter_function(long number, ...);

static enter_function *enter;
static int (*real_thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_addresses)(struct ifaddrs **);
static struct if_nameindex *(*real_names)(void);
static int (*real_lookup)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
static FILE *(*real_fopen)(const char *, const char *);
static int (*real_vasprintf)(char **, const char *, va_list);

/* ---- Whose call it is ------------------------------------------------------------------------ */

#define WATCHED 16u

static struct {
    uintptr_t start, end;
} watched[WATCHED];
static unsigned watched_count;

static bool is_watched_object(const char *name)
{
    static const char *const parts[] = {"/libitapi.so",     "/libevent",      "/libdaplitapi.so",
                                        "/libitexs.so",     "/libitsdp.so",   "/libitiser",
                                        "/ofa/libibverbs.", "/ofa/librdmacm."};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strstr(name, parts[i]))
            return true;
    }
    return false;
}

static int watch_object(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size, (void)unused;
    if (!is_watched_object(object->dlpi_name))
        return 0;
    for (unsigned i = 0; i < object->dlpi_phnum && watched_count < WATCHED; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0) {
            watched[watched_count].start = object->dlpi_addr + segment->p_vaddr;
            watched[watched_count++].end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        }
    }
    return 0;
}

static void *next_function(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

__attribute__((constructor)) static void find_all(void)
{
    *(void **)&enter = next_function("syscall");
    *(void **)&real_thread = next_function("pthread_create");
    *(void **)&real_addresses = next_function("getifaddrs");
    *(void **)&real_names = next_function("if_nameindex");
    *(void **)&real_lookup = next_function("getaddrinfo");
    *(void **)&real_fopen = next_function("fopen");
    *(void **)&real_vasprintf = next_function("vasprintf");
    (void)dl_iterate_phdr(watch_object, NULL);
}

static bool is_watched(const void *caller)
{
    for (unsigned i = 0; i < watched_count; i++) {
        if ((uintptr_t)caller >= watched[i].start && (uintptr_t)caller < watched[i].end)
            return true;
    }
    return false;
}

/* ---- What fails ------------------------------------------------------------------------------ */

#define PROTECTED_FDS 1024

static atomic_flag lock = ATOMIC_FLAG_INIT; /* the record and the table of allocations */
static struct fault_record *record;
static struct fault_plan plan;
static bool armed;
static bool is_protected[PROTECTED_FDS];

static void take(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        (void)enter(SYS_sched_yield);
}

static void drop(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

static struct fault_site *site_locked(struct fault_record *in, enum fault_call call,
                                      const void *caller)
{
    unsigned i = 0;

    while (i < in->site_count && (in->sites[i].caller != caller || in->sites[i].call != call))
        i++;
    if (i == FAULT_SITES)
        abort();
    if (i == in->site_count)
        in->sites[in->site_count++] = (struct fault_site){.call = call, .caller = caller};
    return &in->sites[i];
}

static bool hits_locked(const struct fault_site *site)
{
    if (plan.error == 0 || site->call != plan.call || record->hits >= plan.repeat)
        return false;
    if (record->hits > 0)
        return true;
    return plan.caller ? site->caller == plan.caller && site->calls == plan.nth
                       : record->count[site->call] == plan.nth;
}

static bool hits(enum fault_call call, const void *caller, int fd)
{
    bool hit = false;

    if (!is_watched(caller))
        return false;
    take();
    if (armed && (fd < 0 || fd >= PROTECTED_FDS || !is_protected[fd])) {
        struct fault_site *site = site_locked(record, call, caller);

        record->count[call]++;
        site->calls++;
        hit = hits_locked(site);
        if (hit) {
            site->hits++;
            if (record->hits++ == 0)
                record->hit_caller = caller;
        }
    }
    drop();
    return hit;
}

/* Returns true if the call has to fail, with errno set. */
static bool fails(enum fault_call call, const void *caller, int fd)
{
    if (!hits(call, caller, fd))
        return false;
    errno = plan.error;
    return true;
}

static int socket_is(int fd, int option)
{
    int value = 0;
    socklen_t length = sizeof(value);

    if (enter(SYS_getsockopt, (long)fd, (long)SOL_SOCKET, (long)option, &value, &length) != 0)
        return -1;
    return value;
}

static bool is_internet(int fd)
{
    int family = socket_is(fd, SO_DOMAIN);

    return family == AF_INET || family == AF_INET6;
}

static bool is_stream(int fd)
{
    return is_internet(fd) && socket_is(fd, SO_TYPE) == SOCK_STREAM;
}

static bool is_connected(int fd)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    return is_stream(fd) && enter(SYS_getpeername, (long)fd, &peer, &length) == 0;
}

void faults_record(struct fault_record *to)
{
    record = to;
}

void faults_arm(const struct fault_plan *what)
{
    int error = errno;

    for (int fd = 0; fd < PROTECTED_FDS; fd++)
        is_protected[fd] = is_connected(fd);
    errno = error;
    take();
    plan = *what;
    armed = true;
    drop();
}

void faults_disarm(void)
{
    take();
    armed = false;
    drop();
}

/* ---- Heap ------------------------------------------------------------------------------------ */

/* The C library's own functions, under names that it has for this purpose. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t number, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *old);

#define ALLOCATIONS 65536u
#define REMOVED     ((void *)1)

static struct {
    void *memory; /* NULL: free and never used */
    const void *caller;
} allocations[ALLOCATIONS];

static unsigned allocation_place(const void *memory)
{
    return (unsigned)(((uintptr_t)memory >> 4) * 2654435761u) % ALLOCATIONS;
}

static void *allocated(void *memory, const void *caller)
{
    unsigned i = allocation_place(memory);

    if (!memory || !is_watched(caller))
        return memory;
    take();
    while (allocations[i].memory && allocations[i].memory != REMOVED)
        i = (i + 1) % ALLOCATIONS;
    allocations[i].memory = memory;
    allocations[i].caller = caller;
    drop();
    return memory;
}

static void freed(const void *memory)
{
    unsigned i = allocation_place(memory);

    if (!memory || !enter)
        return;
    take();
    while (allocations[i].memory && allocations[i].memory != memory)
        i = (i + 1) % ALLOCATIONS;
    if (allocations[i].memory)
        allocations[i].memory = REMOVED;
    drop();
}

void faults_live(struct fault_record *in)
{
    take();
    for (unsigned i = 0; i < in->site_count; i++)
        in->sites[i].live = 0;
    for (unsigned i = 0; i < ALLOCATIONS; i++) {
        if (allocations[i].memory && allocations[i].memory != REMOVED)
            site_locked(in, FAULT_HEAP, allocations[i].caller)->live++;
    }
    drop();
}

void *malloc(size_t size)
{
    return fails(FAULT_HEAP, CALLER, -1) ? NULL : allocated(__libc_malloc(size), CALLER);
}

void *calloc(size_t number, size_t size)
{
    return fails(FAULT_HEAP, CALLER, -1) ? NULL : allocated(__libc_calloc(number, size), CALLER);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(FAULT_HEAP, CALLER, -1) ? NULL
                                         : allocated(__libc_memalign(alignment, size), CALLER);
}

void *realloc(void *old, size_t size)
{
    void *memory;

    if (fails(FAULT_HEAP, CALLER, -1))
        return NULL;
    freed(old);
    memory = __libc_realloc(old, size);
    return allocated(memory, CALLER);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    void *made =
        fails(FAULT_HEAP, CALLER, -1) ? NULL : allocated(__libc_memalign(alignment, size), CALLER);

    if (!made)
        return ENOMEM;
    *memory = made;
    return 0;
}

/* The C library allocates the text, so its place is not known, and its leak is not seen. */
int vasprintf(char **text, const char *format, va_list list)
{
    return fails(FAULT_HEAP, CALLER, -1) ? -1 : real_vasprintf(text, format, list);
}

char *strdup(const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = fails(FAULT_HEAP, CALLER, -1) ? NULL : __libc_malloc(length);

    return copy ? allocated(memcpy(copy, text, length), CALLER) : NULL;
}

void free(void *memory)
{
    freed(memory);
    __libc_free(memory);
}

/* ---- Threads, addresses ---------------------------------------------------------------------- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    if (hits(FAULT_THREAD, CALLER, -1))
        return plan.error;
    return real_thread(thread, attributes, run, argument);
}

int getifaddrs(struct ifaddrs **list)
{
    return fails(FAULT_ADDRESSES, CALLER, -1) ? -1 : real_addresses(list);
}

struct if_nameindex *if_nameindex(void)
{
    return fails(FAULT_ADDRESSES, CALLER, -1) ? NULL : real_names();
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **list)
{
    if (!fails(FAULT_ADDRESSES, CALLER, -1))
        return real_lookup(node, service, hints, list);
    return plan.error == ENOMEM ? EAI_MEMORY : EAI_SYSTEM;
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    if (fails(FAULT_MAP, CALLER, -1))
        return MAP_FAILED;
    return (void *)enter(SYS_mmap, at, length, (long)protection, (long)flags, (long)fd,
                         (long)offset); /* NOLINT: as the kernel returns it */
}

/* ---- Octets of streams ----------------------------------------------------------------------- */

static size_t vector_octets(const struct msghdr *message)
{
    size_t octets = 0;

    for (size_t i = 0; i < message->msg_iovlen; i++)
        octets += message->msg_iov[i].iov_len;
    return octets;
}

/* Returns the first `octets` of the message. Vectors that do not fit into `room` are not sent. */
static struct msghdr cut(const struct msghdr *message, size_t octets, struct iovec *room,
                         size_t room_count)
{
    struct msghdr part = *message;
    size_t i = 0;

    while (i < room_count && i < message->msg_iovlen && octets > 0) {
        room[i] = message->msg_iov[i];
        if (room[i].iov_len > octets)
            room[i].iov_len = octets;
        octets -= room[i++].iov_len;
    }
    part.msg_iov = room;
    part.msg_iovlen = i;
    return part;
}

/* A look at octets (MSG_PEEK) is never short of those that are there. */
static long move_message(long number, int fd, const struct msghdr *message, int flags,
                         const void *caller, bool is_send)
{
    if (!is_stream(fd)) {
        if (is_internet(fd) && fails(FAULT_DATAGRAM, caller, fd))
            return -1;
        return enter(number, (long)fd, message, (long)flags);
    }
    if (hits(is_send ? FAULT_SEND : FAULT_RECEIVE, caller, fd)) {
        if (plan.error > 0) {
            errno = plan.error;
            return -1;
        }
        if (plan.error == FAULT_END)
            (void)enter(SYS_shutdown, (long)fd,
                        (long)SHUT_RD); /* the end of a stream is permanent */
        if (plan.error == FAULT_SHORT && !(flags & MSG_PEEK) &&
            plan.octets < vector_octets(message)) {
            struct iovec room[64];
            struct msghdr part = cut(message, plan.octets, room, 64);

            return enter(number, (long)fd, &part, (long)flags);
        }
    }
    return enter(number, (long)fd, message, (long)flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return move_message(SYS_sendmsg, fd, message, flags, CALLER, true);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    return move_message(SYS_recvmsg, fd, message, flags, CALLER, false);
}

static long move_octets(int fd, const void *data, size_t length, int flags, const void *caller,
                        bool is_send)
{
    struct iovec one = {(void *)(uintptr_t)data, length};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1};

    return move_message(is_send ? SYS_sendmsg : SYS_recvmsg, fd, &message, flags, caller, is_send);
}

ssize_t send(int fd, const void *data, size_t length, int flags)
{
    return move_octets(fd, data, length, flags, CALLER, true);
}

ssize_t recv(int fd, void *data, size_t length, int flags)
{
    return move_octets(fd, data, length, flags, CALLER, false);
}

ssize_t sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *to,
               socklen_t to_length)
{
    struct iovec one = {(void *)(uintptr_t)data, length};
    struct msghdr message = {.msg_name = (void *)(uintptr_t)to,
                             .msg_namelen = to_length,
                             .msg_iov = &one,
                             .msg_iovlen = 1};

    return move_message(SYS_sendmsg, fd, &message, flags, CALLER, true);
}

/* ---- Sockets --------------------------------------------------------------------------------- */

int socket(int family, int type, int protocol)
{
    return fails(FAULT_SOCKET, CALLER, -1)
               ? -1
               : (int)enter(SYS_socket, (long)family, (long)type, (long)protocol);
}

int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    return fails(FAULT_BIND, CALLER, fd) ? -1
                                         : (int)enter(SYS_bind, (long)fd, address, (long)length);
}

int listen(int fd, int backlog)
{
    return fails(FAULT_LISTEN, CALLER, fd) ? -1 : (int)enter(SYS_listen, (long)fd, (long)backlog);
}

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    return fails(FAULT_CONNECT, CALLER, fd)
               ? -1
               : (int)enter(SYS_connect, (long)fd, address, (long)length);
}

int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    return fails(FAULT_ACCEPT, CALLER, fd)
               ? -1
               : (int)enter(SYS_accept4, (long)fd, address, length, (long)flags);
}

int getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
    return fails(FAULT_PEER_NAME, CALLER, fd)
               ? -1
               : (int)enter(SYS_getpeername, (long)fd, address, length);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    return fails(FAULT_SET_OPTION, CALLER, fd) ? -1
                                               : (int)enter(SYS_setsockopt, (long)fd, (long)level,
                                                            (long)option, value, (long)length);
}

int getsockopt(int fd, int level, int option, void *value, socklen_t *length)
{
    return fails(FAULT_GET_OPTION, CALLER, fd)
               ? -1
               : (int)enter(SYS_getsockopt, (long)fd, (long)level, (long)option, value, length);
}

int shutdown(int fd, int how)
{
    return fails(FAULT_SHUTDOWN, CALLER, fd) ? -1 : (int)enter(SYS_shutdown, (long)fd, (long)how);
}

/* Like Linux, closes the descriptor even if the call fails. */
int close(int fd)
{
    bool failed = hits(FAULT_CLOSE, CALLER, fd);
    int result = (int)enter(SYS_close, (long)fd);

    if (!failed)
        return result;
    errno = plan.error;
    return -1;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

int fcntl(int fd, int command, ...)
{
    bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
    va_list list;
    long argument;

    va_start(list, command);
    argument = va_arg(list, long);
    va_end(list);
    if (duplicates && fails(FAULT_DUPLICATE, CALLER, fd))
        return -1;
    return (int)enter(SYS_fcntl, (long)fd, (long)command, argument);
}

int dup(int from)
{
    return fails(FAULT_DUPLICATE, CALLER, from) ? -1 : (int)enter(SYS_dup, (long)from);
}

int dup2(int from, int to)
{
    return fails(FAULT_DUPLICATE, CALLER, from) ? -1 : (int)enter(SYS_dup2, (long)from, (long)to);
}

int socketpair(int family, int type, int protocol, int ends[2])
{
    return fails(FAULT_PAIR, CALLER, -1)
               ? -1
               : (int)enter(SYS_socketpair, (long)family, (long)type, (long)protocol, ends);
}

int pipe2(int ends[2], int flags)
{
    return fails(FAULT_PAIR, CALLER, -1) ? -1 : (int)enter(SYS_pipe2, ends, (long)flags);
}

int memfd_create(const char *name, unsigned flags)
{
    return fails(FAULT_OPEN, CALLER, -1) ? -1 : (int)enter(SYS_memfd_create, name, (long)flags);
}

FILE *fopen(const char *path, const char *mode)
{
    return fails(FAULT_OPEN, CALLER, -1) ? NULL : real_fopen(path, mode);
}

int dup3(int from, int to, int flags)
{
    return fails(FAULT_DUPLICATE, CALLER, from)
               ? -1
               : (int)enter(SYS_dup3, (long)from, (long)to, (long)flags);
}

int open(const char *path, int flags, ...)
{
    va_list list;
    int mode;

    va_start(list, flags);
    mode = va_arg(list, int);
    va_end(list);
    return fails(FAULT_OPEN, CALLER, -1)
               ? -1
               : (int)enter(SYS_openat, (long)AT_FDCWD, path, (long)flags, (long)mode);
}

int eventfd(unsigned value, int flags)
{
    return fails(FAULT_EVENTFD, CALLER, -1) ? -1
                                            : (int)enter(SYS_eventfd2, (long)value, (long)flags);
}

int eventfd_read(int fd, eventfd_t *value)
{
    if (fails(FAULT_READ, CALLER, fd))
        return -1;
    return enter(SYS_read, (long)fd, value, sizeof(*value)) == sizeof(*value) ? 0 : -1;
}

ssize_t read(int fd, void *data, size_t length)
{
    return fails(FAULT_READ, CALLER, fd) ? -1 : enter(SYS_read, (long)fd, data, length);
}

int timerfd_create(clockid_t clock, int flags)
{
    return fails(FAULT_TIMERFD, CALLER, -1)
               ? -1
               : (int)enter(SYS_timerfd_create, (long)clock, (long)flags);
}

int epoll_create1(int flags)
{
    return fails(FAULT_POLL_SET, CALLER, -1) ? -1 : (int)enter(SYS_epoll_create1, (long)flags);
}

int epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
    if (operation == EPOLL_CTL_ADD && fails(FAULT_POLL_ADD, CALLER, fd))
        return -1;
    return (int)enter(SYS_epoll_ctl, (long)set, (long)operation, (long)fd, event);
}

int epoll_wait(int set, struct epoll_event *events, int room, int timeout_ms)
{
    return fails(FAULT_POLL_WAIT, CALLER, -1)
               ? -1
               : (int)enter(SYS_epoll_pwait, (long)set, events, (long)room, (long)timeout_ms, NULL,
                            (long)(_NSIG / 8));
}

int epoll_pwait(int set, struct epoll_event *events, int room, int timeout_ms,
                const sigset_t *signals)
{
    return fails(FAULT_POLL_WAIT, CALLER, -1)
               ? -1
               : (int)enter(SYS_epoll_pwait, (long)set, events, (long)room, (long)timeout_ms,
                            signals, (long)(_NSIG / 8));
}

int epoll_pwait2(int set, struct epoll_event *events, int room, const struct timespec *timeout,
                 const sigset_t *signals)
{
    return fails(FAULT_POLL_WAIT, CALLER, -1)
               ? -1
               : (int)enter(SYS_epoll_pwait2, (long)set, events, (long)room, timeout, signals,
                            (long)(_NSIG / 8));
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    return fails(FAULT_POLL_WAIT, CALLER, -1)
               ? -1
               : (int)enter(SYS_poll, fds, (long)count, (long)timeout_ms);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *signals)
{
    struct timespec left = timeout ? *timeout : (struct timespec){0, 0};

    return fails(FAULT_POLL_WAIT, CALLER, -1)
               ? -1
               : (int)enter(SYS_ppoll, fds, count, timeout ? &left : NULL, signals,
                            (long)(_NSIG / 8));
}

ssize_t getrandom(void *data, size_t length, unsigned flags)
{
    return fails(FAULT_RANDOM, CALLER, -1) ? -1 : enter(SYS_getrandom, data, length, (long)flags);
}

/* ---- Files ----------------------------------------------------------------------------------- */

ssize_t pread(int fd, void *data, size_t length, off_t offset)
{
    return fails(FAULT_FILE, CALLER, fd) ? -1
                                         : enter(SYS_pread64, (long)fd, data, length, (long)offset);
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    return fails(FAULT_FILE, CALLER, fd)
               ? -1
               : enter(SYS_pwrite64, (long)fd, data, length, (long)offset);
}

ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    return fails(FAULT_FILE, CALLER, fd)
               ? -1
               : enter(SYS_preadv2, (long)fd, parts, (long)count, (long)offset, 0L, (long)flags);
}

ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    return fails(FAULT_FILE, CALLER, fd)
               ? -1
               : enter(SYS_pwritev2, (long)fd, parts, (long)count, (long)offset, 0L, (long)flags);
}

int fdatasync(int fd)
{
    return fails(FAULT_FILE, CALLER, fd) ? -1 : (int)enter(SYS_fdatasync, (long)fd);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    return fails(FAULT_FILE, CALLER, fd)
               ? -1
               : (int)enter(SYS_fallocate, (long)fd, (long)mode, (long)offset, (long)length);
}

/* ---- syscall(2), by which the data path enters the kernel ------------------------------------ */

static bool direct_call_fails(long number, const void *caller, int fd)
{
    switch (number) {
    case SYS_read:
        return fails(FAULT_READ, caller, fd);
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return fails(FAULT_POLL_WAIT, caller, -1);
    default:
        return false;
    }
}

long syscall(long number, ...)
{
    long argument[6];
    va_list list;

    va_start(list, number);
    for (unsigned i = 0; i < 6; i++)
        argument[i] = va_arg(list, long);
    va_end(list);
    /* Converts numbers to addresses, like the kernel. NOLINTBEGIN */
    if (number == SYS_sendto || number == SYS_recvfrom)
        return move_octets((int)argument[0], (const void *)argument[1], (size_t)argument[2],
                           (int)argument[3], CALLER, number == SYS_sendto);
    if (number == SYS_sendmsg || number == SYS_recvmsg)
        return move_message(number, (int)argument[0], (const struct msghdr *)argument[1],
                            (int)argument[2], CALLER, number == SYS_sendmsg);
    /* NOLINTEND */
    if (direct_call_fails(number, CALLER, (int)argument[0]))
        return -1;
    return enter(number, argument[0], argument[1], argument[2], argument[3], argument[4],
                 argument[5]);
}
