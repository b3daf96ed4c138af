#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_run_test.sh FOLDER: run_test in the guest of FOLDER, which other tests share.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
shared=$1
[ ! -e "$shared/skipped" ] || { cat "$shared/skipped" && exit 77; }
set -- "$shared/run_test"
. "$here/test.bash"

run_test() { "$here/run_test" "$@"; }
exchange="'$here/guest/exchange' 10.77.1.2 far"
kept=$shared/failed/vm.try

# Status and output are the program's, and it gets its arguments.
expect 0 run_test "$shared" vm.try printf '%s|' 'a b' "it's" '$x' ''
is "$(<"$stdout")" "a b|it's|\$x||"
expect 5 run_test "$shared" vm.try sh -c 'exit 5'
expect 124 run_test --time 1 "$shared" vm.try sleep 1001

# The captures of a failed test stay until the test passes.
expect 5 run_test --capture near0,far/far0 "$shared" vm.try sh -c "$exchange && exit 5"
expect 0 "$here/decode" "$kept/near0.pcap" "$kept/far-far0.pcap"
expect 0 run_test --capture near0 "$shared" vm.try sh -c "$exchange"
[ ! -e "$kept" ] || fail 'the captures of a test that passed are still there'

# A test that sends nothing has failed, and so has one that takes too long.
expect 1 run_test --capture near0 "$shared" vm.try true
grep -q 'no iWARP' "$stdout" || fail "$(<"$stdout")"
# Other packets that arrive while the capture starts make no difference.
others='touch "$VM_OUT/others"; while [ -e "$VM_OUT/others" ]; do echo >/dev/udp/10.77.1.2/9; done'
"$vm" exec "$shared/guest" "bash -c '$others'" 2>/dev/null &
wait_for [ -e "$shared/guest/out/others" ]
expect 124 run_test --capture near0 --time 1 "$shared" vm.try sh -c 'rm "$VM_OUT/others"; sleep 1001'
wait
[ -e "$kept/near0.pcap" ] || fail 'no capture of a test that took too long'
rm -rf "$kept"

# A test that cannot run in the guest is skipped where that is allowed.
expect 77 env CI= "$here/run_test" "$shared" vm.try sh -c 'exit 77'
expect 1 env CI=true "$here/run_test" "$shared" vm.try sh -c 'exit 77'

# The kernel's messages about a failed test are shown.
expect 1 run_test "$shared" vm.try sh -c 'echo "<3>BUG: none, a test" >/dev/kmsg; exit 1'
grep -q 'BUG: none, a test' "$stdout" || fail "$(<"$stdout")"

# A test that ends the guest does not harm the next test.
expect 125 run_test "$shared" vm.try sh -c 'echo o >/proc/sysrq-trigger; sleep 1001'
expect 0 run_test "$shared" vm.try true
