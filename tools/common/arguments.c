/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_info.c, tests/tools/test_bench.c */
#include "arguments.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/output.h"
#include "io/decimal.h"

#include <collet/collet.h>
#include <stdio.h>

void tool_error(const struct argp_state *state, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    argp_error(state, "%s%s%s", tool_colour(stderr, TOOL_RED),
               text != NULL ? tool_shown(text) : "out of memory", tool_colour(stderr, TOOL_PLAIN));
    free(text);
}

int64_t tool_parse_count(struct argp_state *state, const char *name, const char *text,
                         int64_t minimum)
{
    int64_t value;

    if (!io_decimal_parse_integer(text, strlen(text), &value) || value < minimum)
        tool_error(state, "%s: '%s' is not a whole number from %lld to %lld", name, text,
                   (long long)minimum, (long long)INT64_MAX);
    return value;
}

int64_t tool_parse_threads(struct argp_state *state, const char *text)
{
    int64_t count = tool_parse_count(state, "--threads", text, 1);
    if (count > INT32_MAX)
        tool_error(state, "--threads: '%s' is more than %d", text, INT32_MAX);
    return count;
}

void tool_add_text(struct argp_state *state, const char *name, const char *text, const char **list,
                   int32_t most)
{
    int32_t count = 0;
    while (list[count])
        count++;
    if (count == most)
        tool_error(state, "%s: at most %d are possible", name, most);
    list[count] = text;
}

int tool_is_plugin_file(const char *text)
{
    size_t length = strlen(text);

    return strchr(text, '/') != NULL || (length > 3 && strcmp(text + length - 3, ".so") == 0);
}

tool_form tool_form_of(const char *name)
{
    static const char *const endings[] = {".npz", ".csv", ".xvg", ".h5"};
    size_t length = strlen(name);

    if (length > 1 && name[length - 1] == '/')
        return TOOL_FORM_DIRECTORY;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (length > n && strcmp(name + length - n, endings[i]) == 0)
            return TOOL_FORM_FILE;
    }
    return TOOL_FORM_UNKNOWN;
}

const char *tool_parse_name(const struct argp_state *state, const char *option, const char *text)
{
    if (*text == '\0')
        tool_error(state, "%s: the name is empty", option);
    return text;
}

const char *tool_parse_output(const struct argp_state *state, const char *option, const char *name)
{
    if (strcmp(name, "-") == 0)
        tool_error(state, "%s: the output must be a file, not '-'; ./- is a file of that name",
                   option);
    return tool_parse_name(state, option, name);
}

/* Opens the descriptors of closed standard streams, so that reading and writing them fails. Otherwise a
 * file that the program opens would get such a descriptor, and printed text would go to that file. */
static void hold_closed_streams(void)
{
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && (fd < STDERR_FILENO || open("/dev/null", O_WRONLY) < 0))
            open("/", O_PATH);
}

static void tool_print_version(FILE *stream, struct argp_state *state)
{
    (void)state;
    fprintf(stream, "%s %s (libcore %s)\n", program_invocation_short_name, COLLET_VERSION,
            collet_version());
}

static int parsing;

/* Runs at the end of the program. Fails if --help, --usage or --version could not be printed: argp ignores this. */
static void check_help(void)
{
    if (parsing && !tool_flush(program_invocation_short_name, NULL))
        _exit(EXIT_FAILURE);
}

void tool_parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input)
{
    hold_closed_streams();
    if (atexit(check_help) == 0)
        parsing = 1;
    argp_program_version_hook = tool_print_version;
    argp_err_exit_status = TOOL_EXIT_USAGE;
    error_t failed = argp_parse(parser, argc, argv, flags, NULL, input);
    parsing = 0;
    if (!failed)
        return;
    fprintf(stderr, "%s: the command line cannot be read: %s\n", program_invocation_short_name,
            strerror(failed));
    exit(TOOL_EXIT_USAGE);
}

static error_t parse_help(int key, char *text, struct argp_state *state)
{
    (void)text;
    if (key != 'h')
        return ARGP_ERR_UNKNOWN;
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    return 0;
}

static const struct argp_option help_options[] = {{NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1}, {0}};
static const struct argp help = {.options = help_options, .parser = parse_help};

const struct argp_child tool_short_help[] = {{&help, 0, NULL, 0}, {0}};
