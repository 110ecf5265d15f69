/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See rest_gate.h. */
#include "cli/rest/api/rest_gate.h"

#include <crypt.h>
#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include "lib/base/bucket.h"
#include "lib/base/siphash.h"

#define CACHE_SETS 128		/* of secrets that were right; a power of two */
#define CACHE_WAYS 8		/* secrets in a set: the last ones */
#define ADDRESSES 1024		/* buckets that addresses share by chance; a power of two */
#define HASH_METHOD "$y$"	/* yescrypt */

struct known {
	uint64_t digest[2];
	const struct rest_user *user;	/* NULL: free */
};

struct rest_gate {
	const struct rest_settings *s;
	uint64_t key[3][2];		/* random: two halves of a digest, and buckets */
	pthread_mutex_t lock;		/* of all that follows */
	struct known cache[CACHE_SETS][CACHE_WAYS];	/* a set has its latest secret first */
	struct bucket tries[ADDRESSES];
	struct bucket *requests;	/* [user] */
	pthread_mutex_t hashing;	/* of what follows */
	struct crypt_data data;
	char nobody[CRYPT_OUTPUT_SIZE];	/* a hash that takes as long as that of a user */
};

/* Takes the same time wherever two texts of a length differ. */
static bool is_equal(const void *a, const void *b, size_t n)
{
	const volatile uint8_t *x = a, *y = b;
	uint8_t differs = 0;

	for (size_t i = 0; i < n; i++)
		differs |= x[i] ^ y[i];
	return !differs;
}

static bool make_hash(const char *secret, struct crypt_data *data)
{
	char setting[CRYPT_GENSALT_OUTPUT_SIZE];

	return crypt_gensalt_rn(HASH_METHOD, 0, NULL, 0, setting, sizeof(setting)) &&
	       crypt_rn(secret, setting, data, sizeof(*data));
}

bool rest_hash_secret(const char *secret, struct buf *out)
{
	struct crypt_data *data = xcalloc(1, sizeof(*data));
	bool made = make_hash(secret, data);

	if (made)
		buf_puts(out, data->output);
	explicit_bzero(data, sizeof(*data));
	free(data);
	return made;
}

bool rest_new_token(const char *user, struct buf *out)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	uint8_t random[43];	/* 43 letters of 6 bits */

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return false;
	buf_printf(out, "%s.", user);
	for (size_t i = 0; i < sizeof(random); i++)
		buf_add(out, &letters[random[i] & 63], 1);
	explicit_bzero(random, sizeof(random));
	return true;
}

struct rest_gate *rest_gate_new(const struct rest_settings *s)
{
	struct rest_gate *g = xcalloc(1, sizeof(*g));

	g->s = s;
	g->requests = xcalloc(s->users.n + 1, sizeof(*g->requests));
	pthread_mutex_init(&g->lock, NULL);
	pthread_mutex_init(&g->hashing, NULL);
	if (getrandom(g->key, sizeof(g->key), 0) != sizeof(g->key) || !make_hash("", &g->data))
		abort();	/* without random numbers there is no secret */
	memcpy(g->nobody, g->data.output, sizeof(g->nobody));
	return g;
}

void rest_gate_free(struct rest_gate *g)
{
	if (!g)
		return;
	pthread_mutex_destroy(&g->lock);
	pthread_mutex_destroy(&g->hashing);
	free(g->requests);
	explicit_bzero(g, sizeof(*g));
	free(g);
}

/* --- headers --- */

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool rest_decode_base64(const char *text, struct buf *out)
{
	size_t n = strlen(text);
	uint32_t bits = 0;

	if (n % 4)
		return false;
	while (n && n + 2 > strlen(text) && text[n - 1] == '=')
		n--;
	for (size_t i = 0; i < n; i++) {
		int v = base64_value(text[i]);
		uint8_t byte;

		if (v < 0)
			return false;
		bits = bits << 6 | (uint32_t)v;
		byte = (uint8_t)(bits >> (6 - 2 * (i % 4)));
		if (i % 4)
			buf_add(out, &byte, 1);
	}
	return true;
}

/* What a header says: a user's name, and the secret, which for a token has the name in it. */
struct claim {
	struct buf text;
	const char *secret;
	size_t name_length;
};

/*
 * Basic and Bearer are words in any case.  At the base for tokens, what follows is the token as it
 * is; at the base for passwords, it is base64 of NAME:PASSWORD.
 */
static bool read_claim(enum rest_base base, const char *header, struct claim *c)
{
	const char *scheme = header, *rest = header ? strchr(header, ' ') : NULL;
	bool basic, bearer, good;

	if (!rest)
		return false;
	basic = rest - scheme == 5 && !strncasecmp(scheme, "Basic", 5);
	bearer = rest - scheme == 6 && !strncasecmp(scheme, "Bearer", 6);
	rest += strspn(rest, " ");
	if (base == REST_BASE_TOKEN && (basic || bearer)) {
		buf_puts(&c->text, rest);
		good = c->text.n && strchr(c->text.s, '.');
		c->name_length = good ? strcspn(c->text.s, ".") : 0;
		c->secret = c->text.s;
	} else {
		good = base == REST_BASE_PASSWORD && basic && rest_decode_base64(rest, &c->text) && c->text.n &&
		       strlen(c->text.s) == c->text.n && strchr(c->text.s, ':');
		c->name_length = good ? strcspn(c->text.s, ":") : 0;
		c->secret = good ? c->text.s + c->name_length + 1 : NULL;
	}
	return good && strlen(c->secret) <= REST_PASSWORD_MAX;
}

static void claim_free(struct claim *c)
{
	if (c->text.s)
		explicit_bzero(c->text.s, c->text.n);
	buf_free(&c->text);
}

/* --- decisions --- */

static const struct rest_user *find_user(const struct rest_gate *g, const struct claim *c)
{
	for (size_t i = 0; i < g->s->users.n; i++) {
		const struct rest_user *u = &g->s->users.v[i];

		if (strlen(u->name) == c->name_length && !memcmp(u->name, c->text.s, c->name_length))
			return u;
	}
	return NULL;
}

static void digest_of(const struct rest_gate *g, enum rest_base base, const struct claim *c, uint64_t digest[2])
{
	struct buf text = { 0 };

	buf_printf(&text, "%d %s", base, c->text.s);
	for (unsigned i = 0; i < 2; i++)
		digest[i] = siphash(g->key[i], text.s, text.n);
	explicit_bzero(text.s, text.n);
	buf_free(&text);
}

static struct bucket *bucket_of(struct rest_gate *g, const struct rest_address *from)
{
	uint64_t client = rest_address_client(from);

	return &g->tries[siphash(g->key[2], &client, sizeof(client)) & (ADDRESSES - 1)];
}

static const struct rest_user *recall(struct rest_gate *g, const uint64_t digest[2])
{
	const struct known *set = g->cache[digest[0] & (CACHE_SETS - 1)];
	const struct rest_user *u = NULL;

	pthread_mutex_lock(&g->lock);
	for (unsigned i = 0; i < CACHE_WAYS; i++)
		if (set[i].user && is_equal(set[i].digest, digest, sizeof(set[i].digest)))
			u = set[i].user;
	pthread_mutex_unlock(&g->lock);
	return u;
}

static void remember(struct rest_gate *g, const uint64_t digest[2], const struct rest_user *u)
{
	struct known *set = g->cache[digest[0] & (CACHE_SETS - 1)];

	pthread_mutex_lock(&g->lock);
	memmove(set + 1, set, (CACHE_WAYS - 1) * sizeof(*set));
	set[0] = (struct known){ { digest[0], digest[1] }, u };
	pthread_mutex_unlock(&g->lock);
}

static bool may_try(struct rest_gate *g, const struct rest_address *from, int64_t now_us)
{
	bool may;

	pthread_mutex_lock(&g->lock);
	may = bucket_take(bucket_of(g, from), REST_TRIES, REST_TRY_US, now_us);
	pthread_mutex_unlock(&g->lock);
	return may;
}

static bool fits(struct rest_gate *g, const char *secret, const char *hash)
{
	const char *made = crypt_rn(secret, hash, &g->data, sizeof(g->data));
	size_t n = strlen(hash);

	return made && strlen(made) == n && is_equal(made, hash, n);
}

/* An unknown user takes as long as a known one.  Called while nothing else is hashed. */
static bool is_right(struct rest_gate *g, enum rest_base base, const struct rest_user *u, const char *secret)
{
	bool right = false;

	if (!u || (base == REST_BASE_TOKEN ? !u->tokens.n : !u->password))
		fits(g, secret, g->nobody);
	else if (base == REST_BASE_PASSWORD)
		right = fits(g, secret, u->password);
	else
		for (size_t i = 0; i < u->tokens.n && !right; i++)
			right = fits(g, secret, u->tokens.v[i]);
	explicit_bzero(g->data.input, sizeof(g->data.input));
	return right;
}

/*
 * Hashes a secret that is not known yet.  A client may begin with many connections at once: those
 * that waited for the first one then find the secret known.
 */
static const struct rest_user *try_secret(struct rest_gate *g, enum rest_base base, const struct claim *c,
					  const uint64_t digest[2], const struct rest_address *from, int64_t now_us,
					  struct rest_answer *a)
{
	const struct rest_user *u;

	pthread_mutex_lock(&g->hashing);
	u = recall(g, digest);
	if (!u && !may_try(g, from, now_us)) {
		rest_refuse(a, REST_TOO_MANY, "too many tries from this address");
	} else if (!u) {
		u = find_user(g, c);
		if (is_right(g, base, u, c->secret)) {
			remember(g, digest, u);
		} else {
			rest_refuse(a, REST_UNKNOWN_USER, "wrong user or secret");
			u = NULL;
		}
	}
	pthread_mutex_unlock(&g->hashing);
	return u;
}

/* A user's requests in a second, and as many at once. */
static bool may_ask(struct rest_gate *g, const struct rest_user *u, int64_t now_us)
{
	uint32_t rate = g->s->requests_per_second;
	bool may;

	pthread_mutex_lock(&g->lock);
	may = bucket_take(&g->requests[u - g->s->users.v], rate, 1000000 / rate, now_us);
	pthread_mutex_unlock(&g->lock);
	return may;
}

static const struct rest_user *user_of_header(struct rest_gate *g, enum rest_base base, const struct rest_client *c,
					      int64_t now_us, struct rest_answer *a)
{
	const struct rest_user *u = NULL;
	struct claim claim = { 0 };
	uint64_t digest[2];

	if (read_claim(base, c->authorization, &claim)) {
		digest_of(g, base, &claim, digest);
		u = recall(g, digest);
		if (!u)
			u = try_secret(g, base, &claim, digest, &c->from, now_us, a);
	} else {
		rest_refuse(a, REST_UNKNOWN_USER, "credentials are missing");
	}
	claim_free(&claim);
	return u;
}

static const struct rest_user *user_of_certificate(const struct rest_gate *g, const struct rest_client *c,
						   struct rest_answer *a)
{
	const struct rest_user *u;

	for (u = g->s->users.v; c->subject && u < g->s->users.v + g->s->users.n; u++)
		for (size_t i = 0; i < u->subjects.n; i++)
			if (!strcmp(u->subjects.v[i], c->subject))
				return u;
	if (c->subject)
		rest_refuse(a, REST_UNKNOWN_USER, "the certificate of %.200s belongs to no user", c->subject);
	else if (c->why)
		rest_refuse(a, REST_UNKNOWN_USER, "the client's certificate is refused: %s", c->why);
	else
		rest_refuse(a, REST_UNKNOWN_USER, "credentials are missing: the client has no certificate");
	return NULL;
}

const struct rest_user *rest_gate_admit(struct rest_gate *g, enum rest_base base, const struct rest_client *c,
					int64_t now_us, struct rest_answer *a)
{
	bool by_header = base != REST_BASE_CERTIFICATE && c->authorization;
	const struct rest_user *u = by_header ? user_of_header(g, base, c, now_us, a) : user_of_certificate(g, c, a);

	if (u && !may_ask(g, u, now_us)) {
		rest_refuse(a, REST_TOO_MANY, "too many requests of this user");
		u = NULL;
	}
	return u;
}
