/* SPDX-License-Identifier: MIT
 *
 * Faults of the host's part of a launch, for tests/mutants: each changes one number of the plan
 * after the host made and checked it.
 */
#ifndef EMU_FAULT_H
#define EMU_FAULT_H

#include <stdio.h>

#include "tensor_plan.h"

struct emu_fault;

const struct emu_fault *emu_fault_find(const char *name); /* NULL: no such name */
const char *emu_fault_name(const struct emu_fault *fault);
void emu_fault_list(FILE *to); /* a name a line */
/* NULL plants nothing; nor is there anything to plant where nothing is launched. */
void emu_fault_plant(const struct emu_fault *fault, struct mxq_tensor_plan *plan);

#endif
