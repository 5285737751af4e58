/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_boxes.c */
#include "tree.h"
#include "trajectory/boxes/lattice.h"
#include "trajectory/formats/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the squared distance from `a` to the nearest image of `b`; HUGE_VAL if a position is not finite.
 * *other becomes 1 if that image is not `b` itself. */
static double square_of(const trajectory_lattice *lattice, const double *a, const double *b,
                        int *other)
{
    double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, square;

    *other = lattice && trajectory_lattice_shorten(lattice, d);
    square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    return isfinite(square) ? square : HUGE_VAL;
}

/* Finds a minimum spanning tree of n atoms (n x 3 positions): the n - 1 `edges` that join all atoms with the
 * smallest sum of lengths. Atoms count from 0. Bonds are usually shorter than the distances of atoms that
 * are not bonded, so the edges are bonds or only slightly longer than bonds. Thus even a molecule longer than half the
 * box is joined correctly. Lengths are distances of nearest images; if `lattice` is NULL, there is no box. Time grows
 * with n squared. Returns the length of the longest edge; `scratch`: 2 n. */
/* Prim's algorithm. If atom i is not joined yet, nearest[i] is the nearest joined atom and squares[i] the squared
 * distance to it; if atom i is joined, squares[i] is -1. */
static double trajectory_span(const trajectory_lattice *lattice, const double *positions, int64_t n,
                              trajectory_bond *edges, double *scratch)
{
    double *squares = scratch, *nearest = scratch + n, longest = 0;
    int64_t last = 0;
    int other;

    for (int64_t i = 0; i < n; i++) {
        squares[i] = HUGE_VAL;
        nearest[i] = 0;
    }
    for (int64_t k = 0; k + 1 < n; k++) {
        int64_t next = -1;

        squares[last] = -1;
        for (int64_t i = 0; i < n; i++) {
            double square;

            if (squares[i] < 0)
                continue;
            square = square_of(lattice, positions + 3 * last, positions + 3 * i, &other);
            if (square < squares[i]) {
                squares[i] = square;
                nearest[i] = (double)last;
            }
            if (next < 0 || squares[i] < squares[next])
                next = i;
        }
        edges[k] = (trajectory_bond){(int64_t)nearest[next], next};
        if (isfinite(squares[next]))
            longest = fmax(longest, squares[next]);
        last = next;
    }
    return sqrt(longest);
}

/* 1 if an atom of a placed molecule is within `distance` of a periodic image of one of the molecule's atoms. Then the
 * molecule continues through the box. */
static int trajectory_span_endless(const trajectory_lattice *lattice, const double *positions,
                                   int64_t n, double distance)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = i + 1; k < n; k++) {
            int other;
            double square = square_of(lattice, positions + 3 * i, positions + 3 * k, &other);

            if (other && square <= distance * distance)
                return 1;
        }
    return 0;
}

/* Atoms nearer than this factor times the longest edge of their residue count as bonded. */
#define MARGIN 1.1

/* The graph of bonds from which a tree is built. */
typedef struct graph {
    const trajectory_molecules *molecules;
    const trajectory_lattice *lattice;
    double *placed;         /* n_atoms x 3 */
    trajectory_bond *edges; /* bonds, and the edges that join atoms of loose residues */
    int64_t n_edges;
    double *longest;     /* the longest edge of each loose residue */
    double *scratch;     /* 2 x TRAJECTORY_SPAN_MOST */
    int64_t *starts;     /* n_atoms + 1: where the neighbours of each atom begin */
    int64_t *neighbours; /* 2 x n_edges */
} graph;

/* ---- Edges ------------------------------------------------------------------------------- */

static int64_t run_length(const trajectory_molecules *m, int64_t run)
{
    return m->loose[2 * run + 1] - m->loose[2 * run];
}

static void join_loose(graph *g)
{
    const trajectory_molecules *m = g->molecules;

    for (int64_t r = 0; r < m->n_loose; r++) {
        int64_t first = m->loose[2 * r], n = run_length(m, r);
        trajectory_bond *edges = g->edges + g->n_edges;

        if (n < 2 || n > TRAJECTORY_SPAN_MOST)
            continue;
        g->longest[r] = trajectory_span(g->lattice, g->placed + 3 * first, n, edges, g->scratch);
        for (int64_t k = 0; k + 1 < n; k++) {
            edges[k].first += first;
            edges[k].second += first;
        }
        g->n_edges += n - 1;
    }
}

static void list_neighbours(graph *g)
{
    int64_t *next = g->starts + 1; /* next[i]: where the next neighbour of atom i is listed; in the end starts[i + 1] */
    int64_t n = g->molecules->n_atoms;

    for (int64_t e = 0; e < g->n_edges; e++) {
        next[g->edges[e].first + 1]++;
        next[g->edges[e].second + 1]++;
    }
    for (int64_t i = 1; i <= n; i++)
        next[i] += next[i - 1];
    for (int64_t e = 0; e < g->n_edges; e++) {
        g->neighbours[next[g->edges[e].first]++] = g->edges[e].second;
        g->neighbours[next[g->edges[e].second]++] = g->edges[e].first;
    }
}

/* ---- The order --------------------------------------------------------------------------- */

/* Appends the atoms of a molecule to the tree, breadth first along the edges. Returns 0 if an atom is not reached.
 * `seen`: n_atoms. */
static int walk(trajectory_tree *tree, const graph *g, int64_t molecule, uint8_t *seen)
{
    const trajectory_molecules *m = g->molecules;
    int64_t first = tree->n, size = m->offsets[molecule + 1] - m->offsets[molecule];
    int64_t atom = m->atoms[m->offsets[molecule]], next = first;

    seen[atom] = 1;
    for (;; atom = tree->atoms[next++]) {
        for (int64_t k = g->starts[atom]; k < g->starts[atom + 1]; k++) {
            int64_t other = g->neighbours[k];

            if (seen[other])
                continue;
            seen[other] = 1;
            tree->atoms[tree->n] = other;
            tree->parents[tree->n++] = atom;
        }
        if (next == tree->n)
            break;
    }
    if (tree->n - first == size - 1)
        return 1;
    tree->n = first;
    return 0;
}

static void find_order(trajectory_tree *tree, const graph *g, uint8_t *seen)
{
    for (int64_t m = 0; m < g->molecules->count; m++)
        tree->left[m] = walk(tree, g, m, seen) ? TRAJECTORY_PLACED : TRAJECTORY_UNJOINED;
}

/* ---- Molecules without an end ------------------------------------------------------------ */

static void find_endless(trajectory_tree *tree, const graph *g)
{
    const trajectory_molecules *m = g->molecules;

    trajectory_tree_place(tree, g->lattice, COLLET_F64, g->placed);
    for (int64_t e = 0; e < g->n_edges; e++) {
        const double *a = g->placed + 3 * g->edges[e].first;
        const double *b = g->placed + 3 * g->edges[e].second;
        double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
        uint8_t *left = &tree->left[m->of[g->edges[e].first]];

        if (*left == TRAJECTORY_PLACED && trajectory_lattice_shorten(g->lattice, d))
            *left = TRAJECTORY_ENDLESS;
    }
    for (int64_t r = 0; r < m->n_loose; r++) {
        int64_t first = m->loose[2 * r];

        if (g->longest[r] > 0 && tree->left[m->of[first]] == TRAJECTORY_PLACED &&
            trajectory_span_endless(g->lattice, g->placed + 3 * first, run_length(m, r),
                                    MARGIN * g->longest[r]))
            tree->left[m->of[first]] = TRAJECTORY_ENDLESS;
    }
}

static void drop_left(trajectory_tree *tree, const trajectory_molecules *m)
{
    int64_t n = 0;

    for (int64_t k = 0; k < tree->n; k++) {
        if (tree->left[m->of[tree->atoms[k]]] != TRAJECTORY_PLACED)
            continue;
        tree->atoms[n] = tree->atoms[k];
        tree->parents[n++] = tree->parents[k];
    }
    tree->n = n;
}

/* ---- Making ------------------------------------------------------------------------------ */

static void free_graph(graph *g)
{
    free(g->placed);
    free(g->edges);
    free(g->longest);
    free(g->scratch);
    free(g->starts);
    free(g->neighbours);
}

static int allocate_graph(graph *g, const double *positions)
{
    const trajectory_molecules *m = g->molecules;
    size_t n = (size_t)m->n_atoms, n_edges = (size_t)m->n_bonds;

    for (int64_t r = 0; r < m->n_loose; r++)
        n_edges += (size_t)run_length(m, r);
    g->placed = malloc(3 * n * sizeof *g->placed);
    g->edges = calloc(n_edges + 1, sizeof *g->edges);
    g->longest = calloc((size_t)m->n_loose + 1, sizeof *g->longest);
    g->scratch = calloc(2 * TRAJECTORY_SPAN_MOST, sizeof *g->scratch);
    g->starts = calloc(n + 2, sizeof *g->starts);
    g->neighbours = calloc(2 * n_edges + 1, sizeof *g->neighbours);
    if (!g->placed || !g->edges || !g->longest || !g->scratch || !g->starts || !g->neighbours)
        return 0;
    memcpy(g->placed, positions, 3 * n * sizeof *g->placed);
    memcpy(g->edges, m->bonds, (size_t)m->n_bonds * sizeof *g->edges);
    g->n_edges = m->n_bonds;
    return 1;
}

static trajectory_tree *allocate_tree(const trajectory_molecules *m)
{
    trajectory_tree *tree = calloc(1, sizeof *tree);
    size_t n = (size_t)m->n_atoms;

    if (!tree)
        return NULL;
    tree->atoms = calloc(n + 1, sizeof *tree->atoms);
    tree->parents = calloc(n + 1, sizeof *tree->parents);
    tree->left = calloc((size_t)m->count + 1, 1);
    if (tree->atoms && tree->parents && tree->left)
        return tree;
    trajectory_tree_free(tree);
    return NULL;
}

collet_status trajectory_tree_create(const trajectory_molecules *m, const double *positions,
                                     const trajectory_lattice *lattice, trajectory_tree **out,
                                     collet_error *err)
{
    graph g = {.molecules = m, .lattice = lattice};
    uint8_t *seen = calloc((size_t)m->n_atoms, 1);
    trajectory_tree *tree = allocate_tree(m);

    *out = tree;
    if (!seen || !tree || !allocate_graph(&g, positions)) {
        trajectory_tree_free(tree);
        *out = NULL;
    } else {
        join_loose(&g);
        list_neighbours(&g);
        find_order(tree, &g, seen);
        if (lattice)
            find_endless(tree, &g);
        drop_left(tree, m);
    }
    free(seen);
    free_graph(&g);
    return *out ? COLLET_OK
                : collet_fail(err, COLLET_NO_MEMORY,
                              "no memory to make the molecules of %lld "
                              "atoms whole",
                              (long long)m->n_atoms);
}

void trajectory_tree_free(trajectory_tree *tree)
{
    if (!tree)
        return;
    free(tree->atoms);
    free(tree->parents);
    free(tree->left);
    free(tree);
}

/* ---- Placing ----------------------------------------------------------------------------- */

/* Sets `shift` for an atom that is moved to another image; few atoms are. */
static void move(const trajectory_lattice *lattice, const double d[3], double shift[3])
{
    memcpy(shift, d, 3 * sizeof *shift);
    trajectory_lattice_shorten(lattice, shift);
    for (int i = 0; i < 3; i++)
        shift[i] -= d[i];
}

static void place_f32(const trajectory_tree *tree, const trajectory_lattice *lattice, float *x)
{
    for (int64_t k = 0; k < tree->n; k++) {
        float *a = x + 3 * tree->atoms[k];
        const float *p = x + 3 * tree->parents[k];
        double d[3] = {(double)a[0] - p[0], (double)a[1] - p[1], (double)a[2] - p[2]}, shift[3];

        if (!(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > lattice->safe_square))
            continue;
        move(lattice, d, shift);
        for (int i = 0; i < 3; i++)
            a[i] = (float)(a[i] + shift[i]);
    }
}

static void place_f64(const trajectory_tree *tree, const trajectory_lattice *lattice, double *x)
{
    for (int64_t k = 0; k < tree->n; k++) {
        double *a = x + 3 * tree->atoms[k];
        const double *p = x + 3 * tree->parents[k];
        double d[3] = {a[0] - p[0], a[1] - p[1], a[2] - p[2]}, shift[3];

        if (!(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > lattice->safe_square))
            continue;
        move(lattice, d, shift);
        for (int i = 0; i < 3; i++)
            a[i] += shift[i];
    }
}

void trajectory_tree_place(const trajectory_tree *tree, const trajectory_lattice *lattice,
                           collet_dtype dtype, void *positions)
{
    if (dtype == COLLET_F64)
        place_f64(tree, lattice, positions);
    else
        place_f32(tree, lattice, positions);
}
