/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_top.c, tests/fuzz/fuzz_trajectory.c */
#include "preprocessor.h"

#include "io/letters.h"
#include "trajectory/formats/growth.h"
#include "trajectory/formats/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const installed[] = {"/usr/share/gromacs/top",
                                        "/usr/local/gromacs/share/gromacs/top"};

/* Sets *path to FOLDER/inner/NAME if there is such a file, else to NULL. Returns 0 if there is no
 * memory. */
static int try_folder(trajectory_word folder, const char *inner, trajectory_word name, char **path)
{
    if (asprintf(path, "%.*s%s%.*s", (int)folder.length, folder.text, inner, (int)name.length,
                 name.text) < 0) {
        *path = NULL;
        return 0;
    }
    if (access(*path, R_OK) != 0) {
        free(*path);
        *path = NULL;
    }
    return 1;
}

static trajectory_word word_of(const char *text)
{
    return (trajectory_word){text, strlen(text)};
}

/* Returns the folder in a file's path, with its last '/'; "" if the path has no folder. */
static trajectory_word folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return (trajectory_word){file, slash ? (size_t)(slash - file) + 1 : 0};
}

/* Tries each folder of a list; ':' separates folders, as in PATH. */
static int try_list(const char *list, trajectory_word name, char **path)
{
    while (*list && !*path) {
        trajectory_word folder = {list, strcspn(list, ":")};

        if (folder.length > 0 && !try_folder(folder, "/", name, path))
            return 0;
        list += folder.length + (list[folder.length] == ':');
    }
    return 1;
}

static int search(const char *file, const char *root, trajectory_word name, char **path)
{
    const char *library = secure_getenv("GMXLIB"), *data = secure_getenv("GMXDATA");

    if (*name.text == '/')
        return try_folder(word_of(""), "", name, path);
    int memory = try_folder(folder_of(file), "", name, path);
    if (memory && !*path)
        memory = try_folder(folder_of(root), "", name, path);
    if (memory && !*path && library)
        memory = try_list(library, name, path);
    if (memory && !*path && data)
        memory = try_folder(word_of(data), "/top/", name, path);
    for (size_t i = 0; i < sizeof installed / sizeof *installed && memory && !*path; i++)
        memory = try_folder(word_of(installed[i]), "/", name, path);
    return memory;
}

/* Sets *path, which the caller frees, to the file `name` of an #include in the line `where`. Searches the
 * folder of the including file, the folder of the first file `root`, the folders of the environment variable
 * GMXLIB, `top` in GMXDATA, and the folders where Debian and GROMACS install such files. COLLET_FORMAT with the
 * folders searched if there is no such file; COLLET_NO_MEMORY. */
static collet_status trajectory_top_find(const io_lines *where, const char *root,
                                         trajectory_word name, char **path, collet_error *err)
{
    *path = NULL;
    if (!search(where->source->path, root, name, path))
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory for the path of an included file",
                           where->source->path);
    if (*path)
        return COLLET_OK;
    return trajectory_text_fail(
        where, err,
        "#include \"%.*s\": there is no such file next to this one, in GMXLIB, in GMXDATA/top or "
        "in "
        "%s; set GMXLIB to the folder that has it (share/gromacs/top of GROMACS), or give a file "
        "without #include: gmx grompp -pp all.top writes one",
        (int)(name.length < 200 ? name.length : 200), name.text, installed[0]);
}

#define SHOWN(n) ((int)((n) < 60 ? (n) : 60))
#define MAX_EXPANSIONS 16 /* depth of macros within the texts of macros */
#define MAX_INCLUDED 10000

static collet_status no_memory(const trajectory_top_lines *top, collet_error *err)
{
    return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it",
                       top->files[0]->source->path);
}

const io_lines *trajectory_top_where(const trajectory_top_lines *top)
{
    return &top->files[top->depth - 1]->lines;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static trajectory_word trim(trajectory_word text)
{
    while (text.length > 0 && is_blank(*text.text)) {
        text.text++;
        text.length--;
    }
    while (text.length > 0 && is_blank(text.text[text.length - 1]))
        text.length--;
    return text;
}

static trajectory_word without_comment(trajectory_word text)
{
    const char *comment = memchr(text.text, ';', text.length);

    if (comment)
        text.length = (size_t)(comment - text.text);
    return trim(text);
}

/* ---- Files ------------------------------------------------------------------------------- */

collet_status trajectory_top_open(trajectory_top_lines *top, io_source *source, collet_error *err)
{
    top->raw = malloc(TRAJECTORY_TOP_LINE);
    top->line = malloc(TRAJECTORY_TOP_LINE);
    top->files[0] = calloc(1, sizeof *top->files[0]);
    if (!top->raw || !top->line || !top->files[0])
        return collet_fail(err, COLLET_NO_MEMORY, "%s: no memory to read it", source->path);
    *top->files[0] =
        (trajectory_top_file){.source = source, .lines = {.source = source, .number = 1}};
    top->depth = 1;
    return COLLET_OK;
}

static collet_status include(trajectory_top_lines *top, trajectory_word name, collet_error *err)
{
    char *path;

    if (top->depth == TRAJECTORY_TOP_DEPTH || ++top->n_included > MAX_INCLUDED)
        return trajectory_text_fail(trajectory_top_where(top), err,
                                    "#include \"%.*s\": files include each other %s; does one of "
                                    "them include itself?",
                                    SHOWN(name.length), name.text,
                                    top->depth == TRAJECTORY_TOP_DEPTH ? "too deeply"
                                                                       : "too often");
    collet_status status = trajectory_top_find(trajectory_top_where(top),
                                               top->files[0]->source->path, name, &path, err);
    if (status != COLLET_OK)
        return status;
    trajectory_top_file *file = calloc(1, sizeof *file);
    status = file ? io_source_open(&file->own, path, &top->files[0]->source->poll, err) : no_memory(top, err);
    free(path);
    if (status != COLLET_OK) {
        free(file);
        return status;
    }
    file->source = &file->own;
    file->lines = (io_lines){.source = &file->own, .number = 1};
    file->n_conditions = top->n_conditions;
    top->files[top->depth++] = file;
    return COLLET_OK;
}

/* At the end of an included file, returns to the file that includes it; *more is 0 at the end of the first file. */
static collet_status leave(trajectory_top_lines *top, int *more, collet_error *err)
{
    trajectory_top_file *file = top->files[top->depth - 1];

    if (top->n_conditions > file->n_conditions)
        return collet_fail(
            err, COLLET_FORMAT,
            "%s:%lld: the file ends before the #endif of the #ifdef or #ifndef in line %lld",
            file->source->path, (long long)file->lines.number,
            (long long)top->conditions[top->n_conditions - 1].line);
    *more = top->depth > 1;
    if (*more) {
        io_source_close(&file->own);
        free(file);
        top->depth--;
    }
    return COLLET_OK;
}

void trajectory_top_close(trajectory_top_lines *top)
{
    for (int i = 1; i < top->depth; i++) {
        io_source_close(&top->files[i]->own);
        free(top->files[i]);
    }
    free(top->files[0]);
    for (int64_t i = 0; i < top->n_texts; i++)
        free(top->texts[i]);
    free(top->texts);
    free(top->raw);
    free(top->line);
    trajectory_dictionary_clear(&top->macros);
}

/* ---- Macros ------------------------------------------------------------------------------ */

static int is_identifier(char c)
{
    return io_is_upper(c) || io_is_lower(c) || (c >= '0' && c <= '9') || c == '_';
}

static collet_status define(trajectory_top_lines *top, trajectory_word name, trajectory_word text,
                            collet_error *err)
{
    if (!trajectory_grow(&top->texts, top->n_texts, 1, &top->texts_capacity, sizeof *top->texts))
        return no_memory(top, err);
    top->texts[top->n_texts] = strndup(text.text, text.length);
    if (!top->texts[top->n_texts] || !trajectory_dictionary_set(&top->macros, name, top->n_texts++))
        return no_memory(top, err);
    return COLLET_OK;
}

/* Appends a text to top->line, which has *n bytes, and replaces macros. A macro without a text, for #ifdef, is not
 * replaced. Returns 0 if the line becomes too long or macros refer to each other in a circle. */
static int expand(const trajectory_top_lines *top, trajectory_word text, int depth, size_t *n)
{
    const char *at = text.text, *end = at + text.length;

    while (at < end) {
        trajectory_word word = {at, 0};
        int64_t macro = -1;

        while (word.text + word.length < end && is_identifier(word.text[word.length]))
            word.length++;
        if (word.length > 0)
            macro = trajectory_dictionary_find(&top->macros, word);
        else
            word.length = 1;
        at += word.length;
        if (macro >= 0 && top->texts[macro][0] != '\0') {
            trajectory_word inner = {top->texts[macro], strlen(top->texts[macro])};
            if (depth == MAX_EXPANSIONS || !expand(top, inner, depth + 1, n))
                return 0;
            continue;
        }
        if (word.length > TRAJECTORY_TOP_LINE - *n)
            return 0;
        memcpy(top->line + *n, word.text, word.length);
        *n += word.length;
    }
    return 1;
}

/* ---- Directives -------------------------------------------------------------------------- */

static collet_status open_condition(trajectory_top_lines *top, int active, collet_error *err)
{
    if (top->n_conditions == TRAJECTORY_TOP_CONDITIONS)
        return trajectory_text_fail(trajectory_top_where(top), err,
                                    "more than %d conditions inside each other",
                                    TRAJECTORY_TOP_CONDITIONS);
    top->conditions[top->n_conditions++] =
        (trajectory_top_condition){trajectory_top_where(top)->number - 1, active, 0};
    top->n_inactive += !active;
    return COLLET_OK;
}

static collet_status change_condition(trajectory_top_lines *top, int is_else, collet_error *err)
{
    const trajectory_top_file *file = top->files[top->depth - 1];
    trajectory_top_condition *condition = NULL; /* the last condition of this file */

    if (top->n_conditions > file->n_conditions)
        condition = &top->conditions[top->n_conditions - 1];
    if (!condition || (is_else && condition->was_else))
        return trajectory_text_fail(&file->lines, err, "%s without #ifdef or #ifndef",
                                    is_else ? "#else" : "#endif");
    top->n_inactive -= !condition->active;
    if (is_else) {
        condition->active = !condition->active;
        condition->was_else = 1;
        top->n_inactive += !condition->active;
    } else {
        top->n_conditions--;
    }
    return COLLET_OK;
}

/* Returns the name between quotation marks or angle brackets; length 0 if there is none. */
static trajectory_word quoted(trajectory_word text)
{
    char last = text.length > 0 && *text.text == '<' ? '>' : '"';
    const char *end = text.length > 1 ? memchr(text.text + 1, last, text.length - 1) : NULL;

    if (!end || (*text.text != '<' && *text.text != '"'))
        return (trajectory_word){text.text, 0};
    return (trajectory_word){text.text + 1, (size_t)(end - text.text) - 1};
}

static int is_word(trajectory_word word, const char *text)
{
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

/* 1 for all directives that begin with #if or #elif, including unknown directives. */
static int is_condition(trajectory_word directive)
{
    return (directive.length >= 2 && memcmp(directive.text, "if", 2) == 0) ||
           is_word(directive, "elif");
}

static collet_status define_or_refuse(trajectory_top_lines *top, trajectory_word directive,
                                      trajectory_word name, trajectory_word text, collet_error *err)
{
    if (is_word(directive, "define"))
        return define(top, name, text, err);
    if (is_word(directive, "undef"))
        return trajectory_dictionary_set(&top->macros, name, -1) ? COLLET_OK : no_memory(top, err);
    return trajectory_text_fail(trajectory_top_where(top), err,
                                "#%.*s is unknown; #include, #define, #undef, #ifdef, #ifndef, "
                                "#else and #endif are read",
                                SHOWN(directive.length), directive.text);
}

/* Executes the directive of a line that begins with '#'. */
static collet_status run_directive(trajectory_top_lines *top, trajectory_word line,
                                   collet_error *err)
{
    trajectory_word words[2] = {{NULL, 0}}, rest = without_comment(line);

    rest.text++;
    rest.length--;
    size_t n = trajectory_text_split(rest.text, rest.length, words, 2);
    const char *after = n > 0 ? words[n - 1].text + words[n - 1].length : rest.text;
    trajectory_word directive = n > 0 ? words[0] : rest, name = words[1];
    trajectory_word text =
        trim((trajectory_word){after, (size_t)(rest.text + rest.length - after)});

    if (is_word(directive, "else") || is_word(directive, "endif"))
        return change_condition(top, is_word(directive, "else"), err);
    if (top->n_inactive > 0 && !is_condition(directive))
        return COLLET_OK;
    if (is_word(directive, "include")) {
        const char *from = directive.text + directive.length;
        name = quoted(trim((trajectory_word){from, (size_t)(rest.text + rest.length - from)}));
        if (name.length > 0)
            return include(top, name, err);
    }
    if ((n < 2 && !is_word(directive, "elif")) || is_word(directive, "include"))
        return trajectory_text_fail(trajectory_top_where(top), err, "#%.*s needs a name%s",
                                    SHOWN(directive.length), directive.text,
                                    is_word(directive, "include") ? " in \"\"" : "");
    if (is_word(directive, "ifdef") || is_word(directive, "ifndef"))
        return open_condition(top,
                              (trajectory_dictionary_find(&top->macros, name) >= 0) ==
                                  is_word(directive, "ifdef"),
                              err);
    return define_or_refuse(top, directive, name, text, err);
}

/* ---- Lines ------------------------------------------------------------------------------- */

/* Copies a line and its continuations to top->raw. */
static collet_status join(trajectory_top_lines *top, trajectory_word line, trajectory_word *joined,
                          collet_error *err)
{
    io_lines *lines = &top->files[top->depth - 1]->lines;
    size_t n = 0;

    for (;;) {
        int goes_on = line.length > 0 && line.text[line.length - 1] == '\\';

        line.length -= (size_t)goes_on;
        if (line.length + 1 > TRAJECTORY_TOP_LINE - n)
            return trajectory_text_fail(lines, err,
                                        "a line with its continuations has more than "
                                        "%d bytes",
                                        TRAJECTORY_TOP_LINE - 1);
        memcpy(top->raw + n, line.text, line.length);
        n += line.length;
        top->raw[n++] = ' ';
        if (!goes_on)
            break;
        collet_status status = io_lines_next(lines, &line.text, &line.length, err);
        if (status != COLLET_OK)
            return status;
        if (!line.text)
            break;
        line = trim(line);
    }
    *joined = without_comment((trajectory_word){top->raw, n});
    return COLLET_OK;
}

/* Reads one line of the innermost file. The length of *line is 0 if the line is not to be returned; *more is
 * 0 after the last line. */
static collet_status read_line(trajectory_top_lines *top, trajectory_word *line, int *more,
                               collet_error *err)
{
    io_lines *lines = &top->files[top->depth - 1]->lines;
    collet_status status = io_lines_next(lines, &line->text, &line->length, err);

    if (status != COLLET_OK)
        return status;
    if (!line->text) {
        line->length = 0;
        return leave(top, more, err);
    }
    *line = trim(*line);
    if (line->length > 0 && *line->text == '#') {
        trajectory_word directive = *line;
        line->length = 0;
        return run_directive(top, directive, err);
    }
    if (top->n_inactive > 0)
        line->length = 0;
    return line->length > 0 ? join(top, *line, line, err) : COLLET_OK;
}

collet_status trajectory_top_next(trajectory_top_lines *top, const char **text, size_t *length,
                                  collet_error *err)
{
    trajectory_word line = {NULL, 0};
    int more = 1;

    *text = NULL;
    *length = 0;
    while (more && line.length == 0) {
        collet_status status = read_line(top, &line, &more, err);
        if (status != COLLET_OK)
            return status;
    }
    if (!more)
        return COLLET_OK;
    if (!expand(top, line, 0, length))
        return trajectory_text_fail(trajectory_top_where(top), err,
                                    "the line is longer than %d bytes with its macros, or these "
                                    "contain each other",
                                    TRAJECTORY_TOP_LINE);
    *text = top->line;
    return COLLET_OK;
}

static uint64_t hash(trajectory_word name)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < name.length; i++)
        value = (value ^ (uint8_t)name.text[i]) * UINT64_C(0x100000001b3);
    return value ^ value >> 32;
}

/* Returns the slot of a name; if the name is absent, the empty slot into which it belongs. */
static int64_t *find_slot(const trajectory_dictionary *d, trajectory_word name)
{
    for (uint64_t at = hash(name);; at++) {
        int64_t *slot = &d->slots[at & (d->n_slots - 1)];
        const char *other = *slot >= 0 ? d->entries[*slot].name : NULL;

        if (!other || (strlen(other) == name.length && memcmp(other, name.text, name.length) == 0))
            return slot;
    }
}

static int make_slots(trajectory_dictionary *d)
{
    size_t n = d->n_slots > 0 ? 2 * d->n_slots : 64;
    int64_t *slots = malloc(n * sizeof *slots);

    if (!slots)
        return 0;
    free(d->slots);
    d->slots = slots;
    d->n_slots = n;
    memset(slots, 0xff, n * sizeof *slots);
    for (int64_t i = 0; i < d->n; i++)
        *find_slot(d, (trajectory_word){d->entries[i].name, strlen(d->entries[i].name)}) = i;
    return 1;
}

int64_t trajectory_dictionary_find(const trajectory_dictionary *d, trajectory_word name)
{
    int64_t i = d->n_slots > 0 ? *find_slot(d, name) : -1;

    return i >= 0 ? d->entries[i].value : -1;
}

int trajectory_dictionary_set(trajectory_dictionary *d, trajectory_word name, int64_t value)
{
    if (2 * (size_t)d->n >= d->n_slots && !make_slots(d))
        return 0;
    int64_t *slot = find_slot(d, name);
    if (*slot < 0) {
        if (!trajectory_grow(&d->entries, d->n, 1, &d->capacity, sizeof *d->entries))
            return 0;
        char *copy = strndup(name.text, name.length);
        if (!copy)
            return 0;
        d->entries[d->n] = (trajectory_dictionary_entry){copy, value};
        *slot = d->n++;
    }
    d->entries[*slot].value = value;
    return 1;
}

void trajectory_dictionary_clear(trajectory_dictionary *d)
{
    for (int64_t i = 0; i < d->n; i++)
        free(d->entries[i].name);
    free(d->entries);
    free(d->slots);
    memset(d, 0, sizeof *d);
}
