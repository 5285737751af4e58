/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation N of engines/io and engines/trajectory fails, for N = 0, 1, ... until a case makes fewer
 * allocations. Each failure returns COLLET_NO_MEMORY and leaks nothing (run with the sanitizers). The
 * linker wraps the allocators. */
#include "common/failing_malloc.h"
#include "directory.h"
#include "ternary/formats/gguf.h"
#include "ternary/formats/safetensors.h"
#include "io/npy_read.h"
#include "trajectory/atoms/groups.h"
#include "trajectory/reading/index.h"
#include "trajectory/reading/readahead.h"
#include "io/results.h"
#include "ternary/output.h"

#define DATA COLLET_TEST_DATA "/md/"
#define CORPUS COLLET_TEST_CORPUS "/"

/* ---- Cases ----------------------------------------------------------------------- */

static collet_status read_topology(const char *path)
{
    trajectory_topology *topology;
    collet_status status = trajectory_topology_read(path, NULL, &topology, NULL);

    trajectory_topology_free(topology);
    return status;
}

static collet_status read_groups(const char *path)
{
    trajectory_groups *groups;
    collet_status status = trajectory_groups_read(path, 4, &groups, NULL);

    trajectory_groups_free(groups);
    return status;
}

static collet_status read_trajectory(const char *path)
{
    static const int64_t indices[2] = {1, 3};
    trajectory_reader *trajectory;
    trajectory_frames *frames = NULL;
    int64_t n;

    collet_status status = trajectory_reader_open(path, NULL, &trajectory, NULL);
    if (status == COLLET_OK)
        status = trajectory_reader_select(trajectory, indices, 2, NULL);
    if (status == COLLET_OK)
        status = trajectory_reader_count(trajectory, NULL, NULL, &n, NULL);
    if (status == COLLET_OK)
        status = trajectory_frames_create(2, 4, trajectory_reader_get_info(trajectory)->dtype, 0, 0,
                                          &frames, NULL);
    if (status == COLLET_OK)
        status = trajectory_reader_read(trajectory, frames, NULL);
    trajectory_frames_free(frames);
    trajectory_reader_close(trajectory);
    return status;
}

static collet_status read_ahead(const char *path)
{
    static const trajectory_readahead_options options = {
        .batch_frames = 7, .n_slots = 3, .n_threads = 1};
    trajectory_reader *trajectory;
    trajectory_readahead *ahead = NULL;
    const trajectory_frames *frames = NULL;

    collet_status status = trajectory_reader_open(path, NULL, &trajectory, NULL);
    if (status == COLLET_OK)
        status = trajectory_readahead_create(trajectory, &options, &ahead, NULL);
    if (status == COLLET_OK)
        status = trajectory_readahead_start(ahead, NULL);
    while (status == COLLET_OK) {
        status = trajectory_readahead_next(ahead, &frames, NULL, NULL);
        if (!frames)
            break;
    }
    trajectory_readahead_stop(ahead);
    trajectory_reader_close(trajectory);
    return status;
}

static collet_status place_molecules(const char *argument)
{
    static const double box[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3}, masses[4] = {1, 1, 1, 1};
    static const int64_t bonds[4] = {0, 1, 1, 2}, offsets[3] = {0, 3, 4};
    float positions[12] = {0};
    collet_trajectory_places places = {.struct_size = sizeof places,
                                       .what = COLLET_TRAJECTORY_PLACE_PACK,
                                       .dtype = COLLET_F32,
                                       .positions = positions,
                                       .n_frames = 1,
                                       .n_atoms = 4,
                                       .boxes = box,
                                       .n_boxes = 1,
                                       .bonds = bonds,
                                       .n_bonds = 2,
                                       .offsets = offsets,
                                       .n_molecules = 2,
                                       .masses = masses};

    return collet_trajectory_place(&places, NULL);
}

static collet_status write_results(const char *path, int32_t form)
{
    io_results *results;
    int32_t column;

    collet_status status = io_results_create(path, form, &results, NULL);
    if (status == COLLET_OK)
        status = io_results_add(results, "a", 0, NULL, &column, NULL);
    if (status == COLLET_OK)
        status = io_results_add_texts(results, "b", 1, &(const char *){"text"}, NULL);
    if (status == COLLET_OK)
        status = io_results_append(results, column, 1, &(double){1.0}, NULL);
    if (status == COLLET_OK)
        status = io_results_link(results, NULL);
    if (status == COLLET_OK)
        status = io_results_rename(results, NULL, 1, NULL);
    io_results_free(results);
    return status;
}

static collet_status write_archive(const char *name)
{
    return write_results(io_path(directory, name), IO_RESULTS_NPZ);
}

static collet_status write_directory(const char *name)
{
    return write_results(io_path(directory, name), IO_RESULTS_DIRECTORY);
}

static collet_status write_text(const char *name)
{
    return io_make_spool(io_path(directory, name), "x", 1, NULL);
}

static collet_trajectory_options peptide(void)
{
    static const char *const command[] = {"test", NULL};

    return (collet_trajectory_options){.struct_size = sizeof(collet_trajectory_options),
                                       .topology = DATA "peptide/conf.gro",
                                       .trajectory = DATA "peptide/traj.trr",
                                       .reference = DATA "peptide/traj.xtc",
                                       .backend = "cpu_scalar",
                                       .stop = 5,
                                       .batch_frames = 2,
                                       .batch_rows = 3,
                                       .command = command};
}

static collet_status take_all(const collet_trajectory_options *options)
{
    collet_trajectory *x;
    const collet_trajectory_batch *batch = NULL;

    collet_status status = collet_trajectory_create(&x, options, NULL);
    do {
        if (status == COLLET_OK)
            status = collet_trajectory_next(x, &batch, NULL);
    } while (status == COLLET_OK && batch);
    collet_trajectory_destroy(x);
    return status;
}

static collet_status take_rows(const char *selection)
{
    collet_trajectory_options options = peptide();

    options.selection = selection;
    if (strstr(selection, "within")) /* no rmsd with "within" */
        options.reference = NULL;
    return take_all(&options);
}

static collet_status take_bodies(const char *each)
{
    collet_trajectory_options options = peptide();

    options.selection = "not name H*";
    options.each = each;
    return take_all(&options);
}

static collet_status take_without_drift(const char *of)
{
    collet_trajectory_options options = peptide();

    options.keys = "com,L_vector";
    options.reference = NULL;
    options.selection = "resid 3";
    options.pbc = COLLET_TRAJECTORY_PBC_NOJUMP;
    options.drift = COLLET_TRAJECTORY_DRIFT_BOTH;
    options.drift_of = of;
    return take_all(&options);
}

static collet_status read_frame(void *user, collet_trajectory_frame *frame, int64_t index,
                                collet_error *err)
{
    static const double positions[6] = {0, 0, 0, 1, 0, 0};

    frame->time = (double)index;
    frame->positions = positions;
    return COLLET_OK;
}

static collet_status take_frames_of_memory(const char *name)
{
    const collet_trajectory_source source = {.struct_size = sizeof source,
                                             .dtype = COLLET_F64,
                                             .name = name,
                                             .n_atoms = 2,
                                             .n_frames = 5,
                                             .has_times = 1,
                                             .read = read_frame};
    collet_trajectory_options options = {.struct_size = sizeof options,
                                         .source = &source,
                                         .mass_values = (const double[]){1, 2},
                                         .n_mass_values = 2,
                                         .backend = "cpu_scalar"};
    const collet_trajectory_batch *batch;
    collet_trajectory *x;
    collet_status status = collet_trajectory_create(&x, &options, NULL);

    if (status == COLLET_OK)
        status = collet_trajectory_collect(x, &batch, NULL);
    collet_trajectory_destroy(x);
    return status;
}

static collet_status extract_files(const char *name)
{
    collet_trajectory_options options = peptide();

    return collet_trajectory_extract(io_path(directory, name), COLLET_TRAJECTORY_OVERWRITE,
                                     &options, NULL);
}

static collet_status read_npy(const char *path)
{
    io_npy npy;
    collet_status status = io_npy_open(path, &npy, NULL);

    io_npy_close(&npy);
    return status;
}

static collet_status read_gguf(const char *path)
{
    ternary_gguf gguf;
    collet_status status = ternary_gguf_open(path, &gguf, NULL);

    ternary_gguf_close(&gguf);
    return status;
}

static collet_status read_safetensors(const char *path)
{
    ternary_safetensors file;
    collet_status status = ternary_safetensors_open(path, &file, NULL);

    ternary_safetensors_close(&file);
    return status;
}

static collet_status read_t2(const char *path)
{
    ternary_t2_file file;
    collet_status status = ternary_t2_open(path, &file, NULL);

    ternary_t2_close(&file);
    return status;
}

static collet_status write_t2(const char *name)
{
    static const uint8_t row[64];
    ternary_t2_layer layer = {.rows = 1, .columns = 1};
    const char *path = io_path(directory, name);
    collet_ternary_output *output = NULL, *complete = NULL;

    collet_status status = ternary_output_t2(&output, path, &layer, 1, 1, NULL);
    if (status == COLLET_OK)
        status = ternary_output_add(output, row, sizeof row, NULL);
    status = ternary_output_end(&complete, output, status, NULL);
    if (status == COLLET_OK)
        status = collet_ternary_output_publish(complete, 1, NULL);
    collet_ternary_output_destroy(complete);
    return status;
}

static const struct {
    collet_status (*run)(const char *argument);
    const char *argument;
} cases[] = {
    {read_topology, DATA "water/conf.gro"},
    {read_groups, CORPUS "ndx/groups"},
    {read_trajectory, DATA "water/conf.gro"},
    {read_topology, CORPUS "pdb/models"},
    {read_trajectory, CORPUS "pdb/models"},
    {read_trajectory, CORPUS "dump/four"},
    {read_trajectory, CORPUS "rst7/restart"},
    {read_topology, CORPUS "prmtop/whole"},
    {read_topology, CORPUS "tpr/chain"},
    {read_topology, CORPUS "xyz/frames"},
    {read_topology, CORPUS "cif/models"},
    {read_topology, CORPUS "psf/bonds"},
    {read_topology, CORPUS "pdb/connect_wide"},
    {read_topology, CORPUS "top/water"},
    {read_trajectory, CORPUS "dcd/fixed"},
    {read_trajectory, DATA "water/traj.trr"},
    {read_trajectory, DATA "water/traj.xtc"},
    {read_ahead, DATA "peptide/traj_double.trr"},
    {read_ahead, DATA "peptide/traj.xtc"},
    {place_molecules, "molecules"},
    {take_rows, "(same molecule as within 2 A of resid 3) and not element H"},
    {take_bodies, "residue"},
    {take_without_drift, "name CA"},
    {take_frames_of_memory, "memory"},
    {extract_files, "extracted.npz"},
    {write_archive, "out.npz"},
    {write_directory, "out"},
    {write_text, "out.json"},
    {read_npy, CORPUS "npy/f4"},
    {read_gguf, CORPUS "gguf/good"},
    {read_safetensors, CORPUS "safetensors/bitnet"},
    {read_t2, CORPUS "t2/two_layers"},
    {write_t2, "out.t2"},
#if !ADDRESS_SANITIZER /* other cases make most of the same allocations */
    {take_rows, "index 0"},
    {take_bodies, "molecule"},
#endif
};

TEST(every_allocation_may_fail)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        collet_status status = COLLET_NO_MEMORY;
        long n = -1;
        while (status != COLLET_OK) {
            int before = io_count_entries(directory);
            allocation_countdown = ++n;
            status = cases[i].run(cases[i].argument);
            int spared = allocation_countdown >= 0;
            allocation_countdown = -1;
            if (status != (spared ? COLLET_OK : COLLET_NO_MEMORY))
                fail_msg("case %zu, allocation %ld: status %d", i, n, status);
            if (status != COLLET_OK)
                assert_int_equal(io_count_entries(directory), before);
        }
        assert_true(n > 1);
    }
}

TEST_GROUP(make_directory, remove_directory)

int main(void)
{
    /* The contexts of this program find no other backend. */
    setenv("COLLET_PLUGIN_PATH", COLLET_TEST_PLUGINS "/cpu_scalar.so", 1);
    return test_run();
}
