/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The SMPs of libibnetdisc, as many at a time as the fabric takes.
 *
 * The library keeps a fixed number of SMPs outstanding and has the kernel repeat what is lost,
 * all after the same time.  Here its sends wait for room in a window that follows losses, and
 * time-outs follow round trips (lib/iba/smp_window.h); the library sees an answer, or the
 * last time-out.
 */
#ifndef QOSD_DISCOVERY_PACED_SMPS_H
#define QOSD_DISCOVERY_PACED_SMPS_H

#include "lib/iba/smp_window.h"

/* An answer that the library will get, and may be changed before: asked is the MAD of the request. */
typedef void paced_answer_fn(const void *asked, void *umad, int length);

/*
 * Once, before anything is sent.  known_window: more SMPs have been lost; 0: none have been.
 * answered is called in the paced_recv() that returns the answer; waiting, when that begins.
 */
void paced_start(const struct smp_window_bounds *b, unsigned known_window, paced_answer_fn *answered,
		 void (*waiting)(void));
struct smp_window_learned paced_learned(void);

/* These serve as libibumad's umad_send() and umad_recv(), by those functions of the library. */
typedef int paced_send_fn(int fd, int agent, void *umad, int length, int timeout_ms, int retries);
typedef int paced_recv_fn(int fd, void *umad, int *length, int timeout_ms);
int paced_send(paced_send_fn *send, int fd, int agent, void *umad, int length, int timeout_ms,
	       int retries);
int paced_recv(paced_send_fn *send, paced_recv_fn *recv, int fd, void *umad, int *length,
	       int timeout_ms);

#endif
