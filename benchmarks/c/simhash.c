/* A plain scalar loop for the same job as neardup.Simhash(bits=64, features="words:3"): the
 * yardstick of the simhash row. Words are runs of word characters of the whole of Unicode,
 * case is folded, and letters of scripts written without spaces are words of their own; both
 * facts come in a table of one entry a code point (0: not in a word; else the folded character,
 * with ALONE set where the character stands alone). No intrinsics; the compiler may do what it
 * likes. Bits are counted in bytes, eight counters to a machine word, emptied every 255 shingles.
 */
#include <stdint.h>
#include <stddef.h>

#define ALONE 0x80000000u
#define FULL 255

static uint64_t spread[256]; /* bit i of the index as the value of byte i */

typedef struct {
    uint64_t a, b; /* the last two words */
    int64_t words, shingles;
    int counted; /* shingles in `bytes` and not yet in `ones` */
    uint64_t bytes[8];
    int64_t ones[64];
} state;

static inline uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 32)) * 0xBF58476D1CE4E5B9ull;
    return x ^ (x >> 29);
}

/* The character of two to four bytes at data[*at]; moves *at on, never past end. */
static inline uint32_t decode(const uint8_t *data, int64_t *at, int64_t end) {
    uint32_t c = data[(*at)++];
    int more = c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
    c &= 0x3Fu >> more;
    while (more-- && *at < end) c = c << 6 | (data[(*at)++] & 0x3Fu);
    return c < 0x110000 ? c : 0;
}

static void empty(state *s) {
    for (int bit = 0; bit < 64; bit++) s->ones[bit] += s->bytes[bit / 8] >> bit % 8 * 8 & 0xFF;
    for (int i = 0; i < 8; i++) s->bytes[i] = 0;
    s->counted = 0;
}

/* A word ends: with the two before it it makes a shingle, whose bits are counted. */
static inline void word(state *s, uint64_t hash) {
    if (++s->words >= 3) {
        uint64_t h = mix((s->a * 0x9E3779B97F4A7C15ull + s->b) * 0x9E3779B97F4A7C15ull + hash);
        for (int i = 0; i < 8; i++) s->bytes[i] += spread[h >> i * 8 & 0xFF];
        s->shingles++;
        if (++s->counted == FULL) empty(s);
    }
    s->a = s->b;
    s->b = hash;
}

static uint64_t fingerprint(const uint8_t *data, int64_t at, int64_t end, const uint32_t *table) {
    state s = {0};
    uint64_t hash = 0;
    while (at < end) {
        uint32_t c = data[at] < 0x80 ? table[data[at++]] : table[decode(data, &at, end)];
        if (c && !(c & ALONE)) {
            hash = hash * 0x9E3779B97F4A7C15ull + c;
            continue;
        }
        if (hash) word(&s, mix(hash));
        hash = 0;
        if (c) word(&s, mix(c));
    }
    if (hash) word(&s, mix(hash));
    empty(&s);
    uint64_t result = 0;
    for (int bit = 0; bit < 64; bit++) result |= (uint64_t)(2 * s.ones[bit] > s.shingles) << bit;
    return result;
}

void simhash(const uint8_t *data, const int64_t *offsets, int64_t count, const uint32_t *table,
             uint64_t *out) {
    for (int i = 0; i < 256; i++) {
        spread[i] = 0;
        for (int bit = 0; bit < 8; bit++) spread[i] |= (uint64_t)(i >> bit & 1) << bit * 8;
    }
    for (int64_t i = 0; i < count; i++)
        out[i] = fingerprint(data, offsets[i], offsets[i + 1], table);
}
