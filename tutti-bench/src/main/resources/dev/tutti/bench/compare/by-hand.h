/*
 * What the race needs of MPI, written by hand for two ranks of one host: how fast copies and sums between two cores are when nothing
 * else is done. No mismatches are found, no deadline is kept, nobody sleeps, and it works for float, two ranks and these loops alone.
 *
 * Every rank writes slots and the other one reads them. BY_HAND says how slots are written, or that there are none:
 *
 *   string     by the processor's instruction for copies
 *   ordinary   by vector stores
 *   direct     inputs and outputs are shared, and read where they lie
 */
#include <immintrin.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int MPI_Comm, MPI_Datatype, MPI_Op;
enum { MPI_COMM_WORLD, MPI_FLOAT, MPI_DOUBLE, MPI_SUM, MPI_MAX };

#define LINE 64
/* Short messages have slots of their own, so that all of them stay in the nearest cache. */
#define SHORT_BYTES 2048
#define SHORT_SLOTS 16
#define CHUNK_BYTES (128 << 10)
#define CHUNK_SLOTS 4
#define SHARED_BYTES (1UL << 30)
/* From here on two ranks save more by folding half than another hand-off costs; and no more where no cache holds the result. */
#define TWO_STEPS_FROM (64 << 10)
#define TWO_STEPS_TO (10 << 20)
/* Inputs and outputs of both ranks that no cache holds. */
#define PAST_CACHES (40 << 20)

typedef struct {
    _Alignas(LINE) _Atomic uint64_t number; /* of the message that is in the slot, released last */
    _Atomic uint64_t taken;                 /* how many messages of the reader the writer had taken by then */
    char few[LINE - 2 * sizeof(uint64_t)];  /* what fits into the line of the number */
} head_t;

/* What one rank writes and the other reads, one ring each for short messages and for chunks. */
typedef struct {
    head_t heads[SHORT_SLOTS];
    _Alignas(LINE) _Atomic uint64_t taken;
    char slots[];
} ring_t;

typedef struct {
    int slots;
    size_t bytes, stride;
    ring_t *mine, *peers;
    uint64_t sent, taken, known; /* messages to the peer, from it, and of those sent the ones that it is known to have taken */
} queue_t;

static queue_t posts = {SHORT_SLOTS, SHORT_BYTES, SHORT_BYTES + LINE}, chunks = {CHUNK_SLOTS, CHUNK_BYTES, CHUNK_BYTES + 3 * LINE};
static int me, by_string, direct;
static char *user, *peers_user;
static size_t used;
static pid_t child;

static void wait_for(_Atomic uint64_t *counter, uint64_t value) {
    while (atomic_load_explicit(counter, memory_order_acquire) < value) {
        _mm_pause();
    }
}

static void copy(void *to, const void *from, size_t bytes, int past_caches) {
    char *t = to;
    const char *f = from;
    size_t done = 0;
    if (past_caches) {
        for (; done < bytes && ((uintptr_t) (t + done) & 31) != 0; done += 4) memcpy(t + done, f + done, 4);
        for (; done + 32 <= bytes; done += 32) _mm256_stream_si256((__m256i *) (t + done), _mm256_loadu_si256((const __m256i *) (f + done)));
        _mm_sfence();
    } else {
        for (; done + 32 <= bytes; done += 32) _mm256_storeu_si256((__m256i *) (t + done), _mm256_loadu_si256((const __m256i *) (f + done)));
    }
    for (; done < bytes; done += 4) memcpy(t + done, f + done, 4);
}

static void to_slot(void *to, const void *from, size_t bytes) {
    if (by_string && bytes >= 1024) {
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
    } else {
        copy(to, from, bytes, 0);
    }
}

static void sum(float *to, const float *a, const float *b, size_t bytes, int past_caches) {
    size_t count = bytes / 4, i = 0;
    if (past_caches) {
        for (; i < count && ((uintptr_t) (to + i) & 31) != 0; i++) to[i] = a[i] + b[i];
        for (; i + 8 <= count; i += 8) _mm256_stream_ps(to + i, _mm256_add_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i)));
        _mm_sfence();
    }
    for (; i + 8 <= count; i += 8) _mm256_storeu_ps(to + i, _mm256_add_ps(_mm256_loadu_ps(a + i), _mm256_loadu_ps(b + i)));
    for (; i < count; i++) to[i] = a[i] + b[i];
}

static char *body(queue_t *q, ring_t *ring, uint64_t number, size_t bytes) {
    head_t *head = &ring->heads[number % q->slots];
    return bytes <= sizeof head->few ? head->few : ring->slots + number % q->slots * q->stride;
}

/* A slot to write the next message into, when the peer has taken what was there. */
static char *space(queue_t *q, size_t bytes) {
    while (q->sent - q->known >= (uint64_t) q->slots) {
        q->known = atomic_load_explicit(&q->peers->taken, memory_order_acquire);
        _mm_pause();
    }
    return body(q, q->mine, q->sent, bytes);
}

static void post(queue_t *q) {
    head_t *head = &q->mine->heads[q->sent % q->slots];
    atomic_store_explicit(&head->taken, q->taken, memory_order_relaxed);
    atomic_store_explicit(&head->number, ++q->sent, memory_order_release);
}

static void send_copy(queue_t *q, const void *from, size_t bytes) {
    to_slot(space(q, bytes), from, bytes);
    post(q);
}

/* The next message of the peer, which also tells how far that has come. */
static char *next(queue_t *q, size_t bytes) {
    head_t *head = &q->peers->heads[q->taken % q->slots];
    wait_for(&head->number, q->taken + 1);
    uint64_t known = atomic_load_explicit(&head->taken, memory_order_relaxed);
    q->known = known > q->known ? known : q->known;
    return body(q, q->peers, q->taken++, bytes);
}

/* For messages in one direction: lets the writer go on. */
static void acknowledge(queue_t *q) {
    atomic_store_explicit(&q->mine->taken, q->taken, memory_order_release);
}

static queue_t *queue(size_t bytes) {
    return bytes <= SHORT_BYTES ? &posts : &chunks;
}

static size_t at_most(size_t bytes, size_t most) {
    return bytes < most ? bytes : most;
}

static char *where_peers(const void *mine) {
    return peers_user + ((const char *) mine - user);
}

static void meet(void) {
    space(&posts, 0);
    post(&posts);
    next(&posts, 0);
}

static int MPI_Barrier(MPI_Comm comm) {
    meet();
    acknowledge(&posts);
    return 0;
}

/* Everybody sends what is at theirs + done and works on what comes: sums it with, or copies it. One chunk is under way while the last is worked on. */
static void exchange(char *out, const char *theirs, const char *with, size_t bytes, int past_caches) {
    queue_t *q = queue(bytes);
    size_t sent = at_most(bytes, q->bytes);
    send_copy(q, theirs, sent);
    for (size_t done = 0; done < bytes; done += q->bytes) {
        size_t length = at_most(bytes - done, q->bytes);
        if (sent < bytes) {
            size_t more = at_most(bytes - sent, q->bytes);
            send_copy(q, theirs + sent, more);
            sent += more;
        }
        char *came = next(q, length);
        if (with != NULL) {
            sum((float *) (out + done), (const float *) (with + done), (const float *) came, length, past_caches);
        } else {
            copy(out + done, came, length, past_caches);
        }
    }
    acknowledge(q);
}

/* Each folds half of every chunk, stores it into its output and into a slot, and copies the other half. */
static void reduce_in_two_steps(char *out, const char *in, size_t bytes) {
    for (size_t done = 0; done < bytes; done += 2 * CHUNK_BYTES) {
        size_t length = at_most(bytes - done, 2 * CHUNK_BYTES), half = length / 2 & ~63UL;
        size_t mine = me == 0 ? 0 : half, mine_bytes = me == 0 ? half : length - half;
        size_t other = me == 0 ? half : 0, other_bytes = length - mine_bytes;
        send_copy(&chunks, in + done + other, other_bytes);
        char *came = next(&chunks, mine_bytes), *to = space(&chunks, mine_bytes);
        for (size_t i = 0; i < mine_bytes; i += 8192) {
            size_t piece = at_most(mine_bytes - i, 8192);
            sum((float *) (out + done + mine + i), (const float *) (in + done + mine + i), (const float *) (came + i), piece, 0);
            to_slot(to + i, out + done + mine + i, piece);
        }
        post(&chunks);
        copy(out + done + other, next(&chunks, other_bytes), other_bytes, 0);
    }
    acknowledge(&chunks);
}

static int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    size_t bytes = count * 4UL;
    if (type == MPI_DOUBLE) {
        double mine = *(const double *) in;
        send_copy(&posts, in, sizeof mine);
        double theirs = *(double *) next(&posts, sizeof mine);
        acknowledge(&posts);
        *(double *) out = mine > theirs ? mine : theirs;
    } else if (direct) {
        meet();
        const char *theirs = where_peers(in);
        size_t half = bytes > 2048 ? bytes / 2 & ~63UL : bytes;
        size_t from = half == bytes || me == 0 ? 0 : half, length = half == bytes ? bytes : me == 0 ? half : bytes - half;
        int past_caches = 4 * bytes > PAST_CACHES;
        sum((float *) ((char *) out + from), (const float *) ((const char *) in + from), (const float *) (theirs + from), length, past_caches);
        meet();
        if (half != bytes) {
            size_t other = me == 0 ? half : 0;
            copy((char *) out + other, where_peers(out) + other, bytes - length, past_caches);
            meet();
        }
    } else if (bytes > TWO_STEPS_FROM && bytes < TWO_STEPS_TO) {
        reduce_in_two_steps(out, in, bytes);
    } else {
        exchange(out, in, in, bytes, 4 * bytes > PAST_CACHES);
    }
    return 0;
}

static int MPI_Reduce_scatter_block(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    size_t bytes = count * 4UL;
    const char *mine = (const char *) in + me * bytes;
    if (direct) {
        meet();
        sum(out, (const float *) mine, (const float *) where_peers(mine), bytes, 0);
        meet();
    } else {
        exchange(out, (const char *) in + (1 - me) * bytes, mine, bytes, 6 * bytes > PAST_CACHES);
    }
    return 0;
}

static int MPI_Alltoall(const void *in, int count, MPI_Datatype t, void *out, int n, MPI_Datatype u, MPI_Comm comm) {
    size_t bytes = count * 4UL;
    int past_caches = 8 * bytes > PAST_CACHES;
    const char *theirs = (const char *) in + (1 - me) * bytes, *mine = (const char *) in + me * bytes;
    char *from_peer = (char *) out + (1 - me) * bytes, *from_me = (char *) out + me * bytes;
    if (direct) {
        meet();
        copy(from_me, mine, bytes, past_caches);
        copy(from_peer, where_peers(mine), bytes, past_caches);
        meet();
    } else {
        exchange(from_peer, theirs, NULL, bytes, past_caches);
        copy(from_me, mine, bytes, past_caches);
    }
    return 0;
}

static int MPI_Allgather(const void *in, int count, MPI_Datatype t, void *out, int n, MPI_Datatype u, MPI_Comm comm) {
    size_t bytes = count * 4UL;
    int past_caches = 6 * bytes > PAST_CACHES;
    char *from_peer = (char *) out + (1 - me) * bytes, *from_me = (char *) out + me * bytes;
    if (direct) {
        meet();
        copy(from_me, in, bytes, past_caches);
        copy(from_peer, where_peers(in), bytes, past_caches);
        meet();
    } else {
        exchange(from_peer, in, NULL, bytes, past_caches);
        copy(from_me, in, bytes, past_caches);
    }
    return 0;
}

static int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    size_t bytes = count * 4UL;
    int past_caches = 2 * bytes > PAST_CACHES;
    if (direct && bytes > SHORT_BYTES) {
        if (me == root) {
            space(&chunks, 0);
            post(&chunks);
            wait_for(&chunks.peers->taken, chunks.sent);
        } else {
            next(&chunks, 0);
            copy(buffer, where_peers(buffer), bytes, past_caches);
            acknowledge(&chunks);
        }
        return 0;
    }
    queue_t *q = queue(bytes);
    /* Half of the ring at a time, so that both have something to do from the beginning. */
    size_t piece = at_most(q->bytes, bytes > 2 * (32 << 10) ? 32 << 10 : q->bytes);
    for (size_t done = 0; done < bytes; done += piece) {
        size_t length = at_most(bytes - done, piece);
        if (me == root) {
            send_copy(q, (char *) buffer + done, length);
        } else {
            copy((char *) buffer + done, next(q, length), length, past_caches);
            if (q == &chunks || q->taken % 4 == 0) {
                acknowledge(q);
            }
        }
    }
    return 0;
}

/* Memory that the other rank has, too, at the same distance from where its own begins. Nothing is given back. */
static int share(void **to, size_t alignment, size_t bytes) {
    *to = user + used;
    used += (bytes + alignment - 1) / alignment * alignment + 192 * LINE;
    return used > SHARED_BYTES ? 1 : 0;
}

#define posix_memalign share
#define free(memory)

static void *map(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        perror("by hand: mmap");
        exit(1);
    }
    return at;
}

static int MPI_Init(int *argc, char ***argv) {
    const char *way = getenv("BY_HAND");
    by_string = way == NULL || strcmp(way, "string") == 0;
    direct = way != NULL && strcmp(way, "direct") == 0;
    char *memory[] = {map(SHARED_BYTES), map(SHARED_BYTES)};
    queue_t *queues[] = {&posts, &chunks};
    ring_t *rings[2][2];
    for (int i = 0; i < 2; i++) {
        for (int rank = 0; rank < 2; rank++) {
            rings[i][rank] = map(sizeof(ring_t) + queues[i]->slots * queues[i]->stride);
        }
    }
    child = fork();
    me = child == 0 ? 1 : 0;
    user = memory[me];
    peers_user = memory[1 - me];
    for (int i = 0; i < 2; i++) {
        queues[i]->mine = rings[i][me];
        queues[i]->peers = rings[i][1 - me];
    }
    return 0;
}

static int MPI_Comm_rank(MPI_Comm comm, int *to) {
    *to = me;
    return 0;
}

static int MPI_Comm_size(MPI_Comm comm, int *to) {
    *to = 2;
    return 0;
}

static int MPI_Abort(MPI_Comm comm, int code) {
    exit(code);
}

static int MPI_Finalize(void) {
    if (me == 0) {
        waitpid(child, NULL, 0);
    }
    return 0;
}
