/* SPDX-License-Identifier: Apache-2.0 */
/* search - lists the files in the search path that may be plugins. */
#pragma once

#include "plugin.h"
#include "record.h"

typedef struct search_result {
    char **files; /* absolute paths, in search order */
    size_t count;
} search_result;

/* Lists the `*.so` files of every directory of the search path, sorted by name within each directory, and the files
 * that the path names. No file and no directory is visited twice. Appends a record of stage
 * "search" for each element of the path and each duplicate file; warns about elements of paths in
 * `options` that cannot be searched. With raised privileges the environment is not used. The caller
 * clears *result also after a failure. NO_MEMORY. */
collet_status search_files(const loader_options *options, record_list *records,
                           search_result *result, collet_error *err);
void search_clear(search_result *result);
