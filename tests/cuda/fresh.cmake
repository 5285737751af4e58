# SPDX-License-Identifier: Apache-2.0
# cmake -DDIRECTORY=path -P fresh.cmake: an empty directory.
file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
