/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_groups.c, tests/fuzz/fuzz_ndx.c */
#include "groups.h"

#include "io/decimal.h"
#include "io/lines.h"
#include "pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 40 /* bytes of a word in a message */
#define LIST 200 /* bytes of the list of names in a message */

typedef struct group {
    char *name;
    size_t first; /* index of the group's first atom */
} group;

/* The atoms of a group end where the atoms of the next group begin. */
struct trajectory_groups {
    char *path;
    group *groups;
    size_t n_groups;
    int64_t *atoms; /* from 0 */
    size_t n_atoms;
    size_t capacity; /* atoms for which there is memory */
};

static collet_status no_memory(const io_lines *lines, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its groups", lines->source->path);
}

static collet_status fail(const io_lines *lines, const char *what, const char *word, size_t length,
                          collet_error *err)
{
    return collet_fail(err, COLLET_FORMAT, "%s:%lld: '%.*s' %s", lines->source->path,
                       (long long)lines->number - 1, (int)(length < SHOWN ? length : SHOWN), word,
                       what);
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Adds the group of a line "[ name ]"; blanks at both ends are not part of the name. */
static collet_status add_group(trajectory_groups *g, const io_lines *lines, const char *text,
                               size_t length, collet_error *err)
{
    const char *end = memrchr(text, ']', length), *begin = text + 1;

    if (!end)
        return fail(lines, "has no ']' after the name of a group", text, length, err);
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    if (begin == end)
        return fail(lines, "is a group without a name", text, length, err);
    group *grown = realloc(g->groups, (g->n_groups + 1) * sizeof *grown);
    if (!grown)
        return no_memory(lines, err);
    g->groups = grown;
    char *name = strndup(begin, (size_t)(end - begin));
    if (!name)
        return no_memory(lines, err);
    grown[g->n_groups++] = (group){name, g->n_atoms};
    return COLLET_OK;
}

static collet_status add_atom(trajectory_groups *g, const io_lines *lines, const char *word,
                              size_t length, int64_t atoms, collet_error *err)
{
    int64_t number;

    if (g->n_groups == 0)
        return fail(lines, "comes before the first group, '[ name ]'", word, length, err);
    if (!io_decimal_parse_integer(word, length, &number))
        return fail(lines, "is not the number of an atom", word, length, err);
    if (number < 1 || number > atoms)
        return collet_fail(err, COLLET_FORMAT,
                           "%s:%lld: atom %lld of group '%s' is not one of the topology's %lld",
                           lines->source->path, (long long)lines->number - 1, (long long)number,
                           g->groups[g->n_groups - 1].name, (long long)atoms);
    if (g->n_atoms == g->capacity) {
        size_t capacity = g->capacity > 0 ? 2 * g->capacity : 1024;
        int64_t *grown = realloc(g->atoms, capacity * sizeof *grown);
        if (!grown)
            return no_memory(lines, err);
        g->atoms = grown;
        g->capacity = capacity;
    }
    g->atoms[g->n_atoms++] = number - 1;
    return COLLET_OK;
}

static collet_status add_line(trajectory_groups *g, const io_lines *lines, const char *text,
                              size_t length, int64_t atoms, collet_error *err)
{
    const char *end = memchr(text, ';', length);
    collet_status status = COLLET_OK;

    if (!end)
        end = text + length;
    while (status == COLLET_OK) {
        while (text < end && is_blank(*text))
            text++;
        if (text == end)
            break;
        if (*text == '[')
            return add_group(g, lines, text, (size_t)(end - text), err);
        const char *word = text;
        while (text < end && !is_blank(*text))
            text++;
        status = add_atom(g, lines, word, (size_t)(text - word), atoms, err);
    }
    return status;
}

static collet_status read_lines(trajectory_groups *g, io_source *source, int64_t atoms,
                                collet_error *err)
{
    io_lines lines = {.source = source, .number = 1};

    for (;;) {
        const char *text;
        size_t length;
        collet_status status = io_lines_next(&lines, &text, &length, err);

        if (status == COLLET_OK && text)
            status = add_line(g, &lines, text, length, atoms, err);
        if (status != COLLET_OK)
            return status;
        if (!text)
            break;
    }
    return g->n_groups > 0
               ? COLLET_OK
               : collet_fail(err, COLLET_FORMAT, "%s: has no groups: no line begins with '['",
                             source->path);
}

collet_status trajectory_groups_read(const char *path, int64_t n_atoms, trajectory_groups **out,
                                     collet_error *err)
{
    io_source source;
    collet_status status = io_source_open(&source, path, NULL, err);

    *out = NULL;
    if (status != COLLET_OK)
        return status;
    trajectory_groups *g = calloc(1, sizeof *g);
    if (g)
        g->path = strdup(path);
    status = g && g->path ? read_lines(g, &source, n_atoms, err)
                          : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", path);
    io_source_close(&source);
    if (status == COLLET_OK)
        *out = g;
    else
        trajectory_groups_free(g);
    return status;
}

const char *trajectory_groups_at(const trajectory_groups *g, size_t i, const int64_t **atoms,
                                 int64_t *n)
{
    if (i >= g->n_groups)
        return NULL;
    size_t first = g->groups[i].first;
    size_t end = i + 1 < g->n_groups ? g->groups[i + 1].first : g->n_atoms;
    *atoms = g->atoms + first;
    *n = (int64_t)(end - first);
    return g->groups[i].name;
}

int64_t trajectory_groups_mark(const trajectory_groups *g, const char *pattern, size_t length,
                               uint8_t *members)
{
    int64_t found = 0;

    for (size_t i = 0; i < g->n_groups; i++) {
        const int64_t *atoms;
        int64_t n;

        if (!trajectory_pattern_matches(pattern, length, trajectory_groups_at(g, i, &atoms, &n)))
            continue;
        for (int64_t k = 0; k < n; k++)
            members[atoms[k]] = 1;
        found++;
    }
    return found;
}

collet_status trajectory_groups_missing(const trajectory_groups *g, const char *what,
                                        const char *pattern, size_t length, collet_error *err)
{
    char list[LIST] = "";
    size_t n = 0;
    int blanks = 0;

    for (size_t i = 0; i < g->n_groups; i++)
        blanks |= strchr(g->groups[i].name, ' ') != NULL;
    for (size_t i = 0; i < g->n_groups; i++) {
        int more =
            snprintf(list + n, sizeof list - n, "%s%s", i > 0 ? ", " : "", g->groups[i].name);
        if (more < 0 || (size_t)more >= sizeof list - n) {
            snprintf(list + n, sizeof list - n, "%s", ", ...");
            break;
        }
        n += (size_t)more;
    }
    return collet_fail(err, COLLET_INVALID, "%s: no group of %s is named '%.*s'; it has %s%s", what,
                       g->path, (int)(length < SHOWN ? length : SHOWN), pattern, list,
                       blanks ? "; a name with blanks stands in quotes" : "");
}

void trajectory_groups_free(trajectory_groups *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n_groups; i++)
        free(g->groups[i].name);
    free(g->groups);
    free(g->atoms);
    free(g->path);
    free(g);
}
