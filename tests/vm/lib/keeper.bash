# SPDX-License-Identifier: BSD-2-Clause
# The process that owns a guest. It starts qemu, passes the guest's messages to waiting processes, and
# ends the guest when it hangs, when nobody uses it, or when its folder is gone. A guest's folder:
#   keeper, owner          identities of this process, and of the process that the guest must not outlive, if any
#   channel.in, .out       pipes to and from the agent in the guest (its ttyS1)
#   console.log            the messages of its kernel (ttyS0)
#   jobs/                  shared with the guest: one folder per command
#   out/                   shared with the guest: files of tests
#   wake/ID                a pipe per waiting process
#   terminal.in, .out      pipes to and from its hvc0, for "shell" only
#   ended                  why the guest ended

readonly BOOT_SECONDS=$((60 * FACTOR)) # for each step of booting: all of them take 10 on a quiet machine
readonly BEAT_SECONDS=$((90 * FACTOR)) # the agent gives a sign of life every 5

keeper_wake() { # keeper_wake ID TEXT
    [ ! -p "$dir/wake/$1" ] || printf '%s\n' "$2" 1<>"$dir/wake/$1"
}

keeper_qemu() { # replaces the shell
    local escaped=${dir//,/,,} terminal=() clock=(-accel 'tcg,thread=multi')
    [ -z "${ITAPI_VM_COUNTED-}" ] ||
        clock=(-accel 'tcg,thread=single' -icount "shift=2,sleep=off")
    [ ! -p "$dir/terminal.in" ] ||
        terminal=(-chardev "pipe,id=terminal,path=$escaped/terminal"
            -device virtio-serial-pci -device virtconsole,chardev=terminal)
    # The emulator translates code once for each virtual address. With norandmaps processes share
    # the translated code of libraries, and a process starts in half the time. Without erms the kernel copies and
    # clears by words: the emulator takes a turn for each octet of a string instruction. Without the other features,
    # and without the kernel's clearing and self-tests of its own memory, a machine boots in 5.7 s of processor time
    # instead of 6.9, and copies twice as fast. If this keeper is killed, so is qemu.
    exec setpriv --pdeathsig KILL qemu-system-x86_64 \
        "${clock[@]}" -cpu max,-erms,-smap,-smep,-la57 -smp "${ITAPI_VM_CPUS:-2}" -m "${ITAPI_VM_MEMORY:-1024}" \
        -nodefaults -display none -monitor none -no-reboot \
        -chardev "file,id=console,path=$escaped/console.log" -serial chardev:console \
        -chardev "pipe,id=channel,path=$escaped/channel" -serial chardev:channel \
        "${terminal[@]}" \
        -fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
        -device virtio-9p-pci,fsdev=root,mount_tag=root \
        -fsdev "local,id=jobs,path=$escaped/jobs,security_model=none" \
        -device virtio-9p-pci,fsdev=jobs,mount_tag=jobs \
        -fsdev "local,id=out,path=$escaped/out,security_model=none" \
        -device virtio-9p-pci,fsdev=out,mount_tag=out \
        -kernel "$image/vmlinuz" -initrd "$initramfs" \
        -append 'console=ttyS0 panic=-1 edd=off mitigations=off norandmaps nokaslr init_on_alloc=0 cryptomgr.notests apparmor=0 audit=0 hardened_usercopy=off quiet'
}

# keeper_boot: waits for the agent. Sets reason and returns 1 if it does not come.
keeper_boot() {
    local limit=${ITAPI_VM_BOOT_SECONDS:-$BOOT_SECONDS} step=kernel deadline line
    deadline=$((SECONDS + limit))
    (keeper_qemu) 5<&- &
    qemu=$!
    while :; do
        if line_read 5 1; then
            case $line in
            boot\ *) step=${line#* } deadline=$((SECONDS + limit)) ;;
            failed\ *) reason="the guest could not boot: ${line#* }" && return 1 ;;
            ready) return 0 ;;
            esac
        fi
        process_identity "$qemu" >/dev/null || { reason="the guest died booting: $step" && return 1; }
        [ "$SECONDS" -lt "$deadline" ] || { reason="the guest hung booting: $step" && return 1; }
        keeper_wanted || return 1
    done
}

keeper_kill_qemu() {
    local child
    # The signal that ends this keeper may have come before $! was stored.
    for child in $(jobs -rp); do
        kill -KILL "$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    done
}

# keeper_wanted: succeeds if anybody still needs this guest. Else sets reason.
keeper_wanted() {
    local owner
    if ! [ "$(cat "$dir/keeper" 2>/dev/null)" = "$self" ]; then
        reason='its folder is gone'
        return 1
    fi
    [ ! -s "$dir/owner" ] || { owner=$(<"$dir/owner") && process_alive "$owner"; } ||
        { reason='its starter is gone' && return 1; }
}

# keeper_reap: ends jobs whose process on the host was killed.
keeper_reap() {
    local pipe id
    jobs=0
    for pipe in "$dir"/wake/*; do
        id=${pipe##*/}
        # A process that ends by itself removes its pipe before.
        if [ -p "$pipe" ] && ! process_alive "$id" && [ -p "$pipe" ]; then
            printf 'kill %s\n' "$id" 1<>"$dir/channel.in"
            rm -rf "$pipe" "$dir/jobs/$id"
        elif [ -p "$pipe" ]; then
            jobs=$((jobs + 1))
        fi
    done
}

keeper_serve() { # until there is a reason to end; sets it
    local line word id status jobs used=$SECONDS beat=$SECONDS
    while :; do
        if line_read 5 1; then
            beat=$SECONDS
            read -r word id status <<<"$line"
            [ "$word" != done ] || keeper_wake "$id" "done $status"
        fi
        process_identity "$qemu" >/dev/null || { reason='the guest died' && return; }
        keeper_wanted || return 0
        keeper_reap
        [ "$jobs" = 0 ] || used=$SECONDS
        [ $((SECONDS - beat)) -lt "${ITAPI_VM_BEAT_SECONDS:-$BEAT_SECONDS}" ] ||
            { reason='the guest hung' && return; }
        [ $((SECONDS - used)) -lt "${ITAPI_VM_IDLE_SECONDS:-1800}" ] ||
            { reason='nobody used it' && return; }
    done
}

keeper_end() {
    local pipe
    trap '' TERM INT HUP
    keeper_kill_qemu
    printf '%s\n' "$reason" 2>/dev/null >"$dir/ended" || true
    for pipe in "$dir"/wake/*; do
        keeper_wake "${pipe##*/}" "ended $reason"
    done
    # No other process is left to do this.
    [ "$reason" != 'its starter is gone' ] || rm -rf "$dir"
}

keeper_main() { # keeper_main DIR IMAGE INITRAMFS
    # Not local: keeper_end, called when the shell ends, needs them.
    dir=$1 image=$2 initramfs=$3 qemu='' reason=''
    self=$(process_identity $$)
    printf '%s\n' "$self" >"$dir/keeper.new"
    mv "$dir/keeper.new" "$dir/keeper"
    exec 5<>"$dir/channel.out"
    trap keeper_end EXIT
    trap 'reason=stopped && exit 0' TERM INT HUP
    if ! keeper_boot; then
        keeper_kill_qemu
        keeper_wanted || exit 0
        keeper_wake start "again $reason"
        cp "$dir/console.log" "$dir/console.first.log"
        keeper_boot || exit 0
    fi
    keeper_wake start ready
    keeper_serve
}
