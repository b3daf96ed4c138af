/* SPDX-License-Identifier: BSD-2-Clause */
/* Registration of providers, and it_interface_list. */
#include "unit/fake_provider.h"
#include "ual/providers/ual_providers.h"

#include <criterion/criterion.h>
#include <string.h>

Test(ual_registry, refuses_another_abi_a_smaller_table_and_a_second_of_one_name)
{
    struct vp_provider other = fake_provider;

    fake_setup();
    cr_assert_not(vp_register(&fake_provider), "twice");
    other.name = "other";
    other.abi = VP_ABI + 1;
    cr_assert_not(vp_register(&other), "abi");
    other.abi = VP_ABI;
    other.size = (uint32_t)VP_PROVIDER_SIZE - 1;
    cr_assert_not(vp_register(&other), "size");
}

Test(ual_registry, accepts_a_larger_table)
{
    static struct vp_provider other;

    fake_setup();
    other = fake_provider;
    other.name = "other";
    other.size = sizeof(struct vp_provider) + 8;
    cr_assert(vp_register(&other));
}

Test(ual_registry, accepts_a_table_without_what_may_be_left_out)
{
    static struct vp_provider other;

    fake_setup();
    other = fake_provider;
    other.name = "older";
    other.size = (uint32_t)VP_PROVIDER_SIZE;
    cr_assert(vp_register(&other));
}

Test(ual_registry, lists_all_interfaces)
{
    it_interface_t interfaces[64];
    size_t room = 64, total = 0, found = 0;

    fake_setup();
    it_interface_list(interfaces, &room, &total);
    cr_assert_geq(total, 1);
    cr_assert_eq(room, total < 64 ? total : 64);
    for (size_t i = 0; i < room; i++)
        found += strcmp(interfaces[i].name, FAKE_NAME) == 0;
    cr_assert_eq(found, 1);
}

Test(ual_registry, lists_no_more_than_there_is_room_for)
{
    it_interface_t interfaces[1];
    size_t room = 0, total = 0, total_again = 0;

    fake_setup();
    it_interface_list(NULL, &room, &total);
    cr_assert_eq(room, 0);
    cr_assert_geq(total, 1);
    room = 1;
    it_interface_list(interfaces, &room, &total_again);
    cr_assert_eq(room, 1);
    cr_assert_eq(total_again, total);
    it_interface_list(interfaces, NULL, &total_again);
    cr_assert_eq(total_again, total);
    it_interface_list(NULL, NULL, NULL);
}
