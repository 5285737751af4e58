/* SPDX-License-Identifier: Apache-2.0 */
/* collet-merge on shards and meta files whose fields have wrong types or values, with right checksums. */

#include "directory.h"
#include "extract_runs.h"

#include <zip.h>

#define RUN                                                                                        \
    "--backend", "cpu_scalar", "--keys", "com,time_ps", PEPTIDE "conf.gro", PEPTIDE "traj.trr",    \
        "-q", "-o", "out.npz"
#define SHARD "out.npz.shards/2-of-2.npz"
#define ALONE "one.npz.shards/1-of-1.npz"

static void run(const char *program, int status, const char *message, const char *const *args)
{
    const tool_setup setup = {.directory = directory};
    tool_result result = tool_run(program, args, &setup);

    tool_expect(&result, status);
    assert_contains(*result.err ? result.err : result.out, message);
}

#define RUN_TOOL(program, status, message, ...)                                                    \
    run(program, status, message, (const char *const[]){__VA_ARGS__, NULL})

/* ---- Archives ---------------------------------------------------------------------------- */

static io_bytes read_entry(const char *name, const char *entry)
{
    zip_t *archive = zip_open(io_path(directory, name), ZIP_RDONLY, NULL);
    zip_stat_t facts;

    assert_non_null(archive);
    assert_int_equal(zip_stat(archive, entry, 0, &facts), 0);
    io_bytes bytes = {malloc(facts.size), facts.size};
    zip_file_t *file = zip_fopen(archive, entry, 0);
    assert_int_equal(zip_fread(file, bytes.data, bytes.size), bytes.size);
    zip_fclose(file);
    zip_discard(archive);
    return bytes;
}

static void replace_entry(const char *name, const char *entry, const void *bytes, size_t n)
{
    zip_t *archive = zip_open(io_path(directory, name), 0, NULL);
    zip_source_t *source = zip_source_buffer(archive, bytes, n, 0);
    zip_int64_t index = zip_file_add(archive, entry, source, ZIP_FL_OVERWRITE);

    assert_true(index >= 0);
    zip_set_file_compression(archive, (zip_uint64_t)index, ZIP_CM_STORE, 0);
    assert_int_equal(zip_close(archive), 0);
}

static size_t header_of(const io_bytes *npy)
{
    return 10 + npy->data[8] + 256u * npy->data[9];
}

/* Sets a field, such as "notes.n_frames", to a JSON value; NULL: removes the field. */
static void set_field(cJSON *root, const char *place, const char *value)
{
    char path[80], *dot;

    snprintf(path, sizeof path, "%s", place);
    char *name = path;
    while ((dot = strchr(name, '.')) != NULL && strncmp(name, "arranged.", 9) != 0) {
        *dot = '\0';
        root = cJSON_GetObjectItemCaseSensitive(root, name);
        assert_non_null(root);
        name = dot + 1;
    }
    if (value && cJSON_HasObjectItem(root, name))
        cJSON_ReplaceItemInObjectCaseSensitive(root, name, cJSON_CreateRaw(value));
    else if (value)
        cJSON_AddItemToObject(root, name, cJSON_CreateRaw(value));
    else
        cJSON_DeleteItemFromObjectCaseSensitive(root, name);
}

static void save_notes(const char *name, const io_bytes *npy, const char *place, const char *value)
{
    size_t begin = header_of(npy), n = (npy->size - begin) / 4;
    FREED(char) *text = calloc(n + 1, 1);

    for (size_t i = 0; i < n; i++)
        text[i] = (char)npy->data[begin + 4 * i];
    OWNED(cJSON) *json = cJSON_Parse(text);
    assert_non_null(json);
    set_field(json, place, value);
    char *printed = cJSON_PrintUnformatted(json);
    size_t length = strlen(printed), size = 128 + 4 * length;
    FREED(uint8_t) *made = calloc(size, 1);
    memcpy(made, "\x93NUMPY\x01\x00\x76\x00", 10);
    memset(made + 10, ' ', 118);
    char header[119];
    int used = snprintf(header, sizeof header,
                        "{'descr': '<U%zu', 'fortran_order': False, 'shape': (1,), }", length);
    memcpy(made + 10, header, (size_t)used);
    made[127] = '\n';
    for (size_t i = 0; i < length; i++)
        made[128 + 4 * i] = (uint8_t)printed[i];
    replace_entry(name, "notes.npy", made, size);
    cJSON_free(printed);
}

/* ---- Shards ------------------------------------------------------------------------------ */

static void compute_shards(void)
{
    RUN_TOOL("collet-extract", 0, "", RUN, "--force", "--shard", "1/2");
    RUN_TOOL("collet-extract", 0, "", RUN, "--force", "--shard", "2/2");
}

TEST(notes_are_checked)
{
    static const struct {
        const char *place, *value, *said;
    } faults[] = {
        {"work", "[1]", "work is [1]; it must be an object"},
        {"work", NULL, "work is missing"},
        {"work.axis", "{}", "shard 2 of 2 is not of the same work"},
        {"shard", "-1", "shard is -1; it must be a whole number from 1"},
        {"shard", "3", "shard 3 of 2"},
        {"shard", "1.5", "shard is 1.5; it must be a whole number"},
        {"n_shards", "1e300", "n_shards is 1e+300"},
        {"rows", "\"6\"", "rows is \"6\""},
        {"rows", "4", "its notes are damaged"},
        {"origin", "\"/tmp\"", "origin is \"/tmp\"; it must be an object"},
        {"origin.command", "[1]", "origin.command[0] is 1; it must be a text"},
        {"notes", "null", "notes is null; it must be an object"},
        {"notes.n_frames", "1e18", "notes.n_frames is 1e+18"},
        {"notes.n_frames", "-3", "notes.n_frames is -3"},
        {"notes.truncated", "7", "notes.truncated is 7"},
        {"notes.empty_body", "-1", "notes.empty_body is -1; it must be a whole number from 0"},
        {"notes.partial_body", "1e9", "notes.partial_body is 1000000000"},
        {"notes.n_empty", "\"1\"", "notes.n_empty is \"1\""},
        {"notes.arranged.cut.axis", "3", "notes.arranged.cut.axis is 3"},
        {"end", "[]", "end is []; it must be an object"},
        {"end.precision", "\"high\"", "end.precision is \"high\""},
        {"end.files", "[null]", "end.files[0] is null; it must be an object"},
        {"end.files", "[{\"first\": 0, \"frames\": -5, \"was_cut\": false}]",
         "end.files[0].frames is -5"},
        {"backends", "{}", "backends is {}; it must be a list"},
        {"backends", "[[\"cpu\"]]", "backends[0] is [\"cpu\"]; it must be a text"}};

    compute_shards();
    OWNED(io_bytes) notes = read_entry(SHARD, "notes.npy");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        save_notes(SHARD, &notes, faults[i].place, faults[i].value);
        RUN_TOOL("collet-merge", 1, faults[i].said, "-q", "--force", "out.npz.shards");
    }
    save_notes(SHARD, &notes, "other", "1");
    RUN_TOOL("collet-merge", 0, "", "-q", "--force", "out.npz.shards");
}

/* The description of the work must be the same in all shards. */
TEST(works_are_checked)
{
    static const struct {
        const char *place, *value, *said;
    } faults[] = {{"work.axis", "[0, 0]", "work.axis is [0,0]; it must be a list of 3 elements"},
                  {"work.step", "0", "work.step is 0; it must be a whole number from 1"},
                  {"work.pbc", "9", "work.pbc is 9"},
                  {"work.drift", "4", "work.drift is 4"},
                  {"work.topology", NULL, "work.topology is missing; it must be a text or null"},
                  {"work.keys", "7", "work.keys is 7; it must be a text or null"},
                  {"work.n_mass_values", "1e30", "work.n_mass_values is 1e+30"},
                  {"work.continuations", "[1]", "work.continuations[0] is 1; it must be a text"},
                  {"work.memory", "0", "work.memory is 0; it must be true or false"}};

    RUN_TOOL("collet-extract", 0, "", RUN, "--force", "-o", "one.npz", "--shard", "1/1");
    OWNED(io_bytes) notes = read_entry(ALONE, "notes.npy");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        save_notes(ALONE, &notes, faults[i].place, faults[i].value);
        RUN_TOOL("collet-merge", 1, faults[i].said, "-q", "--force", "one.npz.shards");
    }
}

TEST(frames_are_checked)
{
    const struct {
        int row;
        double number;
        const char *said;
    } faults[] = {{0, NAN, "the number of frame 0 is nan; it must be from 25 on, below 51"},
                  {0, -1, "the number of frame 0 is -1"},
                  {3, 1e300, "the number of frame 3 is 1e+300"},
                  {3, 27, "the number of frame 3 is 27; it must be from 28 on"},
                  {0, 24, "the number of frame 0 is 24"},
                  {25, 51, "the number of frame 25 is 51"},
                  {4, 29.5, "the number of frame 4 is 29.5"},
                  {4, HUGE_VAL, "the number of frame 4 is inf"}};

    compute_shards();
    OWNED(io_bytes) frames = read_entry(SHARD, "frame.npy");
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        double *numbers = (double *)(void *)(frames.data + header_of(&frames)), before;
        before = numbers[faults[i].row];
        numbers[faults[i].row] = faults[i].number;
        replace_entry(SHARD, "frame.npy", frames.data, frames.size);
        numbers[faults[i].row] = before;
        RUN_TOOL("collet-merge", 1, faults[i].said, "-q", "--force", "out.npz.shards");
    }
    replace_entry(SHARD, "frame.npy", frames.data, frames.size);
    RUN_TOOL("collet-merge", 0, "", "-q", "--force", "out.npz.shards");
}

/* ---- Meta files -------------------------------------------------------------------------- */

TEST(meta_files_are_checked)
{
    static const struct {
        const char *place, *value, *said;
    } faults[] = {{"id", "7", "id is 7; it must be a text"},
                  {"outputs", "[1]", "outputs is [1]; it must be an object"},
                  {"outputs.com", "1", "outputs.com is not a JSON object"},
                  {"outputs.com.shape", "[51, -3]", "outputs.com.shape[1] is -3"},
                  {"outputs.com.shape", "[50, 3]", "outputs.com.shape[0] is 50"},
                  {"outputs.com.shape", "3", "outputs.com.shape is 3; it must be a list"},
                  {"outputs.com.shape", "[51, 1e300]", "outputs.com.shape[1] is 1e+300"},
                  {"frames", "[]", "frames is []; it must be an object"},
                  {"frames.count", "1e300", "frames.count is 1e+300"},
                  {"inputs", "[[]]", "inputs is [[]]; it must be an object"},
                  {"inputs.masses", NULL, "inputs.masses is missing"},
                  {"selection", "\"all\"", "selection is \"all\"; it must be an object"},
                  {"bodies", "{\"labels\": [1]}", "bodies.labels[0] is 1; it must be a text"},
                  {"warnings", "{}", "warnings is {}; it must be a list"}};

    RUN_TOOL("collet-extract", 0, "", RUN, "--force");
    OWNED(io_bytes) whole = io_load(io_path(directory, "out.meta.json"));
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        OWNED(cJSON) *meta = cJSON_ParseWithLength((const char *)whole.data, whole.size);
        set_field(meta, faults[i].place, faults[i].value);
        char *text = cJSON_Print(meta);
        io_save(io_path(directory, "out.meta.json"), text, strlen(text));
        RUN_TOOL("collet-merge", 1, faults[i].said, "-q", "-o", "all.npz", "out.npz");
        cJSON_free(text);
    }
    io_save(io_path(directory, "out.meta.json"), whole.data, whole.size);
    RUN_TOOL("collet-merge", 0, "", "-q", "-o", "all.npz", "out.npz");
}

TEST_GROUP(make_directory, remove_directory)
