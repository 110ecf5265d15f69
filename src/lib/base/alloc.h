/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Allocators that abort instead of returning NULL.
 *
 * A subnet manager that is out of memory cannot do anything sensible: it aborts, systemd restarts
 * it, and it reads its state back from disk.  The caller releases all memory with free().
 */
#ifndef QOSD_LIB_BASE_ALLOC_H
#define QOSD_LIB_BASE_ALLOC_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Makes malloc() return freed memory to the system instead of keeping it in fragmented heaps.  For
 * a process that runs for months and now and then replaces most of its data.  Call it before the
 * process starts a second thread.
 */
void alloc_give_back(void);

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
/* Resizes an array to n elements of size bytes; keeps the contents and checks for overflow. */
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
char *xstrdup_or_null(const char *s);	/* of NULL: NULL */
char *xstrndup(const char *s, size_t n);
void *xmemdup(const void *p, size_t size);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Growable arrays.  VEC(type) name; declares a struct { type *v; size_t n, cap; }. Zero it to
 * start, and free it with vec_free(). vec_push() returns a pointer to the new, uninitialised last
 * element and invalidates all earlier pointers into v.
 */
#define VEC(type) struct { type *v; size_t n, cap; }
#define vec_push(vec) \
	(vec_grow((void **)&(vec)->v, (vec)->n, &(vec)->cap, \
		  sizeof(*(vec)->v)), \
	 &(vec)->v[(vec)->n++])
/* Beyond the last element: for (p = (vec)->v; p < vec_end(vec); p++) walks over all. */
#define vec_end(vec) ((vec)->n ? (vec)->v + (vec)->n : (vec)->v)
#define vec_free(vec) \
	do { free((vec)->v); (vec)->v = NULL; (vec)->n = (vec)->cap = 0; } while (0)

void vec_grow(void **v, size_t n, size_t *cap, size_t size);

#endif
