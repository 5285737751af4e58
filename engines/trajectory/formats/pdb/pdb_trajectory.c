/* SPDX-License-Identifier: Apache-2.0 */
/* pdb_trajectory.c - the models of a .pdb file as the frames of a trajectory.
 * Tests: tests/engines/test_io_pdb.c, tests/fuzz/fuzz_trajectory.c */
#include "trajectory/formats/formats.h"
#include "pdb.h"

#include <string.h>

/* The box of the last frame: a file may have a single CRYST1 record for all frames. */
typedef struct pdb_state {
    double box[9];
} pdb_state;

static trajectory_pdb begin(trajectory_reader *trajectory)
{
    return (trajectory_pdb){
        .lines = trajectory_text_lines(trajectory, trajectory->offset, trajectory->line)};
}

/* 1 if the file ends inside the model. A model that began with MODEL must end with ENDMDL. Any other model may end
 * with the file. But if such a model is not the first, it must have all atoms. */
static int is_cut(const trajectory_reader *trajectory, const trajectory_pdb *pdb)
{
    if (pdb->end != TRAJECTORY_PDB_FILE)
        return 0;
    return pdb->announced || (trajectory->index > 0 && pdb->n_atoms != trajectory->info.n_atoms);
}

static collet_status scan_model(trajectory_reader *trajectory, trajectory_pdb *pdb,
                                collet_error *err)
{
    const char *text;
    size_t length;

    do {
        collet_status status = trajectory_pdb_next(pdb, &text, &length, err);
        if (status != COLLET_OK)
            return status;
    } while (text);
    return is_cut(trajectory, pdb) ? trajectory_reader_truncated(trajectory, err)
                                   : trajectory_pdb_skip_rest(pdb, err);
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    trajectory_pdb pdb = begin(trajectory);
    pdb_state *state = trajectory->state;

    memcpy(pdb.box, state->box, sizeof pdb.box);
    collet_status status = scan_model(trajectory, &pdb, err);
    if (status != COLLET_OK)
        return trajectory_text_explain(trajectory, &pdb.lines, status, err);
    trajectory_text_moment moment = trajectory_text_title(pdb.title, strlen(pdb.title));
    memcpy(state->box, pdb.box, sizeof state->box);
    memcpy(head->box, pdb.box, sizeof head->box);
    head->n_atoms = pdb.n_atoms;
    head->dtype = COLLET_F64;
    head->has_time = moment.has_time;
    head->time = moment.time;
    head->step = moment.step;
    head->end = pdb.lines.offset;
    head->end_line = pdb.lines.number;
    head->carries = pdb.boxed;
    head->positions = head->end; /* any number but 0, because a frame always has positions */
    return COLLET_OK;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    trajectory_pdb pdb = begin(trajectory);
    double *position = target->positions;
    int64_t selected = 0;
    const trajectory_atom_run *run = trajectory->runs;

    (void)head;
    while (selected < trajectory->n_selected) {
        const char *text;
        size_t length;

        collet_status status = trajectory_pdb_next(&pdb, &text, &length, err);
        if (status == COLLET_OK && !text)
            status =
                collet_fail(err, COLLET_IO, "%s: the file was changed while it was read; run again",
                            trajectory->source.path);
        if (status == COLLET_OK && pdb.n_atoms > run->first) {
            status = trajectory_pdb_position(&pdb, text, position, err);
            position += 3;
            selected++;
            run += pdb.n_atoms == run->first + run->count;
        }
        if (status != COLLET_OK)
            return trajectory_text_explain(trajectory, &pdb.lines, status, err);
    }
    return COLLET_OK;
}

const trajectory_format trajectory_pdb_format = {
    .name = "pdb",
    .kind = "a .pdb file",
    .title = "Protein Data Bank, text with names and elements",
    .text = 1,
    .topology = trajectory_pdb_read_topology,
    .recognise = trajectory_pdb_recognise,
    .head = read_head,
    .body = read_body,
    .concurrent = 1,
    .state_size = sizeof(pdb_state),
};
