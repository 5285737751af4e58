/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_periodic.c */
#include "apart.h"

#include "trajectory/atoms/neighbours.h"
#include "trajectory/atoms/residues.h"
#include "trajectory/boxes/lattice.h"

#include <stdlib.h>
#include <string.h>

#define CONTACT 0.6        /* nm; molecules touch if two of their atoms are at most this far apart */
#define MOST_MOLECULES 128 /* molecules of a body; time grows with the square of their number */
#define MOST_ATOMS 200000  /* atoms of a body whose contacts are searched */
#define SAMPLE 100         /* atoms of a molecule whose distances from another molecule are computed */
#define SAME 0.05          /* nm; above the rounding of sums of positions */
#define TURNS 8            /* most searches for nearer atoms */

typedef struct entry {
    int64_t body, molecule, row, atom;
    int is_polymer; /* 1: a protein or a nucleic acid */
} entry;

/* The entries first .. end - 1 of one molecule in one body. */
typedef struct part {
    int64_t body, first, end;
    double centre[3];
    double square;   /* square of the distance to the nearest part that is joined already */
    int64_t nearest; /* that part */
    int is_joined;
} part;

struct trajectory_apart {
    entry *entries; /* n, by body, molecule and row */
    int64_t n;
    part *parts; /* n_parts, by body */
    int64_t n_parts;
    int64_t *atoms; /* n_atoms, ascending; NULL: nothing is to be decided */
    int64_t n_atoms;
};

static collet_status no_memory(int64_t n, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "no memory for the molecules of %lld atoms",
                       (long long)n);
}

/* ---- Molecules that count ---------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const entry *p = a, *q = b;

    if (p->body != q->body)
        return p->body < q->body ? -1 : 1;
    if (p->molecule != q->molecule)
        return p->molecule < q->molecule ? -1 : 1;
    return p->row < q->row ? -1 : p->row > q->row;
}

/* Returns the end of the body that begins at entry `first`, and the number of its molecules. */
static int64_t body_end(const trajectory_apart *a, int64_t first, int64_t *molecules)
{
    int64_t end = first;

    *molecules = 0;
    for (; end < a->n && a->entries[end].body == a->entries[first].body; end++)
        *molecules += end == first || a->entries[end].molecule != a->entries[end - 1].molecule;
    return end;
}

/* Leaves out, in bodies with too many molecules, the molecules that are not proteins or nucleic acids. */
static void drop_most(trajectory_apart *a)
{
    int64_t n = 0, molecules, end;

    for (int64_t first = 0; first < a->n; first = end) {
        end = body_end(a, first, &molecules);
        for (int64_t k = first; k < end; k++)
            if (molecules <= MOST_MOLECULES || a->entries[k].is_polymer)
                a->entries[n++] = a->entries[k];
    }
    a->n = n;
}

/* Makes the parts from the entries; drops bodies that have one molecule or, after all exclusions, too many. */
static void list_parts(trajectory_apart *a, int is_last)
{
    int64_t n = 0, molecules, end;

    a->n_parts = 0;
    for (int64_t first = 0; first < a->n; first = end) {
        int64_t kept = n;

        end = body_end(a, first, &molecules);
        if (molecules < 2 || (is_last && molecules > MOST_MOLECULES))
            continue;
        for (int64_t k = first; k < end; k++) {
            int starts = n == kept || a->entries[k].molecule != a->entries[n - 1].molecule;
            a->entries[n] = a->entries[k];
            if (starts)
                a->parts[a->n_parts++] = (part){.body = a->entries[n].body, .first = n};
            a->parts[a->n_parts - 1].end = ++n;
        }
    }
    a->n = n;
}

static void take(trajectory_apart *a, const trajectory_topology *t, const trajectory_molecules *m,
                 const int64_t *members, const int64_t *offsets, int64_t n_bodies)
{
    for (int64_t b = 0; b < n_bodies; b++)
        for (int64_t row = offsets[b]; row < offsets[b + 1]; row++) {
            int64_t atom = members[row], molecule = m->of[atom];
            const char *residue = t->residue_names[atom];
            int is_polymer =
                trajectory_residue_is_protein(residue) || trajectory_residue_is_nucleic(residue);

            if (trajectory_residue_is_water(residue) ||
                (m->offsets[molecule + 1] - m->offsets[molecule] < 2 && !is_polymer))
                continue;
            a->entries[a->n++] = (entry){b, molecule, row, atom, is_polymer};
        }
    qsort(a->entries, (size_t)a->n, sizeof *a->entries, compare);
    /* A modified residue in a chain counts as a part of the chain. */
    for (int64_t k = 1; k < a->n; k++)
        a->entries[k].is_polymer |=
            a->entries[k].molecule == a->entries[k - 1].molecule && a->entries[k - 1].is_polymer;
    for (int64_t k = a->n - 1; k > 0; k--)
        a->entries[k - 1].is_polymer |=
            a->entries[k].molecule == a->entries[k - 1].molecule && a->entries[k].is_polymer;
    list_parts(a, 0);
}

static int compare_atoms(const void *a, const void *b)
{
    int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;

    return (p > q) - (p < q);
}

/* Lists the atoms of all entries, if some entries belong to molecules other than proteins. */
static int list_atoms(trajectory_apart *a)
{
    int others = 0;

    for (int64_t k = 0; k < a->n; k++)
        others |= !a->entries[k].is_polymer;
    if (!others) {
        list_parts(a, 1);
        return 1;
    }
    a->atoms = malloc((size_t)a->n * sizeof *a->atoms);
    if (!a->atoms)
        return 0;
    for (int64_t k = 0; k < a->n; k++)
        a->atoms[k] = a->entries[k].atom;
    qsort(a->atoms, (size_t)a->n, sizeof *a->atoms, compare_atoms);
    for (int64_t k = 0; k < a->n; k++)
        if (k == 0 || a->atoms[k] != a->atoms[a->n_atoms - 1])
            a->atoms[a->n_atoms++] = a->atoms[k];
    return 1;
}

collet_status trajectory_apart_create(const trajectory_topology *topology, const int64_t *members,
                                      const int64_t *offsets, int64_t n_bodies,
                                      trajectory_apart **out, collet_error *err)
{
    trajectory_molecules *molecules = NULL;
    trajectory_apart *a = calloc(1, sizeof *a);
    size_t n = (size_t)offsets[n_bodies];
    collet_status status = trajectory_molecules_create(topology, &molecules, err);

    *out = NULL;
    if (a) {
        a->entries = malloc(n * sizeof *a->entries);
        a->parts = malloc(n * sizeof *a->parts);
    }
    if (status == COLLET_OK && (!a || !a->entries || !a->parts))
        status = no_memory(offsets[n_bodies], err);
    if (status == COLLET_OK) {
        take(a, topology, molecules, members, offsets, n_bodies);
        if (!list_atoms(a))
            status = no_memory(a->n, err);
    }
    trajectory_molecules_free(molecules);
    if (status == COLLET_OK && a->n > 0)
        *out = a;
    else
        trajectory_apart_free(a);
    return status;
}

void trajectory_apart_free(trajectory_apart *a)
{
    if (!a)
        return;
    free(a->entries);
    free(a->parts);
    free(a->atoms);
    free(a);
}

/* ---- Molecules that fill the box --------------------------------------------------------- */

/* The atoms of a body in sets of atoms that touch (union-find). Nodes k and parent[k] are in the same set, and at[k] is
 * the position of k relative to parent[k]. */
typedef struct contacts {
    int64_t *parent;
    double (*at)[3];
    uint8_t *endless;  /* for the first node of a set: 1: the set touches its own image */
    int64_t *molecule; /* for the first node of a set: the set's only molecule; -1: there are several */
} contacts;

/* Returns the first node of k's set, and sets `at` to the position of k relative to it. */
static int64_t root_of(contacts *c, int64_t k, double at[3])
{
    at[0] = at[1] = at[2] = 0;
    while (c->parent[k] != k) {
        int64_t up = c->parent[k];

        if (c->parent[up] != up) {
            for (int v = 0; v < 3; v++)
                c->at[k][v] += c->at[up][v];
            c->parent[k] = c->parent[up];
            up = c->parent[k];
        }
        for (int v = 0; v < 3; v++)
            at[v] += c->at[k][v];
        k = up;
    }
    return k;
}

static int touch(void *user, int64_t first, int64_t second, const double d[3])
{
    contacts *c = user;
    double a[3], b[3], off = 0;
    int64_t p = root_of(c, first, a), q = root_of(c, second, b);

    if (p == q) {
        for (int v = 0; v < 3; v++)
            off += (b[v] - a[v] - d[v]) * (b[v] - a[v] - d[v]);
        c->endless[p] |= off > SAME * SAME;
        return 1;
    }
    c->parent[q] = p;
    for (int v = 0; v < 3; v++)
        c->at[q][v] = a[v] + d[v] - b[v];
    c->endless[p] |= c->endless[q];
    c->molecule[p] = c->molecule[p] == c->molecule[q] ? c->molecule[p] : -1;
    return 1;
}

static int64_t place_of(const trajectory_apart *a, int64_t atom)
{
    const int64_t *found = bsearch(&atom, a->atoms, (size_t)a->n_atoms, sizeof atom, compare_atoms);

    return found - a->atoms;
}

/* Sets `molecule` to -1 in the entries that are left out, among the entries first .. end - 1 of one body. */
static collet_status leave_out(trajectory_apart *a, int64_t first, int64_t end,
                               const trajectory_frames *frame, collet_error *err)
{
    size_t n = (size_t)(end - first);
    contacts c = {calloc(n, sizeof *c.parent), calloc(n, sizeof *c.at), calloc(n, 1),
                  calloc(n, sizeof *c.molecule)};
    double *points = malloc(3 * n * sizeof *points), at[3];
    trajectory_neighbours *neighbours = trajectory_neighbours_create();
    int is_known = frame && (int64_t)n <= MOST_ATOMS && trajectory_lattice_exists(frame->boxes);
    collet_status status = COLLET_OK;

    if (!c.parent || !c.at || !c.endless || !c.molecule || !points || !neighbours)
        status = no_memory(end - first, err);
    for (size_t k = 0; status == COLLET_OK && k < n; k++) {
        int64_t row = place_of(a, a->entries[first + (int64_t)k].atom);
        c.parent[k] = (int64_t)k;
        c.molecule[k] = a->entries[first + (int64_t)k].molecule;
        for (int v = 0; is_known && v < 3; v++)
            points[3 * k + (size_t)v] =
                trajectory_frames_value(frame, frame->positions, 3 * row + v);
    }
    if (status == COLLET_OK && is_known) {
        status = trajectory_neighbours_pairs(neighbours, frame->boxes, CONTACT, points, end - first,
                                             touch, &c, err);
        is_known = status == COLLET_OK;
        status = status == COLLET_NO_MEMORY ? status : COLLET_OK;
    }
    int64_t molecules;
    body_end(a, first, &molecules);
    int64_t lonely = -1; /* the molecule that touches no other molecule; -1: none; -2: several */
    for (int64_t k = 0; status == COLLET_OK && is_known && k < end - first; k++) {
        int64_t molecule = c.molecule[root_of(&c, k, at)];
        if (molecule >= 0 && !a->entries[first + k].is_polymer)
            lonely = lonely == -1 || lonely == molecule ? molecule : -2;
    }
    for (int64_t k = 0; status == COLLET_OK && k < end - first; k++) {
        entry *e = &a->entries[first + k];
        int64_t root = root_of(&c, k, at);
        if (!e->is_polymer && (!is_known || c.endless[root] ||
                               (c.molecule[root] >= 0 && lonely < 0 && molecules > 2)))
            e->molecule = -1;
    }
    free(c.parent);
    free(c.at);
    free(c.endless);
    free(c.molecule);
    free(points);
    trajectory_neighbours_free(neighbours);
    return status;
}

const int64_t *trajectory_apart_atoms(const trajectory_apart *a, int64_t *n)
{
    *n = a->n_atoms;
    return a->atoms;
}

collet_status trajectory_apart_decide(trajectory_apart *a, const trajectory_frames *frame,
                                      collet_error *err)
{
    collet_status status = COLLET_OK;
    int64_t n = 0, end;

    for (int64_t first = 0; status == COLLET_OK && first < a->n; first = end) {
        for (end = first; end < a->n && a->entries[end].body == a->entries[first].body;)
            end++;
        status = leave_out(a, first, end, frame, err);
    }
    for (int64_t k = 0; k < a->n; k++)
        if (a->entries[k].molecule >= 0)
            a->entries[n++] = a->entries[k];
    a->n = n;
    drop_most(a);
    list_parts(a, 1);
    return status;
}

/* ---- Frames ------------------------------------------------------------------------------ */

static void position_of(const trajectory_apart *a, const trajectory_frames *frames, int64_t i,
                        int64_t k, double at[3])
{
    int64_t row = i * frames->n_atoms + a->entries[k].row;

    for (int v = 0; v < 3; v++)
        at[v] = trajectory_frames_value(frames, frames->positions, 3 * row + v);
}

/* 1 if the atom of entry k is chosen in frame i. */
static int is_chosen(const trajectory_apart *a, const trajectory_frames *frames, int64_t i,
                     int64_t k)
{
    return !frames->masses || frames->masses[i * frames->n_atoms + a->entries[k].row] != 0;
}

/* Returns 0 if no atom of the molecule is chosen in frame i. */
static int find_centre(const trajectory_apart *a, part *p, const trajectory_frames *frames,
                       int64_t i)
{
    double at[3];
    int64_t n = 0;

    memset(p->centre, 0, sizeof p->centre);
    for (int64_t k = p->first; k < p->end; k++) {
        if (!is_chosen(a, frames, i, k))
            continue;
        position_of(a, frames, i, k, at);
        for (int v = 0; v < 3; v++)
            p->centre[v] += at[v];
        n++;
    }
    for (int v = 0; v < 3; v++)
        p->centre[v] /= n > 0 ? (double)n : 1;
    return n > 0;
}

static double square_of(const double d[3])
{
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* Searches every `step`-th entry of p whose atom is chosen, with positions moved by `shift`, for the atom nearest to x.
 * Returns its squared distance from x, and sets *nearest to its entry; -1 if no such atom is chosen. */
static double nearest_of(const trajectory_apart *a, const part *p, int64_t step, const double x[3],
                         const double shift[3], const trajectory_frames *frames, int64_t i,
                         int64_t *nearest)
{
    double best = -1, d[3];

    for (int64_t k = p->first; k < p->end; k += step) {
        if (!is_chosen(a, frames, i, k))
            continue;
        position_of(a, frames, i, k, d);
        for (int v = 0; v < 3; v++)
            d[v] += shift[v] - x[v];
        if (best < 0 || square_of(d) < best) {
            best = square_of(d);
            *nearest = k;
        }
    }
    return best;
}

/* Returns the squared distance between the two nearest atoms of p and q, with q moved by `shift`. First compares about
 * SAMPLE atoms of each molecule. Then searches all atoms of p for the atom nearest to the atom found in q, all atoms of
 * q for the atom nearest to that atom of p, and so on, while the distance decreases, at most TURNS times. */
static double gap_of(const trajectory_apart *a, const part *p, const part *q, const double shift[3],
                     const trajectory_frames *frames, int64_t i)
{
    const double back[3] = {-shift[0], -shift[1], -shift[2]};
    int64_t step_p = frames->masses ? 1 : (p->end - p->first) / SAMPLE + 1;
    int64_t step_q = frames->masses ? 1 : (q->end - q->first) / SAMPLE + 1;
    int64_t found = q->first, of_q = q->first, of_p = p->first;
    double best = -1, square, x[3];

    for (int64_t k = p->first; k < p->end; k += step_p) {
        if (!is_chosen(a, frames, i, k))
            continue;
        position_of(a, frames, i, k, x);
        square = nearest_of(a, q, step_q, x, shift, frames, i, &found);
        if (best < 0 || square < best) {
            best = square;
            of_q = found;
        }
    }
    for (int turn = 0; turn < TURNS && (step_p > 1 || step_q > 1); turn++) {
        position_of(a, frames, i, of_q, x);
        (void)nearest_of(a, p, 1, x, back, frames, i, &of_p);
        position_of(a, frames, i, of_p, x);
        square = nearest_of(a, q, 1, x, shift, frames, i, &of_q);
        if (!(square < best))
            break;
        best = square;
    }
    return best;
}

/* 1 if p is nearer to the image of q whose centre is nearest than to q itself, by the distance of nearest atoms. */
static int nearer_beyond(const trajectory_apart *a, const part *p, const part *q,
                         const trajectory_lattice *lattice, const trajectory_frames *frames,
                         int64_t i)
{
    static const double none[3];
    double d[3], shift[3];

    for (int v = 0; v < 3; v++)
        shift[v] = d[v] = q->centre[v] - p->centre[v];
    if (!trajectory_lattice_shorten(lattice, shift))
        return 0;
    for (int v = 0; v < 3; v++)
        shift[v] -= d[v];
    return gap_of(a, p, q, shift, frames, i) < gap_of(a, p, q, none, frames, i);
}

/* Joins the parts of a body by a minimum spanning tree. Returns 1 if the boundary divides them. */
static int is_divided(const trajectory_apart *a, part *parts, int64_t n,
                      const trajectory_lattice *lattice, const trajectory_frames *frames, int64_t i)
{
    part *last = NULL;

    for (int64_t k = 0; k < n; k++) {
        parts[k].is_joined = !find_centre(a, &parts[k], frames, i);
        parts[k].square = -1;
        if (!last && !parts[k].is_joined)
            last = &parts[k];
    }
    while (last) {
        part *next = NULL;

        last->is_joined = 1;
        for (part *p = parts; p < parts + n; p++) {
            double d[3];
            if (p->is_joined)
                continue;
            for (int v = 0; v < 3; v++)
                d[v] = p->centre[v] - last->centre[v];
            trajectory_lattice_shorten(lattice, d);
            if (p->square < 0 || square_of(d) < p->square) {
                p->square = square_of(d);
                p->nearest = last - parts;
            }
            if (!next || p->square < next->square)
                next = p;
        }
        if (next && nearer_beyond(a, &parts[next->nearest], next, lattice, frames, i))
            return 1;
        last = next;
    }
    return 0;
}

int64_t trajectory_apart_find(trajectory_apart *a, const trajectory_frames *frames, int64_t i)
{
    trajectory_lattice lattice;
    int64_t end;

    if (!a || !trajectory_lattice_make(&lattice, frames->boxes + 9 * i))
        return -1;
    for (int64_t first = 0; first < a->n_parts; first = end) {
        for (end = first; end < a->n_parts && a->parts[end].body == a->parts[first].body;)
            end++;
        if (is_divided(a, a->parts + first, end - first, &lattice, frames, i))
            return a->parts[first].body;
    }
    return -1;
}
