/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The control protocol between qosd and its clients.
 *
 * The transport is a UNIX stream socket.  The client sends one line of JSON:
 *
 *   {"command": "route", "args": {"src": "node1/P1", "dst": "0x2c90300a1b2c3"}}
 *
 * Arguments are strings, or numbers where the argument is a number.  The first line of the
 * answer is one of
 *
 *   {"ok": false, "error": "why", …}
 *   {"ok": true, "result": {…}}
 *   {"ok": true, "result": {…}, "rows": "name"}
 *
 * With "rows", one JSON object per line follows, then {"end": true}. The rows are the elements
 * of the array `name` of the result or, when name is "", the whole answer is that array.  No row
 * has a member "end".  If the connection closes before the end line, the answer is incomplete.
 *
 * Rows of commands that write files are pieces of them, {"file": "name", "text": "…"}.  With the
 * argument "raw": true, a row is {"file": "name", "bytes": N}, and the N bytes after its newline
 * are the piece as it is, which saves both sides the work of quoting it.
 *
 * A request may carry a file: with a member "body": N, the N bytes after the line's newline are
 * the file, and the argument "file" is the client's name for it.  The daemon closes the
 * connection after it has refused a request because of its body.
 *
 * A client that asks for others names them with a member "on-behalf-of", a string, which the daemon
 * records with the client's own user.  Only the group of gateways may do so, if there is one
 * (ctl-gateway-group of qosd.yaml), else all administrators.
 *
 * Further requests may follow on the same connection; the daemon reads each when it has
 * answered the one before.
 */
#ifndef QOSD_CTL_H
#define QOSD_CTL_H

#ifndef QOSD_SOCKET
#define QOSD_SOCKET "/run/qosd/qosd.sock"
#endif

/* Longest request in bytes, including its newline. */
#define CTL_REQUEST_MAX (64u << 10)
/* Longest name of whom a client asks for, in bytes. */
#define CTL_BEHALF_MAX 64
/* Seconds within which a connected client must send a whole request. */
#define CTL_REQUEST_SECONDS 10
/* Longest file in bytes. */
#define CTL_BODY_MAX (16u << 20)
/* Seconds within which a file must arrive after its request. */
#define CTL_BODY_SECONDS 10
/*
 * Clients that may send files at the same time; the daemon refuses a further one and closes its
 * connection.
 */
#define CTL_BODIES_MAX 2
/* Long requests processed at the same time; the daemon refuses a further one. */
#define CTL_JOBS_MAX 2
/* Seconds after which a client that reads nothing of its answer is dropped. */
#define CTL_STALL_SECONDS 60
/* Clients served at the same time; the daemon refuses a further one and closes its connection. */
#define CTL_CLIENTS_MAX 64
/* Of CTL_CLIENTS_MAX, places reserved for administrators. */
#define CTL_ADMIN_PLACES 8
/* Of CTL_CLIENTS_MAX, clients without any right, whose requests are all refused with an error. */
#define CTL_STRANGERS_MAX 4
/* Seconds within which such a client must send its request. */
#define CTL_STRANGER_SECONDS 1

#endif
