# SPDX-License-Identifier: BSD-2-Clause
# What a guest boots, made once and kept in the cache:
#   image/KEY/{release,vmlinuz,lib/modules}   KEY: version, and a hash of the scripts that make it
#   image/KEY/initramfs-HASH                  remade when guest/init or this file changes

image_hash() { cat "$@" | sha256sum | cut -c 1-12; }

# image_prepare: sets image (the folder), kernel (its release) and initramfs.
image_prepare() {
    need_tools apt-get:apt dpkg-deb:dpkg make:make gcc:gcc strip:binutils xz:xz-utils cpio:cpio \
        modprobe:kmod busybox:busybox-static qemu-system-x86_64:qemu-system-x86 flock:util-linux
    [ "$(dpkg --print-architecture)" = amd64 ] || cannot 'only amd64 is supported'
    # The kernel's make cannot build in just any folder.
    [[ $cache =~ ^[A-Za-z0-9/._+~@-]+$ ]] ||
        cannot "letters in $cache that make does not take: set ITAPI_VM_CACHE"
    mkdir -p "$cache/image" 2>/dev/null || cannot "no write access to $cache"
    local version packages release
    exec 9>"$cache/lock"
    flock -n 9 || { say 'waiting for another process that builds the image' && flock 9; }
    image_find
    # Held as long as this process, or the guest that it starts, lives.
    exec 8<"$image/release"
    flock -s 8
    exec 9>&-
    read -r kernel <&8
}

# image_find: the newest image of which all parts can be had; failing that, one built before.
image_find() {
    local old
    if ! image_of_newest && ! { version_update && image_of_newest; }; then
        old=$(find "$cache/image" -mindepth 2 -maxdepth 2 -name release | sort -V | tail -n 1)
        [ -n "$old" ] || cannot "$failure"
        image=${old%/release}
        say "$failure; using the older kernel $(<"$old")"
    fi
    initramfs=$image/initramfs-$(image_hash "$vm_folder"/{guest/init,lib/image.bash})
    [ -e "$initramfs" ] || image_make_initramfs "$(<"$image/release")"
}

# image_of_newest: sets image, or failure when other package lists might help.
image_of_newest() {
    failure='apt knows no kernel image with headers and source of one version'
    version_find || return 1
    image=$cache/image/$version-$(image_hash "$vm_folder"/lib/{build,siw}.bash)
    [ -e "$image/release" ] || image_make
}

image_make() {
    local status=0 new=$cache/building
    rm -rf "$new"
    need_space "$cache" 800
    say "building the image: kernel $release-amd64 ($version)"
    mkdir "$new"
    # A process of its own: a caller's "if" switches off errexit in functions. It has the lock too, so
    # that nobody else builds before it has ended, whatever becomes of this one.
    bash -c 'set -euo pipefail
        vm_folder=$1; . "$1/lib/siw.bash"; . "$1/lib/build.bash"; shift; build_image "$@"' \
        vm "$vm_folder" "$new" "$release" "$version" "${#apt_options[@]}" \
        "${apt_options[@]}" "${packages[@]}" >"$cache/log" 2>&1 || status=$?
    [ "$status" = 0 ] || { rm -rf "$new" && image_explain && return 1; }
    mv "$new" "$image"
    image_remove_others
}

image_explain() { # sets failure, or ends what other package lists cannot mend
    if grep -q 'No space left on device' "$cache/log"; then
        cannot "no space left in $cache"
    fi
    failure="downloading failed: $(grep '^E: ' "$cache/log" | tail -n 1)" && return
    tail -n 20 "$cache/log" >&2
    broken "building the image failed: see $cache/log"
}

image_remove_others() {
    local other
    for other in "$cache"/image/*/; do
        other=${other%/}
        # A running guest holds its image.
        [ "$other" = "$image" ] || ! flock -n "$other/release" true || rm -rf "$other"
    done
}

image_module() { # image_module KERNEL NAME: it and what it depends on
    modprobe --dirname "$image" --set-version "$1" --show-depends "$2"
}

image_make_initramfs() { # image_make_initramfs KERNEL
    local tree=$image/initramfs-tree module name number=100
    need_space "$image" 30
    rm -rf "$tree"
    # Not the newer ones: another checkout may be about to boot them.
    find "$image" -maxdepth 1 -name 'initramfs-*' -mtime +1 -delete
    mkdir -p "$tree"/{bin,modules,proc,sys,dev,host,writes,root}
    cp "$(command -v busybox)" "$tree/bin/busybox"
    install -m 755 "$vm_folder/guest/init" "$tree/init"
    # In the order of loading. The root file system needs the first four. rdma_rxe finds its CRC only
    # if the generic one is there; newer kernels have that one built in.
    {
        for module in virtio_pci 9pnet_virtio 9p overlay siw ib_uverbs rdma_ucm veth dummy; do
            image_module "$1" "$module"
        done
        image_module "$1" crc32_generic || true
        image_module "$1" rdma_rxe
        image_module "$1" sch_netem || true
    } | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$tree/list"
    while read -r module; do
        number=$((number + 1))
        name=${module##*/}
        case $name in
        *.xz) xz -dc "$module" ;;
        *) cat "$module" ;;
        esac >"$tree/modules/$number-${name%%.*}.ko"
    done <"$tree/list"
    rm "$tree/list"
    (cd "$tree" && find . | cpio -o -H newc -R 0:0 --quiet) >"$initramfs.new"
    rm -rf "$tree"
    mv "$initramfs.new" "$initramfs"
}
