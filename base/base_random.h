/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random numbers of the kernel (getrandom(2)) that nobody can foretell. A thread fetches many with
 * one system call and keeps them for itself; a child of fork(2) begins with none, so that it never
 * hands out those of its parent.
 */
#ifndef ITAPI_BASE_RANDOM_H
#define ITAPI_BASE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

/*
 * False, and *number as before: the kernel gives none. Any thread; does not wait, but for a kernel
 * that has just booted.
 */
bool base_random32(uint32_t *number);

#endif
