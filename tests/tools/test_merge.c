/* SPDX-License-Identifier: Apache-2.0 */
/* collet-merge: parts of a run give the results of the whole run; what cannot be merged. */

#include "common/test.h"
#include "common/contains.h"
#include "directory.h"
#include "extract_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void run(const char *program, int status, const char *message, const char *const *args)
{
    const tool_setup setup = {.directory = directory};
    tool_result result = tool_run(program, args, &setup);

    tool_expect(&result, status);
    assert_contains(result.err, message);
    tool_free(&result);
}

#define MERGE(status, message, ...)                                                                \
    run("collet-merge", status, message, (const char *const[]){__VA_ARGS__, NULL})

/* Frames start .. stop - 1 of the peptide. */
static void part(const char *name, const char *start, const char *stop, const char *keys,
                 const char *selection)
{
    const char *const args[] = {
        "-q",          "--force", "-o",        name,         "--keys",           keys,
        "--start",     start,     "--stop",    stop,         "--each",           "residue",
        "--selection", selection, "--backend", "cpu_scalar", PEPTIDE "conf.gro", PEPTIDE "traj.trr",
        NULL};

    run("collet-extract", 0, "", args);
}

#define KEYS "time_ps,com,L_vector,k_rot"

TEST(parts_of_a_run)
{
    static const char *const keys[] = {"time_ps", "com", "L_vector", "k_rot"};
    part("whole.npz", "0", "51", KEYS, "all");
    part("a.npz", "0", "20", KEYS, "all");
    part("b.npz", "15", "40", KEYS, "all");
    part("c.npz", "40", "51", KEYS, "all");
    MERGE(0, "", "-q", "-o", "out.npz", "a.npz", "b.npz", "c.npz");

    npz merged = npz_open(io_path(directory, "out.npz"));
    npz whole = npz_open(io_path(directory, "whole.npz"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int64_t rows;
        size_t n, m;
        const double *found = npz_f64(&merged, keys[i], &rows, &n);
        const double *expected = npz_f64(&whole, keys[i], NULL, &m);
        assert_int_equal(rows, 51);
        assert_int_equal(n, m);
        assert_memory_equal(found, expected, n * sizeof *found);
    }
    npy_array labels = npz_find(merged.bytes.data, merged.bytes.size, "bodies");
    npy_array same = npz_find(whole.bytes.data, whole.bytes.size, "bodies");
    assert_int_equal(labels.size, same.size);
    assert_memory_equal(labels.data, same.data, same.size);
    npz_close(&merged);
    npz_close(&whole);

    static const int kept[] = {15, 25, 11}, left[] = {5, 0, 0};
    io_bytes text = io_load(io_path(directory, "out.meta.json"));
    cJSON *meta = cJSON_ParseWithLength((const char *)text.data, text.size);
    assert_int_equal((int)cJSON_GetNumberValue(meta_at(meta, "frames/count")), 51);
    assert_string_equal(cJSON_GetStringValue(meta_at(meta, "selection/text")), "all");
    for (int k = 0; k < 3; k++) {
        const cJSON *entry = cJSON_GetArrayItem(meta_at(meta, "parts"), k);
        assert_int_equal((int)cJSON_GetNumberValue(meta_at(entry, "frames")), kept[k]);
        assert_int_equal((int)cJSON_GetNumberValue(meta_at(entry, "frames_left_out")), left[k]);
    }
    cJSON_Delete(meta);
    free(text.data);

    MERGE(1, "out.npz already exists", "-o", "out.npz", "a.npz");
    MERGE(0, "", "-q", "--force", "-o", "out.npz", "a.npz");
}

TEST(what_cannot_be_merged)
{
    part("a.npz", "0", "5", KEYS, "all");
    part("keys.npz", "5", "9", "time_ps,com", "all");
    MERGE(1, "a.npz and keys.npz differ in their keys", "-o", "no.npz", "a.npz", "keys.npz");
    part("other.npz", "5", "9", KEYS, "resid 1:3");
    MERGE(1, "differ in their selections", "-o", "no.npz", "a.npz", "other.npz");
    part("rmsd.npz", "0", "5", "time_ps,rmsd", "all");
    part("rmsd2.npz", "5", "9", "time_ps,rmsd", "all");
    MERGE(1, "differ in the reference of the key rmsd", "-o", "no.npz", "rmsd.npz", "rmsd2.npz");
    part("untimed.npz", "0", "5", "com", "all");
    MERGE(1, "untimed.npz: it has no times", "-o", "no.npz", "untimed.npz");
    MERGE(1, "would replace the input", "--force", "-o", "a.npz", "a.npz");
    MERGE(1, "absent.npz: its meta file absent.meta.json cannot be opened", "-o", "no.npz",
          "absent.npz");

    io_bytes meta = io_load(io_path(directory, "keys.meta.json"));
    io_save(io_path(directory, "a.meta.json"), meta.data, meta.size);
    MERGE(1, "a.npz: its meta file a.meta.json is of other results", "-o", "no.npz", "a.npz");
    io_save(io_path(directory, "a.meta.json"), meta.data, meta.size / 2);
    MERGE(1, "a.meta.json: it is not JSON", "-o", "no.npz", "a.npz");
    free(meta.data);
    io_bytes cut = io_load(io_path(directory, "keys.npz"));
    io_save(io_path(directory, "keys.npz"), cut.data, cut.size / 2);
    MERGE(1, "keys.npz: it cannot be opened as an .npz file", "-o", "no.npz", "keys.npz");
    free(cut.data);

    MERGE(1, "out.npz.shards: it cannot be opened as an .npz file: No such file", "out.npz.shards");

    MERGE(2, "name the file to write", "a.npz");
    MERGE(2, "the output is an .npz file", "-o", "out.csv", "a.npz");
    MERGE(2, "give the results to merge", "-o", "out.npz");
    MERGE(2, "--help", "--unknown");
    assert_int_equal(access(io_path(directory, "no.npz"), F_OK), -1);
}

TEST_GROUP(make_directory, remove_directory)
