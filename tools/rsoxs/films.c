/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_shards.c */
#include "films.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct rsoxs_inode {
    dev_t device;
    ino_t number;
    const char *path;
} rsoxs_inode;

/* ---- Names ----------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const rsoxs_film *x = a, *y = b;
    int shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->name, y->name, (size_t)shorter);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

static collet_status add_film(rsoxs_films *films, const char *path, collet_error *err)
{
    if ((films->count & (films->count - 1)) == 0) { /* the array is full at powers of two; its size doubles */
        rsoxs_film *more =
            realloc(films->films, (size_t)(films->count ? 2 * films->count : 1) * sizeof *more);
        if (!more)
            return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
        films->films = more;
    }
    char *copy = strdup(path);
    if (!copy)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    const char *slash = strrchr(copy, '/'), *name = slash ? slash + 1 : copy;
    int length = (int)strlen(name);
    if (length > 3 && !strcmp(name + length - 3, ".h5"))
        length -= 3;
    films->films[films->count++] = (rsoxs_film){.path = copy, .name = name, .length = length};
    return COLLET_OK;
}

/* Adds the films that the lines of a file name. */
static collet_status add_list(rsoxs_films *films, const char *path, collet_error *err)
{
    collet_status status = COLLET_OK;
    char line[PATH_MAX];
    size_t length = 0;
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!f)
        return collet_fail(err, COLLET_IO, "--films: %s: %s", path, strerror(errno));
    errno = 0;
    for (int c = 0; status == COLLET_OK && c != EOF;) {
        c = getc(f);
        if (c == '\0') /* as find -print0 writes */
            status = collet_fail(err, COLLET_INVALID,
                                 "--films: %s: a name ends in a zero byte: write one a line", path);
        else if (c != '\n' && c != '\r' && c != EOF && length == sizeof line - 1)
            status = collet_fail(err, COLLET_INVALID,
                                 "--films: %s: a line has %d bytes or more: write one name per line",
                                 path, PATH_MAX);
        else if (c != '\n' && c != '\r' && c != EOF)
            line[length++] = (char)c;
        else if (length > 0) {
            line[length] = '\0';
            length = 0;
            status = add_film(films, line, err);
        }
    }
    if (status == COLLET_OK && !feof(f))
        status =
            collet_fail(err, COLLET_IO, "--films: %s: cannot be read: %s", path, strerror(errno));
    fclose(f);
    if (status == COLLET_OK && films->count == 0)
        status =
            collet_fail(err, COLLET_INVALID, "--films: %s has no films: write one a line", path);
    return status;
}

static collet_status add_films(rsoxs_films *films, const rsoxs_options *o, collet_error *err)
{
    collet_status status = COLLET_OK;
    for (int64_t i = 0; i < o->n_films && status == COLLET_OK; i++)
        status = add_film(films, o->films[i], err);
    if (status == COLLET_OK && o->list)
        status = add_list(films, o->list, err);
    if (status != COLLET_OK)
        return status;
    films->inodes = calloc((size_t)films->count, sizeof *films->inodes);
    if (!films->inodes)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    /* Shells may list films in different orders; all shards need the same order. */
    qsort(films->films, (size_t)films->count, sizeof *films->films, by_name);
    return COLLET_OK;
}

static collet_status name_directories(rsoxs_films *films, collet_error *err)
{
    for (int64_t i = 0; i < films->count; i++) {
        rsoxs_film *film = &films->films[i];
        int made = films->count == 1 ? asprintf(&film->directory, "%s", films->directory)
                                     : asprintf(&film->directory, "%s/%.*s", films->directory,
                                                film->length, film->name);
        if (made < 0) {
            film->directory = NULL;
            return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
        }
        if (films->count > 1 && film->length == 0)
            return collet_fail(err, COLLET_INVALID, "%s is a directory, not a film", film->path);
        if (films->count > 1 && (int)strspn(film->name, ".") >= film->length && film->length < 3)
            return collet_fail(err, COLLET_INVALID,
                               "%s: its patterns need a directory of their own, and %s cannot be one: rename the "
                               "film",
                               film->path, film->directory);
        if (i > 0 && by_name(film - 1, film) == 0)
            return collet_fail(err, COLLET_INVALID,
                               "%s and %s have the same name, and would both write %s: rename one, "
                               "or compute it apart with another -o",
                               film[-1].path, film->path, film->directory);
    }
    return COLLET_OK;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static int by_inode(const void *a, const void *b)
{
    const rsoxs_inode *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

const char *rsoxs_films_find(const rsoxs_films *films, const struct stat *file)
{
    const rsoxs_inode sought = {file->st_dev, file->st_ino, NULL};
    const rsoxs_inode *found =
        bsearch(&sought, films->inodes, (size_t)films->count, sizeof sought, by_inode);
    return found ? found->path : NULL;
}

/* Stores the inodes of this process's films only, so that each of 1,000 shards does not query the files of
 * all 10,000 films. The other films, and films that do not exist, get inode 0, which no file has. */
static void note_files(rsoxs_films *films)
{
    for (int64_t i = 0; i < films->count; i++) {
        const char *path = films->films[i].path;
        struct stat file;
        if (films->films[i].first < films->films[i].end && stat(path, &file) == 0)
            films->inodes[i] = (rsoxs_inode){file.st_dev, file.st_ino, path};
    }
    qsort(films->inodes, (size_t)films->count, sizeof *films->inodes, by_inode);
}

/* ---- Shards ---------------------------------------------------------------------------------- */

static void divide(rsoxs_films *films, tool_shard shard)
{
    int64_t energies = films->n_energies, parts = films->count;
    int whole = films->count >= shard.n_shards;
    if (!whole)
        parts *= energies;
    int64_t first = shard.n_shards ? tool_shard_first(shard, parts) : 0;
    int64_t end = shard.n_shards ? tool_shard_end(shard, parts) : parts;
    if (whole) {
        first *= energies;
        end *= energies;
    }
    for (int64_t i = 0; i < films->count; i++) {
        rsoxs_film *film = &films->films[i];
        int64_t before = i * energies;
        film->first = first > before ? first - before : 0;
        film->end = end < before + energies ? end - before : energies;
        if (film->first >= film->end)
            film->first = film->end = 0;
    }
}

int64_t rsoxs_films_shard(const rsoxs_films *films, int64_t n_shards, int64_t film, int64_t energy)
{
    int whole = films->count >= n_shards;
    int64_t parts = whole ? films->count : films->count * films->n_energies;
    int64_t part = whole ? film : film * films->n_energies + energy, low = 1, high = n_shards;
    while (low < high) { /* finds the first shard that ends after the part */
        int64_t middle = low + (high - low) / 2;
        if (tool_shard_end((tool_shard){middle, n_shards}, parts) > part)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- Energies -------------------------------------------------------------------------------- */

#define SAME_ENERGY 1e-3 /* eV, tolerance between --energies and the configuration */

int rsoxs_films_chosen(const rsoxs_options *o, double energy)
{
    for (int64_t i = 0; i < o->n_energies; i++)
        if (fabs(o->energies[i] - energy) <= SAME_ENERGY)
            return 1;
    return o->energies == NULL;
}

static collet_status choose_energies(rsoxs_films *films, const rsoxs_options *o, int64_t n_energies,
                                     const double *energies, collet_error *err)
{
    films->energies = malloc((size_t)n_energies * sizeof *films->energies);
    if (!films->energies)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    for (int64_t e = 0; e < n_energies; e++)
        if (rsoxs_films_chosen(o, energies[e]))
            films->energies[films->n_energies++] = energies[e];
    for (int64_t i = 0; i < o->n_energies; i++) {
        int64_t e = 0;
        while (e < n_energies && fabs(energies[e] - o->energies[i]) > SAME_ENERGY)
            e++;
        if (e == n_energies)
            return collet_fail(err, COLLET_INVALID,
                               o->merge ? "%s has no energy of %.10g eV, but the shards have it"
                                        : "--energies: %s has no energy of %.10g eV",
                               o->configuration, o->energies[i]);
    }
    return COLLET_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Copies the path without slashes at its end, so that ".shards" can follow. */
static char *copy_directory(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return strndup(path, length);
}

static collet_status read_configuration(rsoxs_films *films, const rsoxs_options *o,
                                        collet_error *err)
{
    collet_scatter_input *input;
    collet_status status = collet_scatter_read(&input, NULL, o->configuration, o->dtype, err);
    if (status == COLLET_IO && !o->merge && access(o->configuration, F_OK) != 0) {
        const collet_error found = *err;
        return collet_fail(err, status, "%s; name a configuration by -c FILE", found.text);
    }
    if (status != COLLET_OK)
        return status;
    const collet_scatter_options *read = collet_scatter_input_options(input);
    const char *directory = o->directory ? o->directory : collet_scatter_input_directory(input);
    films->directory = copy_directory(directory ? directory : "HDF5");
    status = films->directory ? choose_energies(films, o, read->n_energies, read->energies, err)
                              : collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    collet_scatter_input_destroy(input);
    return status;
}

collet_status rsoxs_films_open(rsoxs_films *films, const rsoxs_options *options, collet_error *err)
{
    *films = (rsoxs_films){0};
    collet_status status = add_films(films, options, err);
    if (status == COLLET_OK)
        status = read_configuration(films, options, err);
    if (status == COLLET_OK)
        status = name_directories(films, err);
    if (status == COLLET_OK) {
        divide(films, options->shard);
        note_files(films);
    }
    return status;
}

void rsoxs_films_close(rsoxs_films *films)
{
    for (int64_t i = 0; i < films->count; i++) {
        free(films->films[i].path);
        free(films->films[i].directory);
    }
    free(films->films);
    free(films->inodes);
    free(films->directory);
    free(films->energies);
}
