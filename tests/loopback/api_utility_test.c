/* SPDX-License-Identifier: BSD-2-Clause */
/* Utility calls that need no object. */
#include <criterion/criterion.h>
#include <string.h>

#include "support/it_fixture.h"

Test(api_utility, small_utilities)
{
    int x = 0;

    EXPECT_EQ(0x0102030405060708ull, it_ntoh64(it_hton64(0x0102030405060708ull)));
    {
        uint64_t wire = it_hton64(0x0102030405060708ull);

        EXPECT(memcmp(&wire, "\1\2\3\4\5\6\7\10", 8) == 0);
    }
    EXPECT_EQ((uintptr_t)&x, it_make_rdma_addr_absolute(&x));
    EXPECT_EQ(0x123456789ull, it_make_rdma_addr_relative(0x123456789ull));
    EXPECT(strcmp(itx_status_string(IT_ERR_INVALID_EP), "IT_ERR_INVALID_EP") == 0);
    EXPECT(strcmp(itx_status_string((it_status_t)12345), "unknown it_status_t") == 0);
    EXPECT(strcmp(itx_dto_status_string(IT_DTO_ERR_FLUSHED), "IT_DTO_ERR_FLUSHED") == 0);
    EXPECT(strcmp(itx_event_string(IT_CM_MSG_CONN_BROKEN_EVENT), "IT_CM_MSG_CONN_BROKEN_EVENT") ==
           0);
    EXPECT(strcmp(itx_reject_string(IT_CN_REJ_TIMEOUT), "IT_CN_REJ_TIMEOUT") == 0);
    EXPECT(strcmp(itx_reject_string((it_conn_reject_code_t)7), "unknown it_conn_reject_code_t") ==
           0);
    EXPECT(strcmp(itx_ep_state_string(IT_EP_STATE_CONNECTED), "IT_EP_STATE_CONNECTED") == 0);
    EXPECT(strcmp(itx_version(), ITX_VERSION_STRING) == 0);
    check_done();
}
