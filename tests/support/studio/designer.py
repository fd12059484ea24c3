"""Page object of the designer, and documents that it shows."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.support.studio.demo import FORMAT


class Designer:
    def __init__(self, page: Page) -> None:
        self.page = page
        self.canvas = page.locator(".hf-canvas")
        self.library = page.get_by_role("complementary", name="Activities")
        self.inspector = page.get_by_role("complementary", name="Inspector")
        self.crumbs = page.get_by_role("navigation", name="Breadcrumb")

    # -- looking -------------------------------------------------------------------------------------------------------

    def card(self, text: str) -> Locator:
        return self.canvas.locator(".react-flow__node").filter(has_text=text)

    def inspect(self, text: str) -> None:
        """Clicks a card, and waits for the inspector to show it."""
        self.card(text).click()
        expect(self.inspector.get_by_label("Name", exact=True)).to_have_value(text)

    def section(self, name: str) -> Locator:
        return self.inspector.locator("details").filter(has=self.page.locator("summary", has_text=name)).first

    def unfold(self, name: str) -> Locator:
        part = self.section(name)
        if part.get_attribute("open") is None:
            part.locator("summary").click()
        return part

    def saved(self) -> None:
        """Its sign changes with the document, before the key or click that changed it is done: what stands there is no older."""
        expect(self.page.locator(".hf-save")).to_have_text("Saved")

    # -- drawing -------------------------------------------------------------------------------------------------------

    def drag(self, activity: str, x: int, y: int) -> None:
        self.library.get_by_label("Search activities").fill(activity)
        self.library.get_by_text(activity, exact=True).drag_to(self.canvas, target_position={"x": x, "y": y})
        expect(self.card(activity)).to_be_visible()

    def carry(self, thing: Locator, x: float, y: float) -> None:
        """Takes it with the mouse and lets it go at that place of the window."""
        box = box_of(thing)
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.page.mouse.down()
        # A hand starts slowly: what it goes until a drag is seen as one does not count.
        self.page.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2 + 2)
        self.page.mouse.move(x, y, steps=6)
        self.page.mouse.up()

    def after(self, button: str, activity: str) -> None:
        """The plus of an outcome, then a few letters and Enter."""
        self.canvas.get_by_role("button", name=button).click()
        self.pick(activity)

    def next(self, card: str, activity: str) -> None:
        """By keyboard: `a` puts an activity after the selected one."""
        self.card(card).click()
        expect(self.card(card).locator(".hf-card.selected")).to_be_visible()
        self.page.keyboard.press("a")
        self.pick(activity)

    def pick(self, activity: str) -> None:
        expect(self.page.get_by_role("combobox", name="Add activity")).to_be_focused()
        self.page.keyboard.type(activity)
        self.page.keyboard.press("Enter")
        expect(self.card(activity)).to_be_visible()

    def nothing(self) -> None:
        """A click beside everything: nothing is selected."""
        self.page.locator(".react-flow__pane").click(position={"x": 12, "y": 12})

    # -- inspecting ----------------------------------------------------------------------------------------------------

    def field(self, input: str) -> Locator:
        """What an input of the selected activity is typed into, by the input's name in the document."""
        return self.inspector.locator(f"[data-input={input}] :is(input, textarea, select):not(.hf-language)").first

    def declare(self, section: str, name: str, type: str, default: str | None = None) -> None:
        part = self.section(section)
        part.get_by_role("button", name="Add", exact=True).click()
        part.get_by_label("Name", exact=True).last.fill(name)
        part.get_by_label("Type", exact=True).last.select_option(type)
        if default is not None:
            part.get_by_label(f"{name} Default").fill(default)

    def code(self, input: str, expression: str, language: str = "python") -> None:
        """Types an expression into an input's editor, in the place of what stood there."""
        self.inspector.get_by_label(f"{input}: kind of value").select_option(language)
        # The editor with colours is loaded when it is first needed; until then a plain field stands in its place.
        self.inspector.locator(".cm-content").first.click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(expression)
        self.page.keyboard.press("Escape")


def box_of(thing: Locator) -> FloatRect:
    """Where it is on the screen, once the drawing has come to rest."""
    expect(thing).to_be_visible()
    handle = thing.element_handle()
    handle.wait_for_element_state("stable")
    box = thing.bounding_box()
    assert box is not None, "it is not on the screen"
    return box


def line(id: str, text: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "WriteLine", "name": id.capitalize(), "inputs": {"text": text or id}, **more}


def sequence(id: str, *activities: dict[str, Any], **more: Any) -> dict[str, Any]:
    root = {"id": "steps", "type": "Sequence", "activities": list(activities)}
    return {"format": FORMAT, "id": id, "name": id.capitalize(), "root": root, **more}


def chart(id: str, *activities: dict[str, Any], connections: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    root = {"id": "chart", "type": "Flowchart", "activities": list(activities), "connections": connections}
    return {"format": FORMAT, "id": id, "name": id.capitalize(), "root": root, **more}


def at(x: int, y: int) -> dict[str, Any]:
    """Where a card of a flowchart stands."""
    return {"metadata": {"position": {"x": x, "y": y}}}
