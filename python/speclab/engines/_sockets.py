"""Finds the addresses on which the processes of a group listen. It reads Linux's /proc; elsewhere it finds nothing."""

from __future__ import annotations

import ipaddress
import os
import pathlib

LISTENING = "0A"


def members(group: int) -> list[int]:
    """Processes of a process group."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            # After the name in parentheses come state, parent and group.
            if int((folder / "stat").read_text().rpartition(")")[2].split()[2]) == group:
                found.append(int(folder.name))
        except OSError:
            continue  # the process has ended
    return found


def address_of(text: str) -> tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]:
    """The host and port of an address in /proc/net/tcp: words of four bytes, each in the machine's order."""
    host, port = text.split(":")
    packed = b"".join(bytes.fromhex(host[at : at + 8])[::-1] for at in range(0, len(host), 8))
    return ipaddress.ip_address(packed), int(port, 16)


def open_to_others(group: int) -> list[str]:
    """Addresses that a group listens on and that are not the loopback's."""
    inodes = set()
    for process in members(group):
        try:
            for entry in os.scandir(f"/proc/{process}/fd"):
                target = os.readlink(entry.path)
                if target.startswith("socket:["):
                    inodes.add(target[8:-1])
        except OSError:
            continue
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = pathlib.Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == LISTENING and fields[9] in inodes:
                host, port = address_of(fields[1])
                mapped = getattr(host, "ipv4_mapped", None)
                if not (mapped or host).is_loopback:
                    found.append(f"{host}:{port}")
    return found
