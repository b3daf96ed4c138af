/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of the program that is missing, or that another thread unmaps while a call moves it. */
#include "guard/sdp_guard.h"
#include "connection/sdp_object.h"
#include "sdp_kit.h"
#include "support/time_limit.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LARGE ((size_t)4 << 20)
#define SHORT ((size_t)131072)

static struct sdp_connection *pair[2];
static unsigned char octets[LARGE]; /* sent */
static unsigned char got_octets[LARGE];

/* As the library's hooks install it. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    static const char text[] = "a fault that nobody catches\n";

    if (sdp_guard_catch(info, context))
        return;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)signal(number, SIG_DFL);
}

static void catch_faults(void)
{
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    CHECK(sigaction(SIGBUS, &action, NULL) == 0);
}

static unsigned char *map(size_t size, int rights)
{
    void *memory = mmap(NULL, size, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    return memory;
}

/* Returns memory of a file that has become empty. */
static unsigned char *map_cut_file(size_t size)
{
    char name[] = "/tmp/sdp_guard_XXXXXX";
    int fd = mkstemp(name);
    void *memory;

    CHECK(fd >= 0 && unlink(name) == 0 && ftruncate(fd, (off_t)size) == 0);
    memory = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(memory != MAP_FAILED && ftruncate(fd, 0) == 0 && close(fd) == 0);
    return memory;
}

/* ---- Copies --------------------------------------------------------------------------------- */

static void copies(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory = map(3 * page, PROT_READ | PROT_WRITE);
    unsigned char *cut = map_cut_file(page);
    unsigned char *volatile nowhere = NULL;
    unsigned char *volatile odd = (unsigned char *)(uintptr_t)UINT64_C(0x8000000000000000);
    sigset_t mask;

    CHECK(mprotect(memory + page, page, PROT_READ) == 0);
    CHECK(mprotect(memory + 2 * page, page, PROT_NONE) == 0);
    memory[0] = 7;
    CHECK(sdp_guard_copy(octets, memory, 2 * page) && octets[0] == 7);
    CHECK(!sdp_guard_copy(memory + 1, octets, 2 * page - 1)); /* the second page is read-only */
    CHECK(!sdp_guard_copy(octets, nowhere, 1));
    CHECK(!sdp_guard_copy(octets, odd, 1));
    CHECK(!sdp_guard_copy(octets, cut, page));
    CHECK(sdp_guard_readable(memory + page - 1, 2) && !sdp_guard_readable(memory + page, page + 1));
    CHECK(sdp_guard_readable(nowhere, 0));
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &mask) == 0);
    CHECK(!sigismember(&mask, SIGSEGV) && !sigismember(&mask, SIGBUS));
    CHECK(munmap(memory, 3 * page) == 0 && munmap(cut, page) == 0);
}

/* ---- Memory that is held -------------------------------------------------------------------- */

static bool is_mapped(void *page)
{
    return msync(page, 1, MS_ASYNC) == 0;
}

static void held_pages(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory = map(4 * page, PROT_READ | PROT_WRITE);
    volatile unsigned char *at = memory;
    int number = sdp_guard_hold(memory + 1, 4 * page - 2);

    memset(memory, 1, 4 * page);
    CHECK(number >= 0);
    CHECK(munmap(memory + page, 2 * page) == 0);
    CHECK(at[0] == 1 && at[page] == 0 && at[2 * page + 5] == 0 && at[3 * page] == 1);
    at[page] = 3;
    CHECK(sdp_guard_release(number));
    CHECK(is_mapped(memory) && !is_mapped(memory + page) && !is_mapped(memory + 2 * page));
    number = sdp_guard_hold(memory, page);
    CHECK(at[0] == 1 && !sdp_guard_release(number));
    CHECK(munmap(memory, 4 * page) == 0);
    memory = map_cut_file(page);
    number = sdp_guard_hold(memory, page);
    CHECK(*(volatile unsigned char *)memory == 0 && sdp_guard_release(number));
}

static void many_are_held(void)
{
    int numbers[1000];
    int count = 0;

    while (count < 1000 && (numbers[count] = sdp_guard_hold(octets, LARGE)) >= 0)
        count++;
    CHECK(count >= 16 && count < 1000);
    CHECK(!sdp_guard_release(numbers[3]));
    CHECK_EQ(numbers[3], sdp_guard_hold(octets, LARGE));
    sdp_guard_forget();
    CHECK(sdp_guard_hold(octets, LARGE) >= 0);
    sdp_guard_forget();
}

/* ---- Calls ---------------------------------------------------------------------------------- */

/* Waits until the peer has offered memory: to be read (source) or to be written. */
static void await_offer(struct sdp_connection *connection, bool source)
{
    const struct timespec pause = {.tv_nsec = 100000};
    long left = time_limit_ms(10000) * 10;
    bool offered = false;

    while (!offered && left-- > 0) {
        CHECK(pthread_mutex_lock(&connection->lock) == 0);
        (void)sdp_take(connection);
        offered = source ? sdp_machine_source(&connection->machine) != NULL
                         : sdp_machine_sink(&connection->machine) != NULL;
        CHECK(pthread_mutex_unlock(&connection->lock) == 0);
        (void)nanosleep(&pause, NULL);
    }
    CHECK(offered);
}

static void *send_octets(void *connection)
{
    CHECK_EQ(LARGE, sdp_kit_send(connection, octets, LARGE, 0));
    return NULL;
}

/* Afterwards both ends have moved large calls without a copy. */
static void start(bool crc)
{
    const struct sdp_settings settings = {.crc_off = !crc};
    pthread_t thread;

    sdp_kit_pair(pair, &settings);
    for (unsigned i = 0; i < 2; i++) {
        sdp_watch(pair[i], SDP_WATCH_NOTHING);
        CHECK(sdp_set_option(pair[i], SDP_ZCOPY_FROM, 65536) == 0);
    }
    CHECK(pthread_create(&thread, NULL, send_octets, pair[0]) == 0);
    CHECK_EQ(LARGE, sdp_kit_receive(pair[1], got_octets, LARGE, MSG_WAITALL));
    CHECK(pthread_join(thread, NULL) == 0);
    pair[0]->zcopy_rest = 0; /* an offer that was refused is forgotten */
}

static void end(void)
{
    CHECK(sdp_close(pair[0], NULL) == 0 && sdp_close(pair[1], NULL) == 0);
}

static unsigned char *memory;

static void *send_memory(void *unused)
{
    (void)unused;
    CHECK_EQ(-EFAULT, sdp_kit_send(pair[0], memory, LARGE, 0));
    return NULL;
}

/* The memory vanishes while the peer may read it. */
static void sender_unmaps(bool crc)
{
    pthread_t thread;
    ssize_t got;

    start(crc);
    memory = map(LARGE, PROT_READ | PROT_WRITE);
    CHECK(pthread_create(&thread, NULL, send_memory, NULL) == 0);
    await_offer(pair[1], true);
    CHECK(munmap(memory, LARGE) == 0);
    got = sdp_kit_receive(pair[1], got_octets, LARGE, 0);
    CHECK(got == (ssize_t)LARGE || got == -ECONNRESET);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(!is_mapped(memory));
    end();
}

/* The sender may have sent more: closing ends its call. */
static void *receive_memory(void *unused)
{
    const struct linger now = {.l_onoff = 1};

    (void)unused;
    CHECK_EQ(-EFAULT, sdp_kit_receive(pair[1], memory, LARGE, 0));
    CHECK(sdp_close(pair[1], &now) == 0);
    return NULL;
}

/* The memory vanishes while the peer may write it. */
static void receiver_unmaps(bool crc)
{
    pthread_t thread;
    ssize_t sent;

    start(crc);
    memory = map(LARGE, PROT_READ | PROT_WRITE);
    CHECK(pthread_create(&thread, NULL, receive_memory, NULL) == 0);
    await_offer(pair[0], false);
    CHECK(munmap(memory, LARGE) == 0);
    sent = sdp_kit_send(pair[0], octets, LARGE, 0);
    CHECK(sent > 0 || sent == -ECONNRESET || sent == -EPIPE);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(!is_mapped(memory));
    CHECK(sdp_close(pair[0], NULL) == 0);
}

/* Waits until a call lets octets arrive in its memory. */
static void await_aim(struct sdp_connection *connection)
{
    const struct timespec pause = {.tv_nsec = 100000};
    long left = time_limit_ms(10000) * 10;
    bool aimed = false;

    while (!aimed && left-- > 0) {
        CHECK(pthread_mutex_lock(&connection->lock) == 0);
        aimed = connection->aim.octets != NULL && !connection->aim.spare;
        CHECK(pthread_mutex_unlock(&connection->lock) == 0);
        (void)nanosleep(&pause, NULL);
    }
    CHECK(aimed);
}

static void *receive_short(void *unused)
{
    const struct linger now = {.l_onoff = 1};

    (void)unused;
    CHECK_EQ(-EFAULT, sdp_kit_receive(pair[1], memory, SHORT, 0));
    CHECK(sdp_close(pair[1], &now) == 0);
    return NULL;
}

/* The memory vanishes while a call waits, and then octets arrive there. */
static void waiting_call_unmaps(bool crc)
{
    pthread_t thread;
    ssize_t sent;

    start(crc);
    for (unsigned i = 0; i < 2; i++)
        CHECK(sdp_set_option(pair[i], SDP_ZCOPY_FROM, LARGE) == 0);
    sdp_kit_send_stream(pair[0], 0, SHORT, SHORT); /* more long messages may follow */
    sdp_kit_check_stream(pair[1], 0, SHORT, SHORT);
    memory = map(SHORT, PROT_READ | PROT_WRITE);
    CHECK(pthread_create(&thread, NULL, receive_short, NULL) == 0);
    await_aim(pair[1]);
    CHECK(munmap(memory, SHORT) == 0);
    sent = sdp_kit_send(pair[0], octets, SHORT, 0);
    CHECK(sent > 0 || sent == -ECONNRESET || sent == -EPIPE);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(!is_mapped(memory));
    CHECK(sdp_close(pair[0], NULL) == 0);
}

/* Memory that is missing in part is an error without harm, also where it would not be copied. */
static void partly_missing(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    start(true);
    for (unsigned i = 0; i < 2; i++)
        CHECK(sdp_set_option(pair[i], SDP_ZCOPY_FROM, LARGE) == 0);
    memory = map(SHORT, PROT_READ | PROT_WRITE);
    CHECK(munmap(memory + page, SHORT - page) == 0);
    CHECK_EQ(-EFAULT, sdp_kit_send(pair[0], memory, SHORT, 0));
    sdp_kit_send_stream(pair[0], 0, 1000, 1000);
    CHECK_EQ(1000, sdp_kit_receive(pair[1], memory, SHORT, 0));
    for (unsigned i = 0; i < 1000; i++)
        CHECK(memory[i] == sdp_kit_octet(i));
    CHECK(munmap(memory, page) == 0);
    end();
}

/* Calls that copy: the connection goes on. */
static void copied_calls(void)
{
    unsigned char *volatile nowhere = NULL;

    start(true);
    CHECK_EQ(-EFAULT, sdp_kit_send(pair[0], nowhere, 1000, 0));
    sdp_kit_send_stream(pair[0], 0, 1000, 1000);
    CHECK_EQ(-EFAULT, sdp_kit_receive(pair[1], nowhere, 1000, 0));
    CHECK_EQ(-EFAULT, sdp_kit_receive(pair[1], nowhere, 1000, MSG_PEEK));
    sdp_kit_check_stream(pair[1], 0, 1000, 1000);
    CHECK_EQ(1, sdp_kit_send(pair[0], "!", 1, MSG_OOB));
    sdp_kit_await(pair[1], POLLPRI);
    CHECK_EQ(-EFAULT, sdp_kit_receive(pair[1], nowhere, 1, MSG_OOB));
    CHECK_EQ(1, sdp_kit_receive(pair[1], got_octets, 1, MSG_OOB));
    CHECK(got_octets[0] == '!');
    end();
}

int main(void)
{
    catch_faults();
    copies();
    held_pages();
    many_are_held();
    copied_calls();
    partly_missing();
    for (int crc = 0; crc < 2; crc++) {
        sender_unmaps(crc != 0);
        receiver_unmaps(crc != 0);
        waiting_call_unmaps(crc != 0);
    }
    return 0;
}
