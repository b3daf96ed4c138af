/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A handler of this library wraps the program's signal handlers. In a region that handler
 * keeps the signal and lets a timer repeat it, so that a sleep in the region ends, even one that
 * was about to begin. When the region is left, the signal is sent once more, and the program's
 * handler runs.
 */
#include "hook/sdp_hook.h"

#include "guard/sdp_guard.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AGAIN_NS    2000000
#define KERNELS_OWN 0x04000000 /* SA_RESTORER: libc sets it, and shows it */

/* The handlers that the program has installed; the kernel has their masks and flags too. */
static struct {
    _Atomic uintptr_t handler;
    atomic_int flags;
} actions[NSIG];

static atomic_bool guarding; /* on_signal stays the handler of the guarded signals */

struct kept {
    siginfo_t info;
    volatile sig_atomic_t is_kept;
};
static __thread struct kept kept[NSIG] __attribute__((tls_model("initial-exec")));
static __thread int timer __attribute__((tls_model("initial-exec")));
static const char again_mark = 0;

static bool is_fault(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
           signal == SIGTRAP || signal == SIGABRT || signal == SIGSYS;
}

/* Signals of faults in the program's memory. Once there is a connection, on_signal gets them. */
static bool is_guarded(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS;
}

static void start_timer(int signal)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal};
    struct itimerspec limit = {.it_interval = {0, AGAIN_NS}, .it_value = {0, AGAIN_NS}};

    event.sigev_value.sival_ptr = (void *)(uintptr_t)&again_mark;
    event._sigev_un._tid = (pid_t)SDP_NEXT(syscall)(SYS_gettid);
    if (SDP_NEXT(syscall)(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0)
        (void)SDP_NEXT(syscall)(SYS_timer_settime, timer, 0, &limit, NULL);
}

static void keep(int signal, const siginfo_t *info)
{
    if (!kept[signal].is_kept) {
        kept[signal].info = *info;
        kept[signal].is_kept = 1;
    }
    if (!sdp_thread.deferred) {
        sdp_thread.deferred = 1;
        start_timer(signal);
    }
}

/* The default action. A fault happens again when the handler returns. */
static void end_by(int signal, siginfo_t *info)
{
    struct sigaction none = {.sa_handler = SIG_DFL};

    (void)SDP_NEXT(sigaction)(signal, &none, NULL);
    if (info->si_code <= 0)
        (void)SDP_NEXT(syscall)(SYS_rt_tgsigqueueinfo, getpid(), SDP_NEXT(syscall)(SYS_gettid),
                                signal, info);
}

static void run(int signal, siginfo_t *info, void *context)
{
    uintptr_t handler = atomic_load(&actions[signal].handler);
    int flags = atomic_load(&actions[signal].flags);

    if (flags & (int)SA_RESETHAND) {
        struct sigaction none = {.sa_handler = SIG_DFL};

        atomic_store(&actions[signal].handler, (uintptr_t)SIG_DFL);
        (void)SDP_NEXT(sigaction)(signal, &none, NULL);
    }
    if (!(flags & SA_RESTART))
        sdp_thread.stopped++;
    if (handler == (uintptr_t)SIG_DFL || handler == (uintptr_t)SIG_IGN) {
        if (is_guarded(signal) && (handler == (uintptr_t)SIG_DFL || info->si_code > 0))
            end_by(signal, info);
        return;
    }
    if (flags & SA_SIGINFO)
        ((void (*)(int, siginfo_t *, void *))handler)(signal, info, context);
    else
        ((void (*)(int))handler)(signal);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    int error = errno;
    bool again = info->si_code == SI_TIMER && info->si_value.sival_ptr == &again_mark;

    if (is_guarded(signal) && sdp_guard_catch(info, context))
        return;
    if (sdp_thread.depth > 0 && !is_fault(signal)) {
        if (!again)
            keep(signal, info);
        errno = error;
        return;
    }
    if (!again)
        run(signal, info, context);
}

/*
 * Sends all kept signals again while all signals are blocked, so that the kernel delivers them as
 * usual.
 */
static void run_deferred(void)
{
    sigset_t all;
    sigset_t mask;
    int error = errno;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &mask);
    (void)SDP_NEXT(syscall)(SYS_timer_delete, timer);
    sdp_thread.deferred = 0;
    for (int signal = 1; signal < NSIG; signal++)
        if (kept[signal].is_kept) {
            kept[signal].is_kept = 0;
            (void)SDP_NEXT(syscall)(SYS_rt_tgsigqueueinfo, getpid(), SDP_NEXT(syscall)(SYS_gettid),
                                    signal, &kept[signal].info);
        }
    (void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
    errno = error;
}

/* ---- Installing ----------------------------------------------------------------------------- */

static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Restores the action as the program has set it. */
static void restore(struct sigaction *action, uintptr_t handler, int flags)
{
    if (action->sa_sigaction != on_signal || !(action->sa_flags & SA_SIGINFO))
        return;
    action->sa_flags = flags | (action->sa_flags & KERNELS_OWN);
    action->sa_handler = (void (*)(int))handler;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours;
    uintptr_t handler;
    int flags;
    int result;

    if (signal <= 0 || signal >= NSIG || sdp_thread.ours)
        return SDP_NEXT(sigaction)(signal, action, old);
    handler = atomic_load(&actions[signal].handler);
    flags = atomic_load(&actions[signal].flags);
    if (action && (is_handler(action) || (is_guarded(signal) && atomic_load(&guarding)))) {
        ours = *action;
        ours.sa_sigaction = on_signal;
        ours.sa_flags = (int)((unsigned)action->sa_flags & ~SA_RESETHAND) | SA_SIGINFO;
        atomic_store(&actions[signal].handler, (uintptr_t)action->sa_handler);
        atomic_store(&actions[signal].flags, action->sa_flags);
        result = SDP_NEXT(sigaction)(signal, &ours, old);
        if (result < 0) {
            atomic_store(&actions[signal].handler, handler);
            atomic_store(&actions[signal].flags, flags);
        }
    } else
        result = SDP_NEXT(sigaction)(signal, action, old);
    if (result == 0 && old)
        restore(old, handler, flags);
    return result;
}

typedef void (*handler_of_signal)(int);

static handler_of_signal install(int signal, handler_of_signal handler, int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    struct sigaction old;

    (void)sigemptyset(&action.sa_mask);
    if (!(flags & SA_NODEFER) && signal > 0 && signal < NSIG)
        (void)sigaddset(&action.sa_mask, signal);
    return sigaction(signal, &action, &old) < 0 ? SIG_ERR : old.sa_handler;
}

handler_of_signal signal(int signal, handler_of_signal handler)
{
    return install(signal, handler, SA_RESTART);
}

handler_of_signal bsd_signal(int signal, handler_of_signal handler)
{
    return install(signal, handler, SA_RESTART);
}

handler_of_signal ssignal(int signal, handler_of_signal handler)
{
    return install(signal, handler, SA_RESTART);
}

handler_of_signal sysv_signal(int signal, handler_of_signal handler)
{
    return install(signal, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

handler_of_signal __sysv_signal(int signal, handler_of_signal handler)
{
    return install(signal, handler, (int)(SA_RESETHAND | SA_NODEFER));
}

int siginterrupt(int signal, int interrupts)
{
    struct sigaction action;

    if (sigaction(signal, NULL, &action) < 0)
        return -1;
    action.sa_flags = interrupts ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return sigaction(signal, &action, NULL);
}

int __sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    return sigaction(signal, action, old);
}

/* The program's own handlers are already wrapped. */
static void guard(void)
{
    const struct sigaction ours = {.sa_sigaction = on_signal,
                                   .sa_flags = (int)(SA_SIGINFO | SA_NODEFER | SA_RESTART)};
    struct sigaction old;

    for (int signal = 1; signal < NSIG; signal++)
        if (is_guarded(signal) && SDP_NEXT(sigaction)(signal, NULL, &old) == 0 &&
            !(old.sa_sigaction == on_signal && (old.sa_flags & SA_SIGINFO))) {
            atomic_store(&actions[signal].handler, (uintptr_t)old.sa_handler);
            atomic_store(&actions[signal].flags, old.sa_flags);
            (void)SDP_NEXT(sigaction)(signal, &ours, NULL);
        }
    atomic_store(&guarding, true);
}

static void guard_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, guard);
}

void sdp_signals_start(void)
{
    sdp_guard_install = guard_once;
    sdp_run_deferred = run_deferred;
}
