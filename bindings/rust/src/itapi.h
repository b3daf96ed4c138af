/* SPDX-License-Identifier: BSD-2-Clause */
/* All that bindgen reads. */
#include <itx_api.h>
