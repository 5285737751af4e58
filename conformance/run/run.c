/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/conformance/test_kit.c, tests/conformance/test_broken.c */
#include "kit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct row_run {
    const kit_session *session;
    kit_result *result;
    int sample[KIT_SAMPLE];
    int larges, large; /* number of the row's large cases: in all; so far */
} row_run;

/* The number of the input that shares memory is added to these texts. */
static const char *const mode_names[KIT_MODES] = {
    [KIT_PLAIN] = "",
    [KIT_IN_PLACE] = "in place: output 0 is input",
    [KIT_SAME_VIEW] = "in place: output 0 is a second view of input",
    [KIT_ALL_IN_PLACE] = "in place: output 0 is every input, from input",
    [KIT_BEHIND] = "overlap: output 0 begins one element after input",
    [KIT_AHEAD] = "overlap: output 0 begins one element ahead of input",
    [KIT_BACKWARDS] = "overlap: output 0 has the reversed elements of input",
    [KIT_PARTS] = "called in parts",
};

static const char *const layout_names[KIT_LAYOUTS] = {
    "owned",    "dense", "unaligned", "transposed", "stepped",
    "reversed", "mixed", "repeated",  "within",     "rows",
};

/* ---- Descriptions -------------------------------------------------------------------------- */

static void append_numbers(char text[KIT_TEXT], const char *brackets, int32_t count,
                           const int64_t *numbers)
{
    kit_append(text, "%c", brackets[0]);
    for (int32_t i = 0; i < count; i++)
        kit_append(text, "%s%" PRId64, i ? "," : "", numbers[i]);
    kit_append(text, "%c", brackets[1]);
}

static void append_choice(char text[KIT_TEXT], const char *words, int index)
{
    for (; index > 0 && strchr(words, ' '); index--)
        words = strchr(words, ' ') + 1;
    kit_append(text, "=%.*s", (int)strcspn(words, " "), words);
}

/* Appends name and value of the field at `at` of the parameters; nothing for a default value. */
static void describe_field(const collet_ops_field *f, const void *at, int32_t axes,
                           char text[KIT_TEXT])
{
    const collet_scalar *scalar = at;
    bool is_scalar = f->kind == COLLET_FIELD_SCALAR;
    long double value = !is_scalar      ? kit_value(f->dtype, at)
                        : scalar->dtype ? kit_value(scalar->dtype, scalar->value.bytes)
                                        : 0; /* not generated yet */
    char number[64];
    kit_format_long(value, number);
    if (f->kind == COLLET_FIELD_RANK || f->kind == COLLET_FIELD_POINTER ||
        (is_scalar && !scalar->dtype) || (!is_scalar && value == (long double)f->default_value))
        return;
    kit_append(text, " %s", f->name);
    if (is_scalar)
        kit_append(text, "=%s %s", collet_dtype_name(scalar->dtype), number);
    else if (f->kind == COLLET_FIELD_AXES)
        kit_append(text, "=0x%x", (unsigned)value);
    else if (f->kind == COLLET_FIELD_CHOICE)
        append_choice(text, f->choices, (int)value);
    else if (f->kind == COLLET_FIELD_NUMBER)
        kit_append(text, "=%s", number);
    for (int32_t i = 0; f->kind == COLLET_FIELD_PERMUTATION && i < axes; i++)
        kit_append(text, "%c%d", i ? ',' : '=', (int)((const int32_t *)at)[i]);
}

static void describe_params(const kit_case *c, char text[KIT_TEXT])
{
    const collet_ops_info *op = &c->row->info;
    const char *block = (const char *)&c->params, *field = (const char *)op->fields;
    for (uint32_t i = 0; i < op->field_count; i++, field += op->field_size) {
        const collet_ops_field *f = (const void *)field;
        describe_field(f, block + f->offset, kit_in(c, 0)->ndim, text);
    }
}

static void describe_operand(const kit_case *c, const kit_operands *o, uint32_t k,
                             char text[KIT_TEXT])
{
    const kit_tensor *t = &c->operand[k];
    kit_append(text, "%s", k == c->row->info.n_out ? " <- " : " ");
    if (t->dtype == COLLET_DTYPE_NONE) {
        kit_append(text, "absent");
        return;
    }
    kit_append(text, "%s", collet_dtype_name(t->dtype));
    append_numbers(text, "()", t->ndim, t->shape);
    if (c->layout[k] != KIT_DENSE)
        kit_append(text, " %s", layout_names[c->layout[k]]);
    if (o && c->layout[k] != KIT_DENSE && c->layout[k] != KIT_UNALIGNED)
        append_numbers(text, "{}", t->ndim, o->strides[k]);
    kit_append(text, "%s", k + 1 < c->row->operands && k + 1 != c->row->info.n_out ? "," : "");
}

static void describe(const kit_case *c, const kit_operands *o, char text[KIT_TEXT])
{
    text[0] = '\0';
    kit_append(text, "case %d: %s", c->number, c->row->info.name);
    for (uint32_t k = 0; k < c->row->operands; k++)
        describe_operand(c, o, k, text);
    describe_params(c, text);
    if (c->row->info.id == COLLET_OP_EVALUATE)
        kit_evaluate_text(c, text);
    if (c->data[0])
        kit_append(text, "; %s", c->data);
    if (c->mode != KIT_PLAIN)
        kit_append(text, "; %s", mode_names[c->mode]);
    if (c->mode != KIT_PLAIN && c->mode != KIT_PARTS)
        kit_append(text, " %u", c->target);
}

void kit_describe(const kit_case *c, char text[KIT_TEXT])
{
    describe(c, NULL, text);
}

/* ---- Calling ------------------------------------------------------------------------------- */

static const void *params_of(const kit_case *c)
{
    return c->row->info.params_size ? &c->params : NULL;
}

static collet_status call(const kit_session *s, const kit_case *c, collet_array *const *arrays)
{
    const collet_array *ins[KIT_OPERANDS] = {0};
    for (uint32_t k = 0; k < c->row->info.n_in; k++)
        ins[k] = arrays[c->row->info.n_out + k];
    return collet_call(s->context, c->row->info.id, arrays, ins, params_of(c));
}

/* Calls one part: operands with the split axis are sliced to [start, start + count). */
static collet_status call_part(const kit_session *s, const kit_case *c, const kit_operands *o,
                               int64_t start, int64_t count)
{
    collet_array *part[KIT_OPERANDS] = {0}, *own[KIT_OPERANDS] = {0};
    collet_status status = COLLET_OK;
    for (uint32_t k = 0; k < c->row->operands && status == COLLET_OK; k++) {
        int32_t axis = o->array[k] ? kit_split_axis(c, k) : -1;
        part[k] = o->array[k];
        if (axis < 0)
            continue;
        status = collet_array_slice(s->context, o->array[k], &own[k], axis, start, count, 1);
        part[k] = own[k];
    }
    if (status == COLLET_OK)
        status = call(s, c, part);
    for (uint32_t k = 0; k < c->row->operands; k++)
        collet_array_destroy(own[k]);
    return status;
}

static collet_status call_in_parts(const kit_session *s, const kit_case *c, const kit_operands *o)
{
    int64_t extent = c->operand[0].shape[kit_split_axis(c, 0)];
    int64_t cuts[] = {0, (extent + 2) / 3, extent - extent / 4, extent};
    collet_status status = COLLET_OK;
    for (int i = 0; i < 3 && status == COLLET_OK; i++)
        status = call_part(s, c, o, cuts[i], cuts[i + 1] - cuts[i]);
    return status;
}

/* A refused call must leave the outputs unchanged. */
static void check_refused(const kit_case *c, kit_verdict *v)
{
    if (c->mode != KIT_PLAIN && c->mode != KIT_PARTS)
        return;
    for (uint32_t k = 0; k < c->row->info.n_out; k++)
        for (size_t i = 0; i < (size_t)c->operand[k].count * collet_dtype_size(c->operand[k].dtype);
             i++)
            if (c->operand[k].data[i] != 0xff) {
                kit_fail(
                    v,
                    "the call was refused but output %u was written: return COLLET_REFUSED only "
                    "before anything is enqueued",
                    k);
                return;
            }
}

static void call_and_judge(const kit_session *s, kit_case *c, kit_operands *o, kit_verdict *v)
{
    kit_conduct before;
    kit_conduct_take(&before, s->output);
    collet_status status = c->mode == KIT_PARTS ? call_in_parts(s, c, o) : call(s, c, o->array);
    if (status == COLLET_OK)
        status = collet_finish(s->context);
    kit_conduct_check(&before, s->output, v);
    /* Overlapping operands need a temporary copy, for which the backend may have no kernel. */
    bool overlaps = c->mode == KIT_BEHIND || c->mode == KIT_AHEAD || c->mode == KIT_BACKWARDS ||
                    (c->mode != KIT_PLAIN && c->mode != KIT_PARTS && !c->row->info.alias);
    v->refused = status == COLLET_REFUSED || (status == COLLET_UNSUPPORTED && overlaps);
    if (status != COLLET_OK && !v->refused) {
        kit_fail(v, "the call failed: %s: %s", collet_status_name(status),
                 collet_last_error(s->context));
        return;
    }
    status = kit_operands_gather(s->context, c, o, v);
    if (status != COLLET_OK)
        kit_fail(v, "the results cannot be read: %s", collet_last_error(s->context));
    else if (v->refused)
        check_refused(c, v);
    else if (strcmp(collet_last_backend(s->context), s->backend) && c->operand[0].count > 0)
        kit_fail(v, "the call ran on '%s' instead of '%s'", collet_last_backend(s->context),
                 s->backend);
    else
        c->row->kit->judge(c, v);
}

/* ---- Cases --------------------------------------------------------------------------------- */

static kit_rng rng_of(const kit_session *s, const kit_case *c)
{
    kit_rng rng = {.state = s->seed * 0x2545f4914f6cdd1du};
    for (const char *p = c->row->info.name; *p; p++)
        rng.state = rng.state * 31 + (unsigned char)*p;
    for (const char *p = c->row->sig; *p; p++)
        rng.state = rng.state * 31 + (unsigned char)*p;
    rng.state = rng.state * 1000003 + (uint64_t)c->number;
    (void)kit_next(&rng);
    return rng;
}

static void note(kit_result *result, const kit_case *c, const kit_operands *o, const kit_verdict *v)
{
    char where[KIT_TEXT];
    result->cases++;
    result->refused += v->refused;
    result->empty += c->operand[0].count == 0;
    if (v->limit && (!result->limit || v->worst > result->worst)) {
        result->worst = v->worst;
        result->error = v->error;
        result->limit = v->limit;
    }
    if (!v->failed)
        return;
    if (result->failures++ > 0)
        return;
    result->first = c->number;
    describe(c, o, where);
    snprintf(result->text, sizeof result->text, "%.900s: %.600s", where, v->text);
}

static void count_large(void *user, const kit_case *c)
{
    row_run *run = user;
    run->larges += c->big;
}

/* Selects `large` of a row's large cases, evenly spread. Rows start at different cases, so that the
 * rows of an op together cover more. */
static bool takes_large(row_run *run, const kit_row *row)
{
    int chosen = run->session->large, shift = 0;
    if (chosen == 0)
        return false;
    if (chosen < 0 || chosen >= run->larges)
        return true;
    for (const char *p = row->sig; *p; p++)
        shift = (shift * 31 + *p) % run->larges;
    return kit_spread((run->large++ + shift) % run->larges, run->larges, chosen);
}

bool kit_spread(int index, int count, int chosen)
{
    return chosen >= count || (int64_t)index * chosen % count < chosen;
}

static bool is_left_out(row_run *run, const kit_case *c)
{
    const kit_session *s = run->session;
    if (s->only >= 0)
        return c->number != s->only;
    for (size_t i = 0; s->sample && i < KIT_SAMPLE; i++)
        if (run->sample[i] == c->number)
            return false;
    return s->sample || (c->big && !takes_large(run, c->row));
}

static void run_case(void *user, const kit_case *planned)
{
    row_run *run = user;
    const kit_session *s = run->session;
    kit_case c = *planned;
    kit_operands operands = {0};
    kit_verdict verdict = {0};
    char text[KIT_TEXT];
    if (is_left_out(run, &c))
        return;
    kit_describe(&c, text);
    s->progress(s->user, c.number, text);
    kit_rng rng = rng_of(s, &c);
    for (uint32_t k = 0; k < c.row->operands; k++)
        kit_allocate(&c.operand[k]);
    for (uint32_t k = 0; k < c.row->info.n_out; k++)
        memset(c.operand[k].data, 0xff,
               (size_t)c.operand[k].count * collet_dtype_size(c.operand[k].dtype));
    c.row->kit->generate(&c, &rng);
    if (kit_operands_create(s->context, &c, &operands, &rng) != COLLET_OK)
        kit_fail(&verdict, "the operands cannot be created: %s", collet_last_error(s->context));
    else
        call_and_judge(s, &c, &operands, &verdict);
    note(run->result, &c, &operands, &verdict);
    kit_operands_destroy(&operands);
    for (uint32_t k = 0; k < c.row->operands; k++)
        free(c.operand[k].data);
}

void kit_run_row(const kit_session *session, const kit_row *row, kit_result *result)
{
    row_run run = {.session = session, .result = result};
    kit_plan plan = {.row = row, .run = count_large, .user = &run};
    *result = (kit_result){.first = -1};
    int threads = kit_thread_count();
    kit_process before, after;
    char text[KIT_TEXT];
    kit_process_take(&before);
    if (session->sample)
        kit_sample_row(row, run.sample);
    else if (session->large > 0)
        row->kit->plan(&plan);
    plan = (kit_plan){.row = row, .run = run_case, .user = &run};
    row->kit->plan(&plan);
    result->planned = plan.next;
    /* A backend may refuse programs with certain steps: libcore then computes these op by op. */
    bool whole = row->info.id != COLLET_OP_EVALUATE;
    if (whole && result->refused > 0 && result->refused >= result->cases - result->empty &&
        result->failures++ == 0)
        snprintf(result->text, sizeof result->text,
                 "the backend refused every case of this row: remove the row from its table if it "
                 "supports none");
    /* A plugin may create a pool of threads, but not a new thread for each call. */
    int more = kit_thread_count() - threads;
    if (result->cases > 20 && more >= result->cases / 2 && result->failures++ == 0)
        snprintf(result->text, sizeof result->text,
                 "conduct: %d calls left %d more threads than there were; reuse a pool of threads",
                 result->cases, more);
    kit_process_take(&after);
    if (!kit_process_same(&before, &after, 0, text) && result->failures++ == 0)
        snprintf(result->text, sizeof result->text, "%s", text);
}

/* ---- Families ------------------------------------------------------------------------------ */

const kit_op *kit_op_find(uint32_t op)
{
#define TABLE(table) table,
    static const kit_op *const families[] = {KIT_TABLES(TABLE)};
#undef TABLE
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const kit_op *k = families[f]; k->op; k++)
            if (k->op == op)
                return k;
    return NULL;
}
