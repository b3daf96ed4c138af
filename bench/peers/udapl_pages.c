/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into dapltest, this begins memory of a page or more at a page, as it_perf does with its
 * buffers. dapltest's own begin anywhere in a page, as malloc has it, so they touch one page more,
 * and the kernel copies them in more pieces.
 */
#include <stdlib.h>

#define PAGE 4096u

/* The C library provides its own function under this name, too. */
void *__libc_malloc(size_t size);

void *malloc(size_t size)
{
    return size < PAGE ? __libc_malloc(size) : aligned_alloc(PAGE, size);
}
