/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measures how much stack each public function uses. Loaded before the library, this has a function
 * of the same name in front of each (stack_entries.S): it fills the stack below the call with a
 * pattern, and looks afterwards how far down the pattern is gone. ITAPI_STACK_FILE names a file of
 * words, the largest use of each function in octets, which all processes share.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define DEPTH_MAX ((size_t)96 << 10) /* painted below a call, where the stack is that large */
#define MARGIN    ((size_t)1024)     /* at the end of the stack, and for the frames of this file */
#define NESTED    64u
#define PATTERN   UINT64_C(0x5ac3f00d5ac3f00d)

extern const char *const stack_names[];
extern const unsigned stack_count;

/* Called by stack_entries.S. */
void *stack_begin(unsigned index, void **slot);
void *stack_end(void);

struct call {
    unsigned index;
    void *returns_to;
    uintptr_t top; /* the stack pointer of the caller */
    uintptr_t floor;
    size_t used; /* by calls inside of it */
};

static _Thread_local struct call calls[NESTED];
static _Thread_local unsigned depth;
static _Thread_local uintptr_t lowest; /* end of this thread's stack */

static _Atomic uint64_t *words;
static void *_Atomic *functions;

__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("ITAPI_STACK_FILE");
    size_t size = stack_count * sizeof(words[0]);
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    functions = calloc(stack_count, sizeof(functions[0]));
    if (!functions || fd < 0 || ftruncate(fd, (off_t)size) != 0)
        abort();
    words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (words == MAP_FAILED)
        abort();
    (void)close(fd);
}

static uintptr_t find_lowest(void)
{
    pthread_attr_t attr;
    void *address = NULL;
    size_t size = 0;

    if (pthread_getattr_np(pthread_self(), &attr) != 0 ||
        pthread_attr_getstack(&attr, &address, &size) != 0)
        abort();
    (void)pthread_attr_destroy(&attr);
    return (uintptr_t)address + MARGIN;
}

static void *real(unsigned index)
{
    void *function = atomic_load(&functions[index]);

    if (!function) {
        function = dlsym(RTLD_NEXT, stack_names[index]);
        if (!function)
            abort();
        atomic_store(&functions[index], function);
    }
    return function;
}

void *__attribute__((noinline)) stack_begin(unsigned index, void **slot)
{
    void *function = real(index);
    uintptr_t here;
    struct call *call;

    if (depth == NESTED)
        abort();
    if (lowest == 0)
        lowest = find_lowest();
    here = ((uintptr_t)__builtin_frame_address(0) - MARGIN) & ~(uintptr_t)7;
    call = &calls[depth++];
    *call = (struct call){.index = index, .returns_to = *slot, .top = (uintptr_t)(slot + 1)};
    call->floor = here - lowest > DEPTH_MAX ? here - DEPTH_MAX : lowest;
    call->floor = (call->floor + 7) & ~(uintptr_t)7;
    for (volatile uint64_t *word = (volatile uint64_t *)call->floor; (uintptr_t)word < here; word++)
        *word = PATTERN;
    return function;
}

void *__attribute__((noinline)) stack_end(void)
{
    struct call *call = &calls[--depth];
    const volatile uint64_t *word = (const volatile uint64_t *)call->floor;
    uint64_t seen = atomic_load(&words[call->index]);
    size_t used;

    while ((uintptr_t)word < call->top && *word == PATTERN)
        word++;
    used = call->top - (uintptr_t)word;
    if (used < call->used)
        used = call->used;
    while (used > seen && !atomic_compare_exchange_weak(&words[call->index], &seen, used))
        ;
    if (depth > 0 && calls[depth - 1].top - call->top + used > calls[depth - 1].used)
        calls[depth - 1].used = calls[depth - 1].top - call->top + used;
    return call->returns_to;
}
