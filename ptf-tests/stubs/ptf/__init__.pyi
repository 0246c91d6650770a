# The part of ptf that we use; it comes without types.
from typing import Any

from ptf.dataplane import DataPlane

config: dict[str, Any]
dataplane_instance: DataPlane
