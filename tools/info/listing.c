/* SPDX-License-Identifier: Apache-2.0 */
/* The text report: a line for each backend, or the details of one backend.
 * Tests: tests/tools/test_info.c */
#include "info.h"

#include "common/output.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_WIDTH 22

typedef struct text {
    char bytes[2048];
    size_t length;
} text;

static const char *yes_no(int32_t value)
{
    return value ? "yes" : "no";
}

static void COLLET_PRINTF(2, 3) add(text *t, const char *format, ...)
{
    va_list arguments;
    size_t capacity = sizeof t->bytes - t->length;
    va_start(arguments, format);
    int length = vsnprintf(t->bytes + t->length, capacity, format, arguments);
    va_end(arguments);
    if (length > 0)
        t->length += (size_t)length < capacity ? (size_t)length : capacity - 1;
}

/* ---- Values of capabilities -------------------------------------------------------------- */

static int32_t counts_bytes(const char *member)
{
    return strstr(member, "bytes") || strstr(member, "memory");
}

/* Adds a value. Commas separate members of objects and elements of lists at every depth. */
static void add_value(text *t, const cJSON *value)
{
    char size[TOOL_SIZE_TEXT];
    if (cJSON_IsString(value)) {
        add(t, "%s", value->valuestring);
    } else if (cJSON_IsBool(value)) {
        add(t, "%s", yes_no(cJSON_IsTrue(value)));
    } else if (cJSON_IsNull(value)) {
        add(t, "unknown");
    } else if (cJSON_IsNumber(value)) {
        if (value->string && counts_bytes(value->string))
            add(t, "%s", tool_size_format(size, value->valuedouble));
        else
            add(t, "%.10g", value->valuedouble);
    } else {
        for (const cJSON *member = value->child; member; member = member->next) {
            add(t, "%s%s%s", member == value->child ? "" : ", ",
                member->string ? member->string : "", member->string ? " " : "");
            add_value(t, member);
        }
    }
}

/* ---- A line for each backend ------------------------------------------------------------- */

/* Adds a device as "AMD EPYC, x86-64-v4, 2 threads": its name, and the members in which devices of the
 * same kind differ. */
static void add_device(text *t, const cJSON *device)
{
    static const char *const shown[][2] = {
        {"isa", ""}, {"threads", " threads"}, {"type", ""}, {"memory_total", " memory"}};
    add_value(t, cJSON_GetObjectItemCaseSensitive(device, "name"));
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const cJSON *member = cJSON_GetObjectItemCaseSensitive(device, shown[i][0]);
        if (!member)
            continue;
        add(t, ", ");
        add_value(t, member);
        add(t, "%s", shown[i][1]);
    }
}

static void add_devices(text *t, const collet_backend_info *backend)
{
    cJSON *root = cJSON_Parse(backend->capabilities);
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(root, "devices");
    const cJSON *device;
    cJSON_ArrayForEach(device, devices)
    {
        if (device != devices->child)
            add(t, "; ");
        add_device(t, device);
    }
    cJSON_Delete(root);
}

/* The backend of a program that does not choose a backend. */
typedef struct selected {
    collet_setting setting;
    size_t index;        /* the index of the backend; SIZE_MAX: none */
    const char *item;    /* the name in the setting if it names a device without a number */
    char text[256];      /* contains `item` */
    collet_error reason; /* why there is no backend */
} selected;

static size_t first_usable(const collet_runtime *runtime)
{
    collet_backend_info b = {.struct_size = sizeof b};
    for (size_t i = 0; i < collet_backend_count(runtime); i++)
        if (collet_backend_info_at(runtime, &b, i, NULL) == COLLET_OK &&
            b.state != COLLET_BACKEND_UNAVAILABLE)
            return i;
    return SIZE_MAX;
}

static size_t find_name(const collet_runtime *runtime, const char *name, size_t length,
                        collet_backend_info *backend)
{
    for (size_t i = 0; i < collet_backend_count(runtime); i++) {
        *backend = (collet_backend_info){.struct_size = sizeof *backend};
        if (collet_backend_info_at(runtime, backend, i, NULL) == COLLET_OK &&
            strlen(backend->name) == length && !strncmp(backend->name, name, length))
            return i;
    }
    return SIZE_MAX;
}

/* Selects the first name of the list that can be chosen. */
static void select_item(selected *s, const collet_runtime *runtime, collet_context *context)
{
    collet_backend_info b;
    char *rest = s->text, *item;
    snprintf(s->text, sizeof s->text, "%s", s->setting.value);
    while (s->index == SIZE_MAX && (item = strsep(&rest, ","))) {
        item += strspn(item, " \t");
        item[strcspn(item, " \t")] = '\0';
        size_t length = strcspn(item, ":");
        if (collet_set_backend(context, item) != COLLET_OK)
            continue;
        s->index = find_name(runtime, item, length, &b);
        if (item[length] && item[length + 1 + strspn(item + length + 1, "0123456789")])
            s->item = item;
    }
}

/* Selects the backend of the setting. If the setting names backends, they are tried as in every program. */
static void select_backend(selected *s, collet_runtime *runtime)
{
    collet_context *context = NULL;
    *s = (selected){.setting = {.struct_size = sizeof s->setting}, .index = SIZE_MAX};
    for (size_t i = 0; i < collet_setting_count(runtime); i++)
        if (collet_setting_at(runtime, &s->setting, i, NULL) == COLLET_OK &&
            !strcmp(s->setting.key, "backend"))
            break;
    if (!strcmp(s->setting.value, "auto"))
        s->index = first_usable(runtime);
    else if (collet_context_create(runtime, &context, &s->reason) == COLLET_OK)
        select_item(s, runtime, context);
    collet_context_destroy(context);
}

/* Green: programs can use the backend. Yellow: perhaps they can, or only by the name of a device. */
static tool_paint state_paint(const collet_backend_info *backend, const char *item)
{
    return item || backend->state == COLLET_BACKEND_USABLE                       ? TOOL_GREEN
           : backend->state == COLLET_BACKEND_UNPROVEN || backend->named_devices ? TOOL_YELLOW
                                                                                 : TOOL_RED;
}

/* Prints the line of a backend; `item` is the member of `selected`, or NULL. */
static void print_line(const collet_backend_info *backend, int width, int32_t chosen,
                       const char *item)
{
    text t = {.length = 0};
    if (item)
        add(&t, "%s", item);
    else if (*backend->reason)
        add(&t, "%s", backend->reason);
    else
        add_devices(&t, backend);
    int indent = printf("%c %-*s  ", chosen ? '*' : ' ', width, backend->name);
    fputs(tool_colour(stdout, state_paint(backend, item)), stdout);
    indent +=
        printf("%-13s  ", item ? info_state_word(COLLET_BACKEND_USABLE) : info_state_text(backend));
    fputs(tool_colour(stdout, TOOL_PLAIN), stdout);
    wrap_print(t.bytes, indent);
}

static void add_none(text *t, const selected *s)
{
    int32_t automatic = !strcmp(s->setting.value, "auto");
    add(t, "the setting backend = %s (%s) selects no usable backend%s%s", s->setting.value,
        s->setting.source, automatic ? "." : ": ", automatic ? "" : s->reason.text);
}

static void print_selected(const collet_runtime *runtime, const info_options *options,
                           const selected *s)
{
    collet_backend_info backend = {.struct_size = sizeof backend};
    text t = {.length = 0};
    int32_t automatic = !strcmp(s->setting.value, "auto");
    if (s->index == SIZE_MAX)
        add_none(&t, s);
    else if (automatic)
        add(&t, "* is selected by auto.");
    else
        add(&t, "* is selected by the setting backend = %s (%s).", s->setting.value,
            s->setting.source);
    if (collet_backend_info_at(runtime, &backend, s->index, NULL) == COLLET_OK &&
        backend.state == COLLET_BACKEND_UNPROVEN)
        add(&t, " Only its first use shows whether it can be loaded.");
    if (s->index != SIZE_MAX || automatic)
        add(&t, " %s NAME shows details of a backend.", options->called);
    putchar('\n');
    wrap_print(t.bytes, 0);
}

int32_t info_has_selected(collet_runtime *runtime)
{
    selected s;
    text t = {.length = 0};
    select_backend(&s, runtime);
    if (s.index != SIZE_MAX)
        return 1;
    add_none(&t, &s);
    tool_complain("backend-info", tool_shown(t.bytes));
    return 0;
}

int32_t info_list_backends(collet_runtime *runtime, const info_options *options)
{
    collet_backend_info backend = {.struct_size = sizeof backend};
    size_t count = collet_backend_count(runtime);
    selected s;
    int width = 0;
    select_backend(&s, runtime);
    for (size_t i = 0; i < count; i++)
        if (collet_backend_info_at(runtime, &backend, i, NULL) == COLLET_OK &&
            (int)strlen(backend.name) > width)
            width = (int)strlen(backend.name);
    for (size_t i = 0; i < count; i++)
        if (collet_backend_info_at(runtime, &backend, i, NULL) == COLLET_OK)
            print_line(&backend, width, i == s.index, i == s.index ? s.item : NULL);
    if (count) {
        print_selected(runtime, options, &s);
        info_list_missing(runtime, options);
        return s.index != SIZE_MAX;
    }
    puts("no backend was found. Searched:");
    info_list_directories(runtime);
    puts("COLLET_PLUGIN_PATH sets other directories; --why shows every step.");
    return 0;
}

/* ---- Details of one backend -------------------------------------------------------------- */

static void print_label(int depth, const char *label)
{
    label = tool_shown(label);
    printf("%*s%-*s", 2 * depth, "", LABEL_WIDTH - 2 * depth, label);
    if ((int)strlen(label) >= LABEL_WIDTH - 2 * depth)
        putchar(' ');
}

static void print_text(int depth, const char *label, const char *value)
{
    print_label(depth, label);
    wrap_print(value, LABEL_WIDTH);
}

/* Prints a member; an object gets a line for each of its members. */
static void print_member(int depth, const cJSON *member)
{
    if (cJSON_IsObject(member)) {
        printf("%*s%s\n", 2 * depth, "", tool_shown(member->string));
        for (const cJSON *inner = member->child; inner; inner = inner->next)
            print_member(depth + 1, inner);
        return;
    }
    text t = {.length = 0};
    add_value(&t, member);
    print_text(depth, member->string, t.bytes);
}

static int32_t is_shown_elsewhere(const char *member)
{
    static const char *const shown[] = {"jit",          "parallel", "gpu",
                                        "device_count", "devices",  "reason"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!strcmp(member, shown[i]))
            return 1;
    return 0;
}

static void print_device(const cJSON *device, const char *backend, int32_t index)
{
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(device, "name");
    text label = {.length = 0}, value = {.length = 0};
    add(&label, "%s:%d", backend, index);
    add_value(&value, name);
    print_text(1, label.bytes, value.bytes);
    for (const cJSON *member = device->child; member; member = member->next)
        if (member != name)
            print_member(2, member);
}

static void print_capabilities(const collet_backend_info *backend, int32_t only)
{
    cJSON *root = cJSON_Parse(backend->capabilities);
    const cJSON *devices = cJSON_GetObjectItemCaseSensitive(root, "devices");
    const cJSON *device;
    int32_t index = 0;

    print_label(1, "devices");
    printf("%" PRIu32 "\n", backend->device_count);
    cJSON_ArrayForEach(device, devices)
    {
        if (only < 0 || index == only)
            print_device(device, backend->name, index);
        index++;
    }
    for (const cJSON *member = root ? root->child : NULL; member; member = member->next)
        if (!is_shown_elsewhere(member->string))
            print_member(1, member);
    cJSON_Delete(root);
}

void info_print_backend(const collet_backend_info *backend, const info_options *options)
{
    text t = {.length = 0};
    int indent = printf("%s%s%s: ", backend->name, *backend->version ? " " : "", backend->version);
    if (options->named)
        add(&t, "%s as %s:%s", info_state_text(backend), backend->name, options->named);
    else
        add(&t, "%s%s%s", info_state_text(backend), *backend->reason ? ": " : "", backend->reason);
    wrap_print(t.bytes, indent);
    if (backend->abi) {
        print_label(1, "plugin interface");
        printf("%" PRIu32 ".%" PRIu32 "\n", backend->abi >> 16, backend->abi & 0xffffu);
        print_label(1, "features");
        printf("jit %s, parallel %s, gpu %s\n", yes_no(backend->jit), yes_no(backend->parallel),
               yes_no(backend->gpu));
        print_label(1, "priority");
        printf("%" PRId32 "\n", backend->priority);
        print_label(1, "kernels");
        printf("%" PRIu32 "\n", backend->kernel_count);
    }
    if (options->named) {
        text label = {.length = 0};
        add(&label, "kernels of %s", options->named);
        print_label(1, label.bytes);
        printf("%" PRIu32 "\n", options->named_kernels);
    } else if (*backend->capabilities) {
        print_capabilities(backend, options->device);
    }
    print_text(1, "path", backend->path);
    if (*backend->calibration)
        print_text(1, "calibration", backend->calibration);
}
