/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * it_api_cxx.h - the rest of it_api.h for C++, where an enumeration is no number: bit masks have
 * the operators of C, and a call takes 0 for an empty mask. it_api.h includes this file.
 *
 * The functions of C are declared once and stay as they are: &it_post_send is one function. Those
 * that take 0 are friends of the objects, which only a call with a handle finds; they pass the call
 * on, inline.
 */
#ifndef ITAPI_INCLUDE_IT_API_CXX_H
#define ITAPI_INCLUDE_IT_API_CXX_H

#include "it_api.h"

/* A mask, or a number in its place. */
template <class Mask> class itx_mask
{
  public:
    itx_mask(Mask bits) : bits_(bits)
    {
    }
    itx_mask(int bits) : bits_(static_cast<Mask>(bits))
    {
    }
    operator Mask() const
    {
        return bits_;
    }

  private:
    Mask bits_;
};

#define ITX_CXX_OPERATOR(mask, op)                                                                 \
    inline mask operator op(mask one, mask other)                                                  \
    {                                                                                              \
        return static_cast<mask>(static_cast<unsigned int>(one)                                    \
                                     op static_cast<unsigned int>(other));                         \
    }                                                                                              \
    inline mask &operator op##=(mask &one, mask other)                                             \
    {                                                                                              \
        return one = one op other;                                                                 \
    }

#define ITX_CXX_MASK(mask)                                                                         \
    ITX_CXX_OPERATOR(mask, |) ITX_CXX_OPERATOR(mask, &) ITX_CXX_OPERATOR(mask, ^)

ITX_CXX_MASK(it_pz_param_mask_t)
ITX_CXX_MASK(it_mem_priv_t)
ITX_CXX_MASK(it_lmr_flag_t)
ITX_CXX_MASK(it_lmr_param_mask_t)
ITX_CXX_MASK(it_rmr_param_mask_t)
ITX_CXX_MASK(it_srq_param_mask_t)
ITX_CXX_MASK(it_ep_rc_creation_flags_t)
ITX_CXX_MASK(it_ep_param_mask_t)
ITX_CXX_MASK(it_listen_flags_t)
ITX_CXX_MASK(it_listen_param_mask_t)
ITX_CXX_MASK(it_cn_est_flags_t)
ITX_CXX_MASK(it_sc_flags_t)
ITX_CXX_MASK(it_dto_flags_t)
ITX_CXX_MASK(it_dto_ud_flags_t)
ITX_CXX_MASK(it_ud_svc_req_param_mask_t)
ITX_CXX_MASK(it_addr_param_mask_t)
ITX_CXX_MASK(it_evd_flags_t)
ITX_CXX_MASK(it_evd_param_mask_t)

#undef ITX_CXX_MASK
#undef ITX_CXX_OPERATOR

/* In an object's struct: the function NAME again, with a number for a mask. */
#define ITX_CXX_FRIEND(name, parameters, arguments)                                                \
    friend inline it_status_t name parameters                                                      \
    {                                                                                              \
        return ::name arguments;                                                                   \
    }

/* The handle that it_post_recv takes: an endpoint or an S-RQ. */
struct itx_receiver {
    ITX_CXX_FRIEND(it_post_recv,
                   (it_handle_t handle, const it_lmr_triplet_t *local_segments, size_t num_segments,
                    it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags),
                   (handle, local_segments, num_segments, cookie, dto_flags))
};

struct it_pz_s {
    ITX_CXX_FRIEND(it_pz_query,
                   (it_pz_handle_t pz_handle, itx_mask<it_pz_param_mask_t> mask,
                    it_pz_param_t *params),
                   (pz_handle, mask, params))
    ITX_CXX_FRIEND(it_ep_rc_create,
                   (it_pz_handle_t pz_handle, it_evd_handle_t request_sevd_handle,
                    it_evd_handle_t recv_sevd_handle, it_evd_handle_t connect_sevd_handle,
                    itx_mask<it_ep_rc_creation_flags_t> flags, const it_ep_attributes_t *ep_attr,
                    it_ep_handle_t *ep_handle),
                   (pz_handle, request_sevd_handle, recv_sevd_handle, connect_sevd_handle, flags,
                    ep_attr, ep_handle))
    ITX_CXX_FRIEND(it_lmr_create10,
                   (it_pz_handle_t pz_handle, void *addr, it_length_t length,
                    itx_mask<it_mem_priv_t> privs, itx_mask<it_lmr_flag_t> flags,
                    uint32_t shared_id, it_lmr_handle_t *lmr_handle, it_rmr_context_t *rmr_context),
                   (pz_handle, addr, length, privs, flags, shared_id, lmr_handle, rmr_context))
    ITX_CXX_FRIEND(it_lmr_create20,
                   (it_pz_handle_t pz_handle, void *addr, it_length_t length,
                    it_addr_mode_t addr_mode, itx_mask<it_mem_priv_t> privs,
                    itx_mask<it_lmr_flag_t> flags, uint32_t shared_id, it_lmr_handle_t *lmr_handle,
                    it_rmr_context_t *rmr_context),
                   (pz_handle, addr, length, addr_mode, privs, flags, shared_id, lmr_handle,
                    rmr_context))
    ITX_CXX_FRIEND(it_lmr_create21,
                   (it_pz_handle_t pz_handle, void *addr, it_iobl_t *iobl, it_length_t length,
                    it_addr_mode_t addr_mode, itx_mask<it_mem_priv_t> privs,
                    itx_mask<it_lmr_flag_t> flags, uint32_t shared_id, it_lmr_handle_t *lmr_handle,
                    it_rmr_context_t *rmr_context),
                   (pz_handle, addr, iobl, length, addr_mode, privs, flags, shared_id, lmr_handle,
                    rmr_context))
    ITX_CXX_FRIEND(it_lmr_create_unlinked,
                   (it_pz_handle_t pz_handle, size_t iobl_num_elts, itx_mask<it_lmr_flag_t> flags,
                    uint32_t shared_id, it_lmr_handle_t *lmr_handle),
                   (pz_handle, iobl_num_elts, flags, shared_id, lmr_handle))
};

struct it_ia_s {
    ITX_CXX_FRIEND(it_evd_create,
                   (it_ia_handle_t ia_handle, it_event_type_t event_number,
                    itx_mask<it_evd_flags_t> evd_flag, size_t sevd_queue_size,
                    size_t sevd_threshold, it_evd_handle_t aevd_handle, it_evd_handle_t *evd_handle,
                    int *fd),
                   (ia_handle, event_number, evd_flag, sevd_queue_size, sevd_threshold, aevd_handle,
                    evd_handle, fd))
    ITX_CXX_FRIEND(it_listen_create,
                   (it_ia_handle_t ia_handle, size_t spigot_id, it_evd_handle_t connect_evd,
                    itx_mask<it_listen_flags_t> flags, it_conn_qual_t *conn_qual,
                    it_listen_handle_t *listen_handle),
                   (ia_handle, spigot_id, connect_evd, flags, conn_qual, listen_handle))
};

struct it_evd_s {
    ITX_CXX_FRIEND(it_evd_query,
                   (it_evd_handle_t evd_handle, itx_mask<it_evd_param_mask_t> mask,
                    it_evd_param_t *params),
                   (evd_handle, mask, params))
    ITX_CXX_FRIEND(it_evd_modify,
                   (it_evd_handle_t evd_handle, itx_mask<it_evd_param_mask_t> mask,
                    const it_evd_param_t *params),
                   (evd_handle, mask, params))
};

struct it_ep_s : itx_receiver {
    ITX_CXX_FRIEND(it_ep_query,
                   (it_ep_handle_t ep_handle, itx_mask<it_ep_param_mask_t> mask,
                    it_ep_param_t *params),
                   (ep_handle, mask, params))
    ITX_CXX_FRIEND(it_ep_modify,
                   (it_ep_handle_t ep_handle, itx_mask<it_ep_param_mask_t> mask,
                    const it_ep_attributes_t *ep_attr),
                   (ep_handle, mask, ep_attr))
    ITX_CXX_FRIEND(it_ep_connect,
                   (it_ep_handle_t ep_handle, const it_path_t *path,
                    const it_conn_attributes_t *conn_attr, const it_conn_qual_t *connect_qual,
                    itx_mask<it_cn_est_flags_t> cn_est_flags, const unsigned char *private_data,
                    size_t private_data_length),
                   (ep_handle, path, conn_attr, connect_qual, cn_est_flags, private_data,
                    private_data_length))
    ITX_CXX_FRIEND(it_socket_convert,
                   (int sd, it_ep_handle_t ep_handle, itx_mask<it_sc_flags_t> flags,
                    const unsigned char *msg, size_t len),
                   (sd, ep_handle, flags, msg, len))
    ITX_CXX_FRIEND(it_post_send,
                   (it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                    size_t num_segments, it_dto_cookie_t cookie,
                    itx_mask<it_dto_flags_t> dto_flags),
                   (ep_handle, local_segments, num_segments, cookie, dto_flags))
    ITX_CXX_FRIEND(it_post_send_and_unlink,
                   (it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                    size_t num_segments, it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags,
                    it_rmr_context_t rmr_context),
                   (ep_handle, local_segments, num_segments, cookie, dto_flags, rmr_context))
    ITX_CXX_FRIEND(it_post_rdma_write,
                   (it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                    size_t num_segments, it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags,
                    it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context),
                   (ep_handle, local_segments, num_segments, cookie, dto_flags, rdma_addr,
                    rmr_context))
    ITX_CXX_FRIEND(it_post_rdma_read,
                   (it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                    size_t num_segments, it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags,
                    it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context),
                   (ep_handle, local_segments, num_segments, cookie, dto_flags, rdma_addr,
                    rmr_context))
    ITX_CXX_FRIEND(it_post_rdma_read_to_rmr,
                   (it_ep_handle_t ep_handle, const it_rmr_triplet_t *local_segments,
                    size_t num_segments, it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags,
                    it_rdma_addr_t rdma_addr, it_rmr_context_t rmr_context),
                   (ep_handle, local_segments, num_segments, cookie, dto_flags, rdma_addr,
                    rmr_context))
    ITX_CXX_FRIEND(it_post_atomic,
                   (it_ep_handle_t ep_handle, it_atomic_op_t op, uint64_t swap_or_add,
                    uint64_t compare, const it_lmr_triplet_t *result, it_dto_cookie_t cookie,
                    itx_mask<it_dto_flags_t> dto_flags, it_rdma_addr_t rdma_addr,
                    it_rmr_context_t rmr_context),
                   (ep_handle, op, swap_or_add, compare, result, cookie, dto_flags, rdma_addr,
                    rmr_context))
    ITX_CXX_FRIEND(it_post_sendto,
                   (it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                    size_t num_segments, it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags,
                    const it_dg_remote_ep_addr_t *remote_ep_addr),
                   (ep_handle, local_segments, num_segments, cookie, dto_flags, remote_ep_addr))
    ITX_CXX_FRIEND(it_post_recvfrom,
                   (it_ep_handle_t ep_handle, const it_lmr_triplet_t *local_segments,
                    size_t num_segments, it_dto_cookie_t cookie,
                    itx_mask<it_dto_flags_t> dto_flags),
                   (ep_handle, local_segments, num_segments, cookie, dto_flags))
};

struct it_listen_s {
    ITX_CXX_FRIEND(it_listen_query,
                   (it_listen_handle_t listen_handle, itx_mask<it_listen_param_mask_t> mask,
                    it_listen_param_t *params),
                   (listen_handle, mask, params))
};

struct it_lmr_s {
    ITX_CXX_FRIEND(it_lmr_link,
                   (it_lmr_handle_t lmr_handle, const void *addr, const it_iobl_t *iobl,
                    it_length_t length, it_addr_mode_t addr_mode, itx_mask<it_mem_priv_t> privs,
                    it_ep_handle_t ep_handle, it_dto_cookie_t cookie,
                    itx_mask<it_dto_flags_t> dto_flags, it_rmr_context_t *rmr_context),
                   (lmr_handle, addr, iobl, length, addr_mode, privs, ep_handle, cookie, dto_flags,
                    rmr_context))
    ITX_CXX_FRIEND(it_lmr_unlink,
                   (it_lmr_handle_t lmr_handle, it_ep_handle_t ep_handle, it_dto_cookie_t cookie,
                    itx_mask<it_dto_flags_t> dto_flags),
                   (lmr_handle, ep_handle, cookie, dto_flags))
    ITX_CXX_FRIEND(it_lmr_modify,
                   (it_lmr_handle_t lmr_handle, itx_mask<it_lmr_param_mask_t> mask,
                    const it_lmr_param_t *params),
                   (lmr_handle, mask, params))
    ITX_CXX_FRIEND(it_lmr_query,
                   (it_lmr_handle_t lmr_handle, itx_mask<it_lmr_param_mask_t> mask,
                    it_lmr_param_t *params),
                   (lmr_handle, mask, params))
};

struct it_rmr_s {
    ITX_CXX_FRIEND(it_rmr_bind10,
                   (it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                    it_length_t length, itx_mask<it_mem_priv_t> privs, it_ep_handle_t ep_handle,
                    it_dto_cookie_t cookie, itx_mask<it_dto_flags_t> dto_flags,
                    it_rmr_context_t *rmr_context),
                   (rmr_handle, lmr_handle, addr, length, privs, ep_handle, cookie, dto_flags,
                    rmr_context))
    ITX_CXX_FRIEND(it_rmr_link,
                   (it_rmr_handle_t rmr_handle, it_lmr_handle_t lmr_handle, void *addr,
                    it_length_t length, it_addr_mode_t addr_mode, itx_mask<it_mem_priv_t> privs,
                    it_ep_handle_t ep_handle, it_dto_cookie_t cookie,
                    itx_mask<it_dto_flags_t> dto_flags, it_rmr_context_t *rmr_context),
                   (rmr_handle, lmr_handle, addr, length, addr_mode, privs, ep_handle, cookie,
                    dto_flags, rmr_context))
    ITX_CXX_FRIEND(it_rmr_unlink,
                   (it_rmr_handle_t rmr_handle, it_ep_handle_t ep_handle, it_dto_cookie_t cookie,
                    itx_mask<it_dto_flags_t> dto_flags),
                   (rmr_handle, ep_handle, cookie, dto_flags))
    ITX_CXX_FRIEND(it_rmr_query,
                   (it_rmr_handle_t rmr_handle, itx_mask<it_rmr_param_mask_t> mask,
                    it_rmr_param_t *params),
                   (rmr_handle, mask, params))
};

struct it_srq_s : itx_receiver {
    ITX_CXX_FRIEND(it_srq_query,
                   (it_srq_handle_t srq_handle, itx_mask<it_srq_param_mask_t> mask,
                    it_srq_param_t *params),
                   (srq_handle, mask, params))
    ITX_CXX_FRIEND(it_srq_modify,
                   (it_srq_handle_t srq_handle, itx_mask<it_srq_param_mask_t> mask,
                    const it_srq_param_t *params),
                   (srq_handle, mask, params))
};

struct it_ud_svc_req_s {
    ITX_CXX_FRIEND(it_ud_service_request_handle_query,
                   (it_ud_svc_req_handle_t ud_svc_handle, itx_mask<it_ud_svc_req_param_mask_t> mask,
                    it_ud_svc_req_param_t *ud_svc_handle_info),
                   (ud_svc_handle, mask, ud_svc_handle_info))
};

struct it_addr_s {
    ITX_CXX_FRIEND(it_address_handle_query,
                   (it_addr_handle_t addr_handle, itx_mask<it_addr_param_mask_t> mask,
                    it_addr_param_t *params),
                   (addr_handle, mask, params))
    ITX_CXX_FRIEND(it_address_handle_modify,
                   (it_addr_handle_t addr_handle, itx_mask<it_addr_param_mask_t> mask,
                    const it_addr_param_t *params),
                   (addr_handle, mask, params))
};

#undef ITX_CXX_FRIEND

#endif
