/* SPDX-License-Identifier: BSD-2-Clause */
/* model_run.h - runs models, then weakens one operation at a time. */
#ifndef ITAPI_TESTS_MODELS_MODEL_RUN_H
#define ITAPI_TESTS_MODELS_MODEL_RUN_H

struct model;

/*
 * Returns 0 if no model finds an error, if all but `unneeded` operations that are weakened to
 * relaxed make one find an error, and if exactly `total` do so that are taken out of the single
 * total order.
 */
int model_run(const struct model *models, unsigned count, unsigned total, unsigned unneeded);

#endif
