/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - the group of a morphology that has the datasets of its materials. */
#pragma once

#include <hdf5.h>
#include <stdint.h>

#define SCATTER_NAME_SIZE 80 /* bytes of the name of a dataset with its NUL */

/* Returns the path of the group. `vectors` 0: /Euler_Angles. 1: /Vector_Morphology; or /vector_morphology, the name
 * that CyRSoXS 1.1 wrote, if the file has only this group. */
const char *scatter_group(hid_t file, int vectors);
/* 1 if the file has the group. */
int scatter_has_group(hid_t file, int vectors);
/* Writes the path of the dataset `what` of material m, from 0. */
void scatter_name_dataset(char name[SCATTER_NAME_SIZE], hid_t file, int vectors, int64_t m, const char *what);
