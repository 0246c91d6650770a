"""PTF's platform module for all targets behind an address: which ports there are, and what stands behind each."""

import json
import sys
import warnings
from pathlib import Path
from typing import Any

from harness.devices import open_port
from harness.grpc_target import GrpcTarget, Program, UnusableError


def platform_config_update(config: dict[str, Any]) -> None:
    """Go to the target that `run` describes, and name its ports."""
    chosen = json.loads(config["platform_args"])
    try:
        program = Program.load(Path(chosen["p4info"]), Path(chosen["config"]))
        config["target"] = GrpcTarget(chosen["target"], chosen["device_id"], program, chosen["patience"])
    except UnusableError as error:
        # ptf would warn of its own use of `logging.warn`: this line shall be the only one.
        warnings.simplefilter("ignore", DeprecationWarning)
        print(f"run: {error}", file=sys.stderr)
        sys.exit(2)
    config["deviations"] = chosen["deviations"]
    config["port_map"] = {(0, int(port)): device for port, device in chosen["ports"].items()}
    config["dataplane"] = {"portclass": open_port}
