"""Chromium without a window, driven through its DevTools protocol over two pipes."""

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_SECONDS = 60
# Chromium speaks the protocol on these descriptors.
_ON_3_AND_4 = "import os, sys; _, r, w, *run = sys.argv; os.dup2(int(r), 3); os.dup2(int(w), 4); os.execv(run[0], run)"


class Browser:
    """One page at a time; `events` holds what the browser has reported since the page was opened."""

    def __init__(self, folder):
        (to_read, self._write), (self._read, to_write) = os.pipe(), os.pipe()
        command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        command += [f"--user-data-dir={folder}", "--hide-scrollbars", "--remote-debugging-pipe", "about:blank"]
        pipes = (to_read, to_write)
        command = [sys.executable, "-c", _ON_3_AND_4, *map(str, pipes), *command]
        self._process = subprocess.Popen(command, pass_fds=pipes, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._ids, self._left, self.events, self._session = itertools.count(1), b"", [], None
        (target,) = [one for one in self._call("Target.getTargets")["targetInfos"] if one["type"] == "page"]
        self._session = self._call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def open(self, path, width=1280, height=900, **media):
        """Show a file, in a window of this size, with these media features."""
        self.size(width, height)
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self._call("Emulation.setEmulatedMedia", features=features)
        self.events.clear()
        self._call("Page.navigate", url=path.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self._receive()

    def size(self, width, height):
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def evaluate(self, script):
        """The value of an expression on the page."""
        result = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def click(self, selector):
        """Press the mouse in the middle of an element."""
        script = f"""(() => {{ const node = document.querySelector({json.dumps(selector)});
          node.scrollIntoView({{block: "center", inline: "center", behavior: "instant"}});
          const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"""
        x, y = self.evaluate(script)
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            code = {"Enter": 13, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}[key]
            self._call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def type(self, text):
        self._call("Input.insertText", text=text)

    def screenshot(self, path):
        shot = self._call("Page.captureScreenshot")
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """Errors of scripts, what the policy has blocked, and requests for anything but the page."""
        self.evaluate("0")
        found = []
        for event in self.events:
            method, values = event["method"], event["params"]
            if method in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                found.append(values)
            if method == "Network.requestWillBeSent" and not values["request"]["url"].startswith(("file:", "data:")):
                found.append(values["request"]["url"])
        return found

    def close(self):
        self._call("Browser.close")
        self._process.wait(timeout=20)
        os.close(self._read)
        os.close(self._write)

    def _call(self, method, **parameters):
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters}
        if self._session and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    def _receive(self):
        while b"\0" not in self._left:
            ready = select.select([self._read], [], [], _SECONDS)[0]
            part = os.read(self._read, 1 << 20) if ready else b""
            assert part, "Chromium has ended, or does not answer"
            self._left += part
        line, _, self._left = self._left.partition(b"\0")
        message = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message
