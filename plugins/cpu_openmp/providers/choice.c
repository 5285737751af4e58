/* SPDX-License-Identifier: Apache-2.0 */
#include "choice.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "choice_parts.h"
#include "library.h"

/* Capabilities are requested twice and by several runtimes; the check is made once. */
static int checked;
static pthread_mutex_t checking = PTHREAD_MUTEX_INITIALIZER;

static const char *setting(const collet_host *host, const char *library, const char *more)
{
    char key[64];
    (void)snprintf(key, sizeof key, "cpu_openmp.%s%s", library, more);
    return host->config(host, key);
}

int choice_refused(const collet_host *host, const char *library, char *reason, uint64_t capacity)
{
    const char *name = setting(host, library, ""), *wrong = setting(host, library, "_refused");
    const char *safe = host->config(host, "cpu_openmp.safe_mode");
    reason[0] = '\0';
    if (name && strcmp(name, "off") == 0)
        (void)snprintf(reason, (size_t)capacity, "switched off by the setting cpu_openmp.%s",
                       library);
    else if (safe && strcmp(safe, "off") != 0)
        (void)snprintf(reason, (size_t)capacity, "not used in safe mode: %s", safe);
    else if (wrong)
        (void)snprintf(reason, (size_t)capacity, "%s", wrong);
    return reason[0] != '\0';
}

int choice_may_open(const collet_host *host, const char *library, const char *usual)
{
    char refused[LIBRARY_REASON];
    const char *name = setting(host, library, "");
    if (choice_refused(host, library, refused, sizeof refused))
        return 0;
    host->log(host, COLLET_LOG_DEBUG, "trying %s", name && name[0] ? name : usual);
    return 1;
}

void choice_add(text *choices, const char *word, const char *value)
{
    text_add(choices, "%s\"%s\": ", choices->used ? ", " : "", word);
    text_quote(choices, value);
}

void choice_add_refusal(text *json, text *choices, const char *library, const char *reason)
{
    char word[64];
    (void)snprintf(word, sizeof word, "%s_refused", library);
    text_add(json, "{\"library\": null, \"reason\": ");
    text_quote(json, reason);
    text_add(json, "}");
    choice_add(choices, word, reason);
}

void choice_describe(const collet_host *host, const isa_level *level, text *json)
{
    char members[4096];
    text choices = {.at = members, .capacity = sizeof members};
    (void)choice_settle(host, level);
    (void)pthread_mutex_lock(&checking);
    if (!checked) {
        choice_openblas_check(host);
        choice_onednn_check(host);
        checked = 1;
    }
    (void)pthread_mutex_unlock(&checking);
    text_add(json, "\"blas\": ");
    choice_openblas_describe(host, json, &choices);
    text_add(json, ", \"onednn\": ");
    choice_onednn_describe(host, json, &choices);
    text_add(json, ", \"choices\": {%s}", choices.used ? members : "");
}

uint32_t choice_settle(const collet_host *host, const isa_level *level)
{
    choice_openblas_settle(host, level);
    return choice_onednn_settle(host, level);
}
