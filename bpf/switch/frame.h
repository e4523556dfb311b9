/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A frame at its hook: tc's ingress, or XDP with HEDDLE_XDP defined. */
#pragma once

#ifdef HEDDLE_XDP
#include "switch/frame_xdp.h"
#else
#include "switch/frame_tc.h"
#endif
