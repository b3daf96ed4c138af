/* SPDX-License-Identifier: BSD-2-Clause */
#include "guard/sdp_guard.h"

#include <errno.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define HOLDS 64

static void nothing(void)
{
}
void (*sdp_guard_install)(void) = nothing;

/* Before the first access: a missing page must not end a program that has no connection yet. */
static void be_ready(void)
{
    static atomic_bool ready;

    if (atomic_load_explicit(&ready, memory_order_relaxed))
        return;
    sdp_guard_install();
    atomic_store(&ready, sdp_guard_install != nothing);
}

/* ---- Copies of this thread ------------------------------------------------------------------ */

/* Where a fault in a guarded copy goes on; NULL outside of one. */
static __thread sigjmp_buf *volatile resume __attribute__((tls_model("initial-exec")));

bool sdp_guard_copy(void *to, const void *from, size_t octets)
{
    sigjmp_buf here;

    if (!to || !from)
        return octets == 0;
    be_ready();
    if (sigsetjmp(here, 0) != 0)
        return false;
    resume = &here;
    atomic_signal_fence(memory_order_seq_cst);
    memcpy(to, from, octets);
    atomic_signal_fence(memory_order_seq_cst);
    resume = NULL;
    return true;
}

bool sdp_guard_readable(const void *from, size_t octets)
{
    const char *at = from;
    char last;

    /* Touches both ends: no object that this is used for spans more than two pages. */
    return octets == 0 ||
           (sdp_guard_copy(&last, at, 1) && sdp_guard_copy(&last, at + octets - 1, 1));
}

/* ---- Memory that is held -------------------------------------------------------------------- */

enum {
    FREE,
    MAKING,
    HELD
};

/* Written by the thread that holds it while it is not HELD, and by handlers while it is. */
static struct hold {
    atomic_int state;
    uintptr_t begin; /* whole pages */
    uintptr_t end;
    atomic_bool faulted;
    atomic_flag filling; /* guards low and high */
    uintptr_t low;       /* the pages of zeros */
    uintptr_t high;
} holds[HOLDS];

static uintptr_t page_size(void)
{
    static atomic_uintptr_t size;
    uintptr_t known = atomic_load_explicit(&size, memory_order_relaxed);

    if (known == 0) {
        known = (uintptr_t)sysconf(_SC_PAGESIZE);
        atomic_store_explicit(&size, known, memory_order_relaxed);
    }
    return known;
}

static void *place(uintptr_t address)
{
    return (void *)address; /* NOLINT(performance-no-int-to-ptr): an address from the kernel */
}

/* Without variables that a jump back may clobber. */
static void __attribute__((noinline))
touch(volatile char *at, const volatile char *end, bool written)
{
    while (at < end) {
        if (written) /* other threads of the program may write to it */
            (void)__atomic_fetch_or(at, 0, __ATOMIC_RELAXED);
        else
            (void)*at;
        at = place(((uintptr_t)at | (page_size() - 1)) + 1);
    }
}

bool sdp_guard_present(void *octets, size_t count, bool written)
{
    sigjmp_buf here;

    if (!octets)
        return count == 0;
    be_ready();
    if (sigsetjmp(here, 0) != 0)
        return false;
    resume = &here;
    atomic_signal_fence(memory_order_seq_cst);
    touch(octets, (char *)octets + count, written);
    atomic_signal_fence(memory_order_seq_cst);
    resume = NULL;
    return true;
}

bool sdp_guard_is_missing(const void *octets, size_t count)
{
    uintptr_t begin = (uintptr_t)octets & ~(page_size() - 1);

    return msync(place(begin), (uintptr_t)octets + count - begin, MS_ASYNC) != 0 && errno == ENOMEM;
}

int sdp_guard_hold(const void *from, size_t octets)
{
    uintptr_t mask = ~(page_size() - 1);

    for (int i = 0; i < HOLDS; i++) {
        struct hold *hold = &holds[i];
        int state = FREE;

        if (!atomic_compare_exchange_strong(&hold->state, &state, MAKING))
            continue;
        hold->begin = (uintptr_t)from & mask;
        hold->end = ((uintptr_t)from + octets + ~mask) & mask;
        hold->low = 0;
        hold->high = 0;
        atomic_store(&hold->faulted, false);
        atomic_store(&hold->state, HELD);
        return i;
    }
    return -1;
}

bool sdp_guard_release(int number)
{
    struct hold *hold = &holds[number];
    bool faulted = atomic_load(&hold->faulted);

    atomic_store(&hold->state, MAKING);
    if (hold->high > hold->low)
        (void)munmap(place(hold->low), hold->high - hold->low);
    atomic_store(&hold->state, FREE);
    return faulted;
}

void sdp_guard_forget(void)
{
    for (int i = 0; i < HOLDS; i++) {
        atomic_flag_clear(&holds[i].filling);
        atomic_store(&holds[i].state, FREE);
    }
}

/* Remembers a page of zeros. One that does not adjoin the others is not removed later. */
static void fill_note(struct hold *hold, uintptr_t page)
{
    if (hold->high == hold->low) {
        hold->low = page;
        hold->high = page + page_size();
    } else if (page == hold->high)
        hold->high += page_size();
    else if (page + page_size() == hold->low)
        hold->low = page;
}

/* A page of a file that has become shorter is replaced; a page that another thread maps stays. */
static bool fill(struct hold *hold, uintptr_t page, int signal)
{
    int fixed = signal == SIGBUS ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    void *made;

    while (atomic_flag_test_and_set(&hold->filling)) {
    }
    made = mmap(place(page), page_size(), PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    if (made == place(page))
        fill_note(hold, page);
    atomic_flag_clear(&hold->filling);
    return made == place(page) || errno == EEXIST;
}

static bool fill_held(const siginfo_t *info)
{
    uintptr_t page = (uintptr_t)info->si_addr & ~(page_size() - 1);

    if (info->si_signo == SIGSEGV ? info->si_code != SEGV_MAPERR : info->si_code != BUS_ADRERR)
        return false;
    for (int i = 0; i < HOLDS; i++)
        if (atomic_load(&holds[i].state) == HELD && page >= holds[i].begin && page < holds[i].end) {
            atomic_store(&holds[i].faulted, true);
            return fill(&holds[i], page, info->si_signo);
        }
    return false;
}

/* ---- The handler ---------------------------------------------------------------------------- */

bool sdp_guard_catch(const siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    sigjmp_buf *where = resume;
    int error = errno;
    bool caught;

    if (info->si_code <= 0) /* sent by a process */
        return false;
    if (where) {
        resume = NULL;
        (void)pthread_sigmask(SIG_SETMASK, &interrupted->uc_sigmask, NULL);
        siglongjmp(*where, 1);
    }
    caught = fill_held(info);
    errno = error;
    return caught;
}
