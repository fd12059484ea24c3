"""Route templates: which paths they mean, which goes first, and how they are found by key."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from holdfast.errors import DefinitionError
from holdfast.model.routes import ENDPOINT, endpoint_key, named_endpoint, parse_route, request_keys


@pytest.mark.parametrize(
    ("template", "path", "values"),
    [
        ("orders", "orders", {}),
        ("/Orders/", "oRDers", {}),
        ("orders/{id}", "orders/42", {"id": "42"}),
        ("orders/{id}", "orders", None),
        ("orders/{id}", "orders/42/lines", None),
        ("orders/{id:int}", "orders/42", {"id": "42"}),
        ("orders/{id:int}", "orders/x", None),
        ("files/{*rest}", "files/a/b", {"rest": "a/b"}),
        ("files/{**rest}", "files", {"rest": ""}),
        ("{a}/x/{b}", "1/X/2", {"a": "1", "b": "2"}),
        ("", "", {}),
        ("", "x", None),
    ],
)
def test_which_paths_a_template_means(template: str, path: str, values: dict[str, str] | None) -> None:
    assert parse_route(template).match([part for part in path.split("/") if part]) == values


def test_literals_go_before_parameters_and_those_before_catch_alls() -> None:
    routes = [parse_route(text) for text in ("{*rest}", "{a}/b", "a/{*rest}", "a/{b}", "a/{b:int}", "a/7")]

    ordered = sorted((route for route in routes if route.match(["a", "7"]) is not None), key=lambda route: route.rank)

    assert [route.template for route in ordered] == ["/a/7", "/a/{b:int}", "/a/{b}", "/a/{*rest}", "/{*rest}"]


def test_routes_that_differ_only_in_names_are_one() -> None:
    assert parse_route("a/{x}").shape == parse_route("/A/{y}").shape
    assert parse_route("a/{x}").shape != parse_route("a/{*x}").shape
    assert parse_route("a/{x}").shape != parse_route("a/{x:int}").shape


@pytest.mark.parametrize(
    "bad", ["a//b", "a/{", "a/{1}", "a/{x:odd}", "{x}/{x}", "{*rest}/a", "a{b}", "/".join("x" * 30)]
)
def test_what_is_no_template(bad: str) -> None:
    with pytest.raises(DefinitionError):
        parse_route(bad)


@pytest.mark.parametrize(
    ("payload", "key"),
    [
        ({"Path": "Orders/{id}", "Method": "post"}, {"route": "orders/*", "method": "post"}),
        ({"path": "/orders"}, {"route": "orders", "method": "get"}),
        ({"route": "orders", "method": "get"}, None),
        ({"path": "x", "to": "y"}, None),
        ({"path": 7}, None),
        ("orders", None),
    ],
)
def test_an_endpoint_is_named_by_path_and_method(payload: object, key: dict[str, str] | None) -> None:
    found = named_endpoint(ENDPOINT, payload)

    assert (None if found is None else endpoint_key(*found)) == key
    assert named_endpoint("Event", payload) is None


WORDS = st.sampled_from(["a", "b", "{x}", "{y}", "{z:int}", "7"])


@given(st.lists(WORDS, max_size=5, unique=True), st.booleans(), st.lists(st.sampled_from(["a", "B", "7"]), max_size=6))
def test_whatever_matches_is_found_by_one_of_the_keys(words: list[str], rest: bool, parts: list[str]) -> None:
    route = parse_route("/".join([*words, *(["{*rest}"] if rest else [])]))

    if route.match(parts) is not None:
        assert endpoint_key(route, "GET") in request_keys(parts, "get")
