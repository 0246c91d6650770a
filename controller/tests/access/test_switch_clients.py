"""Three certificates at one switch: what each name may do, and who reads of it afterwards."""

from __future__ import annotations

from pathlib import Path

import httpx
from access.certificates import Authority
from access.test_trace_over_tls import traced, ways

NAMES = {"edge.example": "operate,capture", "watcher.example": "capture", "reader.example": "read"}


def test_packets_are_for_names_that_may_see_them(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "controllers")
    options = [f"--grpc-server-client={name}={rights}" for name, rights in NAMES.items()]
    options += ["--grpc-server-with-client-auth", "--grpc-server-cacert", str(authority.path)]
    with traced(tmp_path, *options, "--metrics-addr", f"unix:{tmp_path}/metrics") as switch:

        def shows(name: str) -> tuple[str, ...]:
            certificate, key = authority.issue(name)
            return "--cacert", str(switch.authority.path), "--cert", str(certificate), "--key", str(key)

        assert len(ways(switch.trace(*shows("watcher.example")))) == 2
        assert len(ways(switch.trace(*shows("edge.example")))) == 2
        reader = switch.trace(*shows("reader.example"))
        assert (reader.returncode != 0, reader.stdout) == (True, "")
        assert "reader.example may not do this: Watch needs the right capture" in reader.stderr
        stranger = switch.trace(*shows("other.example"))
        assert "--grpc-server-client other.example=capture" in stranger.stderr
        with httpx.Client(transport=httpx.HTTPTransport(uds=f"{tmp_path}/metrics"), base_url="http://switch") as client:
            counters = client.get("/metrics").text.splitlines()
    refused = 'wayname_switch_refused_calls_total{client="%s",call="Watch",reason="%s"} 1'
    assert refused % ("reader.example", "capture") in counters
    assert refused % ("", "name") in counters
    audit = [line for line in (tmp_path / "switch.log").read_text().splitlines() if " audit: " in line]
    assert any("Watch refused: reader.example" in line for line in audit), audit
    assert any("somebody watches packets" in line and "watcher.example" in line for line in audit), audit
