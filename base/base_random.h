/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unpredictable numbers from the kernel (getrandom(2)). A thread fetches many by one system call
 * and keeps them. A child of fork(2) begins with none, so it never returns those of its parent.
 */
#ifndef ITAPI_BASE_RANDOM_H
#define ITAPI_BASE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns false, and leaves *number, when the kernel gives none. Any thread may call it. It blocks
 * only while the kernel boots.
 */
bool base_random32(uint32_t *number);

#endif
