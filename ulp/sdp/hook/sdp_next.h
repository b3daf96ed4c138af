/* SPDX-License-Identifier: BSD-2-Clause */
/* The functions that the hooks replace: SDP_NEXT(read)(fd, buffer, size). */
#ifndef ITAPI_ULP_SDP_HOOK_SDP_NEXT_H
#define ITAPI_ULP_SDP_HOOK_SDP_NEXT_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#define SDP_NEXT_LIST(X)                                                                           \
    X(ssize_t, read, (int, void *, size_t))                                                        \
    X(ssize_t, readv, (int, const struct iovec *, int))                                            \
    X(ssize_t, write, (int, const void *, size_t))                                                 \
    X(ssize_t, writev, (int, const struct iovec *, int))                                           \
    X(ssize_t, preadv64v2, (int, const struct iovec *, int, off64_t, int))                         \
    X(ssize_t, pwritev64v2, (int, const struct iovec *, int, off64_t, int))                        \
    X(ssize_t, recv, (int, void *, size_t, int))                                                   \
    X(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *))               \
    X(ssize_t, recvmsg, (int, struct msghdr *, int))                                               \
    X(int, recvmmsg, (int, struct mmsghdr *, unsigned, int, struct timespec *))                    \
    X(ssize_t, send, (int, const void *, size_t, int))                                             \
    X(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, socklen_t))       \
    X(ssize_t, sendmsg, (int, const struct msghdr *, int))                                         \
    X(int, sendmmsg, (int, struct mmsghdr *, unsigned, int))                                       \
    X(ssize_t, sendfile, (int, int, off_t *, size_t))                                              \
    X(ssize_t, splice, (int, off64_t *, int, off64_t *, size_t, unsigned))                         \
    X(int, vdprintf, (int, const char *, va_list))                                                 \
    X(int, socket, (int, int, int))                                                                \
    X(int, socketpair, (int, int, int, int[2]))                                                    \
    X(int, connect, (int, const struct sockaddr *, socklen_t))                                     \
    X(int, bind, (int, const struct sockaddr *, socklen_t))                                        \
    X(int, listen, (int, int))                                                                     \
    X(int, accept4, (int, struct sockaddr *, socklen_t *, int))                                    \
    X(int, shutdown, (int, int))                                                                   \
    X(int, getsockname, (int, struct sockaddr *, socklen_t *))                                     \
    X(int, getpeername, (int, struct sockaddr *, socklen_t *))                                     \
    X(int, getsockopt, (int, int, int, void *, socklen_t *))                                       \
    X(int, setsockopt, (int, int, int, const void *, socklen_t))                                   \
    X(int, fcntl, (int, int, ...))                                                                 \
    X(int, ioctl, (int, unsigned long, ...))                                                       \
    X(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *))            \
    X(int, poll, (struct pollfd *, nfds_t, int))                                                   \
    X(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *))                          \
    X(int, pselect,                                                                                \
      (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *))              \
    X(int, epoll_create1, (int))                                                                   \
    X(int, epoll_ctl, (int, int, int, struct epoll_event *))                                       \
    X(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *))                   \
    X(int, epoll_wait, (int, struct epoll_event *, int, int))                                      \
    X(int, epoll_pwait2,                                                                           \
      (int, struct epoll_event *, int, const struct timespec *, const sigset_t *))                 \
    X(int, open, (const char *, int, ...))                                                         \
    X(int, eventfd, (unsigned, int))                                                               \
    X(int, timerfd_create, (int, int))                                                             \
    X(int, pipe2, (int[2], int))                                                                   \
    X(int, dup, (int))                                                                             \
    X(int, dup3, (int, int, int))                                                                  \
    X(int, dup2, (int, int))                                                                       \
    X(int, close, (int))                                                                           \
    X(int, close_range, (unsigned, unsigned, int))                                                 \
    X(FILE *, fdopen, (int, const char *))                                                         \
    X(int, execve, (const char *, char *const[], char *const[]))                                   \
    X(int, execvpe, (const char *, char *const[], char *const[]))                                  \
    X(int, execveat, (int, const char *, char *const[], char *const[], int))                       \
    X(int, fexecve, (int, char *const[], char *const[]))                                           \
    X(int, posix_spawn,                                                                            \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,       \
       char *const[], char *const[]))                                                              \
    X(int, posix_spawnp,                                                                           \
      (pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,       \
       char *const[], char *const[]))                                                              \
    X(FILE *, popen, (const char *, const char *))                                                 \
    X(void, _exit, (int))                                                                          \
    X(long, syscall, (long, ...))                                                                  \
    X(int, sigaction, (int, const struct sigaction *, struct sigaction *))                         \
    X(int, getrlimit, (__rlimit_resource_t, struct rlimit *))                                      \
    X(int, setrlimit, (__rlimit_resource_t, const struct rlimit *))                                \
    X(int, prlimit, (pid_t, __rlimit_resource_t, const struct rlimit *, struct rlimit *))          \
    X(long, sysconf, (int))                                                                        \
    X(int, pthread_create, (pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))

struct sdp_next {
#define SDP_NEXT_MEMBER(type, name, parameters) type(*name) parameters;
    SDP_NEXT_LIST(SDP_NEXT_MEMBER)
#undef SDP_NEXT_MEMBER
};
extern struct sdp_next sdp_next;

void sdp_next_resolve(void);

/* Constructors of other libraries may run before the one of this library. */
static inline const struct sdp_next *sdp_next_get(void)
{
    if (__builtin_expect(!sdp_next.pthread_create, 0))
        sdp_next_resolve();
    return &sdp_next;
}
#define SDP_NEXT(name) (sdp_next_get()->name)

#endif /* ITAPI_ULP_SDP_HOOK_SDP_NEXT_H */
