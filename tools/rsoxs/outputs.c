/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a run makes, replaces or removes.
 * Tests: tests/tools/rsoxs/test_rsoxs_results.c */
#include "outputs.h"
#include "io/spool.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 1 if `file` is NAME.png, NAME_K0.png and so on. NAME is the first `length` characters of `name`. */
static int is_picture(const char *file, const char *name, size_t length)
{
    const char *end = file + length;
    if (strncmp(file, name, length) != 0)
        return 0;
    if (!strncmp(end, "_K", 2))
        end += 2 + strspn(end + 2, "0123456789");
    return !strcmp(end, ".png");
}

/* 1 if the file was made from the patterns of all energies or, unless it is NULL, from `pattern`. */
static int is_companion(const char *file, const char *pattern)
{
    return is_picture(file, "intensity", strlen("intensity")) ||
           (pattern && (!strcmp(file, RSOXS_INTEGRALS) ||
                        is_picture(file, pattern, strlen(pattern) - strlen(".h5"))));
}

static void remove_companions(const char *path, const char *pattern)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)) != NULL) {
        struct stat st;
        if (!is_companion(entry->d_name, pattern))
            continue;
        if (fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            mode_t mask = umask(077); /* the replacement gets no wider permissions */
            umask(mask | (~st.st_mode & 077));
        }
        unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory)
        closedir(directory);
}

void rsoxs_remove_companions(const char *directory, double energy)
{
    char pattern[COLLET_SCATTER_NAME];
    collet_scatter_file_name(pattern, energy);
    remove_companions(directory, pattern);
}

void rsoxs_remove_maps(const char *directory)
{
    remove_companions(directory, NULL);
}

/* 1 if the run makes or removes files with this name. */
static int is_output(const rsoxs_run *run, const char *name)
{
    const rsoxs_options *o = run->options;
    int companions = o->force || o->integrate || o->png;
    for (int64_t i = 0; i < run->n_chosen; i++) {
        char pattern[COLLET_SCATTER_NAME];
        collet_scatter_file_name(pattern, run->chosen[i]);
        if (!strcmp(name, pattern) || (companions && is_companion(name, pattern)))
            return 1;
    }
    return 0;
}

/* Fails if `output` is one of the morphologies, the configuration or its Material<i>.txt. */
static collet_status check_inputs(const rsoxs_run *run, const char *output, collet_error *err)
{
    const char *configuration = run->options->configuration, *slash = strrchr(configuration, '/');
    int before = slash ? (int)(slash - configuration) + 1 : 0;
    size_t size = (size_t)before + 40;
    char *material = malloc(size);
    struct stat file;
    const char *film =
        stat(output, &file) == 0 ? rsoxs_films_find(&run->session->films, &file) : NULL;
    collet_status status = material ? io_spool_check_input(output, film, err)
                                    : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    if (status == COLLET_OK)
        status = io_spool_check_input(output, configuration, err);
    for (int64_t m = 1; m <= run->work.n_materials && status == COLLET_OK; m++) {
        snprintf(material, size, "%.*sMaterial%" PRId64 ".txt", before, configuration, m);
        status = io_spool_check_input(output, material, err);
    }
    free(material);
    return status;
}

collet_status rsoxs_check_outputs(const rsoxs_run *run, collet_error *err)
{
    DIR *directory = opendir(run->directory);
    const struct dirent *entry;
    collet_status status = COLLET_OK;
    while (directory && status == COLLET_OK && (entry = readdir(directory)) != NULL) {
        size_t size = strlen(run->directory) + strlen(entry->d_name) + 2;
        char *path = malloc(size);
        if (path)
            snprintf(path, size, "%s/%s", run->directory, entry->d_name);
        status = path ? check_inputs(run, path, err)
                      : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
        free(path);
        if (status == COLLET_INVALID && !is_output(run, entry->d_name))
            status = COLLET_OK;
    }
    if (directory)
        closedir(directory);
    return status;
}
