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

/* Whether it was made from the pattern of an energy: Energy_285.20.png, _K0.png and so on, or from
 * the patterns of all energies. */
static int is_companion(const char *name, const char *pattern)
{
    size_t stem = strlen(pattern) - strlen(".h5");
    const char *end = !strncmp(name, "intensity", 9)  ? name + 9
                      : !strncmp(name, pattern, stem) ? name + stem
                                                      : ".";
    if (!strncmp(end, "_K", 2))
        end += 2 + strspn(end + 2, "0123456789");
    return !strcmp(end, ".png") || !strcmp(name, RSOXS_INTEGRALS);
}

void rsoxs_remove_companions(const char *path, double energy)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    char pattern[COLLET_SCATTERING_NAME];
    collet_scattering_file_name(pattern, energy);
    while (directory && (entry = readdir(directory)) != NULL) {
        struct stat st;
        if (!is_companion(entry->d_name, pattern))
            continue;
        if (fstatat(dirfd(directory), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
            mode_t mask = umask(077); /* the replacement gets no more permissions */
            umask(mask | (~st.st_mode & 077));
        }
        unlinkat(dirfd(directory), entry->d_name, 0);
    }
    if (directory)
        closedir(directory);
}

/* Whether the run makes or removes files of this name. */
static int is_output(const rsoxs_run *run, const char *name)
{
    const rsoxs_options *o = run->options;
    int companions = o->force || o->integrate || o->png;
    for (int64_t i = 0; i < run->n_chosen; i++) {
        char pattern[COLLET_SCATTERING_NAME];
        collet_scattering_file_name(pattern, run->chosen[i]);
        if (!strcmp(name, pattern) || (companions && is_companion(name, pattern)))
            return 1;
    }
    return 0;
}

/* Compares `output` with the morphology, the configuration and its Material<i>.txt. */
static collet_status check_inputs(const rsoxs_run *run, const char *output, collet_error *err)
{
    const char *configuration = run->options->configuration, *slash = strrchr(configuration, '/');
    int before = slash ? (int)(slash - configuration) + 1 : 0;
    size_t size = (size_t)before + 40;
    char *material = malloc(size);
    collet_status status = material ? io_spool_check_input(output, run->options->morphology, err)
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
