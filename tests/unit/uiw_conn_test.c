/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks each cell of docs/connections.md for uiwarp: the roles of a connection startup. */
#include "uiw_conn_bed.h"

#include <criterion/criterion.h>
#include <event2/event.h>

static void check_cells(const struct uiw_conn_role *role, const struct cell *cells, size_t count)
{
    bool covered[UIW_CONN_STATES][UIW_ON_EVENTS] = {{false}};
    char name[64];
    struct bed bed;

    bed_open(&bed, role);
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &cells[i];

        (void)snprintf(name, sizeof(name), "state %d, event %d", cell->state, cell->event);
        check_context(name);
        covered[cell->state][cell->event] = true;
        bring(&bed, cell->state, cell->event);
        fire(&bed, cell->event);
        judge(&bed, cell);
    }
    for (int state = 0; state < UIW_CONN_STATES; state++) {
        for (int event = 0; event < UIW_ON_EVENTS; event++) {
            (void)snprintf(name, sizeof(name), "state %d, event %d", state, event);
            check_context(name);
            EXPECT_EQ(covered[state][event], uiw_conn_row(role, (enum uiw_conn_state)state,
                                                          (enum uiw_conn_event)event) != NULL);
        }
    }
    check_context(NULL);
    bed_close(&bed);
}

/* clang-format off */
#define CELL(state, event, next, report, fate) \
    {UIW_CONN_##state, UIW_ON_##event, UIW_CONN_##next, report, fate}
#define FAILURES(state, fate)                          \
    CELL(state, EXPIRED, OVER, TIMEOUT, fate),         \
    CELL(state, NO_MEMORY, OVER, RESOURCES, fate)
#define GIVEN_UP(state, fate)                          \
    CELL(state, CANCEL, OVER, QUIET, fate),            \
    CELL(state, CLOSE, OVER, QUIET, fate)
#define REQUEST_CELLS                                  \
    CELL(REQUEST, MOVED, REQUEST, QUIET, STAYS),       \
    CELL(REQUEST, SENT, WAIT_REPLY, QUIET, STAYS),     \
    CELL(REQUEST, LOST, OVER, OTHER, RESET),           \
    FAILURES(REQUEST, RESET), GIVEN_UP(REQUEST, ENDS)
#define REPLY_CELLS                                    \
    CELL(WAIT_REPLY, MOVED, READ_REPLY, QUIET, STAYS), \
    FAILURES(WAIT_REPLY, RESET), GIVEN_UP(WAIT_REPLY, ENDS), \
    CELL(READ_REPLY, MOVED, READ_REPLY, QUIET, STAYS), \
    CELL(READ_REPLY, DONE, OVER, UP, STAYS),           \
    CELL(READ_REPLY, REJECTED, OVER, REJECTED, ENDS),  \
    CELL(READ_REPLY, TERMINATE, OVER, BAD_PARMS, ENDS), \
    CELL(READ_REPLY, BAD, OVER, BAD_PARMS, RESET),     \
    CELL(READ_REPLY, LOST, OVER, BAD_PARMS, ENDS),     \
    FAILURES(READ_REPLY, RESET), GIVEN_UP(READ_REPLY, ENDS)
#define MESSAGE_CELLS(state)                           \
    CELL(state, MOVED, state, QUIET, STAYS),           \
    CELL(state, LOST, OVER, OTHER, OWNER),             \
    FAILURES(state, OWNER), GIVEN_UP(state, ENDS)
/* clang-format on */

Test(uiw_conn, connect)
{
    static const struct cell cells[] = {
        CELL(CONNECTING, MOVED, REQUEST, QUIET, STAYS),
        CELL(CONNECTING, LOST, OVER, OTHER, RESET),
        FAILURES(CONNECTING, RESET),
        GIVEN_UP(CONNECTING, RESET),
        CELL(REFUSED, EXPIRED, CONNECTING, QUIET, RESET),
        GIVEN_UP(REFUSED, RESET),
        REQUEST_CELLS,
        CELL(WAIT_REPLY, LOST, CONNECTING, QUIET, RESET),
        REPLY_CELLS,
    };

    check_cells(&uiw_connect_role, cells, sizeof(cells) / sizeof(cells[0]));
}

Test(uiw_conn, accept)
{
    static const struct cell cells[] = {
        CELL(WAIT_REQUEST, MOVED, READ_REQUEST, QUIET, STAYS),
        CELL(WAIT_REQUEST, LOST, OVER, QUIET, ENDS),
        CELL(WAIT_REQUEST, EXPIRED, OVER, QUIET, RESET),
        CELL(WAIT_REQUEST, NO_MEMORY, OVER, QUIET, RESET),
        CELL(WAIT_REQUEST, CLOSE, OVER, QUIET, RESET),
        CELL(READ_REQUEST, MOVED, READ_REQUEST, QUIET, STAYS),
        CELL(READ_REQUEST, DONE, ANNOUNCED, QUIET, STAYS),
        CELL(READ_REQUEST, REFUSE, OVER, QUIET, ENDS),
        CELL(READ_REQUEST, BAD, OVER, QUIET, RESET),
        CELL(READ_REQUEST, LOST, OVER, QUIET, ENDS),
        CELL(READ_REQUEST, EXPIRED, OVER, QUIET, RESET),
        CELL(READ_REQUEST, NO_MEMORY, OVER, QUIET, RESET),
        CELL(READ_REQUEST, CLOSE, OVER, QUIET, RESET),
        CELL(ANNOUNCED, EXPIRED, WATCHED, QUIET, STAYS),
        CELL(ANNOUNCED, ACCEPT, REPLY, QUIET, STAYS),
        CELL(ANNOUNCED, REJECT, OVER, QUIET, ENDS),
        GIVEN_UP(ANNOUNCED, RESET),
        CELL(WATCHED, LOST, OVER, QUIET, RESET),
        CELL(WATCHED, NO_MEMORY, OVER, QUIET, RESET),
        CELL(WATCHED, ACCEPT, REPLY, QUIET, STAYS),
        CELL(WATCHED, REJECT, OVER, QUIET, ENDS),
        GIVEN_UP(WATCHED, RESET),
        CELL(GONE, EXPIRED, GONE, QUIET, STAYS),
        CELL(GONE, ACCEPT, OVER, OTHER, RESET),
        GIVEN_UP(GONE, RESET),
        CELL(REPLY, MOVED, REPLY, QUIET, STAYS),
        CELL(REPLY, SENT, OVER, UP, STAYS),
        CELL(REPLY, LOST, OVER, OTHER, RESET),
        FAILURES(REPLY, RESET),
        GIVEN_UP(REPLY, ENDS),
    };

    check_cells(&uiw_accept_role, cells, sizeof(cells) / sizeof(cells[0]));
}

Test(uiw_conn, convert_as_initiator)
{
    static const struct cell cells[] = {
        MESSAGE_CELLS(MESSAGE),
        CELL(MESSAGE, SENT, NEXT_REQUEST, QUIET, STAYS),
        MESSAGE_CELLS(ONLY_MESSAGE),
        CELL(ONLY_MESSAGE, SENT, OVER, UP, STAYS),
        CELL(NEXT_REQUEST, MOVED, REQUEST, QUIET, STAYS),
        CELL(NEXT_REQUEST, LOST, OVER, OTHER, OWNER),
        FAILURES(NEXT_REQUEST, OWNER),
        GIVEN_UP(NEXT_REQUEST, ENDS),
        REQUEST_CELLS,
        CELL(WAIT_REPLY, LOST, OVER, OTHER, ENDS),
        REPLY_CELLS,
    };

    check_cells(&uiw_initiator_role, cells, sizeof(cells) / sizeof(cells[0]));
}

Test(uiw_conn, convert_as_responder)
{
    static const struct cell cells[] = {
        MESSAGE_CELLS(MESSAGE),
        CELL(MESSAGE, SENT, WAIT_REQUEST, QUIET, STAYS),
        MESSAGE_CELLS(ONLY_MESSAGE),
        CELL(ONLY_MESSAGE, SENT, OVER, UP, STAYS),
        CELL(WAIT_REQUEST, MOVED, READ_REQUEST, QUIET, STAYS),
        CELL(WAIT_REQUEST, LOST, OVER, OTHER, OWNER),
        FAILURES(WAIT_REQUEST, OWNER),
        GIVEN_UP(WAIT_REQUEST, ENDS),
        CELL(READ_REQUEST, MOVED, READ_REQUEST, QUIET, STAYS),
        CELL(READ_REQUEST, DONE, REPLY, QUIET, STAYS),
        CELL(READ_REQUEST, REFUSE, OVER, BAD_PARMS, ENDS),
        CELL(READ_REQUEST, BAD, OVER, BAD_PARMS, RESET),
        CELL(READ_REQUEST, LOST, OVER, BAD_PARMS, ENDS),
        FAILURES(READ_REQUEST, RESET),
        GIVEN_UP(READ_REQUEST, ENDS),
        CELL(REPLY, MOVED, REPLY, QUIET, STAYS),
        CELL(REPLY, SENT, OVER, UP, STAYS),
        CELL(REPLY, LOST, OVER, OTHER, RESET),
        FAILURES(REPLY, RESET),
        GIVEN_UP(REPLY, ENDS),
    };

    check_cells(&uiw_responder_role, cells, sizeof(cells) / sizeof(cells[0]));
}
