/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options that do not go together. An option that would have no effect is refused: its user expects
 * another measurement.
 */
#include "perf_options.h"

#include <string.h>

/* Options by the letters of perf_options.c. */
#define OF_SERVER  "piO"
#define OF_COMPARE "T"
/* Options of the library's transport. */
#define OF_ITAPI "cClviHw"
/* Options of plain TCP. */
#define OF_TCP "gk"

/*
 * Returns the first given option among these letters, or the first one not among them; 0 if there
 * is none.
 */
static int first_given(const struct perf_options *options, const char *letters, bool among)
{
    for (int letter = 1; letter < PERF_LETTERS; letter++)
        if (options->given[letter] && (strchr(letters, letter) != NULL) == among)
            return letter;
    return 0;
}

static bool agree_with_role(const struct perf_options *options)
{
    int letter = 0;

    switch (options->role) {
    case ROLE_SERVER:
        letter = first_given(options, OF_SERVER, false);
        if (letter != 0)
            complain("--%s is for the client, which also sets it for the server",
                     perf_option_name(letter));
        break;
    case ROLE_COMPARE:
        letter = first_given(options, OF_COMPARE, false);
        if (letter != 0)
            complain("--%s is not for a comparison of files", perf_option_name(letter));
        break;
    case ROLE_CLIENT:
    case ROLE_LOOPBACK:
        letter = first_given(options, "OT", true);
        if (letter != 0)
            complain("--%s is for \"%s\"", perf_option_name(letter),
                     letter == 'O' ? "server" : "compare");
        break;
    }
    return letter == 0;
}

static bool agree_with_transport(const struct perf_options *options)
{
    int letter;

    if (options->all && options->given['i']) {
        complain("--transport all takes every Interface, --ia one");
        return false;
    }
    letter = options->all || options->reference || options->transport == PERF_TCP
                 ? 0
                 : first_given(options, OF_TCP, true);
    if (letter != 0) {
        complain("--%s is for plain TCP: --reference tcp or --transport tcp",
                 perf_option_name(letter));
        return false;
    }
    if (options->all || options->transport == PERF_ITAPI)
        return true;
    if (options->reference) {
        complain("--transport tcp is what --reference tcp would be compared with");
        return false;
    }
    letter = first_given(options, OF_ITAPI, true);
    if (letter != 0)
        complain("--%s is not for plain TCP", perf_option_name(letter));
    return letter == 0;
}

/* Returns the contradiction, or NULL. */
static const char *contradiction(const struct perf_options *options)
{
    if (options->given['s'] && options->given['S'])
        return "--size or --sizes, not both";
    if (options->iters > 0 && options->given['e'])
        return "a run has --iters messages or takes --seconds, not both";
    if (options->given['w'] && options->params.mode == PERF_POLL)
        return "--spin is for --mode wait";
    if (options->params.coalesce && options->params.measure == PERF_LAT && !options->matrix)
        return "--coalesce is for --measure bw or rate: of a ping-pong every request is reported";
    if (options->params.local && options->params.measure == PERF_LAT && !options->matrix)
        return "--local is for --measure bw or rate: a ping-pong ends with the peer's answer";
    if (options->params.local && (options->all || options->reference))
        return "--local is not for plain TCP, which completes no requests";
    if (strlen(options->ia) >= PERF_NAME_SIZE)
        return "no Interface has a name as long as that of --ia";
    if (options->given['p'] && options->role == ROLE_CLIENT &&
        strspn(options->port, "0") == strlen(options->port))
        return "a server has a --port of its own, not 0";
    return NULL;
}

bool perf_agree(const struct perf_options *options)
{
    const char *reason;

    if (!agree_with_role(options) || !agree_with_transport(options))
        return false;
    reason = contradiction(options);
    if (reason != NULL)
        complain("%s", reason);
    return reason == NULL;
}
