"""How long cryptography took: signatures, and Diffie-Hellman."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from wayname.hip import groups, identities


class Cryptography:
    """Counts what the dear functions of HIP take, wherever they are called from."""

    def __init__(self) -> None:
        self.seconds = 0.0
        for owner, name in (
            (groups, "make_pair"),
            (groups.KeyPair, "shared_with"),
            (identities, "verify"),
            (identities.Identity, "sign"),
        ):
            self._count(owner, name)

    def _count(self, owner: Any, name: str) -> None:
        real: Callable[..., Any] = getattr(owner, name)

        def counted(*arguments: Any) -> Any:
            began = time.thread_time()
            try:
                return real(*arguments)
            finally:
                self.seconds += time.thread_time() - began

        setattr(owner, name, counted)
        # Modules that imported the function have a name of their own for it.
        for module in list(sys.modules.values()):
            if module.__name__.startswith("wayname.") and getattr(module, name, None) is real:
                setattr(module, name, counted)
