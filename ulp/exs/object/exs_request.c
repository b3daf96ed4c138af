/* SPDX-License-Identifier: BSD-2-Clause */
#include "object/exs_request.h"

void exs_requests_put(struct exs_requests *list, struct exs_request *request)
{
    request->next = NULL;
    if (list->last)
        list->last->next = request;
    else
        list->first = request;
    list->last = request;
}

struct exs_request *exs_requests_take(struct exs_requests *list)
{
    struct exs_request *request = list->first;

    if (request)
        exs_requests_remove(list, request);
    return request;
}

void exs_requests_insert(struct exs_requests *list, struct exs_request *before,
                         struct exs_request *request)
{
    if (before == list->last) {
        exs_requests_put(list, request);
        return;
    }
    request->next = before ? before->next : list->first;
    if (before)
        before->next = request;
    else
        list->first = request;
}

void exs_requests_remove(struct exs_requests *list, struct exs_request *request)
{
    struct exs_request *before = NULL;

    for (struct exs_request *at = list->first; at != request; at = at->next)
        before = at;
    if (before)
        before->next = request->next;
    else
        list->first = request->next;
    if (list->last == request)
        list->last = before;
}

void exs_request_cancel(struct exs_request *request, int error)
{
    request->cancelled = true;
    request->error = error;
}
