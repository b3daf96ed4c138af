/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory/exs_memory.h"

#include "adapter/exs_adapter.h"
#include "handle/exs_handle.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define RIGHTS_OF_DRAFTS 0xf0 /* EXS_ACCESS_ALL */

/* From Linux 5.14 on. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

static struct exs_handles registrations = EXS_HANDLES_INITIALIZER;

static int errno_of(it_status_t status)
{
    switch ((int)status) {
    case IT_SUCCESS:
        return 0;
    case IT_ERR_FAULT:
    case IT_ERR_ACCESS:
    case IT_ERR_ADDRESS:
        return EFAULT;
    case IT_ERR_IA_CATASTROPHE:
        return ENODEV;
    default:
        return ENOMEM;
    }
}

static int make_lmr(struct exs_memory *memory)
{
    struct exs_adapter *adapter = exs_adapter_get();
    unsigned privs = memory->receive ? IT_PRIV_LOCAL | IT_PRIV_REMOTE_WRITE : IT_PRIV_LOCAL_READ;

    if (!adapter)
        return errno;
    return errno_of(it_lmr_create21(adapter->pz, memory->addr, NULL, memory->length,
                                    IT_ADDR_MODE_ABSOLUTE, (it_mem_priv_t)privs, IT_LMR_FLAG_NONE,
                                    0, &memory->lmr, &memory->key));
}

/* ---- Memory without a registration ---------------------------------------------------------- */

/*
 * A system call returns EFAULT for memory that is missing, where a copy of this library would end
 * the program. So the kernel is asked first. Memory that goes away later is the program's fault.
 */
static void *page_of(const char *addr)
{
    uintptr_t mask = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;

    return (void *)((uintptr_t)addr & ~mask); /* NOLINT(performance-no-int-to-ptr) */
}

/* Returns 0 if the page can be accessed, or errno of madvise. */
static int ask_for_page(void *page, bool written)
{
    return madvise(page, 1, written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0 ? 0 : errno;
}

/* The pages at both ends can be accessed, and those between them exist. */
static int ask_for_pages(const struct exs_memory *memory)
{
    char *first = page_of(memory->addr);
    char *last = page_of(memory->addr + memory->length - 1);
    int error = ask_for_page(first, memory->receive);

    if (error == 0 && last != first)
        error = ask_for_page(last, memory->receive);
    if (error == 0 && last - first > sysconf(_SC_PAGESIZE) &&
        msync(first, (size_t)(last - first), MS_ASYNC) != 0)
        error = errno;
    return error;
}

/*
 * Where the kernel does not say, registering the memory tells; not where the kernel never says,
 * since that takes much longer.
 */
static int check_memory(struct exs_memory *memory)
{
    int error = ask_for_pages(memory);

    switch (error) {
    case 0:
    case EAGAIN:
    case EINTR:
        return 0;
    case EINVAL:
        return ask_for_page(page_of((const char *)&error), true) == 0 ? make_lmr(memory) : 0;
    default:
        return EFAULT;
    }
}

/* ---- Memory of calls ------------------------------------------------------------------------ */

static int check_range(const struct exs_memory *memory, const char *addr, size_t length,
                       bool receive)
{
    uintptr_t offset = (uintptr_t)addr - (uintptr_t)memory->addr;

    if (receive && !memory->receive)
        return EACCES;
    if (length > 0 && (offset > memory->length || length > memory->length - offset))
        return EFAULT;
    return 0;
}

void exs_memory_make(struct exs_memory *own, void *addr, size_t length, bool receive)
{
    *own = (struct exs_memory){.addr = addr, .length = length, .receive = receive};
}

int exs_memory_take(exs_mhandle_t handle, void *addr, size_t length, bool receive,
                    struct exs_memory *own, struct exs_memory **memory)
{
    struct exs_slot *slot;
    int error;

    if (handle == EXS_MHANDLE_UNREGISTERED) {
        if (length > 0 && (!addr || (uintptr_t)addr + length - 1 < (uintptr_t)addr))
            return EFAULT;
        exs_memory_make(own, addr, length, receive);
        *memory = own;
        return length > 0 ? check_memory(own) : 0;
    }
    slot = exs_handle_take(&registrations, (uintptr_t)handle);
    if (!slot)
        return EINVAL;
    error = check_range(slot->object, addr, length, receive);
    if (error)
        exs_handle_give(slot);
    else
        *memory = slot->object;
    return error;
}

int exs_memory_lmr(struct exs_memory *memory, it_lmr_handle_t *lmr, it_rmr_context_t *key)
{
    int error = memory->lmr ? 0 : make_lmr(memory);

    *lmr = memory->lmr;
    *key = memory->key;
    return error;
}

void exs_memory_give(struct exs_memory *memory)
{
    if (memory->slot)
        exs_handle_give(memory->slot);
    else if (memory->lmr)
        (void)it_lmr_free(memory->lmr);
}

/* ---- Registrations -------------------------------------------------------------------------- */

static int fill(struct exs_memory *memory, void *addr, size_t length, int flags)
{
    if ((flags & ~(EXS_MRF_RECV_DISABLE | EXS_MRF_SHARED | RIGHTS_OF_DRAFTS)) || length == 0 ||
        (uintptr_t)addr + length - 1 < (uintptr_t)addr)
        return EINVAL;
    if (!addr)
        return EFAULT;
    memory->addr = addr;
    memory->length = length;
    memory->receive = !(flags & EXS_MRF_RECV_DISABLE);
    return make_lmr(memory);
}

int exs_memory_register(void *addr, size_t length, int flags, exs_mhandle_t *handle)
{
    struct exs_memory *memory = calloc(1, sizeof(*memory));
    int error = ENOMEM;

    if (!memory)
        return ENOMEM;
    error = fill(memory, addr, length, flags);
    if (error)
        goto err_memory;
    *handle = (exs_mhandle_t)exs_handle_open(&registrations, memory, &memory->slot);
    if (*handle != EXS_MHANDLE_INVALID)
        return 0;
    error = ENOMEM;
    (void)it_lmr_free(memory->lmr);
err_memory:
    free(memory);
    return error;
}

int exs_memory_modify(exs_mhandle_t handle, void *addr, size_t length, int flags)
{
    struct exs_slot *slot = exs_handle_take(&registrations, (uintptr_t)handle);
    struct exs_memory *memory;
    struct exs_memory changed;
    int error;

    if (!slot)
        return EINVAL;
    memory = slot->object;
    error = exs_handle_lock(slot);
    if (error)
        return error;
    changed = (struct exs_memory){.slot = slot};
    error = fill(&changed, addr, length, flags);
    if (error == 0) {
        (void)it_lmr_free(memory->lmr);
        *memory = changed;
    }
    exs_handle_unlock(slot);
    return error;
}

int exs_memory_deregister(exs_mhandle_t handle)
{
    struct exs_slot *slot = exs_handle_take(&registrations, (uintptr_t)handle);
    struct exs_memory *memory;
    int error;

    if (!slot)
        return EINVAL;
    memory = slot->object;
    error = exs_handle_close(&registrations, slot);
    if (error == 0) {
        (void)it_lmr_free(memory->lmr);
        free(memory);
    }
    return error;
}

void exs_memory_forget(void)
{
    exs_handles_forget(&registrations);
}
