/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands. */
#ifndef PEERS_COMMAND_H
#define PEERS_COMMAND_H

#include <stdbool.h>

/* Runs the command that is on the line, which it takes apart. False: it was the last. */
bool peer_command_run(char *line);

#endif
