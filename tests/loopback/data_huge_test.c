/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The longest possible message, 2^32 - 1 octets, and one slightly longer than 2^31. The memory on
 * both sides maps one small file many times, so the test needs address space, not memory.
 */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/it_fixture.h"
#include "support/test_row.h"

#define CHUNK   (16u << 20)
#define CHUNKS  256u
#define LONGEST 0xffffffffu
#define HALF    0x80000001u

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Maps CHUNK octets of memory CHUNKS times in a row. */
static unsigned char *repeated(void)
{
    int fd = memfd_create("huge", MFD_CLOEXEC);
    unsigned char *start;

    CHECK(fd >= 0 && ftruncate(fd, CHUNK) == 0);
    start = mmap(NULL, (size_t)CHUNK * CHUNKS, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(start != MAP_FAILED);
    for (size_t i = 0; i < CHUNKS; i++) {
        void *at =
            mmap(start + i * CHUNK, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);

        CHECK(at == start + i * CHUNK);
    }
    (void)close(fd);
    return start;
}

static struct {
    struct fx_pair pair;
    struct fx_buf a;
    struct fx_buf b;
} bed;

static void bed_open(void)
{
    it_ep_attributes_t attr = fx_ep_attr();
    struct itx_mpa_params mpa = {.size = sizeof(mpa),
                                 .revision = 2,
                                 .crc = IT_FALSE,
                                 .peer_to_peer = IT_TRUE,
                                 .rtr_types = ITX_RTR_READ,
                                 .request_markers = IT_FALSE};
    struct fx_pair_setup setup = {.a_attr = &attr, .b_attr = &attr, .a_mpa = &mpa, .b_mpa = &mpa};
    struct fx_buf *bufs[2] = {&bed.a, &bed.b};

    memset(&bed, 0, sizeof(bed));
    attr.max_dto_payload_size = LONGEST;
    fx_pair_open_as(&bed.pair, &setup);
    for (unsigned i = 0; i < 2; i++) {
        bufs[i]->size = (size_t)CHUNK * CHUNKS;
        bufs[i]->data = repeated();
        CHECK_OK(it_lmr_create21(i == 0 ? bed.pair.a.pz : bed.pair.b.pz, bufs[i]->data, NULL,
                                 bufs[i]->size, IT_ADDR_MODE_ABSOLUTE, FX_PRIVS_ALL,
                                 IT_LMR_FLAG_NONE, 0, &bufs[i]->lmr, &bufs[i]->key));
    }
    fx_fill(bed.a.data, CHUNK, 1);
}

static void bed_close(void)
{
    CHECK_OK(it_lmr_free(bed.a.lmr));
    CHECK_OK(it_lmr_free(bed.b.lmr));
    (void)munmap(bed.a.data, bed.a.size);
    (void)munmap(bed.b.data, bed.b.size);
    fx_pair_close(&bed.pair);
}

/* Checks the memory once: each octet of it is in several places of the message. */
static void arrived(void)
{
    fx_check_same(bed.a.data, bed.b.data, CHUNK);
}

static void patient(it_evd_handle_t evd, it_event_type_t number, size_t length)
{
    it_event_t event;

    CHECK_OK(it_evd_wait(evd, 100 * 1000000ull, &event, NULL));
    CHECK_EQ(number, event.event_number);
    CHECK_EQ(IT_DTO_SUCCESS, event.dto_cmpl.dto_status);
    CHECK_EQ(length, event.dto_cmpl.transferred_length);
}

static void run(bool send)
{
    if (SANITIZED)
        return;
    bed_open();
    if (send) {
        fx_recv(bed.pair.b_ep, &bed.b, 0, LONGEST, 1);
        fx_send(bed.pair.a_ep, &bed.a, 0, LONGEST, 2, FX_SIGNAL);
        patient(bed.pair.b.recv_evd, IT_DTO_RC_RECV_CMPL_EVENT, LONGEST);
        patient(bed.pair.a.request_evd, IT_DTO_SEND_CMPL_EVENT, LONGEST);
    } else {
        fx_read(bed.pair.b_ep, &bed.b, 0, HALF, &bed.a, 0, 2, FX_SIGNAL);
        patient(bed.pair.b.request_evd, IT_DTO_RDMA_READ_CMPL_EVENT, HALF);
    }
    arrived();
    bed_close();
}

TEST_ROW(data_huge, send, run, true);
TEST_ROW(data_huge, read, run, false);
