/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folder with what the kernel shows of devices below /sys/class/infiniband (in class/infiniband)
 * and /dev/infiniband (in dev/infiniband), for the devices of a libibverbs.
 */
#ifndef ITAPI_ULP_OFA_RUN_OFA_CLASS_DIR_H
#define ITAPI_ULP_OFA_RUN_OFA_CLASS_DIR_H

#include <stdbool.h>

/*
 * Makes the folder, and fills it. "verbs" is the path of the library. False, with a line on stderr.
 */
bool ofa_class_dir_fill(const char *folder, const char *verbs);

#endif /* ITAPI_ULP_OFA_RUN_OFA_CLASS_DIR_H */
