/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_links.c */
#include "links.h"

#include "growth.h"

enum { ABSENT = -1, REPEATED = -2 };

int trajectory_links_add(trajectory_links *links, const trajectory_link_end ends[2])
{
    if (!trajectory_grow(&links->ends, links->n, 2, &links->capacity, sizeof *links->ends))
        return 0;
    memcpy(links->ends + links->n, ends, 2 * sizeof *ends);
    links->n += 2;
    return 1;
}

static int compare(const void *a, const void *b)
{
    const trajectory_link_end *p = *(trajectory_link_end *const *)a;
    const trajectory_link_end *q = *(trajectory_link_end *const *)b;
    int order = (p->residue > q->residue) - (p->residue < q->residue);

    if (order == 0)
        order = strcmp(p->name, q->name);
    if (order == 0)
        order = strcmp(p->chain, q->chain);
    return order == 0 ? p->insertion - q->insertion : order;
}

/* Several links may have an end at the same atom. */
static void mark_atom(trajectory_link_end *const *sorted, int64_t n, const trajectory_topology *t,
                      int64_t atom)
{
    trajectory_link_end end = {.residue = t->residue_ids[atom],
                               .insertion = t->insertions ? t->insertions[atom] : 0};
    trajectory_link_end *key = &end, *const * found;

    memcpy(end.name, t->names[atom], sizeof end.name);
    if (t->chains)
        memcpy(end.chain, t->chains[atom], sizeof end.chain);
    found = bsearch(&key, sorted, (size_t)n, sizeof key, compare);
    if (!found)
        return;
    while (found > sorted && compare(found - 1, &key) == 0)
        found--;
    for (; found < sorted + n && compare(found, &key) == 0; found++)
        (*found)->atom = (*found)->atom == ABSENT ? atom : REPEATED;
}

static int add_bonds(const trajectory_links *links, trajectory_topology *t, trajectory_bond **bonds,
                     int64_t *n_bonds, int64_t *capacity)
{
    if (!trajectory_grow(bonds, *n_bonds, links->n / 2, capacity, sizeof **bonds))
        return 0;
    for (int64_t k = 0; k < links->n; k += 2) {
        int64_t first = links->ends[k].atom, second = links->ends[k + 1].atom;

        if (first >= 0 && second >= 0 && first != second)
            (*bonds)[(*n_bonds)++] = (trajectory_bond){first, second};
        else if (first != ABSENT && second != ABSENT)
            t->bonds_left_out++;
    }
    return 1;
}

collet_status trajectory_links_find(const trajectory_links *links, trajectory_topology *topology,
                                    trajectory_bond **bonds, int64_t *n_bonds, int64_t *capacity,
                                    const char *path, collet_error *err)
{
    trajectory_link_end **sorted;
    int added = 0;

    if (links->n == 0)
        return COLLET_OK;
    sorted = malloc((size_t)links->n * sizeof(trajectory_link_end *));
    if (sorted) {
        for (int64_t k = 0; k < links->n; k++) {
            links->ends[k].atom = ABSENT;
            sorted[k] = &links->ends[k];
        }
        qsort(sorted, (size_t)links->n, sizeof *sorted, compare);
        for (int64_t i = 0; i < topology->n_atoms; i++)
            mark_atom(sorted, links->n, topology, i);
        added = add_bonds(links, topology, bonds, n_bonds, capacity);
    }
    free(sorted);
    return added ? COLLET_OK
                 : collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for its bonds", path);
}
