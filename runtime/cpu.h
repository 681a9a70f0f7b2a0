/* SPDX-License-Identifier: MIT
 *
 * The reference path: contract, sections 2 to 4, in plain C. What the tests compare kernels with
 * and what runs where there is no GPU. Shares only the variant, axes.def and the offsets of the
 * public header with the templates.
 */
#ifndef MXQ_CPU_H
#define MXQ_CPU_H

#include <mxq/mxq.h>

/* Quantizes or dequantizes host tensors. The arguments were checked (mxq_variant_check,
 * mxq_shape_check, pointers): this cannot fail. */
void mxq_cpu_run(const struct mxq_variant *variant, const struct mxq_shape *shape,
                 const struct mxq_pointers *pointers);

/* Moves host scales from one layout to another. The arguments were checked (relayout.c). */
void mxq_cpu_relayout(const struct mxq_relayout_args *args);

#endif
