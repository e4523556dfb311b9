/* SPDX-License-Identifier: Apache-2.0 */
/* The schemes' counters. */

counter(COUNTS, CounterType.packets) scheme_counters;
