"""A real Chromium, steered by its driver's protocol (W3C WebDriver): HTTP with JSON, and few requests are needed."""

from __future__ import annotations

import base64
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = "needs Debian's packages chromium and chromium-driver"
# Overall: what takes as long has failed.
PATIENCE = 60.0
PAUSE = 0.05
ARGUMENTS = (
    "--headless=new",
    # Root has no sandbox, and containers have a small /dev/shm.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--enable-precise-memory-info",
    "--js-flags=--expose-gc",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
)


class Browser:
    """A window."""

    def __init__(self, driver: httpx.Client, session: str) -> None:
        self._driver = driver
        self._session = session

    def open(self, address: str) -> None:
        """Go to an address."""
        self._post("url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """Have the page run a script; what it returns is returned."""
        return self._post("execute/sync", {"script": script, "args": list(arguments)})

    def text(self, selector: str = "body") -> str:
        """The text that an element shows; none is no text."""
        return str(self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def until(self, holds: Callable[[], Any], what: str) -> Any:
        """Return what holds as soon as it does."""
        end = time.monotonic() + PATIENCE
        while not (found := holds()):
            assert time.monotonic() < end, f"{what}; the page shows:\n{self.text()}"
            time.sleep(PAUSE)
        return found

    def key(self, value: str) -> None:
        """Press and release a key, by the code point that WebDriver gives it."""
        actions = [{"type": each, "value": value} for each in ("keyDown", "keyUp")]
        self._post("actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def devtools(self, command: str, **parameters: Any) -> Any:
        """Ask Chromium for what WebDriver has no word for."""
        return self._post("goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width: int, height: int) -> None:
        """Give the page a size."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def prefer(self, scheme: str) -> None:
        """Prefer light or dark."""
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def console(self) -> list[str]:
        """What the console complained of since it was asked last."""
        lines = self._post("se/log", {"type": "browser"})
        return [line["message"] for line in lines if line["level"] in {"SEVERE", "WARNING"}]

    def picture(self, path: Path) -> None:
        """Write what the window shows."""
        path.write_bytes(base64.b64decode(self._request("GET", "screenshot")))

    def _post(self, what: str, body: Any) -> Any:
        return self._request("POST", what, body)

    def _request(self, method: str, what: str, body: Any = None) -> Any:
        answer = self._driver.request(method, f"/session/{self._session}/{what}", json=body).json()["value"]
        assert not (isinstance(answer, dict) and "error" in answer), answer
        return answer


@contextmanager
def chromium(folder: Path) -> Iterator[Browser]:
    """A window of a browser that knows nothing, as long as it is entered."""
    assert CHROMIUM and DRIVER, MISSING
    log = folder / "chromedriver.log"
    driver = subprocess.Popen([DRIVER, "--port=0", f"--log-path={log}"], stdout=subprocess.PIPE, text=True)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{_port(driver)}", timeout=PATIENCE) as client:
            options = {"binary": CHROMIUM, "args": [*ARGUMENTS, f"--user-data-dir={folder / 'profile'}"]}
            wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
            answer = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}}).json()["value"]
            assert "sessionId" in answer, answer
            try:
                yield Browser(client, answer["sessionId"])
            finally:
                client.delete(f"/session/{answer['sessionId']}")
    finally:
        driver.terminate()
        driver.wait(PATIENCE)


def _port(driver: subprocess.Popen[str]) -> int:
    assert driver.stdout is not None
    for line in driver.stdout:
        if "successfully on port" in line:
            return int(line.split("on port ")[1].split()[0].rstrip("."))
    raise AssertionError("the driver did not start")
