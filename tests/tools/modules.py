#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
Reads modules in the ports of a device in band by mstflint's library, which knows the requests by itself.

    modules.py DEVICE local LOCAL-PORT           the IB port, the module and its lanes
    modules.py DEVICE memory MODULE PAGE OFFSET SIZE    bytes in hex; at most 28, as many as an SMP has room for
    modules.py DEVICE chip

DEVICE is as mstflint names it: lid-N, iblid-N or ibdr-0.1.  Exit status 77 if the library is not there.
"""
import ctypes
import glob
import struct
import sys

ROOM = 44
REGISTERS = {"PMLP": 0x5002, "PLIB": 0x500A, "MCIA": 0x9014}


def open_device(name):
    paths = glob.glob("/usr/lib/*/mstflint/python_tools/cmtcr.so")
    if not paths:
        sys.exit(77)
    library = ctypes.CDLL(paths[0])
    library.mopen.restype = ctypes.c_void_p
    device = library.mopen(name.encode())
    if not device:
        sys.exit(f"{name} cannot be opened")
    return library, ctypes.c_void_p(device)


def read(device, register, words):
    library, handle = device
    data = struct.pack(f">{len(words)}I", *words).ljust(ROOM, b"\0")
    buffer = ctypes.create_string_buffer(data, ROOM)
    status = ctypes.c_int(0)
    wrong = library.maccess_reg(handle, REGISTERS[register], 1, buffer, ROOM, ROOM, ROOM, ctypes.byref(status))
    if wrong:
        sys.exit(f"{register}: status {status.value}")
    return buffer.raw


def main():
    device = open_device(sys.argv[1])
    what, numbers = sys.argv[2], [int(n, 0) for n in sys.argv[3:]]
    if what == "chip":
        word = ctypes.c_uint32(0)
        library, handle = device
        if library.mread4(handle, 0xF0014, ctypes.byref(word)) != 4:
            sys.exit("the chip does not tell what it is")
        print(f"0x{word.value:x}")
    elif what == "local":
        plib = read(device, "PLIB", [numbers[0] << 16])
        pmlp = read(device, "PMLP", [numbers[0] << 16])
        lanes = struct.unpack_from(">8I", pmlp, 4)[: pmlp[3]]
        print(struct.unpack(">I", plib[:4])[0] & 0x3FF, lanes[0] & 0xFF, *(lane >> 16 & 0xF for lane in lanes))
    elif what == "memory":
        module, page, offset, size = numbers
        answer = read(device, "MCIA", [module << 16, 0x50 << 24 | page << 16 | offset, size])
        if answer[3]:
            sys.exit(f"module status {answer[3]}")
        print(answer[16 : 16 + size].hex())


main()
