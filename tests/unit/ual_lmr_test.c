/* SPDX-License-Identifier: BSD-2-Clause */
/* Local memory regions, and the check that the memory is there. */
#include "ual/memory/ual_memory.h"
#include "unit/fixture_world.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

TestSuite(ual_lmr, .init = world_init, .fini = world_fini);

static it_status_t create20(void *addr, it_length_t length, int mode, int privs, int flags)
{
    it_lmr_handle_t lmr = NULL;
    it_status_t status = it_lmr_create20(world.pz, addr, length, (it_addr_mode_t)mode,
                                         (it_mem_priv_t)privs, (it_lmr_flag_t)flags, 0, &lmr, NULL);

    cr_assert_eq(status == IT_SUCCESS, lmr != NULL);
    if (lmr)
        cr_assert_eq(it_lmr_free(lmr), IT_SUCCESS);
    return status;
}

/* Stands in front of libc's: with old_kernel nothing answers questions about mappings. */
static bool old_kernel;
static unsigned questions;

int ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    void *argument;

    va_start(arguments, request);
    argument = va_arg(arguments, void *);
    va_end(arguments);
    questions++;
    errno = ENOTTY;
    return old_kernel ? -1 : (int)syscall(SYS_ioctl, fd, request, argument);
}

static it_status_t create(void *addr, it_length_t length, int privs)
{
    return create20(addr, length, IT_ADDR_MODE_ABSOLUTE, privs, 0);
}

Test(ual_lmr, create_needs_a_pz_and_a_place_for_the_handle)
{
    it_lmr_handle_t lmr;
    it_rmr_context_t key = 0;

    cr_assert_eq(
        it_lmr_create10(NULL, world.memory, 1, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, &key),
        IT_ERR_INVALID_PZ);
    cr_assert_eq(it_lmr_create10((it_pz_handle_t)(void *)world.ia, world.memory, 1, IT_PRIV_LOCAL,
                                 IT_LMR_FLAG_NONE, 0, &lmr, &key),
                 IT_ERR_INVALID_PZ);
    cr_assert_eq(
        it_lmr_create10(world.pz, world.memory, 1, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, NULL, &key),
        IT_ERR_FAULT);
    cr_assert_eq(key, 0);
    cr_assert_eq(
        it_lmr_create10(world.pz, world.memory, 1, IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, &key),
        IT_SUCCESS);
    cr_assert_eq(key, FAKE_KEY);
}

Test(ual_lmr, create_checks_values)
{
    void *memory = world.memory;

    cr_assert_eq(create20(memory, 1, 0, IT_PRIV_LOCAL, 0x10), IT_ERR_INVALID_FLAGS);
    cr_assert_eq(
        create20(memory, 1, 0, IT_PRIV_LOCAL, IT_LMR_FLAG_SHARED | IT_LMR_FLAG_NON_SHAREABLE),
        IT_ERR_INVALID_FLAGS);
    cr_assert_eq(create20(memory, 1, 0, IT_PRIV_LOCAL, IT_LMR_FLAG_SHARED), IT_SUCCESS);
    cr_assert_eq(create20(memory, 1, 0, IT_PRIV_LOCAL, IT_LMR_FLAG_NONCOHERENT), IT_SUCCESS);
    cr_assert_eq(create(memory, 1, 0x20), IT_ERR_INVALID_PRIVS);
    cr_assert_eq(create(memory, 1, IT_PRIV_REMOTE_WRITE), IT_ERR_INVALID_PRIVS);
    cr_assert_eq(create(memory, 1, IT_PRIV_REMOTE_WRITE | IT_PRIV_LOCAL_READ),
                 IT_ERR_INVALID_PRIVS);
    cr_assert_eq(create(memory, 1, IT_PRIV_ALL), IT_ERR_INVALID_PRIVS, "no atomics");
    cr_assert_eq(create(memory, 1, IT_PRIV_REMOTE_READ), IT_SUCCESS);
    cr_assert_eq(create(memory, 1, IT_PRIV_NONE), IT_SUCCESS);
    cr_assert_eq(create(memory, 1, IT_PRIV_LOCAL | IT_PRIV_REMOTE), IT_SUCCESS);
    cr_assert_eq(create(memory, 0, IT_PRIV_LOCAL), IT_ERR_INVALID_LENGTH);
    cr_assert_eq(create(memory, (UINT64_C(1) << 40) + 1, IT_PRIV_LOCAL),
                 IT_ERR_RESOURCE_LMR_LENGTH);
    cr_assert_eq(create20(memory, 1, 2, IT_PRIV_LOCAL, 0), IT_ERR_INVALID_ADDR_MODE);
    cr_assert_eq(create20(memory, 1, IT_ADDR_MODE_RELATIVE, IT_PRIV_LOCAL, 0),
                 IT_ERR_INVALID_ADDR_MODE);
    fake.attributes.relative_addressing = IT_TRUE;
    fake.attributes.atomics = IT_TRUE;
    cr_assert_eq(create20(memory, 1, IT_ADDR_MODE_RELATIVE, IT_PRIV_ALL, 0), IT_SUCCESS);
    fake.answer = IT_ERR_RESOURCES;
    cr_assert_eq(create(memory, 1, IT_PRIV_LOCAL), IT_ERR_RESOURCES);
    atomic_store(&((struct ual_ia *)(void *)world.ia)->evd.failed, true);
    cr_assert_eq(create(memory, 1, IT_PRIV_LOCAL), IT_ERR_IA_CATASTROPHE);
}

Test(ual_lmr, create21_refuses_lists_and_no_address)
{
    it_io_addr_t elements[1] = {NULL};
    it_iobl_t iobl = {.iobl_type = IT_IOBL_PAGE_LIST, .list.ce_list.list_elt = elements};
    it_lmr_handle_t lmr;

    cr_assert_eq(it_lmr_create21(world.pz, world.memory, &iobl, 1, IT_ADDR_MODE_ABSOLUTE,
                                 IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL),
                 IT_ERR_INVALID_IOBL, "no elements");
    iobl.num_elts = 1;
    cr_assert_eq(it_lmr_create21(world.pz, world.memory, &iobl, 1, IT_ADDR_MODE_ABSOLUTE,
                                 IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL),
                 IT_ERR_PRIV_OPS_UNAVAILABLE);
    iobl.iobl_type = (it_iobl_type_t)8;
    cr_assert_eq(it_lmr_create21(world.pz, world.memory, &iobl, 1, IT_ADDR_MODE_ABSOLUTE,
                                 IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL),
                 IT_ERR_INVALID_IOBL, "kind");
    iobl.iobl_type = IT_IOBL_VE_PAGE_LIST;
    iobl.list.ve_list.list_elt = NULL;
    cr_assert_eq(it_lmr_create21(world.pz, world.memory, &iobl, 1, IT_ADDR_MODE_ABSOLUTE,
                                 IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL),
                 IT_ERR_INVALID_IOBL, "no list");
    cr_assert_eq(it_lmr_create21(world.pz, IT_NO_ADDR, NULL, 1, IT_ADDR_MODE_ABSOLUTE,
                                 IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL),
                 IT_ERR_ADDRESS);
    cr_assert_eq(create(NULL, 1, IT_PRIV_LOCAL), IT_ERR_FAULT, "2.0 has no such status");
    cr_assert_eq(it_lmr_create21(world.pz, world.memory, NULL, 1, IT_ADDR_MODE_ABSOLUTE,
                                 IT_PRIV_LOCAL, IT_LMR_FLAG_NONE, 0, &lmr, NULL),
                 IT_SUCCESS);
}

Test(ual_lmr, create_looks_at_the_pages)
{
    size_t page = 4096;
    unsigned char *pages =
        mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(pages, MAP_FAILED);
    cr_assert_eq(mprotect(pages + page, page, PROT_READ), 0);
    cr_assert_eq(mprotect(pages + 2 * page, page, PROT_NONE), 0);
    cr_assert_eq(munmap(pages + 3 * page, page), 0);
    cr_assert_eq(create(pages, page, IT_PRIV_LOCAL), IT_SUCCESS);
    cr_assert_eq(create(pages, page + 1, IT_PRIV_LOCAL), IT_ERR_ACCESS);
    cr_assert_eq(create(pages, 2 * page, IT_PRIV_LOCAL_READ), IT_SUCCESS);
    cr_assert_eq(create(pages + page, page, IT_PRIV_LOCAL_WRITE), IT_ERR_ACCESS);
    cr_assert_eq(create(pages, 3 * page, IT_PRIV_REMOTE_READ), IT_ERR_ACCESS);
    cr_assert_eq(create(pages, 3 * page, IT_PRIV_NONE), IT_SUCCESS);
    cr_assert_eq(create(pages, 3 * page + 1, IT_PRIV_NONE), IT_ERR_FAULT);
    cr_assert_eq(create(pages, 3 * page + 1, IT_PRIV_LOCAL), IT_ERR_FAULT, "a gap comes first");
    cr_assert_eq(create(pages + 3 * page, 1, IT_PRIV_LOCAL), IT_ERR_FAULT);
    cr_assert_eq(munmap(pages, 3 * page), 0);
}

/* Three pages: one to read and write, one to read, none. Both ways give the same answers. */
Test(ual_lmr, old_kernels_and_new_ones_find_the_same_mappings)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t start = (uintptr_t)memory;

    cr_assert_neq(memory, MAP_FAILED);
    cr_assert_eq(mprotect(memory + page, page, PROT_READ), 0);
    cr_assert_eq(munmap(memory + 2 * page, page), 0);
    for (int old = 0; old < 2; old++) {
        old_kernel = old != 0;
        cr_assert_eq(ual_mem_range_check(start, page, true, true), IT_SUCCESS);
        cr_assert_eq(ual_mem_range_check(start, 2 * page, true, false), IT_SUCCESS);
        cr_assert_eq(ual_mem_range_check(start, page + 1, true, true), IT_ERR_ACCESS);
        cr_assert_eq(ual_mem_range_check(start + page, page, false, true), IT_ERR_ACCESS);
        cr_assert_eq(ual_mem_range_check(start, 2 * page + 1, true, false), IT_ERR_FAULT);
        cr_assert_eq(ual_mem_range_check(start + 2 * page, 1, false, false), IT_ERR_FAULT);
        cr_assert_eq(ual_mem_range_check(start + 2 * page - 1, 1, true, false), IT_SUCCESS);
    }
    cr_assert_gt(questions, 7);
    cr_assert_eq(munmap(memory, 2 * page), 0);
}

Test(ual_lmr, a_range_may_not_wrap_and_may_be_huge)
{
    uint64_t length = UINT64_C(1) << 36;
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    cr_assert_eq(ual_mem_range_check(UINTPTR_MAX - 10, 12, false, false), IT_ERR_FAULT);
    cr_assert_eq(ual_mem_range_check(UINTPTR_MAX, 1, true, false), IT_ERR_FAULT);
    cr_assert_eq(ual_mem_range_check(0, UINT64_MAX, false, false), IT_ERR_FAULT);
    cr_assert_eq(ual_mem_range_check(0, 0, true, true), IT_SUCCESS);
    if (memory == MAP_FAILED)
        cr_skip_test("no address space for 64 GiB");
    cr_assert_eq(create(memory, length, IT_PRIV_LOCAL), IT_SUCCESS);
    cr_assert_eq(munmap(memory, length), 0);
}

Test(ual_lmr, stack_and_static_memory_can_be_registered)
{
    unsigned char local[100000];

    cr_assert_eq(create(local, sizeof(local), IT_PRIV_LOCAL), IT_SUCCESS);
    cr_assert_eq(create(&world, sizeof(world), IT_PRIV_LOCAL), IT_SUCCESS);
    cr_assert_eq(create((void *)(uintptr_t) "text", 5, IT_PRIV_LOCAL_READ), IT_SUCCESS);
    cr_assert_eq(create((void *)(uintptr_t) "text", 5, IT_PRIV_LOCAL), IT_ERR_ACCESS);
}

Test(ual_lmr, query_tells_what_was_given)
{
    it_lmr_param_t params;
    it_lmr_handle_t lmr;

    cr_assert_eq(it_lmr_create10(world.pz, world.memory + 3, 77, IT_PRIV_LOCAL_READ,
                                 IT_LMR_FLAG_SHARED, 9, &lmr, NULL),
                 IT_SUCCESS);
    cr_assert_eq(it_lmr_query(lmr, IT_LMR_PARAM_ALL, &params), IT_SUCCESS);
    cr_assert_eq(params.ia, world.ia);
    cr_assert_eq(params.pz, world.pz);
    cr_assert_eq(params.addr, world.memory + 3);
    cr_assert_eq(params.length, 77);
    cr_assert_eq(params.privs, IT_PRIV_LOCAL_READ);
    cr_assert_eq(params.flags, IT_LMR_FLAG_SHARED);
    cr_assert_eq(params.shared_id, 9);
    cr_assert_eq(params.rmr_context, FAKE_KEY);
    cr_assert_eq(params.actual_addr, world.memory + 3);
    cr_assert_eq(params.actual_length, 77);
    cr_assert_eq(params.addr_mode, IT_ADDR_MODE_ABSOLUTE);
    cr_assert_eq(params.linked, IT_TRUE);
    cr_assert_eq(params.iobl_num_elts, 0);
}

Test(ual_lmr, query_writes_only_what_is_asked_for)
{
    it_lmr_param_t untouched, params;

    memset(&untouched, 0xa5, sizeof(untouched));
    params = untouched;
    cr_assert_eq(it_lmr_query(NULL, IT_LMR_PARAM_ALL, &params), IT_ERR_INVALID_LMR);
    cr_assert_eq(it_lmr_query(world.lmr, IT_LMR_PARAM_ALL, NULL), IT_ERR_FAULT);
    cr_assert_eq(it_lmr_query(world.lmr, (it_lmr_param_mask_t)0x8000, &params),
                 IT_ERR_INVALID_MASK);
    cr_assert_eq(it_lmr_query(world.lmr, (it_lmr_param_mask_t)0, &params), IT_SUCCESS);
    cr_assert_eq(memcmp(&params, &untouched, sizeof(params)), 0);
    for (unsigned bit = IT_LMR_PARAM_IA; bit <= IT_LMR_PARAM_IOBL_TYPE; bit <<= 1) {
        params = untouched;
        cr_assert_eq(it_lmr_query(world.lmr, (it_lmr_param_mask_t)bit, &params), IT_SUCCESS);
        cr_assert_neq(memcmp(&params, &untouched, sizeof(params)), 0, "bit %x", bit);
    }
}

Test(ual_lmr, free)
{
    struct base_object *object = (struct base_object *)(void *)world.lmr;

    cr_assert_eq(it_lmr_free(NULL), IT_ERR_INVALID_LMR);
    cr_assert_eq(it_lmr_free((it_lmr_handle_t)(void *)world.pz), IT_ERR_INVALID_LMR);
    cr_assert(base_object_hold(object), "as an RMR does");
    cr_assert_eq(it_lmr_free(world.lmr), IT_ERR_LMR_BUSY);
    base_object_release(object);
    cr_assert_eq(it_lmr_free(world.lmr), IT_SUCCESS);
    cr_assert_eq(it_lmr_free(world.lmr), IT_ERR_INVALID_LMR, "a stale handle");
    cr_assert_eq(fake.calls.lmr_destroy, 1);
}
