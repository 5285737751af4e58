#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# array-api.sh DIRECTORY [ARGUMENT...]: runs the test suite of the Python array API standard on the package in
# build/python. pytest gets the ARGUMENTs. The script fetches the suite into DIRECTORY unless DIRECTORY has it already.
# array-api.txt lists the failures that are expected. Needs git, and python3 with NumPy, pytest, hypothesis, ndindex and
# pytest-json-report. $PYTHON names another interpreter, $COLLET_BACKEND another backend.
set -eu
[ $# -ge 1 ] || {
    echo "usage: array-api.sh DIRECTORY [ARGUMENT...]" >&2
    exit 2
}
root=$(cd "$(dirname "$0")/../.." && pwd)
if [ ! -d "$1/array_api_tests" ]; then
    git clone https://github.com/data-apis/array-api-tests "$1"
    git -C "$1" checkout 55fcc60179efa2680ddd6cd926ddf17b83530e2b
    git -C "$1" submodule update --init
    # The suite does not ask how many axes arrays may have: it reshapes to 32 axes, and its results of tensordot have up to 10.
    most='__array_namespace_info__().capabilities()["max dimensions"]'
    sed -i "s/^MAX_DIMS = min(.*, 32)$/MAX_DIMS = xp.$most/" "$1/array_api_tests/hypothesis_helpers.py"
    sed -i "s/^    shape1, shape2 = map(tuple, \[_shape1, _shape2\])$/&\n    assume(ndim1 + ndim2 - 2 * len(first) <= _array_module.$most)/" \
        "$1/array_api_tests/test_linalg.py"
fi
cd "$1"
shift
ARRAY_API_TESTS_MODULE=collet PYTHONPATH="$root/build/python${PYTHONPATH:+:$PYTHONPATH}" exec "${PYTHON:-python3}" \
    -m pytest -q --ignore=meta_tests --disable-deadline --xfails-file="$root/tools/dev/array-api.txt" "$@"
