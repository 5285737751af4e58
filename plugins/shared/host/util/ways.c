/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/host/test_ways.c */
#include "ways.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_TEXT 32
#define WARNINGS 3    /* maximum warnings per setting; further skipped items are only counted */
#define ITEM_SHOWN 80 /* bytes */

static const char *const types[WAY_TYPES] = {"f32", "f64", "c64", "c128", "bf16", "i8", "f16"};
static const char *const forms[WAY_FORMS] = {
    "",      "-thin-inner",      "-thin-rows",      "-thin-columns",     "-batch",
    "-page", "-thin-inner-page", "-thin-rows-page", "-thin-columns-page"};
static const char *const ops[WAY_OPS] = {"lu",   "solve", "qr",       "svd",
                                         "eigh", "eig",   "cholesky", "fft"};

static int is_product(int key)
{
    return key < WAY_TYPES * WAY_FORMS;
}

static void key_name(int key, char name[KEY_TEXT])
{
    if (is_product(key)) {
        (void)snprintf(name, KEY_TEXT, "%s%s", types[key / WAY_FORMS], forms[key % WAY_FORMS]);
        return;
    }
    key -= WAY_TYPES * WAY_FORMS;
    (void)snprintf(name, KEY_TEXT, "%s-%s%s", ops[key / 2 / WAY_REAL_AND_COMPLEX],
                   types[key / 2 % WAY_REAL_AND_COMPLEX], key % 2 ? forms[WAY_BATCH] : "");
}

/* Whether the backend has more than one implementation for a key. */
static int has_key(const ways_kind *kind, int key)
{
    if (is_product(key))
        return (kind->types >> (key / WAY_FORMS) & 1) && (kind->forms >> (key % WAY_FORMS) & 1) &&
               (key % WAY_FORMS < WAY_PAGE || key / WAY_FORMS == WAY_F32 ||
                key / WAY_FORMS == WAY_F64);
    key -= WAY_TYPES * WAY_FORMS;
    return (kind->ops >> (key / 2 / WAY_REAL_AND_COMPLEX) & 1) &&
           (key % 2 == 0 || (kind->forms >> WAY_BATCH & 1));
}

/* Whether implementation w computes the calls of a key. */
static int has_way(const ways_kind *kind, way w, int key)
{
    const way_range *range = &kind->range[w];
    if (w == WAY_OWN)
        return 1;
    if (is_product(key))
        return range->types >> (key / WAY_FORMS) & 1;
    key = (key - WAY_TYPES * WAY_FORMS) / 2;
    return (key % WAY_REAL_AND_COMPLEX < WAY_C64 ? range->real : range->complex) >>
               (key / WAY_REAL_AND_COMPLEX) &
           1;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* The implementation of this name; -1: there is none. */
static int way_named(const ways_kind *kind, const char *word, size_t length)
{
    for (int i = 0; kind->names[i]; i++)
        if (strlen(kind->names[i]) == length && memcmp(kind->names[i], word, length) == 0)
            return i;
    return -1;
}

static int key_named(const ways_kind *kind, const char *word, size_t length)
{
    char name[KEY_TEXT];
    for (int key = 0; key < WAY_KEYS; key++) {
        if (!has_key(kind, key))
            continue;
        key_name(key, name);
        if (strlen(name) == length && memcmp(name, word, length) == 0)
            return key;
    }
    return -1;
}

/* Reads a number as printf writes it in the locale C, whatever the current locale is, and moves *at past the
 * number. */
static int read_number(const char **at, const char *end, double *number)
{
    double unit = 0.0;
    int digits = 0;
    *number = 0.0;
    for (; *at < end && ((**at >= '0' && **at <= '9') || (**at == '.' && unit == 0.0)); (*at)++) {
        if (**at == '.') {
            unit = 1.0;
            continue;
        }
        unit *= 0.1;
        *number = unit > 0.0 ? *number + unit * (**at - '0') : 10.0 * *number + (**at - '0');
        digits++;
    }
    return digits > 0;
}

/* "SIDE:WAY=RATE,..." */
static int read_point(const ways_kind *kind, const char *at, const char *end, way_point *p)
{
    *p = (way_point){0};
    if (!read_number(&at, end, &p->side) || p->side <= 0.0 || at == end || *at != ':')
        return 0;
    do {
        const char *word = ++at;
        while (at < end && *at != '=')
            at++;
        int found = way_named(kind, word, (size_t)(at - word));
        if (found < 0 || at == end)
            return 0;
        at++;
        if (!read_number(&at, end, &p->rate[found]))
            return 0;
    } while (at < end && *at == ',');
    return at == end;
}

typedef enum found { MALFORMED, FINE, IMPOSSIBLE } found;

static found read_item(const ways *w, way_list *lists, int32_t calibrated, const char *at,
                       const char *end)
{
    way_point p;
    const char *slash = memchr(at, '/', (size_t)(end - at));
    int key = slash ? key_named(w->kind, at, (size_t)(slash - at)) : -1;
    if (key < 0 || !read_point(w->kind, slash + 1, end, &p))
        return MALFORMED;
    p.calibrated = calibrated;
    if (lists[key].count < WAYS_POINTS)
        lists[key].point[lists[key].count++] = p;
    return FINE;
}

/* Reads a word of the user's setting. "WAY" chooses the implementation for all keys that it
 * computes; other keys use their default. "KEY=WAY" chooses it for KEY; returns IMPOSSIBLE if
 * the implementation does not compute KEY. */
static found read_wish(ways *w, const char *at, const char *end)
{
    const char *equals = memchr(at, '=', (size_t)(end - at)), *word = equals ? equals + 1 : at;
    size_t length = equals ? (size_t)(equals - at) : 0;
    int chosen = way_named(w->kind, word, (size_t)(end - word));
    found result = MALFORMED;
    char name[KEY_TEXT];
    for (int key = 0; key < WAY_KEYS && chosen >= 0 && equals != at; key++) {
        if (!has_key(w->kind, key))
            continue;
        key_name(key, name);
        if (strncmp(name, at, length) != 0 ||
            (length && name[length] != '\0' && name[length] != '-'))
            continue;
        int possible = has_way(w->kind, chosen, key);
        w->forced[key] = (int8_t)(possible ? chosen : WAY_IMPOSSIBLE(chosen));
        result = possible || result == FINE ? FINE : IMPOSSIBLE;
    }
    return result;
}

/* Reads a setting with measurements into `lists`; lists NULL: the user's setting NAME.ways. */
static void read_setting(ways *w, const collet_host *host, const char *setting, way_list *lists)
{
    const char *blanks = lists ? " " : " \t\n,";
    int64_t skipped = 0;
    char key[64];
    (void)snprintf(key, sizeof key, "%s.%s", w->kind->backend, setting);
    const char *at = host->config(host, key);
    for (at = at ? at + strspn(at, blanks) : ""; *at; at += strspn(at, blanks)) {
        const char *item = at;
        at += strcspn(at, blanks);
        found result =
            lists ? read_item(w, lists, lists == w->calibrated, item, at) : read_wish(w, item, at);
        if (result == FINE || ++skipped > WARNINGS)
            continue;
        int shown = at - item < ITEM_SHOWN ? (int)(at - item) : ITEM_SHOWN;
        int word = (int)strcspn(item, "=");
        if (result == IMPOSSIBLE)
            host->log(host, COLLET_LOG_WARNING,
                      "%s: '%.*s' is not possible, and the default is used: %.*s does not "
                      "compute %.*s",
                      key, shown, item, shown - word - 1, item + word + 1, word, item);
        else
            host->log(host, COLLET_LOG_WARNING, "%s: '%.*s' is skipped: it is not %s", key, shown,
                      item, lists ? "KEY/SIDE:WAY=RATE" : "WAY or KEY=WAY (docs/settings.md)");
    }
    if (skipped > WARNINGS)
        host->log(host, COLLET_LOG_WARNING, "%s: %lld more such items", key,
                  (long long)(skipped - WARNINGS));
}

void ways_read(ways *w, const collet_host *host, const ways_kind *kind, int calibrated)
{
    memset(w, 0, sizeof *w);
    memset(w->forced, WAY_NOT_FORCED, sizeof w->forced);
    w->kind = kind;
    if (kind->measured)
        read_setting(w, host, "measured", w->measured);
    if (calibrated)
        read_setting(w, host, "calibrated", w->calibrated);
    read_setting(w, host, "ways", NULL);
}

/* ---- Choosing -------------------------------------------------------------------------------- */

#define SMALLER                                                                                    \
    0.7 /* rates do not apply to sides smaller than this fraction of the smallest measured side */

static const way_point *nearest_of(const way_list *list, double side, double *distance)
{
    const way_point *best = NULL;
    double smallest = INFINITY;
    *distance = INFINITY;
    for (int32_t i = 0; i < list->count; i++) {
        double own = list->point[i].side, d = own > side ? own / side : side / own;
        smallest = fmin(smallest, own);
        if (d < *distance) {
            *distance = d;
            best = &list->point[i];
        }
    }
    return side < SMALLER * smallest ? NULL : best;
}

/* A calibration is preferred if its side is near: it measures longer than the probe, and on all threads. */
static const way_point *nearest(const ways *w, int key, double side)
{
    double by_probe, by_bench;
    const way_point *measured = nearest_of(&w->measured[key], side, &by_probe);
    const way_point *calibrated = nearest_of(&w->calibrated[key], side, &by_bench);
    if (calibrated && (!measured || by_bench <= WAYS_NEAR || by_bench <= by_probe))
        return calibrated;
    return measured;
}

static double factor(const way_point *p, int far)
{
    return (p->calibrated ? WAYS_BETTER_CALIBRATED : WAYS_BETTER) * (far ? WAYS_FAR : 1.0);
}

static int is_far(const way_point *p, double side)
{
    return p && side > WAYS_NEAR * p->side;
}

static way choose(const ways *w, int key, const way_point *p, way usual, int far)
{
    way best = usual;
    if (w->forced[key] != WAY_NOT_FORCED)
        return w->forced[key] >= 0 ? w->forced[key] : usual;
    for (int i = 0; i < WAYS_MAX && p; i++)
        if (p->rate[i] > p->rate[best] * (best == usual ? factor(p, far) : 1.0))
            best = i;
    return best;
}

/* The rates for a call: the rates of its key or, if nothing was measured with -page, the rates
 * of the key without -page. Sets *from to the key whose rates are returned, and *far to 1 if the
 * call differs from the measured calls. */
static const way_point *find(const ways *w, int key, double side, int *from, int *far)
{
    const way_point *p = nearest(w, *from = key, side);
    *far = is_far(p, side);
    if (p || !is_product(key) || key % WAY_FORMS < WAY_PAGE)
        return p;
    *far = 1;
    return nearest(w, *from = key - WAY_PAGE, side);
}

way ways_choose(const ways *w, int key, double side, way usual, const way_point **at)
{
    int from, far;
    const way_point *p = find(w, key, side, &from, &far);
    if (at)
        *at = p;
    return choose(w, key, p, usual, far);
}

way_form ways_form(int64_t rows, int64_t columns, int64_t inner, int page)
{
    int64_t least = rows < columns ? rows : columns, most = rows < columns ? columns : rows;
    int64_t smallest = least < inner ? least : inner;
    int64_t middle = least < inner ? (inner < most ? inner : most) : least;
    way_form form = WAY_SQUARE;
    if (smallest <= WAYS_THIN && 4 * smallest <= middle)
        form = smallest == inner ? WAY_INNER : smallest == rows ? WAY_ROWS : WAY_COLUMNS;
    return page ? form + WAY_PAGE : form;
}

int ways_type(collet_dtype dtype)
{
    return dtype == COLLET_F64    ? WAY_F64
           : dtype == COLLET_C64  ? WAY_C64
           : dtype == COLLET_C128 ? WAY_C128
           : dtype == COLLET_BF16 ? WAY_BF16
           : dtype == COLLET_I8   ? WAY_I8
           : dtype == COLLET_F16  ? WAY_F16
                                  : WAY_F32;
}

int ways_product(int type, int64_t count, int64_t rows, int64_t columns, int64_t inner,
                 double *side)
{
    *side = cbrt((double)rows * (double)columns * (double)inner);
    return WAY_PRODUCT(type, count > 1 ? WAY_BATCH : ways_form(rows, columns, inner, 0));
}

/* ---- Texts ----------------------------------------------------------------------------------- */

void ways_write(text *t, const ways_kind *kind, int key, const way_point *point)
{
    char name[KEY_TEXT];
    const char *separator = ":";
    key_name(key, name);
    text_add(t, "%s%s/%.0f", t->used ? " " : "", name, point->side);
    for (int i = 0; i < WAYS_MAX; i++) {
        if (point->rate[i] <= 0.0)
            continue;
        text_add(t, "%s%s=%.4g", separator, kind->names[i], point->rate[i]);
        separator = ",";
    }
}

static void explain_rates(text *t, const ways *w, const way_point *p, const char *name)
{
    const char *separator = ": ";
    text_add(t, "%s measured for %s at side %.0f",
             p->calibrated ? "backend-bench calibrate" : "the probe", name, p->side);
    for (int i = 0; i < WAYS_MAX; i++) {
        if (p->rate[i] <= 0.0)
            continue;
        text_add(t, "%s%s %.3g", separator, w->kind->names[i], p->rate[i]);
        separator = ", ";
    }
    text_add(t, " GF/s");
}

void ways_explain(text *t, const ways *w, int key, double side, way usual)
{
    int from, far, forced = w->forced[key], faster = 0;
    char name[KEY_TEXT];
    const char *const *names = w->kind->names;
    const way_point *p = find(w, key, side, &from, &far);
    way chosen = choose(w, key, p, usual, far);
    key_name(p ? from : key, name);
    if (forced >= 0) {
        text_add(t, "chosen by the setting %s.ways", w->kind->backend);
    } else if (forced != WAY_NOT_FORCED) {
        text_add(t,
                 "%s is the default; %s, which the setting %s.ways chooses, does not compute %s",
                 names[usual], names[WAY_IMPOSSIBLE(forced)], w->kind->backend, name);
    } else if (!p) {
        text_add(t, "%s is the default; %s was not measured here", names[usual], name);
    } else {
        explain_rates(t, w, p, name);
        for (int i = 0; i < WAYS_MAX; i++)
            faster += p->rate[i] > p->rate[usual];
        if (chosen == usual && faster)
            text_add(t, "; %s is the default, which stays unless another is %.0f %% faster",
                     names[usual], 100.0 * (factor(p, far) - 1.0));
    }
}
