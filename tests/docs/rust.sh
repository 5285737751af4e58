#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rust.sh SOURCE WORK BIN: the backend of docs/rust.md compiles, passes backend-check and is
# listed by backend-info. RUSTC is the compiler; without one the test is skipped.
set -euo pipefail
source=$1 work=$2 bin=$3
[ -x "${RUSTC:?}" ] && "$RUSTC" --version || {
    echo "there is no rustc that works (Debian: rustc)"
    exit 77
}
mkdir -p "$work"
"$RUSTC" -O -C panic=abort -C strip=symbols --crate-type cdylib -o "$work/rust_add.so" \
    "$source/lib.rs"
[ "$(nm -D --defined-only "$work/rust_add.so" | awk '{print $NF}')" = collet_plugin_entry ]
"$bin/backend-check" --timeout 300 "$work/rust_add.so"
"$bin/backend-check" --timeout 300 --layer validation --op add "$work/rust_add.so"
listed=$(COLLET_PLUGIN_PATH=+$work "$bin/backend-info")
grep "rust_add  *usable" <<<"$listed"
