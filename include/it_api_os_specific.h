/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_api_os_specific.h - the types and values of IT-API that depend on the platform. Programs
 * include it_api.h, which includes this file.
 */
#ifndef ITAPI_INCLUDE_IT_API_OS_SPECIFIC_H
#define ITAPI_INCLUDE_IT_API_OS_SPECIFIC_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bit-fields of types other than int need the compiler's consent in strict C11. */
#ifdef __GNUC__
#define ITAPI_BITS __extension__
#else
#define ITAPI_BITS
#endif

/*
 * Byte count. A program that defines IT_32BIT gets a 32-bit type here; it then needs a library
 * that was built the same way.
 */
#ifdef IT_32BIT
typedef uint32_t it_length_t;
#else
typedef uint64_t it_length_t;
#endif

/* I/O (bus) address, for privileged programs only. Opaque. */
typedef struct it_io_addr_s *it_io_addr_t;

/* Read depths a program may use when it has no better idea; the second is a historic spelling. */
#define IT_RDMA_INITIATOR_DEPTH    32
#define IT_RDMA_RESPONDER_RESOUCES 16

#ifdef __cplusplus
}
#endif

#endif /* ITAPI_INCLUDE_IT_API_OS_SPECIFIC_H */
