/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * itapi.hpp - IT-API for C++17: handles that own their objects, spans of memory, and an exception
 * in place of a status. Header only. Each member function is one call of it_api.h or itx_api.h,
 * whose manual page holds; get() gives the handle for all other calls.
 *
 * Nothing is between a program and the data path: a post or a dequeue is the call of C and the
 * look at its status, no instruction more (the test counted.cxx counts them).
 *
 * Objects are destroyed in the opposite order of their creation, as C++ does with the members of a
 * class: what an object was made from must outlive it. A destructor cannot fail: free() can, where
 * a program wants to know.
 */
#ifndef ITAPI_INCLUDE_ITAPI_HPP
#define ITAPI_INCLUDE_ITAPI_HPP

#include "itx_api.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace itapi
{

/* ---- Errors ------------------------------------------------------------------------------- */

/* A call that has failed: "it_ep_connect: IT_ERR_INVALID_EP_STATE". */
class error : public std::runtime_error
{
  public:
    error(it_status_t status, const char *call)
        : std::runtime_error(std::string(call) + ": " + itx_status_string(status)), status_(status)
    {
    }
    it_status_t status() const noexcept
    {
        return status_;
    }

  private:
    it_status_t status_;
};

namespace detail
{
/* Apart, so that the check is a comparison and a jump. */
[[noreturn, gnu::noinline, gnu::cold]] inline void fail(it_status_t status, const char *call)
{
    throw error(status, call);
}
} // namespace detail

/* Throws unless a call has succeeded. For calls of C, too. */
inline void check(it_status_t status, const char *call)
{
    if (status != IT_SUCCESS)
        detail::fail(status, call);
}

/* ---- Spans -------------------------------------------------------------------------------- */

/* Some elements that lie somewhere else; of an array, of a container, or one object. */
template <class T> class span
{
  public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size)
    {
    }
    constexpr span(T &one) noexcept : data_(&one), size_(1)
    {
    }
    template <std::size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N)
    {
    }
    template <
        class Container,
        class = std::enable_if_t<std::is_convertible_v<
            std::remove_pointer_t<decltype(std::declval<Container &>().data())> (*)[], T (*)[]>>>
    constexpr span(Container &&container) noexcept
        : data_(container.data()), size_(container.size())
    {
    }
    constexpr T *data() const noexcept
    {
        return data_;
    }
    constexpr std::size_t size() const noexcept
    {
        return size_;
    }
    constexpr T *begin() const noexcept
    {
        return data_;
    }
    constexpr T *end() const noexcept
    {
        return data_ + size_;
    }
    constexpr T &operator[](std::size_t index) const noexcept
    {
        return data_[index];
    }
    constexpr span subspan(std::size_t offset, std::size_t size) const noexcept
    {
        return {data_ + offset, size};
    }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

/* ---- Objects ------------------------------------------------------------------------------ */

/* A handle and the duty to free it. It can be moved, and not copied. */
template <class Handle, it_status_t (*Free)(Handle)> class owned
{
  public:
    owned() noexcept = default;
    explicit owned(Handle handle) noexcept : handle_(handle)
    {
    }
    owned(owned &&other) noexcept : handle_(other.release())
    {
    }
    owned &operator=(owned &&other) noexcept
    {
        if (this != &other) {
            reset();
            handle_ = other.release();
        }
        return *this;
    }
    ~owned()
    {
        reset();
    }
    Handle get() const noexcept
    {
        return handle_;
    }
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }
    /* Gives the duty away. */
    Handle release() noexcept
    {
        return std::exchange(handle_, nullptr);
    }
    /* Frees it, whatever comes of that. */
    void reset() noexcept
    {
        if (handle_ != nullptr)
            (void)Free(release());
    }
    /* Frees it; if that fails, this throws, and the object is still there. */
    void free()
    {
        check(Free(handle_), "free");
        handle_ = nullptr;
    }

  protected:
    Handle handle_ = nullptr;
};

using microseconds = std::chrono::duration<std::uint64_t, std::micro>;
inline constexpr microseconds forever{IT_TIMEOUT_INFINITE};

/* The flags of most posts: success is reported, too, and wakes a waiting thread. */
inline constexpr it_dto_flags_t told =
    static_cast<it_dto_flags_t>(IT_COMPLETION_FLAG + IT_NOTIFY_FLAG);

/* An Interface Adapter. */
class adapter : public owned<it_ia_handle_t, it_ia_free>
{
  public:
    explicit adapter(const char *name)
    {
        check(::it_ia_create(name, 2, 1, &handle_), "it_ia_create");
    }
};

/* A protection zone. */
class zone : public owned<it_pz_handle_t, it_pz_free>
{
  public:
    explicit zone(const adapter &ia)
    {
        check(::it_pz_create(ia.get(), &handle_), "it_pz_create");
    }
};

/* Memory that is registered (LMR), with absolute addresses. The memory stays the caller's. */
class region : public owned<it_lmr_handle_t, it_lmr_free>
{
  public:
    region() noexcept = default;
    region(const zone &pz, void *memory, std::size_t size, itx_mask<it_mem_priv_t> privileges)
    {
        check(::it_lmr_create21(pz.get(), memory, nullptr, size, IT_ADDR_MODE_ABSOLUTE, privileges,
                                IT_LMR_FLAG_NONE, 0, &handle_, &key_),
              "it_lmr_create");
    }
    template <class T>
    region(const zone &pz, span<T> memory, itx_mask<it_mem_priv_t> privileges)
        : region(pz, memory.data(), memory.size() * sizeof(T), privileges)
    {
    }
    /* What a peer needs beside an address. */
    it_rmr_context_t key() const noexcept
    {
        return key_;
    }
    /* Part of the memory, as a segment for a post. */
    it_lmr_triplet_t segment(void *start, std::size_t size) const noexcept
    {
        it_lmr_triplet_t triplet;

        triplet.lmr = handle_;
        triplet.addr.abs = start;
        triplet.length = size;
        return triplet;
    }
    template <class T> it_lmr_triplet_t segment(span<T> elements) const noexcept
    {
        return segment(elements.data(), elements.size() * sizeof(T));
    }

  private:
    it_rmr_context_t key_ = 0;
};

/* A window (RMR); it_rmr_link and it_rmr_unlink take its handle. */
class window : public owned<it_rmr_handle_t, it_rmr_free>
{
  public:
    window(const zone &pz, it_rmr_type_t type)
    {
        check(::it_rmr_create20(pz.get(), type, &handle_), "it_rmr_create");
    }
};

/* A queue of events (EVD): of one stream, or of several (itx_stream_t). */
class events : public owned<it_evd_handle_t, it_evd_free>
{
  public:
    events(const adapter &ia, it_event_type_t stream, std::size_t size,
           itx_mask<it_evd_flags_t> flags = 0, it_evd_handle_t aggregate = nullptr)
    {
        check(::it_evd_create(ia.get(), stream, flags, size, IT_THRESHOLD_DISABLE, aggregate,
                              &handle_, &descriptor_),
              "it_evd_create");
    }
    static events mixed(const adapter &ia, std::uint32_t streams, std::size_t size,
                        itx_mask<it_evd_flags_t> flags = 0, it_evd_handle_t aggregate = nullptr)
    {
        events made;

        check(::itx_evd_create_mixed(ia.get(), streams, flags, size, IT_THRESHOLD_DISABLE,
                                     aggregate, &made.handle_, &made.descriptor_),
              "itx_evd_create_mixed");
        return made;
    }
    /* For poll and epoll, with IT_EVD_CREATE_FD. It is not to be read or closed. */
    int descriptor() const noexcept
    {
        return descriptor_;
    }
    /* False: time is up, or a signal has come. */
    bool wait(it_event_t &event, microseconds limit = forever) const
    {
        it_status_t status = ::it_evd_wait(handle_, limit.count(), &event, nullptr);

        if (status == IT_ERR_TIMEOUT_EXPIRED || status == IT_ERR_INTERRUPT)
            return false;
        check(status, "it_evd_wait");
        return true;
    }
    /* False: there is no event. */
    bool dequeue(it_event_t &event) const
    {
        it_status_t status = ::it_evd_dequeue(handle_, &event);

        if (status == IT_ERR_QUEUE_EMPTY)
            return false;
        check(status, "it_evd_dequeue");
        return true;
    }
    /* Those that there are and fit; it may be none. */
    span<it_event_t> dequeue(span<it_event_t> room) const
    {
        std::size_t count = 0;
        it_status_t status = ::itx_evd_dequeue_n(handle_, room.size(), room.data(), &count);

        if (status == IT_ERR_QUEUE_EMPTY)
            return {};
        check(status, "itx_evd_dequeue_n");
        return {room.data(), count};
    }

  private:
    events() noexcept = default;
    int descriptor_ = -1;
};

/* The pieces of memory of a post; one alone will do. */
using segments = span<const it_lmr_triplet_t>;

/* A shared receive queue. */
class shared_receives : public owned<it_srq_handle_t, it_srq_free>
{
  public:
    shared_receives(const zone &pz, std::size_t segments_max, std::size_t receives_max)
    {
        check(::it_srq_create(pz.get(), segments_max, receives_max, &handle_), "it_srq_create");
    }
    void post_recv(segments local, it_dto_cookie_t cookie = 0,
                   itx_mask<it_dto_flags_t> flags = told) const
    {
        check(::it_post_recv(handle_, local.data(), local.size(), cookie, flags), "it_post_recv");
    }
};

/* A listen point; `port` 0 is one that the library chooses. Host byte order. */
class listener : public owned<it_listen_handle_t, it_listen_free>
{
  public:
    listener(const adapter &ia, const events &requests, std::uint16_t port, std::size_t spigot = 0)
    {
        it_conn_qual_t qualifier{};

        qualifier.type = IT_IANA_PORT;
        qualifier.conn_qual.port = htons(port);
        check(::it_listen_create(ia.get(), spigot, requests.get(),
                                 port != 0 ? IT_LISTEN_CONN_QUAL_INPUT : IT_LISTEN_NO_FLAG,
                                 &qualifier, &handle_),
              "it_listen_create");
        port_ = ntohs(qualifier.conn_qual.port);
    }
    std::uint16_t port() const noexcept
    {
        return port_;
    }

  private:
    std::uint16_t port_ = 0;
};

/* An endpoint of reliable connections. */
class endpoint : public owned<it_ep_handle_t, it_ep_free>
{
  public:
    endpoint() noexcept = default;
    endpoint(const zone &pz, const events &requests, const events &receives,
             const events &connection, const it_ep_attributes_t &attributes,
             itx_mask<it_ep_rc_creation_flags_t> flags = 0)
    {
        check(::it_ep_rc_create(pz.get(), requests.get(), receives.get(), connection.get(), flags,
                                &attributes, &handle_),
              "it_ep_rc_create");
    }

    /* A TCP connection becomes this endpoint's; `last_words` still go over TCP. */
    void convert(int tcp, span<const char> last_words = {},
                 itx_mask<it_sc_flags_t> flags = IT_SC_DEFAULT) const
    {
        check(::it_socket_convert(tcp, handle_, flags,
                                  reinterpret_cast<const unsigned char *>(last_words.data()),
                                  last_words.size()),
              "it_socket_convert");
    }
    void connect(const it_path_t &path, const it_conn_qual_t &qualifier,
                 span<const unsigned char> private_data = {},
                 itx_mask<it_cn_est_flags_t> flags = IT_CONNECT_FLAG_TWO_WAY) const
    {
        check(::it_ep_connect(handle_, &path, nullptr, &qualifier, flags, private_data.data(),
                              private_data.size()),
              "it_ep_connect");
    }
    void accept(it_cn_est_identifier_t request, span<const unsigned char> private_data = {}) const
    {
        check(::it_ep_accept(handle_, request, private_data.data(), private_data.size()),
              "it_ep_accept");
    }
    void disconnect() const
    {
        check(::it_ep_disconnect(handle_, nullptr, 0), "it_ep_disconnect");
    }

    void post_recv(segments local, it_dto_cookie_t cookie = 0,
                   itx_mask<it_dto_flags_t> flags = told) const
    {
        check(::it_post_recv(handle_, local.data(), local.size(), cookie, flags), "it_post_recv");
    }
    void post_send(segments local, it_dto_cookie_t cookie = 0,
                   itx_mask<it_dto_flags_t> flags = told) const
    {
        check(::it_post_send(handle_, local.data(), local.size(), cookie, flags), "it_post_send");
    }
    void post_rdma_write(segments local, it_rdma_addr_t address, it_rmr_context_t key,
                         it_dto_cookie_t cookie = 0, itx_mask<it_dto_flags_t> flags = told) const
    {
        check(
            ::it_post_rdma_write(handle_, local.data(), local.size(), cookie, flags, address, key),
            "it_post_rdma_write");
    }
    void post_rdma_read(segments local, it_rdma_addr_t address, it_rmr_context_t key,
                        it_dto_cookie_t cookie = 0, itx_mask<it_dto_flags_t> flags = told) const
    {
        check(::it_post_rdma_read(handle_, local.data(), local.size(), cookie, flags, address, key),
              "it_post_rdma_read");
    }
    void post_fetch_add(const it_lmr_triplet_t &result, std::uint64_t add, it_rdma_addr_t address,
                        it_rmr_context_t key, it_dto_cookie_t cookie = 0,
                        itx_mask<it_dto_flags_t> flags = told) const
    {
        check(::it_post_atomic(handle_, IT_FETCH_AND_ADD, add, 0, &result, cookie, flags, address,
                               key),
              "it_post_atomic");
    }
    void post_compare_swap(const it_lmr_triplet_t &result, std::uint64_t compare,
                           std::uint64_t swap, it_rdma_addr_t address, it_rmr_context_t key,
                           it_dto_cookie_t cookie = 0, itx_mask<it_dto_flags_t> flags = told) const
    {
        check(::it_post_atomic(handle_, IT_COMPARE_AND_SWAP, swap, compare, &result, cookie, flags,
                               address, key),
              "it_post_atomic");
    }
};

} // namespace itapi

#endif /* ITAPI_INCLUDE_ITAPI_HPP */
