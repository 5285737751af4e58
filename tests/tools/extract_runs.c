/* SPDX-License-Identifier: Apache-2.0 */
#include "extract_runs.h"

#define PARTS(name)                                                                                \
    name "_vector", name "_parallel", name "_perp", name "_z_component", name "_magnitude",        \
        name "_parallel_mag", name "_perp_mag", name "_z_mag"

const char *const extract_keys[EXTRACT_ALL_KEYS] = {
    "time_ps",           "com",         "inertia_tensor",
    "moments",           "axes",        "euler_zyz",
    "rotation_matrices", PARTS("L"),    PARTS("tau"),
    PARTS("omega"),      PARTS("dLdt"), "k_total",
    "k_trans",           "k_rot",       "rg",
    "gyration_tensor",   "asphericity", "rmsd",
    "tilt_deg",          "end_to_end",  "com_velocity",
};

/* ---- Results ----------------------------------------------------------------------------- */

npz npz_open(const char *path)
{
    npz archive;

    memset(&archive, 0, sizeof archive);
    archive.bytes = io_load(path);
    return archive;
}

void npz_close(npz *archive)
{
    for (size_t i = 0; i < EXTRACT_ALL_KEYS; i++)
        free(archive->arrays[i]);
    free(archive->bytes.data);
    memset(archive, 0, sizeof *archive);
}

int npz_has(const npz *archive, const char *key)
{
    char name[80];

    snprintf(name, sizeof name, "%s.npy", key);
    return memmem(archive->bytes.data, archive->bytes.size, name, strlen(name)) != NULL;
}

const double *npz_f64(npz *archive, const char *key, int64_t *rows, size_t *count)
{
    npy_array array = npz_find(archive->bytes.data, archive->bytes.size, key);
    size_t i = 0;

    if (strcmp(array.descr, "<f8") != 0 || array.ndim < 1)
        fail_msg("%s is %s with %d axes", key, array.descr, array.ndim);
    while (i < EXTRACT_ALL_KEYS && strcmp(extract_keys[i], key) != 0)
        i++;
    assert_true(i < EXTRACT_ALL_KEYS);
    if (archive->arrays[i] == NULL) {
        /* A member of the archive need not be aligned for its dtype. */
        archive->arrays[i] = malloc(array.size + 1);
        assert_non_null(archive->arrays[i]);
        memcpy(archive->arrays[i], array.data, array.size);
    }
    if (rows != NULL)
        *rows = array.shape[0];
    if (count != NULL)
        *count = array.size / sizeof(double);
    return archive->arrays[i];
}

/* ---- Runs -------------------------------------------------------------------------------- */

npz extract(const char *directory, const char *const *args)
{
    const char *all[60] = {"-q", "--force", "-o", "out.npz"};
    tool_setup setup = {.directory = directory};
    tool_result result;
    size_t n = 4;

    while (*args != NULL && n < 59)
        all[n++] = *args++;
    result = tool_run("collet-extract", all, &setup);
    tool_expect(&result, 0);
    assert_string_equal(result.out, "");
    if (result.err[0] != '\0' && strstr(result.err, "collet-extract: warning: ") != result.err)
        fail_msg("%s", result.err);
    return npz_open(io_path(directory, "out.npz"));
}

cJSON *extract_meta(const char *directory)
{
    io_bytes bytes = io_load(io_path(directory, "out.meta.json"));
    cJSON *meta = cJSON_ParseWithLength((const char *)bytes.data, bytes.size);

    assert_non_null(meta);
    free(bytes.data);
    return meta;
}

const cJSON *meta_at(const cJSON *meta, const char *path)
{
    char key[80];

    for (const char *at = path; meta != NULL && *at != '\0';) {
        size_t length = strcspn(at, "/");

        snprintf(key, sizeof key, "%.*s", (int)length, at);
        meta = cJSON_IsArray(meta) ? cJSON_GetArrayItem(meta, atoi(key))
                                   : cJSON_GetObjectItemCaseSensitive(meta, key);
        at += length + (at[length] == '/');
    }
    if (meta == NULL)
        fail_msg("there is no %s", path);
    return meta;
}

void repeat_file(const char *from, const char *to, int copies)
{
    OWNED(io_bytes) bytes = io_load(from);
    FILE *file = fopen(to, "wb");

    assert_non_null(file);
    for (int i = 0; i < copies; i++)
        assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    assert_int_equal(fclose(file), 0);
}

int backend_usable(const char *name)
{
    collet_runtime *runtime;
    collet_error err;
    int usable = 0;

    assert_success(collet_runtime_create(&runtime, NULL, &err), err);
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        collet_backend_info info = {.struct_size = sizeof info};

        assert_int_equal(collet_backend_info_at(runtime, &info, i, NULL), COLLET_OK);
        usable |= strcmp(info.name, name) == 0 && info.state != COLLET_BACKEND_UNAVAILABLE;
    }
    collet_runtime_destroy(runtime);
    return usable;
}
