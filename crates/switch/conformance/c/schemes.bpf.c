/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The schemes' headers in the kernel: a step of the scheme in `config`, from
 * `input` to `output`, for XDP and for tc. A program for each scheme, so that
 * the verifier sees each by itself. */
#ifndef DEFAULT_SIZES
#include "sizes.h"
#endif

#include "common/native.h"
#include "switch/step.h"

#define ONE_VALUE(name, of)                                                    \
  struct {                                                                     \
    __uint(type, BPF_MAP_TYPE_ARRAY);                                          \
    __uint(max_entries, 1);                                                    \
    __uint(map_flags, BPF_F_MMAPABLE);                                         \
    __type(key, __u32);                                                        \
    __type(value, of);                                                         \
  } name SEC(".maps")

ONE_VALUE(config, struct step_config);
ONE_VALUE(state, union switch_state);
ONE_VALUE(counts, struct scheme_counters);
ONE_VALUE(input, struct step_input);
ONE_VALUE(output, struct step_output);

static __always_inline int run(__u32 scheme) {
  __u32 zero = 0;
  struct step_config *to = bpf_map_lookup_elem(&config, &zero);
  union switch_state *held = bpf_map_lookup_elem(&state, &zero);
  struct scheme_counters *counted = bpf_map_lookup_elem(&counts, &zero);
  struct step_input *from = bpf_map_lookup_elem(&input, &zero);
  struct step_output *decided = bpf_map_lookup_elem(&output, &zero);

  if (!to || !held || !counted || !from || !decided)
    return -1;
  return scheme_step_of(scheme, to, held, counted, from, decided);
}

#define PROGRAMS(name, scheme)                                                 \
  SEC("xdp") int name(struct xdp_md *ctx) {                                    \
    (void)ctx;                                                                 \
    return run(scheme) ? XDP_ABORTED : XDP_PASS;                               \
  }                                                                            \
  SEC("classifier") int name##_tc(struct __sk_buff *ctx) {                     \
    (void)ctx;                                                                 \
    return run(scheme) ? 2 : 0;                                                \
  }
#define PROGRAMS_OF(name, NAME) PROGRAMS(name, SWITCH_##NAME)

SWITCH_SCHEMES(PROGRAMS_OF)
PROGRAMS(dre, STEP_DRE)

char LICENSE[] SEC("license") = "GPL";
