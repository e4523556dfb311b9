/* SPDX-License-Identifier: Apache-2.0 */
/* The XDP program of a scheme with maps and helpers in this process, for tests
 * to give frames. Compiled once for each scheme, whose name is SCHEME_NAME; its
 * other symbols are local to the object (build.rs). */
#include <string.h>

#include "packet_sizes.h"

#include "common/native.h"
#include "switch/switch.bpf.c"

#include "packet_world.h"

static struct packet_world world;
static struct packet_run *running;

void between_accesses(void) {}

/* An entry of an array, NULL beyond its end. */
#define ENTRY(map, entries)                                                    \
  if (from == (void *)&(map))                                                  \
    return index < sizeof(world.entries) / sizeof(world.entries[0])            \
               ? (void *)&world.entries[index]                                 \
               : NULL;

/* The scheme's own maps. */
#define STORAGE(name, entries, type) static type name##_entries[entries]
#define OWN_ENTRY(name, entries, type)                                         \
  if (from == (void *)&(name))                                                 \
  return index < (entries) ? (void *)&name##_entries[index] : NULL
#define CLEAR(name, entries, type)                                             \
  memset(name##_entries, 0, sizeof(name##_entries))

SCHEME_MAPS(STORAGE)

static void *destination_of(const struct address *address) {
  for (int i = 0; i < WORLD_HOSTS; i++)
    if (!memcmp(&world.addresses[i], address, sizeof(*address)))
      return &world.destinations[i];
  return NULL;
}

void *bpf_map_lookup_elem(void *from, const void *key) {
  __u32 index;

  if (from == (void *)&destinations)
    return destination_of(key);
  index = *(const __u32 *)key;
  ENTRY(config, config)
  ENTRY(ports, ports)
  ENTRY(meters, meters)
  ENTRY(tor_groups, tor_groups)
  ENTRY(groups, groups)
  ENTRY(near_interfaces, numbers)
  ENTRY(verdicts, verdicts)
  ENTRY(port_counts, port_counts)
  ENTRY(scheme_counts, scheme_counts)
  ENTRY(answers_paid, answers_paid)
  SCHEME_MAPS(OWN_ENTRY)
  return NULL;
}

__u64 bpf_ktime_get_ns(void) { return running->now; }

/* Bits that a test has again with the same frames. */
__u32 bpf_get_prandom_u32(void) { return mix(running->now, 0x5eed); }

__u64 bpf_xdp_get_buff_len(struct xdp_md *ctx) {
  return ctx->data_end - ctx->data;
}

long bpf_xdp_load_bytes(struct xdp_md *ctx, __u32 offset, void *to,
                        __u32 bytes) {
  if ((__u64)offset + bytes > ctx->data_end - ctx->data)
    return -1;
  memcpy(to, (const void *)(ctx->data + offset), bytes);
  return 0;
}

long bpf_xdp_adjust_head(struct xdp_md *ctx, int delta) {
  unsigned long start = ctx->data + delta;

  if (start < (unsigned long)running->memory ||
      start + ETH_HLEN > ctx->data_end)
    return -1;
  ctx->data = start;
  return 0;
}

long bpf_xdp_adjust_tail(struct xdp_md *ctx, int delta) {
  unsigned long end = ctx->data_end + delta;

  if (delta > 0 || end < ctx->data + ETH_HLEN)
    return -1;
  ctx->data_end = end;
  return 0;
}

long bpf_redirect_map(void *map, __u64 key, __u64 flags) {
  running->replicated = flags & BPF_F_BROADCAST;
  running->to = key;
  return map ? XDP_REDIRECT : XDP_ABORTED;
}

__s64 bpf_csum_diff(__be32 *from, __u32 from_size, __be32 *to, __u32 to_size,
                    __u32 seed) {
  __u64 sum = seed;

  for (__u32 i = 0; i < from_size / 4; i++)
    sum += ~from[i];
  for (__u32 i = 0; i < to_size / 4; i++)
    sum += to[i];
  while (sum >> 32)
    sum = (sum & 0xffffffff) + (sum >> 32);
  return sum;
}

#define JOINED(a, b, c) a##b##c
#define ENTRY_POINT(name, end) JOINED(switch_packet_, name, end)

/* Makes the tables empty. */
void ENTRY_POINT(SCHEME_NAME, _reset)(int is_tor, __u32 choice) {
  (void)choice;
  world = (struct packet_world){};
  SCHEME_MAPS(CLEAR)
  fill_config(&world.config[0], is_tor);
  fill_ports(&world);
  fill_routes(&world, is_tor);
#ifdef SCHEME_READS_FIELDS
  fill_cflb(&cflb_prepared_entries[0], choice);
#endif
}

/* The verdict whose count is not that of before, if that is one more and all
 * others are the same. */
static __u32 verdict_since(const struct count *before) {
  __u32 found = PACKET_NO_VERDICT;

  for (__u32 i = 0; i < SWITCH_VERDICTS; i++) {
    __u64 more = world.verdicts[i].packets - before[i].packets;

    if (more > 1 || (more && found != PACKET_NO_VERDICT))
      return PACKET_NO_VERDICT;
    if (more)
      found = i;
  }
  return found;
}

/* Runs the program on a frame. */
void ENTRY_POINT(SCHEME_NAME, _run)(struct packet_run *run) {
  struct xdp_md frame = {
      .data = (unsigned long)run->memory + run->start,
      .data_end = (unsigned long)run->memory + run->end,
      .ingress_ifindex = run->port,
  };
  struct count before[SWITCH_VERDICTS];

  memcpy(before, world.verdicts, sizeof(before));
  running = run;
  run->action = heddle_switch(&frame);
  run->verdict = verdict_since(before);
  run->start = frame.data - (unsigned long)run->memory;
  run->end = frame.data_end - (unsigned long)run->memory;
}
