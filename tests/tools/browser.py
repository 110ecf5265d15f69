#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Uses a page in Chromium as a person would, with mouse and keys, by the DevTools protocol over a pipe.

    browser.py BROWSER URL FOLDER <STEPS

Steps, one a line:
    wait EXPRESSION             until the JavaScript expression is true, for 60 s at most
    print EXPRESSION            prints its value on a line
    click SELECTOR              the middle of the element, scrolled into view
    at ELEMENT EXPRESSION       clicks the [x, y] of the expression, in pixels from the element's corner
    wheel ELEMENT DELTA [X Y]   turns the wheel over the element: up zooms in and is negative
    drag ELEMENT X Y X Y        from a place of the element to another
    type TEXT                   types it where the focus is
    key NAME                    presses a key
    size WIDTH HEIGHT           of the window
    shot FILE                   writes a PNG of the window
    quiet                       fails if the page complained on the console
FOLDER is for the browser's own files.  Exits with 1 at the first step that fails.
"""
import base64
import json
import os
import select
import subprocess
import sys
import time

LIMIT = 60


class Failed(Exception):
    pass


class Browser:
    """One browser with one page.  The pipe carries JSON messages, each ended by a NUL."""

    def __init__(self, program, folder):
        down, up = os.pipe(), os.pipe()
        # The browser reads file descriptor 3 and writes 4; high numbers first, lest one overwrite the other.
        def place():
            read, write = os.dup2(down[0], 100), os.dup2(up[1], 101)
            os.dup2(read, 3)
            os.dup2(write, 4)
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars",
             f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down[0])
        os.close(up[1])
        self.to, self.answers = down[1], up[0]
        self.text, self.number, self.session, self.complaints = b"", 0, None, []

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def message(self, until):
        while b"\0" not in self.text:
            ready, _, _ = select.select([self.answers], [], [], max(0, until - time.monotonic()))
            part = os.read(self.answers, 1 << 20) if ready else b""
            if not part:
                raise Failed("the browser does not answer")
            self.text += part
        one, self.text = self.text.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + LIMIT
        while True:
            answer = self.message(until)
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(json.dumps(answer["params"])[:400])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def open(self, url):
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(1280, 900)
        self.call("Page.navigate", url=url)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def wait(self, expression):
        until = time.monotonic() + LIMIT
        while True:
            try:
                if self.value(expression):
                    return
            except Failed:
                if time.monotonic() > until:
                    raise
            if time.monotonic() > until:
                raise Failed(f"never true: {expression}; complaints: {self.complaints}")
            time.sleep(0.03)

    def corner(self, selector):
        """The place of an element in the window, after scrolling to it: left, top, width, height."""
        box = self.value(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            if (!e) return null;
            e.scrollIntoView({{ block: "center", inline: "nearest" }});
            const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; }})()""")
        if not box:
            raise Failed(f"no element {selector}")
        return box

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def press(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def click(self, selector):
        left, top, width, height = self.corner(selector)
        self.press(left + width / 2, top + height / 2)

    def at(self, selector, expression):
        left, top, _, _ = self.corner(selector)
        x, y = self.value(expression)
        self.press(left + x, top + y)

    def wheel(self, selector, delta, x=None, y=None):
        left, top, width, height = self.corner(selector)
        x, y = (width / 2, height / 2) if x is None else (float(x), float(y))
        self.mouse("mouseWheel", left + x, top + y, deltaX=0, deltaY=float(delta))

    def drag(self, selector, x0, y0, x1, y1):
        left, top, _, _ = self.corner(selector)
        self.mouse("mouseMoved", left + float(x0), top + float(y0))
        self.mouse("mousePressed", left + float(x0), top + float(y0), button="left", clickCount=1)
        self.mouse("mouseMoved", left + float(x1), top + float(y1), button="left", buttons=1)
        self.mouse("mouseReleased", left + float(x1), top + float(y1), button="left", clickCount=1)

    def key(self, name):
        code = {"Enter": 13, "Tab": 9, "Escape": 27}.get(name, 0)
        text = {"text": "\r"} if name == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code)

    def shot(self, name):
        with open(name, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def do(self, line):
        word, _, rest = line.partition(" ")
        if word in ("click", "wait", "key", "shot"):
            getattr(self, word)(rest)
        elif word == "print":
            got = self.value(rest)
            print(got if isinstance(got, str) else json.dumps(got), flush=True)
        elif word == "at":
            self.at(*rest.split(" ", 1))
        elif word in ("wheel", "drag"):
            getattr(self, word)(*rest.split())
        elif word == "type":
            self.call("Input.insertText", text=rest)
        elif word == "size":
            self.resize(*map(int, rest.split()))
        elif word == "quiet":
            if self.complaints:
                raise Failed(f"the page complained: {self.complaints[0]}")
        else:
            raise Failed("no such step")


def main():
    browser = Browser(sys.argv[1], sys.argv[3])
    line = "open"
    try:
        browser.open(sys.argv[2])
        for line in sys.stdin:
            line = line.strip()
            if line and not line.startswith("#"):
                browser.do(line)
    except (Failed, OSError) as why:
        print(f"step “{line}”: {why}", flush=True)
        return 1
    finally:
        browser.end()
    return 0


sys.exit(main())
