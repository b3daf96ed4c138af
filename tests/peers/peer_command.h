/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands. */
#ifndef PEERS_COMMAND_H
#define PEERS_COMMAND_H

#include <stdbool.h>

/* Runs the command in the line, which it modifies. Returns false if it was the last one. */
bool peer_command_run(char *line);

#endif
