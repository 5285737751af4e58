/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_options.c, tests/tools/test_extract_missing_data.c */
#include "report.h"

#include "common/interrupt.h"
#include "common/output.h"
#include "common/shares.h"

#include <stdio.h>
#include <string.h>

void extract_complain(const char *text)
{
    tool_complain("collet-extract", text);
}

static void print_warnings(const collet_trajectory *trajectory)
{
    const char *text;

    for (size_t i = 0; (text = collet_trajectory_warning_at(trajectory, i)) != NULL; i++)
        tool_warn("collet-extract", text);
}

/* ---- Keys that were left out ------------------------------------------------------------- */

typedef struct collet_trajectory_quantity quantity;

static quantity quantity_at(const collet_trajectory *trajectory, size_t i)
{
    quantity q = {.struct_size = sizeof q};

    collet_trajectory_quantity_at(trajectory, &q, i, NULL);
    return q;
}

/* Returns the length of a key's beginning: of "L_" in "L_vector", of "time_ps" in "time_ps". */
static size_t group_length(const char *key)
{
    const char *end = strchr(key, '_');

    return end != NULL ? (size_t)(end - key) + 1 : strlen(key);
}

/* Prints the keys that were left out for the same reason as key `first`; prints several keys with the
 * same beginning as "L_*". */
static void print_group(const collet_trajectory *trajectory, size_t first)
{
    const char *reason = quantity_at(trajectory, first).left_out, *before = "";

    printf("left out, because %s:", reason);
    for (size_t i = first; i < collet_trajectory_quantity_count(); i++) {
        quantity q = quantity_at(trajectory, i), next = {0};
        size_t length = group_length(q.key);

        if (q.left_out == NULL || strcmp(q.left_out, reason) != 0 ||
            strncmp(before, q.key, length) == 0)
            continue;
        if (i + 1 < collet_trajectory_quantity_count())
            next = quantity_at(trajectory, i + 1);
        if (next.key != NULL && strncmp(next.key, q.key, length) == 0)
            printf(" %.*s*", (int)length, q.key);
        else
            printf(" %s", q.key);
        before = q.key;
    }
    putchar('\n');
}

static void print_left_out(const collet_trajectory *trajectory)
{
    for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
        const char *reason = quantity_at(trajectory, i).left_out, *earlier = NULL;

        /* Some keys are computed only if they are requested by name, and most topologies have no charges. */
        if (reason != NULL && (strcmp(reason, "not requested") == 0 ||
                               strcmp(reason, "the topology has no charges") == 0))
            continue;
        for (size_t k = 0; reason != NULL && earlier == NULL && k < i; k++) {
            earlier = quantity_at(trajectory, k).left_out;
            if (earlier != NULL && strcmp(earlier, reason) != 0)
                earlier = NULL;
        }
        if (reason != NULL && earlier == NULL)
            print_group(trajectory, i);
    }
}

/* ---- The end ----------------------------------------------------------------------------- */

static void print_shard(const collet_trajectory_info *info)
{
    if (info->kept)
        printf("%s: kept\n", tool_shown(info->output));
    else
        printf("%s: %lld frame%s of %lld in %.2f s\n", tool_shown(info->output),
               (long long)info->frames, tool_plural(info->frames), (long long)info->rows,
               info->seconds);
}

static void print_summary(const collet_trajectory *trajectory, const extract_options *options)
{
    collet_trajectory_info info = {.struct_size = sizeof info};
    collet_device_share share = {.struct_size = sizeof share};
    char bodies[48] = "";
    double seconds;

    collet_trajectory_get_info(trajectory, &info);
    if (options->settings.n_shards > 0) {
        print_shard(&info);
        return;
    }
    if (options->seconds > 0)
        info.seconds = options->seconds;
    seconds = info.seconds > 0 ? info.seconds : 1e-9;
    if (info.bodies > 0)
        snprintf(bodies, sizeof bodies, ", %lld bod%s,", (long long)info.bodies,
                 info.bodies == 1 ? "y" : "ies");
    printf("%s: %lld frame%s of ", tool_shown(options->path), (long long)info.frames,
           tool_plural(info.frames));
    if (info.least_atoms < info.most_atoms)
        printf("%lld to ", (long long)info.least_atoms);
    printf("%lld atom%s%s in %.2f s (%.0f frames/s, %.0f MB/s)\n", (long long)info.most_atoms,
           tool_plural(info.most_atoms), bodies, info.seconds, (double)info.frames / seconds,
           (double)info.bytes * 1e-6 / seconds);
    for (size_t i = 0; collet_trajectory_share_at(trajectory, &share, i, NULL) == COLLET_OK; i++)
        tool_share_print(&share, "frames");
    if (info.periodic != NULL)
        printf("periodic box: %s\n", info.periodic);
    if (info.drift != NULL)
        printf("drift: %s\n", info.drift);
    if (info.masses_guessed)
        printf("masses were guessed from the atoms' names: %.10g amu selected (%s)\n", info.mass,
               info.elements);
    if (options->settings.keys == NULL)
        print_left_out(trajectory);
}

int extract_report(const collet_trajectory *trajectory, const extract_options *options)
{
    collet_trajectory_info info = {.struct_size = sizeof info};

    tool_interrupt_report();
    print_warnings(trajectory);
    if (options->json)
        fputs(collet_trajectory_meta(trajectory), stdout);
    else if (!options->quiet)
        print_summary(trajectory, options);
    if (!tool_flush("collet-extract", "the results and the meta file are complete"))
        return TOOL_EXIT_FAILURE;
    collet_trajectory_get_info(trajectory, &info);
    if (!info.truncated)
        return TOOL_EXIT_OK;
    fprintf(stderr, "collet-extract: %s has the %lld frame%s before the incomplete or damaged frame\n",
            tool_shown(info.output), (long long)info.frames, tool_plural(info.frames));
    return TOOL_EXIT_INCOMPLETE;
}
