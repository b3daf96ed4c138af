# SPDX-License-Identifier: BSD-2-Clause
# Runs one command in a guest.

readonly KILL_SECONDS=$((60 * FACTOR))

# job_copy FILE DESCRIPTOR: copies the new part of the file. printed[] has the length copied so far.
job_copy() {
    local size
    size=$(stat -c %s "$1" 2>/dev/null) || return 0
    [ "$size" -gt "${printed[$2]}" ] || return 0
    tail -c "+$((printed[$2] + 1))" "$1" | head -c $((size - printed[$2])) >&"$2"
    printed[$2]=$size
}

job_tell() { printf '%s %s\n' "$1" "$id" 1<>"$dir/channel.in"; }

# job_wait SECONDS: waits for the job. Returns 0 if it is done (sets status), 1 if the time is over, 2 if
# the guest has ended (sets reason). 0 seconds: waits for ever.
job_wait() {
    local deadline=$((SECONDS + $1 + 1)) line
    while :; do
        if line_read 7 0.5; then
            case $line in
            done\ *) status=${line#* } && return 0 ;;
            ended\ *) reason=${line#* } && return 2 ;;
            esac
        fi
        job_copy "$job/stdout" 1
        job_copy "$job/stderr" 2
        if ! guest_keeper "$dir" >/dev/null; then
            reason=$(cat "$dir/ended" 2>/dev/null) || reason='the guest is gone'
            return 2
        fi
        [ "$1" = 0 ] || [ "$SECONDS" -lt "$deadline" ] || return 1
    done
}

job_forget() {
    exec 7<&-
    rm -rf "$dir/wake/$id" "$job"
}

job_start() { # job_start COMMAND [SIZE-OF-TERMINAL]
    guest_keeper "$dir" >/dev/null || broken "no guest in $dir"
    id=$(process_identity $$)
    job=$dir/jobs/$id
    mkdir "$job"
    printf "cd '%s' || exit 125\n%s\n" "${PWD//\'/\'\\\'\'}" "$1" >"$job/command"
    [ -z "${2-}" ] || printf '%s\n' "$2" >"$job/terminal"
    mkfifo "$dir/wake/$id"
    exec 7<>"$dir/wake/$id"
    job_tell run
}

# job_run DIR SECONDS COMMAND: runs it, prints its output as it arrives, and sets status.
job_run() {
    local dir=$1 seconds=$2 id job reason='' outcome=0
    local -A printed=([1]=0 [2]=0)
    job_start "$3"
    trap 'job_tell kill; job_forget; exit 130' INT
    trap 'job_tell kill; job_forget; exit 143' TERM HUP
    job_wait "$seconds" || outcome=$?
    if [ "$outcome" = 1 ]; then
        job_tell kill
        # If this does not help, the guest cannot be used any more.
        job_wait "$KILL_SECONDS" || { outcome=2 reason='the guest did not end the command' &&
            guest_end "$dir"; }
        status=$STATUS_TIME
        say "over its time of $seconds s: $3"
    fi
    job_copy "$job/stdout" 1
    job_copy "$job/stderr" 2
    job_forget
    trap - INT TERM HUP
    if [ "$outcome" = 2 ]; then
        guest_last_words "$dir"
        broken "$reason"
    fi
}

job_tell_size() {
    printf 'size %s\n' "$(stty size)" 1<>"$dir/channel.in"
}

# job_shell DIR: runs an interactive shell on this terminal, whose settings the caller restores, or on
# the standard input and output if there is none. Sets status. Ends the guest.
job_shell() {
    local dir=$1 id job reason='' outcome=0 copies size='24 80'
    local -A printed=([1]=0 [2]=0)
    cat "$dir/terminal.out" &
    copies=$!
    # All typed characters go to the guest unchanged, also Ctrl-C.
    if settings=$(stty -g 2>/dev/null); then
        size=$(stty size)
        trap 'stty "$settings" 2>/dev/null || true; guest_stop "$dir"' EXIT
        stty raw -echo
        trap job_tell_size WINCH
        cat <&0 >"$dir/terminal.in" &
    else
        { cat && printf '\004'; } <&0 >"$dir/terminal.in" &
    fi
    copies+=" $!"
    # Start-up files may take long, because a guest is slow.
    job_start "export TERM='${TERM:-dumb}' PS1='guest:\w\\$ '; exec bash --norc -i" "$size"
    job_wait 0 || outcome=$?
    # The pipes end with the guest. By then their content has been printed.
    guest_end "$dir"
    wait "${copies% *}" || true
    kill "${copies#* }" 2>/dev/null || true
    [ "$outcome" = 0 ] || broken "$reason"
}
