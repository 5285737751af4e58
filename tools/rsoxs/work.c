/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_shards.c */
#include "work.h"

#include "io/decimal.h"
#include "io/mapping.h"
#include "io/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file has words, each ended by a NUL: KEY=VALUE in the order of `keys`, then the films. */
enum { SHARDS, STARTED, CONFIG, ENERGIES, WEDGE, CHOICES, FILMS = CHOICES + 6 };
static const char *const keys[] = {"collet-rsoxs work 1: shards",
                                   "started in",
                                   "config",
                                   "energies",
                                   "wedge",
                                   "integrate",
                                   "png",
                                   "method",
                                   "dtype",
                                   "q-grid",
                                   "dc"};
static const char *const choices[][3] = {{"no", "yes"},
                                         {"no", "yes"},
                                         {"fast", "direct"},
                                         {"f32", "f64"},
                                         {"exact", "cyrsoxs", "fft"},
                                         {"keep", "neighbours"}};

/* ---- Writing --------------------------------------------------------------------------------- */

static void print_word(FILE *f, int key, const char *value)
{
    fprintf(f, "%s=%s%c", keys[key], value, '\0');
}

static void print_choices(FILE *f, const rsoxs_options *o)
{
    const uint32_t values[] = {o->integrate != 0,      o->png != 0, o->method,
                               o->dtype == COLLET_F64, o->grid,     o->neighbours};
    for (int i = 0; i < FILMS - CHOICES; i++)
        print_word(f, CHOICES + i, choices[i][values[i]]);
}

/* Returns the text of the file. It contains the energies, so that a configuration with other energies is
 * noticed. It names all films, because the list of films may be standard input. The caller frees the text;
 * NULL if out of memory. */
static char *make_text(const rsoxs_films *films, const rsoxs_options *o, size_t *size)
{
    char number[32], *text = NULL, *directory = getcwd(NULL, 0);
    FILE *f = open_memstream(&text, size);
    if (!f) {
        free(directory);
        return NULL;
    }
    snprintf(number, sizeof number, "%lld", (long long)o->shard.n_shards);
    print_word(f, SHARDS, number);
    print_word(f, STARTED, directory ? directory : "");
    print_word(f, CONFIG, o->configuration);
    fprintf(f, "%s=", keys[ENERGIES]);
    for (int64_t i = 0; i < films->n_energies; i++)
        fprintf(f, "%s%.17g", i ? "," : "", films->energies[i]);
    fputc('\0', f);
    snprintf(number, sizeof number, "%.17g", o->wedge);
    print_word(f, WEDGE, number);
    print_choices(f, o);
    for (int64_t i = 0; i < films->count; i++)
        fprintf(f, "%s%c", films->films[i].path, '\0');
    free(directory);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* Returns INVALID if `text` describes a different run than `file`; the error names the first difference that
 * matters. */
static collet_status compare(const char *path, const rsoxs_work *file, const char *text,
                             size_t size, collet_error *err)
{
    const char *theirs = file->text, *ours = text;
    int key = 0;

    for (; theirs < file->text + file->size || ours < text + size; key++) {
        const char *a = theirs < file->text + file->size ? theirs : "no other film";
        const char *b = ours < text + size ? ours : "no other film";
        size_t name = key < FILMS ? strlen(keys[key]) + 1 : 0;
        if (key != SHARDS && key != STARTED && strcmp(a, b) != 0)
            return collet_fail(err, COLLET_INVALID,
                               "%s: shards of one work have the same options and films, but %s is "
                               "'%.200s' in this file and '%.200s' now: give the same, another "
                               "directory by -o, or --force to begin again",
                               path, key < FILMS ? keys[key] : "a film", a + name, b + name);
        theirs += strlen(theirs) + 1;
        ours += strlen(ours) + 1;
    }
    return COLLET_OK;
}

static collet_status write_file(const char *path, const char *text, size_t size, int replace,
                                collet_error *err)
{
    io_spool *file = NULL;
    collet_status status = io_spool_create(path, IO_SPOOL_OUTPUT, &file, err);
    if (status == COLLET_OK)
        status = io_spool_write(file, text, size, err);
    if (status == COLLET_OK)
        status = io_spool_publish(file, replace, err);
    io_spool_free(file);
    return status;
}

/* Writes the file. Several shards may begin at the same time; a shard that finds the file compares it with
 * its own settings. */
static collet_status note(const char *directory, const char *path, const rsoxs_options *o,
                          const char *text, size_t size, collet_error *err)
{
    rsoxs_work file;

    if (o->force)
        return write_file(path, text, size, 1, err);
    if (access(path, F_OK) != 0) {
        collet_status status = write_file(path, text, size, 0, err);
        if (status == COLLET_OK || access(path, F_OK) != 0)
            return status;
    }
    collet_status status = rsoxs_work_read(&file, directory, err);
    if (status == COLLET_OK)
        status = compare(path, &file, text, size, err);
    if (status == COLLET_OK && file.options.merge != o->shard.n_shards)
        status = write_file(path, text, size, 1, err);
    rsoxs_work_close(&file);
    return status;
}

collet_status rsoxs_work_note(const rsoxs_films *films, const rsoxs_options *options,
                              collet_error *err)
{
    char *directory = NULL, *path = NULL;
    size_t size;
    char *text = make_text(films, options, &size);
    collet_status status = COLLET_OK;

    if (!text || asprintf(&directory, "%s.shards", films->directory) < 0 ||
        asprintf(&path, "%s/" RSOXS_WORK_FILE, directory) < 0)
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    else if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        status =
            collet_fail(err, COLLET_IO, "%s: cannot be created: %s", directory, strerror(errno));
    if (status == COLLET_OK)
        status = note(directory, path, options, text, size, err);
    free(directory);
    free(path);
    free(text);
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static collet_status read_file(rsoxs_work *work, const char *path, collet_error *err)
{
    int64_t size;
    int fd;
    collet_status status = io_file_open(path, &fd, &size, err);

    if (status != COLLET_OK)
        return status;
    work->text = malloc(size > 0 ? (size_t)size : 1);
    ssize_t count = work->text ? read(fd, work->text, (size_t)size) : 0;
    if (!work->text)
        status = collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    else if (count != size)
        status = collet_fail(err, COLLET_IO, "%s: cannot be read: %s", path,
                             count < 0 ? strerror(errno) : "it ends early");
    else if (size == 0 || work->text[size - 1] != '\0')
        status = collet_fail(err, COLLET_FORMAT, "its end is missing");
    work->size = (size_t)size;
    close(fd);
    return status;
}

/* Reads energies such as "280,281.5"; 0 if the text has another form. */
static int read_energies(rsoxs_options *o, const char *text)
{
    size_t most = 1;
    char *end;

    for (const char *at = text; *at; at++)
        most += *at == ',';
    o->energies = malloc(most * sizeof *o->energies);
    for (const char *at = text; o->energies; at = end + 1) {
        double energy = strtod(at, &end);
        if (end == at || !(energy > 0) || (*end && *end != ','))
            return 0;
        o->energies[o->n_energies++] = energy;
        if (!*end)
            return 1;
    }
    return 0;
}

/* Reads a value; 0 if make_text does not write such a value. */
static int read_value(rsoxs_work *work, int key, const char *value, uint32_t *choice)
{
    rsoxs_options *o = &work->options;
    char *end;

    switch (key) {
    case SHARDS:
        return io_decimal_parse_integer(value, strlen(value), &o->merge) && o->merge >= 1 &&
               o->merge <= TOOL_SHARDS;
    case STARTED:
        work->started = value;
        return 1;
    case CONFIG:
        o->configuration = value;
        return *value != '\0';
    case ENERGIES:
        return read_energies(o, value);
    case WEDGE:
        o->wedge = strtod(value, &end);
        return end > value && !*end && o->wedge >= 0 && o->wedge <= 180;
    default:
        for (*choice = 0; *choice < 3 && choices[key - CHOICES][*choice]; ++*choice)
            if (strcmp(value, choices[key - CHOICES][*choice]) == 0)
                return 1;
        return 0;
    }
}

static collet_status parse(rsoxs_work *work, collet_error *err)
{
    rsoxs_options *o = &work->options;
    char *at = work->text, *end = at + work->size;
    uint32_t chosen[FILMS - CHOICES];
    int64_t films = 0;

    for (int key = 0; key < FILMS; key++, at += strlen(at) + 1) {
        size_t name = strlen(keys[key]);
        if (at == end)
            return collet_fail(err, COLLET_FORMAT, "'%s' is missing", keys[key]);
        if (strncmp(at, keys[key], name) != 0 || at[name] != '=' ||
            !read_value(work, key, at + name + 1, &chosen[key < CHOICES ? 0 : key - CHOICES]))
            return collet_fail(err, COLLET_FORMAT,
                               "'%.100s' is not valid where '%s=VALUE' is expected", at, keys[key]);
    }
    for (const char *film = at; film < end; film++)
        films += *film == '\0';
    if (films == 0)
        return collet_fail(err, COLLET_FORMAT, "it has no films");
    o->films = calloc((size_t)films, sizeof *o->films);
    if (!o->films)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    for (; at < end; at += strlen(at) + 1)
        o->films[o->n_films++] = at;
    o->integrate = (int)chosen[0];
    o->png = (int)chosen[1];
    o->method = chosen[2];
    o->dtype = chosen[3] ? COLLET_F64 : COLLET_F32;
    o->grid = chosen[4];
    o->has_grid = 1;
    o->neighbours = chosen[5];
    return COLLET_OK;
}

collet_status rsoxs_work_read(rsoxs_work *work, const char *shards, collet_error *err)
{
    char *path;

    *work = (rsoxs_work){.started = "", .options = {.resume = 1, .place = {0, 1}}};
    if (asprintf(&path, "%s/" RSOXS_WORK_FILE, shards) < 0)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory");
    collet_status status = read_file(work, path, err);
    if (status == COLLET_OK)
        status = parse(work, err);
    if (status == COLLET_FORMAT) {
        const collet_error why = *err;
        collet_fail(
            err, status,
            "%s: it is damaged or of another version of collet-rsoxs: %.400s; remove it and "
            "run one of the shards again, with --resume",
            path, why.text);
    }
    free(path);
    return status;
}

void rsoxs_work_close(rsoxs_work *work)
{
    rsoxs_options_free(&work->options);
    free(work->text);
}
