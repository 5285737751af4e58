#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# trust.sh PROGRAMS LIBRARIES: libcore runs no program or library that an untrusted caller chose: not
# with a relative LD_LIBRARY_PATH and another current directory, and not in a set-uid program. A user
# namespace does not make other users' plugins trusted. Plugins are found on an overlay of overlays,
# and in the directory of a trusted group. PROGRAMS: the directory with the programs of show_search.c.
# LIBRARIES: the directory with libcore and the plugins.
set -eu
programs=$1 libraries=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
export XDG_CACHE_HOME=$work/cache XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work

fail()
{
    echo "trust.sh: $1" >&2
    exit 1
}

# A directory that looks like the installation of libcore, with a program of an attacker.
mkdir -p "$work/trap/lib/collet"
printf '#!/bin/sh\ntouch %s\n' "$work/ran" >"$work/trap/lib/collet/collet-probe"
chmod 755 "$work/trap/lib/collet/collet-probe"
cp "$libraries"/libcollet-core.so* "$work/trap/lib"
(cd "$libraries/.." && LD_LIBRARY_PATH=$(basename "$libraries") "$programs/show_search" "$work/trap") >"$work/out" ||
    { cat "$work/out"; fail "plugins were searched below the current directory"; }
[ ! -e "$work/ran" ] || fail "a program below the current directory ran"
grep -q "probe ok .*/cpu_scalar.so" "$work/out" || { cat "$work/out"; fail "cpu_scalar was not probed"; }

# On an overlay of overlays, /proc/self/maps shows libcore's path within the lower overlay. Needs mount.
mkdir "$work/layers"
cat >"$work/overlay" <<'END'
set -e
mount -t tmpfs none "$1/layers"
cd "$1/layers"
mkdir -p lower/lib/collet upper1 work1 middle upper2 work2 top
cp "$2"/libcollet-core.so* lower/lib
cp "$2/collet/collet-probe" "$2/collet/cpu_scalar.so" lower/lib/collet
mount -t overlay none -o lowerdir=lower,upperdir=upper1,workdir=work1 middle
mount -t overlay none -o lowerdir=middle,upperdir=upper2,workdir=work2 top
END
own=
[ "$(id -u)" = 0 ] || own=-r
if unshare -m $own sh "$work/overlay" "$work" "$libraries" 2>/dev/null; then
    echo 'LD_LIBRARY_PATH=$PWD/top/lib "$3/show_search"' >>"$work/overlay"
    unshare -m $own sh "$work/overlay" "$work" "$libraries" "$programs" >"$work/out" ||
        { cat "$work/out"; fail "no backend on an overlay of overlays"; }
    grep -q "probe ok .*/layers/top/lib/collet/cpu_scalar.so" "$work/out" ||
        { cat "$work/out"; fail "the plugins beside libcore were not found"; }
else
    echo "trust.sh: the part with overlays is skipped: it needs mount"
fi

# A set-uid program, with a library that OCL_ICD_VENDORS names. Needs root, and files that others can read.
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null ||
   ! cp -r "$libraries/collet" "$work/collet" || ! cp "$programs/show_search_alone" "$work/show_search" ||
   ! setpriv --reuid 65534 --regid 65534 --clear-groups "$work/show_search" >/dev/null 2>&1; then
    echo "trust.sh: the part with a set-uid program is skipped: it needs root; 1 attack"
    exit 0
fi

# A laboratory's installation, to which its group may write. Programs report that, and how to correct it.
mkdir "$work/lab"
cp -r "$libraries" "$work/lab/lib"
rm -f "$work"/lab/lib/collet/*opencl.so "$work"/lab/lib/collet/cuda.so
chgrp -R 54321 "$work/lab"
chmod -R g+w "$work/lab"
find "$work/lab" -type d -exec chmod g+s {} +
member()
{
    setpriv --reuid 12345 --regid 12345 --groups 54321 env LD_LIBRARY_PATH="$work/lab/lib" \
        XDG_CACHE_HOME="$work/none" "$@"
}
cp "$programs/show_search" "$work/lab/show_search"
if member "$work/lab/show_search" >"$work/out" 2>&1; then
    fail "plugins of a group that nobody trusts were used"
fi
grep -q "no backend can be used: .*members of the group 54321 may write to $work/lab, .*set COLLET_TRUST_GROUP=54321 in the environment, else chmod g-w $work/lab (" \
    "$work/out" || { cat "$work/out"; fail "what mends it is not said"; }
! grep "no backend can be used: .*validation" "$work/out" || fail "a layer is called a backend"
member env COLLET_TRUST_GROUP=54321 COLLET_BACKEND=cpu_scalar "$work/lab/show_search" >"$work/out" 2>&1 ||
    { cat "$work/out"; fail "the plugins of a trusted group were not used"; }
grep -q "probe ok .*/cpu_scalar.so" "$work/out" || { cat "$work/out"; fail "no probe in a trusted place"; }
member env COLLET_TRUST_GROUP=54321 COLLET_BACKEND=worker:cpu_scalar "$work/lab/show_search" >"$work/out" 2>&1 ||
    { cat "$work/out"; fail "no worker in the place of a trusted group"; }
tries=0
until member "$work/lab/show_search" >"$work/out" 2>&1; do
    tries=$((tries + 1))
    named=$(sed -n 's/.*no backend can be used: [^:]*: [^:]*: [^:]*, else chmod g-w \([^ ;]*\).*/\1/p' "$work/out")
    [ $tries -le 5 ] && [ -n "$named" ] && chmod g-w "$named" || { cat "$work/out"; fail "the chmod mends nothing"; }
done

# In a user namespace all users outside of it, also root and perhaps the owner of libcore, look like the same user.
mkdir "$work/theirs"
cp "$libraries/collet/cpu_openmp.so" "$work/theirs/cpu_theirs.so"
chown -R 54321 "$work/theirs"
chmod 755 "$work/theirs"
for owner in 0 12345; do
    chown -R $owner "$work/collet" "$work/show_search"
    setpriv --reuid 12345 --regid 12345 --clear-groups unshare -Uc true 2>/dev/null ||
        { echo "trust.sh: the part with a user namespace is skipped"; break; }
    setpriv --reuid 12345 --regid 12345 --clear-groups unshare -Uc env \
        COLLET_PLUGIN_PATH="$work/collet/cpu_scalar.so:$work/theirs" "$work/show_search" >"$work/out" ||
        { cat "$work/out"; fail "nothing computed in a user namespace"; }
    grep -q "policy foreign-owner $work/theirs/" "$work/out" ||
        { cat "$work/out"; fail "a plugin of any user was tried"; }
    grep -q "computed by cpu_scalar" "$work/out" || fail "cpu_scalar did not compute"
done
chown -R 0 "$work/collet" "$work/show_search"

chmod 4755 "$work/show_search"
setpriv --reuid 65534 --regid 65534 --clear-groups env OCL_ICD_VENDORS="$work" \
    "$work/show_search" >"$work/out" || { cat "$work/out"; fail "the set-uid program failed"; }
grep -q "policy raised-privileges .*/opencl.so" "$work/out" ||
    { cat "$work/out"; fail "opencl was tried"; }
grep -q "computed by cpu_scalar" "$work/out" || fail "cpu_scalar did not compute"

# The set-uid program starts no worker: collet-worker could not find libcore.
if setpriv --reuid 65534 --regid 65534 --clear-groups "$work/show_search" / worker:cpu_scalar >"$work/out" 2>&1; then
    fail "the set-uid program started a worker"
fi
grep -q "worker:cpu_scalar: a program with raised privileges" "$work/out" &&
    ! grep -q "shared libraries" "$work/out" ||
    { cat "$work/out"; fail "why there is no worker is not said"; }

# No variable of the caller's environment reaches the probe.
printf '#!/bin/sh\nenv >>%s\n' "$work/environment" >"$work/collet/collet-probe"
: >"$work/environment"
chmod 666 "$work/environment"
setpriv --reuid 65534 --regid 65534 --clear-groups env CHOSEN=1 "$work/show_search" >/dev/null 2>&1 ||
    fail "the set-uid program failed without a probe"
[ -s "$work/environment" ] || fail "no probe was started"
! grep CHOSEN "$work/environment" || fail "the caller's environment reached the probe"
echo "5 attacks"
