"""A headless Chromium driven over its DevTools pipe, by the standard library alone."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

from limits import HANG_SECONDS

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
AS_DESCRIPTORS_3_AND_4 = 'exec 3<&0 4>&1 </dev/null >/dev/null && exec "$0" "$@"'
"""Where Chromium expects the pipe."""


def find_chromium() -> str | None:
    """Path of an installed Chromium."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    """One browser with one tab; `events` holds all that the tab has reported."""

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        arguments += ["--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        self._process = subprocess.Popen(
            ["sh", "-c", AS_DESCRIPTORS_3_AND_4, program, *arguments, "about:blank"],
            stdin=to_browser,
            stdout=from_browser,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._unread = b""
        self._calls = 0
        self._tab: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._tab = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """End the browser."""
        os.close(self._write)
        try:
            self._process.wait(HANG_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._calls += 1
        message: dict[str, Any] = {"id": self._calls, "method": method, "params": parameters}
        if self._tab:
            message["sessionId"] = self._tab
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._calls:
                assert "error" not in answer, f"{method}: {answer['error']}"
                result: dict[str, Any] = answer["result"]
                return result

    def _receive(self) -> dict[str, Any]:
        end = time.monotonic() + HANG_SECONDS
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._read], [], [], max(0.0, end - time.monotonic()))
            part = os.read(self._read, 1 << 20) if ready else b""
            assert part, "the browser does not answer"
            self._unread += part
        message, _, self._unread = self._unread.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        if "method" in answer:
            self.events.append(answer)
        return answer

    def open(self, page: Path, address: str = "") -> None:
        """Load a file from nothing, and wait until it has loaded."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri() + address)
        self.wait("document.readyState === 'complete' && location.protocol === 'file:'")

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until an expression is true in the page."""
        end = time.monotonic() + HANG_SECONDS
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            time.sleep(0.01)

    def press(self, key: str, code: int) -> None:
        """Press and release a key, by its name and its virtual key code."""
        text = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
        for kind in ({"type": "keyDown"} | text, {"type": "keyUp"}):
            self.call("Input.dispatchKeyEvent", key=key, windowsVirtualKeyCode=code, **kind)

    def point(self, selector: str, *, click: bool = False) -> None:
        """Move the pointer to the middle of an element, and click if asked to."""
        middle = self.run(
            f"(() => {{const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); return {x:"
            " b.x + b.width / 2, y: b.y + b.height / 2}})()"
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", **middle)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                pressed = {"type": kind, "button": "left", "clickCount": 1} | middle
                self.call("Input.dispatchMouseEvent", **pressed)

    def emulate(self, width: int, height: int, scheme: str = "light", media: str = "") -> None:
        """Set the window's size, the preferred colours and the medium."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, and exceptions, since the last `open`."""
        found = []
        for event in self.events:
            details = event["params"]
            kind = details["type"] if event["method"] == "Runtime.consoleAPICalled" else ""
            kind = details["entry"]["level"] if event["method"] == "Log.entryAdded" else kind
            is_thrown = event["method"] == "Runtime.exceptionThrown"
            if is_thrown or kind in ("error", "warning", "assert"):
                found.append(str(details))
        return found

    @property
    def requests(self) -> list[str]:
        """URLs of all that the page has asked for since the last `open`."""
        return [
            e["params"]["request"]["url"]
            for e in self.events
            if e["method"] == "Network.requestWillBeSent"
        ]
