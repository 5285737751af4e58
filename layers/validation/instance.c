/* SPDX-License-Identifier: Apache-2.0 */
/* The list of instances: each has the table of a backend and the table of the layer for it.
 * Tests: tests/layers/test_validation.c */
#include "validation.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static instance *instances;

void instance_lock(void)
{
    pthread_mutex_lock(&lock);
}

void instance_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

instance *instance_over(const collet_plugin *below)
{
    instance *i = instances;
    while (i && i->below != below)
        i = i->next;
    return i;
}

void instance_add(instance *i)
{
    i->next = instances;
    instances = i;
}

const collet_kernel_row *instance_row(const instance *i, uint32_t row)
{
    const char *first = (const char *)i->below->kernels;
    return (const collet_kernel_row *)(const void *)(first + (size_t)row * i->below->kernel_size);
}

uint64_t instance_hash(uint64_t sum, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
    return sum;
}

uint64_t instance_sum(const collet_plugin *p)
{
    uint64_t sum = instance_hash(1, p, p->struct_size);
    sum = instance_hash(sum, p->kernels, (size_t)p->kernel_count * p->kernel_size);
    return instance_hash(sum, p->ops, (size_t)p->op_count * p->op_size);
}

void instance_check(call *c, const instance *i)
{
    if (instance_sum(i->below) != i->sum)
        call_wrong(c, PLUGIN, "its table, rows or ops were changed; they must be constant");
}

instance *instance_of(const collet_plugin *table)
{
    pthread_mutex_lock(&lock);
    instance *i = instances;
    while (i && &i->table != table)
        i = i->next;
    pthread_mutex_unlock(&lock);
    return i;
}
