"""One Chromium that is several people's screens in turn: each person has cookies, a language and a size of their own."""

import base64
import os

from browser import Browser
from person import TAB, Person

KEPT = ("name", "value", "domain", "path", "secure", "httpOnly", "sameSite", "expires")


class Screen(Person):
    def __init__(self, origin, language, folder=None):
        super().__init__(Browser([], {}), origin)
        self.folder, self.pictures, self.cookies, self.who = folder, 0, {}, None
        self.read_as(language)
        self.size(1280, 800)

    def cdp(self, command, **params):
        return self.browser.order("/goog/cdp/execute", {"cmd": command, "params": params})

    def read_as(self, language):
        self.cdp("Network.setUserAgentOverride", userAgent=self.run("return navigator.userAgent"), acceptLanguage=language)

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)

    def becomes(self, who):
        """Changes places: what one person's browser keeps, the other's does not have."""
        if self.who:
            self.cookies[self.who] = self.cdp("Network.getAllCookies")["cookies"]
        self.cdp("Network.clearBrowserCookies")
        for cookie in self.cookies.get(who, []):
            self.cdp("Network.setCookie", **{name: value for name, value in cookie.items() if name in KEPT and not (name == "expires" and value < 0)})
        self.who = who

    def keep(self, name):
        """A picture of the screen, where a folder for them is named."""
        if not self.folder:
            return
        os.makedirs(self.folder, exist_ok=True)
        self.wait("return document.readyState === 'complete'")
        self.run("document.documentElement.getAnimations({ subtree: true }).forEach(one => one.finish())")
        self.pictures += 1
        with open(f"{self.folder}/{self.pictures:03}-{name}.png", "wb") as file:
            file.write(base64.b64decode(self.cdp("Page.captureScreenshot", format="png")["data"]))

    def text(self):
        return self.run("return document.body.innerText")

    def put(self, selector, text):
        """Clicks into a field and types."""
        self.click(selector)
        self.fill(text)

    def date(self, selector, iso):
        """Types a day into a field, in the order in which the field shows it."""
        self.click(selector)
        self.typed_day(iso)

    def typed_day(self, iso):
        # A field of the browser's own starts at its first part, wherever it was clicked, once it is focused by the keyboard.
        year, month, day = iso.split("-")
        own = self.run("return document.activeElement.type !== 'date'")
        if own:
            order = self.run("return document.activeElement.dataset.order")
            self.fill("".join({"y": year, "m": month, "d": day}[part] for part in order))
        else:
            self.fill(month + day + year)

    def choose(self, selector, value):
        """Chooses from a list: a click, and one on the choice."""
        self.click(selector)
        self.run("const list = document.querySelector(arguments[0]); list.value = arguments[1]; list.dispatchEvent(new Event('change', { bubbles: true })); list.blur()", selector, value)
        self.clicks += 1
        self.by_hand += 1.3
        self.fields += 1

    def draws(self):
        """Draws a signature with a pen on the pad."""
        self.run("document.getElementById('pad').scrollIntoView({ block: 'center', behavior: 'instant' })")
        box = self.run("const box = document.getElementById('pad').getBoundingClientRect(); return [box.x, box.y, box.width, box.height]")
        at = lambda x, y: {"x": int(box[0] + x * box[2]), "y": int(box[1] + y * box[3])}
        move = [{"type": "pointerMove", "duration": 20, **at(x / 10, 0.3 + 0.4 * (x % 2))} for x in range(1, 9)]
        actions = [move[0], {"type": "pointerDown", "button": 0}, *move[1:], {"type": "pointerUp", "button": 0}]
        self.browser.order("/actions", {"actions": [{"type": "pointer", "id": "pen", "parameters": {"pointerType": "pen"}, "actions": actions}]})
        assert self.run("return document.getElementById('strokes').value.includes('L')"), "nothing was drawn"
        self.by_hand += 3.0

    def tab(self):
        self.type(TAB)
