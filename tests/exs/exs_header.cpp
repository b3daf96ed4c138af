// SPDX-License-Identifier: BSD-2-Clause
// The header in C++, in both spellings, without the names of drafts.
#define EXS_DISABLE_DEPRECATED
#include <sys/exs.h>
#include <exs.h>

#if defined(EXS_ACCESS_ALL) || defined(EXS_LOCAL_READ)
#error names of drafts
#endif

exs_qhandle_t exs_header_cpp(int fd)
{
    exs_event_t event = {};
    exs_qhandle_t queue = exs_qcreate(16);

    if (exs_mregister(&event, sizeof(event), EXS_MRF_SHARED) == EXS_MHANDLE_INVALID ||
        exs_fcntl(fd, EXS_F_SETFLOWCONTROLCREDITS, 7) < 0 ||
        exs_send(fd, &event, 1, EXS_BLOCK | EXS_UNSIGNALED, EXS_QHANDLE_INVALID, nullptr,
                 EXS_MHANDLE_UNREGISTERED) < 0)
        return EXS_QHANDLE_INVALID;
    return queue;
}
