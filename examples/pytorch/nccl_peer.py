"""A rank of a NCCL communicator whose other ranks may be Java: see docs/gpu.md.

    python3 nccl_peer.py RANK RANKS ID_FILE

Rank 0 writes the 128 bytes of the id to ID_FILE; the others wait for it.
"""
import ctypes
import os
import sys
import time

import torch

FLOAT32, SUM = 7, 0


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_byte * 128)]


def library():
    """The NCCL that PyTorch came with, which is loaded already."""
    for line in open("/proc/self/maps"):
        if "libnccl.so" in line:
            return ctypes.CDLL(line.split()[-1])
    return ctypes.CDLL("libnccl.so.2")


def check(nccl, code, call):
    if code != 0:
        nccl.ncclGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"{call}: {nccl.ncclGetErrorString(code).decode()}")


def main():
    rank, ranks, file = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.cuda.init()
    x = torch.full((1 << 20,), float(rank + 1), device="cuda")
    nccl = library()
    unique = UniqueId()
    if rank == 0:
        check(nccl, nccl.ncclGetUniqueId(ctypes.byref(unique)), "ncclGetUniqueId")
        with open(file + ".part", "wb") as out:
            out.write(bytes(unique))
        os.rename(file + ".part", file)
    else:
        deadline = time.time() + 60
        while not os.path.exists(file):
            if time.time() > deadline:
                raise TimeoutError(f"rank {rank}: no id at {file} after 60 s")
            time.sleep(0.01)
        ctypes.memmove(ctypes.byref(unique), open(file, "rb").read(), 128)
    comm = ctypes.c_void_p()
    check(nccl, nccl.ncclCommInitRank(ctypes.byref(comm), ranks, unique, rank), "ncclCommInitRank")
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    pointer = ctypes.c_void_p(x.data_ptr())
    check(nccl, nccl.ncclAllReduce(pointer, pointer, ctypes.c_size_t(x.numel()), FLOAT32, SUM, comm, stream), "ncclAllReduce")
    torch.cuda.synchronize()
    expected = ranks * (ranks + 1) / 2
    right = bool((x == expected).all())
    print(f"PyTorch {torch.__version__}, rank {rank} of {ranks}: sum {x[0].item()}, expected {expected}, all right: {right}")
    check(nccl, nccl.ncclCommDestroy(comm), "ncclCommDestroy")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
