# SPDX-License-Identifier: BSD-2-Clause
# Starts and stops guests.

guest_keeper() { # guest_keeper DIR: the identity of its living keeper
    local identity
    identity=$(cat "$1/keeper" 2>/dev/null) && process_alive "$identity" && printf '%s' "$identity"
}

guest_last_words() { # guest_last_words DIR
    [ ! -s "$1/console.log" ] || { say "its console:" && tail -n 20 "$1/console.log" >&2; }
    [ ! -s "$1/keeper.log" ] || tail -n 5 "$1/keeper.log" >&2
}

# guest_start DIR [OWNER [terminal]]: OWNER is the identity of a process that the guest must not
# outlive.
guest_start() {
    local dir=$1 owner=${2-} terminal=${3-} line keeper
    image_prepare
    guest_stop "$dir"
    mkdir -p "$dir/jobs" "$dir/out" "$dir/wake"
    need_space "$dir" 10
    mkfifo "$dir/channel.in" "$dir/channel.out" "$dir/wake/start"
    [ -z "$terminal" ] || mkfifo "$dir/terminal.in" "$dir/terminal.out"
    printf '%s\n%s\n' "$vm_folder" "$image" >"$dir/jobs/boot"
    printf '%s' "$owner" >"$dir/owner"
    exec 6<>"$dir/wake/start"
    setsid bash "$vm_folder/vm" keep "$dir" "$image" "$initramfs" \
        </dev/null >"$dir/keeper.log" 2>&1 6<&- &
    keeper=$(process_identity $!) || keeper=''
    while :; do
        line=''
        # The keeper's last message may have come between the two checks.
        line_read 6 1 || process_alive "$keeper" || line_read 6 0.1 || line='ended no keeper'
        case $line in
        ready) break ;;
        again\ *) say "${line#* }; trying once more" ;;
        ended\ *)
            guest_last_words "$dir"
            broken "no guest: ${line#* }"
            ;;
        esac
    done
    exec 6<&-
    rm -f "$dir/wake/start"
}

guest_end() { # guest_end DIR: its keeper and with it the guest; the folder stays
    local keeper
    keeper=$(guest_keeper "$1") || return 0
    kill -TERM "${keeper%.*}" 2>/dev/null || true
    wait_gone "$keeper" 10 || kill -KILL "${keeper%.*}" 2>/dev/null || true
    wait_gone "$keeper" 10 || broken "process ${keeper%.*} does not end"
}

# guest_stop DIR: also removes the remains of a guest that has ended. Removes only files that
# guest_start made.
guest_stop() {
    local dir=$1
    guest_end "$dir"
    [ -d "$dir" ] || return 0
    rm -rf "$dir"/{jobs,wake,out,keeper,keeper.new,owner,ended,channel.in,channel.out,terminal.in} \
        "$dir"/{terminal.out,console.log,console.first.log,keeper.log}
    rmdir "$dir" 2>/dev/null || true
}

# guest_sweep: removes folders of "run" whose process was killed.
guest_sweep() {
    local folder
    for folder in "$cache"/run/*/; do
        folder=${folder%/}
        [ ! -d "$folder" ] || process_alive "${folder##*/}" || guest_stop "$folder"
    done
}
