/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folder with the files that the kernel has for devices in /sys/class/infiniband (here in
 * class/infiniband) and /dev/infiniband (in dev/infiniband), for the devices of a libibverbs.
 */
#ifndef ITAPI_ULP_OFA_RUN_OFA_CLASS_DIR_H
#define ITAPI_ULP_OFA_RUN_OFA_CLASS_DIR_H

#include <stdbool.h>

/*
 * Creates and fills the folder. verbs: path of the library. On failure writes a line to stderr and
 * returns false.
 */
bool ofa_class_dir_fill(const char *folder, const char *verbs);

#endif /* ITAPI_ULP_OFA_RUN_OFA_CLASS_DIR_H */
