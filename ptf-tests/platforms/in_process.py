"""PTF's platform module for the switch in this process."""

from pathlib import Path
from typing import Any

from harness.switch_in_process import InProcess, InProcessPort
from small_site import PORTS


def platform_config_update(config: dict[str, Any]) -> None:
    """Make the switch with the program that `run` names, and name its ports."""
    config["target"] = InProcess(Path(config["platform_args"]))
    config["deviations"] = {}
    config["port_map"] = {(0, port): "in process" for port in PORTS}
    config["dataplane"] = {"portclass": InProcessPort}
