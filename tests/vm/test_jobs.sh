#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# test_jobs.sh FOLDER: commands in a guest, and what happens when the guest or its keeper dies.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/test.bash"

guest=$folder/guest
in_guest() { "$vm" exec "$guest" "$@"; }
keeper() { cut -d . -f 1 "$guest/keeper"; }
gone() { ! kill -0 "$1" 2>/dev/null; }

# After this time a guest that hangs is noticed.
export ITAPI_VM_BEAT_SECONDS=$((5 + 3 * factor)) # there is a beat every 5
expect 0 "$vm" start "$guest"
expect 0 "$vm" status "$guest"

# Statuses, standard output and standard error are passed on.
expect 0 in_guest true
expect 3 in_guest 'exit 3'
expect 137 in_guest 'kill -KILL $$'
expect 143 in_guest 'kill -TERM $$'
expect 127 in_guest no-such-command
expect 0 in_guest 'echo to-out; echo to-err >&2'
is "$(<"$stdout")" to-out
is "$(<"$stderr")" to-err
expect 0 in_guest 'printf "a\0b\n\n"'
is "$(od -An -c "$stdout" | tr -d ' ')" 'a\0b\n\n'
expect 0 in_guest 'cat; echo end'
is "$(<"$stdout")" end
mkdir -p "$folder/it's a folder"
(cd "$folder/it's a folder" && expect 0 in_guest pwd && is "$(<"$stdout")" "$PWD")
expect 0 in_guest 'yes 0123456789abcde | head -n 200000; echo done >&2'
is "$(wc -c <"$stdout")" 3200000

# The host's files are visible and stay unchanged.
echo host >"$folder/file"
expect 0 in_guest "cat '$folder/file' && echo guest >'$folder/file' && cat '$folder/file'"
is "$(tr '\n' ' ' <"$stdout")" 'host guest '
is "$(<"$folder/file")" host
expect 0 in_guest 'echo artefact >"$VM_OUT/file"'
is "$(<"$guest/out/file")" artefact

# Two commands run at once.
in_guest 'until [ -e "$VM_OUT/second" ]; do sleep 0.1; done' &
first=$!
expect 0 in_guest 'touch "$VM_OUT/second"'
wait "$first" || fail "the first of two commands: status $?"

# A command over its time, and one left in the background, are ended in the guest, too.
expect 124 in_guest --time $((2 * factor)) 'echo early; sleep 1001 & sleep 1001'
is "$(<"$stdout")" early
expect 0 in_guest 'sleep 1001 & true'
# The command's process on the host is killed.
"$vm" exec "$guest" 'echo >"$VM_OUT/runs"; sleep 1001' &
killed=$!
wait_for [ -e "$guest/out/runs" ]
kill -KILL "$killed"
wait "$killed" 2>/dev/null || true
wait_for in_guest '! pgrep -f "sleep 100[1]"'
wait_for in_guest '[ "$(ls /sys/fs/cgroup | grep -c ^job)" = 1 ]' # its own

# A job ends while half a line of the host has arrived: the line is not lost.
in_guest 'touch "$VM_OUT/first"; until [ -e "$VM_OUT/half" ]; do sleep 0.1; done' &
first=$!
wait_for [ -e "$guest/out/first" ]
in_guest '
    received() { sed -n "s/^1:.* rx:\([0-9]*\).*/\1/p" /proc/tty/driver/serial; }
    agents() { pgrep -f "[g]uest/agent" | wc -l; }
    rx=$(received) all=$(agents)
    touch "$VM_OUT/counted"
    until [ "$(received)" -ge $((rx + 3)) ]; do sleep 0.1; done
    touch "$VM_OUT/half"
    until [ "$(agents)" -lt "$all" ]; do sleep 0.1; done' &
second=$!
wait_for [ -e "$guest/out/counted" ]
mkdir "$guest/jobs/halves"
echo 'touch "$VM_OUT/whole"' >"$guest/jobs/halves/command"
printf 'run' 1<>"$guest/channel.in"
wait "$first" || fail "the first of two commands: status $?"
wait "$second" || fail "the second of two commands: status $?"
printf ' halves\n' 1<>"$guest/channel.in"
wait_for [ -e "$guest/out/whole" ]

# A guest that hangs while it is used causes an error and is ended.
# Its keeper has other children, too, for moments, and waits for them.
owner=$(keeper)
pkill -STOP -P "$owner" qemu || fail 'no qemu'
expect 125 in_guest 'sleep 1001'
grep -q 'the guest hung' "$stderr" || fail "no reason: $(<"$stderr")"
wait_for gone "$owner"

# Its remains do not hinder the next guest, whose keeper is killed.
expect 0 "$vm" start "$guest"
owner=$(keeper)
qemu=$(pgrep -P "$owner" qemu)
in_guest 'sleep 1001' 2>"$folder/stderr.killed" &
waiting=$!
wait_for compgen -G "$guest/wake/*"
kill -KILL "$owner"
wait_for gone "$qemu"
status=0
wait "$waiting" || status=$?
is "$status" 125
expect 125 in_guest true
expect 1 "$vm" status "$guest"

# A guest that nobody uses ends.
expect 0 env ITAPI_VM_IDLE_SECONDS=1 "$vm" start "$guest"
owner=$(keeper)
wait_for gone "$owner"
is "$(<"$guest/ended")" 'nobody used it'
expect 0 "$vm" stop "$guest"
[ ! -e "$guest" ] || fail "left behind: $(ls "$guest")"
