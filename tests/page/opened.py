"""A page in a browser, read and worked as a person does."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

# Sets inputs of a model's dial and reads what the table then shows, as texts: for each setting the
# cells of all fields and the totals. One call does many settings.
_TURN = """
([module, settings]) => settings.map((setting) => {
  const section = document.getElementById(module);
  const form = section.querySelector(".dial");
  for (const input of form.querySelectorAll("input")) input.value = input.defaultValue;
  for (const [name, value] of Object.entries(setting)) form.elements[name].value = value;
  form.dispatchEvent(new Event("input"));
  const cells = {};
  for (const row of section.querySelectorAll(".fields tbody tr")) {
    const cell = row.querySelector("[data-label=Bytes]");
    const number = cell.querySelector(".problem, .exact") ?? cell.querySelector(".about") ?? cell;
    cells[row.id.split(".").pop()] = number.textContent;
  }
  const totals = {};
  for (const row of section.querySelectorAll(".totals tbody tr")) {
    totals[row.dataset.device] = [...row.querySelectorAll("td")].map(
      (cell) => (cell.querySelector(".exact") ?? cell).textContent);
  }
  return { cells, totals };
})
"""


class Opened:
    """One window; it collects every error of the console and every request."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def js(self, function: str, argument: object = None) -> Any:
        return self.page.evaluate(function, argument)

    def find(self, selector: str) -> "Locator":
        return self.page.locator(selector)

    def texts(self, selector: str) -> list[str]:
        """The texts of what is shown."""
        return [one.inner_text() for one in self.find(f"{selector}:visible").all()]

    @property
    def fields(self) -> list[str]:
        """The fields that are shown, as model.field."""
        rows = self.find(".fields tbody tr:visible")
        found: list[str] = rows.evaluate_all("(rows) => rows.map((row) => row.id)")
        return found

    def turn(self, module: str, *settings: Mapping[str, object]) -> list[Any]:
        """What the table shows at each setting of a dial."""
        texts = [{name: str(value) for name, value in one.items()} for one in settings]
        found: list[Any] = self.js(_TURN, [module, texts])
        return found


def number(text: str) -> int:
    """Bytes as the page writes them exactly."""
    return int(text.removesuffix(" B").replace(",", ""))
