/* SPDX-License-Identifier: MIT
 *
 * Families, the forms that their kernels have, and the tiles that each has kernels for.
 */
#ifndef MXQ_GEN_SCHEDULE_H
#define MXQ_GEN_SCHEDULE_H

#include <stddef.h>

#include "kernel_id.h"

struct mxq_family_facts {
  enum mxq_family family;
  const char *token;
  unsigned needs_tma;
};

/* How many families plans choose from: mxq_family_at. */
enum { MXQ_FAMILIES_PLANNED = 2 };

/* NULL for a number that is no family; by index NULL past the end: those that plans choose from,
 * the preferred ones first; with `every`, those that no plan has too. */
const struct mxq_family_facts *mxq_family_facts(unsigned family);
const struct mxq_family_facts *mxq_family_at(size_t index);
const struct mxq_family_facts *mxq_family_every(size_t index);

/* One form of kernel: its template, and how its geometry follows from its tile. */
struct mxq_form_facts {
  enum mxq_form form;
  const char *template_file;
  void (*geometry)(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
};
const struct mxq_form_facts *mxq_form_facts(const struct mxq_kernel_id *id);

/* What of a variant decides schedules and geometry. */
struct mxq_traits {
  unsigned dequantize;
  unsigned in_bits, out_bits;
  unsigned held;             /* the type of an element in a tile kernel's registers (MXQ_TYPE_*) */
  unsigned block_n, block_k; /* elements of a block along each axis */
  unsigned along_k;
  unsigned column_major;
  unsigned also;        /* the first of two parts (MXQ_PART_*): the others speak of the second */
  unsigned scale_tiles; /* whether scales are packed and leave by tiles */
};

struct mxq_schedule {
  enum mxq_family family;
  enum mxq_form form;
  unsigned in_bits; /* of the inputs that it is for; 0: all */
  unsigned
      out_bits; /* 4: only for packed column-major codes; 8: only for codes of a byte; 0: all */
  uint16_t tile_n;
  uint16_t tile_k;
  enum mxq_path path;
};

/* The index-th schedule of a family for a variant, the default first; NULL past the end. */
const struct mxq_schedule *mxq_schedule_at(const struct mxq_variant *variant,
                                           enum mxq_family family, size_t index);
/* The one after `schedule`, the default after NULL; for a variant whose types exist. */
const struct mxq_schedule *mxq_schedule_after(const struct mxq_variant *variant,
                                              const struct mxq_traits *traits,
                                              enum mxq_family family,
                                              const struct mxq_schedule *schedule);
/* The kernel that a schedule makes of a variant. */
struct mxq_kernel_id mxq_schedule_kernel(const struct mxq_variant *variant,
                                         const struct mxq_schedule *schedule);

struct mxq_traits mxq_traits_of(const struct mxq_variant *variant);

/* geometry.c: elements of one thread of a row kernel, and a geometry for each form. */
unsigned mxq_row_held(const struct mxq_traits *traits);
void mxq_geometry_tile(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
void mxq_geometry_row(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
void mxq_geometry_strip(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
void mxq_geometry_any(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
void mxq_geometry_any_row(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
/* Sets the blocks of a multiprocessor, for which a thread may use `registers`. */
void mxq_geometry_occupy(struct mxq_geometry *geometry, unsigned registers);

/* geometry_dequant.c */
void mxq_geometry_dequant_tile(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
void mxq_geometry_dequant_row(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
void mxq_geometry_dequant_any(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
void mxq_geometry_relayout(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);

#endif
