/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for the whole program on frames: as large as they are configured
 * (packet_world.h), since each input of a fuzzer empties them. */
#pragma once

#define SWITCH_TORS 8
#define FLOWLET_SLOTS 64
#define MAPPING_ROWS 64
#define ASSOCIATION_SLOTS 64
#define MEMO_SETS 16
