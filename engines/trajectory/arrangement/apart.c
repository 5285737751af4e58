/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_periodic.c */
#include "apart.h"

#include "trajectory/atoms/residues.h"
#include "trajectory/boxes/lattice.h"

#include <stdlib.h>

typedef struct entry {
    int64_t body, molecule, row;
} entry;

struct trajectory_apart {
    entry *entries; /* n, by body, molecule and row */
    int64_t n;
};

static int compare(const void *a, const void *b)
{
    const entry *p = a, *q = b;

    if (p->body != q->body)
        return p->body < q->body ? -1 : 1;
    if (p->molecule != q->molecule)
        return p->molecule < q->molecule ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

/* Removes the entries of bodies that have only one molecule. */
static void drop_single(trajectory_apart *apart)
{
    int64_t n = 0, end;

    for (int64_t first = 0; first < apart->n; first = end) {
        int several = 0;

        for (end = first; end < apart->n && apart->entries[end].body == apart->entries[first].body;
             end++)
            several |= apart->entries[end].molecule != apart->entries[first].molecule;
        for (int64_t k = first; several && k < end; k++)
            apart->entries[n++] = apart->entries[k];
    }
    apart->n = n;
}

static void take(trajectory_apart *apart, const trajectory_topology *t,
                 const trajectory_molecules *m, const int64_t *members, const int64_t *offsets,
                 int64_t n_bodies)
{
    for (int64_t b = 0; b < n_bodies; b++)
        for (int64_t row = offsets[b]; row < offsets[b + 1]; row++) {
            const char *residue = t->residue_names[members[row]];

            if (trajectory_residue_is_protein(residue) || trajectory_residue_is_nucleic(residue))
                apart->entries[apart->n++] = (entry){b, m->of[members[row]], row};
        }
    qsort(apart->entries, (size_t)apart->n, sizeof *apart->entries, compare);
    drop_single(apart);
}

collet_status trajectory_apart_create(const trajectory_topology *topology, const int64_t *members,
                                      const int64_t *offsets, int64_t n_bodies,
                                      trajectory_apart **out, collet_error *err)
{
    trajectory_molecules *molecules = NULL;
    trajectory_apart *apart = calloc(1, sizeof *apart);
    size_t n = (size_t)offsets[n_bodies];

    *out = NULL;
    if (apart)
        apart->entries = malloc(n * sizeof *apart->entries);
    if (!apart || !apart->entries) {
        trajectory_apart_free(apart);
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for the molecules of %lld atoms",
                           (long long)offsets[n_bodies]);
    }
    collet_status status = trajectory_molecules_create(topology, &molecules, err);
    if (status == COLLET_OK)
        take(apart, topology, molecules, members, offsets, n_bodies);
    trajectory_molecules_free(molecules);
    if (status == COLLET_OK && apart->n > 0)
        *out = apart;
    else
        trajectory_apart_free(apart);
    return status;
}

void trajectory_apart_free(trajectory_apart *apart)
{
    if (!apart)
        return;
    free(apart->entries);
    free(apart);
}

/* Computes the centre of the molecule whose entries begin at k; returns the first entry of the next molecule. */
static int64_t centre_of(const trajectory_apart *apart, int64_t k, const trajectory_frames *frames,
                         int64_t i, double centre[3])
{
    const entry *first = &apart->entries[k];
    int64_t end = k;

    centre[0] = centre[1] = centre[2] = 0;
    for (; end < apart->n && apart->entries[end].body == first->body &&
           apart->entries[end].molecule == first->molecule;
         end++) {
        int64_t at = 3 * (i * frames->n_atoms + apart->entries[end].row);

        for (int v = 0; v < 3; v++)
            centre[v] += trajectory_frames_value(frames, frames->positions, at + v);
    }
    for (int v = 0; v < 3; v++)
        centre[v] /= (double)(end - k);
    return end;
}

static int beyond(const trajectory_lattice *lattice, const double a[3], const double b[3])
{
    double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};

    return trajectory_lattice_shorten(lattice, d);
}

int64_t trajectory_apart_find(const trajectory_apart *apart, const trajectory_frames *frames,
                              int64_t i)
{
    trajectory_lattice lattice;
    double first[3] = {0}, before[3] = {0}, centre[3];
    int64_t body = -1;

    if (!apart || !trajectory_lattice_make(&lattice, frames->boxes + 9 * i))
        return -1;
    for (int64_t k = 0, end; k < apart->n; k = end) {
        int new_body = apart->entries[k].body != body;

        end = centre_of(apart, k, frames, i, centre);
        if (!new_body && beyond(&lattice, centre, first) && beyond(&lattice, centre, before))
            return body;
        body = apart->entries[k].body;
        for (int v = 0; v < 3; v++) {
            before[v] = centre[v];
            first[v] = new_body ? centre[v] : first[v];
        }
    }
    return -1;
}
