/* SPDX-License-Identifier: Apache-2.0 */
/* A run of a scheme's XDP program in this process. */
#pragma once

#include <linux/types.h>

#define PACKET_UPLINKS 8
#define PACKET_NO_VERDICT 0xffffffff

/* A frame from `start` to `end` of `memory`; after the run, as the program left
 * it. */
struct packet_run {
  __u8 *memory;
  __u64 now;
  __u32 start;
  __u32 end;
  __u32 port;       /* of arrival: 0, or an uplink, 1 to PACKET_UPLINKS */
  __u32 to;         /* of departure, if the frame was redirected */
  __u32 replicated; /* it was to several ports */
  __u32 action;     /* enum xdp_action */
  __u32 verdict; /* enum switch_counter; PACKET_NO_VERDICT: none, or more than
                    one */
  __u32 pad;
};
