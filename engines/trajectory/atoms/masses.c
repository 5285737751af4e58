/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_masses.c, tests/fuzz/fuzz_masses.c */
#include "masses.h"

#include "io/decimal.h"
#include "io/lines.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of a line without comment and surrounding blanks. */
static size_t trim(const char **text, size_t length)
{
    size_t n = 0;

    while (n < length && (*text)[n] != '#' && (*text)[n] != ';')
        n++;
    while (n > 0 && ((*text)[n - 1] == ' ' || (*text)[n - 1] == '\t'))
        n--;
    while (n > 0 && (**text == ' ' || **text == '\t')) {
        (*text)++;
        n--;
    }
    return n;
}

static collet_status read_lines(io_source *source, const trajectory_topology *topology,
                                double *masses, collet_error *err)
{
    io_lines lines = {.source = source, .number = 1};
    int64_t n = 0;

    for (;;) {
        const char *text;
        size_t length;
        long long line = (long long)lines.number;
        double mass;
        collet_status status = io_lines_next(&lines, &text, &length, err);

        if (status != COLLET_OK)
            return status;
        if (text == NULL)
            break;
        length = trim(&text, length);
        if (length == 0)
            continue;
        if (!io_decimal_parse(text, length, &mass) || !isfinite(mass))
            return collet_fail(err, COLLET_FORMAT,
                               "%s:%lld: '%.*s' is not a mass; a line has one number in amu",
                               source->path, line, (int)(length < 40 ? length : 40), text);
        if (mass < 0)
            return collet_fail(err, COLLET_FORMAT, "%s:%lld: the mass %g is negative", source->path,
                               line, mass);
        if (n == topology->n_atoms)
            return collet_fail(err, COLLET_FORMAT,
                               "%s:%lld: more masses than the topology's %lld atoms", source->path,
                               line, (long long)topology->n_atoms);
        masses[n++] = mass;
    }
    if (n < topology->n_atoms)
        return collet_fail(
            err, COLLET_FORMAT,
            "%s: %lld masses, but the topology has %lld atoms; write one line for every atom, "
            "selected or not",
            source->path, (long long)n, (long long)topology->n_atoms);
    return COLLET_OK;
}

collet_status trajectory_masses_read(const char *path, const trajectory_topology *topology,
                                     double *masses, collet_error *err)
{
    io_source source;
    collet_status status = io_source_open(&source, path, NULL, err);

    if (status != COLLET_OK)
        return status;
    status = read_lines(&source, topology, masses, err);
    io_source_close(&source);
    return status;
}

static const trajectory_element *known_element(const trajectory_topology *topology, int64_t atom)
{
    const char *symbol = topology->elements ? topology->elements[atom] : "";

    return trajectory_element_find(symbol, strlen(symbol));
}

/* The atoms of one residue, as indices of the topology. */
typedef struct residue {
    int64_t begin;
    int64_t end;
} residue;

static residue residue_of(const trajectory_topology *topology, int64_t atom)
{
    residue r = {atom, atom + 1};

    while (r.begin > 0 && trajectory_topology_same_residue(topology, r.begin - 1, atom))
        r.begin--;
    while (r.end < topology->n_atoms && trajectory_topology_same_residue(topology, r.end, atom))
        r.end++;
    return r;
}

static const trajectory_element *guess(const trajectory_topology *topology, int64_t atom,
                                       const residue *r, trajectory_composition *found)
{
    int doubtful;
    const trajectory_element *element = trajectory_element_guess(
        topology->names[atom], topology->residue_names[atom], r->end - r->begin, &doubtful);

    found->guessed++;
    if (doubtful && found->doubtful++ == 0) {
        found->doubtful_atom = atom;
        found->taken_for = element;
    }
    return element;
}

collet_status trajectory_masses_guess(const trajectory_topology *topology, const int64_t *indices,
                                      int64_t n, double *masses, trajectory_composition *found,
                                      collet_error *err)
{
    residue r = {0, 0};

    *found = (trajectory_composition){0};
    for (int64_t i = 0; i < n; i++) {
        int64_t atom = indices[i];
        const trajectory_element *element = known_element(topology, atom);

        if (atom >= r.end)
            r = residue_of(topology, atom);
        if (element == NULL)
            element = guess(topology, atom, &r, found);
        if (element == NULL)
            return collet_fail(err, COLLET_FORMAT,
                               "no element can be guessed for atom %lld, '%s' of residue %s %d; "
                               "give the masses of all atoms with --masses FILE, let all have the "
                               "same with --masses equal, or select other atoms",
                               (long long)atom + 1, topology->names[atom],
                               topology->residue_names[atom], (int)topology->residue_ids[atom]);
        masses[i] = element->mass;
        found->counts[element - trajectory_element_at(0)]++;
    }
    return COLLET_OK;
}

const trajectory_element **trajectory_masses_elements(const trajectory_topology *topology)
{
    const trajectory_element **elements = calloc((size_t)topology->n_atoms, sizeof *elements);
    trajectory_composition found = {0};
    residue r = {0, 0};

    for (int64_t i = 0; elements != NULL && i < topology->n_atoms; i++) {
        if (i >= r.end)
            r = residue_of(topology, i);
        elements[i] = known_element(topology, i);
        if (elements[i] == NULL)
            elements[i] = guess(topology, i, &r, &found);
    }
    return elements;
}

char *trajectory_composition_text(const trajectory_composition *found)
{
    char *text = NULL;
    size_t size;
    const char *before = "";
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < TRAJECTORY_ELEMENTS; i++) {
        const char *symbol = trajectory_element_at(i)->symbol;

        if (found->counts[i] == 0)
            continue;
        fprintf(out, "%s%s %lld", before, *symbol ? symbol : "virtual sites",
                (long long)found->counts[i]);
        before = ", ";
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
