/* SPDX-License-Identifier: MIT
 *
 * A stand-in for libnvrtc.so.13: "compiles" in no time to a file that begins like a cubin and holds
 * the kernel's symbol and a hash of its source. The variable FAKE_NVRTC may hold
 *   version=12.3    what it says its version is; else what the file `version` beside it says
 *   fail=N          the N-th call fails (from 1; see fake_nvrtc_fail)
 *   log=FILE        each compile appends a line with the process's number
 *   milliseconds=N  a compile takes that long
 */
#ifndef MXQ_TESTS_FAKE_NVRTC_H
#define MXQ_TESTS_FAKE_NVRTC_H

/* To be found with dlsym in the opened library. Counting starts anew; 0: no call fails. */
typedef void (*fake_nvrtc_fail_fn)(unsigned long nth);
/* What a compile takes from now on. */
typedef void (*fake_nvrtc_slow_fn)(long milliseconds);
/* Programs that were created and not destroyed. */
typedef long (*fake_nvrtc_programs_fn)(void);
/* Calls since then that can fail. */
typedef unsigned long (*fake_nvrtc_calls_fn)(void);

#endif
