/*
 * One rank of an MPI contestant. It sleeps in a read of its own pipe until it is told what to measure, so that contestants
 * that are not running take no time from the one that is. Rank 0 answers with the time of each batch.
 *
 *   race DIRECTORY        reads DIRECTORY/<rank>.in, rank 0 writes DIRECTORY/out
 *
 *   run COLLECTIVE BYTES REWRITE(0|1) TYPE MEMORY BATCHES BATCH_MICROS     ->  ok ITERATIONS MICROS_PER_OPERATION ...
 *   quit
 *
 * With TUTTI_BY_HAND there is no library, but what by-hand.h has of it. With TUTTI_OMPI_WITHOUT_HEADER the few
 * declarations of Open MPI 4's binary interface that are needed stand here, for machines that have the library but not its
 * header.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(TUTTI_BY_HAND)
#include "by-hand.h"
#elif defined(TUTTI_OMPI_WITHOUT_HEADER)
typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_op_t *MPI_Op;
extern char ompi_mpi_comm_world[], ompi_mpi_float[], ompi_mpi_double[], ompi_mpi_int[], ompi_mpi_op_sum[], ompi_mpi_op_max[];
#define MPI_COMM_WORLD ((MPI_Comm) (void *) ompi_mpi_comm_world)
#define MPI_FLOAT ((MPI_Datatype) (void *) ompi_mpi_float)
#define MPI_DOUBLE ((MPI_Datatype) (void *) ompi_mpi_double)
#define MPI_SUM ((MPI_Op) (void *) ompi_mpi_op_sum)
#define MPI_MAX ((MPI_Op) (void *) ompi_mpi_op_max)
int MPI_Init(int *, char ***);
int MPI_Finalize(void);
int MPI_Abort(MPI_Comm, int);
int MPI_Comm_rank(MPI_Comm, int *);
int MPI_Comm_size(MPI_Comm, int *);
int MPI_Barrier(MPI_Comm);
int MPI_Bcast(void *, int, MPI_Datatype, int, MPI_Comm);
int MPI_Allreduce(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
int MPI_Allgather(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int MPI_Alltoall(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
int MPI_Reduce_scatter_block(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
#else
#include <mpi.h>
#endif

#define MOST_ITERATIONS 20000

enum collective { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, ALL_TO_ALL, BARRIER, COLLECTIVES };
static const char *const names[] = {"allReduce", "allGather", "reduceScatter", "broadcast", "allToAll", "barrier"};

static int rank, size;
static float *in, *out;
static size_t room;

static double micros(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e6 + now.tv_nsec * 1e-3;
}

static void fill(float *to, int count, float value) {
    for (int i = 0; i < count; i++) {
        to[i] = value;
    }
    __asm__ volatile("" ::: "memory");
}

static void reserve(size_t bytes) {
    if (bytes > room) {
        free(in);
        free(out);
        room = bytes;
        if (posix_memalign((void **) &in, 4096, room) != 0 || posix_memalign((void **) &out, 4096, room) != 0) {
            fprintf(stderr, "rank %d: no memory for 2 x %zu bytes\n", rank, room);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        memset(in, 0, room);
        memset(out, 0, room);
    }
}

/* Elements of one rank's share of a message; bytes count as nccl-tests counts them: the longer of a rank's two buffers. */
static int block(size_t bytes) {
    size_t elements = bytes / sizeof(float) / size;
    return elements == 0 ? 1 : (int) elements;
}

static void operation(enum collective what, size_t bytes) {
    int count = bytes / sizeof(float), part = block(bytes);
    switch (what) {
    case ALL_REDUCE: MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case ALL_GATHER: MPI_Allgather(in, part, MPI_FLOAT, out, part, MPI_FLOAT, MPI_COMM_WORLD); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter_block(in, out, part, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); break;
    case BROADCAST: MPI_Bcast(out, count, MPI_FLOAT, 0, MPI_COMM_WORLD); break;
    case ALL_TO_ALL: MPI_Alltoall(in, part, MPI_FLOAT, out, part, MPI_FLOAT, MPI_COMM_WORLD); break;
    default: MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Writes all of this rank's input anew. */
static void rewrite(enum collective what, size_t bytes, float value) {
    switch (what) {
    case ALL_REDUCE: fill(in, bytes / sizeof(float), value); break;
    case ALL_GATHER: fill(in, block(bytes), value); break;
    case REDUCE_SCATTER:
    case ALL_TO_ALL: fill(in, block(bytes) * size, value); break;
    case BROADCAST:
        if (rank == 0) {
            fill(out, bytes / sizeof(float), value);
        }
        break;
    default: break;
    }
}

static double slowest(double mine) {
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/*
 * The slowest rank's time of a batch of operations, each after writing the input anew if asked. An operation that does not count
 * comes first: the first rewrite is to find the input where an operation leaves it, as all others do.
 */
static double batch(enum collective what, size_t bytes, int rewriting, int iterations) {
    if (rewriting) {
        operation(what, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double start = micros();
    for (int i = 0; i < iterations; i++) {
        if (rewriting) {
            rewrite(what, bytes, 1 + (i & 15));
        }
        operation(what, bytes);
    }
    return slowest(micros() - start);
}

/* The time of rewriting alone; the first, which finds the input where an operation left it, does not count. */
static double rewrites(enum collective what, size_t bytes, int iterations) {
    rewrite(what, bytes, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = micros();
    for (int i = 0; i < iterations; i++) {
        rewrite(what, bytes, 1 + (i & 15));
    }
    return slowest(micros() - start);
}

static int is_wrong(enum collective what, size_t bytes) {
    int count = what == ALL_REDUCE || what == BROADCAST ? (int) (bytes / sizeof(float)) : block(bytes);
    float all = size * (size + 1) / 2;
    for (int i = 0; i < count; i++) {
        switch (what) {
        case ALL_REDUCE:
        case REDUCE_SCATTER:
            if (out[i] != all) return 1;
            break;
        case BROADCAST:
            if (out[i] != 1) return 1;
            break;
        case ALL_GATHER:
        case ALL_TO_ALL:
            for (int peer = 0; peer < size; peer++) {
                if (out[peer * count + i] != peer + 1) return 1;
            }
            break;
        default: return 0;
        }
    }
    return 0;
}

static void measure(char *line, FILE *answers) {
    char name[32], type[16], memory[16];
    size_t bytes;
    int rewriting, batches;
    double target;
    if (sscanf(line, "run %31s %zu %d %15s %15s %d %lf", name, &bytes, &rewriting, type, memory, &batches, &target) != 7) {
        fprintf(stderr, "rank %d: do not understand %s", rank, line);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    enum collective what = ALL_REDUCE;
    while (what < COLLECTIVES && strcmp(names[what], name) != 0) {
        what++;
    }
    reserve((bytes / size + 64) * size + 4096);
    fill(out, room / sizeof(float), -1);
    rewrite(what, bytes, rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    operation(what, bytes);
    double wrong = slowest(is_wrong(what, bytes));
    int iterations = 1;
    double took;
    while ((took = batch(what, bytes, rewriting, iterations)) < target && iterations < MOST_ITERATIONS) {
        iterations *= took * 8 < target ? 8 : 2;
    }
    iterations = took > target ? (int) (iterations * target / took) : iterations;
    iterations = iterations < 1 ? 1 : iterations;
    double times[64];
    for (int i = 0; i < batches && i < 64; i++) {
        times[i] = batch(what, bytes, rewriting, iterations);
        if (rewriting) {
            times[i] -= rewrites(what, bytes, iterations);
        }
    }
    if (rank == 0) {
        fprintf(answers, wrong != 0 ? "wrong" : "ok %d", iterations);
        for (int i = 0; i < batches && i < 64; i++) {
            fprintf(answers, " %.6f", times[i] / iterations);
        }
        fprintf(answers, "\n");
        fflush(answers);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char path[4096], line[512];
    snprintf(path, sizeof path, "%s/%d.in", argv[1], rank);
    FILE *commands = fopen(path, "r");
    snprintf(path, sizeof path, "%s/out", argv[1]);
    FILE *answers = rank == 0 ? fopen(path, "r+") : NULL;
    if (commands == NULL || (rank == 0 && answers == NULL)) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    while (fgets(line, sizeof line, commands) != NULL && strncmp(line, "run ", 4) == 0) {
        measure(line, answers);
    }
    MPI_Finalize();
    return 0;
}
