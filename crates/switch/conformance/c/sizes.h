/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for tests: small enough to be copied and hashed after each step. */
#pragma once

#define SWITCH_TORS 64
#define FLOWLET_SLOTS 4096
#define MAPPING_ROWS 4096
#define ASSOCIATION_SLOTS 4096
#define MEMO_SETS 16
