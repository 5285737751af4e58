/* SPDX-License-Identifier: Apache-2.0 */
/* count_files.h - the files of a directory. */
#ifndef TESTS_COMMON_COUNT_FILES_H
#define TESTS_COMMON_COUNT_FILES_H

#include <dirent.h>
#include <string.h>

/* Returns the number of files whose names contain `part`; 0 if the directory cannot be read. */
static inline int count_files(const char *directory, const char *part)
{
    int count = 0;
    DIR *entries = opendir(directory);
    struct dirent *entry;
    while (entries && (entry = readdir(entries)))
        count += strstr(entry->d_name, part) != NULL;
    if (entries)
        closedir(entries);
    return count;
}

#endif
