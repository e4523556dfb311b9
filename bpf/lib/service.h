/* SPDX-License-Identifier: Apache-2.0 */
/* Where a packet for a service goes: the flow's entry, else its token, else its owner, else the hash. */
#pragma once

#include "known.h"
#include "opening.h"
#include "unknown.h"
