"""Where settings come from, which of them wins, and how a wrong one is refused."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import SettingsError
from holdfast.plugins import AddedSetting
from holdfast.settings import Settings, describe_settings, load_settings, parse_duration


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "holdfast.toml"


def test_without_anything_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert load_settings(environment={}) == Settings()


def test_arguments_overrule_the_environment_which_overrules_the_file(file: Path) -> None:
    file.write_text('threads_max = 4\nprocesses_max = 4\nsegment_time = "7ms"\n', encoding="utf-8")

    settings = load_settings(
        {"threads_max": 6}, environment={"HOLDFAST_THREADS_MAX": "5", "HOLDFAST_PROCESSES_MAX": "5"}, file=file
    )

    assert (settings.threads_max, settings.processes_max) == (6, 5)
    assert settings.segment_time == timedelta(milliseconds=7)


def test_a_file_in_the_working_directory_is_found(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text("threads_max = 9", encoding="utf-8")
    monkeypatch.chdir(file.parent)

    assert load_settings(environment={}).threads_max == 9


@pytest.mark.parametrize("service", ["HOLDFAST", "HOLDFAST_WORKER"])
def test_what_kubernetes_says_of_its_services_is_no_setting(service: str) -> None:
    links = {
        f"{service}_SERVICE_HOST": "10.0.0.7",
        f"{service}_SERVICE_PORT": "8600",
        f"{service}_SERVICE_PORT_HTTP": "8600",
        f"{service}_PORT": "tcp://10.0.0.7:8600",
        f"{service}_PORT_8600_TCP": "tcp://10.0.0.7:8600",
        f"{service}_PORT_8600_TCP_PROTO": "tcp",
        f"{service}_PORT_8600_TCP_PORT": "8600",
        f"{service}_PORT_8600_TCP_ADDR": "10.0.0.7",
    }
    assert load_settings(environment=links) == Settings()

    with pytest.raises(SettingsError, match="there is no setting"):
        load_settings(environment={f"{service}_PORT": "8600"})


def test_the_environment_names_another_file(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("threads_max = 3", encoding="utf-8")

    assert load_settings(environment={"HOLDFAST_CONFIG": str(other)}).threads_max == 3


def test_a_named_file_that_is_missing_is_refused(file: Path) -> None:
    with pytest.raises(SettingsError, match="There is no settings file"):
        load_settings(environment={}, file=file)


def test_a_file_that_is_not_toml_is_refused(file: Path) -> None:
    file.write_text("threads_max: 3", encoding="utf-8")

    with pytest.raises(SettingsError, match="is not TOML"):
        load_settings(environment={}, file=file)


def test_all_problems_are_told_at_once_with_place_value_and_what_is_allowed(file: Path) -> None:
    file.write_text("threads_max = true\n", encoding="utf-8")

    with pytest.raises(SettingsError) as caught:
        load_settings(
            {"threads_max": 5, "segment_tim": "5ms"},
            environment={
                "HOLDFAST_SEGMENT_TIME": "soon",
                "HOLDFAST_CANCEL_GRACE": "-1s",
                "HOLDFAST_PROCESSES_MAX": "0",
            },
            file=file,
        )

    lines = str(caught.value).splitlines()
    assert lines[0] == "The settings have 5 problem(s):"
    assert lines[1].strip() == (
        "holdfast.toml: threads_max: True is not allowed. 'threads_max' takes a whole number, at least 1."
    )
    assert "HOLDFAST_PROCESSES_MAX: '0' is not allowed." in lines[3]
    assert "HOLDFAST_SEGMENT_TIME: 'soon' is not allowed. 'segment_time' takes a duration" in lines[4]
    assert lines[5].strip() == "segment_tim: there is no setting 'segment_tim'. Did you mean 'segment_time'?"


def test_a_misspelt_name_does_not_show_its_value() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(environment={"HOLDFAST_ADMIN_PASSWORT": "open sesame"})

    assert "sesame" not in str(caught.value)


def test_names_for_tests_are_not_settings() -> None:
    assert load_settings(environment={"HOLDFAST_TEST_POSTGRES": "somewhere", "OTHER": "1"}) == Settings()


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


def test_settings_of_plugins_are_read_like_ours() -> None:
    declared = [
        AddedSetting(name="mail_host", type=str, default="localhost", description="Where mail goes."),
        AddedSetting(name="mail_colour", type=Colour, default=Colour.RED, description="Its colour."),
        AddedSetting(name="mail_safe", type=bool, default=True, description="Whether to encrypt."),
        AddedSetting(name="mail_share", type=float, default=0.5, description="How much of it."),
    ]

    settings = load_settings(
        {"mail_share": 1},
        environment={"HOLDFAST_MAIL_COLOUR": "blue", "HOLDFAST_MAIL_SAFE": "off"},
        declared=declared,
    )

    assert settings["mail_host"] == "localhost"
    assert (settings["mail_colour"], settings["mail_safe"], settings["mail_share"]) == (Colour.BLUE, False, 1.0)


def test_a_setting_with_few_values_names_them() -> None:
    declared = [AddedSetting(name="mail_colour", type=Colour, default=Colour.RED, description="Its colour.")]

    with pytest.raises(SettingsError, match=r"'green' is not allowed\. 'mail_colour' takes one of red, blue"):
        load_settings({"mail_colour": "green"}, environment={}, declared=declared)


def test_a_plugin_setting_of_a_type_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(SettingsError, match="'odd' has the type"):
        load_settings(environment={}, declared=[AddedSetting(name="odd", type=set, default=None, description="")])


def test_every_default_is_allowed() -> None:
    rows = describe_settings()

    loaded = load_settings({row.name: row.default for row in rows}, environment={})

    assert loaded == Settings(chosen=frozenset(row.name for row in rows))
    assert all(row.description and row.allowed for row in rows)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5ms", timedelta(milliseconds=5)),
        ("10s", timedelta(seconds=10)),
        ("1.5 h", timedelta(minutes=90)),
        ("5m", timedelta(minutes=5)),
        ("2d", timedelta(days=2)),
        ("250us", timedelta(microseconds=250)),
        ("PT1M30S", timedelta(seconds=90)),
        ("P1DT2H", timedelta(hours=26)),
        ("P2W", timedelta(weeks=2)),
        ("PT0.5S", timedelta(milliseconds=500)),
        (timedelta(seconds=3), timedelta(seconds=3)),
    ],
)
def test_durations(text: object, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize("text", ["", "5", "0s", "-5s", "P", "PT", "P1M", "P1Y", "5 weeks", "1e400d", "9" * 400 + "d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="segment_time"):
        load_settings({"segment_time": text}, environment={})


@given(st.text() | st.integers() | st.floats() | st.booleans() | st.none() | st.binary() | st.lists(st.integers()))
def test_any_value_is_read_or_refused_by_name(value: object) -> None:
    for row in describe_settings():
        try:
            settings = load_settings({row.name: value}, environment={})
        except SettingsError as error:
            assert row.name in str(error)
        else:
            assert isinstance(getattr(settings, row.name), row.type)


@pytest.mark.parametrize("name", ["HOLDFAST_TEST_POSTGRES_URL", "HOLDFAST_REQUIRE_SERVICES", "HOLDFAST_API_KEY"])
def test_names_of_test_suites_are_no_settings(name: str) -> None:
    assert load_settings(environment={name: "postgres"}) == load_settings(environment={})
