# SPDX-License-Identifier: Apache-2.0
# cmake -DDIRECTORY=path -P fresh.cmake: makes an empty directory, and removes the old one.
file(REMOVE_RECURSE ${DIRECTORY})
file(MAKE_DIRECTORY ${DIRECTORY})
