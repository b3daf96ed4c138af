# SPDX-License-Identifier: BSD-2-Clause
# Debian ships no siw: built here from the kernel's source, its settings made module parameters.

# siw_parameter FOLDER TYPE NAME: a variable of siw_main.c becomes a module parameter that root may
# write at run time; its default stays.
siw_parameter() {
    local folder=$1 type=$2 name=$3
    grep -Eq "^(const )?(bool|u_char) $name( = [A-Za-z0-9_]+)?;" "$folder/siw_main.c" &&
        grep -Eq "^extern (const )?(bool|u_char) $name;" "$folder/siw.h" ||
        { echo "siw has no setting $name in this kernel" >&2 && return 1; }
    sed -Ei "s/^const (bool|u_char) $name( = [A-Za-z0-9_]+)?;/\1 $name\2;/
        s/^(bool|u_char) $name( = [A-Za-z0-9_]+)?;/&\nmodule_param($name, $type, 0644);/" \
        "$folder/siw_main.c"
    sed -Ei "s/^extern const (bool|u_char) $name;/extern \1 $name;/" "$folder/siw.h"
}

# siw_keeps_listeners FOLDER: a module parameter, off as in the kernel. A connection that ends before siw
# accepts it still calls back for its listener; siw then ends that listener, and the kernel fails when the
# listener's owner ends. If the parameter is on, the listener stays.
siw_keeps_listeners() {
    local file=$1/siw_cm.c closing='^[[:space:]]*case TCP_CLOSE_WAIT:$'
    [ "$(grep -c "$closing" "$file")" = 1 ] ||
        { echo 'siw_cm.c of this kernel is not as expected' >&2 && return 1; }
    sed -i "/$closing/a if (keep_listeners \\&\\& cep->state == SIW_EPSTATE_LISTENING) break;
        /^#include \"siw_cm.h\"/a #include <linux/moduleparam.h>\nstatic bool keep_listeners;\nmodule_param(keep_listeners, bool, 0644);" \
        "$file"
}

# siw_build SOURCE_PACKAGE ROOT RELEASE: siw.ko into the module tree below ROOT, where the headers
# are unpacked too.
siw_build() {
    local package=$1 root=$2 release=$3 folder=$2/siw headers setting compiler
    mkdir "$folder"
    dpkg-deb --fsys-tarfile "$package" |
        tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
        tar -xJ -C "$folder" --strip-components=5 --wildcards '*/drivers/infiniband/sw/siw'
    for setting in mpa_crc_required mpa_crc_strict peer_to_peer siw_tcp_nagle try_gso; do
        siw_parameter "$folder" bool "$setting"
    done
    siw_parameter "$folder" byte mpa_version
    siw_keeps_listeners "$folder"

    headers=$root/usr/src/linux-headers-$release-amd64
    sed -i "s|/usr/src/|$root/usr/src/|" "$headers/Makefile"
    # With it the build would want pahole, for type information that nothing here reads.
    rm -f "$headers/vmlinux"
    compiler=$(grep -oE 'gcc-[0-9]+' "$headers/.kernelvariables" | head -n 1)
    command -v "${compiler:-none}" >/dev/null || compiler=gcc
    make -C "$headers" M="$folder" CONFIG_RDMA_SIW=m CC="$compiler" modules
    strip --strip-debug "$folder/siw.ko"
    install -D -m 644 -t "$root/lib/modules/$release-amd64/extra" "$folder/siw.ko"
}
