/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_source.c */
#include "memory.h"

#include "trajectory/formats/trajectory_format.h"

#include <stdlib.h>
#include <string.h>

typedef struct memory_state {
    const collet_trajectory_source *source;
} memory_state;

static size_t real_size(collet_dtype dtype)
{
    return dtype == COLLET_F64 ? sizeof(double) : sizeof(float);
}

/* Bytes of a frame in the source's arrays. Frame i has the offset i times this number. */
static int64_t frame_bytes(const collet_trajectory_source *source)
{
    int64_t fields = 1 + (source->has_velocities != 0) + (source->has_forces != 0);

    return fields * source->n_atoms * 3 * (int64_t)real_size(source->dtype);
}

/* ---- Topology ---------------------------------------------------------------------------- */

static collet_status copy_names(char (*to)[TRAJECTORY_ATOM_NAME], const char *const *names,
                                int64_t n, const char *what, collet_error *err)
{
    for (int64_t i = 0; names != NULL && i < n; i++) {
        if (names[i] == NULL || strlen(names[i]) >= TRAJECTORY_ATOM_NAME)
            return collet_fail(
                err, COLLET_INVALID,
                "source: the %s of atom %lld is %s%.40s; at most %d bytes are allowed", what,
                (long long)i,
                names[i] == NULL ? "NULL" : "too long: ", names[i] == NULL ? "" : names[i],
                TRAJECTORY_ATOM_NAME - 1);
        strcpy(to[i], names[i]);
    }
    return COLLET_OK;
}

/* Copies an optional array with one element for each atom; `to` points to the pointer that is set. */
static collet_status copy_array(const trajectory_topology *topology, void *to, const void *from,
                                size_t element, collet_error *err)
{
    void *copy;
    collet_status status;

    if (from == NULL)
        return COLLET_OK;
    status = trajectory_topology_allocate_one(topology, &copy, element, "source", err);
    if (status == COLLET_OK)
        memcpy(copy, from, (size_t)topology->n_atoms * element);
    memcpy(to, &copy, sizeof copy);
    return status;
}

/* Copies names in the same way. */
static collet_status copy_labels(const trajectory_topology *topology,
                                 char (**to)[TRAJECTORY_ATOM_NAME], const char *const *names,
                                 const char *what, collet_error *err)
{
    collet_status status;

    if (names == NULL)
        return COLLET_OK;
    status = trajectory_topology_allocate_one(topology, to, sizeof **to, "source", err);
    return status == COLLET_OK ? copy_names(*to, names, topology->n_atoms, what, err) : status;
}

static collet_status copy_bonds(const collet_trajectory_source *source,
                                trajectory_topology *topology, collet_error *err)
{
    int64_t n = source->n_bonds;
    trajectory_bond *bonds;

    if (source->bonds == NULL)
        return COLLET_OK;
    bonds = calloc((size_t)n + 1, sizeof *bonds);
    if (bonds == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "source: no memory for %lld bonds", (long long)n);
    for (int64_t i = 0; i < n; i++)
        bonds[i] = (trajectory_bond){source->bonds[2 * i], source->bonds[2 * i + 1]};
    return trajectory_topology_set_bonds(topology, bonds, n, "source", err);
}

static collet_status fill_topology(const collet_trajectory_source *source,
                                   trajectory_topology *topology, collet_error *err)
{
    int64_t n = source->n_atoms;
    collet_status status = trajectory_topology_allocate(topology, n, "", 0, "source", err);

    if (status == COLLET_OK)
        status = copy_names(topology->names, source->names, n, "name", err);
    if (status == COLLET_OK)
        status = copy_names(topology->residue_names, source->residue_names, n, "residue name", err);
    if (status == COLLET_OK && source->residue_ids != NULL)
        memcpy(topology->residue_ids, source->residue_ids, (size_t)n * sizeof(int32_t));
    if (status == COLLET_OK)
        status = copy_array(topology, &topology->residue_numbers, source->residue_numbers,
                            sizeof(int64_t), err);
    if (status == COLLET_OK)
        status = copy_array(topology, &topology->charges, source->charges, sizeof(double), err);
    if (status == COLLET_OK)
        status = copy_labels(topology, &topology->segments, source->segments, "segment", err);
    if (status == COLLET_OK)
        status = copy_labels(topology, &topology->chains, source->chains, "chain", err);
    return status == COLLET_OK ? copy_bonds(source, topology, err) : status;
}

collet_status trajectory_memory_topology(const collet_trajectory_source *source,
                                         trajectory_topology **out, collet_error *err)
{
    trajectory_topology *topology = calloc(1, sizeof *topology);
    collet_status status;

    *out = NULL;
    if (!topology)
        return collet_fail(err, COLLET_NO_MEMORY, "source: no memory for its topology");
    status = fill_topology(source, topology, err);
    if (status != COLLET_OK)
        trajectory_topology_free(topology);
    else
        *out = topology;
    return status;
}

/* ---- Frames ------------------------------------------------------------------------------ */

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    const collet_trajectory_source *source = ((memory_state *)trajectory->state)->source;

    (void)err;
    head->end = trajectory->offset + frame_bytes(source);
    head->n_atoms = source->n_atoms;
    head->dtype = source->dtype;
    head->step = -1;
    head->has_time = source->has_times != 0;
    head->positions = 1;
    head->velocities = source->has_velocities;
    head->forces = source->has_forces;
    return COLLET_OK;
}

/* Copies the selected atoms. */
static void copy_atoms(const trajectory_reader *trajectory, size_t atom_bytes, const void *from,
                       void *to)
{
    uint8_t *target = to;

    for (int64_t r = 0; r < trajectory->n_runs; r++) {
        const trajectory_atom_run *run = &trajectory->runs[r];
        size_t bytes = (size_t)run->count * atom_bytes;

        memcpy(target, (const uint8_t *)from + (size_t)run->first * atom_bytes, bytes);
        target += bytes;
    }
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    const collet_trajectory_source *source = ((memory_state *)trajectory->state)->source;
    collet_trajectory_frame frame = {.struct_size = sizeof frame};
    collet_error own = {0};
    collet_status status = source->read(source->user, &frame, trajectory->index, &own);
    const struct {
        const char *name;
        const void *from;
        void *to;
    } fields[] = {
        {"positions", frame.positions, target->positions},
        {"velocities", frame.velocities, target->velocities},
        {"forces", frame.forces, target->forces},
    };

    if (status != COLLET_OK)
        return trajectory_reader_fail(
            trajectory, status, err, "%s",
            own.status == status ? own.text : "the source's read failed without a text");
    head->time = frame.time;
    if (frame.box != NULL)
        memcpy(head->box, frame.box, sizeof head->box);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!fields[i].to)
            continue;
        if (!fields[i].from)
            return trajectory_reader_fail(trajectory, COLLET_NOT_FOUND, err, "has no %s",
                                          fields[i].name);
        copy_atoms(trajectory, 3 * real_size(source->dtype), fields[i].from, fields[i].to);
    }
    return COLLET_OK;
}

static int64_t count(const trajectory_reader *trajectory)
{
    return ((memory_state *)trajectory->state)->source->n_frames;
}

static int64_t locate(const trajectory_reader *trajectory, int64_t index)
{
    return index * frame_bytes(((memory_state *)trajectory->state)->source);
}

static const trajectory_format memory_format = {
    .name = "memory",
    .head = read_head,
    .body = read_body,
    .count = count,
    .locate = locate,
    .on_demand = 1,
    .state_size = sizeof(memory_state),
};

collet_status trajectory_memory_open(const collet_trajectory_source *source,
                                     trajectory_reader **out, collet_error *err)
{
    memory_state state = {source};
    int64_t size;

    *out = NULL;
    if (source->n_frames < 1)
        return collet_fail(err, COLLET_INVALID, "source: n_frames must be at least 1");
    if (__builtin_mul_overflow(frame_bytes(source), source->n_frames, &size))
        return collet_fail(err, COLLET_OVERFLOW, "source: %lld frames of %lld atoms are too many",
                           (long long)source->n_frames, (long long)source->n_atoms);
    return trajectory_reader_open_with(&memory_format, &state, source->name, size, out, err);
}
