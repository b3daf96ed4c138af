/* SPDX-License-Identifier: BSD-2-Clause */
/* The roles of a connection startup of uiwarp. */
#include "machines/machine_page.h"
#include "vp/uiwarp/connect/uiw_conn_private.h"

static const struct machine_word states[UIW_CONN_STATES + 1] = {
    [UIW_CONN_OVER] = {"over", "the EP is CONNECTED, or the attempt has failed"},
    [UIW_CONN_CONNECTING] = {"connecting", "TCP connects; nothing of the Request is out"},
    [UIW_CONN_REFUSED] = {"refused", "TCP was refused, and tries again soon: `patience_us`"},
    [UIW_CONN_MESSAGE] = {"message", "the last streaming message goes out"},
    [UIW_CONN_ONLY_MESSAGE] = {"only message", "the same, with `IT_SC_NO_REQ_REP`"},
    [UIW_CONN_NEXT_REQUEST] = {"next request", "nothing of the Request is out"},
    [UIW_CONN_REQUEST] = {"request", "some of the Request is out"},
    [UIW_CONN_WAIT_REPLY] = {"wait reply", "the Request is out, nothing of the Reply is here"},
    [UIW_CONN_READ_REPLY] = {"read reply", "some of the Reply is here"},
    [UIW_CONN_WAIT_REQUEST] = {"wait request", "nothing of the Request is here"},
    [UIW_CONN_READ_REQUEST] = {"read request", "some of the Request is here"},
    [UIW_CONN_ANNOUNCED] = {"announced", "the program decides; nobody watches the peer"},
    [UIW_CONN_WATCHED] = {"watched", "the program decides; the peer has to be quiet"},
    [UIW_CONN_GONE] = {"gone", "the peer has left; a call has the request in hand"},
    [UIW_CONN_REPLY] = {"reply", "the Reply goes out"},
    [UIW_CONN_SAME] = {"the same", NULL},
};

static const struct machine_word events[UIW_ON_EVENTS] = {
    [UIW_ON_MOVED] = {"moved", "octets have gone out or come in"},
    [UIW_ON_SENT] = {"sent", "all octets are out"},
    [UIW_ON_DONE] = {"done", "the peer's frame is complete and acceptable"},
    [UIW_ON_REJECTED] = {"rejected", "the Reply has the reject bit"},
    [UIW_ON_REFUSE] = {"refuse", "the Request cannot be taken, and its sender learns it"},
    [UIW_ON_TERMINATE] = {"terminate", "the Reply cannot be taken; its sender is connected"},
    [UIW_ON_BAD] = {"bad", "the octets are no MPA frame"},
    [UIW_ON_LOST] = {"lost", "the peer has closed or spoken out of turn, or the stream failed"},
    [UIW_ON_EXPIRED] = {"expired", "the timer"},
    [UIW_ON_NO_MEMORY] = {"no memory", "for a timer, or to wait for the socket"},
    [UIW_ON_ACCEPT] = {"accept", "`it_ep_accept`"},
    [UIW_ON_REJECT] = {"reject", "`it_reject`"},
    [UIW_ON_CANCEL] = {"cancel", "the EP is disconnected, reset or freed"},
    [UIW_ON_CLOSE] = {"close", "the IA or listen point is freed; a newer stream takes the place"},
};

static void print_role(const char *title, const char *text, const struct uiw_conn_role *role)
{
    machine_table(title, text);
    for (size_t i = 0; i < role->count; i++) {
        const struct uiw_conn_row *from = &role->rows[i];
        const struct machine_row row = {
            .states = from->states,
            .events = from->events,
            .does = from->act ? from->act->text : NULL,
            .next = states[from->next].name,
            .otherwise = from->otherwise == from->next ? NULL : states[from->otherwise].name,
        };

        machine_row(&row, states, events);
    }
}

int main(void)
{
    machine_section("uiwarp");
    machine_words("state", states, UIW_CONN_STATES);
    machine_words("event", events, UIW_ON_EVENTS);
    print_role("Connect", "`it_ep_connect`: begins in connecting.", &uiw_connect_role);
    print_role("Accept", "A stream of a listen point: begins in wait request.", &uiw_accept_role);
    print_role("Convert as Initiator",
               "The Initiator of `it_socket_convert`: begins in message or only message.",
               &uiw_initiator_role);
    print_role("Convert as Responder",
               "The Responder of `it_socket_convert`: begins in message or only message.",
               &uiw_responder_role);
    return 0;
}
