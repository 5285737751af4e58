/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_top.c */
#include "include.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const installed[] = {"/usr/share/gromacs/top",
                                        "/usr/local/gromacs/share/gromacs/top"};

/* Sets *path to FOLDER/inner/NAME if there is such a file, else to NULL. Returns 0 if there is no
 * memory. */
static int try_folder(trajectory_word folder, const char *inner, trajectory_word name, char **path)
{
    if (asprintf(path, "%.*s%s%.*s", (int)folder.length, folder.text, inner, (int)name.length,
                 name.text) < 0) {
        *path = NULL;
        return 0;
    }
    if (access(*path, R_OK) != 0) {
        free(*path);
        *path = NULL;
    }
    return 1;
}

static trajectory_word word_of(const char *text)
{
    return (trajectory_word){text, strlen(text)};
}

/* Returns the folder in a file's path, with its last '/'; "" if the path has no folder. */
static trajectory_word folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return (trajectory_word){file, slash ? (size_t)(slash - file) + 1 : 0};
}

/* Tries each folder of a list; ':' separates folders, as in PATH. */
static int try_list(const char *list, trajectory_word name, char **path)
{
    while (*list && !*path) {
        trajectory_word folder = {list, strcspn(list, ":")};

        if (folder.length > 0 && !try_folder(folder, "/", name, path))
            return 0;
        list += folder.length + (list[folder.length] == ':');
    }
    return 1;
}

static int search(const char *file, const char *root, trajectory_word name, char **path)
{
    const char *library = secure_getenv("GMXLIB"), *data = secure_getenv("GMXDATA");

    if (*name.text == '/')
        return try_folder(word_of(""), "", name, path);
    int memory = try_folder(folder_of(file), "", name, path);
    if (memory && !*path)
        memory = try_folder(folder_of(root), "", name, path);
    if (memory && !*path && library)
        memory = try_list(library, name, path);
    if (memory && !*path && data)
        memory = try_folder(word_of(data), "/top/", name, path);
    for (size_t i = 0; i < sizeof installed / sizeof *installed && memory && !*path; i++)
        memory = try_folder(word_of(installed[i]), "/", name, path);
    return memory;
}

collet_status trajectory_top_find(const io_lines *where, const char *root, trajectory_word name,
                                  char **path, collet_error *err)
{
    *path = NULL;
    if (!search(where->source->path, root, name, path))
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the path of an included file",
                           where->source->path);
    if (*path)
        return COLLET_OK;
    return trajectory_text_fail(
        where, err,
        "#include \"%.*s\": there is no such file next to this one, in GMXLIB, in GMXDATA/top or "
        "in "
        "%s; set GMXLIB to the folder that has it (share/gromacs/top of GROMACS), or give a file "
        "without #include: gmx grompp -pp all.top writes one",
        (int)(name.length < 200 ? name.length : 200), name.text, installed[0]);
}
