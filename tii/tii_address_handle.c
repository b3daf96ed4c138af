/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles, destinations of datagrams: it_address_handle_create, _query, _modify, _free. */
#include "tii/tii_check.h"
#include "ual/object/ual_object.h"

#define TII_CREATE "it_address_handle_create"

#define TII_ADDRESS_PARAMS                                                                         \
    ((unsigned)IT_ADDR_PARAM_ALL | (unsigned)IT_ADDR_PARAM_IA | (unsigned)IT_ADDR_PARAM_PZ |       \
     (unsigned)IT_ADDR_PARAM_PATH)

/* ---------------------------------------------------------------- create */

static it_status_t tii_address_new(struct ual_pz *pz, const it_path_t *path, it_ah_flags_t flags,
                                   it_addr_handle_t *addr_handle)
{
    struct ual_ia *ia = ual_ia_of(&pz->object);
    struct ual_address *address;
    it_status_t status;

    address =
        ual_object_new_child(TII_CREATE, ia, IT_HANDLE_TYPE_ADDR, pz, IT_ERR_INVALID_PZ, &status);
    if (!address)
        return status;
    address->pz = pz;
    address->path = *path;
    base_lock_init(&address->lock);
    status = ia->provider->address_create(address, path, flags);
    if (status != IT_SUCCESS) {
        base_lock_destroy(&address->lock);
        ual_object_discard_child(&address->object, pz);
        return base_refuse(status, TII_CREATE, "destination_path: refused by %s",
                           ia->provider->name);
    }
    ual_object_start(&address->object);
    *addr_handle = (it_addr_handle_t)(void *)address;
    return IT_SUCCESS;
}

it_status_t it_address_handle_create(it_pz_handle_t pz_handle, const it_path_t *destination_path,
                                     it_ah_flags_t ah_flags, it_addr_handle_t *addr_handle)
{
    struct ual_pz *pz = ual_pz_from(pz_handle);
    struct ual_ia *ia;
    it_path_t path;
    it_status_t status;

    if (!pz)
        return base_refuse_handle(IT_ERR_INVALID_PZ, __func__, pz_handle);
    if (!destination_path || !addr_handle)
        return base_refuse_null2(__func__, destination_path, addr_handle);
    ia = ual_ia_of(&pz->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)ah_flags & ~(unsigned)IT_AH_PATH_COMPLETE)
        return base_refuse_bits(IT_ERR_INVALID_FLAGS, __func__, ah_flags);
    path = *destination_path;
    status = tii_check_path(__func__, ia, &path, IT_ERR_INVALID_SPIGOT);
    if (status == IT_SUCCESS && !ia->provider->ia_attributes(ia)->datagrams)
        status = base_refuse(IT_ERR_OP_NOT_SUPPORTED, __func__, "%s has no datagrams", ia->name);
    if (status == IT_SUCCESS)
        status = tii_address_new(pz, &path, ah_flags, addr_handle);
    return status;
}

/* ---------------------------------------------------------------- query, modify */

it_status_t it_address_handle_query(it_addr_handle_t addr_handle, it_addr_param_mask_t mask,
                                    it_addr_param_t *params)
{
    struct ual_address *address = ual_address_from(addr_handle);
    unsigned members = ual_object_members(mask);

    if (!address)
        return base_refuse_handle(IT_ERR_INVALID_AH, __func__, addr_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    if ((unsigned)mask & ~TII_ADDRESS_PARAMS)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    if (members & IT_ADDR_PARAM_IA)
        params->ia = (it_ia_handle_t)(void *)address->object.ia;
    if (members & IT_ADDR_PARAM_PZ)
        params->pz = (it_pz_handle_t)(void *)address->pz;
    if (!(members & IT_ADDR_PARAM_PATH))
        return IT_SUCCESS;
    base_lock_take(&address->lock);
    params->path = address->path;
    base_lock_drop(&address->lock);
    return IT_SUCCESS;
}

it_status_t it_address_handle_modify(it_addr_handle_t addr_handle, it_addr_param_mask_t mask,
                                     const it_addr_param_t *params)
{
    struct ual_address *address = ual_address_from(addr_handle);
    const struct ual_ia *ia;
    it_path_t path;
    it_status_t status;

    if (!address)
        return base_refuse_handle(IT_ERR_INVALID_AH, __func__, addr_handle);
    if (!params)
        return base_refuse_null(__func__, params);
    ia = ual_ia_of(&address->object);
    if (ual_ia_failed(ia))
        return IT_ERR_IA_CATASTROPHE;
    if ((unsigned)mask & ~(unsigned)IT_ADDR_PARAM_PATH)
        return base_refuse_bits(IT_ERR_INVALID_MASK, __func__, mask);
    if (mask == 0)
        return IT_SUCCESS;
    path = params->path;
    /* The call has no status for a wrong Spigot: it counts as a wrong source of the path. */
    status = tii_check_path(__func__, ia, &path, IT_ERR_INVALID_SOURCE_PATH);
    if (status != IT_SUCCESS)
        return status;
    status = ia->provider->address_modify(address, &path);
    if (status != IT_SUCCESS)
        return base_refuse(status, __func__, "params->path: refused by %s", ia->provider->name);
    base_lock_take(&address->lock);
    address->path = path;
    base_lock_drop(&address->lock);
    return IT_SUCCESS;
}

/* ---------------------------------------------------------------- free */

it_status_t it_address_handle_free(it_addr_handle_t addr_handle)
{
    return ual_object_free(__func__, "addr_handle", addr_handle, IT_HANDLE_TYPE_ADDR,
                           IT_ERR_INVALID_AH, IT_ERR_INVALID_AH, ual_address_destroy);
}
