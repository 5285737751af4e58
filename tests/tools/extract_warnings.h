/* SPDX-License-Identifier: Apache-2.0 */
/* extract_warnings.h - runs of collet-extract that warn or fail. Included once per program. */
#ifndef TESTS_TOOLS_EXTRACT_WARNINGS_H
#define TESTS_TOOLS_EXTRACT_WARNINGS_H

#include "directory.h"
#include "extract_runs.h"

/* Runs collet-extract with these arguments, which must exit with `status`; the output is
 * out.npz. */
static inline tool_result run(int status, const char *const *args)
{
    const char *all[30] = {"--backend", "cpu_scalar", "--force", "-o", "out.npz"};
    tool_setup setup = {.directory = directory};
    size_t n = 5;

    while (*args != NULL && n < 29)
        all[n++] = *args++;
    tool_result result = tool_run("collet-extract", all, &setup);
    tool_expect(&result, status);
    return result;
}
#define RUN(status, ...) run(status, (const char *const[]){__VA_ARGS__, NULL})

static inline int count_of(const char *text, const char *part)
{
    int n = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

/* Fails unless the run printed exactly one warning, with this text, and the meta file has it too.
 * NULL: no warning. */
static inline void expect_warning(tool_result result, const char *text)
{
    cJSON *meta = extract_meta(directory);
    const cJSON *warnings = meta_at(meta, "warnings");

    if (count_of(result.err, "warning: ") != (text != NULL))
        fail_msg("warnings:\n%s", result.err);
    assert_int_equal(cJSON_GetArraySize(warnings), text != NULL);
    if (text != NULL) {
        assert_contains(result.err, text);
        assert_contains(cJSON_GetArrayItem(warnings, 0)->valuestring, text);
    }
    cJSON_Delete(meta);
}

static inline void expect_error(tool_result result, const char *text)
{
    assert_contains(result.err, text);
}

/* Saves a trajectory of two atoms in a box. `atoms` has their names, residues and coordinates. */
static inline const char *save_pair(const char *atoms, const char *box)
{
    char text[256];
    int length = snprintf(text, sizeof text, "pair t= 0\n    2\n%s%s\n", atoms, box);

    io_save(io_path(directory, "pair.gro"), text, (size_t)length);
    return "pair.gro";
}

#endif
