/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The target of a packet for a service: from its connection id (QUIC), else the flow's entry, else its token, else its
 * owner, else the hash. */
#pragma once

#include "balancer/established.h"
#include "balancer/miss.h"
#include "balancer/quic.h"
#include "balancer/syn.h"
