/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_selection.c, tests/engines/test_trajectory_choice.c */
#include "choice.h"

#include "choice_program.h"
#include "neighbours.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DISTANCES 16 /* maximum number of "within" in a selection; each costs one search in every frame */

/* Scratch memory of one call; a thread allocates new scratch memory if all is in use. */
typedef struct choice_scratch {
    struct choice_scratch *next;
    trajectory_neighbours *neighbours;
    uint8_t *sets;   /* the stack */
    uint8_t *marks;  /* one byte for each label; or one for each target: 1 if the target is near */
    double *sources; /* positions */
    double *targets;
    int64_t *tested; /* the targets that are not sources */
} scratch;

/* ---- Creation ---------------------------------------------------------------------------- */

/* Sets of->domain, the atoms for which the result of node `of` matters, to the atoms that are in `domain` and also in
 * `other`; a set that is NULL has all atoms. */
static int restrict_to(const trajectory_choice *c, choice_node *of, const uint8_t *domain,
                       const uint8_t *other)
{
    if (domain == NULL && other == NULL)
        return 1;
    of->domain = choice_copy(domain != NULL ? domain : other, c->n_topology);
    if (of->domain == NULL)
        return 0;
    if (domain != NULL && other != NULL)
        choice_join(SELECT_AND, of->domain, other, c->n_topology);
    return 1;
}

/* The result of an operand of "and" matters only for atoms that the other operand may select, because "and" selects no
 * other atom. So a search tests only these atoms. For each other atom its result is whether every frame selects the
 * atom (`must`), so the result stays between the bounds `must` and `may`. */
static int choose_domains(trajectory_choice *c)
{
    int fits = 1;

    for (size_t i = c->n_nodes; fits && i-- > 0;) {
        choice_node *n = &c->nodes[i], *left = &c->nodes[n->left], *right = &c->nodes[n->right];

        if (n->code == SELECT_AND)
            fits = restrict_to(c, left, n->domain, right->may) &&
                   restrict_to(c, right, n->domain, left->may);
        else if (n->code == SELECT_OR)
            fits = restrict_to(c, left, n->domain, NULL) && restrict_to(c, right, n->domain, NULL);
        else if (n->code == SELECT_NOT)
            fits = restrict_to(c, right, n->domain, NULL);
    }
    return fits;
}

/* 1 if the search of choice_node `n` tests the atom. */
static int is_target(const choice_node *n, int64_t atom)
{
    return n->may[atom] && (n->domain == NULL || n->domain[atom]);
}

static size_t count_sets(const trajectory_choice *c)
{
    size_t top = 0, most = 0;

    for (size_t i = 0; i < c->n_nodes; i++) {
        top += c->nodes[i].code == SELECT_ALL;
        top -= c->nodes[i].code == SELECT_AND || c->nodes[i].code == SELECT_OR;
        most = top > most ? top : most;
    }
    return most;
}

static int64_t *list_set(const uint8_t *set, int64_t n, int64_t *count)
{
    int64_t *list = malloc(((size_t)n + 1) * sizeof *list);

    *count = 0;
    for (int64_t i = 0; list != NULL && i < n; i++)
        if (set[i])
            list[(*count)++] = i;
    return list;
}

/* Lists the sources and the targets of a search. `places`: index in c->atoms of each atom. */
static int list_search(const trajectory_choice *c, choice_node *n, const int64_t *places)
{
    const choice_node *operand = &c->nodes[n->right];

    n->sources = malloc(((size_t)c->n_atoms + 1) * sizeof *n->sources);
    n->targets = malloc(((size_t)c->n_atoms + 1) * sizeof *n->targets);
    if (n->sources == NULL || n->targets == NULL)
        return 0;
    for (int64_t atom = 0; atom < c->n_topology; atom++) {
        if (operand->may[atom])
            n->sources[n->n_sources++] = places[atom];
        if (is_target(n, atom))
            n->targets[n->n_targets++] = places[atom];
    }
    return 1;
}

static int is_search(const choice_node *n)
{
    return n->code == SELECT_WITHIN || n->code == SELECT_EXWITHIN;
}

/* Lists the atoms on which searches depend. 0 if out of memory. */
static int list_atoms(trajectory_choice *c)
{
    uint8_t *needed = calloc((size_t)c->n_topology + 1, 1);
    int64_t *places = malloc(((size_t)c->n_topology + 1) * sizeof *places);
    int fits = needed != NULL && places != NULL;

    for (size_t i = 0; fits && i < c->n_nodes; i++)
        for (int64_t atom = 0; is_search(&c->nodes[i]) && atom < c->n_topology; atom++)
            needed[atom] |= is_target(&c->nodes[i], atom) || c->nodes[c->nodes[i].right].may[atom];
    if (fits)
        c->atoms = list_set(needed, c->n_topology, &c->n_atoms);
    fits = fits && c->atoms != NULL;
    for (int64_t i = 0; fits && i < c->n_atoms; i++)
        places[c->atoms[i]] = i;
    for (size_t i = 0; fits && i < c->n_nodes; i++)
        if (is_search(&c->nodes[i]))
            fits = list_search(c, &c->nodes[i], places);
    free(needed);
    free(places);
    return fits;
}

static collet_status check_searches(const trajectory_selection *s, collet_error *err)
{
    int n = 0;

    for (size_t i = 0; i < s->n_steps; i++)
        n += s->steps[i].code == SELECT_WITHIN || s->steps[i].code == SELECT_EXWITHIN;
    if (n <= MAX_DISTANCES)
        return COLLET_OK;
    return collet_fail(err, COLLET_INVALID,
                       "selection: it has %d distances, within or exwithin; at most %d are allowed",
                       n, MAX_DISTANCES);
}

collet_status trajectory_choice_create(const trajectory_selection *s,
                                       const trajectory_topology *topology,
                                       const trajectory_groups *groups, trajectory_choice **out,
                                       collet_error *err)
{
    trajectory_choice *c = calloc(1, sizeof *c);
    collet_status status;

    *out = NULL;
    if (c == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "selection: out of memory");
    pthread_mutex_init(&c->lock, NULL);
    c->n_topology = topology->n_atoms;
    c->nodes = calloc(s->n_steps + 1, sizeof *c->nodes);
    status = c->nodes != NULL ? check_searches(s, err) : choice_no_memory(c, err);
    if (status == COLLET_OK)
        status = choice_build(c, s, topology, groups, err);
    if (status == COLLET_OK) {
        c->depth = count_sets(c);
        c->members = list_set(c->nodes[c->n_nodes - 1].may, c->n_topology, &c->n_members);
        if (c->members == NULL || !choose_domains(c) || !list_atoms(c))
            status = choice_no_memory(c, err);
    }
    if (status != COLLET_OK) {
        trajectory_choice_free(c);
        return status;
    }
    *out = c;
    return COLLET_OK;
}

static void free_scratch(scratch *s)
{
    if (s == NULL)
        return;
    trajectory_neighbours_free(s->neighbours);
    free(s->sets);
    free(s->marks);
    free(s->sources);
    free(s->targets);
    free(s->tested);
    free(s);
}

void trajectory_choice_free(trajectory_choice *c)
{
    if (c == NULL)
        return;
    while (c->idle != NULL) {
        scratch *next = c->idle->next;

        free_scratch(c->idle);
        c->idle = next;
    }
    for (size_t i = 0; c->nodes != NULL && i < c->n_nodes; i++)
        choice_free_node(&c->nodes[i]);
    free(c->nodes);
    free(c->members);
    free(c->atoms);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

const int64_t *trajectory_choice_members(const trajectory_choice *c, int64_t *n)
{
    *n = c->n_members;
    return c->members;
}

const int64_t *trajectory_choice_atoms(const trajectory_choice *c, int64_t *n)
{
    *n = c->n_atoms;
    return c->atoms;
}

void trajectory_choice_set_frames(trajectory_choice *c, trajectory_frame_choice *choose, void *user)
{
    c->choose = choose;
    c->user = user;
}

int trajectory_choice_varies(const trajectory_choice *c)
{
    return c->choose != NULL || !choice_is_fixed(&c->nodes[c->n_nodes - 1]);
}

/* ---- A frame ----------------------------------------------------------------------------- */

static scratch *create_scratch(const trajectory_choice *c)
{
    scratch *s = calloc(1, sizeof *s);
    size_t n = (size_t)c->n_topology + 1, n_sources = 0, n_targets = 0;

    if (s == NULL)
        return NULL;
    for (size_t i = 0; i < c->n_nodes; i++) {
        const choice_node *node = &c->nodes[i];

        n_sources = (size_t)node->n_sources > n_sources ? (size_t)node->n_sources : n_sources;
        n_targets = (size_t)node->n_targets > n_targets ? (size_t)node->n_targets : n_targets;
    }
    s->neighbours = trajectory_neighbours_create();
    s->sets = malloc(c->depth * n);
    s->marks = malloc(n);
    s->sources = malloc(3 * (n_sources + 1) * sizeof *s->sources);
    s->targets = malloc(3 * (n_targets + 1) * sizeof *s->targets);
    s->tested = malloc((n_targets + 1) * sizeof *s->tested);
    if (s->neighbours && s->sets && s->marks && s->sources && s->targets && s->tested)
        return s;
    free_scratch(s);
    return NULL;
}

static scratch *take_scratch(trajectory_choice *c)
{
    scratch *s;

    pthread_mutex_lock(&c->lock);
    s = c->idle;
    if (s != NULL)
        c->idle = s->next;
    pthread_mutex_unlock(&c->lock);
    return s != NULL ? s : create_scratch(c);
}

static void give_back(trajectory_choice *c, scratch *s)
{
    pthread_mutex_lock(&c->lock);
    s->next = c->idle;
    c->idle = s;
    pthread_mutex_unlock(&c->lock);
}

typedef struct frame_view {
    const trajectory_frames *frames;
    int64_t frame;
    const int64_t *rows;
} frame_view;

static void copy_position(const frame_view *view, int64_t place, double to[3])
{
    int64_t first = 3 * (view->frame * view->frames->n_atoms + view->rows[place]);

    for (int k = 0; k < 3; k++)
        to[k] = trajectory_frames_value(view->frames, view->frames->positions, first + k);
}

/* Replaces the set by all atoms that are near an atom of the set. Each atom of the set is near to itself. */
static collet_status run_search(const trajectory_choice *c, const choice_node *n,
                                const frame_view *view, scratch *s, uint8_t *set, collet_error *err)
{
    int64_t n_sources = 0, n_tested = 0;
    collet_status status;

    for (int64_t i = 0; i < n->n_sources; i++)
        if (set[c->atoms[n->sources[i]]])
            copy_position(view, n->sources[i], s->sources + 3 * n_sources++);
    for (int64_t i = 0; i < n->n_targets; i++) {
        int64_t atom = c->atoms[n->targets[i]];

        if (set[atom])
            continue;
        copy_position(view, n->targets[i], s->targets + 3 * n_tested);
        s->tested[n_tested++] = atom;
    }
    status = trajectory_neighbours_find(s->neighbours, view->frames->boxes + 9 * view->frame,
                                        n->distance, s->sources, n_sources, s->targets, n_tested,
                                        s->marks, err);
    if (n->code == SELECT_EXWITHIN)
        memset(set, 0, (size_t)c->n_topology);
    for (int64_t i = 0; status == COLLET_OK && i < n_tested; i++)
        set[s->tested[i]] = s->marks[i];
    return status;
}

static collet_status run(const trajectory_choice *c, const frame_view *view, scratch *s,
                         collet_error *err)
{
    size_t n = (size_t)c->n_topology, top = 0;
    collet_status status = COLLET_OK;

    for (size_t i = 0; status == COLLET_OK && i < c->n_nodes; i++) {
        const choice_node *step = &c->nodes[i];
        uint8_t *set = s->sets + (top > 0 ? top - 1 : 0) * n;

        if (step->code == SELECT_ALL)
            memcpy(s->sets + n * top++, step->may, n);
        else if (step->code == SELECT_NOT)
            choice_invert(set, c->n_topology);
        else if (step->code == SELECT_SAME)
            choice_spread(set, step->labels, step->n_labels, c->n_topology, s->marks);
        else if (is_search(step))
            status = run_search(c, step, view, s, set, err);
        else
            choice_join(step->code, s->sets + (--top - 1) * n, set, c->n_topology);
    }
    return status;
}

collet_status trajectory_choice_find(trajectory_choice *c, const trajectory_frames *frames,
                                     int64_t frame, const int64_t *rows, uint8_t *chosen,
                                     int64_t *count, collet_error *err)
{
    const frame_view view = {frames, frame, rows};
    scratch *s = take_scratch(c);
    collet_status status;

    *count = 0;
    if (s == NULL)
        return choice_no_memory(c, err);
    status = run(c, &view, s, err);
    if (status == COLLET_OK && c->choose != NULL) {
        status = c->choose(c->user, s->marks, frames->indices[frame], err);
        choice_join(SELECT_AND, s->sets, s->marks, c->n_topology);
    }
    for (int64_t i = 0; status == COLLET_OK && i < c->n_members; i++) {
        chosen[i] = s->sets[c->members[i]];
        *count += chosen[i];
    }
    give_back(c, s);
    return status;
}
