#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sysroot.sh DIRECTORY [MACHINE]: makes DIRECTORY/root, the libraries of Debian 11 to link with, and
# DIRECTORY/toolchain.cmake, CMake's settings for these libraries. MACHINE is x86_64 or aarch64 (default: this machine's).
# A different MACHINE needs a cross compiler for it, with libc, and qemu-user. Programs linked with the libraries run with
# glibc 2.28 and later. HDF5 and libzip are static: the script builds them from Debian's sources, without the network,
# cryptography and compression libraries that Debian's packages need. It fetches 90 MB once, and leaves a complete
# directory unchanged.
set -euo pipefail
usage() { sed -n 's/^# \{0,1\}//; 3,8p' "$0"; }
case ${1-} in
    -h | --help) usage && exit ;;
    -* | '') usage >&2 && exit 2 ;;
esac
[ $# -le 2 ] || { usage >&2 && exit 2; }
machine=${2:-$(uname -m)}
case $machine in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) echo "sysroot.sh: the machine is '$machine', not x86_64 or aarch64" >&2 && exit 2 ;;
esac
if [ -e "$1/complete" ]; then
    grep -q "^set(CMAKE_LIBRARY_ARCHITECTURE $machine-" "$1/toolchain.cmake" && exit
    echo "sysroot.sh: $1 is not for $machine: choose another directory, or remove it" >&2
    exit 1
fi
rm -rf "$1"
mkdir -p "$1"
directory=$(cd "$1" && pwd)
root=$directory/root
work=$directory/work
triplet=$machine-linux-gnu
jobs=${BOOTSTRAP_JOBS:-$(nproc)}
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
keys=/usr/share/keyrings/debian-archive-keyring.gpg,/usr/share/keyrings/debian-archive-removed-keys.gpg
crossing=''
[ "$machine" = "$(uname -m)" ] || crossing=1
for program in "$triplet-gcc" "$triplet-objdump" ${crossing:+"qemu-$machine"}; do
    command -v "$program" >/dev/null || {
        echo "sysroot.sh: $program is missing: apt install gcc-${triplet/_/-}${crossing:+ libc6-dev-$architecture-cross qemu-user}" >&2
        exit 1
    }
done

say() { printf '== %s\n' "$*"; }

# with_apt NAME LINE ARGUMENT...: runs apt-get with LINE as its only source, in a folder of its own.
with_apt() {
    local at=$work/$1 line=$2
    shift 2
    mkdir -p "$at"/{lists,archives}/partial
    [ -e "$at/status" ] || : >"$at/status"
    echo "$line" >"$at/sources.list"
    apt-get -o "Dir::Etc::sourcelist=$at/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::Lists=$at/lists" \
        -o "Dir::Cache::archives=$at/archives" -o "Dir::State::status=$at/status" -o Debug::NoLocking=1 \
        -o APT::Sandbox::User= -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -qq "$@"
}

# ---- The libraries of Debian 11 ------------------------------------------------

say "Libraries of Debian 11"
mkdir -p "$root"
line="deb [signed-by=$keys] $mirror bullseye main"
with_apt libraries "$line" update
with_apt libraries "$line" -y --no-install-recommends --download-only install libc6-dev libcjson-dev libconfig-dev \
    libcairo2-dev libopenblas-dev libcmocka-dev libgomp1 uuid-dev zlib1g-dev
for package in "$work"/libraries/archives/{gcc-,lib,linux-libc-dev,uuid-dev,zlib1g,x11proto}*.deb; do
    dpkg -x "$package" "$root"
done
ls "$work/libraries/archives" >"$directory/packages.txt"
find "$root" -type l -lname '/*' | while read -r link; do
    ln -sf "$root$(readlink "$link")" "$link"
done
ln -s libgomp.so.1 "$root/usr/lib/$triplet/libgomp.so" # no package has this link
# Python's headers are the same for all versions of glibc.
mkdir -p "$root/usr/include/$triplet"
for headers in /usr/include/python3.[0-9]*; do
    [ ! -e "$headers" ] || cp -r "$headers" "$root/usr/include"
done
# pyconfig.h is the same for both machines, except for macros that the stable interface does not use.
for headers in "/usr/include/$(uname -m)-linux-gnu"/python3.[0-9]*; do
    [ ! -e "$headers" ] || cp -r "$headers" "$root/usr/include/$triplet"
done

# glibc 2.29 has new versions of exp, log and pow. The linker gets a libm with each function's newest version up to
# 2.28.
libm=$(readlink -f "$root/lib/$triplet/libm.so.6")
"$triplet-objdump" -T "$libm" | awk -v script="$work/libm.map" '
    function number(version, part) {
        split(substr(version, 7), part, ".")
        return part[1] * 1000000 + part[2] * 1000 + part[3]
    }
    $2 ~ /^[gwui]$/ && $(NF - 1) ~ /^\(?GLIBC_[0-9.]+\)?$/ && !/\*(UND|ABS)\*/ {
        version = $(NF - 1)
        gsub(/[()]/, "", version)
        if (number(version) <= number("GLIBC_2.28") && number(version) > number(chosen[$NF])) {
            chosen[$NF] = version
            kind[$NF] = / DO / ? "object" : "function"
        }
    }
    END {
        for (name in chosen) {
            printf "\t.globl %s\n\t.type %s, @%s\n%s:\n\t.quad 0\n\t.size %s, 8\n", name, name, kind[name], name, name
            names[chosen[name]] = names[chosen[name]] " " name ";"
        }
        for (version in names)
            printf "%s { global:%s };\n", version, names[version] >script
    }' >"$work/libm.s"
"$triplet-gcc" -shared -nostdlib -Wl,-soname,libm.so.6 "-Wl,--version-script=$work/libm.map" "$work/libm.s" -o "$work/libm.so.6"
mv "$work/libm.so.6" "$libm"

cat >"$directory/toolchain.cmake" <<END
set(CMAKE_SYSROOT $root)
set(CMAKE_FIND_ROOT_PATH $root)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Packed files other than .gz are not read, so these two libraries are not needed.
set(CMAKE_DISABLE_FIND_PACKAGE_BZip2 TRUE)
set(CMAKE_DISABLE_FIND_PACKAGE_LibLZMA TRUE)
set(CMAKE_LIBRARY_ARCHITECTURE $triplet)
foreach(kind EXE SHARED MODULE) # first: the compiler's own folders have this system's libraries
  set(CMAKE_\${kind}_LINKER_FLAGS_INIT "-B$root/usr/lib/$triplet -L$root/usr/lib/$triplet -L$root/lib/$triplet")
endforeach()
# What the static libraries need.
set(CMAKE_C_STANDARD_LIBRARIES "-Wl,--push-state,--as-needed -lz -lm -ldl -lpthread -Wl,--pop-state" CACHE STRING "")
set(HDF5_DIR $root/usr/cmake)
set(HDF5_C_COMPILER_EXECUTABLE none) # otherwise CMake asks this system's h5cc for libraries
set(ENV{PKG_CONFIG_SYSROOT_DIR} $root)
set(ENV{PKG_CONFIG_LIBDIR} $root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig:$root/usr/lib/$triplet/openblas-pthread/pkgconfig)
END
# A cross compiler finds its own system's headers before those of the sysroot.
[ -z "$crossing" ] || cat >>"$directory/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $machine)
set(CMAKE_C_COMPILER $triplet-gcc -isystem $root/usr/include/$triplet -isystem $root/usr/include)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-$machine -L /usr/$triplet)
END

# ---- HDF5 and libzip ------------------------------------------------------------

# build NAME RELEASE OPTION...: builds the static library of the source package NAME of Debian's RELEASE, with Debian's
# patches.
build() {
    local name=$1 line="deb-src [signed-by=$keys] $mirror $2 main" at=$work/$1
    shift 2
    say "$name"
    with_apt "$name" "$line" update
    (cd "$at" && with_apt "$name" "$line" --download-only source "$name")
    mkdir "$at/source"
    tar -xf "$at/$name"_*.orig.tar.* --strip-components=1 -C "$at/source"
    tar -xf "$at/$name"_*.debian.tar.* -C "$at/source"
    sed 's/[[:space:]]*#.*//; /^$/d' "$at/source/debian/patches/series" | while read -r patch; do
        patch -s -p1 -d "$at/source" <"$at/source/debian/patches/$patch"
    done
    cmake -S "$at/source" -B "$at/build" "-DCMAKE_TOOLCHAIN_FILE=$directory/toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DCMAKE_INSTALL_PREFIX=/usr "-DCMAKE_INSTALL_LIBDIR=lib/$triplet" -DBUILD_SHARED_LIBS=OFF \
        -DCMAKE_POSITION_INDEPENDENT_CODE=ON "-DCMAKE_C_FLAGS=-fvisibility=hidden -ffile-prefix-map=$at=." "$@" >"$at/log"
    cmake --build "$at/build" -j"$jobs" >>"$at/log" || { tail -40 "$at/log" >&2 && exit 1; }
    DESTDIR=$root cmake --install "$at/build" >>"$at/log"
    mkdir -p "$root/usr/share/doc/$name"
    cp "$at/source/debian/copyright" "$root/usr/share/doc/$name"
    basename "$at/$name"_*.dsc >>"$directory/packages.txt"
}

build hdf5 trixie -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DBUILD_TESTING=OFF -DHDF5_BUILD_CPP_LIB=OFF \
    -DHDF5_BUILD_FORTRAN=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF
build libzip bookworm -DENABLE_COMMONCRYPTO=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF \
    -DENABLE_BZIP2=OFF -DENABLE_LZMA=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF
rm -r "$work"
touch "$directory/complete"
