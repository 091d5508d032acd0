"""A clerk at a browser, with real, counted keys and clicks."""

import time

TAB, ENTER, SPACE, CONTROL, ALT = "\ue004", "\ue007", " ", "\ue009", "\ue00a"
WAIT_SECONDS_MAX = 30
# Seconds of the keystroke-level model (Card, Moran and Newell): a key, pointing with a click, moving the hand between keyboard and
# mouse, and thinking before each page.
KEY, CLICK, HAND, THOUGHT = 0.2, 1.3, 0.4, 1.35


class Person:
    def __init__(self, browser, origin):
        self.browser, self.origin = browser, origin
        self.begin()

    def begin(self):
        self.keys = self.clicks = self.fields = 0
        self.by_hand, self.thoughts, self.waited, self.hand = 0.0, 1, 0.0, None

    def practised(self):
        """Seconds of an expert, without thinking, with the waiting times of the pages."""
        return self.by_hand + self.waited

    def seconds(self):
        """Seconds of a person who thinks before beginning and at each page."""
        return self.practised() + THOUGHT * self.thoughts

    def go(self, path):
        self.browser.open(self.origin + path)

    def run(self, script, *values):
        return self.browser.order("/execute/sync", {"script": script, "args": list(values)})

    def wait(self, script, *values):
        """The first truthy result of a script; the waiting time counts as the page's."""
        began = time.monotonic()
        while not (found := self.try_to_run(script, *values)):
            if time.monotonic() - began > WAIT_SECONDS_MAX:
                raise AssertionError(f"never came: {script} {values}; there is {self.run('return [location.pathname, document.activeElement.id, document.body.innerText].join(' ')')[:300]}")
            time.sleep(0.005)
        self.waited += time.monotonic() - began
        return found

    def try_to_run(self, script, *values):
        # A page that is being unloaded does not answer.
        try:
            return self.run(script, *values)
        except AssertionError:
            return None

    def page(self, path):
        """Waits for the page with this path and counts a thought."""
        self.wait("return location.pathname === arguments[0] && document.readyState === 'complete'", path)
        self.thoughts += 1

    def says(self, text):
        self.wait("return document.querySelector('[role=status].done, p.done')?.innerText.includes(arguments[0])", text)

    def uses(self, hand):
        if self.hand not in (None, hand):
            self.by_hand += HAND
        self.hand = hand

    def type(self, text):
        self.uses("keys")
        self.keys += len(text)
        self.by_hand += KEY * len(text)
        self.press([step for key in text for step in (("keyDown", key), ("keyUp", key))])

    def chord(self, modifier, key):
        """Presses two keys together."""
        self.uses("keys")
        self.keys += 2
        self.by_hand += 2 * KEY
        self.press([("keyDown", modifier), ("keyDown", key), ("keyUp", key), ("keyUp", modifier)])

    def press(self, steps):
        actions = [{"type": kind, "value": key} for kind, key in steps]
        self.browser.order("/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def retype(self, text):
        """Replaces the content of a field."""
        self.chord(CONTROL, "a")
        self.type(text)
        self.fields += 1

    def fill(self, text):
        self.type(text)
        self.fields += 1

    def tab_to(self, selector):
        for _ in range(60):
            if self.run("return document.activeElement.matches(arguments[0])", selector):
                return
            self.type(TAB)
        raise AssertionError(f"Tab never leads to {selector}")

    def click(self, selector, text=""):
        """The first visible element with this text."""
        script = ("return [...document.querySelectorAll(arguments[0])].find(one => one.checkVisibility()"
                  " && (one.innerText + (one.getAttribute('aria-label') ?? '')).includes(arguments[1]))")
        element = self.wait(script, selector, text)
        self.run("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element)
        self.uses("mouse")
        self.clicks += 1
        self.by_hand += CLICK
        self.browser.order(f"/element/{list(element.values())[0]}/click", {})
