/* SPDX-License-Identifier: Apache-2.0 */
/* cif.c - the first model of an mmCIF file as a topology, its models as the frames of a trajectory.
 * Tests: tests/engines/test_io_cif.c, tests/fuzz/fuzz_trajectory.c */
#include "atoms.h"
#include "io/decimal.h"
#include "io/letters.h"
#include "trajectory/formats/formats.h"

#include <stdlib.h>
#include <string.h>

/* ---- Topology ---------------------------------------------------------------------------- */

static collet_status copy(const trajectory_cif *cif, int field, char name[TRAJECTORY_ATOM_NAME],
                          collet_error *err)
{
    const trajectory_cif_value *value = &cif->row[field];

    return trajectory_text_copy_name(
        &cif->tokens.lines,
        (trajectory_word){value->text,
                          value->length < sizeof value->text ? value->length : sizeof value->text},
        name, err);
}

static void copy_element(const trajectory_cif_value *value, char element[TRAJECTORY_SYMBOL])
{
    if (value->length >= TRAJECTORY_SYMBOL)
        return;
    for (size_t i = 0; i < value->length; i++)
        if (!io_is_upper(value->text[i]) && !io_is_lower(value->text[i]))
            return;
    memcpy(element, value->text, value->length);
}

/* A residue without a number gets number 0; some files have no author's numbers. */
static collet_status read_residue(const trajectory_cif *cif, trajectory_topology *topology,
                                  int64_t atom, collet_error *err)
{
    const trajectory_cif_value *value = &cif->row[TRAJECTORY_CIF_RESIDUE];
    int64_t number = 0;

    if (value->length > sizeof value->text ||
        (value->length > 0 && !io_decimal_parse_integer(value->text, value->length, &number)) ||
        number < INT32_MIN || number > INT32_MAX)
        return trajectory_text_fail(&cif->tokens.lines, err, "the residue number is '%.*s'",
                                    (int)(value->length & 31), value->text);
    topology->residue_ids[atom] = (int32_t)number;
    topology->insertions[atom] = cif->row[TRAJECTORY_CIF_INSERTION].text[0];
    return copy(cif, TRAJECTORY_CIF_RESIDUE_NAME, topology->residue_names[atom], err);
}

static collet_status read_atom(const trajectory_cif *cif, trajectory_topology *topology,
                               collet_error *err)
{
    int64_t atom = cif->n_atoms - 1;
    double position[3];

    collet_status status = read_residue(cif, topology, atom, err);
    if (status == COLLET_OK)
        status = copy(cif, TRAJECTORY_CIF_NAME, topology->names[atom], err);
    if (status == COLLET_OK)
        status = copy(cif, TRAJECTORY_CIF_CHAIN, topology->chains[atom], err);
    copy_element(&cif->row[TRAJECTORY_CIF_ELEMENT], topology->elements[atom]);
    return status == COLLET_OK ? trajectory_cif_position(cif, position, err) : status;
}

static collet_status count_atoms(trajectory_cif *cif, collet_error *err)
{
    int more = 1;

    while (more) {
        collet_status status = trajectory_cif_next(cif, &more, err);
        if (status != COLLET_OK)
            return status;
    }
    return cif->n_atoms > 0
               ? COLLET_OK
               : trajectory_text_fail(&cif->tokens.lines, err, "the loop of atoms has no rows");
}

/* Reads the loop of bonds. This loop is usually before the atoms, whose rows begin at `rows`. If it is not there,
 * searches for it after the atoms. A file that is cut off after the atoms is accepted. */
static collet_status read_bonds(io_source *source, int64_t rows, const trajectory_cif *after,
                                trajectory_topology *topology, collet_error *err)
{
    trajectory_links links = {.n = 0};
    trajectory_bond *bonds = NULL;
    int64_t n_bonds = 0, capacity = 0;
    collet_status status = trajectory_cif_read_links(source, 0, 1, rows, &links, err);

    if (status == COLLET_OK && links.n == 0) {
        status = trajectory_cif_read_links(source, after->next, after->next_line, source->size,
                                           &links, err);
        status = status == COLLET_FORMAT ? COLLET_OK : status;
    }
    if (status == COLLET_OK)
        status =
            trajectory_links_find(&links, topology, &bonds, &n_bonds, &capacity, source->path, err);
    free(links.ends);
    if (status == COLLET_OK && n_bonds > 0)
        return trajectory_topology_set_bonds(topology, bonds, n_bonds, source->path, err);
    free(bonds);
    return status;
}

static collet_status read_topology(io_source *source, trajectory_topology *topology,
                                   collet_error *err)
{
    trajectory_cif cif = {.tokens = {.lines = {.source = source, .number = 1}}};

    collet_status status = trajectory_cif_find_atoms(&cif, err);
    if (status != COLLET_OK)
        return status;
    trajectory_cif again = cif;
    int64_t rows = cif.tokens.lines.offset;
    status = count_atoms(&cif, err);
    if (status == COLLET_OK)
        status = trajectory_topology_allocate(topology, cif.n_atoms, cif.title, strlen(cif.title),
                                              source->path, err);
    if (status == COLLET_OK)
        status = trajectory_topology_allocate_more(
            topology,
            TRAJECTORY_WITH_INSERTIONS | TRAJECTORY_WITH_CHAINS | TRAJECTORY_WITH_ELEMENTS,
            source->path, err);
    topology->left_out = cif.left_out;
    for (int more = 1; more && status == COLLET_OK;) {
        status = trajectory_cif_next(&again, &more, err);
        if (status == COLLET_OK && more)
            status = read_atom(&again, topology, err);
    }
    if (status == COLLET_OK)
        status = read_bonds(source, rows, &cif, topology, err);
    if (status == COLLET_OK)
        trajectory_topology_drop_empty(topology);
    return status;
}

/* ---- Frames ------------------------------------------------------------------------------ */

/* What the first frame shows: later frames have the same columns. */
typedef struct cif_state {
    trajectory_cif_columns columns;
    double box[9];
    int64_t offset; /* where the rows of the first model begin */
    int64_t line;
} cif_state;

/* What `head` passes to `body`: the rows of the first model do not begin at the start of the file. */
typedef struct cif_detail {
    trajectory_cif_columns columns;
    int64_t offset;
    int64_t line;
} cif_detail;

_Static_assert(sizeof(cif_detail) <= TRAJECTORY_HEAD_DETAIL, "a head has no room for columns");

static trajectory_cif begin(trajectory_reader *trajectory, const trajectory_cif_columns *columns,
                            int64_t offset, int64_t line)
{
    return (trajectory_cif){.tokens = {.lines = trajectory_text_lines(trajectory, offset, line)},
                            .columns = *columns};
}

static collet_status find_first(trajectory_reader *trajectory, cif_state *state, collet_error *err)
{
    trajectory_cif cif = begin(trajectory, &state->columns, 0, 1);

    collet_status status = trajectory_cif_find_atoms(&cif, err);
    if (status != COLLET_OK)
        return status;
    state->columns = cif.columns;
    state->offset = cif.tokens.lines.offset;
    state->line = cif.tokens.lines.number;
    status = trajectory_cif_find_box(&cif, err);
    memcpy(state->box, cif.box, sizeof state->box);
    return status;
}

/* Later models have as many atoms as the first. If the file ends after fewer atoms, it ends inside the
 * model; if it ends within a row after all atoms, this row belongs to the next model. */
static collet_status scan_model(trajectory_reader *trajectory, trajectory_cif *cif,
                                collet_error *err)
{
    collet_status status = count_atoms(cif, err);
    int whole = trajectory->index > 0 && cif->n_atoms == trajectory->info.n_atoms;
    int later = trajectory->index > 0 && cif->end == TRAJECTORY_CIF_FILE;

    if (status == COLLET_FORMAT && later && whole) {
        cif->end = TRAJECTORY_CIF_MORE;
        return COLLET_OK;
    }
    if ((status == COLLET_FORMAT && cif->end == TRAJECTORY_CIF_FILE) ||
        (status == COLLET_OK && later && !whole))
        return trajectory_reader_truncated(trajectory, err);
    return status == COLLET_OK && cif->end == TRAJECTORY_CIF_FILE && cif->tokens.open
               ? trajectory_text_finish(trajectory, TRAJECTORY_TEXT_UNCERTAIN, err)
               : trajectory_text_explain(trajectory, &cif->tokens.lines, status, err);
}

static collet_status read_head(trajectory_reader *trajectory, trajectory_frame_head *head,
                               collet_error *err)
{
    cif_state *state = trajectory->state;
    cif_detail detail = {.offset = trajectory->offset, .line = trajectory->line};

    if (trajectory->offset == 0) {
        collet_status status = find_first(trajectory, state, err);
        if (status != COLLET_OK)
            return status;
        detail.offset = state->offset;
        detail.line = state->line;
    }
    detail.columns = state->columns;
    trajectory_cif cif = begin(trajectory, &state->columns, detail.offset, detail.line);
    collet_status status = scan_model(trajectory, &cif, err);
    if (status != COLLET_OK)
        return status;
    memcpy(head->box, state->box, sizeof head->box);
    memcpy(head->detail, &detail, sizeof detail);
    head->n_atoms = cif.n_atoms;
    head->dtype = COLLET_F64;
    head->step = -1;
    head->end = cif.end == TRAJECTORY_CIF_MORE ? cif.next : trajectory->source.size;
    head->end_line = cif.next_line;
    head->positions = head->end; /* any number but 0, because a frame always has positions */
    return COLLET_OK;
}

static collet_status read_body(trajectory_reader *trajectory, trajectory_frame_head *head,
                               const trajectory_frame_target *target, collet_error *err)
{
    double *position = target->positions;
    int64_t selected = 0;
    const trajectory_atom_run *run = trajectory->runs;
    cif_detail detail;

    memcpy(&detail, head->detail, sizeof detail);
    trajectory_cif cif = begin(trajectory, &detail.columns, detail.offset, detail.line);
    while (selected < trajectory->n_selected) {
        int more;
        collet_status status = trajectory_cif_next(&cif, &more, err);

        if (status == COLLET_OK && !more)
            status =
                collet_fail(err, COLLET_IO, "%s: the file was changed while it was read; run again",
                            trajectory->source.path);
        if (status == COLLET_OK && cif.n_atoms > run->first) {
            status = trajectory_cif_position(&cif, position, err);
            position += 3;
            selected++;
            run += cif.n_atoms == run->first + run->count;
        }
        if (status != COLLET_OK)
            return trajectory_text_explain(trajectory, &cif.tokens.lines, status, err);
    }
    return COLLET_OK;
}

const trajectory_format trajectory_cif_format = {
    .name = "cif",
    .kind = "an mmCIF file",
    .title = "Protein Data Bank, mmCIF, text with names and elements",
    .text = 1,
    .topology = read_topology,
    .recognise = trajectory_cif_recognise,
    .head = read_head,
    .body = read_body,
    .concurrent = 1,
    .state_size = sizeof(cif_state),
};
