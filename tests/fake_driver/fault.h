/* SPDX-License-Identifier: MIT */
#ifndef MXQ_TESTS_FAKE_FAULT_H
#define MXQ_TESTS_FAKE_FAULT_H

#include "job.h"

/* Kinds of FAKE_FAULT, of the last output: code (its last byte is wrong), scale (likewise), beyond
 * (the byte after its codes is written), input (the input's last byte is), nothing (no output is),
 * crash (the process ends), hang (it does not), illegal (the device takes no more calls). */

/* 1: the kernel does nothing. */
int fake_fault_before(const char *symbol);
void fake_fault_after(const char *symbol, const struct fake_job *job);
/* The same after scales were moved: scale, beyond, input. */
void fake_fault_after_move(const char *symbol, const struct mxq_relayout_args *args);
/* What every call that waits answers. */
CUresult fake_sticky(void);

#endif
