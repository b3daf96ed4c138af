/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the API's values: each enumerator has one of its own, other numbers have none. */
#include "itx_api.h"

#include <criterion/criterion.h>

#include <stdbool.h>
#include <string.h>

static bool is_name(const char *text)
{
    return strncmp(text, "IT_", 3) == 0;
}

/* The numbers of these enumerators have no gap. */
#define EACH_IS_NAMED(type, string, last)                                                          \
    do {                                                                                           \
        for (unsigned i = 0; i <= (unsigned)(last); i++) {                                         \
            cr_assert(is_name(string((type)i)), #type " %u", i);                                   \
            for (unsigned j = 0; j < i; j++)                                                       \
                cr_assert_neq(strcmp(string((type)i), string((type)j)), 0);                        \
        }                                                                                          \
        cr_assert_str_eq(string(last), #last);                                                     \
        cr_assert_str_eq(string((type)((last) + 1)), "unknown " #type);                            \
    } while (0)

Test(base_strings, statuses)
{
    EACH_IS_NAMED(it_status_t, itx_status_string, IT_ERR_WAITER_LIMIT);
}

Test(base_strings, outcomes)
{
    EACH_IS_NAMED(it_dto_status_t, itx_dto_status_string, IT_DTO_ERR_LOCAL_MM_OPERATION);
    EACH_IS_NAMED(it_conn_reject_code_t, itx_reject_string, IT_CN_REJ_BAD_CONN_PARMS);
}

Test(base_strings, states)
{
    EACH_IS_NAMED(it_ep_state_rc_t, itx_ep_state_string, IT_EP_STATE_PASSIVE_WAIT_RDMA_TRANS_REQ);
}

#define EVENTS 52u /* numbers in it_event_type_t; some have a second name */

Test(base_strings, events)
{
    unsigned named = 0;

    for (unsigned number = 0; number <= IT_AEVD_NOTIFICATION_EVENT; number++)
        named += is_name(itx_event_string((it_event_type_t)number));
    cr_assert_eq(named, EVENTS);
    cr_assert_str_eq(itx_event_string(IT_CM_MSG_CONN_ESTABLISHED_EVENT),
                     "IT_CM_MSG_CONN_ESTABLISHED_EVENT");
    cr_assert_str_eq(itx_event_string((it_event_type_t)(IT_AEVD_NOTIFICATION_EVENT + 1)),
                     "unknown it_event_type_t");
}
