/* SPDX-License-Identifier: Apache-2.0 */
/* The options of collet-extract, and the reports about a run. */

#include "directory.h"
#include "extract_runs.h"
#include "common/progress.h"

#include <dirent.h>

/* Rows of `part` are rows first, first + step, ... of `whole`, bit for bit. */
static void same_rows(npz *part, npz *whole, const char *key, int64_t first, int64_t step)
{
    int64_t n, m;
    size_t count;
    const double *x = npz_f64(part, key, &n, &count), *y = npz_f64(whole, key, &m, NULL);
    size_t width = count / (size_t)n;

    for (int64_t i = 0; i < n; i++) {
        int64_t j = first + i * step;

        assert_true(j < m);
        if (memcmp(x + (size_t)i * width, y + (size_t)j * width, width * sizeof *x) != 0)
            fail_msg("%s: row %d differs from row %d", key, (int)i, (int)j);
    }
}

TEST(all_keys)
{
    OWNED_NPZ out = EXTRACT(directory, WATER "conf.gro", WATER "traj.trr");
    OWNED(cJSON) *meta = extract_meta(directory);

    assert_int_equal(npz_count(out.bytes.data, out.bytes.size), EXTRACT_KEYS);
    /* The archive's comment is the identifier in the meta file. */
    const char *id = meta_at(meta, "id")->valuestring;
    assert_int_equal(strlen(id), 16);
    assert_memory_equal(out.bytes.data + out.bytes.size - 16, id, 16);
    for (size_t i = 0; i < EXTRACT_KEYS; i++) {
        char path[100];
        npy_array array = npz_find(out.bytes.data, out.bytes.size, extract_keys[i]);
        const cJSON *shape;

        snprintf(path, sizeof path, "outputs/%s/shape", extract_keys[i]);
        shape = meta_at(meta, path);
        assert_int_equal(cJSON_GetArraySize(shape), array.ndim);
        for (int k = 0; k < array.ndim; k++)
            assert_int_equal(cJSON_GetArrayItem(shape, k)->valueint, array.shape[k]);
        assert_int_equal(array.shape[0], 51);
        snprintf(path, sizeof path, "outputs/%s/unit", extract_keys[i]);
        assert_true(meta_at(meta, path)->valuestring[0] != '\0');
    }
}

TEST(batches)
{
    static const char *const sizes[] = {"1", "7", "51", "5000"};
    OWNED_NPZ whole = EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--batch", "auto");

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        OWNED_NPZ part =
            EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--batch", sizes[i]);

        for (size_t k = 0; k < EXTRACT_KEYS; k++)
            same_rows(&part, &whole, extract_keys[k], 0, 1);
    }
}

TEST(threads)
{
    OWNED_NPZ one = EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--threads", "1");
    OWNED_NPZ two = EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--threads", "2");

    for (size_t k = 0; k < EXTRACT_KEYS; k++)
        same_rows(&one, &two, extract_keys[k], 0, 1);
}

TEST(slices)
{
    static const struct {
        const char *start, *stop, *step;
        int first, count, stride;
    } cases[] = {
        {"0", "51", "1", 0, 51, 1}, {"10", "20", "3", 10, 4, 3},   {"50", "60", "1", 50, 1, 1},
        {"0", "1", "1", 0, 1, 1},   {"5", "1000", "20", 5, 3, 20},
    };
    static const char *const keys[] = {"time_ps",    "com", "inertia_tensor", "moments", "L_vector",
                                       "tau_vector", "rg",  "k_total"};
    OWNED_NPZ whole = EXTRACT(directory, WATER "conf.gro", WATER "traj.trr");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED_NPZ part = EXTRACT(directory, WATER "conf.gro", WATER "traj.trr", "--start",
                                 cases[i].start, "--stop", cases[i].stop, "--step", cases[i].step);
        OWNED(cJSON) *meta = extract_meta(directory);
        int64_t n;

        npz_f64(&part, "time_ps", &n, NULL);
        assert_int_equal(n, cases[i].count);
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            same_rows(&part, &whole, keys[k], cases[i].first, cases[i].stride);
        assert_int_equal(meta_at(meta, "frames/count")->valueint, cases[i].count);
        assert_int_equal(meta_at(meta, "frames/first")->valueint, cases[i].first);
        assert_int_equal(meta_at(meta, "frames/last")->valueint,
                         cases[i].first + (cases[i].count - 1) * cases[i].stride);
    }
}

TEST(selections)
{
    static const struct {
        const char *text;
        int atoms;
        double mass;
    } cases[] = {
        {"all", 280, 1982.232},
        {"protein", 280, 1982.232},
        {"not protein or index 0", 1, 14.007},
        {"name CA", 18, 18 * 12.011},
        {"backbone and resid 1", 4, 14.007 + 12.011 + 12.011 + 15.999},
    };
    OWNED_NPZ whole = EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED_NPZ part = EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--selection",
                                 cases[i].text);
        OWNED(cJSON) *meta = extract_meta(directory);

        assert_int_equal(meta_at(meta, "selection/atoms")->valueint, cases[i].atoms);
        assert_string_equal(meta_at(meta, "selection/text")->valuestring, cases[i].text);
        assert_string_equal(meta_at(meta, "inputs/masses/origin")->valuestring, "guessed");
        assert_true(fabs(meta_at(meta, "inputs/masses/total_selected")->valuedouble -
                         cases[i].mass) < 1e-9);
        if (cases[i].atoms == 280)
            same_rows(&part, &whole, "com", 0, 1);
    }
}

/* A single atom is its own centre of mass and does not rotate. */
TEST(one_atom)
{
    OWNED_NPZ out =
        EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj_double.trr", "--selection", "index 0");
    const double *com = npz_f64(&out, "com", NULL, NULL);
    const double *omega = npz_f64(&out, "omega_vector", NULL, NULL);
    OWNED(cJSON) *meta = extract_meta(directory);

    assert_true(com[0] == 7.982 && com[1] == 6.721 && com[2] == 6.646);
    for (int i = 0; i < 51 * 3; i++)
        assert_true(omega[i] == 0);
    assert_contains(meta_at(meta, "warnings/0")->valuestring, "singular");
}

TEST(reference_file)
{
    OWNED_NPZ own = EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr");
    OWNED_NPZ same = EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--reference",
                             PEPTIDE "traj.trr");
    OWNED_NPZ gro = EXTRACT(directory, PEPTIDE "conf.gro", PEPTIDE "traj.trr", "--reference",
                            PEPTIDE "conf.gro", "--selection", "name CA");
    OWNED(cJSON) *meta = extract_meta(directory);
    const double *rmsd = npz_f64(&own, "rmsd", NULL, NULL);

    assert_true(rmsd[0] < 1e-7);
    assert_true(rmsd[50] > 0.01);
    same_rows(&same, &own, "rmsd", 0, 1);
    assert_true(npz_f64(&gro, "rmsd", NULL, NULL)[0] < 1e-3);
    assert_string_equal(meta_at(meta, "inputs/reference/origin")->valuestring, "file");
    assert_string_equal(meta_at(meta, "inputs/reference/format")->valuestring, "gro");
}

TEST(axis)
{
    OWNED_NPZ out = EXTRACT(directory, WATER "conf.gro", WATER "traj.trr", "--axis", "-2,0,0");
    const double *momentum = npz_f64(&out, "L_vector", NULL, NULL);
    const double *z = npz_f64(&out, "L_z_component", NULL, NULL);
    const double *length = npz_f64(&out, "L_z_mag", NULL, NULL);

    for (int i = 0; i < 51; i++) {
        assert_true(z[3 * i] == momentum[3 * i] && z[3 * i + 1] == 0 && z[3 * i + 2] == 0);
        assert_true(length[i] == fabs(z[3 * i]));
    }
}

TEST(gro_trajectory)
{
    OWNED_NPZ out = EXTRACT(directory, WATER "conf.gro", WATER "conf.gro");

    assert_true(npz_has(&out, "L_vector") && !npz_has(&out, "tau_vector"));
}

/* The directory "results" of an earlier run is kept, with or without its meta file. */
static void check_directory_is_kept(const char *inner)
{
    const char *args[] = {"-o", "results/", "--keys", "com", PEPTIDE "conf.gro", PEPTIDE "traj.xtc",
                          NULL};
    tool_setup setup = {.directory = directory};

    for (int i = 0; i < 2; i++) {
        io_bytes before = io_load(io_path(inner, "com.npy"));
        tool_result result = tool_run("collet-extract", args, &setup);
        io_bytes after = io_load(io_path(inner, "com.npy"));

        EXPECT_ERR(result, 1, "results/com.npy already exists");
        assert_int_equal(before.size, after.size);
        assert_memory_equal(before.data, after.data, before.size);
        free(before.data);
        free(after.data);
        assert_int_equal(remove(io_path(inner, i ? "com.npy" : "meta.json")), 0);
    }
}

TEST(test_directory)
{
    OWNED_NPZ whole = EXTRACT(directory, WATER "conf.gro", WATER "traj.trr");
    const char *args[] = {"--force",        "-q", "-o", "results/", WATER "conf.gro",
                          WATER "traj.trr", NULL};
    tool_setup setup = {.directory = directory};
    FREED(char) *inner = strdup(io_path(directory, "results"));

    assert_non_null(inner);
    for (int again = 0; again < 2; again++) { /* an existing directory is overwritten */
        tool_result result = tool_run("collet-extract", args, &setup);

        tool_expect(&result, 0);
        assert_int_equal(io_count_entries(inner), EXTRACT_KEYS + 1);
        for (size_t i = 0; i < EXTRACT_KEYS; i++) {
            char name[80];
            OWNED(io_bytes) bytes = {0};
            npy_array array;
            size_t count;
            const double *values = npz_f64(&whole, extract_keys[i], NULL, &count);

            snprintf(name, sizeof name, "%s.npy", extract_keys[i]);
            bytes = io_load(io_path(inner, name));
            array = npy_parse(bytes.data, bytes.size);
            assert_int_equal(array.size, count * sizeof *values);
            assert_memory_equal(array.data, values, array.size);
        }
    }
    check_directory_is_kept(inner);
}

/* An output that an option names is not replaced either. */
TEST(named_output)
{
    const char *args[] = {"-o", "named.npz", PEPTIDE "conf.gro", PEPTIDE "traj.xtc", NULL};
    tool_setup setup = {.directory = directory};
    static const char *const names[] = {"named.npz", "named.meta.json"};

    for (size_t i = 0; i < 2; i++) {
        io_save(io_path(directory, names[i]), "kept", 4);
        tool_result result = tool_run("collet-extract", args, &setup);
        io_bytes bytes = io_load(io_path(directory, names[i]));

        EXPECT_ERR(result, 1, names[i], "already exists", "--force");
        assert_int_equal(bytes.size, 4);
        free(bytes.data);
        assert_int_equal(remove(io_path(directory, names[i])), 0);
    }
}

/* The results of traj.trr replace the results of traj.xtc only on request. */
static void check_no_replacement(const char *inner)
{
    const char *args[] = {WATER "conf.gro", WATER "traj.trr", NULL, NULL};
    tool_setup setup = {.directory = inner};
    tool_result result = tool_run("collet-extract", args, &setup);
    OWNED_NPZ out = npz_open(io_path(inner, "traj.npz"));

    EXPECT_ERR(result, 1, "traj.npz already exists", "--force");
    assert_false(npz_has(&out, "L_vector"));
    npz_close(&out);

    args[2] = "--force";
    result = tool_run("collet-extract", args, &setup);
    tool_expect(&result, 0);
    out = npz_open(io_path(inner, "traj.npz"));
    assert_true(npz_has(&out, "L_vector"));
}

/* By default the output is named after the trajectory, in the working directory; the summary prints
 * its path. */
TEST(default_output)
{
    char *inner = io_make_directory();
    const char *args[] = {WATER "conf.gro", WATER "traj.xtc", NULL};
    const char *one[] = {WATER "conf.gro", WATER "traj.xtc", "--stop", "1", "--force", NULL};
    tool_setup setup = {.directory = inner};
    tool_result result = tool_run("collet-extract", args, &setup);
    npz out;

    tool_expect(&result, 0);
    assert_int_equal(io_count_entries(inner), 2);
    assert_contains(result.out, "traj.npz: 51 frames of 648 atoms", "masses were guessed",
                    "periodic box: molecules were made whole by residues\n");
    assert_non_null(
        strstr(result.out,
               "left out, because the trajectory has no velocities: L_* omega_* dLdt_* k_*\n"));
    assert_contains(result.out, "left out, because the trajectory has no forces: tau_*\n");
    out = npz_open(io_path(inner, "traj.npz"));
    npz_close(&out);
    check_no_replacement(inner);
    result = tool_run("collet-extract", one, &setup);
    EXPECT_OUT(result, 0, "traj.npz: 1 frame of 648 atoms");
    io_remove_directory(inner);
}

TEST(json)
{
    const char *args[] = {WATER "conf.gro", "--json",         "--force", "-o",
                          "out.npz",        WATER "traj.trr", NULL};
    tool_setup setup = {.directory = directory};
    tool_result result = tool_run("collet-extract", args, &setup);
    io_bytes file;
    OWNED(cJSON) *meta = NULL;

    tool_expect(&result, 0);
    file = io_load(io_path(directory, "out.meta.json"));
    assert_int_equal(strlen(result.out), file.size);
    assert_memory_equal(result.out, file.data, file.size);
    free(file.data);
    meta = extract_meta(directory);
    assert_string_equal(meta_at(meta, "status")->valuestring, "complete");
    assert_string_equal(meta_at(meta, "library_version")->valuestring, collet_version());
    assert_string_equal(meta_at(meta, "command/1")->valuestring, WATER "conf.gro");
    assert_string_equal(meta_at(meta, "command/2")->valuestring, "--json");
    assert_int_equal(meta_at(meta, "inputs/trajectory/bytes")->valueint, 1195848);
    assert_int_equal(cJSON_GetArraySize(meta_at(meta, "left_out")), 2);
    assert_string_equal(meta_at(meta, "left_out/0/keys/0")->valuestring, "dipole");
    assert_string_equal(meta_at(meta, "left_out/0/reason")->valuestring,
                        "the topology has no charges");
    assert_string_equal(meta_at(meta, "left_out/1/keys/0")->valuestring, "com_velocity");
    assert_string_equal(meta_at(meta, "left_out/1/keys/1")->valuestring, "positions");
    assert_true(meta_at(meta, "backend/used/0/name")->valuestring[0] != '\0');
    assert_true(cJSON_GetArraySize(meta_at(meta, "backend/used/0/devices")) > 0);
    assert_true(meta_at(meta, "counters/calls")->valueint > 10);
    assert_true(meta_at(meta, "timing/wall_s")->valuedouble > 0);
}

/* Where a concatenated file begins again, the time decreases. dL/dt then gives a warning. */
TEST(times_that_fall)
{
    OWNED_NPZ out = {0};
    OWNED(cJSON) *meta = NULL;

    repeat_file(PEPTIDE "traj.trr", io_path(directory, "twice.trr"), 2);
    out = EXTRACT(directory, PEPTIDE "conf.gro", "twice.trr");
    meta = extract_meta(directory);
    assert_int_equal(meta_at(meta, "frames/count")->valueint, 102);
    assert_contains(meta_at(meta, "warnings/0")->valuestring, "frame 51");
}

/* A trajectory of three frames of two atoms, with NaN in the velocity of atom 1 in frame 1. */
static void save_not_finite(const char *name)
{
    OWNED(io_image) image = {0};

    for (int i = 0; i < 3; i++) {
        io_put_trr(&image, 4, 2, i, IO_BOX | IO_X | IO_V | IO_F);
        if (i == 1) /* big-endian NaN; forces of two atoms follow */
            memcpy(image.data + image.size - 2 * 12 - 4, "\x7f\xc0\0\0", 4);
    }
    io_save(io_path(directory, name), image.data, image.size);
}

/* The terminal and the meta file name frame and atom. */
TEST(not_finite)
{
    static const char top[] = "two\n2\n    1ALA     CA    1   0.000   0.000   0.000\n"
                              "    2SOL     OW    2   0.100   0.000   0.000\n   1 1 1\n";
    const char *args[] = {"--force", "-o", "out.npz", "two.gro", "nan.trr", NULL};
    const char *expected = "warning: frame 1: the velocity of atom 1 (OW of SOL 2, counted from 0) "
                           "is nan, so L, omega, dL/dt and the energies are not finite\n";
    tool_setup setup = {.directory = directory};
    tool_result result;
    OWNED(cJSON) *meta = NULL;

    io_save(io_path(directory, "two.gro"), top, strlen(top));
    save_not_finite("nan.trr");
    result = tool_run("collet-extract", args, &setup);
    tool_expect(&result, 0);
    assert_contains(result.err, expected);
    meta = extract_meta(directory);
    assert_contains(meta_at(meta, "warnings/0")->valuestring, "velocity of atom 1");
}

/* The warnings of the meta file are also printed on the terminal, even with -q. */
TEST(test_warnings)
{
    const char *args[] = {"--force",   "-q",          "-o",      "out.npz", PEPTIDE "conf.gro",
                          "twice.trr", "--selection", "index 0", NULL};
    tool_setup setup = {.directory = directory};
    tool_result result;

    repeat_file(PEPTIDE "traj.trr", io_path(directory, "twice.trr"), 2);
    result = tool_run("collet-extract", args, &setup);
    tool_expect(&result, 0);
    assert_string_equal(result.out, "");
    assert_contains(result.err, "collet-extract: warning: frame 51 at ",
                    "inertia tensor is singular (such frames: 102)");
}

TEST(test_keys)
{
    npz whole = EXTRACT(directory, WATER "conf.gro", WATER "traj.trr");
    OWNED_NPZ part =
        EXTRACT(directory, WATER "conf.gro", WATER "traj.trr", "--keys", "L_*,com,rmsd");
    OWNED_NPZ still = EXTRACT(directory, WATER "conf.gro", WATER "traj.trr", "--keys", "com,k_rot");
    OWNED_NPZ com = EXTRACT(directory, WATER "conf.gro", WATER "traj.trr", "--keys", "com");
    OWNED_NPZ both = EXTRACT(directory, "--keys", "com,L_*", WATER "conf.gro", WATER "traj.trr",
                             "--keys", "rmsd");

    assert_int_equal(npz_count(part.bytes.data, part.bytes.size), 10);
    assert_int_equal(npz_count(still.bytes.data, still.bytes.size), 2);
    assert_int_equal(npz_count(com.bytes.data, com.bytes.size), 1);
    same_rows(&part, &whole, "L_z_mag", 0, 1);
    same_rows(&part, &whole, "rmsd", 0, 1);
    same_rows(&still, &whole, "k_rot", 0, 1);
    same_rows(&com, &whole, "com", 0, 1);
    npz_close(&whole);
    /* Repeated options accumulate. */
    assert_int_equal(both.bytes.size, part.bytes.size);
    assert_memory_equal(both.bytes.data, part.bytes.data, part.bytes.size);
}

TEST(plurals)
{
    const char *args[] = {"--force", "-o", "out.npz",     PEPTIDE "conf.gro", PEPTIDE "traj.trr",
                          "--stop",  "1",  "--selection", "index 0",          NULL};
    tool_setup setup = {.directory = directory};
    tool_result result = tool_run("collet-extract", args, &setup);

    EXPECT_OUT(result, 0, "out.npz: 1 frame of 1 atom in ");
}

TEST(backend_option)
{
    OWNED_NPZ out =
        EXTRACT(directory, WATER "conf.gro", WATER "traj.trr", "--backend", "cpu_scalar");
    OWNED(cJSON) *meta = extract_meta(directory);

    assert_string_equal(meta_at(meta, "backend/choice")->valuestring, "cpu_scalar");
    assert_string_equal(meta_at(meta, "backend/used/0/name")->valuestring, "cpu_scalar");
}

/* ---- One runtime ------------------------------------------------------------------------- */

#define PLUGIN_PART 22 /* "probe-" and the 16 digits of a plugin's path */

typedef struct probe_files {
    size_t n;
    ino_t files[64];
    char names[64][80];
} probe_files;

static probe_files cached_probes(const char *inner)
{
    DIR *cache = opendir(io_path(inner, "collet"));
    struct dirent *entry;
    probe_files all = {0};

    assert_non_null(cache);
    while ((entry = readdir(cache)) != NULL && all.n < 64) {
        if (strncmp(entry->d_name, "probe-", 6) != 0)
            continue;
        all.files[all.n] = entry->d_ino;
        snprintf(all.names[all.n++], sizeof all.names[0], "%.79s", entry->d_name);
    }
    closedir(cache);
    return all;
}

static void use_cache(void *user)
{
    setenv("XDG_CACHE_HOME", user, 1);
}

/* The program must create only one runtime. A second runtime with another number of threads would
 * probe each plugin again, and so add or replace a result in the cache. */
TEST(plugins_are_tried_once)
{
    const char *args[] = {"--force",        "-q", "-o", "out.npz", WATER "conf.gro",
                          WATER "traj.trr", NULL};
    char *inner = io_make_directory();
    tool_setup setup = {.directory = directory, .prepare = use_cache, .user = inner};
    probe_files first, second;

    for (int again = 0; again < 2; again++) {
        tool_result result = tool_run("collet-extract", args, &setup);

        tool_expect(&result, 0);
        *(again ? &second : &first) = cached_probes(inner);
    }
    assert_true(first.n > 0);
    assert_int_equal(first.n, second.n);
    for (size_t i = 0; i < first.n; i++) {
        size_t k = 0;

        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(strncmp(first.names[i], first.names[j], PLUGIN_PART), 0);
        while (k < second.n && second.files[k] != first.files[i])
            k++;
        assert_true(k < second.n);
    }
    io_remove_directory(inner);
}

TEST(help_and_version)
{
    tool_result help = TOOL("collet-extract", "--help"), brief = TOOL("collet-extract", "-h");
    tool_result version = TOOL("collet-extract", "--version");

    EXPECT_OUT(help, 0, "--selection=SELECTION", "Exit status");
    for (size_t i = 0; i < EXTRACT_KEYS; i++)
        if (!strstr(strstr(help.out, "KEYs: "), extract_keys[i]))
            fail_msg("no %s in the help", extract_keys[i]);
    tool_expect(&brief, 0);
    assert_string_equal(brief.out, help.out);
    EXPECT_OUT(version, 0, collet_version());
}

TEST(progress_text)
{
    char text[100];

    tool_progress_format(text, sizeof text, "frames", 1000, 250000000, 0.25, 0.5);
    assert_string_equal(text, "1000 frames, 25 %, 500 MB/s, 0:00:02 left");
    tool_progress_format(text, sizeof text, "frames", 0, 0, 0, 0);
    assert_string_equal(text, "0 frames, 0 %");
}

/* Saves n frames of the peptide's atoms with increasing times, so that a run has no warnings. */
static void save_frames(const char *name, int32_t n)
{
    OWNED(io_image) image = {0};

    for (int32_t f = 0; f < n; f++)
        io_put_trr(&image, 4, 280, f, IO_X);
    io_save(io_path(directory, name), image.data, image.size);
}

/* A terminal shows the progress line, erased at the end; --quiet suppresses it. */
TEST(progress_on_a_terminal)
{
    const char *args[] = {"--force", "-o", "out.npz",   PEPTIDE "conf.gro", "many.trr",
                          "--batch", "1",  "--backend", "cpu_scalar",       "--keys",
                          "com",     NULL, NULL};
    tool_setup setup = {.directory = directory, .terminal = 1};
    tool_result result;
    int copies;

    /* The line appears after 0.1 s. How many frames take that long depends on the machine and the
     * build. */
    for (copies = 20;; copies *= 2) {
        save_frames("many.trr", 51 * copies);
        result = tool_run("collet-extract", args, &setup);
        tool_expect(&result, 0);
        if (result.err[0] != '\0')
            break;
        assert_true(copies < 5000);
    }
    assert_contains(result.err, " frames, ", " left\033[K");
    assert_string_equal(result.err + strlen(result.err) - 4, "\r\033[K");

    save_frames("many.trr", 153 * copies);
    args[11] = "-q";
    result = tool_run("collet-extract", args, &setup);
    tool_expect(&result, 0);
    assert_string_equal(result.err, "");
}

static void set_misspelt_variable(void *user)
{
    putenv((char *)(uintptr_t) "COLLET_BAKEND=cpu_scalar");
}

TEST(warnings_of_libcore)
{
    const char *const args[] = {"-o", "warned.npz", PEPTIDE "conf.gro", PEPTIDE "traj.trr", NULL};
    const tool_setup setup = {.directory = directory, .prepare = set_misspelt_variable};
    tool_result result = tool_run("collet-extract", args, &setup);

    EXPECT_ERR(result, 0, "collet-extract: the environment variable COLLET_BAKEND");
}

TEST_GROUP(make_directory, remove_directory)
