/* SPDX-License-Identifier: Apache-2.0 */
/* The schemes' headers, for tests to call. */
#include "sizes.h"

#include "common/native.h"
#include "switch/step.h"

__u64 switch_state_bytes(void) { return sizeof(union switch_state); }

int switch_start(const struct step_config *config, union switch_state *state) {
  return scheme_start(config, state);
}

int switch_step(const struct step_config *config, union switch_state *state,
                struct scheme_counters *counts, const struct step_input *input,
                struct step_output *output) {
  return scheme_step(config, state, counts, input, output);
}

__u64 switch_digest(const struct step_config *config,
                    union switch_state *state) {
  return scheme_digest(config, state);
}
