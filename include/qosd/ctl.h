/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control protocol between qosd and its clients.
 *
 * A stream socket of the UNIX domain.  The client sends one line of JSON:
 *
 *   {"command": "route", "args": {"src": "node1/P1", "dst": "0x2c90300a1b2c3"}}
 *
 * Arguments are strings, or numbers where a number is meant.  The answer's
 * first line is one of
 *
 *   {"ok": false, "error": "why", …}
 *   {"ok": true, "result": {…}}
 *   {"ok": true, "result": {…}, "rows": "name"}
 *
 * With "rows", one JSON object per line follows, then {"end": true}; the rows
 * are the elements of the array `name` of the result or, when name is "", the
 * whole answer is that array.  No row has a member "end".  A connection
 * that closes before the end line means that the answer is not complete.
 *
 * A request may bring a file: with a member "body": N the N bytes behind the
 * line's newline are the file, of which the argument "file" is the name that
 * the client has for it.  A request that is refused because of its body ends
 * the connection.
 *
 * Further requests may follow on the same connection; each is read when the
 * one before it has been answered.
 */
#ifndef QOSD_CTL_H
#define QOSD_CTL_H

#ifndef QOSD_SOCKET
#define QOSD_SOCKET "/run/qosd/qosd.sock"
#endif

/* A request may be this long, its newline included. */
#define CTL_REQUEST_MAX (64u << 10)
/* Seconds that a connected client has to send a whole request. */
#define CTL_REQUEST_SECONDS 10
/* A file may be this long … */
#define CTL_BODY_MAX (16u << 20)
/* … must be there within so many seconds after its request … */
#define CTL_BODY_SECONDS 10
/* … and so many clients send one at a time; a further one is told so and closed. */
#define CTL_BODIES_MAX 2
/* Requests that take long are worked on at a time; a further one is refused. */
#define CTL_JOBS_MAX 2
/* Seconds that a client may take nothing of an answer before it is dropped. */
#define CTL_STALL_SECONDS 60
/* Clients served at a time; a further one is told so and closed. */
#define CTL_CLIENTS_MAX 64
/* … of which so many places are for administrators only */
#define CTL_ADMIN_PLACES 8
/* … of whom so many may be strangers, who are not allowed anything and are told so … */
#define CTL_STRANGERS_MAX 4
/* … and have so many seconds to say what they want. */
#define CTL_STRANGER_SECONDS 1

#endif
