/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_topology.c, tests/engines/test_io_psf.c */
#include "names.h"

#include <stdlib.h>
#include <string.h>

static collet_status no_memory(const trajectory_topology *topology, const char *path,
                               collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for %lld atoms", path,
                       (long long)topology->n_atoms);
}

collet_status trajectory_topology_allocate(trajectory_topology *topology, int64_t n_atoms,
                                           const char *title, size_t title_length, const char *path,
                                           collet_error *err)
{
    size_t n = (size_t)n_atoms;

    topology->n_atoms = n_atoms;
    topology->lacking = -1;
    topology->title = strndup(title, title_length);
    topology->names = calloc(n, sizeof *topology->names);
    topology->residue_names = calloc(n, sizeof *topology->residue_names);
    topology->residue_ids = calloc(n, sizeof *topology->residue_ids);
    return topology->title && topology->names && topology->residue_names && topology->residue_ids
               ? COLLET_OK
               : no_memory(topology, path, err);
}

collet_status trajectory_topology_allocate_one(const trajectory_topology *topology, void *array,
                                               size_t element, const char *path, collet_error *err)
{
    void *zeros = calloc((size_t)topology->n_atoms, element);

    memcpy(array, &zeros, sizeof zeros);
    return zeros ? COLLET_OK : no_memory(topology, path, err);
}

collet_status trajectory_topology_allocate_more(trajectory_topology *t, unsigned which,
                                                const char *path, collet_error *err)
{
    const struct {
        unsigned bit;
        void *array;
        size_t element;
    } arrays[] = {
        {TRAJECTORY_WITH_INSERTIONS, &t->insertions, sizeof *t->insertions},
        {TRAJECTORY_WITH_CHAINS, &t->chains, sizeof *t->chains},
        {TRAJECTORY_WITH_SEGMENTS, &t->segments, sizeof *t->segments},
        {TRAJECTORY_WITH_ELEMENTS, &t->elements, sizeof *t->elements},
        {TRAJECTORY_WITH_MASSES, &t->masses, sizeof *t->masses},
        {TRAJECTORY_WITH_CHARGES, &t->charges, sizeof *t->charges},
    };

    collet_status status = COLLET_OK;
    for (size_t i = 0; status == COLLET_OK && i < sizeof arrays / sizeof *arrays; i++)
        if (which & arrays[i].bit)
            status =
                trajectory_topology_allocate_one(t, arrays[i].array, arrays[i].element, path, err);
    return status;
}

static int compare_bonds(const void *a, const void *b)
{
    const trajectory_bond *p = a, *q = b;

    if (p->first != q->first)
        return p->first < q->first ? -1 : 1;
    return (p->second > q->second) - (p->second < q->second);
}

static collet_status check_bond(const trajectory_topology *topology, const trajectory_bond *bond,
                                const char *path, collet_error *err)
{
    if (bond->first >= 0 && bond->first < bond->second && bond->second < topology->n_atoms)
        return COLLET_OK;
    return collet_fail(err, COLLET_FORMAT,
                       "%s: a bond joins atoms %lld and %lld (counted from 1), but the %lld atoms "
                       "have no such pair",
                       path, (long long)bond->first + 1, (long long)bond->second + 1,
                       (long long)topology->n_atoms);
}

int64_t trajectory_bonds_sort(trajectory_bond *bonds, int64_t n)
{
    int64_t kept = 0;
    int sorted = 1;

    for (int64_t i = 0; i < n; i++) {
        if (bonds[i].first > bonds[i].second)
            bonds[i] = (trajectory_bond){bonds[i].second, bonds[i].first};
        sorted = sorted && (i == 0 || compare_bonds(&bonds[i - 1], &bonds[i]) <= 0);
    }
    if (!sorted)
        qsort(bonds, (size_t)n, sizeof *bonds, compare_bonds);
    for (int64_t i = 0; i < n; i++)
        if (kept == 0 || compare_bonds(&bonds[kept - 1], &bonds[i]) != 0)
            bonds[kept++] = bonds[i];
    return kept;
}

collet_status trajectory_topology_set_bonds(trajectory_topology *topology, trajectory_bond *bonds,
                                            int64_t n_bonds, const char *path, collet_error *err)
{
    int64_t n = trajectory_bonds_sort(bonds, n_bonds);

    for (int64_t i = 0; i < n; i++) {
        collet_status status = check_bond(topology, &bonds[i], path, err);
        if (status != COLLET_OK) {
            free(bonds);
            return status;
        }
    }
    topology->bonds = bonds;
    topology->n_bonds = n;
    return COLLET_OK;
}

void trajectory_topology_put_element(trajectory_topology *topology, int64_t i, int64_t number)
{
    static const char symbols[] =
        "H HeLiBeB C N O F NeNaMgAlSiP S ClArK CaScTiV CrMnFeCoNiCuZnGaGeAsSeBrKrRbSrY ZrNbMoTcRuRh"
        "PdAgCdInSnSbTeI XeCsBaLaCePrNdPmSmEuGdTbDyHoErTmYbLuHfTaW ReOsIrPtAuHgTlPbBiPoAtRnFrRaAcTh"
        "PaU ";

    if (number > 0 && number <= (int64_t)(sizeof symbols / 2))
        trajectory_topology_copy_name(topology->elements[i], symbols + 2 * (number - 1), 2);
}

/* If all n bytes of *array are 0, frees it and sets the pointer to NULL. */
static void drop_zeros(void *array, size_t n)
{
    char *bytes;

    memcpy(&bytes, array, sizeof bytes);
    for (size_t i = 0; bytes && i < n; i++)
        if (bytes[i])
            return;
    free(bytes);
    memset(array, 0, sizeof bytes);
}

void trajectory_topology_drop_empty(trajectory_topology *t)
{
    size_t n = (size_t)t->n_atoms;

    drop_zeros(&t->insertions, n);
    drop_zeros(&t->chains, n * sizeof *t->chains);
    drop_zeros(&t->segments, n * sizeof *t->segments);
    drop_zeros(&t->elements, n * sizeof *t->elements);
}

int trajectory_topology_same_residue(const trajectory_topology *t, int64_t a, int64_t b)
{
    if (t->residue_numbers)
        return t->residue_numbers[a] == t->residue_numbers[b];
    return t->residue_ids[a] == t->residue_ids[b] &&
           strcmp(t->residue_names[a], t->residue_names[b]) == 0 &&
           (!t->insertions || t->insertions[a] == t->insertions[b]) &&
           (!t->chains || strcmp(t->chains[a], t->chains[b]) == 0) &&
           (!t->segments || strcmp(t->segments[a], t->segments[b]) == 0);
}

int trajectory_topology_is_alone(const trajectory_topology *t, int64_t i)
{
    return !(i > 0 && trajectory_topology_same_residue(t, i - 1, i)) &&
           !(i + 1 < t->n_atoms && trajectory_topology_same_residue(t, i, i + 1));
}

void trajectory_topology_copy_name(char name[TRAJECTORY_ATOM_NAME], const char *column,
                                   size_t width)
{
    const char *end = column + width;

    while (column < end && *column == ' ')
        column++;
    while (end > column && end[-1] == ' ')
        end--;
    memcpy(name, column, (size_t)(end - column));
}

void trajectory_topology_free(trajectory_topology *topology)
{
    if (!topology)
        return;
    free(topology->title);
    free(topology->names);
    free(topology->residue_names);
    free(topology->residue_ids);
    free(topology->residue_numbers);
    free(topology->insertions);
    free(topology->chains);
    free(topology->segments);
    free(topology->elements);
    free(topology->masses);
    free(topology->charges);
    free(topology->bonds);
    free(topology->separate);
    free(topology->joints);
    free(topology);
}
