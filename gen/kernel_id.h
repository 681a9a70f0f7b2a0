/* SPDX-License-Identifier: MIT
 *
 * A kernel: a variant, a family and a schedule; its name, its symbol, and every number that the
 * template and the host must agree on.
 */
#ifndef MXQ_GEN_KERNEL_ID_H
#define MXQ_GEN_KERNEL_ID_H

#include <stddef.h>
#include <stdint.h>

#include <mxq/variant.h>

/* `relayout`: moves scales between layouts; mxq_relayout_variant tells which variants have it.
 * `tma`: the fast kernels, for tensors that meet the rules of the tensor copy engine, whether they
 * move through it or by 16-byte accesses. `any`: generic ones, for every tensor of the contract. */
enum mxq_family { MXQ_FAMILY_TMA = 1, MXQ_FAMILY_ANY = 2, MXQ_FAMILY_RELAYOUT = 3 };

/* How tiles are moved, where a form has a choice. `usual`: as the form does. `direct`: by accesses
 * of each thread, without the copy engine and without shared memory for tiles: fewer steps one
 * after the other, so faster where there is little to move. */
enum mxq_path { MXQ_PATH_USUAL, MXQ_PATH_DIRECT };

/* What a kernel is made of, and which arguments it takes (templates/args.h): tiles through the
 * copy engine, rows by 16-byte accesses, strips of columns by accesses of 4 and 16 bytes, or lines
 * at any address; scales alone. Follows from variant, family and path. */
enum mxq_form {
  MXQ_FORM_TILE,
  MXQ_FORM_ROW,
  MXQ_FORM_STRIP,
  MXQ_FORM_ANY,
  MXQ_FORM_ANY_ROW,
  MXQ_FORM_DEQUANT_TILE,
  MXQ_FORM_DEQUANT_ROW,
  MXQ_FORM_DEQUANT_ANY,
  MXQ_FORM_RELAYOUT
};

/* Compared in full, zero-padded like the variant. The name is <variant>.<family>-<n>x<k>[-direct],
 * for example quantize_bf16_e4m3_b32_rceil_colt_lin.tma-128x128; the symbol has _ for . and -. */
struct mxq_kernel_id {
  struct mxq_variant variant;
  uint8_t family;  /* enum mxq_family */
  uint8_t path;    /* schedule: enum mxq_path */
  uint16_t tile_n; /* and elements of a tile along N and K */
  uint16_t tile_k;
  uint8_t reserved[10];
};

#define MXQ_KERNEL_NAME_SIZE 96

/* An architecture that kernels are compiled for. */
struct mxq_arch {
  const char *name;    /* "90a" */
  unsigned number;     /* 90: compute capability 9.0 */
  unsigned shared_max; /* shared memory of a block, bytes */
  unsigned has_tma;    /* whether the tensor copy engine exists */
  unsigned has_fp8;    /* whether conversions to e4m3 and e5m2 exist */
  unsigned has_narrow; /* whether conversions to e2m3, e3m2, e2m1 and e8m0 exist */
  unsigned use_narrow; /* whether kernels use those: 0 until every one was compared on the arch */
};

/* The arch of a name ("90a" or "90"), or the newest one whose code runs on devices of a compute
 * capability: 80 for 8.0, 8.6 and 8.7, those with a suffix for their own devices alone. An unknown
 * one is MXQ_INVALID_ARGUMENT with the list of those that exist. */
enum mxq_status mxq_arch_parse(const char *name, const struct mxq_arch **arch);
enum mxq_status mxq_arch_of_device(int major, int minor, const struct mxq_arch **arch);
/* The i-th arch, NULL past the end. */
const struct mxq_arch *mxq_arch_at(size_t index);

/* MXQ_INVALID_ARGUMENT, or what mxq_variant_check says: there is no such kernel. */
enum mxq_status mxq_kernel_id_check(const struct mxq_kernel_id *id);
enum mxq_status mxq_kernel_id_name(const struct mxq_kernel_id *id, char *name, size_t size);
enum mxq_status mxq_kernel_id_symbol(const struct mxq_kernel_id *id, char *symbol, size_t size);
/* Reads a kernel's name, or a variant's name, which gives the kernel that a large aligned
 * tensor gets. */
enum mxq_status mxq_kernel_id_parse(const char *name, struct mxq_kernel_id *id);

/* The kernel of a family that a variant's large tensors get on an arch. gen/tune.h has those of
 * smaller ones. */
enum mxq_status mxq_kernel_id_choose(const struct mxq_variant *variant, enum mxq_family family,
                                     const struct mxq_arch *arch, struct mxq_kernel_id *id);
/* The one that a variant's name alone stands for on an arch: of the first family that it has. */
enum mxq_status mxq_kernel_id_default(const struct mxq_variant *variant,
                                      const struct mxq_arch *arch, struct mxq_kernel_id *id);

/* MXQ_UNSUPPORTED: the kernel needs what the arch lacks. */
enum mxq_status mxq_kernel_id_check_arch(const struct mxq_kernel_id *id,
                                         const struct mxq_arch *arch);

/* The variant whose kernel of the family `relayout` moves scales of `scale_bits` between `lin` and
 * the layout `scales`: the code depends on nothing else, so all variants share it. */
struct mxq_variant mxq_relayout_variant(unsigned scale_bits, unsigned scales);

/* What template and host agree on. Offsets are bytes of shared memory. */
struct mxq_geometry {
  unsigned tile_n, tile_k;
  unsigned threads;
  unsigned columns_per_thread; /* neighbouring columns in one 32-bit word */
  unsigned rows_per_thread;
  unsigned held; /* neighbouring elements of a row in one thread, where rows are moved so */
  unsigned in_offset, in_bytes;
  unsigned out_offset, out_bytes;
  unsigned also_offset;   /* the tile of the first of two parts */
  unsigned maxima_offset; /* what threads tell each other of blocks */
  unsigned scales_offset; /* packed scales of a tile */
  unsigned barrier_offset;
  unsigned shared_bytes;
  unsigned blocks_per_sm; /* for __launch_bounds__ */
  unsigned blocks_best; /* of a multiprocessor: more are slower; 0: as many as there is room for */
};
void mxq_geometry_of(const struct mxq_kernel_id *id, struct mxq_geometry *geometry);
/* No more blocks than an arch's multiprocessor has shared memory for, where it has less than the
 * geometry counts on (228 KB, as sm_90 and sm_100): its threads may use more registers then. */
void mxq_geometry_fit(struct mxq_geometry *geometry, const struct mxq_arch *arch);
/* Bytes of shared memory that a launch asks for: more than the kernel uses where that keeps more
 * blocks than blocks_best from one multiprocessor. */
unsigned mxq_geometry_asks(const struct mxq_geometry *geometry, const struct mxq_arch *arch);

#endif
