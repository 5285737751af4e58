/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_omp_places.c, tests/worker/test_worker.c */
#include "places.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Functions of the program's OpenMP runtime; the plugin itself is not linked to an OpenMP runtime. */
typedef struct places {
    int (*count)(void);
    int (*processors)(int place);
    void (*ids)(int place, int *ids);
} places;

static bool find(places *p)
{
    if (!getenv("OMP_PROC_BIND") && !getenv("OMP_PLACES") && !getenv("GOMP_CPU_AFFINITY"))
        return false;
    /* If a library of the program has loaded the runtime, its functions may not be in the global scope. */
    void *loaded = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *scope = loaded ? loaded : RTLD_DEFAULT;
    *(void **)&p->count = dlsym(scope, "omp_get_num_places");
    *(void **)&p->processors = dlsym(scope, "omp_get_place_num_procs");
    *(void **)&p->ids = dlsym(scope, "omp_get_place_proc_ids");
    if (loaded)
        dlclose(loaded);
    return p->count && p->processors && p->ids;
}

/* Adds the processors of a place to the set; false if the place has more than a set can hold. */
static bool add(const places *p, int place, cpu_set_t *set)
{
    int ids[CPU_SETSIZE], count = p->processors(place);
    if (count > CPU_SETSIZE)
        return false;
    p->ids(place, ids);
    for (int i = 0; i < count; i++)
        CPU_SET((size_t)ids[i], set);
    return true;
}

void places_leave(void)
{
    places p;
    cpu_set_t own, all;
    int count = find(&p) ? p.count() : 0, place = 0;
    if (count < 1 || sched_getaffinity(0, sizeof own, &own) != 0)
        return;
    CPU_ZERO(&all);
    while (place < count && add(&p, place, &all) && (place > 0 || CPU_EQUAL(&all, &own)))
        place++;
    if (place == count)
        (void)sched_setaffinity(0, sizeof all, &all);
}
