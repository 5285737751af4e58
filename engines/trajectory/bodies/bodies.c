/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_bodies.c */
#include "bodies.h"

#include "trajectory/atoms/molecules.h"
#include "trajectory/atoms/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A division of atoms into bodies: its input, and its result, the class of each atom. */
typedef struct division {
    const trajectory_topology *topology;
    const char *path;     /* path of the topology, for messages */
    const int64_t *atoms; /* selected atoms, ascending */
    int64_t n_atoms;
    int64_t *classes; /* class of each atom of the topology, from 0; a class is a body */
    int64_t n_classes;
} division;

typedef char (*names)[TRAJECTORY_ATOM_NAME];

static collet_status no_memory(const division *d, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "bodies: no memory for %lld atoms",
                       (long long)d->n_atoms);
}

/* ---- Classes ----------------------------------------------------------------------------- */

static collet_status classify_residues(division *d, collet_error *err)
{
    (void)err;
    for (int64_t i = 0; i < d->topology->n_atoms; i++) {
        if (i == 0 || !trajectory_topology_same_residue(d->topology, i - 1, i))
            d->n_classes++;
        d->classes[i] = d->n_classes - 1;
    }
    return COLLET_OK;
}

static collet_status classify_molecules(division *d, collet_error *err)
{
    trajectory_molecules *molecules;
    collet_status status = trajectory_molecules_create(d->topology, &molecules, err);

    if (status != COLLET_OK)
        return status;
    memcpy(d->classes, molecules->of, (size_t)d->topology->n_atoms * sizeof *d->classes);
    d->n_classes = molecules->count;
    trajectory_molecules_free(molecules);
    return COLLET_OK;
}

/* A run of atoms with the same name. */
typedef struct run {
    const char *name;
    int64_t first;
    int64_t class;
} run;

static int compare_runs(const void *a, const void *b)
{
    return strcmp(((const run *)a)->name, ((const run *)b)->name);
}

static int compare_firsts(const void *a, const void *b)
{
    const run *p = a, *q = b;

    return p->first < q->first ? -1 : 1;
}

/* Puts all atoms with the same name into one class, even if they are not consecutive. */
static collet_status classify_names(division *d, names of, collet_error *err)
{
    int64_t n = d->topology->n_atoms, n_runs = 0;
    run *runs;

    for (int64_t i = 0; i < n; i++)
        n_runs += i == 0 || strcmp(of[i - 1], of[i]) != 0;
    runs = calloc((size_t)n_runs, sizeof *runs);
    if (!runs)
        return no_memory(d, err);
    n_runs = 0;
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || strcmp(of[i - 1], of[i]) != 0)
            runs[n_runs++] = (run){of[i], i, 0};
    qsort(runs, (size_t)n_runs, sizeof *runs, compare_runs);
    for (int64_t r = 0; r < n_runs; r++) {
        d->n_classes += r == 0 || compare_runs(&runs[r - 1], &runs[r]) != 0;
        runs[r].class = d->n_classes - 1;
    }
    qsort(runs, (size_t)n_runs, sizeof *runs, compare_firsts);
    for (int64_t r = 0; r < n_runs; r++)
        for (int64_t i = runs[r].first; i < (r + 1 < n_runs ? runs[r + 1].first : n); i++)
            d->classes[i] = runs[r].class;
    free(runs);
    return COLLET_OK;
}

static collet_status classify_segments(division *d, collet_error *err)
{
    if (d->topology->segments)
        return classify_names(d, d->topology->segments, err);
    return collet_fail(err, COLLET_INVALID, "each: %s has no segments%s", d->path,
                       d->topology->chains ? ", but chains: each chain" : "");
}

static collet_status classify_chains(division *d, collet_error *err)
{
    if (d->topology->chains)
        return classify_names(d, d->topology->chains, err);
    return collet_fail(err, COLLET_INVALID, "each: %s has no chains%s", d->path,
                       d->topology->segments ? ", but segments: each segment" : "");
}

/* ---- Labels ------------------------------------------------------------------------------ */

static int differ(const division *d, names of)
{
    for (int64_t i = 1; of && i < d->topology->n_atoms; i++)
        if (strcmp(of[0], of[i]) != 0)
            return 1;
    return 0;
}

/* The part " of chain A" of a label if there are several chains; else " of segment A" if there are several segments. */
typedef struct place {
    names of;
    const char *kind;
} place;

static place find_place(const division *d)
{
    if (differ(d, d->topology->chains))
        return (place){d->topology->chains, " of chain "};
    if (differ(d, d->topology->segments))
        return (place){d->topology->segments, " of segment "};
    return (place){NULL, ""};
}

/* Returns a label such as "SOL 3", "ALA 52A of chain B" or "ALA 1 to GLY 76"; NULL: no memory. */
static char *residue_label(const division *d, const place *p, int64_t first, int64_t last)
{
    const trajectory_topology *t = d->topology;
    int several = !trajectory_topology_same_residue(t, first, last);
    int placed = p->of && p->of[first][0] != '\0';
    char *text, to[TRAJECTORY_ATOM_NAME + 32] = "";

    if (several)
        snprintf(to, sizeof to, " to %s %d%.1s", t->residue_names[last], (int)t->residue_ids[last],
                 t->insertions ? t->insertions + last : "");
    return asprintf(&text, "%s %d%.1s%s%s%s", t->residue_names[first], (int)t->residue_ids[first],
                    t->insertions ? t->insertions + first : "", to, placed ? p->kind : "",
                    placed ? p->of[first] : "") < 0
               ? NULL
               : text;
}

static char *name_label(const char *kind, const char *name)
{
    char *text;

    return asprintf(&text, "%s%s%s", *name ? kind : "no ", *name ? " " : kind, name) < 0 ? NULL
                                                                                         : text;
}

static collet_status label_residues(const division *d, trajectory_bodies *b, collet_error *err)
{
    place p = find_place(d);

    for (int64_t i = 0; i < b->n; i++) {
        b->labels[i] =
            residue_label(d, &p, b->members[b->offsets[i]], b->members[b->offsets[i + 1] - 1]);
        if (!b->labels[i])
            return no_memory(d, err);
    }
    return COLLET_OK;
}

static void free_labels(char **labels, int64_t n)
{
    for (int64_t i = 0; labels && i < n; i++)
        free(labels[i]);
    free(labels);
}

collet_status trajectory_bodies_label_atoms(const trajectory_topology *topology,
                                            const int64_t *atoms, int64_t n, char ***labels,
                                            collet_error *err)
{
    const division d = {.topology = topology, .n_atoms = n};
    const place p = find_place(&d);

    *labels = calloc((size_t)n, sizeof **labels);
    for (int64_t i = 0; *labels && i < n; i++) {
        char *residue = residue_label(&d, &p, atoms[i], atoms[i]);

        if (!residue ||
            asprintf(&(*labels)[i], "%s of %s", topology->names[atoms[i]], residue) < 0) {
            (*labels)[i] = NULL;
            free_labels(*labels, n);
            *labels = NULL;
        }
        free(residue);
    }
    return *labels ? COLLET_OK : no_memory(&d, err);
}

static collet_status label_names(const division *d, trajectory_bodies *b, const char *kind,
                                 names of, collet_error *err)
{
    for (int64_t i = 0; i < b->n; i++) {
        b->labels[i] = name_label(kind, of[b->members[b->offsets[i]]]);
        if (!b->labels[i])
            return no_memory(d, err);
    }
    return COLLET_OK;
}

static collet_status label_segments(const division *d, trajectory_bodies *b, collet_error *err)
{
    return label_names(d, b, "segment", d->topology->segments, err);
}

static collet_status label_chains(const division *d, trajectory_bodies *b, collet_error *err)
{
    return label_names(d, b, "chain", d->topology->chains, err);
}

/* ---- Divisions by class ------------------------------------------------------------------ */

typedef struct kind {
    const char *name;
    collet_status (*classify)(division *d, collet_error *err);
    collet_status (*label)(const division *d, trajectory_bodies *b, collet_error *err);
} kind;

static const kind kinds[] = {{"residue", classify_residues, label_residues},
                             {"molecule", classify_molecules, label_residues},
                             {"segment", classify_segments, label_segments},
                             {"chain", classify_chains, label_chains}};

static const kind *find_kind(const char *each)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(each, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

static collet_status allocate(const division *d, trajectory_bodies *b, int64_t n, int64_t n_members,
                              collet_error *err)
{
    b->n = n;
    b->offsets = calloc((size_t)n + 1, sizeof *b->offsets);
    b->members = calloc((size_t)n_members + 1, sizeof *b->members);
    b->labels = calloc((size_t)n, sizeof *b->labels);
    return b->offsets && b->members && b->labels ? COLLET_OK : no_memory(d, err);
}

/* Numbers the classes that have selected atoms, in the order of their first such atoms: sets body[class]. Returns the
 * number of bodies. */
static int64_t number_bodies(division *d, int64_t *body)
{
    int64_t n = 0;

    for (int64_t c = 0; c < d->n_classes; c++)
        body[c] = -1;
    for (int64_t i = 0; i < d->n_atoms; i++) {
        int64_t class = d->classes[d->atoms[i]];

        if (body[class] < 0)
            body[class] = n++;
    }
    return n;
}

/* Sorts the atoms by body (counting sort). */
static void sort_members(const division *d, trajectory_bodies *b, const int64_t *body)
{
    for (int64_t i = 0; i < d->n_atoms; i++)
        b->offsets[body[d->classes[d->atoms[i]]] + 1]++;
    for (int64_t i = 0; i < b->n; i++)
        b->offsets[i + 1] += b->offsets[i];
    for (int64_t i = 0; i < d->n_atoms; i++)
        b->members[b->offsets[body[d->classes[d->atoms[i]]]]++] = d->atoms[i];
    /* Each offset is now the offset of the next body. */
    for (int64_t i = b->n; i > 0; i--)
        b->offsets[i] = b->offsets[i - 1];
    b->offsets[0] = 0;
}

static collet_status divide(division *d, const kind *by, trajectory_bodies *b, collet_error *err)
{
    int64_t *body = NULL;
    collet_status status;

    d->classes = calloc((size_t)d->topology->n_atoms, sizeof *d->classes);
    status = d->classes ? by->classify(d, err) : no_memory(d, err);
    if (status == COLLET_OK)
        body = calloc((size_t)d->n_classes, sizeof *body);
    if (status == COLLET_OK && !body)
        status = no_memory(d, err);
    if (status == COLLET_OK)
        status = allocate(d, b, number_bodies(d, body), d->n_atoms, err);
    if (status == COLLET_OK) {
        sort_members(d, b, body);
        status = by->label(d, b, err);
    }
    free(body);
    free(d->classes);
    return status;
}

/* ---- Groups ------------------------------------------------------------------------------ */

/* Returns the length in bytes of a pattern, up to a blank or including its quotes. *quoted: 1 if it has
 * quotes, else 0. */
static size_t pattern_length(const char *pattern, size_t *quoted)
{
    const char *close = *pattern == '"' || *pattern == '\'' ? strchr(pattern + 1, *pattern) : NULL;

    *quoted = close != NULL;
    return close ? (size_t)(close - pattern) + 1 : strcspn(pattern, " ");
}

/* 1 if one of the patterns, which blanks separate, matches the name. Patterns that match are overwritten with blanks in
 * `left`, a copy of the patterns. */
static int is_named(const char *patterns, char *left, const char *name)
{
    int found = 0;

    for (const char *word = patterns; *(word += strspn(word, " "));) {
        size_t quoted, length = pattern_length(word, &quoted);

        if (trajectory_pattern_matches(word + quoted, length - 2 * quoted, name)) {
            memset(left + (word - patterns), ' ', length);
            found = 1;
        }
        word += length;
    }
    return found;
}

static int compare_atoms(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;

    return (p > q) - (p < q);
}

/* Appends the selected atoms of a group, each once, ascending. */
static collet_status add_group(const division *d, trajectory_bodies *b, const char *name,
                               const int64_t *atoms, int64_t n, collet_error *err)
{
    int64_t first = b->offsets[b->n], end = first;
    int64_t *members = b->members;

    for (int64_t i = 0; i < n; i++)
        if (bsearch(&atoms[i], d->atoms, (size_t)d->n_atoms, sizeof *d->atoms, compare_atoms))
            members[end++] = atoms[i];
    if (end == first)
        return collet_fail(err, COLLET_INVALID,
                           "each: group '%s' has no atom of the selection; name other groups",
                           name);
    qsort(members + first, (size_t)(end - first), sizeof *members, compare_atoms);
    n = first;
    for (int64_t i = first; i < end; i++)
        if (i == first || members[i] != members[n - 1])
            members[n++] = members[i];
    b->offsets[b->n + 1] = n;
    b->labels[b->n] = strdup(name);
    return b->labels[b->n++] ? COLLET_OK : no_memory(d, err);
}

static collet_status divide_groups(const division *d, const char *each, char *left,
                                   const trajectory_groups *groups, trajectory_bodies *b,
                                   collet_error *err)
{
    int64_t n_groups = 0, n_members = 0, n;
    const int64_t *atoms;
    const char *name, *missing;
    collet_status status;

    for (size_t i = 0; (name = trajectory_groups_at(groups, i, &atoms, &n)) != NULL; i++)
        if (is_named(each, left, name)) {
            n_groups++;
            n_members += n;
        }
    missing = left + strspn(left, " ");
    if (*missing) {
        size_t quoted, length = pattern_length(missing, &quoted);
        return trajectory_groups_missing(groups, "each", missing + quoted, length - 2 * quoted,
                                         err);
    }
    if (n_groups == 0)
        return collet_fail(err, COLLET_INVALID, "each: the text is empty");
    status = allocate(d, b, n_groups, n_members, err);
    b->n = 0;
    for (size_t i = 0; status == COLLET_OK; i++) {
        name = trajectory_groups_at(groups, i, &atoms, &n);
        if (!name)
            break;
        if (is_named(each, left, name))
            status = add_group(d, b, name, atoms, n, err);
    }
    return status;
}

/* ---- All --------------------------------------------------------------------------------- */

int trajectory_bodies_named(const char *each)
{
    return !each || find_kind(each);
}

static collet_status keep_whole(const division *d, trajectory_bodies *b, collet_error *err)
{
    collet_status status = allocate(d, b, 1, d->n_atoms, err);

    if (status != COLLET_OK)
        return status;
    memcpy(b->members, d->atoms, (size_t)d->n_atoms * sizeof *d->atoms);
    b->offsets[1] = d->n_atoms;
    free(b->labels);
    b->labels = NULL;
    return COLLET_OK;
}

collet_status trajectory_bodies_find(trajectory_bodies *bodies, const char *each,
                                     const trajectory_topology *topology, const char *path,
                                     const trajectory_groups *groups, const int64_t *selected,
                                     int64_t n_selected, collet_error *err)
{
    division d = {.topology = topology, .path = path, .atoms = selected, .n_atoms = n_selected};
    const kind *by = each ? find_kind(each) : NULL;
    collet_status status;
    char *left = NULL;

    *bodies = (trajectory_bodies){0};
    if (!each)
        status = keep_whole(&d, bodies, err);
    else if (by)
        status = divide(&d, by, bodies, err);
    else if ((left = strdup(each)) == NULL)
        status = no_memory(&d, err);
    else
        status = divide_groups(&d, each, left, groups, bodies, err);
    free(left);
    if (status != COLLET_OK)
        trajectory_bodies_free(bodies);
    return status;
}

void trajectory_bodies_free(trajectory_bodies *b)
{
    free_labels(b->labels, b->n);
    free(b->offsets);
    free(b->members);
    *b = (trajectory_bodies){0};
}
