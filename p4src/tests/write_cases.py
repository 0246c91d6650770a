#!/usr/bin/env python3
"""Writes the cases of this folder: packets in, packets out and counters, in the format of p4c's simple test framework.

    write_cases.py            writes the .stf files
    write_cases.py --check    fails if a file is not what would be written

All cases run on the edge of small_site.py.
"""

import argparse
import sys
from pathlib import Path

import border_cases
import controller_cases
import esp_cases
import first_hop_security_cases
import hip_cases
import ilnp_cases
import linux_cases
import locator_cases
import mapped_cases
import packet_cases
import protocol_punt_cases
import router_cases
import segment_cases
import segment_proof_cases
import session_cases
import simple_security_cases
import source_route_cases
import trace_cases
from scapy.config import conf

HERE = Path(__file__).parent


def main() -> int:
    arguments = argparse.ArgumentParser(description="Write the cases of the pipeline")
    arguments.add_argument("--check", action="store_true", help="only compare them with the files")
    check = arguments.parse_args().check
    conf.verb = 0
    stale = []
    builders = (
        *router_cases.ALL,
        *first_hop_security_cases.ALL,
        *packet_cases.ALL,
        *controller_cases.ALL,
        *segment_cases.ALL,
        *segment_proof_cases.ALL,
        *trace_cases.ALL,
        *source_route_cases.ALL,
        *locator_cases.ALL,
        *session_cases.ALL,
        *esp_cases.ALL,
        *hip_cases.ALL,
        *protocol_punt_cases.ALL,
        *mapped_cases.ALL,
        *border_cases.ALL,
        *simple_security_cases.ALL,
        *ilnp_cases.ALL,
        *linux_cases.ALL,
    )
    for build in builders:
        case = build()
        path = HERE / f"{case.name}.stf"
        text = case.text()
        if check and (not path.exists() or path.read_text() != text):
            stale.append(path.name)
        elif not check:
            path.write_text(text)
    if stale:
        print(f"{', '.join(stale)}: not what write_cases.py writes; run it", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
