#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_trouble.sh FOLDER: what prevents a guest is said in one line, with the right status, and
# nothing stays behind. No guest boots completely here.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/test.bash"

cannot() { # cannot TEXT COMMAND...: status 77 and one line with this text
    local text=$1
    shift
    expect 77 "$@"
    is "$(wc -l <"$stderr")" 1
    grep -qF -- "$text" "$stderr" || fail "$text: not in: $(<"$stderr")"
}

# A package is missing.
tools=$folder/tools
mkdir -p "$tools"
ln -sf -t "$tools" /usr/local/bin/* /usr/sbin/* /usr/bin/* /sbin/* /bin/* 2>/dev/null || true
rm -f "$tools"/qemu-system-x86_64 "$tools/cpio"
cannot 'missing packages: cpio qemu-system-x86' env PATH="$tools" "$vm" run true
cannot 'missing packages' env PATH="$tools" "$vm" prepare

# The cache has no place, or no room.
cannot 'no write access to /proc' env ITAPI_VM_CACHE=/proc/none "$vm" run true
full='mount -t tmpfs -o size=8m full "$1" && ITAPI_VM_CACHE=$1 exec "$2" prepare'
mkdir -p "$folder/full"
if unshare -rm mount -t tmpfs full "$folder/full" 2>/dev/null; then
    cannot 'no space: 8 MiB free' unshare -rm sh -c "$full" sh "$folder/full" "$vm"
else
    echo 'not tried: a full disk (no user namespaces here)'
fi

# There are no package lists, and no source for them.
cat >"$folder/apt.conf" <<EOF
Dir::Etc::SourceList "/dev/null";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$folder/lists";
EOF
mkdir -p "$folder/lists/partial"
expect 77 env APT_CONFIG="$folder/apt.conf" ITAPI_VM_CACHE="$folder/cache" "$vm" prepare
is "$(tail -n 1 "$stderr")" \
    'vm: cannot run here: apt knows no kernel image with headers and source of one version'

# From here on the image exists.
expect 0 "$vm" prepare
expect 0 "$vm" prepare
is "$(sed '/waiting for another process/d' "$stdout" "$stderr")" ''

# A guest that does not boot is tried twice and then given up.
expect 125 env ITAPI_VM_BOOT_SECONDS=1 "$vm" start "$folder/guest"
grep -q 'hung booting: kernel; trying once more' "$stderr" || fail "no reason: $(<"$stderr")"
grep -q 'no guest: the guest hung booting' "$stderr" || fail "no reason: $(<"$stderr")"
expect 0 "$vm" stop "$folder/guest"

# The guest's folder disappears.
"$vm" start "$folder/guest" 2>/dev/null &
starting=$!
wait_for [ -s "$folder/guest/keeper" ]
keeper=$(cut -d . -f 1 "$folder/guest/keeper")
# The folder is moved at once: while it is emptied file by file, new files would appear.
mv "$folder/guest" "$folder/gone"
rm -rf "$folder/gone"
status=0
wait "$starting" || status=$?
is "$status" 125
wait_for eval '! kill -0 "$keeper" 2>/dev/null'

# If "run" is interrupted or killed, its guest ends, too.
runs=${ITAPI_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/itapi/vm}/run
for signal in INT TERM KILL; do
    setsid env --default-signal=INT "$vm" run 'sleep 1001' >/dev/null 2>&1 &
    running=$!
    wait_for compgen -G "$runs/$running.*/keeper"
    run=$(compgen -G "$runs/$running.*")
    keeper=$(cut -d . -f 1 "$run/keeper")
    kill -s "$signal" "$running"
    wait "$running" 2>/dev/null || true
    wait_for eval '! kill -0 "$keeper" 2>/dev/null'
    wait_for [ ! -e "$run" ]
done

# Tests are skipped with a reason, except where that is not allowed.
mkdir -p "$folder/tests"
echo 'the reason' >"$folder/tests/skipped"
expect 77 env CI= "${vm%/*}/run_test" "$folder/tests" siw.none true
is "$(<"$stdout")" 'skipped: the reason'
expect 1 env CI=true "${vm%/*}/run_test" "$folder/tests" siw.none true
