"""Plugins register in the order of their needs; what does not fit together is refused at start, by name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.dispatch.local import LocalBus, LocalTransport, local_from_url
from holdfast.errors import PluginError
from holdfast.model.definition import ActivityNode
from holdfast.model.descriptor import ActivityDescriptor
from holdfast.model.instance import Incident
from holdfast.persistence.memory import MemoryStore
from holdfast.persistence.memory.url import memory_from_url
from holdfast.plugins import Registrar, load_plugins
from holdfast.ports import ActivityType, MiddlewarePlacement, Plugin, Registration


class Given:
    """A plugin made of a function."""

    def __init__(
        self, name: str, register: Callable[[Registration], None] = lambda _: None, *, needs: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.needs = needs
        self._register = register

    def register(self, registration: Registration) -> None:
        self._register(registration)


class Plain:
    """An activity type that says what it is and no more."""

    def __init__(self, name: str, version: int = 1) -> None:
        self.descriptor = ActivityDescriptor(type=name, version=version)

    def compile(self, builder: Any) -> Any:
        raise NotImplementedError


class Offering:
    """Something that stands for an activity type, as an Activity class does."""

    def __init__(self, name: str) -> None:
        self.activity_type = Plain(name)


class Shelf:
    def __init__(self, *names: str) -> None:
        self.name = "shelf"
        self.types = [Plain(name) for name in names]

    def activity_types(self) -> Iterable[ActivityType]:
        return self.types


def load(*plugins: Plugin) -> Any:
    return load_plugins(plugins, entry_points=False)


async def nothing() -> None: ...


def test_the_registrar_keeps_the_port() -> None:
    registration: Registration = Registrar()

    assert registration


def test_each_comes_after_those_it_needs_and_otherwise_as_given() -> None:
    registry = load(Given("web", needs=["http", "log"]), Given("http"), Given("log", needs=["http"]), Given("alone"))

    order = list(registry.plugins)
    assert sorted(order) == ["alone", "http", "log", "web"]
    assert order.index("http") < order.index("log") < order.index("web")


def test_missing_ones_and_double_names_are_told_together() -> None:
    with pytest.raises(PluginError) as caught:
        load(Given("a", needs=["b", "c"]), Given("d"), Given("d"))

    text = str(caught.value)
    assert "Plugin 'a' needs 'b', which is missing." in text
    assert "Plugin 'a' needs 'c', which is missing." in text
    assert "The plugin name 'd' is registered twice" in text


def test_a_circle_is_told_in_order() -> None:
    with pytest.raises(PluginError) as caught:
        load(Given("a", needs=["b"]), Given("b", needs=["c"]), Given("c", needs=["a"]))

    circles = (
        "'a' needs 'b' needs 'c' needs 'a'",
        "'b' needs 'c' needs 'a' needs 'b'",
        "'c' needs 'a' needs 'b' needs 'c'",
    )
    assert any(circle in str(caught.value) for circle in circles)


def test_needs_written_as_a_text_are_refused() -> None:
    with pytest.raises(PluginError, match=r"needs = \('http',\)"):
        load(Given("web", needs="http"), Given("http"))


def test_what_a_plugin_raises_is_told_with_its_name() -> None:
    def register(registration: Registration) -> None:
        raise KeyError("moon")

    with pytest.raises(PluginError, match=r"Plugin 'tide' failed while registering: KeyError\('moon'\)") as caught:
        load(Given("tide", register))

    assert isinstance(caught.value.__cause__, KeyError)


def test_everything_that_is_registered_is_in_the_registry() -> None:
    placement = MiddlewarePlacement(middleware=object(), name="timing", after="faults")

    class Python:
        language = "cobol"

        def compile(self, source: Any, names: Any) -> Any: ...
        def compile_script(self, source: str, names: Any) -> Any: ...

    def register(registration: Registration) -> None:
        registration.activity(Plain("A"), Plain("A", 2), Offering("B"))
        registration.activity_provider(Shelf("C"))
        registration.language(Python())
        registration.middleware(placement)
        registration.service(int, 7)
        registration.value_type(timedelta)
        registration.commit_strategy("often", commit_always)
        registration.incident_strategy("shrug", shrug)
        registration.setting("mail_host", str, "localhost", "Where mail goes.")
        registration.on_start(nothing)
        registration.recurring("sweep", timedelta(minutes=1), nothing)
        registration.store("paper", memory_from_url)
        registration.transport("pigeon", local_from_url)

    registry = load(Given("all", register))

    assert set(registry.activity_types) == {("A", 1), ("A", 2), ("B", 1), ("C", 1)}
    assert registry.latest()["A"].descriptor.version == 2
    assert list(registry.providers) == ["shelf"]
    assert list(registry.languages) == ["cobol"]
    assert registry.middleware == (placement,)
    assert registry.services == {int: 7}
    assert registry.value_types == (timedelta,)
    assert registry.commit_strategies == {"often": commit_always}
    assert registry.incident_strategies == {"shrug": shrug}
    assert [setting.name for setting in registry.settings] == ["mail_host"]
    assert registry.start_tasks == (nothing,)
    assert [(task.name, task.every) for task in registry.recurring_tasks] == [("sweep", timedelta(minutes=1))]
    assert registry.stores == {"paper": memory_from_url}
    assert registry.transports == {"pigeon": local_from_url}


async def test_a_store_of_a_plugin_is_made_with_what_the_settings_say() -> None:
    made: list[dict[str, Any]] = []

    def paper(url: str, **options: Any) -> MemoryStore:
        made.append({"url": url, **options})
        return MemoryStore()

    plugin = Given("shelf", lambda registration: registration.store("paper", paper))
    async with Holdfast(store="paper://desk", plugins=[plugin], entry_points=False, store_retries=7) as app:
        assert app.runtime.store.name == "memory"

    assert {item["url"] for item in made} == {"paper://desk"}
    assert {item["retry"].retries for item in made} == {7}
    assert {"codec", "retry"} <= set(made[0])


def commit_always(activity: ActivityNode) -> tuple[bool, bool]:
    return True, True


def shrug(incident: Incident) -> bool:
    return False


CLASHES: dict[str, Callable[[Registration], None]] = {
    "activity type 'A (version 1)'": lambda registration: registration.activity(Plain("A")),
    "activity provider 'shelf'": lambda registration: registration.activity_provider(Shelf()),
    "middleware 'timing'": lambda registration: registration.middleware(
        MiddlewarePlacement(middleware=object(), name="timing")
    ),
    "service 'list'": lambda registration: registration.service(list, []),
    f"value type '{__name__}:Coin'": lambda registration: registration.value_type(
        type("Coin", (), {"__module__": __name__})
    ),
    "commit strategy 'often'": lambda registration: registration.commit_strategy("often", lambda _: (True, True)),
    "incident strategy 'shrug'": lambda registration: registration.incident_strategy("shrug", lambda _: False),
    "setting 'mail_host'": lambda registration: registration.setting("mail_host", str, "localhost", ""),
    "recurring task 'sweep'": lambda registration: registration.recurring("sweep", timedelta(seconds=1), nothing),
    "store 'paper'": lambda registration: registration.store("paper", lambda url, **_: MemoryStore()),
    "transport 'pigeon'": lambda registration: registration.transport("pigeon", lambda url: LocalTransport(LocalBus())),
}


@pytest.mark.parametrize("claim", CLASHES)
def test_a_name_claimed_twice_is_refused_with_both_claimants(claim: str) -> None:
    with pytest.raises(PluginError) as caught:
        load(Given("first", CLASHES[claim]), Given("second", CLASHES[claim]))

    assert f"The {claim} is registered twice: by plugin 'first' and by plugin 'second'" in str(caught.value)


def test_the_same_thing_registered_twice_is_no_clash() -> None:
    shared = Plain("A")

    registry = load(Given("a", lambda given: given.activity(shared)), Given("b", lambda given: given.activity(shared)))

    assert list(registry.activity_types.values()) == [shared]


def test_what_is_no_activity_is_refused() -> None:
    with pytest.raises(PluginError, match="is not an activity"):
        load(Given("a", lambda given: given.activity(print)))


def test_a_service_must_be_of_its_type() -> None:
    with pytest.raises(PluginError, match="as the service int, but it is not an instance"):
        load(Given("a", lambda given: given.service(int, "seven")))


@pytest.mark.parametrize("every", [timedelta(0), timedelta(seconds=-1), 5, "5s"])
def test_a_recurring_task_needs_an_interval(every: Any) -> None:
    with pytest.raises(PluginError, match="Give a timedelta above zero"):
        load(Given("a", lambda given: given.recurring("sweep", every, nothing)))


def test_a_provider_is_asked_again_and_what_it_drops_stays() -> None:
    shelf = Shelf("Old")
    registry = load(Given("a", lambda given: given.activity_provider(shelf)))

    shelf.types = [Plain("New")]
    renewed = registry.refreshed()

    assert set(registry.activity_types) == {("Old", 1)}
    assert set(renewed.activity_types) == {("Old", 1), ("New", 1)}
    assert renewed.provided[("New", 1)] == "shelf"


def test_a_provider_may_replace_its_own_types_but_nobody_elses() -> None:
    shelf = Shelf("Mine")
    registry = load(
        Given("a", lambda given: given.activity_provider(shelf)),
        Given("b", lambda given: given.activity(Plain("Ours"))),
    )

    shelf.types = [Plain("Mine")]
    assert registry.refreshed().activity_types[("Mine", 1)] is shelf.types[0]

    shelf.types = [Plain("Ours")]
    with pytest.raises(PluginError, match=r"'Ours' \(version 1\) is registered twice"):
        registry.refreshed()


# -- entry points ------------------------------------------------------------------------------------------------------


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Puts a package with one entry point on the path, as an installer would leave it."""

    def install(code: str, value: str) -> None:
        (tmp_path / "tide_plugin.py").write_text(code, encoding="utf-8")
        info = tmp_path / "tide_plugin-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tide-plugin\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[holdfast.plugins]\ntide = {value}\n", encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "tide_plugin", raising=False)

    return install


PLUGIN = """
class Tide:
    name = "tide"
    needs = ()

    def __init__(self, height=1):
        self.height = height

    def register(self, registration):
        registration.setting("tide", int, self.height, "How high.")

ready = Tide(2)
"""


@pytest.mark.parametrize(("value", "height"), [("tide_plugin:Tide", 1), ("tide_plugin:ready", 2)])
def test_installed_plugins_are_found(installed: Callable[[str, str], None], value: str, height: int) -> None:
    installed(PLUGIN, value)

    registry = load_plugins()

    assert "tide" in registry.plugins
    assert [setting.default for setting in registry.settings] == [height]
    assert "tide" not in load_plugins(entry_points=False).plugins


def test_one_that_the_caller_configured_takes_the_place_of_the_installed(
    installed: Callable[[str, str], None],
) -> None:
    installed(PLUGIN, "tide_plugin:Tide")
    import tide_plugin  # type: ignore[import-not-found] # it is made by this test

    assert [setting.default for setting in load_plugins([tide_plugin.Tide(3)]).settings] == [3]


def test_another_of_the_same_name_is_refused(installed: Callable[[str, str], None]) -> None:
    installed(PLUGIN, "tide_plugin:Tide")

    with pytest.raises(PluginError, match=r"'tide' is registered twice: by .*Given and by tide_plugin\.Tide"):
        load_plugins([Given("tide")])


@pytest.mark.parametrize(
    ("code", "value", "message"),
    [
        ("import nowhere_to_be_found", "tide_plugin:Tide", "cannot be loaded: ModuleNotFoundError"),
        (PLUGIN, "tide_plugin:Ebb", "cannot be loaded: AttributeError"),
        ("Tide = 5", "tide_plugin:Tide", "gives 5, which is not a plugin"),
    ],
)
def test_an_installed_plugin_that_cannot_be_used_is_told_by_name(
    installed: Callable[[str, str], None], code: str, value: str, message: str
) -> None:
    installed(code, value)

    with pytest.raises(PluginError, match=f"entry point 'tide' .*{message}"):
        load_plugins()
