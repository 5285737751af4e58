/* SPDX-License-Identifier: Apache-2.0 */
/* space.h - checks the free disk space before a long run. */
#ifndef TOOLS_RSOXS_SPACE_H
#define TOOLS_RSOXS_SPACE_H

#include <collet/collet.h>

/* IO if the disk of a directory, which need not exist yet, has too little room for `what`. Where
 * that is not known, OK. */
collet_status rsoxs_check_space(const char *directory, double bytes, const char *what,
                                collet_error *err);

#endif
