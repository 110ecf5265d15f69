/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Paces libibnetdisc's SMPs: sends as many at a time as the fabric takes.
 *
 * The library keeps a fixed number of SMPs outstanding and has the kernel repeat lost ones, all
 * after the same time.  Here its sends wait for room in a window that adapts to losses, and
 * time-outs adapt to round trips (lib/iba/smp_window.h); the library sees an answer, or the last
 * time-out.
 */
#ifndef QOSD_DISCOVERY_PACED_SMPS_H
#define QOSD_DISCOVERY_PACED_SMPS_H

#include "lib/iba/smp_window.h"

/* Called with an answer before the library gets it; may modify it.  asked is the request's MAD. */
typedef void paced_answer_fn(const void *asked, void *umad, int length);

/*
 * Called once, before anything is sent.  known_window: window above which SMPs have been lost; 0:
 * none lost.  paced_recv() calls waiting when it begins, and answered before it returns an answer.
 */
void paced_start(const struct smp_window_bounds *b, unsigned known_window, paced_answer_fn *answered,
		 void (*waiting)(void));
struct smp_window_learned paced_learned(void);

/* Replace libibumad's umad_send() and umad_recv(); send and recv are the library's functions. */
typedef int paced_send_fn(int fd, int agent, void *umad, int length, int timeout_ms, int retries);
typedef int paced_recv_fn(int fd, void *umad, int *length, int timeout_ms);
int paced_send(paced_send_fn *send, int fd, int agent, void *umad, int length, int timeout_ms,
	       int retries);
int paced_recv(paced_send_fn *send, paced_recv_fn *recv, int fd, void *umad, int *length,
	       int timeout_ms);

#endif
