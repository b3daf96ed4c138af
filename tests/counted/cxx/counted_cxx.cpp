/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What counted_cxx.sh counts the instructions of: each call of the data path as a program in C makes
 * it and looks at its status (by_c_NAME), and by itapi.hpp (by_cxx_NAME). The calls themselves are
 * stand-ins: they are the same to both.
 */
#include <itapi.hpp>

#include <cstdlib>

namespace
{
struct objects {
    itapi::endpoint ep;
    const itapi::events &events;
    it_lmr_triplet_t segments[2];
    it_event_t room[4];
};

[[gnu::noinline, gnu::cold]] void failed()
{
    std::abort();
}

inline void look_at(it_status_t status)
{
    if (status != IT_SUCCESS)
        failed();
}

inline bool look_at_dequeue(it_status_t status)
{
    if (status == IT_ERR_QUEUE_EMPTY)
        return false;
    look_at(status);
    return true;
}
} // namespace

#define BOTH(name, c, cxx)                                                                         \
    extern "C" [[gnu::noinline]] void by_c_##name(objects &o)                                      \
    {                                                                                              \
        c;                                                                                         \
    }                                                                                              \
    extern "C" [[gnu::noinline]] void by_cxx_##name(objects &o)                                    \
    {                                                                                              \
        cxx;                                                                                       \
    }

BOTH(recv, look_at(::it_post_recv(o.ep.get(), o.segments, 2, 7, itapi::told)),
     o.ep.post_recv(o.segments, 7))
BOTH(send, look_at(::it_post_send(o.ep.get(), o.segments, 1, 7, itapi::told)),
     o.ep.post_send(o.segments[0], 7))
BOTH(write, look_at(::it_post_rdma_write(o.ep.get(), o.segments, 2, 7, itapi::told, 4096, 5)),
     o.ep.post_rdma_write(o.segments, 4096, 5, 7))
BOTH(read, look_at(::it_post_rdma_read(o.ep.get(), o.segments, 2, 7, itapi::told, 4096, 5)),
     o.ep.post_rdma_read(o.segments, 4096, 5, 7))
BOTH(fetch_add,
     look_at(::it_post_atomic(o.ep.get(), IT_FETCH_AND_ADD, 1, 0, o.segments, 7, itapi::told, 4096,
                              5)),
     o.ep.post_fetch_add(o.segments[0], 1, 4096, 5, 7))
BOTH(dequeue,
     if (look_at_dequeue(::it_evd_dequeue(o.events.get(), o.room))) o.segments[0].length = 1,
     if (o.events.dequeue(o.room[0])) o.segments[0].length = 1)
BOTH(dequeue_n, size_t count = 0;
     if (look_at_dequeue(::itx_evd_dequeue_n(o.events.get(), 4, o.room, &count))) o.segments[0]
         .length = count,
     o.segments[0].length = o.events.dequeue(o.room).size())

int main(int argc, char **argv)
{
    alignas(itapi::events) static unsigned char no_events[sizeof(itapi::events)];
    static objects o{{}, reinterpret_cast<const itapi::events &>(no_events), {}, {}};

    for (int times = argc == 2 ? std::atoi(argv[1]) : 1; times > 0; times--) {
        by_c_recv(o), by_c_send(o), by_c_write(o), by_c_read(o), by_c_fetch_add(o);
        by_c_dequeue(o), by_c_dequeue_n(o);
        by_cxx_recv(o), by_cxx_send(o), by_cxx_write(o), by_cxx_read(o), by_cxx_fetch_add(o);
        by_cxx_dequeue(o), by_cxx_dequeue_n(o);
    }
    return 0;
}
