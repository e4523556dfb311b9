/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of the maps of a small switch: ToR 0 of four, with a host at
 * port 0 and eight uplinks, or a switch of a middle tier with the same ports.
 * Tables are small, so that they overflow. */
#pragma once

#include "packet.h"
#include "switch/cflb_prepare.h"
#include "switch/switch_abi.h"

#define WORLD_TORS 4
#define WORLD_SLOTS 64
#define WORLD_HOSTS 4

struct packet_world {
  struct switch_config config[1];
  struct switch_port ports[1 + PACKET_UPLINKS];
  struct port_meter meters[1 + PACKET_UPLINKS];
  __u32 tor_groups[WORLD_TORS];
  struct next_hops groups[2];
  __u32 numbers[1 + PACKET_UPLINKS]; /* of ports + 1, by interface */
  struct address addresses[WORLD_HOSTS];
  struct switch_destination destinations[WORLD_HOSTS];
  struct count verdicts[SWITCH_COUNTERS];
  struct count port_counts[SWITCH_PORTS * PORT_COUNTERS];
  struct scheme_counters scheme_counts[1];
  __u64 answers_paid[ANSWER_KINDS];
};

static void fill_config(struct switch_config *config, bool is_tor) {
  struct hula_config hula = {
      .probe_period = 200000,
      .fail_after = 600000,
      .flowlet_gap = 100000,
      .salt = 1,
      .flowlet_slots = WORLD_SLOTS,
      .tors = WORLD_TORS,
      .is_tor = is_tor,
      .util_bits = 6,
      .local_detection = 1,
  };

  *config = (struct switch_config){
      .up = (1 << (1 + PACKET_UPLINKS)) - 1,
      .abi = SWITCH_ABI,
      .salt = 0x5eed,
      .tors = WORLD_TORS,
      .tor = is_tor ? 0 : SWITCH_NO_TOR,
      .dre_shift = 20,
      .scheme = SCHEME_OF_OBJECT,
      .probe_protocol = 253,
      .answers_v4 = {0, bpf_cpu_to_be64(0xffffc0000201)},
      .answers_v6 = {bpf_cpu_to_be64(0x20010db800000000), 1},
      .mp_hula = {.hula = hula,
                  .idle_after = 1000000,
                  .best_k = 2,
                  .mapping_rows = WORLD_SLOTS,
                  .association_slots = WORLD_SLOTS,
                  .shuttle = {.full_queue_shift = 16, .range_shift = 1, .draws = 2}},
      .conga = {.metric_age = 1000000, .metric_bits = 3},
  };
}

static void fill_ports(struct packet_world *world) {
  for (__u32 port = 0; port <= PACKET_UPLINKS; port++) {
    world->numbers[port] = port + 1;
    world->ports[port] = (struct switch_port){
        .own_mac = 0x02 | (__u64)port << 40,
        .peer_mac = 0x02 | (__u64)(100 + port) << 40,
        .probe_group = (2 << PACKET_UPLINKS) - 2,
        .full = 1 << 20,
        .ifindex = 1 + port,
        .mtu = 1500,
        .role = port ? port % 2 ? ROLE_UP : ROLE_DOWN : ROLE_HOST,
        .learns = port % 2,
    };
  }
}

static void fill_routes(struct packet_world *world, bool is_tor) {
  const __u64 hosts[WORLD_HOSTS][2] = {{0, 0xffff0a000001},
                                       {0, 0xffff0a000101},
                                       {0xfd00000000000000, 1},
                                       {0xfd00000000000000, 2}};

  world->groups[1].count = PACKET_UPLINKS;
  for (__u32 i = 0; i < PACKET_UPLINKS; i++) {
    world->groups[1].ports[i] = 1 + i;
    world->groups[1].set |= 2ULL << i;
  }
  for (__u32 tor = is_tor; tor < WORLD_TORS - 1; tor++)
    world->tor_groups[tor] = 1;
  for (__u32 i = 0; i < WORLD_HOSTS; i++) {
    world->addresses[i] = (struct address){bpf_cpu_to_be64(hosts[i][0]),
                                           bpf_cpu_to_be64(hosts[i][1])};
    world->destinations[i].tor = i % 2;
    world->destinations[i].port = i % 2 || !is_tor ? SWITCH_NO_PORT : 0;
  }
}

#ifdef SCHEME_READS_FIELDS
/* Constants of CFLB, chosen by a number; those of ports and Skip32 if it makes
 * none. */
static void fill_cflb(struct cflb *cflb, __u32 choice) {
  struct cflb_constants constants = {
      .key = "sixteen letters",
      .low = 1024,
      .high = 65535,
      .radix = 8,
      .field = choice % 3,
      .cipher = choice / 3 % 3,
      .rules = choice / 9 % 2,
  };

  if (cflb_prepare(&constants, cflb))
    return;
  constants.field = FIELD_PORTS;
  constants.cipher = CIPHER_SKIP32;
  cflb_prepare(&constants, cflb);
}
#endif
