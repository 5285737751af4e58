/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_options.c, tests/tools/test_extract_missing_data.c */
#include "meta.h"

#include "periodic.h"
#include "trajectory/reading/index.h"
#include "trajectory/reading/parts.h"

#include "io/numerals.h"
#include "io/utf8.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

/* A document under construction. `failed` is set by the first allocation that fails and checked
 * once, at the end. */
typedef struct document {
    cJSON *root;
    int failed;
} document;

/* ---- Members ----------------------------------------------------------------------------- */

static void put(document *d, cJSON *object, const char *key, cJSON *item)
{
    if (item == NULL || object == NULL ||
        !(key != NULL ? cJSON_AddItemToObject(object, key, item)
                      : cJSON_AddItemToArray(object, item))) {
        cJSON_Delete(item);
        d->failed = 1;
    }
}

static void put_text(document *d, cJSON *object, const char *key, const char *text)
{
    put(d, object, key, cJSON_CreateString(text));
}

static void put_number(document *d, cJSON *object, const char *key, double number)
{
    put(d, object, key, cJSON_CreateNumber(number));
}

static void put_integer(document *d, cJSON *object, const char *key, int64_t number)
{
    put_number(d, object, key, (double)number);
}

/* Adds an object or array and returns it; NULL after a failure. */
static cJSON *put_child(document *d, cJSON *object, const char *key, cJSON *child)
{
    put(d, object, key, child);
    return d->failed ? NULL : child;
}

static void put_file(document *d, cJSON *object, const char *path)
{
    struct stat facts;

    put_text(d, object, "path", path);
    if (stat(path, &facts) == 0)
        put_integer(d, object, "bytes", (int64_t)facts.st_size);
}

/* ---- Sections ---------------------------------------------------------------------------- */

static void describe_program(document *d, const collet_trajectory *x)
{
    cJSON *command;
    char created[32];
    time_t now = time(NULL);
    struct tm utc;

    put_text(d, d->root, "program", x->settings.program);
    put_text(d, d->root, "version", COLLET_VERSION);
    put_text(d, d->root, "library_version", collet_version());
    if (gmtime_r(&now, &utc) != NULL &&
        strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0)
        put_text(d, d->root, "created", created);
    if (x->id != NULL)
        put_text(d, d->root, "id", x->id);
    command = put_child(d, d->root, "command", cJSON_CreateArray());
    for (const char *const *word = x->settings.command; word != NULL && *word != NULL; word++)
        put_text(d, command, NULL, *word);
}

static void describe_status(document *d, const collet_trajectory *x)
{
    cJSON *end;

    put_text(d, d->root, "status",
             x->notes.truncated == TRAJECTORY_DAMAGED ? "damaged"
             : x->notes.truncated                     ? "truncated"
                                                      : "complete");
    if (!x->notes.truncated)
        return;
    end = put_child(d, d->root, "truncation", cJSON_CreateObject());
    put_integer(d, end, "last_complete_frame", x->notes.last_frame);
    put_integer(d, end, "end_of_last_complete_frame", x->notes.end_offset);
    put_text(d, end, "message", x->notes.truncation.text);
}

static void describe_elements(document *d, cJSON *masses, const trajectory_composition *found)
{
    cJSON *elements = put_child(d, masses, "elements", cJSON_CreateObject());

    for (size_t i = 0; i < TRAJECTORY_ELEMENTS; i++) {
        const char *symbol = trajectory_element_at(i)->symbol;

        if (found->counts[i] > 0)
            put_integer(d, elements, *symbol ? symbol : "virtual sites", found->counts[i]);
    }
}

static void describe_masses(document *d, cJSON *inputs, const collet_trajectory *x)
{
    cJSON *masses = put_child(d, inputs, "masses", cJSON_CreateObject());
    const char *path = x->settings.masses;

    const trajectory_composition *found = &x->inputs.composition;
    int equal = trajectory_settings_equal_masses(&x->settings);

    put_text(d, masses, "origin",
             equal                             ? "equal"
             : path != NULL                    ? "file"
             : x->settings.mass_values != NULL ? "given"
             : x->inputs.topology->masses      ? "topology"
             : found->guessed > 0              ? "guessed"
                                               : "elements");
    if (path != NULL && !equal)
        put_file(d, masses, path);
    if (x->inputs.elements != NULL) {
        put_text(d, masses, "note",
                 found->guessed > 0
                     ? "standard atomic weights (IUPAC 2021, abridged) of the elements guessed "
                       "from the names of atoms and residues"
                     : "standard atomic weights (IUPAC 2021, abridged) of the topology's elements");
        describe_elements(d, masses, found);
    }
    if (found->guessed > 0)
        put_integer(d, masses, "atoms_guessed", found->guessed);
    put_text(d, masses, "unit", "amu");
    put_number(d, masses, "total_selected", x->inputs.mass);
}

static void describe_reference(document *d, cJSON *inputs, const collet_trajectory *x)
{
    cJSON *reference = put_child(d, inputs, "reference", cJSON_CreateObject());

    if (x->settings.reference == NULL) {
        put_text(d, reference, "origin", "first frame read");
        put_integer(d, reference, "frame", x->notes.first_frame);
        return;
    }
    put_text(d, reference, "origin", "file");
    put_file(d, reference, x->settings.reference);
    put_text(d, reference, "format", x->inputs.reference_format);
    put_integer(d, reference, "frame", 0);
}

/* Describes the source of times in single precision: the line through steps or numbers of frames, or "stored". */
static void describe_clock(document *d, cJSON *file, const collet_trajectory *x, int64_t k)
{
    static const char *const names[] = {"stored", "steps", "frames"};
    const trajectory_clock *clock = trajectory_reader_clock(x->inputs.trajectory, k);

    if (clock == NULL)
        return;
    cJSON *object = put_child(d, file, "clock", cJSON_CreateObject());
    put_text(d, object, "by", names[clock->by]);
    if (clock->by == TRAJECTORY_CLOCK_STORED)
        return;
    put_integer(d, object, "origin", clock->origin);
    put_number(d, object, "origin_ps", clock->origin_ps);
    put_number(d, object, "interval_ps", clock->interval / clock->scale);
}

/* Describes the files, if the trajectory has several. */
static void describe_files(document *d, cJSON *trajectory, const collet_trajectory *x)
{
    int64_t n;
    const trajectory_part *parts = trajectory_parts_get(x->inputs.trajectory, &n);
    cJSON *files = n > 0 ? put_child(d, trajectory, "files", cJSON_CreateArray()) : NULL;

    for (int64_t k = 0; k < n; k++) {
        cJSON *file = put_child(d, files, NULL, cJSON_CreateObject());
        put_text(d, file, "path", parts[k].path);
        put_integer(d, file, "bytes", parts[k].size);
        put_text(d, file, "format", parts[k].format);
        if (parts[k].first >= 0)
            put_integer(d, file, "first_frame", parts[k].first);
        put_integer(d, file, "frames", parts[k].n_frames);
        if (parts[k].was_cut)
            put_number(d, file, "left_out_from_ps", parts[k].end);
        describe_clock(d, file, x, k);
    }
}

static void describe_inputs(document *d, const collet_trajectory *x)
{
    const trajectory_reader_info *info = x->inputs.info;
    cJSON *inputs = put_child(d, d->root, "inputs", cJSON_CreateObject());
    cJSON *topology = put_child(d, inputs, "topology", cJSON_CreateObject());
    cJSON *trajectory = put_child(d, inputs, "trajectory", cJSON_CreateObject());
    int64_t n;

    if (x->settings.source == NULL)
        put_file(d, topology, x->settings.topology);
    else
        put_text(d, topology, "path", x->settings.topology);
    put_text(d, topology, "format",
             x->settings.source == NULL ? x->inputs.topology->format : "memory");
    put_integer(d, topology, "atoms", x->inputs.topology->n_atoms);
    put_text(d, topology, "title", x->inputs.topology->title);
    put_text(d, trajectory, "path", x->settings.trajectory);
    put_integer(d, trajectory, "bytes", info->file_size);
    put_text(d, trajectory, "format", info->format);
    describe_files(d, trajectory, x);
    if (trajectory_parts_get(x->inputs.trajectory, &n) == NULL)
        describe_clock(d, trajectory, x, 0);
    put_text(d, trajectory, "precision", info->dtype == COLLET_F64 ? "double" : "single");
    if (info->precision > 0)
        put_number(d, trajectory, "stored_precision_per_nm", info->precision);
    put_integer(d, trajectory, "atoms", info->n_atoms);
    put(d, trajectory, "velocities", cJSON_CreateBool(info->has_velocities));
    put(d, trajectory, "forces", cJSON_CreateBool(info->has_forces));
    put(d, trajectory, "times", cJSON_CreateBool(info->has_times));
    describe_masses(d, inputs, x);
    describe_reference(d, inputs, x);
}

static void describe_labels(document *d, const collet_trajectory *x)
{
    const trajectory_labels labels = trajectory_inputs_labels(&x->inputs);
    cJSON *section, *texts;

    if (labels.n == 0)
        return;
    section = put_child(d, d->root, labels.key, cJSON_CreateObject());
    if (x->settings.each != NULL)
        put_text(d, section, "each", x->settings.each);
    put_integer(d, section, "count", labels.n);
    texts = put_child(d, section, "labels", cJSON_CreateArray());
    for (int64_t i = 0; i < labels.n; i++)
        put_text(d, texts, NULL, labels.texts[i]);
}

static void describe_choice(document *d, const collet_trajectory *x)
{
    cJSON *selection = put_child(d, d->root, "selection", cJSON_CreateObject());
    cJSON *frames = put_child(d, d->root, "frames", cJSON_CreateObject());

    put_text(d, selection, "text", x->settings.selection);
    if (x->settings.ndx != NULL)
        put_text(d, selection, "ndx", x->settings.ndx);
    put_integer(d, selection, "atoms", x->inputs.n_selected);
    if (trajectory_choice_varies(x->inputs.choice)) {
        put_integer(d, selection, "least_atoms", x->notes.least_atoms);
        put_integer(d, selection, "most_atoms", x->notes.most_atoms);
    }
    put_integer(d, selection, "atoms_of_topology", x->inputs.topology->n_atoms);
    describe_labels(d, x);
    put_integer(d, frames, "count", x->notes.n_frames);
    put_integer(d, frames, "start", x->settings.start);
    if (x->settings.stop >= 0)
        put_integer(d, frames, "stop", x->settings.stop);
    put_integer(d, frames, "step", x->settings.step);
    if (x->notes.gaps.frames > 0)
        put_integer(d, frames,
                    x->settings.missing == COLLET_TRAJECTORY_MISSING_SKIP ? "skipped" : "with_nan",
                    x->notes.gaps.frames);
    put_integer(d, frames, "first", x->notes.first_frame);
    put_integer(d, frames, "last", x->notes.last_frame);
    if (!isnan(x->notes.first_time))
        put_number(d, frames, "first_time_ps", x->notes.first_time);
    if (!isnan(x->notes.last_time))
        put_number(d, frames, "last_time_ps", x->notes.last_time);
    put(d, d->root, "axis", cJSON_CreateDoubleArray(x->settings.axis, 3));
}

static void describe_box(document *d, const collet_trajectory *x)
{
    const trajectory_arrangement_notes *notes = &x->notes.arranged;
    cJSON *box = put_child(d, d->root, "periodic_box", cJSON_CreateObject());

    put_text(d, box, "pbc", trajectory_periodic_name(x->settings.pbc));
    put_text(d, box, "done", x->periodic);
    if (x->settings.pbc == COLLET_TRAJECTORY_PBC_NOJUMP)
        put(d, box, "one_molecule_each",
            cJSON_CreateBool(trajectory_arrangement_follows(x->inputs.arrangement)));
    put_integer(d, box, "frames_without_box", x->notes.n_frames - x->notes.boxed);
    put_integer(d, box, "molecules_left",
                notes->left[TRAJECTORY_ENDLESS] + notes->left[TRAJECTORY_UNJOINED]);
}

static void describe_drift(document *d, const collet_trajectory *x)
{
    const trajectory_settings *s = &x->settings;
    cJSON *drift = put_child(d, d->root, "drift", cJSON_CreateObject());

    put_text(d, drift, "drift", trajectory_periodic_drift_name(s->drift));
    if (s->drift == COLLET_TRAJECTORY_DRIFT_KEEP)
        return;
    put_text(d, drift, "of", s->drift_of != NULL ? s->drift_of : "all");
    put_integer(d, drift, "atoms", x->inputs.system.n);
    put_number(d, drift, "mass", x->inputs.system.mass);
    put(d, drift, "positions_moved", cJSON_CreateBool(trajectory_periodic_moved(x)));
    put_text(d, drift, "done", x->drift);
}

static void describe_outputs(document *d, const collet_trajectory *x)
{
    cJSON *outputs;

    if (x->output != NULL)
        put_text(d, d->root, "output", x->output);
    outputs = put_child(d, d->root, "outputs", cJSON_CreateObject());
    for (size_t i = 0; i < trajectory_output_count; i++) {
        const trajectory_output *o = &trajectory_outputs[i];
        int64_t shape[TRAJECTORY_OUTPUT_DIMS];
        int32_t ndim = trajectory_output_shape(o, x->notes.n_frames,
                                               trajectory_inputs_extent(&x->inputs), shape);
        cJSON *entry, *extents;

        if (x->left_out[i] != NULL)
            continue;
        entry = put_child(d, outputs, o->key, cJSON_CreateObject());
        extents = put_child(d, entry, "shape", cJSON_CreateArray());
        for (int32_t k = 0; k < ndim; k++)
            put_integer(d, extents, NULL, shape[k]);
        put_text(d, entry, "dtype", "float64");
        put_text(d, entry, "unit", o->unit);
        put_text(d, entry, "meaning", o->meaning);
    }
}

/* Lists the keys that are left out: one entry for each reason, in the order of the first key with this reason. */
static void describe_omissions(document *d, const collet_trajectory *x)
{
    cJSON *omissions = put_child(d, d->root, "left_out", cJSON_CreateArray());

    for (size_t i = 0; i < trajectory_output_count; i++) {
        const char *reason = x->left_out[i];
        cJSON *entry, *keys;
        size_t before = 0;

        while (before < i && x->left_out[before] != reason)
            before++;
        if (reason == NULL || before < i)
            continue;
        entry = put_child(d, omissions, NULL, cJSON_CreateObject());
        put_text(d, entry, "reason", reason);
        keys = put_child(d, entry, "keys", cJSON_CreateArray());
        for (size_t k = i; k < trajectory_output_count; k++)
            if (x->left_out[k] == reason)
                put_text(d, keys, NULL, trajectory_outputs[k].key);
    }
}

static void describe_warnings(document *d, const collet_trajectory *x)
{
    cJSON *warnings = put_child(d, d->root, "warnings", cJSON_CreateArray());

    for (size_t i = 0; i < x->n_warnings; i++)
        put_text(d, warnings, NULL, x->warnings[i]);
}

/* Adds name, version and devices of a backend that ran a kernel. */
static void describe_backend(document *d, cJSON *used, const collet_trajectory *x, const char *name)
{
    collet_runtime *runtime = collet_context_runtime(x->context);
    collet_backend_info info;
    cJSON *entry = put_child(d, used, NULL, cJSON_CreateObject()), *capabilities, *devices;
    locale_t before;

    put_text(d, entry, "name", name);
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        memset(&info, 0, sizeof info);
        info.struct_size = sizeof info;
        if (collet_backend_info_at(runtime, &info, i, NULL) != COLLET_OK ||
            strlen(info.name) != strcspn(name, ":") ||
            strncmp(info.name, name, strlen(info.name)) != 0)
            continue;
        put_text(d, entry, "version", info.version);
        put_text(d, entry, "path", info.path);
        before = io_numerals_begin();
        capabilities = cJSON_Parse(info.capabilities);
        io_numerals_end(before);
        devices = cJSON_DetachItemFromObject(capabilities, "devices");
        if (devices != NULL)
            put(d, entry, "devices", devices);
        cJSON_Delete(capabilities);
        return;
    }
}

/* Describes the work of each device, if there are several. */
static void describe_devices(document *d, cJSON *backend, const collet_trajectory *x)
{
    collet_device_share share = {.struct_size = sizeof share};
    cJSON *list = x->lanes ? put_child(d, backend, "devices", cJSON_CreateArray()) : NULL;

    for (size_t i = 0; list && trajectory_lanes_share(x->lanes, &share, i) == COLLET_OK; i++) {
        cJSON *entry = put_child(d, list, NULL, cJSON_CreateObject());
        put_text(d, entry, "device", share.device);
        put_integer(d, entry, "frames", share.done);
        put_number(d, entry, "seconds", share.seconds);
        if (share.error != NULL)
            put_text(d, entry, "error", share.error);
    }
}

/* Returns the names of the chosen devices, or of the context's backend if there are no devices. */
static const char *chosen_devices(const collet_trajectory *x, char *text, size_t size)
{
    size_t used = 0;

    if (x->devices.count == 0)
        return collet_get_backend(x->context);
    for (int64_t i = 0; i < x->devices.count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "",
                                 collet_get_backend(x->devices.contexts[i]));
    return text;
}

static void describe_work(document *d, const collet_trajectory *x)
{
    char choice[4096];
    cJSON *backend = put_child(d, d->root, "backend", cJSON_CreateObject());
    cJSON *used, *counters, *timing;
    const collet_counters *c = &x->ran.counters;
    struct rusage usage;
    double seconds = x->seconds > 0 ? x->seconds : 1e-9;

    put_text(d, backend, "choice", chosen_devices(x, choice, sizeof choice));
    describe_devices(d, backend, x);
    used = put_child(d, backend, "used", cJSON_CreateArray());
    for (int32_t i = 0; i < x->ran.n_backends; i++)
        describe_backend(d, used, x, x->ran.backends[i]);

    counters = put_child(d, d->root, "counters", cJSON_CreateObject());
    put_integer(d, counters, "calls", (int64_t)c->calls);
    put_integer(d, counters, "fallbacks", (int64_t)c->fallbacks);
    put_integer(d, counters, "temporaries", (int64_t)c->temporaries);
    put_integer(d, counters, "bytes_to_device", (int64_t)c->bytes_to_device);
    put_integer(d, counters, "bytes_to_host", (int64_t)c->bytes_to_host);
    put_integer(d, counters, "bytes_direct", (int64_t)c->bytes_direct);

    timing = put_child(d, d->root, "timing", cJSON_CreateObject());
    put_number(d, timing, "wall_s", x->seconds);
    put_number(d, timing, "finishing_s", x->seconds - x->computed_seconds);
    put_number(d, timing, "frames_per_s", (double)x->notes.n_frames / seconds);
    put_number(d, timing, "MB_per_s", (double)x->notes.end_offset * 1e-6 / seconds);
    put_integer(d, timing, "batch_frames", x->batch_frames);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        put_number(d, timing, "peak_memory_MiB", (double)usage.ru_maxrss / 1024);
}

collet_status trajectory_meta_format(const collet_trajectory *x, char **text, collet_error *err)
{
    document d = {cJSON_CreateObject(), 0};
    char *printed = NULL, *shown;
    locale_t before;

    *text = NULL;
    describe_program(&d, x);
    describe_status(&d, x);
    describe_inputs(&d, x);
    describe_choice(&d, x);
    describe_box(&d, x);
    describe_drift(&d, x);
    describe_outputs(&d, x);
    describe_omissions(&d, x);
    describe_warnings(&d, x);
    describe_work(&d, x);
    before = io_numerals_begin();
    if (d.root != NULL && !d.failed)
        printed = cJSON_Print(d.root);
    io_numerals_end(before);
    cJSON_Delete(d.root);
    shown = printed != NULL ? io_utf8_json(printed) : NULL;
    if (shown != NULL && asprintf(text, "%s\n", shown) < 0)
        *text = NULL;
    free(shown);
    cJSON_free(printed);
    if (*text == NULL)
        return collet_fail(err, COLLET_NO_MEMORY, "meta file: out of memory");
    return COLLET_OK;
}
