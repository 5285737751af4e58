/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_masses.c, tests/fuzz/fuzz_masses.c */
#include "masses.h"

#include "io/decimal.h"
#include "elements.h"
#include "io/lines.h"

#include <math.h>
#include <string.h>

/* The text of a line without its comment and the blanks around it. */
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
            "%s: %lld masses, but the topology has %lld atoms; one a line is required "
            "for every atom, selected or not",
            source->path, (long long)n, (long long)topology->n_atoms);
    return COLLET_OK;
}

collet_status trajectory_masses_read(const char *path, const trajectory_topology *topology,
                                     double *masses, collet_error *err)
{
    io_source source;
    collet_status status = io_source_open(&source, path, err);

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

collet_status trajectory_masses_guess(const trajectory_topology *topology, double *masses,
                                      int64_t *guessed, collet_error *err)
{
    *guessed = 0;
    for (int64_t i = 0; i < topology->n_atoms; i++) {
        const trajectory_element *element = known_element(topology, i);

        if (element == NULL) {
            element = trajectory_element_guess(topology->names[i], topology->residue_names[i]);
            ++*guessed;
        }
        if (element == NULL)
            return collet_fail(err, COLLET_FORMAT,
                               "no element can be guessed for atom %lld, '%s' of residue %s %d; "
                               "give the masses of all atoms with --masses FILE",
                               (long long)i + 1, topology->names[i], topology->residue_names[i],
                               (int)topology->residue_ids[i]);
        masses[i] = element->mass;
    }
    return COLLET_OK;
}
